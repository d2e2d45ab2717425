//! The note about runs some of whose questions ended because a program could not be started.

use crate::domain::{Filter, escape_invisible};
use crate::render::{format, phrases};
use crate::views::find_unstarted;
use crate::warehouse::Warehouse;

use super::output;
use super::settings::Settings;

/// Says of each selected run how many of its questions never reached an agent, and how to leave it out.
pub(super) fn print_note(settings: &Settings, warehouse: &Warehouse, filter: &Filter) {
    for one in find_unstarted(warehouse, warehouse.select_runs(filter)) {
        let text = format!(
            "note: {}: {} of {} of run {} ended because a program could not be started (exit status 126 or 127), and count as not passed. If it was \
             not installed yet: evalreport retract {} --reason 'not installed'",
            phrases::arm_on_suite(&one.suite, &one.arm),
            format::format_integer(one.failed),
            phrases::count_with_noun(one.outcomes, "outcomes"),
            one.run,
            one.run
        );
        output::print_message(settings, &escape_invisible(&text));
    }
}
