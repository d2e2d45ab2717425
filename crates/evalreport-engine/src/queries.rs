//! The SQL that is shipped in `queries/` and asked of an engine.

use crate::domain::RunId;

/// One file of `queries/`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct EngineQuery {
    /// The file, for messages.
    pub name: &'static str,
    text: &'static str,
    /// Most rows of an answer, and most bytes after decompression.
    pub most_rows: u64,
    pub most_bytes: u64,
}

/// Where each file can be restricted to some runs: a comment that says so to people.
const RESTRICTION: &str = " -- and run_id in ('…')";

macro_rules! query {
    ($name:literal, $rows:expr, $bytes:expr) => {
        EngineQuery {
            name: concat!("queries/", $name, ".sql"),
            text: include_str!(concat!("../../../queries/", $name, ".sql")),
            most_rows: $rows,
            most_bytes: $bytes,
        }
    };
}

const MILLION: u64 = 1_000_000;
const GIGABYTE: u64 = 1 << 30;

// What is kept in memory is bounded more tightly than what is only looked at: see docs/look-up/engines.md.
pub(super) const RUNS: EngineQuery = query!("runs", MILLION, GIGABYTE);
pub(super) const COMMITS: EngineQuery = query!("commits", MILLION, GIGABYTE);
pub(super) const PUBLICATIONS: EngineQuery = query!("publications", MILLION, GIGABYTE);
pub(super) const ROWS: EngineQuery = query!("rows", 10 * MILLION, 2 * GIGABYTE);
pub(super) const ITEMS: EngineQuery = query!("items", 10 * MILLION, 2 * GIGABYTE);
pub(super) const CELLS: EngineQuery = query!("cells", 4_000 * MILLION, 4 * GIGABYTE);
pub(super) const SCORES: EngineQuery = query!("scores", 500 * MILLION, 4 * GIGABYTE);
pub(super) const LINES: EngineQuery = query!("lines", 4_000 * MILLION, 1_000 * GIGABYTE);

impl EngineQuery {
    /// Returns the whole file.
    pub fn full_text(self) -> String {
        self.text.to_owned()
    }

    /// Returns the query for some runs. Ids of runs have no character that SQL knows.
    pub fn text_for_runs(self, runs: &[RunId]) -> String {
        let ids: Vec<String> = runs.iter().map(|run| format!("'{run}'")).collect();
        self.text
            .replace(RESTRICTION, &format!(" and run_id in ({})", ids.join(", ")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [EngineQuery; 8] = [
        RUNS,
        COMMITS,
        PUBLICATIONS,
        ROWS,
        ITEMS,
        CELLS,
        SCORES,
        LINES,
    ];

    #[test]
    fn every_file_says_what_comes_out_and_can_be_restricted_at_one_place() {
        for query in ALL {
            let comment: String = query
                .text
                .lines()
                .take_while(|line| line.starts_with("--"))
                .collect();
            for said in ["Tables:", "Column", "Order:"] {
                assert!(comment.contains(said), "{}: {said}", query.name);
            }
            assert_eq!(query.text.matches(RESTRICTION).count(), 1, "{}", query.name);
            let run = RunId::parse("r-1").expect("an id");
            assert!(
                query
                    .text_for_runs(&[run.clone(), run])
                    .contains(" and run_id in ('r-1', 'r-1')\n"),
                "{}",
                query.name
            );
            let is_statement = |line: &&str| !line.starts_with("--");
            assert!(
                !query
                    .text
                    .lines()
                    .filter(is_statement)
                    .any(|line| line.contains(';')),
                "{}: some drivers take one statement only",
                query.name
            );
        }
    }

    #[test]
    fn all_files_decide_alike_which_runs_and_outcomes_count() {
        let part = |text: &'static str, from: &str, to: &str| {
            let start = text.find(from)?;
            Some(text[start..start + text[start..].find(to)?].to_owned())
        };
        let revisions = part(ROWS.text, "  from (\n", "\n)").expect("the rule of revisions");
        let cell = part(ROWS.text, "case status", " as cell").expect("the code of a cell");
        for query in [ITEMS, CELLS, SCORES, LINES] {
            assert!(query.text.contains(&revisions), "{}", query.name);
        }
        let of_cells = part(CELLS.text, "case status", " as tinyint").expect("the code of a cell");
        let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(words(&of_cells), words(&cell));
        for query in [ROWS, ITEMS, CELLS, SCORES, LINES] {
            let text = query.text;
            let joins = text.matches("outcomes.publish_id = ").count();
            assert_eq!(
                joins,
                text.matches("where standing").count(),
                "{}",
                query.name
            );
        }
    }
}
