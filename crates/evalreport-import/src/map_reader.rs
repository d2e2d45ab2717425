//! Reads a map file, and reports every mistake with file, line and column.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use regex::Regex;

use crate::document::{self, Fields, Node, ScalarKind, Value, nearest_hint, quote_text};
use crate::domain::{
    Direction, ItemKind, ItemStatus, Problem, Problems, RunStatus, Unit, escape_invisible,
};
use crate::files;

use super::csv_rows::parse_delimiter;
use super::encoding::TextEncoding;
use super::field::{FieldRule, MappedField, UnlistedValuePolicy, ValueOrigin};
use super::layout::RowLayout;
use super::map::{
    AttemptField, CountFields, CountedPart, CounterField, ItemFieldMap, ItemScoreField,
    ItemTextFields, MAP_FORMAT, MapColumn, MapRowKind, PublishedFigureField, RunFieldMap,
    ScoreBounds, ScoreField, SourceUnit, StatusField, TableMap,
};
use super::notation::{DecimalMark, Notation, UnitScale};
use super::path_part::PathPart;
use super::shape::TableShape;
use super::source::hex_digest;
use super::titles::HeaderLines;

/// Maximum size of a map. A map is a page of text.
const MAX_MAP_BYTES: u64 = 1 << 20;

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum ColumnNeed {
    Essential,
    Optional,
}

impl TableMap {
    /// Reads a map file. `set` replaces fields of the map's run by constants: suite, approach, model, suite_version, agent and `tags.NAME`.
    pub fn load(path: &Path, set: &BTreeMap<String, String>) -> Result<Self, Problems> {
        let shown = path.display().to_string();
        let one = |message: String| Problems(vec![Problem::in_file(shown.clone(), message)]);
        let size = fs::metadata(path).map_err(|error| one(format!("cannot be read: {error}")))?;
        if size.is_dir() {
            return Err(one("is a folder, not a map".to_owned()));
        }
        if size.len() > MAX_MAP_BYTES {
            return Err(one(format!(
                "is larger than {} KiB; a map is a page of text",
                MAX_MAP_BYTES >> 10
            )));
        }
        let bytes = files::read(path).map_err(|error| one(format!("cannot be read: {error}")))?;
        let text = String::from_utf8(bytes).map_err(|_| one("is not UTF-8".to_owned()))?;
        let mut map = Self::parse(&shown, &text, set)?;
        map.file = path
            .file_name()
            .map(|name| name.to_string_lossy().into_owned())
            .unwrap_or(shown);
        Ok(map)
    }

    pub fn parse(file: &str, text: &str, set: &BTreeMap<String, String>) -> Result<Self, Problems> {
        let node = document::parse(file, text).map_err(Problems)?;
        let mut problems = Vec::new();
        let reader = MapReader::new(set);
        for key in set.keys().filter(|key| !is_settable(key)) {
            problems.push(
                Problem::in_file(
                    file,
                    format!("{} cannot be set from outside", quote_text(key)),
                )
                .with_hint("suite, approach, model, suite_version, agent and tags.NAME can"),
            );
        }
        let map = reader.read_map(file, &node, &mut problems);
        if !problems.is_empty() {
            problems.sort_by_key(|problem| (problem.line, problem.column));
            return Err(Problems(problems));
        }
        let mut map = map.ok_or_else(|| Problems(vec![Problem::in_file(file, "is not a map")]))?;
        let mut parts = vec![text.as_bytes()];
        for (key, value) in set {
            parts.extend([key.as_bytes(), value.as_bytes()]);
        }
        map.sha256 = if set.is_empty() {
            hex_digest(&[text.as_bytes()], false)
        } else {
            hex_digest(&parts, true)
        };
        Ok(map)
    }
}

/// Returns whether the command line may set a field of the run.
pub(super) fn is_settable(key: &str) -> bool {
    ["suite", "approach", "model", "suite_version", "agent"].contains(&key)
        || key
            .strip_prefix("tags.")
            .is_some_and(|name| !name.trim().is_empty())
}

pub(super) struct MapReader<'s> {
    columns: Vec<MapColumn>,
    reads_file_name: bool,
    /// Constants that replace fields of the map's run.
    set: &'s BTreeMap<String, String>,
}

impl<'s> MapReader<'s> {
    fn new(set: &'s BTreeMap<String, String>) -> Self {
        Self {
            columns: Vec::new(),
            reads_file_name: false,
            set,
        }
    }

