//! `export bundle`.

use tracing::info;

use crate::domain::Filter;
use crate::results::{Extent, SigningKey, is_bundle};
use crate::warehouse::{Packed, Warehouse, pack};

use super::super::arguments::Export;
use super::super::failure::Failure;
use super::super::output;
use super::super::settings::Settings;
use super::super::shown::shown;

pub(super) fn write(
    settings: &Settings,
    arguments: &Export,
    warehouse: &Warehouse,
    filter: &Filter,
) -> Result<(), Failure> {
    let path = &arguments.path;
    let without_records = warehouse.without_records(filter);
    if without_records > 0 {
        return Err(Failure::new(format!(
            "a lake has no records to copy: it has {} of the selected runs",
            output::count(without_records, "run")
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
        return Err(
            Failure::new(format!("{} is there and is no bundle", shown(path)))
                .with_hint("give the name of a new file"),
        );
    }
    if arguments.sign_key.is_some() && path.metadata().is_ok_and(|metadata| !metadata.is_file()) {
        return Err(Failure::new(format!(
            "{} is no file, and only a file can be signed",
            shown(path)
        )));
    }
    // Read the key before the work, so that a key that cannot sign fails early.
    let key = arguments
        .sign_key
        .as_deref()
        .map(|key| SigningKey::read(key, path))
        .transpose()?;
    let extent = if arguments.slim {
        Extent::Figures
    } else {
        Extent::Whole
    };
    let Packed {
        runs,
        outcomes,
        left_out,
    } = pack(
        path,
        (&warehouse.stored_at(filter), &warehouse.decisions(filter)),
        extent,
        settings.secrets(),
        None,
    )?;
    output::warnings(settings, &left_out)?;
    let items = usize::try_from(outcomes).unwrap_or(usize::MAX);
    info!(file = %path.display(), runs, outcomes = items, "bundle written");
    output::say(
        settings,
        &format!(
            "{}: {}, {}",
            shown(path),
            output::count(runs, "run"),
            output::count(items, "outcome")
        ),
    );
    if let Some(key) = key {
        let signature = key.sign(path)?;
        output::say(settings, &format!("{}: the signature", shown(&signature)));
    }
    Ok(())
}
