//! The command line: arguments, one file per command, printing, progress and exit codes.

mod accept;
mod ad_hoc_import;
mod adaptive;
mod again;
mod arguments;
mod arms;
mod assignments;
mod audit;
mod baseline;
mod baseline_commit;
mod batch_summary;
mod build;
mod cache;
mod clock;
mod compare;
mod completions;
mod display_path;
mod doctor;
mod engine;
mod eval;
mod examples;
mod execute_plan;
pub mod exit_code;
mod export;
mod failure;
mod file_arms;
mod file_order;
mod fit;
mod gate;
mod help;
mod history;
mod import;
mod import_answer;
mod init;
mod judge;
mod judge_agreement;
mod judge_imported;
mod label_import;
mod labels;
mod leaderboard;
mod list;
mod log;
mod missing;
mod noise;
mod open_warehouse;
mod output;
mod output_paths;
mod policy;
mod preflight;
mod progress;
mod progress_view;
mod proposal;
mod query_limits;
mod record;
mod retract;
mod run;
mod runnable;
mod same_versions;
mod selection;
mod serve;
mod settings;
mod show;
mod sql;
mod subset;
mod summary;
mod targets;
mod threads;
mod tidy;
mod unstarted;
mod until;
mod verify;
mod versions;

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{CommandFactory, FromArgMatches};
use tracing::{error, info};

use arguments::{Arguments, Command};
use failure::CommandFailure;
use settings::Settings;

/// Returns the command line, for tests that hold for all commands and options.
pub fn command_line() -> clap::Command {
    Arguments::command()
}

/// Runs one command and returns its exit code.
pub fn main(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let arguments: Vec<OsString> = arguments.into_iter().collect();
    if let Some(code) = crate::process::serve_helpers(&arguments) {
        return ExitCode::from(code);
    }
    if completions::answer_shell(&arguments) {
        return ExitCode::from(exit_code::DONE);
    }
    let mut command = examples::add_examples(Arguments::command());
    let parsed = command.try_get_matches_from_mut(arguments);
    let read = parsed
        .as_ref()
        .map(|matches| missing::read_paths(&command, matches))
        .unwrap_or_default();
    let arguments = match parsed.and_then(|matches| Arguments::from_arg_matches(&matches)) {
        Ok(arguments) => arguments,
        Err(error) => {
            // Help and version are answers; every other parse result is a wrong argument. A closed pipe is not an error.
            let is_told = match error.print() {
                Err(error) => error.kind() == std::io::ErrorKind::BrokenPipe,
                Ok(()) => true,
            };
            return ExitCode::from(if is_told && !error.use_stderr() {
                exit_code::DONE
            } else {
                exit_code::BAD_INPUT
            });
        }
    };
    let arguments = Arguments {
        command: arguments.command.resolve_alias(),
        global: arguments.global,
    };
    match threads::run_catching_refusals(|| run_logged(arguments, &read)) {
        Ok(code) => ExitCode::from(code),
        Err(failure) => {
            output::print_failure(&failure);
            ExitCode::from(failure.code)
        }
    }
}

/// Runs the command and logs its beginning and end. `read` are the paths that the command line names for reading.
fn run_logged(arguments: Arguments, read: &[PathBuf]) -> Result<u8, CommandFailure> {
    crate::process::adopt(std::env::vars_os().collect());
    output_paths::check_outputs(&arguments)?;
    log::start_logging(&arguments.global)?;
    info!(
        version = env!("CARGO_PKG_VERSION"),
        command = arguments.command.name(),
        "started"
    );
    let done = dispatch_command(arguments, read);
    match &done {
        Ok(code) => info!(exit_code = code, "done"),
        Err(failure) => error!(exit_code = failure.code, error = failure.message, "failed"),
    }
    done
}

fn dispatch_command(arguments: Arguments, read: &[PathBuf]) -> Result<u8, CommandFailure> {
    if let Command::Completions(completions) = &arguments.command {
        return completions::run_command(completions);
    }
    if let Command::Help(help) = &arguments.command {
        return help::run_command(help, settings::terminal_style(&arguments.global));
    }
    // Neither command needs a configuration, so a broken one must not stop them.
    if let Command::Init(init) = &arguments.command {
        return init::run_command(arguments.global.quiet, init);
    }
    threads::start_pool()?;
    missing::check_paths(read.iter().map(PathBuf::as_path))?;
    let settings = Settings::new(&arguments.global)?;
    if !arguments.command.creates_results_folder() {
        settings.check_named_paths()?;
    }
    if arguments.command.writes_results() {
        settings.check_writes(arguments.command.name())?;
    }
    let name = arguments.command.name();
    let done = match arguments.command {
        Command::Init(init) => init::run_command(settings.quiet, &init),
        Command::Run(run) => run::run_command(&settings, &run),
        Command::Eval(eval) => eval::run_command(&settings, &eval),
        Command::Verify(verify) => verify::run_command(&settings, &verify),
        Command::List(list) => list::run_command(&settings, &list),
        Command::Show(show) => show::run_command(&settings, &show),
        Command::Import(import) => import::run_command(&settings, &import),
        Command::Record(record) => record::run_command(&settings, &record),
        Command::Retract(retract) => retract::run_command(&settings, &retract),
        Command::Compare(compare) => compare::run_command(&settings, &compare),
        Command::Leaderboard(leaderboard) => leaderboard::run_command(&settings, &leaderboard),
        Command::Audit(audit) => audit::run_command(&settings, &audit),
        Command::Noise(noise) => noise::run_command(&settings, &noise),
        Command::Fit(fit) => fit::run_command(&settings, &fit),
        Command::Judge(judge) => judge::run_command(&settings, &judge),
        Command::Gate(gate) => gate::run_command(&settings, &gate),
        Command::History(history) => history::run_command(&settings, &history),
        Command::Build(build) => build::run_command(&settings, &build),
        Command::Serve(serve) => serve::run_command(&arguments.global, &settings, &serve),
        Command::Sql(sql) => sql::run_command(&settings, &sql),
        Command::Export(export) => export::run_command(&settings, &export),
        Command::Doctor(doctor) => doctor::run_command(&settings, &doctor),
        Command::Cache(cache) => cache::run_command(&settings, &cache),
        Command::Completions(completions) => completions::run_command(&completions),
        Command::Help(help) => help::run_command(&help, settings.style),
    };
    // Also after a failure: what was added is there.
    settings.append_chain_entry(name);
    settings.release_cache();
    done
}