    fn read_map(
        mut self,
        file: &str,
        node: &Node,
        problems: &mut Vec<Problem>,
    ) -> Option<TableMap> {
        let mut top = Fields::new(file, node, "", problems)?;
        match top.required_text("format") {
            Some(format) if format != MAP_FORMAT => {
                top.reject(
                    "format",
                    format!("`format` is {}, not `{MAP_FORMAT}`", quote_text(&format)),
                    None,
                );
            }
            Some(_) | None => {}
        }
        let name = top.required_text("name");
        let rows = top.one_of(
            "rows",
            &[("item", MapRowKind::Items), ("run", MapRowKind::Runs)],
        );
        if top.child("rows").is_none() {
            top.reject_missing("rows");
        }
        let list = top.text("list");
        let delimiter = top
            .text("delimiter")
            .and_then(|word| match parse_delimiter(&word) {
                Ok(byte) => Some(byte),
                Err(message) => {
                    top.reject(
                        "delimiter",
                        message,
                        Some("one character such as `;`, or `tab`".to_owned()),
                    );
                    None
                }
            });
        let line = top.unsigned("header").unwrap_or(1).max(1);
        let lines = top.unsigned("header_lines").unwrap_or(1);
        if !(1..=2).contains(&lines) {
            top.reject(
                "header_lines",
                format!("`header_lines` must be 1 or 2, but is {lines}"),
                None,
            );
        }
        let header = HeaderLines { line, lines };
        let sheet = top.text("sheet");
        let encoding = top
            .one_of("encoding", &TextEncoding::ALL)
            .unwrap_or_default();
        let decimal = top.one_of(
            "decimal",
            &[("point", DecimalMark::Point), ("comma", DecimalMark::Comma)],
        );
        let missing = top
            .texts("missing")
            .iter()
            .map(|text| text.trim().to_lowercase())
            .collect();
        let (skip, wide) = (self.read_skip(&mut top), self.read_wide(&mut top));
        let tries = top
            .text("tries")
            .map(|column| self.column_slot(&column, "tries", ColumnNeed::Optional));
        let filled = top
            .texts("fill")
            .iter()
            .map(|column| self.column_slot(column, "fill", ColumnNeed::Optional))
            .collect();
        let (mut url, mut licence) = (None, None);
        if let Some(mut source) = top.fields("source") {
            url = source.text("url");
            licence = source.text("licence");
            source.finish();
        }
        if top.child("run").is_none() {
            top.reject_missing("run");
        }
        let run = top
            .fields("run")
            .and_then(|run| self.read_run_fields(run, rows));
        let has_items = top.child("item").is_some();
        let item = match (rows, top.fields("item")) {
            (Some(MapRowKind::Items), Some(item)) => self.read_item_fields(item),
            (_, item) => {
                // Keys of a section that should not exist are not checked.
                drop(item);
                None
            }
        };
        match (rows, has_items) {
            (Some(MapRowKind::Items), false) => top.reject_missing("item"),
            (Some(MapRowKind::Runs), true) => top.reject(
                "item",
                "`item` has no place in a map whose rows are runs",
                None,
            ),
            (Some(MapRowKind::Items), true) | (Some(MapRowKind::Runs), false) | (None, _) => {}
        }
        let scores = top
            .read_each_named("scores", |key, fields| self.read_score(&key.text, fields))
            .into_values()
            .collect();
        let stated = top
            .read_each_named("stated", |key, fields| {
                self.read_published_figure(&key.text, fields)
            })
            .into_values()
            .collect();
        top.finish();
        let made = |(slot, column): (usize, &MapColumn)| {
            PathPart::from_column(&column.name).map(|part| (slot, part))
        };
        let path = self.columns.iter().enumerate().filter_map(made).collect();
        let shape = TableShape {
            skip,
            wide,
            fill: filled,
            path,
            tries,
        };
        Some(TableMap {
            name: name?,
            file: file.to_owned(),
            sha256: String::new(),
            url,
            licence,
            rows: rows?,
            layout: RowLayout {
                list,
                delimiter,
                header,
                sheet,
                encoding,
            },
            notation: Notation { decimal, missing },
            shape,
            columns: std::mem::take(&mut self.columns),
            reads_file_name: self.reads_file_name,
            run: run?,
            item,
            scores,
            stated,
        })
    }

