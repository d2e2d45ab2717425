//! Settings of graders. Every fault is found here, before anybody is asked.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::choice::ChoiceGrader;
use crate::contains::ContainsGrader;
use crate::document::{Fields, Node, Scalar, ScalarKind, Value, ValueForm, quote_text};
use crate::domain::Problem;
use crate::exact::ExactGrader;
use crate::final_answer::AnswerPlace;
use crate::grader::{Grader, GraderKind};
use crate::json::{
    ExtraKeys, FieldDemand, JsonEquality, JsonGrader, JsonNumber, JsonPath, JsonSchema, JsonValue,
};
use crate::number::{
    Magnitude, NumberGrader, NumberMark, Rational, RightNumber, TakenValue, UnitDemand,
};
use crate::pattern::{PatternGrader, compile_pattern};
use crate::text_form::TextForm;

/// The kinds, each with its keys beside [`COMMON_KEYS`].
const KINDS: [(&str, &[&str]); 6] = [
    (
        "exact",
        &["expected", "ignore_case", "normalize", "strip_accents"],
    ),
    (
        "number",
        &[
            "expected",
            "min",
            "max",
            "tolerance",
            "decimal",
            "unit",
            "units",
            "unit_required",
            "take",
        ],
    ),
    (
        "contains",
        &[
            "expected",
            "all_of",
            "any_of",
            "none_of",
            "words",
            "ignore_case",
            "normalize",
            "strip_accents",
            "options",
            "scope",
        ],
    ),
    (
        "regex",
        &[
            "pattern",
            "expected",
            "group",
            "full_match",
            "ignore_case",
            "normalize",
            "strip_accents",
            "scope",
        ],
    ),
    (
        "json",
        &[
            "expected",
            "fields",
            "schema",
            "lenient",
            "extra",
            "unordered",
            "scope",
        ],
    ),
    ("choice", &["expected", "options", "multiple", "take"]),
];
const COMMON_KEYS: [&str; 4] = ["kind", "labels", "require_marker", "final_line_only"];
/// Plain words that other readers of YAML take for booleans.
const BOOLEAN_WORDS: [&str; 6] = ["y", "n", "yes", "no", "on", "off"];
/// Deepest nesting of graders in fields of JSON.
const MAX_NESTED: usize = 8;

/// Reads the grader at `key`. Faults become problems with their places. `None` if there is none or it has faults.
pub fn read_grader(fields: &mut Fields<'_, '_>, key: &str) -> Option<Grader> {
    let node = fields.child(key);
    let inner = fields.fields(key)?;
    read_fields(inner, node, 0)
}

/// Keys with values of a simple type.
#[expect(clippy::struct_excessive_bools, reason = "each is a key of its own")]
struct SimpleKeys {
    form: TextForm,
    place: AnswerPlace,
    is_final: bool,
    taken: Option<TakenValue>,
    decimal: NumberMark,
    words: bool,
    full_match: bool,
    unit_required: bool,
    is_multiple: bool,
    is_lenient: bool,
    equality: JsonEquality,
    pattern: Option<String>,
}

impl SimpleKeys {
    fn read(fields: &mut Fields<'_, '_>) -> Self {
        let mut is_on = |key: &str, default: bool| fields.boolean(key).unwrap_or(default);
        let (final_line_only, require_marker) = (
            is_on("final_line_only", false),
            is_on("require_marker", false),
        );
        let (words, full_match) = (is_on("words", true), is_on("full_match", false));
        let (unit_required, is_multiple) =
            (is_on("unit_required", false), is_on("multiple", false));
        let (is_lenient, is_unordered) = (is_on("lenient", false), is_on("unordered", false));
        let (ignore_case, strip_accents) =
            (is_on("ignore_case", false), is_on("strip_accents", false));
        let compatible = fields
            .one_of("normalize", &[("nfc", false), ("nfkc", true)])
            .unwrap_or(false);
        let extra = fields
            .one_of(
                "extra",
                &[("allow", ExtraKeys::Allow), ("refuse", ExtraKeys::Refuse)],
            )
            .unwrap_or_default();
        let taken = fields.one_of(
            "take",
            &[("first", TakenValue::First), ("last", TakenValue::Last)],
        );
        let marks = [
            (".", NumberMark::Point),
            (",", NumberMark::Comma),
            ("any", NumberMark::Any),
        ];
        let labels = fields.texts("labels");
        Self {
            form: TextForm {
                ignore_case,
                compatible,
                strip_accents,
            },
            place: AnswerPlace::new(final_line_only, require_marker, &labels),
            is_final: fields
                .one_of("scope", &[("final", true), ("reply", false)])
                .unwrap_or(false),
            taken,
            decimal: fields.one_of("decimal", &marks).unwrap_or_default(),
            words,
            full_match,
            unit_required,
            is_multiple,
            is_lenient,
            equality: JsonEquality {
                extra,
                is_unordered,
            },
            pattern: fields.text("pattern"),
        }
    }

