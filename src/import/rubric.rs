//! Imports graded rubrics: trees of weighted requirements with graded leaves.
//!
//! Each leaf becomes the outcome of one criterion. Each inner node's score is recomputed from the leaves below it and compared with the
//! published score. A file with any mistake stores nothing, and all its mistakes are reported.

use std::collections::BTreeMap;
use std::io::Read as _;
use std::path::Path;

use serde_json::Value;

use crate::document::{self, Fields, Node, ScalarKind, parse, quote};
use crate::domain::{
    Direction, ItemDetails, ItemKind, ItemOutcome, ItemStatus, Problem, RunId, ScoreRecord,
    StatedFigure, Unit,
};
use crate::results::heap::{self, TOO_MUCH};
use crate::results::{Store, StoreError};

use super::each_file::{Reading, import_each};
use super::encoding::Encoding;
use super::ledger::{Ledger, Numbering};
use super::mode::Mode;
use super::names::GivenNames;
use super::report::{ImportReport, ImportedRun};
use super::rows::Stop;
use super::source::{Format, Part, Source, hex_digest};
use super::stored::{Moment, StoredRuns, Unnamed};

/// The metric of a rubric's root, and the evaluator of its leaves.
pub const RUBRIC_SCORE: &str = "rubric_score";
const RUBRIC: &str = "rubric";
/// Goes up by one when the same bytes give other records. Sources imported before are then read again and replaced if they differ.
pub(super) const VERSION: u32 = 2;
/// Maximum size of a rubric. Rubrics that people graded are smaller.
const MOST_BYTES: u64 = 64 << 20;
/// Maximum length of a requirement in the name of a figure.
const MOST_OF_A_NAME: usize = 100;
const ROUNDING: f64 = 1e-9;

/// Imports each file as one graded rubric, and each member of an archive as one. `existing` are the runs of the store. `progress` is called
/// with the number of further bytes read.
///
/// The report counts the nodes of a tree as rows and its leaves as items. A file that is not a rubric is reported; the others are imported
/// all the same. Returns an error only if writing to the store fails.
pub fn import_rubrics(
    store: &Store,
    files: &[impl AsRef<Path>],
    names: &GivenNames,
    existing: &StoredRuns,
    mode: Mode,
    progress: &mut dyn FnMut(u64),
) -> Result<ImportReport, StoreError> {
    let reading = Reading {
        importer: RUBRIC,
        version: VERSION,
        key_of: &|source| key_of(source, names),
        provenance: &|file| file,
        read: &|source, ledger, progress, _| read(source, names, ledger, progress),
    };
    import_each(&reading, store, files, existing, mode, progress)
}

/// Reads the file's rubrics.
fn read<'a>(
    source: &Source,
    names: &GivenNames,
    mut ledger: Ledger<'a>,
    progress: &mut dyn FnMut(u64),
) -> Result<Ledger<'a>, Stop> {
    let mut graded = Vec::new();
    source.each_part(Encoding::Utf8, progress, |part| {
        graded.push(Graded::read(part, names)?);
        Ok(())
    })?;
    // If a file has several rubrics, none can be matched with an earlier version.
    if let [rubric] = graded.as_mut_slice() {
        let ImportedRun {
            suite,
            approach,
            model,
            ..
        } = &rubric.source;
        let run = Unnamed {
            names: [suite, approach, model],
            index: None,
            moment: Moment::Unread,
        };
        rubric.source.id = ledger.unnamed(rubric.source.id.clone(), run);
    }
    for rubric in graded {
        rubric.tell(&mut ledger)?;
    }
    Ok(ledger)
}

/// Returns the key of the pair: the same bytes with the same names are the same import.
fn key_of(source: &Source, names: &GivenNames) -> String {
    let reading = format!("reading {VERSION}");
    let mut parts = vec![
        reading.as_bytes(),
        RUBRIC.as_bytes(),
        source.sha256.as_bytes(),
    ];
    parts.extend(names.parts());
    hex_digest(&parts, true)
}

