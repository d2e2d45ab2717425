//! Labels that people gave to items of runs: a CSV file with the columns `run`, `item`, `label` and, for several people, `rater`.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use crate::domain::{Problem, escape_invisible};
use crate::files;

use super::display_path::display_path;
use super::failure::CommandFailure;

/// Rater name if the file has no raters.
pub(super) const ONE_RATER: &str = "labels";
const PASS_WORDS: [&str; 6] = ["pass", "passed", "true", "yes", "met", "1"];
const FAIL_WORDS: [&str; 7] = ["fail", "failed", "false", "no", "unmet", "not met", "0"];

/// A label with its line in the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct HumanLabel {
    pub line: usize,
    /// As written: a run's id or the beginning of one. `item` is a criterion.
    pub run: String,
    pub item: String,
    pub rater: String,
    pub met: bool,
}

/// The labels of a file, and its number of rows without a label.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct LabelFile {
    pub labels: Vec<HumanLabel>,
    pub blank: u64,
}

/// Returns whether a file is a table of labels: its first line has their columns.
pub(super) fn is_labels(path: &Path) -> bool {
    let Ok(file) = files::open(path) else {
        return false;
    };
    let mut line = Vec::new();
    let read = BufReader::new(file)
        .take(MAX_OF_A_LINE)
        .read_until(b'\n', &mut line);
    let first = line.strip_prefix("\u{feff}".as_bytes()).unwrap_or(&line);
    let mut reader = csv::ReaderBuilder::new()
        .trim(csv::Trim::All)
        .from_reader(first);
    let has = |headers: &csv::StringRecord, name: &str| {
        headers
            .iter()
            .any(|header| header.eq_ignore_ascii_case(name))
    };
    read.is_ok()
        && reader.headers().is_ok_and(|headers| {
            ["run", "item", "label"]
                .into_iter()
                .all(|name| has(headers, name))
        })
}

/// Maximum length of a line of column names, in bytes.
const MAX_OF_A_LINE: u64 = 4096;

/// Reads the whole file and reports all its problems.
pub(super) fn read_file(path: &Path) -> Result<LabelFile, CommandFailure> {
    let bytes = files::read(path).map_err(|error| {
        CommandFailure::new(format!("cannot read {}: {error}", display_path(path)))
    })?;
    parse_table(&display_path(path), &bytes).map_err(|problems| problems_failure(path, &problems))
}

/// Makes a failure of the file's problems.
pub(super) fn problems_failure(path: &Path, problems: &[Problem]) -> CommandFailure {
    CommandFailure::from_document(path, problems)
}

