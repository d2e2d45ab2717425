//! `demo`: compares made-up answers, to show what a verdict looks like. It opens nothing and stores nothing.

use std::fs;

use clap::Args;

use crate::config::ProjectConfig;
use crate::render::terminal;
use crate::warehouse::DisplayNames;

use super::command::{Command, Example, Invocation, ResultsUse};
use super::compare::{self, CompareArguments};
use super::failure::CommandFailure;
use super::options::Format;
use super::output;
use super::settings::Settings;

/// Answers of two prompts to 120 questions.
const ANSWERS: &str = include_str!("demo/answers.csv");
/// Name of the file, from which the table has its name.
const FILE: &str = "demo.csv";

/// Compare made-up answers, to see a verdict; stores nothing
#[derive(Args)]
pub(super) struct DemoArguments {
    /// Explain the table: intervals, methods, planning figures
    #[arg(long)]
    pub explain: bool,
}

impl Command for DemoArguments {
    const NAME: &'static str = "demo";
    const EXAMPLES: [Example; 2] = [
        ("evalreport demo", "a verdict on two prompts"),
        (
            "evalreport demo --explain",
            "the same, with intervals and methods",
        ),
    ];

    fn run(&self, invocation: &Invocation<'_>) -> Result<u8, CommandFailure> {
        invocation.with_settings(ResultsUse::None, |settings| run_command(settings, self))
    }
}

fn run_command(settings: &Settings, arguments: &DemoArguments) -> Result<u8, CommandFailure> {
    let folder = settings.temporary_folder()?.to_owned();
    let file = folder.join(FILE);
    fs::write(&file, ANSWERS).map_err(|error| {
        CommandFailure::new(format!("cannot write into the temporary folder: {error}"))
    })?;
    // Only the made-up answers are read: no results, no configuration, no cache of the reader's.
    let own = Settings {
        config: ProjectConfig::default(),
        names: DisplayNames::default(),
        config_path: None,
        usual_results: None,
        results: vec![folder.join("results")],
        lakes: Vec::new(),
        cache: folder.join("cache"),
        typed: Vec::new(),
        quiet: true,
        ..settings.clone()
    };
    let compared = CompareArguments {
        what: vec![file.display().to_string()],
        explain: arguments.explain,
        ..CompareArguments::default()
    };
    let code = compare::run_command(&own, &compared)?;
    own.release_cache();
    if settings.format == Format::Table {
        let next = "These answers are made up. Compare your own: evalreport FILE, for example a table with the columns question, prompt and passed.";
        let next = terminal::wrap_sentences(&[next.to_owned()], settings.style);
        output::print_text(&format!("\n{next}"))?;
    }
    Ok(code)
}