    fn read_run_fields(
        &mut self,
        mut fields: Fields<'_, '_>,
        rows: Option<MapRowKind>,
    ) -> Option<RunFieldMap> {
        let suite = self.read_settable(&mut fields, "suite");
        let approach = self.read_settable(&mut fields, "approach");
        let model = self.read_settable(&mut fields, "model");
        let index = self.read_counter(&mut fields, "index", ColumnNeed::Optional);
        let identity = self.read_identity(&mut fields);
        let mut optional = |key: &str| self.read_optional(&mut fields, key);
        let total_calls = optional("total_calls");
        let input_tokens = optional("input_tokens");
        let output_tokens = optional("output_tokens");
        let total_tokens = optional("total_tokens");
        let files_generated = optional("files_generated");
        let lines_generated = optional("lines_generated");
        let status = optional("status");
        let error = optional("error");
        let commit = optional("commit");
        let (timestamp, timestamp_format) = self.read_timestamp(&mut fields);
        let duration_seconds = self.read_with_unit(&mut fields, "duration_seconds");
        let cost_usd = self.read_with_unit(&mut fields, "cost_usd");
        let agent = self.read_optional_or_set(&mut fields, "agent");
        let suite_version = self.read_optional_or_set(&mut fields, "suite_version");
        check_names(
            &mut fields,
            "status",
            status.as_ref(),
            &RunStatus::ALL.map(RunStatus::name),
        );
        let counts = self.read_counts(&mut fields);
        let counted = fields.one_of("counted", &ItemKind::ALL.map(|kind| (kind.name(), kind)));
        if counted.is_some() && fields.child("total").is_none() {
            fields.reject(
                "counted",
                "`counted` is given without `total`: it says what is counted",
                None,
            );
        }
        if rows == Some(MapRowKind::Items) && counts.is_some() {
            fields.reject(
                "total",
                "`run.total` has no place where the rows are items",
                Some("passed and total are counted from them".to_owned()),
            );
        }
        let mut tags = BTreeMap::new();
        let path = fields.path_of("tags");
        for (key, node) in fields.entries_of("tags") {
            let file = fields.file();
            if let Some(field) = self.read_field(
                file,
                node,
                &format!("{path}.{}", key.text),
                ColumnNeed::Optional,
                fields.problems(),
                &mut |_| {},
            ) {
                tags.insert(key.text.clone(), field);
            }
        }
        let set = self
            .set
            .iter()
            .filter_map(|(key, text)| Some((key.strip_prefix("tags.")?, text)));
        tags.extend(
            set.map(|(key, text)| (key.to_owned(), MappedField::from_constant(text.trim()))),
        );
        fields.finish();
        Some(RunFieldMap {
            suite: suite?,
            approach: approach?,
            model: model?,
            index,
            identity,
            timestamp,
            timestamp_format,
            duration_seconds,
            total_calls,
            input_tokens,
            output_tokens,
            total_tokens,
            cost_usd,
            files_generated,
            lines_generated,
            counts,
            counted,
            status,
            error,
            agent,
            suite_version,
            commit,
            tags,
        })
    }

    fn read_item_fields(&mut self, mut fields: Fields<'_, '_>) -> Option<ItemFieldMap> {
        let id = self.read_required(&mut fields, "id");
        let kind = self.read_required(&mut fields, "kind");
        check_names(
            &mut fields,
            "kind",
            kind.as_ref(),
            &ItemKind::ALL.map(ItemKind::name),
        );
        let evaluator = self
            .read_optional(&mut fields, "evaluator")
            .unwrap_or_else(|| MappedField::from_constant("import"));
        let cluster = self.read_optional(&mut fields, "cluster");
        let category = self.read_optional(&mut fields, "category");
        let attempt = self.read_attempt(&mut fields);
        let status = self.read_status(&mut fields);
        let score = self.read_item_score(&mut fields);
        let scores = self.read_further_scores(&mut fields);
        let duration_seconds = self.read_with_unit(&mut fields, "duration_seconds");
        let cost_usd = self.read_with_unit(&mut fields, "cost_usd");
        let mut optional = |key: &str| self.read_optional(&mut fields, key);
        let input_tokens = optional("input_tokens");
        let output_tokens = optional("output_tokens");
        let texts = ItemTextFields {
            question: optional("question"),
            answer: optional("answer"),
            expected: optional("expected"),
            reason: optional("reason"),
        };
        fields.finish();
        Some(ItemFieldMap {
            id: id?,
            kind: kind?,
            evaluator,
            cluster,
            category,
            attempt: attempt?,
            status: status?,
            score,
            scores,
            duration_seconds,
            cost_usd,
            input_tokens,
            output_tokens,
            texts,
        })
    }

    fn read_optional_or_set(
        &mut self,
        fields: &mut Fields<'_, '_>,
        key: &str,
    ) -> Option<MappedField> {
        if self.set.contains_key(key) {
            self.read_settable(fields, key)
        } else {
            self.read_optional(fields, key)
        }
    }

