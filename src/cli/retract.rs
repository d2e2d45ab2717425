//! `retract`: hides runs by a tombstone, or shows them again.

use std::collections::BTreeSet;

use clap::Args;
use tracing::info;

use crate::domain::{RunId, escape_invisible};
use crate::results::{Retraction, Retractions};

use super::command::{Command, Example, Invocation, ResultsUse};
use super::failure::CommandFailure;
use super::options::Selection;
use super::settings::Settings;
use super::{clock, exit_code, output, selection};

/// Hide runs, with a reason
#[derive(Args)]
pub(super) struct RetractArguments {
    /// Run ids, or at least their first four characters; `last` is the newest run, with --undo the newest retraction
    #[arg(value_name = "ID")]
    pub ids: Vec<String>,
    /// Reason; shown with the number of retracted runs
    #[arg(long, value_name = "TEXT", required_unless_present = "undo")]
    pub reason: Option<String>,
    /// Show the runs of this selector again
    #[arg(long)]
    pub undo: bool,
    #[command(flatten)]
    pub selection: Selection,
}

impl Command for RetractArguments {
    const NAME: &'static str = "retract";
    const EXAMPLES: [Example; 2] = [
        (
            "evalreport retract --suite hello --reason 'the tests were wrong'",
            "hide runs; nothing is deleted",
        ),
        ("evalreport retract --suite hello --undo", "show them again"),
    ];

    fn run(&self, invocation: &Invocation<'_>) -> Result<u8, CommandFailure> {
        invocation.with_settings(ResultsUse::Change, |settings| run_command(settings, self))
    }
}

fn run_command(settings: &Settings, arguments: &RetractArguments) -> Result<u8, CommandFailure> {
    let mut selector = arguments.selection.to_filter()?;
    selector.ids.clone_from(&arguments.ids);
    if selector.is_empty() {
        return Err(CommandFailure::new("retract needs a run id or a selection")
            .with_hint("`evalreport list --runs` shows the ids"));
    }
    let reason = arguments
        .reason
        .as_deref()
        .unwrap_or_default()
        .trim()
        .to_owned();
    if reason.is_empty() && !arguments.undo {
        return Err(CommandFailure::new("the reason is empty")
            .with_hint("give a reason with --reason TEXT, for readers of the site"));
    }
    let store = settings.store();
    let said = if arguments.undo {
        let standing = Retractions::load(&store)?;
        if selector.ids == [selection::LAST_WORD] {
            // The newest run that is shown was not retracted, so the word means the newest retraction.
            if let Some(newest) = standing.standing.last() {
                selector = newest.selector.clone();
            }
        }
        selector.ids = selector
            .ids
            .iter()
            .map(|id| complete_retracted_id(id, &standing))
            .collect();
        if !standing
            .standing
            .iter()
            .any(|retraction| retraction.selector == selector)
        {
            return Err(
                CommandFailure::new("no retraction has this selector").with_hint(format!(
                    "{} lists them",
                    escape_invisible(&store.retractions_path().display().to_string())
                )),
            );
        }
        "runs shown again".to_owned()
    } else {
        let warehouse = settings.open_stored(&[])?;
        selector.ids = selection::complete_ids(&warehouse, &selector.ids)?;
        selection::check_filter(&warehouse, &selector)?;
        format!(
            "{} retracted",
            output::format_count(warehouse.select_runs(&selector).count(), "run")
        )
    };
    store.sweep_leftovers();
    Retraction {
        selector,
        reason,
        time: clock::now(),
        undo: arguments.undo,
    }
    .append_to(&store)?;
    info!(file = %store.retractions_path().display(), undo = arguments.undo, "tombstone written");
    output::print_message(settings, &said);
    Ok(exit_code::DONE)
}

/// Returns the id in a current tombstone that equals `text` or begins with it. Returns `text` itself if no id or several ids match.
fn complete_retracted_id(text: &str, standing: &Retractions) -> String {
    let ids: BTreeSet<RunId> = standing
        .standing
        .iter()
        .flat_map(|retraction| &retraction.selector.ids)
        .filter_map(|id| RunId::parse(id).ok())
        .collect();
    match selection::match_ids(text, ids.iter()).as_slice() {
        [one] => one.to_string(),
        _ => text.to_owned(),
    }
}
