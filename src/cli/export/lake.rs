//! `export lake`: adds what is new to a lake.

use std::path::Path;

use tracing::info;
use uuid::Uuid;

use crate::domain::Filter;
use crate::results::{Store, append_acceptances, load_acceptances};
use crate::warehouse::{Publication, Published, Warehouse};

use super::super::failure::Failure;
use super::super::settings::Settings;
use super::super::shown::shown;
use super::super::{clock, output};

pub(super) fn publish(
    settings: &Settings,
    path: &Path,
    warehouse: &Warehouse,
    filter: &Filter,
) -> Result<(), Failure> {
    if path.exists() && !path.is_dir() {
        return Err(Failure::new(format!("{} is not a folder", shown(path)))
            .with_hint("`export lake` makes or extends a folder of tables"));
    }
    let id = Uuid::now_v7().to_string();
    let published = warehouse.publish(
        path,
        filter,
        &Publication {
            id: &id,
            time: clock::now(),
        },
    )?;
    // After the runs: an acceptance of nights that the lake does not have says nothing.
    let lake = Store::at(path);
    let known = load_acceptances(&lake)?;
    let accepted: Vec<_> = warehouse
        .decisions(filter)
        .accepted
        .into_iter()
        .filter(|one| !known.contains(one))
        .collect();
    if !accepted.is_empty() {
        append_acceptances(&lake, &accepted)?;
    }
    info!(path = %path.display(), publish = id, accepted = accepted.len(), "published");
    output::say(
        settings,
        &format!("{}: {}", shown(path), sentence(&published)),
    );
    Ok(())
}

/// Says what was added, for example: 2 runs added, 1 retracted, 512 outcomes; 40 were there.
fn sentence(published: &Published) -> String {
    let Published {
        new,
        revised,
        retracted,
        restored,
        unchanged,
        outcomes,
    } = *published;
    let there = output::count(unchanged, "run");
    if published.runs() == 0 {
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
            format!("{} {what}", output::count(count, "run"))
        } else {
            format!("{count} {what}")
        });
    }
    said.push(output::count(
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