    fn read_attempt(&mut self, fields: &mut Fields<'_, '_>) -> Option<AttemptField> {
        let Some(node) = fields.child("attempt") else {
            return Some(AttemptField::Only);
        };
        if node.get("occurrence").is_some() {
            let mut inner = fields.fields("attempt")?;
            let is_on = inner.boolean("occurrence");
            inner.finish();
            return is_on.map(|is_on| {
                if is_on {
                    AttemptField::Occurrence
                } else {
                    AttemptField::Only
                }
            });
        }
        self.read_counter(fields, "attempt", ColumnNeed::Essential)
            .map(AttemptField::Counted)
    }

    fn read_status(&mut self, fields: &mut Fields<'_, '_>) -> Option<StatusField> {
        let Some(node) = fields.child("status") else {
            if fields.child("score").is_some() {
                return Some(StatusField::Scored);
            }
            fields.reject_missing("status");
            return None;
        };
        let (file, path) = (fields.file(), fields.path_of("status"));
        let Some(ended) = node.get("unless") else {
            return self.read_plain_status(node, fields);
        };
        let ended = self.read_field(
            file,
            ended,
            &format!("{path}.unless"),
            ColumnNeed::Essential,
            fields.problems(),
            &mut |_| {},
        );
        check_names(
            fields,
            "status.unless",
            ended.as_ref(),
            &ItemStatus::ALL.map(ItemStatus::name),
        );
        let otherwise = Box::new(self.read_plain_status(node, fields)?);
        Some(StatusField::Unless {
            ended: ended?,
            otherwise,
        })
    }

    /// Reads a status without its `unless`.
    fn read_plain_status(
        &mut self,
        node: &Node,
        fields: &mut Fields<'_, '_>,
    ) -> Option<StatusField> {
        if node.get("equal").is_some() {
            let mut inner = fields.fields("status")?;
            inner.mark_used("unless");
            let columns = inner.texts("equal");
            let path = inner.path_of("equal");
            let found = if let [expected, given] = columns.as_slice() {
                let expected = self.column_field(expected, &path, ColumnNeed::Essential);
                let given = self.column_field(given, &path, ColumnNeed::Essential);
                Some(StatusField::Equal { expected, given })
            } else {
                inner.reject(
                    "equal",
                    format!(
                        "{} must be two columns: what was expected, and what was given",
                        quote_text(&path)
                    ),
                    None,
                );
                None
            };
            inner.finish();
            return found;
        }
        let mut bound = None;
        let (file, path) = (fields.file(), fields.path_of("status"));
        let field = self.read_field(
            file,
            node,
            &path,
            ColumnNeed::Essential,
            fields.problems(),
            &mut |inner| {
                inner.mark_used("unless");
                bound = inner.number("pass_at_least");
            },
        )?;
        if let Some(bound) = bound {
            return Some(StatusField::AtLeast { field, bound });
        }
        check_names(
            fields,
            "status",
            Some(&field),
            &ItemStatus::ALL.map(ItemStatus::name),
        );
        Some(StatusField::Named(field))
    }

    fn read_item_score(&mut self, fields: &mut Fields<'_, '_>) -> Option<ItemScoreField> {
        let node = fields.child("score")?;
        let (mut metric, mut unit, mut direction, mut range) = (None, None, None, None);
        let (file, path) = (fields.file(), fields.path_of("score"));
        let field = self.read_field(
            file,
            node,
            &path,
            ColumnNeed::Optional,
            fields.problems(),
            &mut |inner| {
                metric = inner.text("metric");
                unit = read_unit(inner);
                direction = read_direction(inner);
                range = read_bounds(inner);
            },
        )?;
        Some(ItemScoreField {
            field,
            metric: metric.unwrap_or_else(|| "score".to_owned()),
            unit: unit.unwrap_or(SourceUnit {
                unit: Unit::Number,
                divisor: 1.0,
            }),
            direction: direction.unwrap_or(Direction::Up),
            range,
        })
    }

    fn read_score(&mut self, metric: &str, mut fields: Fields<'_, '_>) -> Option<ScoreField> {
        let value = self.read_needed(&mut fields, "value", ColumnNeed::Optional);
        let unit = read_unit(&mut fields);
        if fields.child("unit").is_none() {
            fields.reject_missing("unit");
        }
        let direction = read_direction(&mut fields);
        if fields.child("direction").is_none() {
            fields.reject_missing("direction");
        }
        let range = read_bounds(&mut fields);
        let n = self.read_optional(&mut fields, "n");
        let standard_error = self.read_optional(&mut fields, "standard_error");
        let unless = self.read_optional(&mut fields, "unless");
        fields.finish();
        Some(ScoreField {
            metric: metric.to_owned(),
            value: value?,
            unit: unit?,
            direction: direction?,
            range,
            n,
            standard_error,
            unless,
        })
    }