/// One tree that was read, and the records made from it.
struct Graded {
    tree: Task,
    source: ImportedRun,
    leaves: Vec<ItemOutcome>,
}

impl Graded {
    fn read(part: Part<'_>, names: &GivenNames) -> Result<Self, Stop> {
        let label = part.label;
        let problem = |message: String| Stop::from(Problem::in_file(label.clone(), message));
        match part.format {
            Format::Json => {}
            _ => {
                return Err(problem(
                    "is not JSON, which rubrics are read from".to_owned(),
                ));
            }
        }
        let mut text = Vec::new();
        part.input
            .text()
            .take(MOST_BYTES + 1)
            .read_to_end(&mut text)
            .map_err(|error| problem(format!("cannot be read: {error}")))?;
        if text.len() as u64 > MOST_BYTES {
            return Err(problem(format!("is longer than {} MiB", MOST_BYTES >> 20)));
        }
        let text = String::from_utf8(text).map_err(|_| problem("is not UTF-8".to_owned()))?;
        // The parsed tree is about as large as this value.
        if heap::from_slice::<Value>(text.as_bytes()).is_err_and(|error| heap::is_too_much(&error))
        {
            return Err(problem(TOO_MUCH.to_owned()));
        }
        // The fixed name makes the parser read JSON, whatever the file's extension. Problems get the part's label.
        let root = parse("rubric.json", &text).map_err(|problems| {
            Stop::Unreadable(
                problems
                    .into_iter()
                    .map(|found| Problem {
                        file: label.clone(),
                        ..found
                    })
                    .collect(),
            )
        })?;

        // A judge's output has the tree beside its own figures.
        let root = match root.get("graded_task_tree") {
            Some(tree) if root.get("requirements").is_none() => tree.clone(),
            Some(_) | None => root,
        };
        let mut problems = Vec::new();
        let tree = Task::read(&label, &root, String::new(), &mut problems);
        let mut fields = Fields::new(&label, &root, "", &mut problems);
        let mut name = |key: &str, given: &Option<String>| {
            let fields = fields.as_mut()?;
            let own = fields.text(key);
            let name = given.clone().or(own).filter(|name| !name.trim().is_empty());
            if name.is_none() {
                fields.reject(
                    key,
                    format!("does not say its {key}"),
                    Some(format!("give --set {key}=NAME")),
                );
            }
            name
        };
        let (suite, approach, model) = (
            name("suite", &names.suite),
            name("approach", &names.approach),
            name("model", &names.model),
        );
        let (Some(tree), Some(suite), Some(approach), Some(model)) = (tree, suite, approach, model)
        else {
            return Err(Stop::Unreadable(problems));
        };
        let mut parts = Vec::new();
        tree.write(0, &mut parts);
        let parts: Vec<&[u8]> = parts.iter().map(Vec::as_slice).collect();
        // The grades identify the run: the format has no name for it, and several runs of one rubric are usual.
        let digest = hex_digest(&parts, true);
        let id = Store::imported_run_id(RUBRIC, &[&suite, &approach, &model, &digest]);
        let leaves = tree.leaves(&id, &label, &mut problems);
        if !problems.is_empty() {
            return Err(Stop::Unreadable(problems));
        }
        let source = ImportedRun {
            id,
            suite,
            approach,
            model,
            identity: tree.id.clone(),
            file: label,
            line: None,
        };
        Ok(Self {
            tree,
            source,
            leaves,
        })
    }

