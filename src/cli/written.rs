//! The paths that a command writes, and the check of all of them before it starts.

use std::path::PathBuf;

use crate::results::{Guarded, signature_path};

use super::arguments::{Arguments, Command};
use super::failure::Failure;
use super::settings::Places;
use super::shown::shown;

/// Fails if the command would write into a store, over a configuration or into a suite. Runs before anything is done.
pub(super) fn check(arguments: &Arguments) -> Result<(), Failure> {
    let paths = paths(arguments);
    if paths.is_empty() {
        return Ok(());
    }
    let Places {
        config,
        results,
        lakes: _,
    } = Places::of(&arguments.global)?;
    let guarded = Guarded {
        stores: results,
        configuration: config,
    };
    for path in paths {
        if let Some(why) = guarded.refusal(&path) {
            return Err(Failure::new(format!(
                "{} {why}, which nothing else is written to",
                shown(&path)
            ))
            .with_hint("name another place"));
        }
    }
    Ok(())
}

/// Returns every path that a command was told to write to, except its own stores, cache and workspaces.
fn paths(arguments: &Arguments) -> Vec<PathBuf> {
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