    fn scope(&self) -> Option<AnswerPlace> {
        self.is_final.then(|| self.place.clone())
    }
}

fn read_fields(mut fields: Fields<'_, '_>, node: Option<&Node>, depth: usize) -> Option<Grader> {
    let before = fields.problems().len();
    let names: Vec<(&str, &str)> = KINDS.iter().map(|(name, _)| (*name, *name)).collect();
    let kind = fields.one_of("kind", &names);
    fields.note_required("kind");
    if kind.is_none() && node.is_some_and(|node| node.get("kind").is_none()) {
        fields.reject_missing("kind");
    }
    let keys = SimpleKeys::read(&mut fields);
    note_other_keys(&mut fields);
    if let (Some(kind), Some(node)) = (kind, node) {
        refuse_foreign_keys(&mut fields, node, kind);
    }
    let whole = match (kind, node) {
        (Some(kind), Some(node)) => read_kind(&mut fields, node, kind, &keys, depth),
        _ => None,
    };
    let is_sound = fields.problems().len() == before;
    fields.finish();
    let (kind, expected) = whole.filter(|_| is_sound)?;
    Some(Grader {
        kind,
        settings: node.map(write_settings).unwrap_or_default(),
        expected,
    })
}

/// Notes the keys whose values have several types.
fn note_other_keys(fields: &mut Fields<'_, '_>) {
    let number = || ValueForm::OneOf(vec![ValueForm::Number, ValueForm::Filled]);
    let texts = || {
        ValueForm::OneOf(vec![
            ValueForm::Filled,
            ValueForm::list_of(ValueForm::Filled),
        ])
    };
    for key in ["min", "max", "tolerance"] {
        fields.note_form(key, number);
        fields.mark_used(key);
    }
    for key in ["all_of", "any_of", "none_of", "unit"] {
        fields.note_form(key, texts);
        fields.mark_used(key);
    }
    fields.note_form("units", || ValueForm::map_of(number()));
    fields.note_form("fields", || ValueForm::map_of(ValueForm::Any));
    fields.note_form("options", || {
        ValueForm::OneOf(vec![
            ValueForm::map_of(ValueForm::Any),
            ValueForm::list_of(ValueForm::Filled),
        ])
    });
    fields.note_form("group", || {
        ValueForm::OneOf(vec![ValueForm::Unsigned, ValueForm::Filled])
    });
    for key in ["expected", "schema"] {
        fields.note_form(key, || ValueForm::Any);
    }
    for key in ["units", "fields", "options", "group", "expected", "schema"] {
        fields.mark_used(key);
    }
}

fn refuse_foreign_keys(fields: &mut Fields<'_, '_>, node: &Node, kind: &str) {
    let Some((_, own)) = KINDS.iter().find(|(name, _)| *name == kind) else {
        return;
    };
    let Value::Map(entries) = &node.value else {
        return;
    };
    let is_known = |key: &str| KINDS.iter().any(|(_, keys)| keys.contains(&key));
    for (key, _) in entries {
        if is_known(&key.text) && !own.contains(&key.text.as_str()) {
            let problem = Problem::at_position(
                fields.file(),
                key.line,
                key.column,
                format!(
                    "{} is no key of the grader `{kind}`",
                    quote_text(&fields.path_of(&key.text))
                ),
            );
            let mut known: Vec<&str> = own.iter().chain(&COMMON_KEYS).copied().collect();
            known.sort_unstable();
            fields
                .problems()
                .push(problem.with_hint(format!("its keys: {}", known.join(", "))));
        }
    }
}

type ReadKind = (GraderKind, Vec<String>);

