//! The note about runs some of whose questions never reached the agent or its model.

use crate::domain::{Filter, escape_invisible};
use crate::render::{format, phrases};
use crate::views::{UnstartedCause, find_unstarted};
use crate::warehouse::Warehouse;

use super::output;
use super::settings::Settings;

/// Says of each selected run how many of its questions never reached the agent or its model, and how to leave it out.
pub(super) fn print_note(settings: &Settings, warehouse: &Warehouse, filter: &Filter) {
    for one in find_unstarted(warehouse, warehouse.select_runs(filter)) {
        let (ended, condition, reason) = match one.cause {
            UnstartedCause::FailedStart => (
                "ended because a program could not be started (exit status 126 or 127)".to_owned(),
                "it was not installed yet",
                "not installed",
            ),
            UnstartedCause::Refusal(status) => (
                format!(
                    "are the service's refusal of the key or the model{}",
                    status.map_or_else(String::new, |status| format!(" ({status})"))
                ),
                "that was no fault of the arm",
                "refused by the service",
            ),
        };
        let text = format!(
            "note: {}: {} of {} of run {} {ended}, and count as not passed. If {condition}: evalreport retract {} --reason '{reason}'",
            phrases::arm_on_suite(&one.suite, &one.arm),
            format::format_integer(one.failed),
            phrases::count_with_noun(one.outcomes, "outcomes"),
            one.run,
            one.run
        );
        output::print_message(settings, &escape_invisible(&text));
    }
}
