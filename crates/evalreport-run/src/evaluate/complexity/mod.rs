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

use self::counts::CodeElementCounts;
use self::language::CodeLanguage;
use self::walk::count_elements;
use super::evaluated::{EvaluatorResult, Workpiece, clamp_score};
use super::layer::{SettingsLayer, read_amount, read_divisor};
use crate::domain::{Evaluator, Problem};
use crate::files;

/// Maximum size of a file. Larger files were not written by hand.
const MAX_BYTES: u64 = 256 << 10;
/// Maximum number of files that are read. Further files are excluded and listed.
const MAX_FILES: usize = 2_000;
const MAX_BYTES_OF_ALL: u64 = 8 << 20;
/// Maximum number of files listed in the details: of the measured ones, and of the excluded ones.
const MAX_NAMED: usize = 200;

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
    pub fn from_layers(layers: &[SettingsLayer], problems: &mut Vec<Problem>) -> Self {
        let mut settings = Self::default();
        SettingsLayer::read_all(layers, problems, |fields| {
            read_divisor(fields, "threshold", &mut settings.threshold);
            read_amount(fields, "constant", &mut settings.constant);
            read_amount(fields, "call", &mut settings.call);
            read_amount(fields, "condition", &mut settings.condition);
            read_amount(fields, "loop", &mut settings.r#loop);
            read_amount(fields, "assignment", &mut settings.assignment);
        });
        settings
    }

    fn compute_density(&self, counts: &CodeElementCounts) -> f64 {
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

    fn score_density(&self, mean: f64) -> f64 {
        clamp_score((100.0 * (1.0 - mean / self.threshold)).round())
    }
}

/// Measures the files that the agent made or changed.
pub fn evaluate_complexity(piece: &Workpiece, settings: &ComplexitySettings) -> EvaluatorResult {
    let Some(folder) = piece.folder else {
        return EvaluatorResult::without_score(Evaluator::Complexity, "the files were not kept");
    };
    let (mut measured, mut left_out, mut densities) =
        (Vec::new(), ExcludedFiles::default(), Vec::new());
    let mut bytes = 0;
    for path in piece.files {
        let Some(language) = CodeLanguage::from_path(path) else {
            continue;
        };
        let found = if densities.len() >= MAX_FILES || bytes >= MAX_BYTES_OF_ALL {
            Err("beyond the limit of files")
        } else {
            read_source(folder, path).and_then(|text| {
                bytes += text.len() as u64;
                left_out::exclusion_reason(path, &text)
                    .map_or_else(|| count_elements(language, &text), Err)
            })
        };
        let file = path.to_string_lossy();
        match found {
            Ok(counts) if counts.lines > 0 => {
                let density = settings.compute_density(&counts);
                densities.push(density);
                measured.push((density, file_json(&file, language, &counts, density)));
            }
            Ok(_) => left_out.push(&file, "no line of code"),
            Err(reason) => left_out.push(&file, reason),
        }
    }
    let count = densities.len();
    let mean = (count > 0).then(|| densities.iter().sum::<f64>() / count as f64);
    let mut details = Map::new();
    if let Some(mean) = mean {
        details.insert("mean".to_owned(), json!(round_to_hundredths(mean)));
        details.insert("threshold".to_owned(), json!(settings.threshold));
        details.insert("measured".to_owned(), json!(count));
        // The densest files come first, because a reader looks for them. The sort is stable, so files of equal density keep their order by
        // name.
        measured.sort_by(|(left, _), (right, _)| right.total_cmp(left));
        let rows: Vec<Value> = measured
            .into_iter()
            .take(MAX_NAMED)
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
    let score = mean.map(|mean| settings.score_density(mean));
    let score = score.ok_or_else(|| match left_out.count {
        0 => format!(
            "no file in {} was made or changed",
            CodeLanguage::all_names()
        ),
        _ => "every file that could be measured was left out".to_owned(),
    });
    EvaluatorResult {
        score,
        details: Value::Object(details),
        ..EvaluatorResult::without_score(Evaluator::Complexity, "")
    }
}

#[derive(Default)]
struct ExcludedFiles {
    count: usize,
    rows: Vec<Value>,
}

impl ExcludedFiles {
    fn push(&mut self, file: &str, reason: &str) {
        self.count += 1;
        if self.rows.len() < MAX_NAMED {
            self.rows.push(json!({"file": file, "reason": reason}));
        }
    }
}

fn file_json(
    file: &str,
    language: CodeLanguage,
    counts: &CodeElementCounts,
    density: f64,
) -> Value {
    let CodeElementCounts {
        lines,
        constants,
        calls,
        conditions,
        loops,
        assignments,
        is_broken,
    } = *counts;
    let mut row = json!({"file": file, "language": language.name(), "density": round_to_hundredths(density), "lines": lines, "constants": constants,
        "calls": calls, "conditions": conditions, "loops": loops, "assignments": assignments});
    if is_broken {
        row["syntax_errors"] = json!(true);
    }
    row
}

fn round_to_hundredths(number: f64) -> f64 {
    (number * 100.0).round() / 100.0
}

/// Reads a file below the folder. Does not follow links and reads nothing beyond the size limit.
fn read_source(folder: &Path, path: &Path) -> Result<String, &'static str> {
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
    let read = files::open(&path).and_then(|file| file.take(MAX_BYTES + 1).read_to_end(&mut bytes));
    if read.is_err() {
        return Err("not readable");
    }
    if bytes.len() as u64 > MAX_BYTES {
        return Err("too large");
    }
    String::from_utf8(bytes).map_err(|_| "no text")
}

#[cfg(test)]
mod tests;