fn read_kind(
    fields: &mut Fields<'_, '_>,
    node: &Node,
    kind: &str,
    keys: &SimpleKeys,
    depth: usize,
) -> Option<ReadKind> {
    match kind {
        "exact" => {
            let expected = required_texts(fields, node, "expected")?;
            let grader = ExactGrader {
                expected: expected.clone(),
                form: keys.form,
                place: keys.place.clone(),
            };
            Some((GraderKind::Exact(grader), expected))
        }
        "number" => read_number(fields, node, keys),
        "contains" => read_contains(fields, node, keys),
        "regex" => read_regex(fields, node, keys),
        "json" => read_json(fields, node, keys, depth),
        "choice" => read_choice(fields, node, keys),
        _ => None,
    }
}

fn reject(fields: &mut Fields<'_, '_>, node: &Node, message: String, hint: Option<String>) {
    let problem = Problem::at_position(fields.file(), node.line, node.column, message);
    fields.problems().push(match hint {
        Some(hint) => problem.with_hint(hint),
        None => problem,
    });
}

/// Reads a text or a list of texts. Values that YAML takes for something else, and blank ones, are problems.
fn read_texts(fields: &mut Fields<'_, '_>, node: &Node, key: &str) -> Vec<String> {
    let Some(value) = node.get(key) else {
        return Vec::new();
    };
    let path = fields.path_of(key);
    let items: Vec<(&Node, String)> = match &value.value {
        Value::List(items) => items
            .iter()
            .enumerate()
            .map(|(index, item)| (item, format!("{path}[{index}]")))
            .collect(),
        Value::Scalar(_) | Value::Map(_) => vec![(value, path.clone())],
    };
    if items.is_empty() {
        reject(
            fields,
            value,
            format!("{} is empty", quote_text(&path)),
            None,
        );
    }
    let mut texts = Vec::new();
    for (item, path) in items {
        match &item.value {
            Value::Scalar(scalar) if is_text(scalar) => {
                if scalar.text.trim().is_empty() {
                    reject(
                        fields,
                        item,
                        format!("{} is empty", quote_text(&path)),
                        None,
                    );
                }
                texts.push(scalar.text.clone());
            }
            Value::Scalar(scalar) => reject(
                fields,
                item,
                format!(
                    "{} must be text in quotes, not {}",
                    quote_text(&path),
                    quote_text(&scalar.text)
                ),
                Some(format!("write \"{}\"", scalar.text)),
            ),
            Value::List(_) | Value::Map(_) => reject(
                fields,
                item,
                format!(
                    "{} must be text, not {}",
                    quote_text(&path),
                    item.kind_noun()
                ),
                None,
            ),
        }
    }
    texts
}

fn required_texts(fields: &mut Fields<'_, '_>, node: &Node, key: &str) -> Option<Vec<String>> {
    if node.get(key).is_none() {
        fields.reject_missing(key);
        return None;
    }
    Some(read_texts(fields, node, key))
}

/// Says whether the value is text for every reader of YAML.
fn is_text(scalar: &Scalar) -> bool {
    let is_boolean_word = || BOOLEAN_WORDS.contains(&scalar.text.to_lowercase().as_str());
    scalar.kind == ScalarKind::Text && !(scalar.is_plain && is_boolean_word())
}

/// Reads a number exactly as it is written.
fn read_rational(fields: &mut Fields<'_, '_>, node: &Node, key: &str) -> Option<Rational> {
    let value = node.get(key)?;
    let number = match &value.value {
        Value::Scalar(scalar) => Rational::parse(scalar.text.trim()),
        Value::List(_) | Value::Map(_) => None,
    };
    if number.is_none() {
        let path = quote_text(&fields.path_of(key));
        reject(fields, value, format!("{path} must be a number"), None);
    }
    number
}

