//! `serve`: serves the site on this machine, and rebuilds it when its sources change.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, SystemTime};

use clap::Args;
use tracing::{info, warn};
use walkdir::WalkDir;

use crate::config;
use crate::files::HeldFolder;
use crate::serve::Server;

use super::build::{BuildArguments, Publishing};
use super::command::{Command, Example, Invocation, ResultsUse};
use super::display_path::display_path;
use super::failure::CommandFailure;
use super::options::{Global, OfFiles, Selection};
use super::settings::Settings;
use super::{build, exit_code, output};

/// Build the site, serve it on this machine, and rebuild on changes
#[derive(Args)]
pub(super) struct ServeArguments {
    /// Other tools' results to show beside the stored runs; read through the cache, not stored
    #[arg(value_name = "PATH")]
    pub paths: Vec<PathBuf>,
    /// Folder to build the site in [default: a temporary one]
    #[arg(long, short, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Port to listen on; 0 means any free port
    #[arg(long, value_name = "N", default_value_t = 8000)]
    pub port: u16,
    #[command(flatten)]
    pub publishing: Publishing,
    #[command(flatten)]
    pub of_files: OfFiles,
    #[command(flatten)]
    pub selection: Selection,
}

impl Command for ServeArguments {
    const NAME: &'static str = "serve";
    const EXAMPLES: [Example; 2] = [
        ("evalreport serve --port 0", "the site on any free port"),
        (
            "evalreport serve logs --out site",
            "with other tools' results, into a folder",
        ),
    ];
    const UNREAD: &'static [&'static str] = &["out", "single_file"];

    fn output_paths(&self) -> Vec<PathBuf> {
        let file = self.publishing.single_file.as_ref();
        file.or(self.out.as_ref()).into_iter().cloned().collect()
    }

    fn run(&self, invocation: &Invocation<'_>) -> Result<u8, CommandFailure> {
        invocation.with_settings(ResultsUse::Read, |settings| {
            run_command(invocation.global, settings, self)
        })
    }
}

/// Interval between two checks of the files.
const CHECK_INTERVAL: Duration = Duration::from_secs(1);
/// Interval between two checks of the stop signal.
const STOP_CHECK_INTERVAL: Duration = Duration::from_millis(50);

fn run_command(
    global: &Global,
    settings: &Settings,
    arguments: &ServeArguments,
) -> Result<u8, CommandFailure> {
    let temporary = HeldFolder::create()
        .map_err(|error| CommandFailure::new(format!("cannot make a temporary folder: {error}")))?;
    let out = arguments
        .out
        .clone()
        .unwrap_or_else(|| temporary.path().join("site"));
    let ask = BuildArguments {
        paths: arguments.paths.clone(),
        out: out.clone(),
        allow_empty: false,
        publishing: arguments.publishing.clone(),
        of_files: arguments.of_files.clone(),
        selection: arguments.selection.clone(),
    };
    let mut seen = source_stamps(settings, &ask.paths);
    build::run_command(settings, &ask)?;

    let cannot = |error: std::io::Error| {
        CommandFailure::new(format!("cannot serve on port {}: {error}", arguments.port))
    };
    let server = Server::bind(&out, arguments.port)
        .map_err(|error| cannot(error).with_hint("choose another with --port"))?;
    let address = server.address().map_err(cannot)?;
    let stop = Arc::new(AtomicBool::new(false));
    let handler = Arc::clone(&stop);
    ctrlc::set_handler(move || handler.store(true, Ordering::SeqCst))
        .map_err(|error| CommandFailure::new(format!("cannot listen for Ctrl-C: {error}")))?;
    let stop_server = Arc::clone(&stop);
    let serving = thread::Builder::new()
        .spawn(move || server.serve_until(&stop_server))
        .map_err(cannot)?;
    info!(%address, folder = %out.display(), "serving");
    output::print_text(&format!("http://{address}/\n"))?;
    output::print_message(
        settings,
        &format!("serving {}; Ctrl-C ends", display_path(&out)),
    );

    let mut waited = Duration::ZERO;
    while !stop.load(Ordering::SeqCst) {
        thread::sleep(STOP_CHECK_INTERVAL);
        waited += STOP_CHECK_INTERVAL;
        if waited < CHECK_INTERVAL {
            continue;
        }
        waited = Duration::ZERO;
        let now = source_stamps(settings, &ask.paths);
        if now != seen {
            seen = now;
            rebuild_site(global, settings, &ask);
        }
    }
    if serving.join().is_err() {
        warn!("the server ended by itself");
    }
    Ok(exit_code::DONE)
}

/// Rebuilds the site with the current configuration. If that fails, the site stays unchanged.
fn rebuild_site(global: &Global, settings: &Settings, ask: &BuildArguments) {
    let now =
        Settings::new(global).and_then(|settings| settings.check_named_paths().map(|()| settings));
    let built = now.and_then(|settings| build::run_command(&settings, ask));
    if let Err(failure) = built {
        output::print_message(settings, "the site stays as it was:");
        output::print_failure(&failure);
    }
}

/// Returns size and time of every file that the site is made from. `paths` are other tools' results.
fn source_stamps(
    settings: &Settings,
    paths: &[PathBuf],
) -> BTreeMap<PathBuf, (u64, Option<SystemTime>)> {
    let mut places: Vec<PathBuf> = settings
        .results
        .iter()
        .chain(&settings.lakes)
        .cloned()
        .collect();
    places.push(settings.config.folder.join("suites"));
    places.push(settings.config.folder.join(config::EXCLUSIONS_FILE));
    places.extend(settings.config_path.clone());
    if !settings.config.file.is_empty() {
        places.push(PathBuf::from(&settings.config.file));
    }
    let own = places.iter().flat_map(|place| {
        WalkDir::new(place)
            .into_iter()
            .filter_entry(|entry| is_source(entry.path()))
    });
    let foreign = paths.iter().flat_map(WalkDir::new);
    own.chain(foreign)
        .filter_map(Result::ok)
        .filter_map(|entry| {
            let metadata = entry.metadata().ok().filter(std::fs::Metadata::is_file)?;
            Some((
                entry.into_path(),
                (metadata.len(), metadata.modified().ok()),
            ))
        })
        .collect()
}

/// Says whether a path is a source of the site. Agents' output is not: no page shows it, and it may be many files.
fn is_source(path: &Path) -> bool {
    path.file_name().is_none_or(|name| name != "output")
}
