//! `retract`: hides runs by a tombstone, or shows them again.

use std::collections::BTreeSet;

use tracing::info;

use crate::domain::{RunId, visible};
use crate::results::{Retraction, Retractions};

use super::arguments::Retract;
use super::failure::Failure;
use super::settings::Settings;
use super::{clock, exit_code, output, selection};

pub(super) fn run(settings: &Settings, arguments: &Retract) -> Result<u8, Failure> {
    let mut selector = arguments.selection.filter()?;
    selector.ids.clone_from(&arguments.ids);
    if selector.is_empty() {
        return Err(Failure::new("retract needs a run id or a selection")
            .with_hint("`evalreport list --runs` shows the ids"));
    }
    let reason = arguments
        .reason
        .as_deref()
        .unwrap_or_default()
        .trim()
        .to_owned();
    if reason.is_empty() && !arguments.undo {
        return Err(Failure::new("the reason is empty")
            .with_hint("give a reason with --reason TEXT, for readers of the site"));
    }
    let store = settings.store();
    let said = if arguments.undo {
        let standing = Retractions::load(&store)?;
        selector.ids = selector
            .ids
            .iter()
            .map(|id| whole_id(id, &standing))
            .collect();
        if !standing
            .standing
            .iter()
            .any(|retraction| retraction.selector == selector)
        {
            return Err(
                Failure::new("no retraction has this selector").with_hint(format!(
                    "{} lists them",
                    visible(&store.retractions_path().display().to_string())
                )),
            );
        }
        "runs shown again".to_owned()
    } else {
        let warehouse = settings.open()?;
        selector.ids = selection::complete_ids(&warehouse, &selector.ids)?;
        selection::check(&warehouse, &selector)?;
        format!(
            "{} retracted",
            output::count(warehouse.select(&selector).count(), "run")
        )
    };
    store.sweep();
    Retraction {
        selector,
        reason,
        time: clock::now(),
        undo: arguments.undo,
    }
    .append(&store)?;
    info!(file = %store.retractions_path().display(), undo = arguments.undo, "tombstone written");
    output::say(settings, &said);
    Ok(exit_code::DONE)
}

/// Returns the id in a current tombstone that equals `text` or begins with it. Returns `text` itself if no id or several ids match.
fn whole_id(text: &str, standing: &Retractions) -> String {
    let ids: BTreeSet<RunId> = standing
        .standing
        .iter()
        .flat_map(|retraction| &retraction.selector.ids)
        .filter_map(|id| RunId::parse(id).ok())
        .collect();
    match selection::named(text, ids.iter()).as_slice() {
        [one] => one.to_string(),
        _ => text.to_owned(),
    }
}
