//! Imports graded rubrics: trees of weighted requirements with graded leaves.
//!
//! Each leaf becomes the outcome of one criterion. Each inner node's score is recomputed from the leaves below it and compared with the
//! published score. A file with any mistake stores nothing, and all its mistakes are reported.

use std::collections::BTreeMap;
use std::io::Read as _;
use std::path::Path;

use serde_json::Value;

use crate::document::{self, Fields, Node, ScalarKind, parse, quote_text};
use crate::domain::{
    Direction, ItemDetails, ItemKind, ItemOutcome, ItemStatus, Problem, RunId, ScoreRecord,
    StatedFigure, Unit,
};
use crate::results::json_memory_limit::{self, TOO_MUCH_MEMORY};
use crate::results::{Store, StoreError};

use super::each_file::{FileImporter, import_files};
use super::encoding::TextEncoding;
use super::ledger::{AttemptNumbering, Ledger};
use super::mode::ImportMode;
use super::name_overrides::NameOverrides;
use super::report::{ImportReport, SourceRun};
use super::rows::ReadStop;
use super::source::{RowFormat, SourceFile, SourcePart, hex_digest};
use super::stored::{RunMoment, StoredRuns, UnnamedRun};

/// The metric of a rubric's root, and the evaluator of its leaves.
pub const RUBRIC_SCORE: &str = "rubric_score";
const RUBRIC: &str = "rubric";
/// Goes up by one when the same bytes give other records. Sources imported before are then read again and replaced if they differ.
pub(super) const VERSION: u32 = 2;
/// Maximum size of a rubric. Rubrics that people graded are smaller.
const MAX_BYTES: u64 = 64 << 20;
/// Maximum length of a requirement in the name of a figure.
const MAX_OF_A_NAME: usize = 100;
const ROUNDING: f64 = 1e-9;

/// Imports each file as one graded rubric, and each member of an archive as one. `existing` are the runs of the store. `progress` is called
/// with the number of further bytes read.
///
/// The report counts the nodes of a tree as rows and its leaves as items. A file that is not a rubric is reported; the others are imported
/// all the same. Returns an error only if writing to the store fails.
pub fn import_rubrics(
    store: &Store,
    files: &[impl AsRef<Path>],
    names: &NameOverrides,
    existing: &StoredRuns,
    mode: ImportMode,
    progress: &mut dyn FnMut(u64),
) -> Result<ImportReport, StoreError> {
    let reading = FileImporter {
        importer: RUBRIC,
        version: VERSION,
        key_of: &|source| import_key(source, names),
        provenance: &|file| file,
        read: &|source, ledger, progress, _| read_rubrics(source, names, ledger, progress),
    };
    let sources: Vec<Vec<&Path>> = files.iter().map(|file| vec![file.as_ref()]).collect();
    import_files(&reading, store, &sources, existing, mode, progress)
}

/// Reads the file's rubrics.
fn read_rubrics<'a>(
    source: &SourceFile,
    names: &NameOverrides,
    mut ledger: Ledger<'a>,
    progress: &mut dyn FnMut(u64),
) -> Result<Ledger<'a>, ReadStop> {
    let mut graded = Vec::new();
    source.for_each_part(TextEncoding::Utf8, progress, |part| {
        graded.push(GradedRubric::read_part(part, names)?);
        Ok(())
    })?;
    // If a file has several rubrics, none can be matched with an earlier version.
    if let [rubric] = graded.as_mut_slice() {
        let SourceRun {
            suite,
            approach,
            model,
            ..
        } = &rubric.source;
        let run = UnnamedRun {
            names: [suite, approach, model],
            index: None,
            moment: RunMoment::Unread,
        };
        rubric.source.id = ledger.resolve_unnamed(rubric.source.id.clone(), run);
    }
    for rubric in graded {
        rubric.add_to_ledger(&mut ledger)?;
    }
    Ok(ledger)
}

/// Returns the key of the pair: the same bytes with the same names are the same import.
fn import_key(source: &SourceFile, names: &NameOverrides) -> String {
    let reading = format!("reading {VERSION}");
    let mut parts = vec![
        reading.as_bytes(),
        RUBRIC.as_bytes(),
        source.sha256.as_bytes(),
    ];
    parts.extend(names.identity_parts());
    hex_digest(&parts, true)
}

/// One tree that was read, and the records made from it.
struct GradedRubric {
    tree: RubricNode,
    source: SourceRun,
    leaves: Vec<ItemOutcome>,
}