fn read_number(fields: &mut Fields<'_, '_>, node: &Node, keys: &SimpleKeys) -> Option<ReadKind> {
    let mut right = Vec::new();
    let mut shown = Vec::new();
    if let Some(value) = node.get("expected") {
        let expected = read_magnitude(fields, node)?;
        let tolerance = read_tolerance(fields, node, &expected)?;
        if let Value::Scalar(scalar) = &value.value {
            shown.push(scalar.text.clone());
        }
        right.push(RightNumber::Equal {
            expected,
            tolerance,
        });
    } else if let Some(tolerance) = node.get("tolerance") {
        reject(
            fields,
            tolerance,
            "`tolerance` needs `expected`".to_owned(),
            None,
        );
    }
    let (min, max) = (
        read_rational(fields, node, "min"),
        read_rational(fields, node, "max"),
    );
    if let (Some(min), Some(max)) = (&min, &max)
        && min > max
    {
        fields.reject("min", "`min` is above `max`", None);
    }
    if min.is_some() || max.is_some() {
        let text = |key| match node.get(key).map(|node| &node.value) {
            Some(Value::Scalar(scalar)) => scalar.text.clone(),
            _ => String::new(),
        };
        shown.push(format!("{}..{}", text("min"), text("max")));
        right.push(RightNumber::Within { min, max });
    }
    if right.is_empty() {
        fields.reject(
            "kind",
            "a grader `number` needs `expected`, `min` or `max`",
            None,
        );
        return None;
    }
    let grader = NumberGrader {
        right,
        decimal: keys.decimal,
        units: read_units(fields, node, keys)?,
        taken: keys.taken,
        place: keys.place.clone(),
    };
    Some((GraderKind::Number(Box::new(grader)), shown))
}

fn read_magnitude(fields: &mut Fields<'_, '_>, node: &Node) -> Option<Magnitude> {
    let text = match node.get("expected").map(|value| &value.value) {
        Some(Value::Scalar(scalar)) => scalar.text.trim().to_lowercase(),
        _ => String::new(),
    };
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(&text);
    if matches!(unsigned, "inf" | ".inf" | "infinity" | "\u{221e}") {
        let is_negative = text.starts_with('-');
        return Some(Magnitude::Infinite { is_negative });
    }
    if let Some((over, under)) = text.split_once('/') {
        let quotient = Rational::parse(over.trim())
            .zip(Rational::parse(under.trim()))
            .and_then(|(over, under)| Rational::quotient(&over, &under));
        if let Some(quotient) = quotient {
            return Some(Magnitude::Finite(quotient));
        }
    }
    read_rational(fields, node, "expected").map(Magnitude::Finite)
}

/// Reads a tolerance: an amount, or with `%` a share of the expected number.
fn read_tolerance(
    fields: &mut Fields<'_, '_>,
    node: &Node,
    expected: &Magnitude,
) -> Option<Rational> {
    let zero = Rational::from_integer(0.into());
    let Some(value) = node.get("tolerance") else {
        return Some(zero);
    };
    let text = match &value.value {
        Value::Scalar(scalar) => scalar.text.trim(),
        Value::List(_) | Value::Map(_) => "",
    };
    let amount = text.strip_suffix('%').unwrap_or(text).trim();
    let Some(amount) = Rational::parse(amount).filter(|amount| *amount >= zero) else {
        let hint = Some("write an amount such as 0.01, or a share such as \"1%\"".to_owned());
        reject(
            fields,
            value,
            "`tolerance` must be a number of at least 0".to_owned(),
            hint,
        );
        return None;
    };
    Some(match expected {
        Magnitude::Finite(expected) if text.ends_with('%') => {
            amount.times(&expected.clone().absolute()).scaled_by_ten(-2)
        }
        Magnitude::Finite(_) | Magnitude::Infinite { .. } => amount,
    })
}

fn read_units(fields: &mut Fields<'_, '_>, node: &Node, keys: &SimpleKeys) -> Option<UnitDemand> {
    let names = read_texts(fields, node, "unit");
    let Some(units) = node.get("units") else {
        if names.is_empty() && keys.unit_required {
            fields.reject(
                "unit_required",
                "`unit_required` needs `unit` or `units`",
                None,
            );
        }
        return Some(if names.is_empty() {
            UnitDemand::None
        } else {
            UnitDemand::Names {
                names,
                is_required: keys.unit_required,
            }
        });
    };
    if !names.is_empty() {
        fields.reject("units", "a grader has `unit` or `units`, not both", None);
        return None;
    }
    let Value::Map(entries) = &units.value else {
        reject(
            fields,
            units,
            format!(
                "`units` must be a map of names to factors, not {}",
                units.kind_noun()
            ),
            None,
        );
        return None;
    };
    let zero = Rational::from_integer(0.into());
    let mut factors = Vec::new();
    for (name, value) in entries {
        let factor = match &value.value {
            Value::Scalar(scalar) => {
                Rational::parse(scalar.text.trim()).filter(|factor| *factor > zero)
            }
            Value::List(_) | Value::Map(_) => None,
        };
        match factor {
            Some(_) if name.text.is_empty() && keys.unit_required => {
                reject(
                    fields,
                    value,
                    "`unit_required` refuses a number without unit, which `\"\"` allows".to_owned(),
                    None,
                );
            }
            Some(factor) => factors.push((name.text.clone(), factor)),
            None => reject(
                fields,
                value,
                format!(
                    "the factor of {} must be a number above 0",
                    quote_text(&name.text)
                ),
                None,
            ),
        }
    }
    if factors.is_empty() {
        reject(fields, units, "`units` is empty".to_owned(), None);
    }
    Some(UnitDemand::Factors(factors))
}

