//! `doctor`: checks the stores for damage.

use std::time::Instant;

use clap::Args;
use tracing::info;

use crate::domain::{Problem, UnfinishedRun, UnfinishedState};
use crate::process::{ConfinementSupport, Network, has_spaces, support};
use crate::results::{
    ChainState, Store, StoreExamination, StoreVerification, describe_progress, examine_store,
    verify_store,
};

use super::command::{Command, Example, Invocation, ResultsUse};
use super::display_path::display_path;
use super::failure::CommandFailure;
use super::options::Format;
use super::settings::Settings;
use super::{exit_code, missing, output, tidy};

/// Check the results folder for damage
#[derive(Args)]
pub(super) struct DoctorArguments {
    /// Also compare every run with its seal, and the store with its chain, to find later edits and removals
    #[arg(long)]
    pub verify: bool,
    /// With --verify: this entry of the chain must be there. An earlier check printed it as the newest
    #[arg(long, value_name = "ENTRY", requires = "verify")]
    pub since: Option<String>,
    /// Remove leftovers of killed commands: half-written files, half-unpacked bundles, workspaces
    #[arg(long)]
    pub tidy: bool,
    /// Report how far this system isolates the programs of runs
    #[arg(long)]
    pub system: bool,
}

impl Command for DoctorArguments {
    const NAME: &'static str = "doctor";
    const EXAMPLES: [Example; 2] = [
        ("evalreport doctor --verify", "damage, and later edits"),
        (
            "evalreport doctor --system",
            "how far runs are isolated here",
        ),
    ];

    fn run(&self, invocation: &Invocation<'_>) -> Result<u8, CommandFailure> {
        invocation.with_settings(ResultsUse::Change, |settings| run_command(settings, self))
    }
}

/// The answer for one store.
#[derive(serde::Serialize)]
struct DoctorAnswer {
    store: String,
    runs: usize,
    items: u64,
    batches: usize,
    retractions: usize,
    /// Accepted regressions, if there are any.
    #[serde(skip_serializing_if = "Option::is_none")]
    acceptances: Option<usize>,
    /// With `--verify`: number of sealed runs. `unsealed` counts runs from before there were seals.
    #[serde(skip_serializing_if = "Option::is_none")]
    sealed: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    unsealed: Option<usize>,
    /// With `--verify`: the store's chain.
    #[serde(skip_serializing_if = "Option::is_none")]
    chain: Option<Chain>,
    in_flight: Vec<String>,
    /// Runs without a header: in flight or abandoned.
    unfinished: Vec<UnfinishedRun>,
    /// Oddities that do no harm.
    notes: Vec<Damage>,
    damage: Vec<Damage>,
}

#[derive(serde::Serialize)]
struct Chain {
    entries: usize,
    /// The ids of the entries that no other names, for a later `--since`.
    newest: Vec<String>,
    /// Plans, imports and headers without a plan that no entry names.
    unchained: usize,
}

#[derive(serde::Serialize)]
struct Damage {
    file: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<usize>,
    problem: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<String>,
}

/// With `--system`: the isolation that this system enforces for code runs.
#[derive(serde::Serialize)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a thing that a system does or not"
)]
struct System {
    /// Programs reach only the files that they are given.
    files: bool,
    /// Programs reach only the TCP ports that they are given.
    ports: bool,
    /// Programs can send signals only to their own processes.
    signals: bool,
    /// Programs have no terminal, and as root none of its powers.
    powers: bool,
    /// Programs are refused system calls that reach beyond them.
    calls: bool,
    /// Programs see only their own processes, shared memory and terminals.
    processes: bool,
    /// A server and its tests get their own network.
    networks: bool,
}

impl System {
    fn detect_support() -> Self {
        let ConfinementSupport {
            files,
            network,
            signals,
            calls,
        } = support();
        let processes = files && has_spaces();
        Self {
            files,
            ports: network,
            signals,
            powers: files,
            calls: files && calls,
            processes,
            networks: network && Network::is_supported(),
        }
    }

    fn describe_support(&self) -> String {
        let yes_or_no = |is_so: bool| if is_so { "yes" } else { "no" };
        let processes = if self.calls {
            "they see only processes, shared memory, terminals and temporary files of their own, and no sockets of services; else they see all and can change none"
        } else {
            "they see only processes, shared memory, terminals and temporary files of their own, and no sockets of services; else a run that changes this program's limits is `infra: tampered`"
        };
        let parts = [
            (
                "files",
                self.files,
                "programs of a run reach the files and devices that they are given",
            ),
            (
                "ports",
                self.ports,
                "they reach the TCP ports that they are given",
            ),
            (
                "signals",
                self.signals,
                "they signal only programs of their own",
            ),
            (
                "powers",
                self.powers,
                "they have no terminal and, as root, none of its powers",
            ),
            (
                "system calls",
                self.calls,
                "they are refused those that reach beyond them, such as typing into a terminal",
            ),
            ("processes", self.processes, processes),
            (
                "networks",
                self.networks,
                "a server and its tests get a network of their own if the suite's `network` names neither; else servers at a fixed port take turns",
            ),
        ];
        let lines =
            parts.map(|(name, is_so, words)| format!("{name}: {} ({words})\n", yes_or_no(is_so)));
        lines.concat()
    }
}