    /// Tells the ledger the run and its criteria. Its nodes count as rows.
    fn tell(self, ledger: &mut Ledger<'_>) -> Result<(), Stop> {
        let Self {
            tree,
            source,
            leaves,
        } = self;
        if ledger.begun(&source.id).is_some() {
            // The same rubric twice in one archive is one run.
            ledger.record(tree.size());
            ledger.keep(source);
            return Ok(());
        }
        ledger.record(tree.size() - leaves.len() as u64);
        let run = ledger.begin(source, false);
        let graded = leaves.iter().filter(|leaf| leaf.score.is_some()).count();
        let score = ScoreRecord {
            n: Some(graded as u64),
            value: tree.computed(),
            evaluator: Some(RUBRIC.to_owned()),
            ..ScoreRecord::new(RUBRIC_SCORE, 0.0, Unit::Fraction, Direction::Up)
        };
        let root = tree.figure(RUBRIC_SCORE.to_owned());
        // A branch whose score does not follow from its leaves is kept as a published figure.
        let branches = tree
            .inner()
            .into_iter()
            .skip(1)
            .filter_map(|task| task.figure(task.name()));
        let begun = ledger.run(run);
        begun.scores.push(score);
        begun.stated = root
            .into_iter()
            .chain(branches.filter(|figure| figure.disagrees() == Some(true)))
            .collect();
        ledger.check(
            run,
            tree.inner()
                .into_iter()
                .filter_map(|task| task.figure(task.name()))
                .collect(),
        );
        for mut leaf in leaves {
            ledger.rows_read += 1;
            // No two leaves of a tree have one name.
            if let Ok(item) = ledger.item(Some(run), &leaf, Numbering::Given) {
                ledger.take(
                    run,
                    (item, Numbering::Given),
                    &mut leaf,
                    &ItemDetails::default(),
                )?;
            }
        }
        Ok(())
    }
}

/// A requirement: a graded leaf, or a node whose score is the weighted mean of the requirements below it.
struct Task {
    id: Option<String>,
    requirement: String,
    weight: f64,
    /// Published score. `None` if the file marks the grade as invalid.
    stated: Option<f64>,
    below: Vec<Task>,
    line: usize,
    column: usize,
}

impl Task {
    fn read(file: &str, node: &Node, path: String, problems: &mut Vec<Problem>) -> Option<Self> {
        let before = problems.len();
        let is_root = path.is_empty();
        let mut fields = Fields::new(file, node, path, problems)?;
        let id = fields.text("id").filter(|id| !id.trim().is_empty());
        let requirement = fields
            .required_text("requirements")
            .map(|text| text.trim().to_owned());
        let weight = fields.amount("weight");
        if fields.child("weight").is_none() && !is_root {
            // A missing weight is not known to be 1.
            fields.reject_missing("weight");
        }
        let score = fields.number("score");
        if let Some(score) = score.filter(|score| !(-ROUNDING..=1.0 + ROUNDING).contains(score)) {
            let message = format!(
                "{} must be from 0 to 1, but is `{score}`",
                quote(&fields.path_of("score"))
            );
            fields.reject("score", message, None);
        }
        // Rounding may put a weighted mean slightly outside 0 to 1.
        let score = score.map(|score| score.clamp(0.0, 1.0));
        let is_valid = is_valid(&mut fields);
        let (list, list_path) = (
            fields.list("sub_tasks").unwrap_or_default(),
            fields.path_of("sub_tasks"),
        );
        let below: Vec<Self> = list
            .iter()
            .enumerate()
            .filter_map(|(index, node)| {
                Self::read(file, node, format!("{list_path}[{index}]"), problems)
            })
            .collect();
        (problems.len() == before).then_some(())?;
        Some(Self {
            id,
            requirement: requirement?,
            weight: weight.unwrap_or(1.0),
            stated: score.filter(|_| is_valid),
            below,
            line: node.line,
            column: node.column,
        })
    }

    /// Returns the weighted mean of the leaves below, level by level, or `None` if a weighted leaf was not graded or all weights are 0.
    fn computed(&self) -> Option<f64> {
        if self.below.is_empty() {
            return self.stated;
        }
        let (mut sum, mut weights) = (0.0, 0.0);
        for task in self.below.iter().filter(|task| task.weight > 0.0) {
            sum += task.weight * task.computed()?;
            weights += task.weight;
        }
        Some(sum / weights).filter(|mean| mean.is_finite())
    }

