//! The map file: assigns columns of a foreign table to fields of our records.
//!
//! `docs/look-up/import/tables.md` is its reference. A map is data, not a program: [`FieldRule`](super::field::FieldRule) lists every way to fill a field.

use std::collections::BTreeMap;

use crate::domain::{Direction, ItemKind, Unit};

use super::field::MappedField;
use super::layout::RowLayout;
use super::notation::Notation;
use super::shape::TableShape;

pub(super) const MAP_FORMAT: &str = "evalreport/map/1";
/// Importer of the tables that maps describe, in provenance and in ids.
pub(super) const TABLE_IMPORTER: &str = "table";

/// What one row of the source describes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MapRowKind {
    /// The outcome of one attempt at one item.
    Items,
    /// The summary of one run.
    Runs,
}

/// A checked map. All problems that can be found without a source have been reported.
#[derive(Clone, Debug)]
pub struct TableMap {
    /// Name of the kind of source. Runs of maps with different names are never the same run.
    pub name: String,
    /// The map's file name, without folders.
    pub file: String,
    /// SHA-256 of the map's text and of the values set on the command line.
    pub sha256: String,
    pub url: Option<String>,
    pub licence: Option<String>,
    pub rows: MapRowKind,
    pub(super) layout: RowLayout,
    pub(super) notation: Notation,
    pub(super) shape: TableShape,
    pub(super) columns: Vec<MapColumn>,
    /// The map reads file names, so the same bytes under another name are another source.
    pub(super) reads_file_name: bool,
    pub(super) run: RunFieldMap,
    pub(super) item: Option<ItemFieldMap>,
    pub(super) scores: Vec<ScoreField>,
    pub(super) stated: Vec<PublishedFigureField>,
}

#[derive(Clone, Debug)]
pub(super) struct MapColumn {
    pub name: String,
    /// Without this column no record can be made.
    pub is_essential: bool,
    /// Paths in the map of the fields that read the column.
    pub fields: Vec<String>,
}

#[derive(Clone, Debug)]
pub(super) struct RunFieldMap {
    pub suite: MappedField,
    pub approach: MappedField,
    pub model: MappedField,
    pub index: Option<CounterField>,
    /// Fields that identify the runs of a suite, instead of approach, model and index.
    pub identity: Vec<MappedField>,
    pub timestamp: Option<MappedField>,
    /// How the time is written, unless in a standard form.
    pub timestamp_format: Option<TimeFormat>,
    pub duration_seconds: Option<MappedField>,
    pub total_calls: Option<MappedField>,
    pub input_tokens: Option<MappedField>,
    pub output_tokens: Option<MappedField>,
    pub total_tokens: Option<MappedField>,
    pub cost_usd: Option<MappedField>,
    pub files_generated: Option<MappedField>,
    pub lines_generated: Option<MappedField>,
    pub counts: Option<CountFields>,
    /// Kind of the counted items, unless they are tests of one artefact.
    pub counted: Option<ItemKind>,
    pub status: Option<MappedField>,
    pub error: Option<MappedField>,
    pub agent: Option<MappedField>,
    pub suite_version: Option<MappedField>,
    /// The revision of what was run.
    pub commit: Option<MappedField>,
    pub tags: BTreeMap<String, MappedField>,
}

#[derive(Clone, Debug)]
pub(super) struct ItemFieldMap {
    pub id: MappedField,
    pub kind: MappedField,
    pub evaluator: MappedField,
    pub cluster: Option<MappedField>,
    pub category: Option<MappedField>,
    pub attempt: AttemptField,
    pub status: StatusField,
    pub score: Option<ItemScoreField>,
    /// Further scores besides the deciding one, by name.
    pub scores: BTreeMap<String, MappedField>,
    pub duration_seconds: Option<MappedField>,
    pub cost_usd: Option<MappedField>,
    pub input_tokens: Option<MappedField>,
    pub output_tokens: Option<MappedField>,
    pub texts: ItemTextFields,
}