    fn read_published_figure(
        &mut self,
        name: &str,
        mut fields: Fields<'_, '_>,
    ) -> Option<PublishedFigureField> {
        let value = self.read_needed(&mut fields, "value", ColumnNeed::Optional);
        let unit = read_unit(&mut fields);
        if fields.child("unit").is_none() {
            fields.reject_missing("unit");
        }
        let counts = self.read_counts(&mut fields);
        if counts.is_some() && unit.is_some_and(|unit| unit.unit != Unit::Fraction) {
            fields.reject(
                "unit",
                "passed of total is a share: `unit` must be `percent` or `fraction`",
                None,
            );
        }
        let decimals = fields
            .unsigned("decimals")
            .map(|digits| u32::try_from(digits.min(30)).unwrap_or(30));
        fields.finish();
        Some(PublishedFigureField {
            name: name.to_owned(),
            value: value?,
            unit: unit?,
            counts,
            decimals,
        })
    }

    fn read_counts(&mut self, fields: &mut Fields<'_, '_>) -> Option<CountFields> {
        let passed = self.read_optional(fields, "passed");
        let failed = self.read_optional(fields, "failed");
        let total = self.read_optional(fields, "total");
        let part = match (passed, failed) {
            (Some(_), Some(_)) => {
                fields.reject(
                    "failed",
                    "`passed` and `failed` are both given; one of them is enough",
                    None,
                );
                return None;
            }
            (Some(passed), None) => CountedPart::Passed(passed),
            (None, Some(failed)) => CountedPart::Failed(failed),
            (None, None) if total.is_some() => {
                fields.reject(
                    "total",
                    "`total` is given without `passed` or `failed`",
                    None,
                );
                return None;
            }
            (None, None) => return None,
        };
        if total.is_none() {
            fields.reject_missing("total");
        }
        Some(CountFields {
            part,
            total: total?,
        })
    }

    fn read_identity(&mut self, fields: &mut Fields<'_, '_>) -> Vec<MappedField> {
        let path = fields.path_of("identity");
        let file = fields.file();
        let nodes = fields.list("identity").unwrap_or_default();
        let mut identity = Vec::new();
        for (index, node) in nodes.iter().enumerate() {
            identity.extend(self.read_field(
                file,
                node,
                &format!("{path}[{index}]"),
                ColumnNeed::Essential,
                fields.problems(),
                &mut |_| {},
            ));
        }
        identity
    }

    /// Reads a field that the command line may replace.
    fn read_settable(&mut self, fields: &mut Fields<'_, '_>, key: &str) -> Option<MappedField> {
        match self.set.get(key) {
            Some(text) => {
                fields.mark_used(key);
                if text.trim().is_empty() {
                    fields.reject(key, format!("{} is set to nothing", quote_text(key)), None);
                }
                Some(MappedField::from_constant(text.trim()))
            }
            None => self.read_required(fields, key),
        }
    }

    fn read_required(&mut self, fields: &mut Fields<'_, '_>, key: &str) -> Option<MappedField> {
        self.read_needed(fields, key, ColumnNeed::Essential)
    }

    /// Reads a required field. `need` tells whether a source may lack its columns.
    fn read_needed(
        &mut self,
        fields: &mut Fields<'_, '_>,
        key: &str,
        need: ColumnNeed,
    ) -> Option<MappedField> {
        let Some(node) = fields.child(key) else {
            fields.reject_missing(key);
            return None;
        };
        let (file, path) = (fields.file(), fields.path_of(key));
        self.read_field(file, node, &path, need, fields.problems(), &mut |_| {})
    }

    fn read_optional(&mut self, fields: &mut Fields<'_, '_>, key: &str) -> Option<MappedField> {
        let node = fields.child(key)?;
        let (file, path) = (fields.file(), fields.path_of(key));
        self.read_field(
            file,
            node,
            &path,
            ColumnNeed::Optional,
            fields.problems(),
            &mut |_| {},
        )
    }

    fn read_counter(
        &mut self,
        fields: &mut Fields<'_, '_>,
        key: &str,
        need: ColumnNeed,
    ) -> Option<CounterField> {
        let node = fields.child(key)?;
        let (file, path) = (fields.file(), fields.path_of(key));
        let mut base = None;
        let field = self.read_field(file, node, &path, need, fields.problems(), &mut |inner| {
            base = inner.unsigned("base");
        })?;
        Some(CounterField {
            field,
            base: base.unwrap_or(1),
        })
    }