fn read_contains(fields: &mut Fields<'_, '_>, node: &Node, keys: &SimpleKeys) -> Option<ReadKind> {
    let mut all_of = read_texts(fields, node, "all_of");
    let mut any_of = read_texts(fields, node, "any_of");
    let expected = read_texts(fields, node, "expected");
    // Several expected phrases are different spellings of one.
    match expected.len() {
        0 | 1 => all_of.extend(expected.clone()),
        _ if any_of.is_empty() => any_of.clone_from(&expected),
        _ => fields.reject(
            "any_of",
            "a list in `expected` and `any_of` say the same; write one of them",
            None,
        ),
    }
    let none_of = read_texts(fields, node, "none_of");
    if all_of.is_empty() && any_of.is_empty() && none_of.is_empty() {
        fields.reject(
            "kind",
            "a grader `contains` needs `expected`, `all_of`, `any_of` or `none_of`",
            None,
        );
        return None;
    }
    let shown = all_of
        .iter()
        .chain(&any_of)
        .cloned()
        .chain(none_of.iter().map(|phrase| format!("not {phrase}")))
        .collect();
    let grader = ContainsGrader {
        all_of,
        any_of,
        none_of,
        options: read_texts(fields, node, "options"),
        words: keys.words,
        form: keys.form,
        scope: keys.scope(),
    };
    Some((GraderKind::Contains(grader), shown))
}

fn read_regex(fields: &mut Fields<'_, '_>, node: &Node, keys: &SimpleKeys) -> Option<ReadKind> {
    let Some(text) = &keys.pattern else {
        if node.get("pattern").is_none() {
            fields.reject_missing("pattern");
        }
        return None;
    };
    let pattern = match compile_pattern(text, keys.form.ignore_case, keys.full_match) {
        Ok(pattern) => pattern,
        Err(why) => {
            let hint =
                "patterns take linear time, so they have no look-around and no back-references"
                    .to_owned();
            fields.reject(
                "pattern",
                format!("cannot use the pattern {}: {why}", quote_text(text)),
                Some(hint),
            );
            return None;
        }
    };
    let expected = read_texts(fields, node, "expected");
    let group = read_group(fields, node, &pattern)?;
    if expected.is_empty() && node.get("group").is_some() {
        fields.reject("group", "`group` needs `expected`", None);
    }
    let shown = if expected.is_empty() {
        vec![text.clone()]
    } else {
        expected.clone()
    };
    let compared = (!expected.is_empty()).then(|| {
        let exact = ExactGrader {
            expected,
            form: keys.form,
            place: AnswerPlace::default(),
        };
        (group, exact)
    });
    let grader = PatternGrader {
        pattern,
        compared,
        scope: keys.scope(),
    };
    Some((GraderKind::Regex(Box::new(grader)), shown))
}

/// Returns the number of the group; 0 is the whole match.
fn read_group(fields: &mut Fields<'_, '_>, node: &Node, pattern: &regex::Regex) -> Option<usize> {
    let Some(value) = node.get("group") else {
        return Some(0);
    };
    let found = match &value.value {
        Value::Scalar(scalar) => match scalar.kind {
            ScalarKind::Integer(number) => usize::try_from(number)
                .ok()
                .filter(|number| *number < pattern.captures_len()),
            ScalarKind::Text => pattern
                .capture_names()
                .position(|name| name == Some(scalar.text.as_str())),
            ScalarKind::Null | ScalarKind::Bool(_) | ScalarKind::Float(_) => None,
        },
        Value::List(_) | Value::Map(_) => None,
    };
    if found.is_none() {
        reject(
            fields,
            value,
            "`group` is none of the pattern's groups".to_owned(),
            None,
        );
    }
    found
}

