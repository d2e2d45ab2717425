//! Typed access to a map's keys that collects every problem instead of stopping at the first.

use std::collections::BTreeMap;

use super::{
    KeyForms, MapKey, Node, Scalar, ScalarKind, Value, ValueForm, nearest_hint, quote::clip_text,
    quote_text,
};
use crate::domain::Problem;

/// The keys of a map. Each method takes one key; `null` counts as absent. [`Fields::finish`] reports the keys that no method asked for.
///
/// A method that cannot return a value adds a problem and returns `None` or an empty value. So a loader can ask for all keys first and
/// check the problems at the end.
pub struct Fields<'d, 'p> {
    file: &'d str,
    /// The map's path in the file: empty at the top, such as `agents[0]` further down.
    path: String,
    line: usize,
    column: usize,
    entries: &'d [(MapKey, Node)],
    /// The keys asked for so far, which are the map's valid keys.
    known: Vec<String>,
    /// Keys of earlier tools that this map does not take, each with its replacement.
    replaced: &'static [(&'static str, &'static str)],
    problems: &'p mut Vec<Problem>,
    /// Where the keys are noted, if only they are wanted.
    noted: Option<KeyForms>,
}

/// Stands for any name in a map of free names.
static ANY_NAME: MapKey = MapKey {
    text: String::new(),
    line: 0,
    column: 0,
};

impl<'d, 'p> Fields<'d, 'p> {
    /// Opens `node`, which is at `path` in the file. Adds a problem and returns `None` if it is not a map.
    pub fn new(
        file: &'d str,
        node: &'d Node,
        path: impl Into<String>,
        problems: &'p mut Vec<Problem>,
    ) -> Option<Self> {
        let path = path.into();
        let Value::Map(entries) = &node.value else {
            let what = if path.is_empty() {
                "the file".to_owned()
            } else {
                quote_text(&path)
            };
            problems.push(Problem::at_position(
                file,
                node.line,
                node.column,
                format!("{what} must be a map of keys, not {}", node.kind_noun()),
            ));
            return None;
        };
        Some(Self {
            file,
            path,
            line: node.line,
            column: node.column,
            entries,
            known: Vec::new(),
            replaced: &[],
            problems,
            noted: None,
        })
    }

    /// Returns the form of the maps that `read` reads: it gets an empty map, and what it asks for is noted.
    pub fn derive_form(read: impl FnOnce(Fields<'_, '_>)) -> ValueForm {
        let shape = KeyForms::default();
        read(Fields::noting_forms(&shape, &mut Vec::new()));
        ValueForm::Map(shape)
    }

    fn noting_forms(shape: &KeyForms, problems: &'p mut Vec<Problem>) -> Self {
        Self {
            file: "",
            path: String::new(),
            line: 0,
            column: 0,
            entries: &[],
            known: Vec::new(),
            replaced: &[],
            problems,
            noted: Some(shape.clone()),
        }
    }

    /// Notes the form of a key that no typed method reads. Has no effect on reading.
    pub fn note_form(&mut self, key: &str, form: impl FnOnce() -> ValueForm) {
        if let Some(shape) = &self.noted {
            shape.ask_key(key, form());
        }
    }

    /// Notes that a key must be there. Has no effect on reading.
    pub fn note_required(&mut self, key: &str) {
        if let Some(shape) = &self.noted {
            shape.require_key(key);
        }
    }

