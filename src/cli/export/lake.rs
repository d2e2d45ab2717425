//! `export lake`: adds what is new to a lake.

use std::path::Path;

use tracing::info;
use uuid::Uuid;

use crate::domain::Filter;
use crate::results::{Store, append_acceptances, load_acceptances};
use crate::warehouse::{Publication, PublicationCounts, Warehouse};

use super::super::display_path::display_path;
use super::super::failure::CommandFailure;
use super::super::settings::Settings;
use super::super::{clock, output};

pub(super) fn publish_runs(
    settings: &Settings,
    path: &Path,
    warehouse: &Warehouse,
    filter: &Filter,
) -> Result<(), CommandFailure> {
    if path.exists() && !path.is_dir() {
        return Err(
            CommandFailure::new(format!("{} is not a folder", display_path(path)))
                .with_hint("`export lake` makes or extends a folder of tables"),
        );
    }
    let id = Uuid::now_v7().to_string();
    let published = warehouse.publish_to_lake(
        path,
        filter,
        &Publication {
            id: &id,
            time: clock::now(),
        },
    )?;
    // After the runs: an acceptance of nights that the lake does not have says nothing.
    let lake = Store::new(path);
    let known = load_acceptances(&lake)?;
    let accepted: Vec<_> = warehouse
        .collect_decisions(filter)
        .accepted
        .into_iter()
        .filter(|one| !known.contains(one))
        .collect();
    if !accepted.is_empty() {
        append_acceptances(&lake, &accepted)?;
    }
    info!(path = %path.display(), publish = id, accepted = accepted.len(), "published");
    output::print_message(
        settings,
        &format!(
            "{}: {}",
            display_path(path),
            describe_publication(&published)
        ),
    );
    Ok(())
}

/// Says what was added, for example: 2 runs added, 1 retracted, 512 outcomes; 40 were there.
fn describe_publication(published: &PublicationCounts) -> String {
    let PublicationCounts {
        new,
        revised,
        retracted,
        restored,
        unchanged,
        outcomes,
    } = *published;
    let there = output::format_count(unchanged, "run");
    if published.run_row_count() == 0 {
        return format!(
            "nothing new; {there} {} in it already",
            if unchanged == 1 { "is" } else { "are" }
        );
    }
    let counts = [
        (new, "added"),
        (revised, "revised"),
        (retracted, "retracted"),
        (restored, "no longer retracted"),
    ];
    let mut said: Vec<String> = Vec::new();
    for (count, what) in counts.into_iter().filter(|(count, _)| *count > 0) {
        said.push(if said.is_empty() {
            format!("{} {what}", output::format_count(count, "run"))
        } else {
            format!("{count} {what}")
        });
    }
    said.push(output::format_count(
        usize::try_from(outcomes).unwrap_or(usize::MAX),
        "outcome",
    ));
    let rest = if unchanged > 0 {
        format!("; {there} unchanged")
    } else {
        String::new()
    };
    format!("{}{rest}", said.join(", "))
}
