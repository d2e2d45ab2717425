//! aider's benchmark: one result file per case in a run's folder, and the lists of runs behind its leaderboards.
//!
//! A try is a turn with the failed tests as feedback, not an independent attempt. So the share of cases solved by the second try is a rate
//! of its own, not pass@2.

mod cases;
mod leaderboard;
mod run;

use std::path::{Path, PathBuf};

use crate::domain::ItemKind;

use super::super::rows::ReadStop;
use super::claim::Claim;
use super::format::FormatFacts;
use super::importer::FormatImporter;
use super::peek::{ContentKind, Peek};
use super::sink::ImportSink;
use super::source::ForeignFileGroup;
use run::{CASE_RESULTS, parse_start};

pub(super) const FORMAT: FormatImporter = FormatImporter::new(
    FormatFacts {
        name: "aider",
        title: "aider",
        kind: ItemKind::Task,
        reads_names: true,
        version: 3,
    },
    claim_file,
    read_source,
);

fn claim_file(peek: &Peek) -> Option<Claim> {
    match peek.content {
        ContentKind::Json => {
            let is_case = peek.has_all(&["testcase", "tests_outcomes"])
                || (peek.has("exception") && peek.name.ends_with(CASE_RESULTS));
            is_case.then(|| folder_of_run(&peek.path).map_or(Claim::Alone, Claim::PartOf))
        }
        ContentKind::Text => leaderboard::is_leaderboard(&peek.head).then_some(Claim::Alone),
        ContentKind::Zip | ContentKind::Xml => None,
    }
}

fn read_source(source: &ForeignFileGroup, sink: &mut ImportSink<'_>) -> Result<(), ReadStop> {
    match source.files.as_slice() {
        [file]
            if Peek::from_path(&file.path).is_ok_and(|peek| peek.content != ContentKind::Json) =>
        {
            leaderboard::read_leaderboard(file, sink)
        }
        _ => cases::read_cases(source, sink),
    }
}

/// Returns the folder of a run. It is named after its start time and holds `<language>/exercises/practice/<case>`, or the cases directly in
/// older versions.
fn folder_of_run(path: &Path) -> Option<PathBuf> {
    let dated = path.ancestors().skip(1).find(|folder| {
        folder
            .file_name()
            .is_some_and(|name| parse_start(&name.to_string_lossy()).is_some())
    });
    let above = || {
        let is_practice = path.ancestors().nth(2)?.ends_with("exercises/practice");
        path.ancestors().nth(5).filter(|_| is_practice)
    };
    let folder = dated.or_else(above)?;
    Some(if folder.as_os_str().is_empty() {
        PathBuf::from(".")
    } else {
        folder.to_owned()
    })
}

#[cfg(test)]
mod unit_tests {
    use super::*;

    #[test]
    fn folders_say_when_a_run_began() {
        assert_eq!(
            parse_start("2026-01-02-03-04-05--demo--2").as_deref(),
            Some("2026-01-02 03:04:05")
        );
        for name in [
            "demo",
            "2026-01-02--demo",
            "2026-01-02-03-04-xx--demo",
            "--",
            "a-b-c-d-e-f--g",
        ] {
            assert_eq!(parse_start(name), None, "{name}");
        }
    }

    #[test]
    fn cases_of_a_run_come_together() {
        let of =
            |path: &str| folder_of_run(Path::new(path)).map(|folder| folder.display().to_string());
        let run = "2026-01-02-03-04-05--demo";
        assert_eq!(
            of(&format!(
                "x/{run}/go/exercises/practice/a/.aider.results.json"
            )),
            Some(format!("x/{run}"))
        );
        assert_eq!(
            of(&format!("{run}/a/.aider.results.json")),
            Some(run.to_owned())
        );
        assert_eq!(
            of("go/exercises/practice/a/.aider.results.json").as_deref(),
            Some(".")
        );
        assert_eq!(of("a/.aider.results.json"), None);
    }
}