/// Texts that are kept with an outcome for people to read.
#[derive(Clone, Debug, Default)]
pub(super) struct ItemTextFields {
    pub question: Option<MappedField>,
    pub answer: Option<MappedField>,
    pub expected: Option<MappedField>,
    pub reason: Option<MappedField>,
}

/// Notation of a time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum TimeFormat {
    /// Seconds since 1970.
    Unix,
    /// Milliseconds since 1970.
    UnixMilliseconds,
    /// Days as spreadsheets count them: 1 is the first day of 1900.
    Excel,
    /// A `strftime` pattern, such as `%d.%m.%Y %H:%M`.
    Pattern(String),
}

impl ItemFieldMap {
    /// Returns whether outcomes have details: texts or further scores.
    pub fn has_details(&self) -> bool {
        let ItemTextFields {
            question,
            answer,
            expected,
            reason,
        } = &self.texts;
        [question, answer, expected, reason]
            .into_iter()
            .any(Option::is_some)
            || !self.scores.is_empty()
    }
}

/// A number that counts from `base` in the source, and from 1 in our records.
#[derive(Clone, Debug)]
pub(super) struct CounterField {
    pub field: MappedField,
    pub base: u64,
}

#[derive(Clone, Debug)]
pub(super) enum AttemptField {
    /// Every item has one attempt.
    Only,
    /// The nth row of an item is its nth attempt.
    Occurrence,
    Counted(CounterField),
}

#[derive(Clone, Debug)]
pub(super) enum StatusField {
    /// The name of a status, or a boolean.
    Named(MappedField),
    /// Passes if the given answer equals the expected one. A missing answer is wrong.
    Equal {
        expected: MappedField,
        given: MappedField,
    },
    AtLeast {
        field: MappedField,
        bound: f64,
    },
    /// If the first field has a value, it is the status. Otherwise the other form decides.
    Unless {
        ended: MappedField,
        otherwise: Box<StatusField>,
    },
    /// The source has scores but no passes. Items with a score stay out of pass rates, the others were not evaluated.
    Scored,
}

#[derive(Clone, Debug)]
pub(super) struct ItemScoreField {
    pub field: MappedField,
    /// Name of the mean over the run.
    pub metric: String,
    pub unit: SourceUnit,
    pub direction: Direction,
    pub range: Option<ScoreBounds>,
}

/// The least and the greatest possible score, in the source's unit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct ScoreBounds {
    pub least: f64,
    pub most: f64,
}

impl ScoreBounds {
    /// Returns both bounds in our unit.
    pub fn in_unit(self, unit: SourceUnit) -> [f64; 2] {
        [self.least / unit.divisor, self.most / unit.divisor]
    }
}

/// Passed or failed items of a total.
#[derive(Clone, Debug)]
pub(super) struct CountFields {
    pub part: CountedPart,
    pub total: MappedField,
}

#[derive(Clone, Debug)]
pub(super) enum CountedPart {
    Passed(MappedField),
    Failed(MappedField),
}

/// A unit of the source, with its conversion to ours.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct SourceUnit {
    pub unit: Unit,
    /// Our value is the source's value divided by `divisor`: 61.7 / 100 is the nearest float, 61.7 × 0.01 is not.
    pub divisor: f64,
}

#[derive(Clone, Debug)]
pub(super) struct ScoreField {
    pub metric: String,
    pub value: MappedField,
    pub unit: SourceUnit,
    pub direction: Direction,
    pub range: Option<ScoreBounds>,
    pub n: Option<MappedField>,
    pub standard_error: Option<MappedField>,
    /// If this field has a value, the score is omitted, because there is better evidence.
    pub unless: Option<MappedField>,
}

#[derive(Clone, Debug)]
pub(super) struct PublishedFigureField {
    pub name: String,
    pub value: MappedField,
    pub unit: SourceUnit,
    pub counts: Option<CountFields>,
    /// Digits after the decimal point, if the printed text drops trailing zeros.
    pub decimals: Option<u32>,
}