    fn column_origin(&mut self, name: &str, path: &str, need: ColumnNeed) -> ValueOrigin {
        ValueOrigin::Column(self.column_slot(name, path, need))
    }

    pub(super) fn column_slot(&mut self, name: &str, path: &str, need: ColumnNeed) -> usize {
        let slot = self
            .columns
            .iter()
            .position(|column| column.name == name)
            .unwrap_or_else(|| {
                self.columns.push(MapColumn {
                    name: name.to_owned(),
                    is_essential: false,
                    fields: Vec::new(),
                });
                self.columns.len() - 1
            });
        self.columns[slot].is_essential |= need == ColumnNeed::Essential;
        self.columns[slot].fields.push(path.to_owned());
        slot
    }

    fn column_field(&mut self, name: &str, path: &str, need: ColumnNeed) -> MappedField {
        MappedField::new(
            quote_text(name),
            FieldRule::Cell(self.column_origin(name, path, need)),
        )
    }

    /// Reads how a field is filled. `more` reads the keys that only this field has.
    pub(super) fn read_field(
        &mut self,
        file: &str,
        node: &Node,
        path: &str,
        need: ColumnNeed,
        problems: &mut Vec<Problem>,
        more: &mut dyn FnMut(&mut Fields<'_, '_>),
    ) -> Option<MappedField> {
        match &node.value {
            Value::Scalar(scalar)
                if scalar.kind == ScalarKind::Text && !scalar.text.trim().is_empty() =>
            {
                Some(self.column_field(&scalar.text, path, need))
            }
            Value::Scalar(scalar) => {
                let message = format!(
                    "{} must be the name of a column, not {}",
                    quote_text(path),
                    quote_text(&scalar.text)
                );
                let hint = format!(
                    "write \"{0}\" for the column, or {{constant: \"{0}\"}} for the text",
                    escape_invisible(&scalar.text)
                );
                problems.push(
                    Problem::at_position(file, node.line, node.column, message).with_hint(hint),
                );
                None
            }
            Value::List(_) => {
                // Each part of the list gets the same checks as any list of texts.
                let parts = read_joined_columns(file, node, path, problems)?;
                let label = parts
                    .iter()
                    .map(|part| quote_text(part))
                    .collect::<Vec<_>>()
                    .join("/");
                let origins = parts
                    .iter()
                    .map(|part| self.column_origin(part, path, need))
                    .collect();
                Some(MappedField::new(label, FieldRule::Joined(origins)))
            }
            Value::Map(_) => {
                let mut fields = Fields::new(file, node, path, problems)?;
                let field = self.read_field_map(&mut fields, path, need);
                more(&mut fields);
                fields.finish();
                field
            }
        }
    }

