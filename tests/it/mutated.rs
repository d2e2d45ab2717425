//! Importers on files that are broken in every way, and on files that somebody made to do harm: reading them ends, in bounded time and
//! memory, and says what is wrong.
//!
//! `EVALREPORT_MUTATIONS` says how many broken files each parser meets: few here, where nothing is optimised. CI has each meet 100,000 by the
//! program in `crates/evalreport-import/benches/mutations`, whose parts these tests share. `EVALREPORT_HOSTILE=full` makes bombs of 10 GB.

#[path = "../../crates/evalreport-import/benches/mutations/archive.rs"]
mod archive;
#[path = "../../crates/evalreport-import/benches/mutations/broken.rs"]
mod broken;
#[path = "../../crates/evalreport-import/benches/mutations/columnar.rs"]
mod columnar;
#[path = "../../crates/evalreport-import/benches/mutations/hostile.rs"]
mod hostile;
#[path = "../../crates/evalreport-import/benches/mutations/lengths.rs"]
mod lengths;
#[path = "../../crates/evalreport-import/benches/mutations/memory.rs"]
mod memory;
#[path = "../../crates/evalreport-import/benches/mutations/subjects.rs"]
mod subjects;

use hostile::{FREE_BYTES, Hostile, Scale, TIMES_INFLATED};
use subjects::Subject;

const EXECUTIONS: u64 = 200;

/// Makes a test of each parser, so that they run beside each other.
macro_rules! parsers {
    ($($test:ident $name:literal,)*) => {
        $(
            #[test]
            fn $test() {
                survives($name);
            }
        )*

        const TESTED: &[&str] = &[$($name),*];
    };
}

parsers! {
    inspect "inspect",
    inspect_archive "inspect-archive",
    harbor "harbor",
    terminal_bench "terminal-bench",
    promptfoo "promptfoo",
    lm_eval "lm-eval",
    helm "helm",
    swe_bench "swe-bench",
    aider "aider",
    evalperf "evalperf",
    every_eval_ever "every-eval-ever",
    agent_skills "agent-skills",
    zelda "zelda",
    cogni "cogni",
    kotef "kotef",
    ralph "ralph",
    metr "metr",
    export "export",
    hal "hal",
    deepeval "deepeval",
    langfuse "langfuse",
    opentelemetry "opentelemetry",
    pytest_json_report "pytest-json-report",
    jest "jest",
    mocha "mocha",
    playwright "playwright",
    evalite "evalite",
    claude_code "claude-code",
    codex "codex",
    ctrf "ctrf",
    junit "junit",
    table_csv "table-csv",
    table_json "table-json",
    table_json_lines "table-jsonl",
    table_yaml "table-yaml",
    table_arrow "table-arrow",
    table_arrow_stream "table-arrow-stream",
    table_parquet "table-parquet",
    table_workbook "table-workbook",
    hal_archive "hal-archive",
    map "map",
    rubric "rubric",
    header "header",
    item_line "item-line",
    bundle "bundle",
}

fn survives(name: &str) {
    let executions = std::env::var("EVALREPORT_MUTATIONS")
        .ok()
        .and_then(|count| count.parse().ok())
        .unwrap_or(EXECUTIONS);
    let subject = Subject::named(name);
    memory::forget_peak();
    let before = memory::bytes();
    let attack = subject.attack(executions, 7);
    assert_eq!(attack.executions, executions);
    eprintln!(
        "{name}: {:.0} a second, {} of {executions} read, {} MB, slowest {:?} per MB",
        executions as f64 / attack.seconds,
        attack.reached,
        attack.inflated / 1_000_000,
        attack.slowest_per_mb,
    );
    assert!(
        attack.reached > executions / 10 * 9,
        "{} of {executions} reached the parser",
        attack.reached
    );
    if let (true, Some(before), Some(peak)) = (is_alone(), before, memory::peak_bytes()) {
        let most = FREE_BYTES + TIMES_INFLATED * attack.largest as u64;
        assert!(
            peak.saturating_sub(before) <= most,
            "{name} takes {} MiB",
            (peak - before) >> 20
        );
    }
}

/// Whether no other test shares this process, and its memory.
fn is_alone() -> bool {
    std::env::var_os("NEXTEST").is_some()
}

#[test]
fn every_parser_is_among_them() {
    assert_eq!(
        subjects::names()
            .into_iter()
            .collect::<std::collections::BTreeSet<_>>(),
        TESTED.iter().map(|name| (*name).to_owned()).collect()
    );
}

#[test]
fn hostile_bombs_are_refused() {
    meet(hostile::bombs);
}

#[test]
fn hostile_names_are_refused() {
    meet(|_| hostile::names());
}

#[test]
fn hostile_nesting_is_refused() {
    meet(|_| hostile::nesting());
}

#[test]
fn hostile_lengths_fill_no_memory() {
    meet(hostile::long);
}

#[test]
fn hostile_values_fill_no_memory() {
    meet(hostile::tiny);
}

#[test]
fn hostile_stated_lengths_are_refused() {
    meet(|_| lengths::lengths());
}

fn meet(files: fn(Scale) -> Vec<Hostile>) {
    let is_full = std::env::var_os("EVALREPORT_HOSTILE").is_some_and(|scale| scale == "full");
    for hostile in files(if is_full { Scale::Full } else { Scale::Small }) {
        let met = hostile.meet();
        let shown: String = met.said.chars().take(150).collect();
        let held = met.memory.unwrap_or_default() >> 20;
        eprintln!(
            "{} of {} KiB: {:.1} s, {held} MiB: {shown}",
            hostile.name,
            met.bytes >> 10,
            met.seconds
        );
        if is_alone() {
            assert!(
                met.memory.is_none_or(|memory| memory <= met.most_memory),
                "{} takes {:?} bytes",
                hostile.name,
                met.memory
            );
        }
    }
}
