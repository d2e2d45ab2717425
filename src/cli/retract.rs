//! `retract`: hide runs by a tombstone, or take it back.

use chrono::Utc;

use crate::domain::visible;
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
    if arguments.undo {
        let (standing, _) = Retractions::load(&store);
        if !standing.standing.iter().any(|retraction| retraction.selector == selector) {
            return Err(Failure::new("no standing tombstone has this selector")
                .with_hint(format!("{} lists them", visible(&store.retractions_path().display().to_string()))));
        }
    } else {
        let warehouse = settings.open()?;
        selection::check(&warehouse, &selector)?;
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
