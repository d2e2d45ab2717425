//! `export bundle`.

use std::path::Path;

use tracing::info;

use crate::domain::Filter;
use crate::results::{BundleExtent, SigningKey, is_bundle};
use crate::warehouse::{BundleSummary, Warehouse, write_bundle};

use super::super::display_path::display_path;
use super::super::failure::CommandFailure;
use super::super::output;
use super::super::settings::Settings;

pub(super) fn write_runs(
    settings: &Settings,
    path: &Path,
    (extent, sign_key): (BundleExtent, Option<&Path>),
    warehouse: &Warehouse,
    filter: &Filter,
) -> Result<(), CommandFailure> {
    let without_records = warehouse.count_without_records(filter);
    if without_records > 0 {
        return Err(CommandFailure::new(format!(
            "a lake has no records to copy: it has {} of the selected runs",
            output::format_count(without_records, "run")
        ))
        .with_hint("export from the results folder; `export json` writes what a lake has"));
    }
    let is_other = match path.metadata() {
        // A path that is neither a file nor a folder has no content to lose, like an empty file.
        Ok(metadata) => {
            metadata.is_dir()
                || metadata.is_file() && metadata.len() > 0 && !is_bundle(path).unwrap_or(false)
        }
        Err(_) => false,
    };
    if is_other {
        return Err(CommandFailure::new(format!(
            "{} is there and is no bundle",
            display_path(path)
        ))
        .with_hint("give the name of a new file"));
    }
    if sign_key.is_some() && path.metadata().is_ok_and(|metadata| !metadata.is_file()) {
        return Err(CommandFailure::new(format!(
            "{} is no file, and only a file can be signed",
            display_path(path)
        )));
    }
    // Read the key before the work, so that a key that cannot sign fails early.
    let key = sign_key
        .map(|key| SigningKey::from_file(key, path))
        .transpose()?;
    let BundleSummary {
        runs,
        outcomes,
        left_out,
    } = write_bundle(
        path,
        (
            &warehouse.stored_locations(filter),
            &warehouse.collect_decisions(filter),
        ),
        extent,
        settings.secrets(),
        None,
    )?;
    output::print_warnings(settings, &left_out)?;
    let items = usize::try_from(outcomes).unwrap_or(usize::MAX);
    info!(file = %path.display(), runs, outcomes = items, "bundle written");
    output::print_message(
        settings,
        &format!(
            "{}: {}, {}",
            display_path(path),
            output::format_count(runs, "run"),
            output::format_count(items, "outcome")
        ),
    );
    if let Some(key) = key {
        let signature = key.sign_file(path)?;
        output::print_message(
            settings,
            &format!("{}: the signature", display_path(&signature)),
        );
    }
    Ok(())
}
