//! aider's benchmark: one result file per case in a run's folder, and the lists of runs behind its leaderboards.
//!
//! A try is a turn with the failed tests as feedback, not an independent attempt. So the share of cases solved by the second try is a rate
//! of its own, not pass@2.

mod cases;
mod leaderboard;
mod run;

use std::path::{Path, PathBuf};

use crate::domain::ItemKind;

use super::super::rows::Stop;
use super::claim::Claim;
use super::format::Facts;
use super::importer::Format;
use super::peek::{Content, Peek};
use super::sink::Sink;
use super::source::ForeignSource;
use run::{CASE_RESULTS, began};

pub(super) const FORMAT: Format = Format::new(
    Facts {
        name: "aider",
        title: "aider",
        kind: ItemKind::Task,
        reads_names: true,
        version: 3,
    },
    claim,
    read,
);

fn claim(peek: &Peek) -> Option<Claim> {
    match peek.content {
        Content::Json => {
            let is_case = peek.has_all(&["testcase", "tests_outcomes"])
                || (peek.has("exception") && peek.name.ends_with(CASE_RESULTS));
            is_case.then(|| folder_of_run(&peek.path).map_or(Claim::Alone, Claim::PartOf))
        }
        Content::Text => leaderboard::is_leaderboard(&peek.head).then_some(Claim::Alone),
        Content::Zip | Content::Xml => None,
    }
}

fn read(source: &ForeignSource, sink: &mut Sink<'_>) -> Result<(), Stop> {
    match source.files.as_slice() {
        [file] if Peek::of(&file.path).is_ok_and(|peek| peek.content != Content::Json) => {
            leaderboard::read(file, sink)
        }
        _ => cases::read(source, sink),
    }
}

/// Returns the folder of a run. It is named after its start time and holds `<language>/exercises/practice/<case>`, or the cases directly in
/// older versions.
fn folder_of_run(path: &Path) -> Option<PathBuf> {
    let dated = path.ancestors().skip(1).find(|folder| {
        folder
            .file_name()
            .is_some_and(|name| began(&name.to_string_lossy()).is_some())
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
            began("2026-01-02-03-04-05--demo--2").as_deref(),
            Some("2026-01-02 03:04:05")
        );
        for name in [
            "demo",
            "2026-01-02--demo",
            "2026-01-02-03-04-xx--demo",
            "--",
            "a-b-c-d-e-f--g",
        ] {
            assert_eq!(began(name), None, "{name}");
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
