//! Density of the code in each changed file: weighted code elements per line of code. Denser is worse.
//!
//! The elements are counted in syntax trees, for the languages of [`language::CodeLanguage`]. Files that nobody wrote line by line
//! (minified, generated, vendored) are excluded, because a single one-line bundle would outweigh all other files. Excluded files are listed
//! with the reason.

mod counts;
mod language;
mod left_out;
mod walk;

use std::io::Read;
use std::path::{Component, Path};

use serde_json::{Map, Value, json};

use self::counts::Counts;
use self::language::CodeLanguage;
use self::walk::count;
use super::evaluated::{Evaluated, Workpiece, points};
use super::layer::{Layer, amount, divisor};
use crate::domain::{Evaluator, Problem};
use crate::files;

/// Maximum size of a file. Larger files were not written by hand.
const MOST_BYTES: u64 = 256 << 10;
/// Maximum number of files that are read. Further files are excluded and listed.
const MOST_FILES: usize = 2_000;
const MOST_BYTES_OF_ALL: u64 = 8 << 20;
/// Maximum number of files listed in the details: of the measured ones, and of the excluded ones.
const MOST_NAMED: usize = 200;

/// Every constant of the formula.
#[derive(Clone, Debug, PartialEq)]
pub struct ComplexitySettings {
    /// The mean density whose score is 0.
    pub threshold: f64,
    pub constant: f64,
    pub call: f64,
    pub condition: f64,
    pub r#loop: f64,
    pub assignment: f64,
}

impl Default for ComplexitySettings {
    fn default() -> Self {
        Self {
            threshold: 20.0,
            constant: 1.0,
            call: 2.0,
            condition: 4.0,
            r#loop: 5.0,
            assignment: 6.0,
        }
    }
}

impl ComplexitySettings {
    pub fn read(layers: &[Layer], problems: &mut Vec<Problem>) -> Self {
        let mut settings = Self::default();
        Layer::read_all(layers, problems, |fields| {
            divisor(fields, "threshold", &mut settings.threshold);
            amount(fields, "constant", &mut settings.constant);
            amount(fields, "call", &mut settings.call);
            amount(fields, "condition", &mut settings.condition);
            amount(fields, "loop", &mut settings.r#loop);
            amount(fields, "assignment", &mut settings.assignment);
        });
        settings
    }

    fn density(&self, counts: &Counts) -> f64 {
        let weighted = [
            (self.constant, counts.constants),
            (self.call, counts.calls),
            (self.condition, counts.conditions),
            (self.r#loop, counts.loops),
            (self.assignment, counts.assignments),
        ];
        weighted
            .iter()
            .map(|(weight, count)| weight * *count as f64)
            .sum::<f64>()
            / counts.lines as f64
    }

    fn score(&self, mean: f64) -> f64 {
        points((100.0 * (1.0 - mean / self.threshold)).round())
    }
}

/// Measures the files that the agent made or changed.
pub fn complexity(piece: &Workpiece, settings: &ComplexitySettings) -> Evaluated {
    let Some(folder) = piece.folder else {
        return Evaluated::missing(Evaluator::Complexity, "the files were not kept");
    };
    let (mut measured, mut left_out, mut densities) = (Vec::new(), Named::default(), Vec::new());
    let mut bytes = 0;
    for path in piece.files {
        let Some(language) = CodeLanguage::of(path) else {
            continue;
        };
        let found = if densities.len() >= MOST_FILES || bytes >= MOST_BYTES_OF_ALL {
            Err("beyond the limit of files")
        } else {
            read(folder, path).and_then(|text| {
                bytes += text.len() as u64;
                left_out::reason(path, &text).map_or_else(|| count(language, &text), Err)
            })
        };
        let file = path.to_string_lossy();
        match found {
            Ok(counts) if counts.lines > 0 => {
                let density = settings.density(&counts);
                densities.push(density);
                measured.push((density, row(&file, language, &counts, density)));
            }
            Ok(_) => left_out.push(&file, "no line of code"),
            Err(reason) => left_out.push(&file, reason),
        }
    }
    let count = densities.len();
    let mean = (count > 0).then(|| densities.iter().sum::<f64>() / count as f64);
    let mut details = Map::new();
    if let Some(mean) = mean {
        details.insert("mean".to_owned(), json!(rounded(mean)));
        details.insert("threshold".to_owned(), json!(settings.threshold));
        details.insert("measured".to_owned(), json!(count));
        // The densest files come first, because a reader looks for them. The sort is stable, so files of equal density keep their order by
        // name.
        measured.sort_by(|(left, _), (right, _)| right.total_cmp(left));
        let rows: Vec<Value> = measured
            .into_iter()
            .take(MOST_NAMED)
            .map(|(_, row)| row)
            .collect();
        details.insert("files".to_owned(), Value::Array(rows));
    }
    if left_out.count > 0 {
        details.insert(
            "left_out".to_owned(),
            json!({"count": left_out.count, "files": left_out.rows}),
        );
    }
    let score = mean.map(|mean| settings.score(mean));
    let score = score.ok_or_else(|| match left_out.count {
        0 => format!(
            "no file in {} was made or changed",
            CodeLanguage::all_names()
        ),
        _ => "every file that could be measured was left out".to_owned(),
    });
    Evaluated {
        score,
        details: Value::Object(details),
        ..Evaluated::missing(Evaluator::Complexity, "")
    }
}

#[derive(Default)]
struct Named {
    count: usize,
    rows: Vec<Value>,
}

impl Named {
    fn push(&mut self, file: &str, reason: &str) {
        self.count += 1;
        if self.rows.len() < MOST_NAMED {
            self.rows.push(json!({"file": file, "reason": reason}));
        }
    }
}

fn row(file: &str, language: CodeLanguage, counts: &Counts, density: f64) -> Value {
    let Counts {
        lines,
        constants,
        calls,
        conditions,
        loops,
        assignments,
        is_broken,
    } = *counts;
    let mut row = json!({"file": file, "language": language.name(), "density": rounded(density), "lines": lines, "constants": constants,
        "calls": calls, "conditions": conditions, "loops": loops, "assignments": assignments});
    if is_broken {
        row["syntax_errors"] = json!(true);
    }
    row
}

fn rounded(number: f64) -> f64 {
    (number * 100.0).round() / 100.0
}

/// Reads a file below the folder. Does not follow links and reads nothing beyond the size limit.
fn read(folder: &Path, path: &Path) -> Result<String, &'static str> {
    if !path
        .components()
        .all(|component| matches!(component, Component::Normal(_)))
    {
        return Err("not below the folder");
    }
    let path = folder.join(path);
    if !path
        .symlink_metadata()
        .is_ok_and(|metadata| metadata.is_file())
    {
        return Err("not readable");
    }
    let mut bytes = Vec::new();
    let read =
        files::open(&path).and_then(|file| file.take(MOST_BYTES + 1).read_to_end(&mut bytes));
    if read.is_err() {
        return Err("not readable");
    }
    if bytes.len() as u64 > MOST_BYTES {
        return Err("too large");
    }
    String::from_utf8(bytes).map_err(|_| "no text")
}

#[cfg(test)]
mod tests;