fn parse_table(file: &str, bytes: &[u8]) -> Result<LabelFile, Vec<Problem>> {
    let bytes = bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(bytes);
    // If lines end in CR LF, the reader ends a record at the CR and has not counted the LF yet.
    let uncounted = usize::from(
        bytes
            .split(|byte| *byte == b'\n')
            .next()
            .is_some_and(|line| line.ends_with(b"\r")),
    );
    let mut reader = csv::ReaderBuilder::new()
        .flexible(true)
        .trim(csv::Trim::All)
        .from_reader(bytes);
    let headers = reader
        .headers()
        .map_err(|error| vec![Problem::in_file(file, format!("is not CSV: {error}"))])?
        .clone();
    let column = |name: &str| {
        headers
            .iter()
            .position(|header| header.eq_ignore_ascii_case(name))
    };
    let (Some(run), Some(item), Some(label)) = (column("run"), column("item"), column("label"))
    else {
        let problem = Problem::at_line(file, 1, "needs the columns `run`, `item` and `label`");
        return Err(vec![problem.with_hint(
            "a fourth column `rater` names the person, if several labelled",
        )]);
    };
    let rater = column("rater");
    let (mut labels, mut blank, mut problems) = (Vec::new(), 0, Vec::new());
    let mut seen: BTreeMap<(String, String, String), usize> = BTreeMap::new();
    for record in reader.records() {
        let record = match record {
            Ok(record) => record,
            Err(error) => {
                let line = error
                    .position()
                    .map_or(1, |position| line_number(position.line()) + uncounted);
                problems.push(Problem::at_line(
                    file,
                    line,
                    "is not a line of UTF-8 text in columns",
                ));
                continue;
            }
        };
        let line = record
            .position()
            .map_or(1, |position| line_number(position.line()) + uncounted);
        let cell = |column: usize| record.get(column).unwrap_or_default();
        for (name, column) in [("run", run), ("item", item)] {
            if cell(column).is_empty() {
                problems.push(Problem::at_line(file, line, format!("`{name}` is empty")));
            }
        }
        let said = cell(label).to_lowercase();
        if said.is_empty() {
            blank += 1;
            continue;
        }
        let met = PASS_WORDS.contains(&said.as_str());
        if !met && !FAIL_WORDS.contains(&said.as_str()) {
            problems.push(Problem::at_line(
                file,
                line,
                format!(
                    "label `{}` is neither pass nor fail",
                    escape_invisible(cell(label))
                ),
            ));
            continue;
        }
        let rater = rater
            .map(cell)
            .filter(|name| !name.is_empty())
            .unwrap_or(ONE_RATER)
            .to_owned();
        let (run, item) = (cell(run).to_owned(), cell(item).to_owned());
        match seen.insert((run.clone(), item.to_lowercase(), rater.clone()), line) {
            Some(first) => {
                let problem =
                    Problem::at_line(file, line, format!("labels the same as line {first}"));
                problems.push(problem.with_hint("keep one of the two"));
            }
            None => labels.push(HumanLabel {
                line,
                run,
                item,
                rater,
                met,
            }),
        }
    }
    if problems.is_empty() {
        Ok(LabelFile { labels, blank })
    } else {
        Err(problems)
    }
}

fn line_number(line: u64) -> usize {
    usize::try_from(line).unwrap_or(usize::MAX)
}

/// Returns the raters, sorted by name.
pub(super) fn rater_names(labels: &[HumanLabel]) -> BTreeSet<&str> {
    labels.iter().map(|label| label.rater.as_str()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_spelling_is_read_and_every_mistake_named() {
        let labels = parse_table("l.csv", "\u{feff}Run,item,label,rater\nr1,\"a, b\",PASS,x\nr1,\"a, b\",0,y\nr2, c ,met,\nr2,d,,\n".as_bytes())
            .expect("labels");
        let LabelFile { labels, blank } = labels;
        assert_eq!(blank, 1);
        let said: Vec<_> = labels
            .iter()
            .map(|label| {
                (
                    label.line,
                    label.item.as_str(),
                    label.rater.as_str(),
                    label.met,
                )
            })
            .collect();
        assert_eq!(
            said,
            [
                (2, "a, b", "x", true),
                (3, "a, b", "y", false),
                (4, "c", "labels", true)
            ]
        );
        assert_eq!(
            rater_names(&labels).into_iter().collect::<Vec<_>>(),
            ["labels", "x", "y"]
        );

        let problems = parse_table(
            "l.csv",
            b"run,item,label\nr1,a,maybe\n,b,pass\nr1,A,pass\nr1,a,fail\n",
        )
        .expect_err("four mistakes");
        let said: Vec<String> = problems.iter().map(ToString::to_string).collect();
        assert_eq!(
            said,
            [
                "l.csv:2: label `maybe` is neither pass nor fail",
                "l.csv:3: `run` is empty",
                "l.csv:5: labels the same as line 4",
            ]
        );
        assert_eq!(
            parse_table("l.csv", b"id,label\n")
                .expect_err("no columns")
                .len(),
            1
        );
        let problems = parse_table("l.csv", b"run,item,label\r\nr1,a,pass\r\nr1,b,maybe\r\n")
            .expect_err("one mistake");
        assert_eq!(
            problems[0].to_string(),
            "l.csv:3: label `maybe` is neither pass nor fail"
        );
    }
}