    pub fn file(&self) -> &'d str {
        self.file
    }

    /// Returns the path of `key` in the file, such as `agents[0].model`.
    pub fn path_of(&self, key: &str) -> String {
        if self.path.is_empty() {
            clip_text(key)
        } else {
            format!("{}.{}", self.path, clip_text(key))
        }
    }

    /// Returns the problems found so far, so that callers can add their own.
    pub fn problems(&mut self) -> &mut Vec<Problem> {
        self.problems
    }

    /// Marks `key` as valid for this map.
    pub fn mark_used(&mut self, key: &str) {
        if !self.known.iter().any(|known| known == key) {
            self.known.push(key.to_owned());
        }
    }

    /// Returns the key's value, or `None` if it is absent or null.
    pub fn child(&mut self, key: &str) -> Option<&'d Node> {
        self.mark_used(key);
        self.entries
            .iter()
            .find(|(found, _)| found.text == key)
            .map(|(_, node)| node)
            .filter(|node| !node.is_null())
    }

    /// Adds a problem about the value of `key`, or about the map if it is absent.
    pub fn reject(&mut self, key: &str, message: impl Into<String>, hint: Option<String>) {
        let place = self
            .entries
            .iter()
            .find(|(found, _)| found.text == key)
            .map(|(_, node)| (node.line, node.column));
        let (line, column) = place.unwrap_or((self.line, self.column));
        push_problem(
            self.problems,
            Problem::at_position(self.file, line, column, message),
            hint,
        );
    }

    /// Adds a problem about the entry `name` of the map below `key`.
    pub fn reject_entry(
        &mut self,
        key: &str,
        name: &str,
        message: impl Into<String>,
        hint: Option<String>,
    ) {
        let node = self
            .entries
            .iter()
            .find(|(found, _)| found.text == key)
            .and_then(|(_, node)| node.get(name));
        let (line, column) = node.map_or((self.line, self.column), |node| (node.line, node.column));
        push_problem(
            self.problems,
            Problem::at_position(self.file, line, column, message),
            hint,
        );
    }

    /// Returns the line of the value of `key`, or of the map if it is absent.
    pub fn line_of(&self, key: &str) -> usize {
        self.entries
            .iter()
            .find(|(found, _)| found.text == key)
            .map_or(self.line, |(_, node)| node.line)
    }

    /// Adds the problem that `key` is missing.
    pub fn reject_missing(&mut self, key: &str) {
        self.note_required(key);
        let message = format!("{} is missing", quote_text(&self.path_of(key)));
        push_problem(
            self.problems,
            Problem::at_position(self.file, self.line, self.column, message),
            None,
        );
    }

    /// Reads text. A number or boolean is a problem, whose hint shows the quoted form.
    pub fn text(&mut self, key: &str) -> Option<String> {
        self.note_form(key, || ValueForm::Text);
        let node = self.child(key)?;
        self.text_of(node, &self.path_of(key))
    }

    /// Reads text that must be present and not blank.
    pub fn required_text(&mut self, key: &str) -> Option<String> {
        self.note_form(key, || ValueForm::Filled);
        if self.child(key).is_none() {
            self.reject_missing(key);
            return None;
        }
        let text = self.text(key)?;
        if text.trim().is_empty() {
            self.reject(
                key,
                format!("{} is empty", quote_text(&self.path_of(key))),
                None,
            );
            return None;
        }
        Some(text)
    }

    /// Reads a whole number.
    pub fn integer(&mut self, key: &str) -> Option<i64> {
        self.note_form(key, || ValueForm::Integer);
        let (scalar, path) = self.number_scalar(key, "a whole number")?;
        match scalar.kind {
            ScalarKind::Integer(integer) => Some(integer),
            ScalarKind::Text | ScalarKind::Null | ScalarKind::Bool(_) | ScalarKind::Float(_) => {
                self.reject(
                    key,
                    format!(
                        "{} must be a whole number, not {}",
                        quote_text(&path),
                        quote_text(&scalar.text)
                    ),
                    None,
                );
                None
            }
        }
    }

    /// Reads a whole number of at least 0.
    pub fn unsigned(&mut self, key: &str) -> Option<u64> {
        self.note_form(key, || ValueForm::Unsigned);
        let integer = self.integer(key)?;
        if integer < 0 {
            self.reject(
                key,
                format!(
                    "{} must not be negative, but is `{integer}`",
                    quote_text(&self.path_of(key))
                ),
                None,
            );
        }
        u64::try_from(integer).ok()
    }

    /// Reads a whole number of at least 1. Zero is rejected, and returned.
    pub fn positive(&mut self, key: &str) -> Option<u64> {
        let count = self.unsigned(key);
        if count == Some(0) {
            let message = format!("{} must be at least 1", quote_text(&self.path_of(key)));
            self.reject(key, message, None);
        }
        count
    }

    /// Reads a finite number.
    pub fn number(&mut self, key: &str) -> Option<f64> {
        self.note_form(key, || ValueForm::Number);
        let (scalar, path) = self.number_scalar(key, "a number")?;
        let number = match scalar.kind {
            ScalarKind::Integer(integer) => integer as f64,
            ScalarKind::Float(number) => number,
            ScalarKind::Text | ScalarKind::Null | ScalarKind::Bool(_) => return None,
        };
        if !number.is_finite() {
            self.reject(
                key,
                format!(
                    "{} must be a finite number, not {}",
                    quote_text(&path),
                    quote_text(&scalar.text)
                ),
                None,
            );
            return None;
        }
        Some(number)
    }

    /// Reads a finite number of at least 0.
    pub fn amount(&mut self, key: &str) -> Option<f64> {
        self.note_form(key, || ValueForm::Amount);
        let number = self.number(key)?;
        if number < 0.0 {
            self.reject(
                key,
                format!(
                    "{} must not be negative, but is `{number}`",
                    quote_text(&self.path_of(key))
                ),
                None,
            );
            return None;
        }
        Some(number)
    }

    pub fn boolean(&mut self, key: &str) -> Option<bool> {
        self.note_form(key, || ValueForm::Boolean);
        let node = self.child(key)?;
        if let Value::Scalar(scalar) = &node.value {
            if let ScalarKind::Bool(boolean) = scalar.kind {
                return Some(boolean);
            }
            let hint = match scalar.text.to_lowercase().as_str() {
                "yes" | "on" | "true" => Some("write true".to_owned()),
                "no" | "off" | "false" => Some("write false".to_owned()),
                _ => None,
            };
            self.reject(
                key,
                format!(
                    "{} must be true or false, not {}",
                    quote_text(&self.path_of(key)),
                    quote_text(&scalar.text)
                ),
                hint,
            );
            return None;
        }
        self.reject(
            key,
            format!(
                "{} must be true or false, not {}",
                quote_text(&self.path_of(key)),
                node.kind_noun()
            ),
            None,
        );
        None
    }

    /// Reads one of the given names, and returns its value.
    pub fn one_of<T: Copy>(&mut self, key: &str, choices: &[(&str, T)]) -> Option<T> {
        self.note_form(key, || {
            ValueForm::Word(choices.iter().map(|(name, _)| (*name).to_owned()).collect())
        });
        let text = self.text(key)?;
        if let Some((_, choice)) = choices.iter().find(|(name, _)| *name == text) {
            return Some(*choice);
        }
        let names = choices
            .iter()
            .map(|(name, _)| format!("`{name}`"))
            .collect::<Vec<_>>()
            .join(", ");
        let hint = nearest_hint(&text, choices.iter().map(|(name, _)| *name));
        self.reject(
            key,
            format!(
                "{} must be one of {names}, not {}",
                quote_text(&self.path_of(key)),
                quote_text(&text)
            ),
            hint,
        );
        None
    }

    /// Returns the items of a list.
    pub fn list(&mut self, key: &str) -> Option<&'d [Node]> {
        self.note_form(key, || ValueForm::list_of(ValueForm::Any));
        let node = self.child(key)?;
        match &node.value {
            Value::List(items) => Some(items),
            Value::Scalar(_) | Value::Map(_) => {
                self.reject(
                    key,
                    format!(
                        "{} must be a list, not {}",
                        quote_text(&self.path_of(key)),
                        node.kind_noun()
                    ),
                    None,
                );
                None
            }
        }
    }

    /// Reads a list of texts; empty if absent. An item that is not text is a problem and is left out.
    pub fn texts(&mut self, key: &str) -> Vec<String> {
        self.note_form(key, || ValueForm::list_of(ValueForm::Text));
        let items = self.list(key).unwrap_or_default();
        let path = self.path_of(key);
        items
            .iter()
            .enumerate()
            .filter_map(|(index, item)| self.text_of(item, &format!("{path}[{index}]")))
            .collect()
    }

    /// Reads a map of free names to texts; empty if absent.
    pub fn text_map(&mut self, key: &str) -> BTreeMap<String, String> {
        self.note_form(key, || ValueForm::map_of(ValueForm::Text));
        let entries = self.entries_of(key);
        let path = self.path_of(key);
        let text_of = |(name, node): &'d (MapKey, Node)| {
            let text = self.text_of(node, &format!("{path}.{}", clip_text(&name.text)))?;
            Some((name.text.clone(), text))
        };
        entries.iter().filter_map(text_of).collect()
    }

    /// Opens the map at `key`.
    pub fn fields(&mut self, key: &str) -> Option<Fields<'d, '_>> {
        if let Some(shape) = &self.noted {
            let inner = KeyForms::default();
            shape.ask_key(key, ValueForm::Map(inner.clone()));
            return Some(Fields::noting_forms(&inner, self.problems));
        }
        let node = self.child(key)?;
        Fields::new(self.file, node, self.path_of(key), self.problems)
    }

    /// Reads each item of a list of maps. Leaves out items that are not maps or that `read` rejects.
    pub fn read_each<T>(
        &mut self,
        key: &str,
        mut read: impl FnMut(Fields<'d, '_>) -> Option<T>,
    ) -> Vec<T> {
        if let Some(shape) = &self.noted {
            let inner = KeyForms::default();
            shape.ask_key(key, ValueForm::list_of(ValueForm::Map(inner.clone())));
            return read(Fields::noting_forms(&inner, self.problems))
                .into_iter()
                .collect();
        }
        let items = self.list(key).unwrap_or_default();
        let path = self.path_of(key);
        let item = |(index, item): (usize, &'d Node)| {
            let fields = Fields::new(self.file, item, format!("{path}[{index}]"), self.problems)?;
            read(fields)
        };
        items.iter().enumerate().filter_map(item).collect()
    }

    /// Reads each map in a map of free names, sorted by name.
    pub fn read_each_named<T>(
        &mut self,
        key: &str,
        mut read: impl FnMut(&'d MapKey, Fields<'d, '_>) -> Option<T>,
    ) -> BTreeMap<String, T> {
        if let Some(shape) = &self.noted {
            let inner = KeyForms::default();
            shape.ask_key(key, ValueForm::map_of(ValueForm::Map(inner.clone())));
            let read = read(&ANY_NAME, Fields::noting_forms(&inner, self.problems));
            return read
                .into_iter()
                .map(|value| (String::new(), value))
                .collect();
        }
        let entries = self.entries_of(key);
        let path = self.path_of(key);
        let entry = |(name, node): &'d (MapKey, Node)| {
            let fields = Fields::new(
                self.file,
                node,
                format!("{path}.{}", clip_text(&name.text)),
                self.problems,
            )?;
            Some((name.text.clone(), read(name, fields)?))
        };
        entries.iter().filter_map(entry).collect()
    }

    /// Returns the entries of a map of free names at `key`; empty if absent.
    pub fn entries_of(&mut self, key: &str) -> &'d [(MapKey, Node)] {
        let Some(node) = self.child(key) else {
            return &[];
        };
        match &node.value {
            Value::Map(entries) => entries,
            Value::Scalar(_) | Value::List(_) => {
                self.reject(
                    key,
                    format!(
                        "{} must be a map of names, not {}",
                        quote_text(&self.path_of(key)),
                        node.kind_noun()
                    ),
                    None,
                );
                &[]
            }
        }
    }

    /// Reads text from the node at `path`, which need not be directly in this map.
    pub fn text_of(&mut self, node: &'d Node, path: &str) -> Option<String> {
        match &node.value {
            Value::Scalar(Scalar {
                text,
                kind: ScalarKind::Text,
                ..
            }) => Some(text.clone()),
            Value::Scalar(_) | Value::List(_) | Value::Map(_) => {
                let message = format!(
                    "{} must be text, not {}",
                    quote_text(path),
                    node.kind_noun()
                );
                let hint = match &node.value {
                    Value::Scalar(scalar) => Some(format!("write \"{}\"", clip_text(&scalar.text))),
                    Value::List(_) | Value::Map(_) => None,
                };
                push_problem(
                    self.problems,
                    Problem::at_position(self.file, node.line, node.column, message),
                    hint,
                );
                None
            }
        }
    }

    /// Names the replacement of keys that this map does not take, for [`Fields::finish`].
    pub fn set_replacements(&mut self, keys: &'static [(&'static str, &'static str)]) {
        self.replaced = keys;
    }

    /// Reports each key that no method asked for, with its replacement or the nearest valid key.
    pub fn finish(self) {
        for (key, _) in self
            .entries
            .iter()
            .filter(|(key, _)| !self.known.contains(&key.text))
        {
            let known = self.known.iter().map(String::as_str);
            let replacement = self
                .replaced
                .iter()
                .find(|(old, _)| *old == key.text)
                .map(|(_, hint)| (*hint).to_owned());
            let hint = replacement
                .or_else(|| nearest_hint(&key.text, known.clone()))
                .unwrap_or_else(|| {
                    let mut known: Vec<&str> = known.collect();
                    known.sort_unstable();
                    format!("known keys here: {}", known.join(", "))
                });
            let message = format!("unknown key {}", quote_text(&self.path_of(&key.text)));
            self.problems.push(
                Problem::at_position(self.file, key.line, key.column, message).with_hint(hint),
            );
        }
    }

    /// Returns the scalar of a key that must be a number, and its path.
    fn number_scalar(&mut self, key: &str, wanted: &str) -> Option<(&'d Scalar, String)> {
        let node = self.child(key)?;
        let path = self.path_of(key);
        let (found, hint) = match &node.value {
            Value::Scalar(scalar) => match scalar.kind {
                ScalarKind::Integer(_) | ScalarKind::Float(_) => return Some((scalar, path)),
                ScalarKind::Text if is_number(&scalar.text) => (
                    node.kind_noun(),
                    Some(format!("write {} without quotes", clip_text(&scalar.text))),
                ),
                ScalarKind::Text | ScalarKind::Null | ScalarKind::Bool(_) => {
                    (node.kind_noun(), None)
                }
            },
            Value::List(_) | Value::Map(_) => (node.kind_noun(), None),
        };
        self.reject(
            key,
            format!("{} must be {wanted}, not {found}", quote_text(&path)),
            hint,
        );
        None
    }
}