    fn read_field_map(
        &mut self,
        fields: &mut Fields<'_, '_>,
        path: &str,
        need: ColumnNeed,
    ) -> Option<MappedField> {
        let found: Vec<&str> = [
            "constant",
            "column",
            "source",
            "regex",
            "sum",
            "difference",
            "ratio",
        ]
        .into_iter()
        .filter(|key| fields.child(key).is_some())
        .collect();
        let &[first] = found.as_slice() else {
            let what = if found.is_empty() {
                "none of them is".to_owned()
            } else {
                format!("{} are", found.join(" and "))
            };
            fields.reject(
                "",
                format!(
                    "{} must have one of `column`, `constant`, `source`, `regex`, `sum`, `difference` and `ratio`; {what} there",
                    quote_text(path)
                ),
                None,
            );
            return None;
        };
        match first {
            "constant" => {
                let text = fields.text("constant")?;
                if text.trim().is_empty() {
                    fields.reject(
                        "constant",
                        format!("{} is empty", quote_text(&fields.path_of("constant"))),
                        None,
                    );
                }
                Some(MappedField::from_constant(text.trim()))
            }
            "sum" | "difference" | "ratio" => {
                let columns = fields.texts(first);
                let label = columns
                    .iter()
                    .map(|column| quote_text(column))
                    .collect::<Vec<_>>()
                    .join(match first {
                        "sum" => " + ",
                        "ratio" => " / ",
                        _ => " - ",
                    });
                let origins: Vec<ValueOrigin> = columns
                    .iter()
                    .map(|column| self.column_origin(column, path, need))
                    .collect();
                let rule = match (first, origins.as_slice()) {
                    ("difference", &[from, less]) => FieldRule::Difference(from, less),
                    ("ratio", &[part]) => FieldRule::Ratio(part, None),
                    ("ratio", &[part, whole]) => FieldRule::Ratio(part, Some(whole)),
                    ("ratio", _) => {
                        let path = quote_text(&fields.path_of("ratio"));
                        fields.reject(
                            "ratio",
                            format!("{path} must be two columns, or one with cells such as 3/4"),
                            None,
                        );
                        return None;
                    }
                    ("difference", _) => {
                        fields.reject(
                            "difference",
                            format!(
                                "{} must be two columns: the first less the second",
                                quote_text(&fields.path_of("difference"))
                            ),
                            None,
                        );
                        return None;
                    }
                    (_, []) => {
                        fields.reject(
                            "sum",
                            format!(
                                "{} must be a list of columns",
                                quote_text(&fields.path_of("sum"))
                            ),
                            None,
                        );
                        return None;
                    }
                    _ => FieldRule::Sum(origins),
                };
                Some(MappedField {
                    scale: read_scale(fields),
                    ..MappedField::new(label, rule)
                })
            }
            "regex" => {
                let mut inner = fields.fields("regex")?;
                let origin = self.read_origin(&mut inner, path, need);
                let pattern = inner.required_text("pattern");
                let compiled = pattern.and_then(|pattern| match Regex::new(&pattern) {
                    Ok(regex) => Some(regex),
                    Err(error) => {
                        let text = error.to_string();
                        let last = text
                            .lines()
                            .last()
                            .unwrap_or_default()
                            .trim_start_matches("error: ");
                        let message = format!(
                            "{} is not a valid pattern: {}",
                            quote_text(&inner.path_of("pattern")),
                            escape_invisible(last)
                        );
                        inner.reject("pattern", message, None);
                        None
                    }
                });
                let group = inner
                    .unsigned("group")
                    .and_then(|group| usize::try_from(group).ok());
                let group = compiled.as_ref().and_then(|regex| {
                    let group = group.unwrap_or(1.min(regex.captures_len() - 1));
                    if group >= regex.captures_len() {
                        let message = format!(
                            "the pattern has no group {group}, only {}",
                            regex.captures_len() - 1
                        );
                        inner.reject("group", message, None);
                        return None;
                    }
                    Some(group)
                });
                inner.finish();
                let (label, origin) = origin?;
                Some(MappedField::new(
                    label,
                    FieldRule::Regex {
                        origin,
                        pattern: compiled?,
                        group: group?,
                    },
                ))
            }
            _ => {
                let (label, origin) = self.read_origin(fields, path, need)?;
                let has_values = fields.child("values").is_some();
                let values = read_value_map(fields);
                let otherwise = read_otherwise(fields);
                if !has_values && otherwise.is_some() {
                    fields.reject(
                        "otherwise",
                        format!(
                            "{} needs `values`",
                            quote_text(&fields.path_of("otherwise"))
                        ),
                        None,
                    );
                }
                let rule = if has_values {
                    FieldRule::Values {
                        origin,
                        values,
                        otherwise: otherwise.unwrap_or(UnlistedValuePolicy::Refuse),
                    }
                } else {
                    FieldRule::Cell(origin)
                };
                Some(MappedField {
                    scale: read_scale(fields),
                    ..MappedField::new(label, rule)
                })
            }
        }
    }

    /// Reads `column: name` or `source: file | member`.
    fn read_origin(
        &mut self,
        fields: &mut Fields<'_, '_>,
        path: &str,
        need: ColumnNeed,
    ) -> Option<(String, ValueOrigin)> {
        if fields.child("source").is_some() {
            let origin = fields.one_of(
                "source",
                &[
                    ("file", ValueOrigin::File),
                    ("member", ValueOrigin::Member),
                    ("row", ValueOrigin::Row),
                ],
            )?;
            self.reads_file_name |= origin != ValueOrigin::Row;
            let label = match origin {
                ValueOrigin::File => "the file name",
                ValueOrigin::Member => "the member's name",
                ValueOrigin::Row | ValueOrigin::Column(_) => "the number of the row",
            };
            return Some((label.to_owned(), origin));
        }
        let name = fields.required_text("column")?;
        Some((quote_text(&name), self.column_origin(&name, path, need)))
    }
}

/// Reads the factors of a scaled number.
fn read_scale(fields: &mut Fields<'_, '_>) -> UnitScale {
    let mut factor = |key: &str| match fields.number(key) {
        Some(factor) if factor > 0.0 => factor,
        Some(_) => {
            fields.reject(
                key,
                format!("{} must be more than 0", quote_text(&fields.path_of(key))),
                None,
            );
            1.0
        }
        None => 1.0,
    };
    UnitScale {
        multiply: factor("multiply"),
        divide: factor("divide"),
        ..UnitScale::NONE
    }
}

