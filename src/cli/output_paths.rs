//! The paths that a command writes, and the check of all of them before it starts.

use std::path::PathBuf;

use crate::results::WriteProtectedPaths;

use super::display_path::display_path;
use super::failure::CommandFailure;
use super::options::Global;
use super::settings::SettingsPaths;

/// Fails if a command would write into a store, over a configuration or into a suite. Runs before anything is done. `paths` are those that the
/// command's own options name.
pub(super) fn check_outputs(
    global: &Global,
    mut paths: Vec<PathBuf>,
) -> Result<(), CommandFailure> {
    paths.extend(global.log.clone());
    if paths.is_empty() {
        return Ok(());
    }
    let SettingsPaths {
        config,
        results,
        lakes: _,
    } = SettingsPaths::from_options(global)?;
    let guarded = WriteProtectedPaths {
        stores: results,
        configuration: config,
    };
    for path in paths {
        if let Some(why) = guarded.refusal_reason(&path) {
            return Err(CommandFailure::new(format!(
                "{} {why}, which nothing else is written to",
                display_path(&path)
            ))
            .with_hint("name another place"));
        }
    }
    Ok(())
}