fn is_number(text: &str) -> bool {
    matches!(
        Scalar::from_plain(text.to_owned()).kind,
        ScalarKind::Integer(_) | ScalarKind::Float(_)
    )
}

fn push_problem(problems: &mut Vec<Problem>, problem: Problem, hint: Option<String>) {
    problems.push(match hint {
        Some(hint) => problem.with_hint(hint),
        None => problem,
    });
}

#[cfg(test)]
mod tests {
    use super::super::parse;
    use super::*;

    /// Reads `text` as the fields of `a.yaml`. Returns the result and all problems, each with its hint in brackets.
    fn read<T>(text: &str, read: impl FnOnce(&mut Fields) -> T) -> (T, Vec<String>) {
        let node = parse("a.yaml", text).expect("valid YAML");
        let mut problems = Vec::new();
        let mut fields = Fields::new("a.yaml", &node, "", &mut problems).expect("a map");
        let value = read(&mut fields);
        fields.finish();
        let shown = |problem: &Problem| match &problem.hint {
            Some(hint) => format!("{problem} [{hint}]"),
            None => problem.to_string(),
        };
        (value, problems.iter().map(shown).collect())
    }

    #[test]
    fn the_right_types_are_read() {
        let text = "t: x\nq: '4.10'\ni: -3\nu: 3\nn: 2\nf: 0.5\nb: true\nl: [a, b]\nm: {x: y}\nnothing: ~\nchoice: two\nin: {deep: v}\n";
        let ((), problems) = read(text, |fields| {
            assert_eq!(fields.text("t").as_deref(), Some("x"));
            assert_eq!(fields.required_text("q").as_deref(), Some("4.10"));
            assert_eq!(
                (fields.integer("i"), fields.unsigned("u")),
                (Some(-3), Some(3))
            );
            assert_eq!(
                (fields.number("n"), fields.amount("f")),
                (Some(2.0), Some(0.5))
            );
            assert_eq!(fields.boolean("b"), Some(true));
            assert_eq!(fields.texts("l"), ["a", "b"]);
            assert_eq!(
                fields.text_map("m"),
                BTreeMap::from([("x".to_owned(), "y".to_owned())])
            );
            assert_eq!(
                (
                    fields.text("nothing"),
                    fields.text("absent"),
                    fields.integer("absent")
                ),
                (None, None, None)
            );
            assert_eq!(fields.one_of("choice", &[("one", 1), ("two", 2)]), Some(2));
            let mut inner = fields.fields("in").expect("a map");
            assert_eq!(inner.text("deep").as_deref(), Some("v"));
            inner.finish();
        });
        assert_eq!(problems, [""; 0]);
    }