fn read_joined_columns(
    file: &str,
    node: &Node,
    path: &str,
    problems: &mut Vec<Problem>,
) -> Option<Vec<String>> {
    let Value::List(items) = &node.value else {
        return None;
    };
    let mut names = Vec::new();
    for item in items {
        match &item.value {
            Value::Scalar(scalar)
                if scalar.kind == ScalarKind::Text && !scalar.text.trim().is_empty() =>
            {
                names.push(scalar.text.clone());
            }
            Value::Scalar(_) | Value::List(_) | Value::Map(_) => {
                let message = format!(
                    "{} must be a list of columns, but has {} in it",
                    quote_text(path),
                    item.kind_noun()
                );
                problems.push(Problem::at_position(file, item.line, item.column, message));
            }
        }
    }
    if items.is_empty() {
        problems.push(Problem::at_position(
            file,
            node.line,
            node.column,
            format!("{} is an empty list", quote_text(path)),
        ));
    }
    (!names.is_empty() && names.len() == items.len()).then_some(names)
}

fn read_value_map(fields: &mut Fields<'_, '_>) -> Vec<(String, Option<String>)> {
    let path = fields.path_of("values");
    let mut values = Vec::new();
    for (key, node) in fields.entries_of("values") {
        if node.is_null() {
            values.push((key.text.clone(), None));
        } else if let Some(text) = fields.text_of(node, &format!("{path}.{}", key.text)) {
            values.push((key.text.clone(), Some(text)));
        }
    }
    values
}

fn read_otherwise(fields: &mut Fields<'_, '_>) -> Option<UnlistedValuePolicy> {
    let node = fields.child("otherwise")?;
    if let Value::Map(_) = node.value {
        let mut inner = fields.fields("otherwise")?;
        let text = inner.required_text("constant");
        inner.finish();
        return text.map(UnlistedValuePolicy::Constant);
    }
    let words = [
        ("refuse", &UnlistedValuePolicy::Refuse),
        ("keep", &UnlistedValuePolicy::Keep),
        ("missing", &UnlistedValuePolicy::Missing),
    ];
    fields.one_of("otherwise", &words).cloned()
}

fn read_unit(fields: &mut Fields<'_, '_>) -> Option<SourceUnit> {
    let plain = |unit: Unit| (unit.name(), SourceUnit { unit, divisor: 1.0 });
    let mut choices = vec![(
        "percent",
        SourceUnit {
            unit: Unit::Fraction,
            divisor: 100.0,
        },
    )];
    choices.extend(Unit::ALL.map(plain));
    fields.one_of("unit", &choices)
}

/// Reads the least and the greatest possible score.
fn read_bounds(fields: &mut Fields<'_, '_>) -> Option<ScoreBounds> {
    let nodes = fields.list("range")?;
    let number = |node: &Node| match &node.value {
        Value::Scalar(scalar) => scalar
            .text
            .parse::<f64>()
            .ok()
            .filter(|number| number.is_finite()),
        Value::List(_) | Value::Map(_) => None,
    };
    match nodes.iter().map(number).collect::<Vec<_>>().as_slice() {
        [Some(least), Some(most)] if least < most => Some(ScoreBounds {
            least: *least,
            most: *most,
        }),
        _ => {
            let message = format!(
                "{} must be two numbers: the least and the most that there can be",
                quote_text(&fields.path_of("range"))
            );
            fields.reject("range", message, None);
            None
        }
    }
}

fn read_direction(fields: &mut Fields<'_, '_>) -> Option<Direction> {
    fields.one_of(
        "direction",
        &Direction::ALL.map(|direction| (direction.name(), direction)),
    )
}

/// Checks the names that the map itself supplies for a closed set. `key` may lead into the entry: `status.unless`.
fn check_names(
    fields: &mut Fields<'_, '_>,
    key: &str,
    field: Option<&MappedField>,
    names: &[&str],
) {
    let Some(field) = field else { return };
    for text in field.constant_texts() {
        if !names.contains(&text) {
            let message = format!(
                "{} must give one of {}, not {}",
                quote_text(&fields.path_of(key)),
                names.join(", "),
                quote_text(text)
            );
            fields.reject(
                key.split('.').next().unwrap_or(key),
                message,
                nearest_hint(text, names.iter().copied()),
            );
        }
    }
}