    fn figure(&self, name: String) -> Option<StatedFigure> {
        let value = self.stated?;
        Some(StatedFigure {
            name,
            value,
            unit: Unit::Fraction,
            recomputed: self.computed(),
            rounding: None,
        })
    }

    fn name(&self) -> String {
        let name = clip(&self.requirement);
        match &self.id {
            Some(id) => format!("{name} [{id}]"),
            None => name,
        }
    }

    fn size(&self) -> u64 {
        1 + self.below.iter().map(Self::size).sum::<u64>()
    }

    /// Returns this node and all nodes below it that are not leaves, from the top.
    fn inner(&self) -> Vec<&Self> {
        let own = (!self.below.is_empty()).then_some(self);
        own.into_iter()
            .chain(self.below.iter().flat_map(Self::inner))
            .collect()
    }

    fn ends(&self) -> Vec<&Self> {
        if self.below.is_empty() {
            vec![self]
        } else {
            self.below.iter().flat_map(Self::ends).collect()
        }
    }

    /// Returns the outcomes of the leaves in order, each with its branch below the root as category.
    fn leaves(&self, run: &RunId, file: &str, problems: &mut Vec<Problem>) -> Vec<ItemOutcome> {
        let ends = self.ends();
        let items = unique_names(&ends, file, problems);
        let is_only = |branch: &Self| {
            self.below
                .iter()
                .filter(|other| other.requirement == branch.requirement)
                .count()
                == 1
        };
        let name = |branch: &Self| {
            if is_only(branch) {
                clip(&branch.requirement)
            } else {
                branch.name()
            }
        };
        let branches: Vec<String> = self
            .below
            .iter()
            .flat_map(|branch| vec![name(branch); branch.ends().len()])
            .collect();
        // A root without requirements below it is the only leaf, and has no branch.
        let branches = branches
            .into_iter()
            .map(Some)
            .chain(std::iter::repeat(None));
        let outcome = |((task, item), branch): ((&&Self, String), Option<String>)| ItemOutcome {
            run: run.clone(),
            kind: ItemKind::Criterion,
            item,
            // A rubric's branches are headings of one list, not a sample from a population of branches.
            cluster: None,
            category: branch,
            attempt: 1,
            status: match task.stated {
                None => ItemStatus::NotEvaluated,
                Some(score) if score < 1.0 => ItemStatus::Fail,
                Some(_) => ItemStatus::Pass,
            },
            score: task.stated,
            evaluator: RUBRIC.to_owned(),
            revision: 0,
            duration_seconds: None,
            cost_usd: None,
            input_tokens: None,
            output_tokens: None,
        };
        ends.iter().zip(items).zip(branches).map(outcome).collect()
    }

    /// Appends the parts that identify the tree.
    fn write(&self, depth: u64, parts: &mut Vec<Vec<u8>>) {
        parts.push(depth.to_le_bytes().to_vec());
        parts.push(self.id.clone().unwrap_or_default().into_bytes());
        parts.push(self.requirement.clone().into_bytes());
        parts.push(self.weight.to_le_bytes().to_vec());
        parts.push(
            self.stated
                .map(|score| score.to_le_bytes().to_vec())
                .unwrap_or_default(),
        );
        for task in &self.below {
            task.write(depth + 1, parts);
        }
    }
}

/// Returns whether a grade is valid. Tools that use tables write 1.0 for true.
fn is_valid(fields: &mut Fields<'_, '_>) -> bool {
    let kind = fields
        .child("valid_score")
        .and_then(|node| match &node.value {
            document::Value::Scalar(scalar) => Some(scalar.kind),
            document::Value::List(_) | document::Value::Map(_) => None,
        });
    match kind {
        Some(ScalarKind::Integer(number @ (0 | 1))) => number == 1,
        Some(ScalarKind::Float(number)) if number.total_cmp(&1.0).is_eq() => true,
        Some(ScalarKind::Float(number)) if number.abs().total_cmp(&0.0).is_eq() => false,
        _ => fields.boolean("valid_score") != Some(false),
    }
}

