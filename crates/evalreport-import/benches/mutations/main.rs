//! Millions of broken files before every parser: `cargo bench --bench mutations -- [EXECUTIONS] [PARSER…]`, 10 million in all unless said
//! otherwise; `--each EXECUTIONS` says how many each parser meets, dear ones fewer. With `hostile` as the only argument, the hostile files at full size
//! instead.
//!
//! Each parser is a process of its own, so that its memory is its own, and prints one row of a table in `docs/measured`. Files that
//! are not survived are kept in `target/tmp/mutations`.
#![expect(
    clippy::print_stdout,
    reason = "a program for a person who reads its tables"
)]

// The names under which the tests know the layers; `tests/it/mutated.rs` has the files below as well.
extern crate self as evalreport;
pub use evalreport_import as import;
pub use evalreport_model::{document, domain, files, transcript};
pub use evalreport_stats as stats;
pub use evalreport_store as results;
pub use evalreport_test_output as junit;

mod archive;
mod broken;
mod columnar;
mod hostile;
mod lengths;
mod memory;
mod subjects;

use std::process::{Command, ExitCode};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use hostile::{Hostile, Scale};
use subjects::{Subject, names};

const EXECUTIONS: u64 = 10_000_000;
const SEED: u64 = 20_261_122;
/// Says that the number after it is that of each parser.
const EACH: &str = "--each";
/// The arguments that make the program do one thing and print its row.
const BROKEN: &str = "--broken";
const HOSTILE: &str = "--hostile";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args()
        .skip(1)
        .filter(|argument| argument != "--bench")
        .collect();
    match arguments
        .iter()
        .map(String::as_str)
        .collect::<Vec<_>>()
        .as_slice()
    {
        [BROKEN, name, executions] => attack(name, executions.parse().expect("a number")),
        [HOSTILE, name] => meet(name),
        _ => return all(&arguments),
    }
    ExitCode::SUCCESS
}

fn all(arguments: &[String]) -> ExitCode {
    let executions = arguments
        .iter()
        .find_map(|count| count.parse().ok())
        .unwrap_or(EXECUTIONS);
    let is_each = arguments.iter().any(|argument| argument == EACH);
    let chosen: Vec<String> = arguments
        .iter()
        .filter(|word| word.parse::<u64>().is_err() && *word != EACH)
        .cloned()
        .collect();
    if chosen == ["hostile"] {
        println!(
            "| file | on disk, KiB | seconds | peak, MiB | what is said |\n| --- | --: | --: | --: | --- |"
        );
        let hostile = hostile_files()
            .iter()
            .map(|hostile| vec![HOSTILE.to_owned(), hostile.name.to_owned()])
            .collect();
        return if rows(hostile) {
            ExitCode::SUCCESS
        } else {
            ExitCode::FAILURE
        };
    }
    let parsers = if chosen.is_empty() { names() } else { chosen };
    let each = if is_each {
        executions
    } else {
        executions.div_ceil(parsers.len() as u64)
    };
    println!(
        "| parser | files | of them read | seconds | MB | slowest, ms per MB | peak, MiB |\n| --- | --: | --: | --: | --: | --: | --: |"
    );
    let of_parser = |parser: &String| each.div_ceil(dearness(parser));
    let broken = parsers
        .iter()
        .map(|parser| {
            vec![
                BROKEN.to_owned(),
                parser.clone(),
                of_parser(parser).to_string(),
            ]
        })
        .collect();
    let succeeded = rows(broken);
    println!(
        "\n{} files of {} parsers\n",
        parsers.iter().map(of_parser).sum::<u64>(),
        parsers.len()
    );
    if succeeded {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

/// Returns how many times as long a file of this parser takes as one of the others. A HAL archive costs a key derivation, about 25 ms.
fn dearness(parser: &str) -> u64 {
    if parser == "hal-archive" { 20 } else { 1 }
}

/// Runs this program with each of the arguments, as many at a time as the machine has cores.
fn rows(arguments: Vec<Vec<String>>) -> bool {
    let succeeded = AtomicBool::new(true);
    let waiting = Mutex::new(arguments.into_iter());
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, std::num::NonZero::get) {
            scope.spawn(|| {
                while let Some(arguments) = { waiting.lock().expect("nobody panics").next() } {
                    let program = std::env::current_exe().expect("this program");
                    let ended = Command::new(program)
                        .args(&arguments)
                        .status()
                        .expect("this program runs");
                    succeeded.fetch_and(ended.success(), Ordering::Relaxed);
                }
            });
        }
    });
    succeeded.into_inner()
}

fn attack(name: &str, executions: u64) {
    let subject = Subject::named(name);
    memory::forget_peak();
    let before = memory::bytes();
    let attack = subject.attack(executions, SEED);
    let grown = memory::peak_bytes()
        .zip(before)
        .map(|(peak, before)| peak.saturating_sub(before));
    println!(
        "| `{name}` | {} | {} | {:.0} | {} | {:.1} | {} |",
        attack.executions,
        attack.reached,
        attack.seconds,
        attack.inflated / 1_000_000,
        attack.slowest_per_mb.as_secs_f64() * 1000.0,
        mebibytes(grown),
    );
    let most = hostile::FREE_BYTES + hostile::TIMES_INFLATED * attack.largest as u64;
    assert!(
        grown.is_none_or(|grown| grown <= most),
        "{name} takes more than {most} bytes"
    );
}

fn hostile_files() -> Vec<Hostile> {
    // Nobody waits for 10 GB in a build that is not optimised.
    let scale = if cfg!(debug_assertions) {
        Scale::Small
    } else {
        Scale::Full
    };
    [
        hostile::bombs(scale),
        hostile::names(),
        hostile::nesting(),
        hostile::long(scale),
        hostile::tiny(scale),
        lengths::lengths(),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn meet(name: &str) {
    for hostile in hostile_files()
        .iter()
        .filter(|hostile| hostile.name == name)
    {
        let met = hostile.meet();
        let said: String = met.said.replace('|', "\\|").chars().take(120).collect();
        println!(
            "| {name} | {} | {:.2} | {} | {said} |",
            met.bytes >> 10,
            met.seconds,
            mebibytes(met.memory)
        );
        assert!(
            met.memory.is_none_or(|memory| memory <= met.most_memory),
            "{name} takes more than {} bytes",
            met.most_memory
        );
    }
}

fn mebibytes(bytes: Option<u64>) -> String {
    bytes.map_or_else(
        || "?".to_owned(),
        |bytes| format!("{:.1}", bytes as f64 / f64::from(1 << 20)),
    )
}