impl TableMap {
    pub(super) fn is_essential(&self, column: &str) -> bool {
        self.columns
            .iter()
            .any(|one| one.is_essential && one.name == column)
    }

    pub(super) fn fields_of(&self, column: &str) -> &[String] {
        self.columns
            .iter()
            .find(|one| one.name == column)
            .map_or(&[], |one| &one.fields)
    }
}

#[cfg(test)]
mod tests {
    use super::super::source::hex_digest;
    use super::*;

    const SMALL: &str = "format: evalreport/map/1\nname: t\nrows: item\n\
        run: {suite: {constant: s}, approach: approach, model: model}\n\
        item: {id: [a, b], kind: {constant: question}, status: {equal: [answer, pred]}}\n";

    fn problems(text: &str) -> Vec<String> {
        let set = BTreeMap::new();
        match TableMap::parse("m.yaml", text, &set) {
            Ok(_) => Vec::new(),
            Err(problems) => problems
                .0
                .iter()
                .map(|problem| {
                    problem
                        .hint
                        .as_ref()
                        .map_or_else(|| problem.to_string(), |hint| format!("{problem} [{hint}]"))
                })
                .collect(),
        }
    }

    #[test]
    fn a_small_map_is_read() {
        let map = TableMap::parse("m.yaml", SMALL, &BTreeMap::new()).expect("a valid map");
        let names: Vec<&str> = map
            .columns
            .iter()
            .map(|column| column.name.as_str())
            .collect();
        assert_eq!(names, ["approach", "model", "a", "b", "answer", "pred"]);
        assert!(map.columns.iter().all(|column| column.is_essential));
    }

    #[test]
    fn setting_a_field_makes_its_column_needless_and_another_key() {
        let set = BTreeMap::from([("model".to_owned(), "m".to_owned())]);
        let map = TableMap::parse("m.yaml", SMALL, &set).expect("a valid map");
        assert!(map.columns.iter().all(|column| column.name != "model"));
        let plain = TableMap::parse("m.yaml", SMALL, &BTreeMap::new()).expect("a valid map");
        assert_ne!(map.sha256, plain.sha256);
        assert_eq!(plain.sha256, hex_digest(&[SMALL.as_bytes()], false));
        assert!(
            TableMap::parse(
                "m.yaml",
                SMALL,
                &BTreeMap::from([("item".to_owned(), "x".to_owned())])
            )
            .is_err()
        );
    }

    #[test]
    fn every_problem_of_a_map_is_named_with_its_place() {
        let run = "format: evalreport/map/2\nrows: run\nrun:\n  suite: 7\n  aproach: x\n  model: {column: m, constant: c}\n  \
            index: {column: i, base: -1}\n  status: {column: s, values: {ok: fail}}\n  total: t\nscores:\n  x: {value: v, unit: kilo}\n\
            stated:\n  y: {value: v, unit: seconds, passed: p, failed: f, total: n}\n";
        assert_eq!(
            problems(run),
            [
                "m.yaml:1:1: `name` is missing",
                "m.yaml:1:9: `format` is `evalreport/map/2`, not `evalreport/map/1`",
                "m.yaml:4:3: `run.approach` is missing",
                "m.yaml:4:10: `run.suite` must be the name of a column, not `7` [write \"7\" for the column, or {constant: \"7\"} for the text]",
                "m.yaml:5:3: unknown key `run.aproach` [did you mean `approach`?]",
                "m.yaml:6:10: `run.model` must have one of `column`, `constant`, `source`, `regex`, `sum`, `difference` and `ratio`; constant and column are there",
                "m.yaml:7:28: `run.index.base` must not be negative, but is `-1`",
                "m.yaml:8:11: `run.status` must give one of completed, failed, limit, infra, cancelled, partial, not `fail` [did you mean `failed`?]",
                "m.yaml:9:10: `total` is given without `passed` or `failed`",
                "m.yaml:11:6: `scores.x.direction` is missing",
                "m.yaml:11:23: `scores.x.unit` must be one of `percent`, `fraction`, `points`, `seconds`, `tokens`, `usd`, `count`, `number`, not `kilo`",
                "m.yaml:13:51: `passed` and `failed` are both given; one of them is enough",
            ]
        );
        let item = "format: evalreport/map/1\nname: t\nrows: item\nrun: {suite: s, approach: a, model: m}\nitem:\n  id: []\n  \
            kind: {constant: exam}\n  status: {equal: [a]}\n  cluster: {regex: {column: c, pattern: '(', group: 1}}\n  score: {column: x, otherwise: keep}\n";
        assert_eq!(
            problems(item),
            [
                "m.yaml:6:7: `item.id` is an empty list",
                "m.yaml:7:9: `item.kind` must give one of question, task, test, criterion, check, not `exam`",
                "m.yaml:8:19: `item.status.equal` must be two columns: what was expected, and what was given",
                "m.yaml:9:41: `item.cluster.regex.pattern` is not a valid pattern: unclosed group",
                "m.yaml:10:33: `item.score.otherwise` needs `values`",
            ]
        );
        assert_eq!(
            problems("rows: item\nformat: evalreport/map/1\nname: t\n"),
            [
                "m.yaml:1:1: `run` is missing",
                "m.yaml:1:1: `item` is missing"
            ]
        );
    }

