//! `retract`: hide runs by a tombstone, or take it back.

use chrono::Utc;

use crate::domain::{Filter, Run, visible};
use crate::results::{Retraction, Retractions};

use super::arguments::Retract;
use super::failure::Failure;
use super::settings::Settings;
use super::{exit_code, output, selection};

pub(super) fn run(settings: &Settings, arguments: &Retract) -> Result<u8, Failure> {
    let mut selector = arguments.selection.filter()?;
    selector.ids.clone_from(&arguments.ids);
    if selector.is_empty() {
        return Err(Failure::new("retract needs a run id or a selection").with_hint("`evalreport list --runs` shows the ids"));
    }
    let store = settings.store();
    let warehouse = settings.open()?;
    if arguments.undo {
        let hidden: Vec<&Run> = warehouse.hidden().iter().map(|hidden| &hidden.run).collect();
        complete_ids(&mut selector, &hidden);
        let (standing, _) = Retractions::load(&store);
        if !standing.standing.iter().any(|retraction| retraction.selector == selector) {
            return Err(Failure::new("no standing tombstone has this selector")
                .with_hint(format!("{} lists them", visible(&store.retractions_path().display().to_string()))));
        }
    } else {
        selection::check(&warehouse, &selector)?;
        let shown: Vec<&Run> = warehouse.runs().iter().map(|row| &row.run).collect();
        complete_ids(&mut selector, &shown);
        let runs = warehouse.select(&selector).count();
        output::say(settings, &format!("{} retracted", output::count(runs, "run")));
    }
    let reason = arguments.reason.as_deref().unwrap_or_default().trim().to_owned();
    if reason.is_empty() && !arguments.undo {
        return Err(Failure::new("the reason is empty").with_hint("say why with --reason TEXT: readers of the site will ask"));
    }
    Retraction { selector, reason, time: Utc::now(), undo: arguments.undo }.append(&store)?;
    if arguments.undo {
        output::say(settings, "tombstone taken back");
    }
    Ok(exit_code::DONE)
}

/// Writes out ids that were given by their beginning: a later run may begin like them.
fn complete_ids(selector: &mut Filter, runs: &[&Run]) {
    for id in &mut selector.ids {
        let one = Filter { ids: vec![id.clone()], ..Filter::default() };
        let found: Vec<&&Run> = runs.iter().filter(|run| one.matches(run)).collect();
        if let [run] = found.as_slice() {
            *id = run.id.to_string();
        }
    }
}