    #[test]
    fn text_must_be_quoted_where_it_looks_like_something_else() {
        let ((), problems) = read(
            "model: 4.10\nid: 007\non: true\nl: [a, 1e3, [b], ~]\nm: {k: 2026}\n",
            |fields| {
                fields.text("model");
                fields.required_text("id");
                fields.text("on");
                assert_eq!(fields.texts("l"), ["a"]);
                assert!(fields.text_map("m").is_empty());
            },
        );
        assert_eq!(
            problems,
            [
                "a.yaml:1:8: `model` must be text, not a number [write \"4.10\"]",
                "a.yaml:2:5: `id` must be text, not a number [write \"007\"]",
                "a.yaml:3:5: `on` must be text, not a boolean [write \"true\"]",
                "a.yaml:4:8: `l[1]` must be text, not a number [write \"1e3\"]",
                "a.yaml:4:13: `l[2]` must be text, not a list",
                "a.yaml:4:18: `l[3]` must be text, not null [write \"~\"]",
                "a.yaml:5:8: `m.k` must be text, not a number [write \"2026\"]",
            ]
        );
    }

    #[test]
    fn wrong_types_are_all_named() {
        let text = "i: 1.5\nj: '5'\nu: -1\nn: .inf\no: x\np: -0.5\nb: yes\nc: 1\nl: x\nm: [1]\ne: ' '\nf: []\nbig: 99999999999999999999\n";
        let ((), problems) = read(text, |fields| {
            assert_eq!(
                (
                    fields.integer("i"),
                    fields.integer("j"),
                    fields.unsigned("u")
                ),
                (None, None, None)
            );
            assert_eq!(
                (fields.number("n"), fields.number("o"), fields.amount("p")),
                (None, None, None)
            );
            assert_eq!((fields.boolean("b"), fields.boolean("c")), (None, None));
            assert!(fields.texts("l").is_empty() && fields.text_map("m").is_empty());
            assert_eq!(
                (fields.required_text("e"), fields.required_text("missing")),
                (None, None)
            );
            assert!(fields.fields("f").is_none());
            assert_eq!(fields.integer("big"), None);
        });
        assert_eq!(
            problems,
            [
                "a.yaml:1:4: `i` must be a whole number, not `1.5`",
                "a.yaml:2:4: `j` must be a whole number, not text [write 5 without quotes]",
                "a.yaml:3:4: `u` must not be negative, but is `-1`",
                "a.yaml:4:4: `n` must be a finite number, not `.inf`",
                "a.yaml:5:4: `o` must be a number, not text",
                "a.yaml:6:4: `p` must not be negative, but is `-0.5`",
                "a.yaml:7:4: `b` must be true or false, not `yes` [write true]",
                "a.yaml:8:4: `c` must be true or false, not `1`",
                "a.yaml:9:4: `l` must be a list, not text",
                "a.yaml:10:4: `m` must be a map of names, not a list",
                "a.yaml:11:4: `e` is empty",
                "a.yaml:1:1: `missing` is missing",
                "a.yaml:12:4: `f` must be a map of keys, not a list",
                "a.yaml:13:6: `big` must be a whole number, not `99999999999999999999`",
            ]
        );
    }