fn read_json(
    fields: &mut Fields<'_, '_>,
    node: &Node,
    keys: &SimpleKeys,
    depth: usize,
) -> Option<ReadKind> {
    let expected = match node.get("expected") {
        Some(value) => Some(to_json(fields, value)?),
        None => None,
    };
    let schema = match node.get("schema") {
        Some(value) => {
            let schema = to_json(fields, value)?;
            match JsonSchema::compile(schema.to_serde()) {
                Ok(schema) => Some(schema),
                Err(why) => {
                    reject(
                        fields,
                        value,
                        format!("`schema` is no JSON Schema: {why}"),
                        None,
                    );
                    None
                }
            }
        }
        None => None,
    };
    let demands = read_demands(fields, node, depth)?;
    if expected.is_none() && schema.is_none() && demands.is_empty() && node.get("schema").is_none()
    {
        fields.reject(
            "kind",
            "a grader `json` needs `expected`, `fields` or `schema`",
            None,
        );
        return None;
    }
    let shown = expected
        .iter()
        .map(|value| value.to_serde().to_string())
        .collect();
    let grader = JsonGrader {
        expected,
        fields: demands,
        schema,
        is_lenient: keys.is_lenient,
        equality: keys.equality,
        scope: keys.scope(),
    };
    Some((GraderKind::Json(Box::new(grader)), shown))
}

fn read_demands(
    fields: &mut Fields<'_, '_>,
    node: &Node,
    depth: usize,
) -> Option<Vec<(JsonPath, FieldDemand)>> {
    let Some(value) = node.get("fields") else {
        return Some(Vec::new());
    };
    let Value::Map(entries) = &value.value else {
        reject(
            fields,
            value,
            format!("`fields` must be a map of paths, not {}", value.kind_noun()),
            None,
        );
        return None;
    };
    if entries.is_empty() {
        reject(fields, value, "`fields` is empty".to_owned(), None);
    }
    let mut demands = Vec::new();
    for (path, demand) in entries {
        let Some(steps) = JsonPath::parse(&path.text) else {
            let hint = Some("a path is like `article.name` or `items[1].price`".to_owned());
            reject(
                fields,
                demand,
                format!("{} is no path of JSON", quote_text(&path.text)),
                hint,
            );
            continue;
        };
        let is_grader = demand.get("kind").is_some_and(|kind| {
            matches!(&kind.value, Value::Scalar(scalar) if KINDS.iter().any(|(name, _)| *name == scalar.text))
        });
        let demand = if !is_grader {
            to_json(fields, demand).map(FieldDemand::Equal)
        } else if depth >= MAX_NESTED {
            reject(
                fields,
                demand,
                format!("graders are nested more than {MAX_NESTED} deep"),
                None,
            );
            None
        } else {
            let place = format!("{}.{}", fields.path_of("fields"), path.text);
            let file = fields.file();
            Fields::new(file, demand, place, fields.problems())
                .and_then(|inner| read_fields(inner, Some(demand), depth + 1))
                .map(|grader| FieldDemand::Graded(Arc::new(grader)))
        };
        demands.extend(demand.map(|demand| (steps, demand)));
    }
    Some(demands)
}

/// Returns the value that a node stands for in JSON, with exact numbers.
fn to_json(fields: &mut Fields<'_, '_>, node: &Node) -> Option<JsonValue> {
    Some(match &node.value {
        Value::List(items) => {
            let items: Vec<Option<JsonValue>> =
                items.iter().map(|item| to_json(fields, item)).collect();
            JsonValue::List(items.into_iter().collect::<Option<_>>()?)
        }
        Value::Map(entries) => {
            let mut map = Vec::new();
            for (key, value) in entries {
                map.push((key.text.clone(), to_json(fields, value)?));
            }
            map.sort_by(|(left, _), (right, _)| left.cmp(right));
            JsonValue::Map(map)
        }
        Value::Scalar(scalar) => match scalar.kind {
            ScalarKind::Text => JsonValue::Text(scalar.text.clone()),
            ScalarKind::Null => JsonValue::Null,
            ScalarKind::Bool(value) => JsonValue::Bool(value),
            ScalarKind::Integer(integer) => {
                let number = JsonNumber::parse(&scalar.text)
                    .or_else(|| JsonNumber::parse(&integer.to_string()));
                JsonValue::Number(number?)
            }
            ScalarKind::Float(_) => {
                let text = scalar.text.trim_start_matches('+').trim_end_matches('.');
                let text = if let Some(rest) = text.strip_prefix('.') {
                    format!("0.{rest}")
                } else {
                    text.to_owned()
                };
                match JsonNumber::parse(&text) {
                    Some(number) => JsonValue::Number(number),
                    None => {
                        reject(
                            fields,
                            node,
                            format!("{} is no number of JSON", quote_text(&scalar.text)),
                            None,
                        );
                        return None;
                    }
                }
            }
        },
    })
}