fn clip(text: &str) -> String {
    match text.char_indices().nth(MOST_OF_A_NAME) {
        Some((end, _)) => format!("{} …", &text[..end]),
        None => text.to_owned(),
    }
}

/// Names each leaf by its requirement, with its id if other leaves have the same requirement.
fn unique_names(ends: &[&Task], file: &str, problems: &mut Vec<Problem>) -> Vec<String> {
    let mut uses = BTreeMap::<&str, u64>::new();
    for task in ends {
        *uses.entry(&task.requirement).or_default() += 1;
    }
    let mut taken = BTreeMap::<String, usize>::new();
    let mut names = Vec::new();
    for task in ends {
        let is_only = uses.get(task.requirement.as_str()) == Some(&1);
        let name = match &task.id {
            Some(id) if !is_only => format!("{} [{id}]", task.requirement),
            Some(_) | None => task.requirement.clone(),
        };
        if let Some(first) = taken.insert(name.clone(), task.line) {
            let message = format!(
                "the requirement {} is there twice, and no id tells the two apart",
                quote(&task.requirement)
            );
            problems.push(
                Problem::at(file, task.line, task.column, message)
                    .with_hint(format!("it is already on line {first}")),
            );
        }
        names.push(name);
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    fn task(requirement: &str, weight: f64, stated: Option<f64>, below: Vec<Task>) -> Task {
        Task {
            id: None,
            requirement: requirement.to_owned(),
            weight,
            stated,
            below,
            line: 1,
            column: 1,
        }
    }

    #[test]
    fn a_score_is_the_weighted_mean_of_what_is_below() {
        let leaf = |weight: f64, score: f64| task("l", weight, Some(score), vec![]);
        let branch = task("b", 3.0, Some(0.9), vec![leaf(1.0, 1.0), leaf(3.0, 0.0)]);
        assert_eq!(branch.computed(), Some(0.25), "whatever it states");
        let root = task("r", 1.0, None, vec![branch, leaf(1.0, 0.5)]);
        assert_eq!(
            root.computed(),
            Some((3.0 * 0.25 + 0.5) / 4.0),
            "from the leaves, not from what branches state"
        );
    }

    #[test]
    fn an_undefined_mean_is_none() {
        let ungraded = |weight: f64| task("u", weight, None, vec![]);
        assert_eq!(
            task(
                "r",
                1.0,
                Some(0.0),
                vec![ungraded(1.0), task("g", 1.0, Some(1.0), vec![])]
            )
            .computed(),
            None
        );
        assert_eq!(
            task(
                "r",
                1.0,
                None,
                vec![ungraded(0.0), task("g", 2.0, Some(1.0), vec![])]
            )
            .computed(),
            Some(1.0)
        );
        assert_eq!(
            task("r", 1.0, Some(0.0), vec![task("z", 0.0, Some(1.0), vec![])]).computed(),
            None,
            "no weight at all"
        );
    }

    #[test]
    fn leaves_of_one_requirement_are_told_apart_by_id() {
        let with_id = |requirement: &str, id: &str| Task {
            id: Some(id.to_owned()),
            ..task(requirement, 1.0, Some(1.0), vec![])
        };
        let mut problems = Vec::new();
        let tasks = [with_id("a", "1"), with_id("a", "2"), with_id("b", "3")];
        assert_eq!(
            unique_names(&tasks.iter().collect::<Vec<_>>(), "f", &mut problems),
            ["a [1]", "a [2]", "b"]
        );
        assert_eq!(problems, []);
        let twins = [with_id("a", "1"), with_id("a", "1")];
        unique_names(&twins.iter().collect::<Vec<_>>(), "f", &mut problems);
        assert_eq!(problems.len(), 1);
    }
}