fn run_command(settings: &Settings, arguments: &DoctorArguments) -> Result<u8, CommandFailure> {
    if arguments.tidy {
        tidy::remove_leftovers(settings);
    }
    // What is asked about this system or the cache needs no results.
    let is_of_results = !arguments.system && !arguments.tidy;
    let usual = settings.results.iter().map(std::path::PathBuf::as_path);
    if is_of_results && settings.lakes.is_empty() && !settings.has_results() {
        return Err(missing::no_results_failure(&usual.collect::<Vec<_>>()));
    }
    let mut damaged = false;
    let mut answers = Vec::new();
    let mut text = String::new();
    for folder in &settings.results {
        if folder.exists() && !folder.is_dir() {
            return Err(CommandFailure::new(format!(
                "{} is not a folder",
                display_path(folder)
            )));
        }
        let start = Instant::now();
        let store = Store::new(folder);
        let mut found = examine_store(&store);
        let proof = arguments
            .verify
            .then(|| verify_store(&store, arguments.since.as_deref()));
        found
            .damage
            .extend(proof.iter().flat_map(|proof| proof.changes.clone()));
        info!(
            store = %folder.display(),
            runs = found.runs,
            item_lines = found.items,
            problems = found.damage.len(),
            seconds = start.elapsed().as_secs_f64(),
            "store examined"
        );
        damaged |= !found.damage.is_empty();
        describe_store(&display_path(folder), &found, proof.as_ref(), &mut text);
        answers.push(store_answer(display_path(folder), found, proof.as_ref()));
    }
    let system = arguments.system.then(System::detect_support);
    text.extend(system.iter().map(System::describe_support));
    match settings.format {
        Format::Json | Format::Full => {
            #[derive(serde::Serialize)]
            struct StoresAnswer {
                stores: Vec<DoctorAnswer>,
                #[serde(skip_serializing_if = "Option::is_none")]
                system: Option<System>,
            }
            output::print_text(&crate::render::json::write_document(
                "doctor",
                StoresAnswer {
                    stores: answers,
                    system,
                },
            ))?;
        }
        Format::Table | Format::Markdown | Format::Csv => output::print_text(&text)?,
        Format::Junit => return Err(output::no_junit_failure()),
    }
    Ok(if damaged {
        exit_code::NEGATIVE
    } else {
        exit_code::DONE
    })
}

fn describe_store(
    store: &str,
    found: &StoreExamination,
    proof: Option<&StoreVerification>,
    text: &mut String,
) {
    for problem in &found.damage {
        text.push_str(&format!("{problem}\n"));
        if let Some(hint) = &problem.hint {
            text.push_str(&format!("  hint: {hint}\n"));
        }
    }
    for note in &found.notes {
        text.push_str(&format!("note: {note}\n"));
        if let Some(hint) = &note.hint {
            text.push_str(&format!("  hint: {hint}\n"));
        }
    }
    let in_progress = found
        .unfinished
        .iter()
        .filter(|run| run.state == UnfinishedState::InProgress);
    for (folder, run) in found.in_flight.iter().zip(in_progress) {
        text.push_str(&format!(
            "{folder}: in flight: another process is writing it{}\n",
            describe_progress(run)
        ));
    }
    if let Some(proof) = proof {
        let ChainState {
            entries,
            newest,
            unchained,
        } = &proof.chain;
        let of_others = match unchained {
            0 => String::new(),
            count => format!(
                "; no entry names {}: of an earlier version, or of a killed command",
                output::format_count(*count, "record")
            ),
        };
        if *entries > 0 {
            let entries = if *entries == 1 {
                "1 entry".to_owned()
            } else {
                format!("{entries} entries")
            };
            text.push_str(&format!(
                "{store}: chain of {entries}, newest {}{of_others}\n",
                newest.join(" and ")
            ));
        } else if *unchained > 0 {
            text.push_str(&format!("{store}: no chain{of_others}\n"));
        }
    }
    let items = usize::try_from(found.items).unwrap_or(usize::MAX);
    let parts = [
        output::format_count(found.runs, "run"),
        output::format_count(items, "item line"),
        format!(
            "{} batch{}",
            found.batches,
            if found.batches == 1 { "" } else { "es" }
        ),
        output::format_count(found.retractions, "tombstone"),
    ];
    let accepted = match found.acceptances {
        0 => String::new(),
        count => format!(", {}", output::format_count(count, "accepted regression")),
    };
    let verdict = match found.damage.len() {
        0 => "no damage found".to_owned(),
        count => format!("{} found", output::format_count(count, "problem")),
    };
    text.push_str(&format!(
        "{store}: {}{accepted}; {verdict}\n",
        parts.join(", ")
    ));
    if let Some(proof) = proof {
        let unsealed = match proof.unsealed {
            0 => String::new(),
            count => format!(
                "; {} without a seal: written by hand or by an earlier version",
                output::format_count(count, "run")
            ),
        };
        text.push_str(&format!(
            "{store}: {} sealed{unsealed}\n",
            output::format_count(proof.sealed, "run")
        ));
    }
}

fn store_answer(
    store: String,
    found: StoreExamination,
    proof: Option<&StoreVerification>,
) -> DoctorAnswer {
    let damage = |problem: Problem| Damage {
        file: problem.file,
        line: problem.line,
        problem: problem.message,
        hint: problem.hint,
    };
    DoctorAnswer {
        store,
        runs: found.runs,
        items: found.items,
        batches: found.batches,
        retractions: found.retractions,
        acceptances: (found.acceptances > 0).then_some(found.acceptances),
        sealed: proof.map(|proof| proof.sealed),
        unsealed: proof.map(|proof| proof.unsealed),
        chain: proof.map(
            |StoreVerification {
                 chain:
                     ChainState {
                         entries,
                         newest,
                         unchained,
                     },
                 ..
             }| Chain {
                entries: *entries,
                newest: newest.clone(),
                unchained: *unchained,
            },
        ),
        in_flight: found.in_flight,
        unfinished: found.unfinished,
        notes: found.notes.into_iter().map(damage).collect(),
        damage: found.damage.into_iter().map(damage).collect(),
    }
}