fn read_choice(fields: &mut Fields<'_, '_>, node: &Node, keys: &SimpleKeys) -> Option<ReadKind> {
    let Some(value) = node.get("options") else {
        fields.reject_missing("options");
        return None;
    };
    let options = read_options(fields, value)?;
    let Some(expected) = node.get("expected") else {
        fields.reject_missing("expected");
        return None;
    };
    let items: Vec<&Node> = match &expected.value {
        Value::List(items) => items.iter().collect(),
        Value::Scalar(_) | Value::Map(_) => vec![expected],
    };
    let mut right = BTreeSet::new();
    for item in items {
        let label = match &item.value {
            Value::Scalar(scalar) => scalar.text.clone(),
            Value::List(_) | Value::Map(_) => String::new(),
        };
        if options.iter().any(|(known, _)| *known == label) {
            right.insert(label);
        } else {
            let labels: Vec<&str> = options.iter().map(|(label, _)| label.as_str()).collect();
            let hint = Some(format!("the labels: {}", labels.join(", ")));
            reject(
                fields,
                item,
                format!("{} is no label of the options", quote_text(&label)),
                hint,
            );
        }
    }
    if right.is_empty() {
        fields.reject("expected", "`expected` names no option", None);
        return None;
    }
    let shown = options
        .iter()
        .filter(|(label, _)| right.contains(label))
        .map(|(label, text)| {
            if text.is_empty() {
                label.clone()
            } else {
                format!("{label}: {text}")
            }
        })
        .collect();
    let grader = ChoiceGrader {
        options,
        expected: right,
        is_multiple: keys.is_multiple,
        taken: keys.taken,
        place: keys.place.clone(),
    };
    Some((GraderKind::Choice(grader), shown))
}

/// Reads the options: a map of labels to texts, or a list of texts, which get the labels A, B, C and so on.
fn read_options(fields: &mut Fields<'_, '_>, value: &Node) -> Option<Vec<(String, String)>> {
    let mut options: Vec<(String, String)> = Vec::new();
    match &value.value {
        Value::Map(entries) => {
            for (label, text) in entries {
                match &text.value {
                    Value::Scalar(scalar) if scalar.kind == ScalarKind::Null => {
                        options.push((label.text.clone(), String::new()));
                    }
                    Value::Scalar(scalar) => {
                        options.push((label.text.clone(), scalar.text.clone()));
                    }
                    Value::List(_) | Value::Map(_) => {
                        reject(
                            fields,
                            text,
                            format!("the option {} must be text", quote_text(&label.text)),
                            None,
                        );
                    }
                }
            }
        }
        Value::List(items) if items.len() <= 26 => {
            for (label, item) in ('A'..='Z').zip(items) {
                match &item.value {
                    Value::Scalar(scalar) if scalar.kind != ScalarKind::Null => {
                        options.push((label.to_string(), scalar.text.clone()));
                    }
                    _ => reject(fields, item, "an option must be text".to_owned(), None),
                }
            }
        }
        Value::List(_) | Value::Scalar(_) => {
            let message =
                "`options` must be a map of labels to texts, or a list of at most 26 texts"
                    .to_owned();
            reject(fields, value, message, None);
            return None;
        }
    }
    if options.len() < 2 {
        reject(
            fields,
            value,
            "`options` needs at least two options".to_owned(),
            None,
        );
    }
    Some(options)
}

/// Writes settings in one form: keys sorted, scalars with their kind.
fn write_settings(node: &Node) -> String {
    match &node.value {
        Value::List(items) => {
            let items: Vec<String> = items.iter().map(write_settings).collect();
            format!("[{}]", items.join(","))
        }
        Value::Map(entries) => {
            let mut entries: Vec<String> = entries
                .iter()
                .map(|(key, value)| format!("{:?}:{}", key.text, write_settings(value)))
                .collect();
            entries.sort();
            format!("{{{}}}", entries.join(","))
        }
        Value::Scalar(scalar) if scalar.kind == ScalarKind::Text => format!("{:?}", scalar.text),
        Value::Scalar(scalar) => scalar.text.clone(),
    }
}
