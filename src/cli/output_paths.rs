//! The paths that a command writes, and the check of all of them before it starts.

use std::path::PathBuf;

use crate::results::{WriteProtectedPaths, signature_path};

use super::arguments::{Arguments, Command};
use super::display_path::display_path;
use super::failure::CommandFailure;
use super::settings::SettingsPaths;

/// Fails if the command would write into a store, over a configuration or into a suite. Runs before anything is done.
pub(super) fn check_outputs(arguments: &Arguments) -> Result<(), CommandFailure> {
    let paths = output_paths(arguments);
    if paths.is_empty() {
        return Ok(());
    }
    let SettingsPaths {
        config,
        results,
        lakes: _,
    } = SettingsPaths::from_options(&arguments.global)?;
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

/// Returns every path that a command was told to write to, except its own stores, cache and workspaces.
fn output_paths(arguments: &Arguments) -> Vec<PathBuf> {
    let of_command = match &arguments.command {
        Command::Export(export) => vec![
            Some(export.path.clone()),
            export
                .sign_key
                .as_ref()
                .map(|_| signature_path(&export.path)),
        ],
        Command::Build(build) => vec![Some(
            build
                .publishing
                .single_file
                .as_ref()
                .unwrap_or(&build.out)
                .clone(),
        )],
        Command::Serve(serve) => vec![serve.out.clone()],
        Command::Gate(gate) => vec![gate.junit.clone(), gate.markdown.clone()],
        Command::Import(import) => vec![import.table.write_map.clone()],
        Command::Run(run) => vec![run.summary.clone(), run.site.clone()],
        Command::Init(_)
        | Command::Eval(_)
        | Command::Verify(_)
        | Command::List(_)
        | Command::Show(_)
        | Command::Record(_)
        | Command::Retract(_)
        | Command::Compare(_)
        | Command::Leaderboard(_)
        | Command::Audit(_)
        | Command::Noise(_)
        | Command::Fit(_)
        | Command::Judge(_)
        | Command::History(_)
        | Command::Sql(_)
        | Command::Doctor(_)
        | Command::Cache(_)
        | Command::Completions(_)
        | Command::Help(_) => Vec::new(),
    };
    of_command
        .into_iter()
        .chain([arguments.global.log.clone()])
        .flatten()
        .collect()
}