    #[test]
    fn unknown_keys_and_choices_come_with_the_nearest() {
        let ((), problems) = read("modell: x\nkind: rat\nzzzzz: 1\n", |fields| {
            fields.text("model");
            assert_eq!(fields.one_of("kind", &[("rate", 1), ("score", 2)]), None);
        });
        assert_eq!(
            problems,
            [
                "a.yaml:2:7: `kind` must be one of `rate`, `score`, not `rat` [did you mean `rate`?]",
                "a.yaml:1:1: unknown key `modell` [did you mean `model`?]",
                "a.yaml:3:1: unknown key `zzzzz` [known keys here: kind, model]",
            ]
        );
    }

    #[test]
    fn items_and_names_carry_their_path() {
        let text = "agents:\n  - id: a\n  - 5\n  - id: 7\n    x: 1\nmetrics:\n  speed: {unit: 1}\n  cost: ~\n";
        let (ids, problems) = read(text, |fields| {
            let ids = fields.read_each("agents", |mut agent| {
                let id = agent.required_text("id");
                agent.finish();
                id
            });
            fields.read_each_named("metrics", |_, mut metric| {
                metric.text("unit");
                metric.finish();
                Some(())
            });
            ids
        });
        assert_eq!(ids, ["a"]);
        assert_eq!(
            problems,
            [
                "a.yaml:3:5: `agents[1]` must be a map of keys, not a number",
                "a.yaml:4:9: `agents[2].id` must be text, not a number",
                "a.yaml:5:5: unknown key `agents[2].x`",
                "a.yaml:7:17: `metrics.speed.unit` must be text, not a number",
                "a.yaml:8:9: `metrics.cost` must be a map of keys, not null",
            ]
            .iter()
            .zip([
                None,
                Some("write \"7\""),
                Some("known keys here: id"),
                Some("write \"1\""),
                None
            ])
            .map(|(problem, hint)| hint
                .map_or((*problem).to_owned(), |hint| format!("{problem} [{hint}]")))
            .collect::<Vec<_>>()
        );
    }

    #[test]
    fn hostile_keys_and_values_are_shown_safely() {
        let ((), problems) = read(
            &format!(
                "\"\\e[2J\": 1\n? {}\n: 1\nk: \"\\e]0;x\\a\"\n",
                "x".repeat(100_000)
            ),
            |fields| {
                fields.one_of("k", &[("a", 1)]);
            },
        );
        assert_eq!(
            problems[0],
            "a.yaml:4:4: `k` must be one of `a`, not `␛]0;x␇`"
        );
        assert_eq!(
            problems[1],
            "a.yaml:1:1: unknown key `␛[2J` [known keys here: k]"
        );
        assert!(problems[2].chars().count() < 150, "{}", problems[2]);
    }

    #[test]
    fn the_top_must_be_a_map() {
        let node = parse("a.yaml", "- 1\n").expect("valid YAML");
        let mut problems = Vec::new();
        assert!(Fields::new("a.yaml", &node, "", &mut problems).is_none());
        assert_eq!(
            problems[0].to_string(),
            "a.yaml:1:1: the file must be a map of keys, not a list"
        );
    }
}