    #[test]
    fn what_is_counted_and_how_far_a_score_goes_are_checked() {
        let runs = "format: evalreport/map/1\nname: t\nrows: run\nrun: {suite: s, approach: a, model: m, counted: task}\n\
            scores:\n  x: {value: v, unit: number, direction: up, range: [5, 1]}\n  y: {value: v, unit: number, direction: up, range: [a, 1]}\n";
        assert_eq!(
            problems(runs),
            [
                "m.yaml:4:49: `counted` is given without `total`: it says what is counted",
                "m.yaml:6:53: `scores.x.range` must be two numbers: the least and the most that there can be",
                "m.yaml:7:53: `scores.y.range` must be two numbers: the least and the most that there can be",
            ]
        );
        assert_eq!(
            problems(&SMALL.replace(
                ", status: {equal: [answer, pred]}",
                ", score: {column: x, range: [1, 10]}"
            )),
            [""; 0]
        );
        assert_eq!(
            problems(&SMALL.replace(", status: {equal: [answer, pred]}", "")),
            ["m.yaml:5:7: `item.status` is missing"]
        );
    }

    #[test]
    fn a_status_may_stand_before_another_form() {
        let status = |form: &str| problems(&SMALL.replace("{equal: [answer, pred]}", form));
        let unless = "unless: {column: end, values: {done: null, late: limit}}";
        for form in [
            "equal: [answer, pred]",
            "column: s, pass_at_least: 1",
            "column: s, values: {x: pass}",
            "constant: fail",
        ] {
            assert_eq!(status(&format!("{{{form}, {unless}}}")), [""; 0], "{form}");
        }
        assert_eq!(
            status("{column: s, unless: {column: end, values: {late: slow}}}"),
            [
                "m.yaml:5:56: `item.status.unless` must give one of pass, fail, error, limit, infra, skipped, not_evaluated, not `slow`"
            ]
        );
    }

    #[test]
    fn a_pattern_must_have_its_group() {
        let text = SMALL.replace(
            "model: model",
            "model: {regex: {source: file, pattern: 'x', group: 2}}",
        );
        assert_eq!(
            problems(&text),
            ["m.yaml:4:100: the pattern has no group 2, only 0"]
        );
    }

    #[test]
    fn rows_of_runs_have_no_items_and_rows_of_items_no_counts() {
        assert_eq!(
            problems(&SMALL.replace("rows: item", "rows: run")),
            ["m.yaml:5:7: `item` has no place in a map whose rows are runs"]
        );
        assert_eq!(
            problems(&SMALL.replace("model: model", "model: model, passed: p, total: n")),
            [
                "m.yaml:4:81: `run.total` has no place where the rows are items [passed and total are counted from them]"
            ]
        );
    }
}