impl GradedRubric {
    fn read_part(part: SourcePart<'_>, names: &NameOverrides) -> Result<Self, ReadStop> {
        let label = part.label;
        let problem = |message: String| ReadStop::from(Problem::in_file(label.clone(), message));
        match part.format {
            RowFormat::Json => {}
            _ => {
                return Err(problem(
                    "is not JSON, which rubrics are read from".to_owned(),
                ));
            }
        }
        let mut text = Vec::new();
        part.input
            .into_reader()
            .take(MAX_BYTES + 1)
            .read_to_end(&mut text)
            .map_err(|error| problem(format!("cannot be read: {error}")))?;
        if text.len() as u64 > MAX_BYTES {
            return Err(problem(format!("is longer than {} MiB", MAX_BYTES >> 20)));
        }
        let text = String::from_utf8(text).map_err(|_| problem("is not UTF-8".to_owned()))?;
        // The parsed tree is about as large as this value.
        if json_memory_limit::from_slice::<Value>(text.as_bytes())
            .is_err_and(|error| json_memory_limit::is_memory_refusal(&error))
        {
            return Err(problem(TOO_MUCH_MEMORY.to_owned()));
        }
        // The fixed name makes the parser read JSON, whatever the file's extension. Problems get the part's label.
        let root = parse("rubric.json", &text).map_err(|problems| {
            ReadStop::Unreadable(
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
        let tree = RubricNode::from_node(&label, &root, String::new(), &mut problems);
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
            return Err(ReadStop::Unreadable(problems));
        };
        let mut parts = Vec::new();
        tree.write_identity(0, &mut parts);
        let parts: Vec<&[u8]> = parts.iter().map(Vec::as_slice).collect();
        // The grades identify the run: the format has no name for it, and several runs of one rubric are usual.
        let digest = hex_digest(&parts, true);
        let id = Store::imported_run_id(RUBRIC, &[&suite, &approach, &model, &digest]);
        let leaves = tree.leaf_outcomes(&id, &label, &mut problems);
        if !problems.is_empty() {
            return Err(ReadStop::Unreadable(problems));
        }
        let source = SourceRun {
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
    fn add_to_ledger(self, ledger: &mut Ledger<'_>) -> Result<(), ReadStop> {
        let Self {
            tree,
            source,
            leaves,
        } = self;
        if ledger.find_begun(&source.id).is_some() {
            // The same rubric twice in one archive is one run.
            ledger.count_records(tree.count_nodes());
            ledger.keep_run(source);
            return Ok(());
        }
        ledger.count_records(tree.count_nodes() - leaves.len() as u64);
        let run = ledger.begin_run(source, false);
        let graded = leaves.iter().filter(|leaf| leaf.score.is_some()).count();
        let score = ScoreRecord {
            n: Some(graded as u64),
            value: tree.weighted_score(),
            evaluator: Some(RUBRIC.to_owned()),
            ..ScoreRecord::new(RUBRIC_SCORE, 0.0, Unit::Fraction, Direction::Up)
        };
        let root = tree.to_published_figure(RUBRIC_SCORE.to_owned());
        // A branch whose score does not follow from its leaves is kept as a published figure.
        let branches = tree
            .inner_nodes()
            .into_iter()
            .skip(1)
            .filter_map(|task| task.to_published_figure(task.name()));
        let begun = ledger.run_mut(run);
        begun.scores.push(score);
        begun.stated = root
            .into_iter()
            .chain(branches.filter(|figure| figure.disagrees() == Some(true)))
            .collect();
        ledger.set_checked_figures(
            run,
            tree.inner_nodes()
                .into_iter()
                .filter_map(|task| task.to_published_figure(task.name()))
                .collect(),
        );
        for mut leaf in leaves {
            ledger.rows_read += 1;
            // No two leaves of a tree have one name.
            if let Ok(item) = ledger.number_item(Some(run), &leaf, AttemptNumbering::Given) {
                ledger.add_outcome(
                    run,
                    (item, AttemptNumbering::Given),
                    &mut leaf,
                    &ItemDetails::default(),
                )?;
            }
        }
        Ok(())
    }
}

/// A requirement: a graded leaf, or a node whose score is the weighted mean of the requirements below it.
struct RubricNode {
    id: Option<String>,
    requirement: String,
    weight: f64,
    /// Published score. `None` if the file marks the grade as invalid.
    stated: Option<f64>,
    below: Vec<RubricNode>,
    line: usize,
    column: usize,
}

impl RubricNode {
    fn from_node(
        file: &str,
        node: &Node,
        path: String,
        problems: &mut Vec<Problem>,
    ) -> Option<Self> {
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
                quote_text(&fields.path_of("score"))
            );
            fields.reject("score", message, None);
        }
        // Rounding may put a weighted mean slightly outside 0 to 1.
        let score = score.map(|score| score.clamp(0.0, 1.0));
        let is_valid = is_valid_grade(&mut fields);
        let (list, list_path) = (
            fields.list("sub_tasks").unwrap_or_default(),
            fields.path_of("sub_tasks"),
        );
        let below: Vec<Self> = list
            .iter()
            .enumerate()
            .filter_map(|(index, node)| {
                Self::from_node(file, node, format!("{list_path}[{index}]"), problems)
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
    fn weighted_score(&self) -> Option<f64> {
        if self.below.is_empty() {
            return self.stated;
        }
        let (mut sum, mut weights) = (0.0, 0.0);
        for task in self.below.iter().filter(|task| task.weight > 0.0) {
            sum += task.weight * task.weighted_score()?;
            weights += task.weight;
        }
        Some(sum / weights).filter(|mean| mean.is_finite())
    }

    fn to_published_figure(&self, name: String) -> Option<StatedFigure> {
        let value = self.stated?;
        Some(StatedFigure {
            name,
            value,
            unit: Unit::Fraction,
            recomputed: self.weighted_score(),
            rounding: None,
        })
    }

    fn name(&self) -> String {
        let name = shorten_requirement(&self.requirement);
        match &self.id {
            Some(id) => format!("{name} [{id}]"),
            None => name,
        }
    }

    fn count_nodes(&self) -> u64 {
        1 + self.below.iter().map(Self::count_nodes).sum::<u64>()
    }

    /// Returns this node and all nodes below it that are not leaves, from the top.
    fn inner_nodes(&self) -> Vec<&Self> {
        let own = (!self.below.is_empty()).then_some(self);
        own.into_iter()
            .chain(self.below.iter().flat_map(Self::inner_nodes))
            .collect()
    }

    fn leaf_nodes(&self) -> Vec<&Self> {
        if self.below.is_empty() {
            vec![self]
        } else {
            self.below.iter().flat_map(Self::leaf_nodes).collect()
        }
    }

    /// Returns the outcomes of the leaves in order, each with its branch below the root as category.
    fn leaf_outcomes(
        &self,
        run: &RunId,
        file: &str,
        problems: &mut Vec<Problem>,
    ) -> Vec<ItemOutcome> {
        let ends = self.leaf_nodes();
        let items = name_leaves(&ends, file, problems);
        let is_only = |branch: &Self| {
            self.below
                .iter()
                .filter(|other| other.requirement == branch.requirement)
                .count()
                == 1
        };
        let name = |branch: &Self| {
            if is_only(branch) {
                shorten_requirement(&branch.requirement)
            } else {
                branch.name()
            }
        };
        let branches: Vec<String> = self
            .below
            .iter()
            .flat_map(|branch| vec![name(branch); branch.leaf_nodes().len()])
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
    fn write_identity(&self, depth: u64, parts: &mut Vec<Vec<u8>>) {
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
            task.write_identity(depth + 1, parts);
        }
    }
}

/// Returns whether a grade is valid. Tools that use tables write 1.0 for true.
fn is_valid_grade(fields: &mut Fields<'_, '_>) -> bool {
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

fn shorten_requirement(text: &str) -> String {
    match text.char_indices().nth(MAX_OF_A_NAME) {
        Some((end, _)) => format!("{} …", &text[..end]),
        None => text.to_owned(),
    }
}

/// Names each leaf by its requirement, with its id if other leaves have the same requirement.
fn name_leaves(ends: &[&RubricNode], file: &str, problems: &mut Vec<Problem>) -> Vec<String> {
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
                quote_text(&task.requirement)
            );
            problems.push(
                Problem::at_position(file, task.line, task.column, message)
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

    fn task(
        requirement: &str,
        weight: f64,
        stated: Option<f64>,
        below: Vec<RubricNode>,
    ) -> RubricNode {
        RubricNode {
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
        assert_eq!(branch.weighted_score(), Some(0.25), "whatever it states");
        let root = task("r", 1.0, None, vec![branch, leaf(1.0, 0.5)]);
        assert_eq!(
            root.weighted_score(),
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
            .weighted_score(),
            None
        );
        assert_eq!(
            task(
                "r",
                1.0,
                None,
                vec![ungraded(0.0), task("g", 2.0, Some(1.0), vec![])]
            )
            .weighted_score(),
            Some(1.0)
        );
        assert_eq!(
            task("r", 1.0, Some(0.0), vec![task("z", 0.0, Some(1.0), vec![])]).weighted_score(),
            None,
            "no weight at all"
        );
    }

    #[test]
    fn leaves_of_one_requirement_are_told_apart_by_id() {
        let with_id = |requirement: &str, id: &str| RubricNode {
            id: Some(id.to_owned()),
            ..task(requirement, 1.0, Some(1.0), vec![])
        };
        let mut problems = Vec::new();
        let tasks = [with_id("a", "1"), with_id("a", "2"), with_id("b", "3")];
        assert_eq!(
            name_leaves(&tasks.iter().collect::<Vec<_>>(), "f", &mut problems),
            ["a [1]", "a [2]", "b"]
        );
        assert_eq!(problems, []);
        let twins = [with_id("a", "1"), with_id("a", "1")];
        name_leaves(&twins.iter().collect::<Vec<_>>(), "f", &mut problems);
        assert_eq!(problems.len(), 1);
    }
}
