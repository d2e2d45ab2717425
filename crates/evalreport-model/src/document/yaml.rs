//! Builds a [`Node`] tree from YAML events.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::str::Chars;

use saphyr_parser::{Event, Parser, ScalarStyle, ScanError, Span, Tag};

use super::mistake::{MAX_DEPTH, duplicate_key, empty_file, too_deep};
use super::{MapKey, Node, Scalar, ScalarKind, Value, quote_text};
use crate::domain::{Problem, escape_invisible};

/// Maximum expansion of all aliases of a file, in bytes of text plus [`NODE_COST`] per node.
const ALIAS_BUDGET: usize = 8 << 20;
const NODE_COST: usize = 64;
/// Number of values that any file may have, and bytes of text required for each further value. A value takes up to 400 bytes of memory.
const FREE_VALUES: usize = 150_000;
const TEXT_OF_A_VALUE: usize = 48;
const TOO_MANY: (&str, &str) = (
    "holds more values than are read of YAML",
    "convert it to JSON or JSON lines",
);
/// Number of values per allowed mark inside brackets: the parser uses up to 600 bytes for each mark.
const VALUES_OF_A_MARK: usize = 2;
/// Parsing stops after this many problems. A person fixes a few and runs again.
const MAX_PROBLEMS: usize = 100;

pub(super) fn parse(file: &str, text: &str, repeats: RepeatedKeys) -> Result<Node, Vec<Problem>> {
    // The scanner treats a zero character as the end of the text, so reject it first.
    if let Some(problem) = find_unprintable(file, text) {
        return Err(vec![problem]);
    }
    let values_left = FREE_VALUES + text.len() / TEXT_OF_A_VALUE;
    let mut builder = TreeBuilder {
        file,
        repeats,
        open: Vec::new(),
        root: None,
        anchors: BTreeMap::new(),
        spent: 0,
        values_left,
        problems: Vec::new(),
    };
    let most_marks = values_left / VALUES_OF_A_MARK;
    if text
        .chars()
        .filter(|character| is_mark(*character))
        .nth(most_marks)
        .is_none()
    {
        builder.process_events(Parser::new_from_str(text), || {});
    } else {
        let left = Cell::new(most_marks);
        builder.process_events(
            Parser::new_from_iter(LookaheadLimit {
                characters: text.chars(),
                left: &left,
            }),
            || {
                if left.get() > 0 {
                    left.set(most_marks);
                }
            },
        );
        if left.get() == 0 {
            // The text was cut short here, so the parser's complaints about its end are meaningless.
            builder.problems = vec![Problem::in_file(file, TOO_MANY.0).with_hint(TOO_MANY.1)];
        }
    }
    match builder.root {
        Some(root) if builder.problems.is_empty() => Ok(root),
        None if builder.problems.is_empty() => Err(vec![empty_file(file)]),
        Some(_) | None => Err(builder.problems),
    }
}

/// Returns whether a character starts or separates values in lists and maps inside brackets. The parser creates up to two tokens for each.
fn is_mark(character: char) -> bool {
    matches!(character, ',' | '[' | '{' | ':' | '?' | '&' | '*' | '!')
}

/// Limits the text for a parser that may buffer only a limited number of marks before it emits events. Where a key is possible, the parser
/// buffers the whole content of brackets until it knows whether they are a key.
struct LookaheadLimit<'t> {
    characters: Chars<'t>,
    /// Marks left before the next event. At zero the text ends.
    left: &'t Cell<usize>,
}

impl Iterator for LookaheadLimit<'_> {
    type Item = char;

    fn next(&mut self) -> Option<char> {
        let character = self.characters.next().filter(|_| self.left.get() > 0)?;
        if is_mark(character) {
            self.left.set(self.left.get() - 1);
        }
        Some(character)
    }
}

/// Finds the first character that YAML does not allow.
fn find_unprintable(file: &str, text: &str) -> Option<Problem> {
    let allowed = |character: char| match character {
        '\t' | '\n' | '\r' | '\u{85}' => true,
        '\u{fffe}' | '\u{ffff}' => false,
        _ => !character.is_control(),
    };
    let (index, character) = text
        .char_indices()
        .find(|(_, character)| !allowed(*character))?;
    let before = &text[..index];
    let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
    let line = before.bytes().filter(|byte| *byte == b'\n').count() + 1;
    let column = before[line_start..].chars().count() + 1;
    let message = format!(
        "control character U+{:04X} is not allowed in YAML",
        u32::from(character)
    );
    Some(
        Problem::at_position(file, line, column, message)
            .with_hint("in text in double quotes, write it as an escape such as \"\\u001B\""),
    )
}

struct TreeBuilder<'t> {
    file: &'t str,
    repeats: RepeatedKeys,
    open: Vec<OpenCollection>,
    root: Option<Node>,
    /// Complete anchored nodes with their costs. Excludes anchors whose node is still open.
    anchors: BTreeMap<usize, (Node, usize)>,
    spent: usize,
    values_left: usize,
    problems: Vec<Problem>,
}

/// A list or map that has not ended.
struct OpenCollection {
    line: usize,
    column: usize,
    anchor: usize,
    content: CollectionContent,
}

enum CollectionContent {
    List(Vec<Node>),
    Map {
        entries: Vec<(MapKey, Node)>,
        lines: BTreeMap<String, usize>,
        pending: Option<PendingKey>,
    },
}

/// The key of the next value. The value of a rejected key is read and dropped.
enum PendingKey {
    Good(MapKey),
    Refused,
}

/// Parsing cannot continue. The reason is among the problems.
struct YamlStop;

impl TreeBuilder<'_> {
    /// Processes events until one fails. Calls `taken` before each.
    fn process_events<'e>(
        &mut self,
        events: impl Iterator<Item = Result<(Event<'e>, Span), ScanError>>,
        taken: impl Fn(),
    ) {
        for event in events {
            taken();
            match event {
                Ok((event, span)) => {
                    if self.process_event(event, span).is_err() {
                        return;
                    }
                }
                Err(error) => {
                    let marker = error.marker();
                    let message = format!("not valid YAML: {}", escape_invisible(error.info()));
                    self.problems.push(Problem::at_position(
                        self.file,
                        marker.line(),
                        marker.col() + 1,
                        message,
                    ));
                    return;
                }
            }
            if self.problems.len() >= MAX_PROBLEMS {
                return;
            }
        }
    }

    fn process_event(&mut self, event: Event<'_>, span: Span) -> Result<(), YamlStop> {
        let (line, column) = (span.start.line(), span.start.col() + 1);
        if matches!(
            event,
            Event::Scalar(..) | Event::SequenceStart(..) | Event::MappingStart(..)
        ) {
            let Some(left) = self.values_left.checked_sub(1) else {
                self.add_problem(line, column, TOO_MANY.0, Some(TOO_MANY.1));
                return Err(YamlStop);
            };
            self.values_left = left;
        }
        match event {
            Event::Nothing | Event::StreamStart | Event::StreamEnd | Event::DocumentEnd => Ok(()),
            Event::DocumentStart(_) => {
                if self.root.is_some() {
                    self.add_problem(
                        line,
                        column,
                        "a second document starts here",
                        Some("keep one document per file"),
                    );
                    return Err(YamlStop);
                }
                Ok(())
            }
            Event::Scalar(text, style, anchor, tag) => {
                let text = text.into_owned();
                let is_text = self.check_tag(tag.as_deref(), "str", line, column)
                    || style != ScalarStyle::Plain;
                // The document is empty, such as a lone `---`.
                if self.open.is_empty() && text.is_empty() && !is_text {
                    self.problems.push(empty_file(self.file));
                    return Err(YamlStop);
                }
                let scalar = if is_text {
                    Scalar::from_quoted(text)
                } else {
                    Scalar::from_plain(text)
                };
                self.add_node(
                    Node {
                        line,
                        column,
                        value: Value::Scalar(scalar),
                    },
                    anchor,
                )
            }
            Event::SequenceStart(anchor, tag) => {
                self.check_tag(tag.as_deref(), "seq", line, column);
                self.open_collection(line, column, anchor, CollectionContent::List(Vec::new()))
            }
            Event::MappingStart(anchor, tag) => {
                self.check_tag(tag.as_deref(), "map", line, column);
                self.open_collection(
                    line,
                    column,
                    anchor,
                    CollectionContent::Map {
                        entries: Vec::new(),
                        lines: BTreeMap::new(),
                        pending: None,
                    },
                )
            }
            Event::SequenceEnd | Event::MappingEnd => {
                let Some(OpenCollection {
                    line,
                    column,
                    anchor,
                    content,
                }) = self.open.pop()
                else {
                    return Ok(());
                };
                let value = match content {
                    CollectionContent::List(items) => Value::List(items),
                    CollectionContent::Map { entries, .. } => Value::Map(entries),
                };
                self.add_node(
                    Node {
                        line,
                        column,
                        value,
                    },
                    anchor,
                )
            }
            Event::Alias(anchor) => {
                let Some((node, cost)) = self.anchors.get(&anchor) else {
                    self.add_problem(
                        line,
                        column,
                        "this alias refers to the value that contains it",
                        None,
                    );
                    return Err(YamlStop);
                };
                let (node, cost) = (node, *cost);
                if self.spent.saturating_add(cost) > ALIAS_BUDGET
                    || self.open.len() + node_depth(node) > MAX_DEPTH
                {
                    self.add_problem(
                        line,
                        column,
                        "aliases expand to more than a file may hold",
                        None,
                    );
                    return Err(YamlStop);
                }
                self.spent += cost;
                let node = node.clone();
                self.add_node(node, 0)
            }
        }
    }

    fn open_collection(
        &mut self,
        line: usize,
        column: usize,
        anchor: usize,
        content: CollectionContent,
    ) -> Result<(), YamlStop> {
        if self.open.len() >= MAX_DEPTH {
            self.problems.push(too_deep(self.file, line, column));
            return Err(YamlStop);
        }
        self.open.push(OpenCollection {
            line,
            column,
            anchor,
            content,
        });
        Ok(())
    }

    /// Adds a complete node to the innermost open list or map, as an item, a key or a value.
    fn add_node(&mut self, node: Node, anchor: usize) -> Result<(), YamlStop> {
        if anchor != 0 {
            // Storing an anchor costs as much as using it: otherwise nested anchors could multiply for free.
            let cost = expansion_cost(&node);
            self.spent = self.spent.saturating_add(cost);
            if self.spent > ALIAS_BUDGET {
                self.add_problem(
                    node.line,
                    node.column,
                    "anchors hold more than a file may repeat",
                    None,
                );
                return Err(YamlStop);
            }
            self.anchors.insert(anchor, (node.clone(), cost));
        }
        match self.open.last_mut().map(|open| &mut open.content) {
            None => self.root = Some(node),
            Some(CollectionContent::List(items)) => items.push(node),
            Some(CollectionContent::Map {
                entries,
                lines,
                pending,
            }) => match pending.take() {
                Some(PendingKey::Good(key)) => entries.push((key, node)),
                Some(PendingKey::Refused) => {}
                None => {
                    let (key, problem) = accept_key(self.file, node, lines, self.repeats);
                    *pending = Some(key);
                    self.problems.extend(problem);
                }
            },
        }
        Ok(())
    }

    /// Returns whether the tag asks for text. Accepts core schema tags that match the value; reports all others.
    fn check_tag(&mut self, tag: Option<&Tag>, expected: &str, line: usize, column: usize) -> bool {
        let Some(tag) = tag else { return false };
        let is_bare = tag.handle.is_empty() && tag.suffix == "!";
        let only_repeats = tag.is_yaml_core_schema() && tag.suffix == expected;
        if !is_bare && !only_repeats {
            let tag = if tag.is_yaml_core_schema() {
                format!("!!{}", tag.suffix)
            } else {
                tag.to_string()
            };
            self.add_problem(
                line,
                column,
                &format!("tag {} is not supported", quote_text(&tag)),
                Some("write the value without a tag"),
            );
        }
        expected == "str"
    }

    fn add_problem(&mut self, line: usize, column: usize, message: &str, hint: Option<&str>) {
        let problem = Problem::at_position(self.file, line, column, message);
        self.problems.push(match hint {
            Some(hint) => problem.with_hint(hint),
            None => problem,
        });
    }
}

/// Turns a node into a map's key, and notes its line in `lines`.
fn accept_key(
    file: &str,
    node: Node,
    lines: &mut BTreeMap<String, usize>,
    repeats: RepeatedKeys,
) -> (PendingKey, Option<Problem>) {
    let refused = |problem| (PendingKey::Refused, Some(problem));
    let noun = node.kind_noun();
    let Node {
        line,
        column,
        value,
    } = node;
    match value {
        Value::Scalar(Scalar {
            kind: ScalarKind::Null,
            ..
        })
        | Value::List(_)
        | Value::Map(_) => refused(Problem::at_position(
            file,
            line,
            column,
            format!("a key must be text, not {noun}"),
        )),
        Value::Scalar(Scalar { text, .. }) => {
            let key = MapKey { text, line, column };
            if let (RepeatedKeys::Refused, Some(first)) = (repeats, lines.get(&key.text)) {
                return refused(duplicate_key(file, &key, *first));
            }
            lines.insert(key.text.clone(), line);
            (PendingKey::Good(key), None)
        }
    }
}

fn expansion_cost(node: &Node) -> usize {
    NODE_COST
        + match &node.value {
            Value::Scalar(scalar) => scalar.text.len(),
            Value::List(items) => items.iter().map(expansion_cost).sum(),
            Value::Map(entries) => entries
                .iter()
                .map(|(key, node)| key.text.len() + expansion_cost(node))
                .sum(),
        }
}

fn node_depth(node: &Node) -> usize {
    match &node.value {
        Value::Scalar(_) => 0,
        Value::List(items) => 1 + items.iter().map(node_depth).max().unwrap_or(0),
        Value::Map(entries) => {
            1 + entries
                .iter()
                .map(|(_, node)| node_depth(node))
                .max()
                .unwrap_or(0)
        }
    }
}

/// How to handle a key that appears twice in a map.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RepeatedKeys {
    Refused,
    Kept,
}

#[cfg(test)]
mod tests {
    use std::fmt::Write;

    use super::super::parse;
    use super::*;

    #[track_caller]
    fn refused(text: &str, expected: &[&str]) {
        let problems: Vec<String> = parse("a.yaml", text)
            .expect_err("the text is wrong")
            .iter()
            .map(ToString::to_string)
            .collect();
        assert_eq!(problems, expected);
    }

    #[test]
    fn every_node_knows_its_place() {
        let root = parse(
            "a.yaml",
            "# head\na: 1\nlist:\n  - x\n  - {y: 'é', z: true}\nempty:\ntext: |\n  two\n  lines\n",
        )
        .expect("valid");
        assert_eq!((root.line, root.column), (2, 1));
        let place = |node: &Node| (node.line, node.column);
        assert_eq!(root.get("a").map(place), Some((2, 4)));
        let Some(Value::List(items)) = root.get("list").map(|node| &node.value) else {
            panic!("a list")
        };
        assert_eq!(
            items.iter().map(place).collect::<Vec<_>>(),
            [(4, 5), (5, 5)]
        );
        assert_eq!(
            items[1].get("y"),
            Some(&Node {
                line: 5,
                column: 9,
                value: Value::Scalar(Scalar::from_quoted("é".to_owned()))
            })
        );
        assert_eq!(items[1].get("z").map(place), Some((5, 17)));
        assert!(root.get("empty").is_some_and(Node::is_null));
        assert_eq!(
            root.get("text").map(|node| &node.value),
            Some(&Value::Scalar(Scalar::from_quoted(
                "two\nlines\n".to_owned()
            )))
        );
        let Value::Map(entries) = &root.value else {
            panic!("a map")
        };
        assert_eq!(
            entries
                .iter()
                .map(|(key, _)| (key.line, key.column))
                .collect::<Vec<_>>(),
            [(2, 1), (3, 1), (6, 1), (7, 1)]
        );
    }

    #[test]
    fn a_byte_order_mark_is_not_content() {
        let root = parse("a.yaml", "\u{feff}a: 1\r\nb: 2\r\n").expect("valid");
        assert_eq!(
            root.get("b").map(|node| (node.line, node.column)),
            Some((2, 4))
        );
    }

    #[test]
    fn nothing_is_not_a_document() {
        for text in ["", " \n\t\n", "# only a comment\n", "---\n", "---\n...\n"] {
            refused(text, &["a.yaml: the file is empty"]);
        }
    }

    #[test]
    fn a_table_keeps_both_of_a_repeated_key() {
        let root = super::super::parse_table("t.yml", "a: 1\na: 2\n").expect("valid");
        let Value::Map(entries) = &root.value else {
            panic!("a map")
        };
        assert_eq!(
            entries
                .iter()
                .map(|(key, node)| (key.text.as_str(), node.line))
                .collect::<Vec<_>>(),
            [("a", 1), ("a", 2)]
        );
        assert!(super::super::parse_table("t.yml", "[a]: 1\n").is_err());
    }

    #[test]
    fn one_document_per_file() {
        refused(
            "a: 1\n---\nb: 2\n",
            &["a.yaml:2:1: a second document starts here"],
        );
        assert!(parse("a.yaml", "---\na: 1\n...\n").is_ok());
    }

    #[test]
    fn keys_are_scalars_and_appear_once() {
        refused(
            "a: 1\nb: {c: 1, c: 2}\n'a': 3\n? [x]\n: 4\n~: 5\n",
            &[
                "a.yaml:2:11: duplicate key `c`",
                "a.yaml:3:1: duplicate key `a`",
                "a.yaml:4:3: a key must be text, not a list",
                "a.yaml:6:1: a key must be text, not null",
            ],
        );
        let root = parse("a.yaml", "007: a\ntrue: b\n").expect("valid");
        assert!(root.get("007").is_some() && root.get("true").is_some());
    }

    #[test]
    fn tags_beyond_text_are_refused() {
        let root = parse(
            "a.yaml",
            "a: !!str 4.10\nb: ! 12\nc: !!map {d: !!seq [1]}\n",
        )
        .expect("valid");
        assert_eq!(
            root.get("a").map(|node| &node.value),
            Some(&Value::Scalar(Scalar::from_quoted("4.10".to_owned())))
        );
        assert_eq!(
            root.get("b").map(|node| &node.value),
            Some(&Value::Scalar(Scalar::from_quoted("12".to_owned())))
        );
        refused(
            "a: !!python/object:os.system x\nb: !env HOME\nc: !!int 3\n",
            &[
                "a.yaml:1:4: tag `!!python/object:os.system` is not supported",
                "a.yaml:2:4: tag `!env` is not supported",
                "a.yaml:3:4: tag `!!int` is not supported",
            ],
        );
    }

    #[test]
    fn aliases_repeat_a_value_within_bounds() {
        let root = parse("a.yaml", "a: &x {k: 1}\nb: *x\n").expect("valid");
        assert_eq!(root.get("a"), root.get("b"));
        refused(
            "a: &x [1, *x]\n",
            &["a.yaml:1:11: this alias refers to the value that contains it"],
        );

        let mut laughs = "a0: &a0 [ha, ha, ha, ha, ha, ha, ha, ha, ha, ha]\n".to_owned();
        for level in 1..20 {
            let aliases = vec![format!("*a{}", level - 1); 10].join(", ");
            let _ = writeln!(laughs, "a{level}: &a{level} [{aliases}]");
        }
        let problems = parse("a.yaml", &laughs).expect_err("far too large");
        assert!(
            problems[0].message.contains("more than a file may"),
            "{problems:?}"
        );

        let long = format!(
            "a: &a {}\nb: [{}]\n",
            "x".repeat(1 << 20),
            "*a, ".repeat(10_000)
        );
        assert!(parse("a.yaml", &long).is_err());
    }

    #[test]
    fn brackets_without_end_are_given_up_before_they_are_parsed() {
        for piece in ["0,", "{a: 0},", "a: 0,", "[],", "&a ", "? "] {
            let problems =
                parse("a.yaml", &format!("[{}", piece.repeat(FREE_VALUES))).expect_err("too many");
            assert_eq!(problems.len(), 1);
            assert_eq!(problems[0].message, TOO_MANY.0, "{piece}");
        }
    }

    #[test]
    fn many_marks_outside_of_brackets_are_none() {
        let rows = "- {a: 1, b: [2, 3]}\n".repeat(FREE_VALUES / 8);
        let text = format!("{rows}- |\n  {}\n", "a, b: [".repeat(FREE_VALUES / 24));
        assert!(
            text.chars().filter(|character| is_mark(*character)).count()
                > FREE_VALUES / VALUES_OF_A_MARK * 3 / 2
        );
        assert!(parse("a.yaml", &text).is_ok());
    }

    #[test]
    fn depth_is_bounded() {
        assert!(
            parse(
                "a.yaml",
                &format!("{}{}", "[".repeat(MAX_DEPTH), "]".repeat(MAX_DEPTH))
            )
            .is_ok()
        );
        refused(
            &format!("{}{}", "[".repeat(101), "]".repeat(101)),
            &["a.yaml:1:101: nested deeper than 100 levels"],
        );
        assert!(parse("a.yaml", &"[".repeat(100_000)).is_err());
        let steps: Vec<String> = (0..2000)
            .map(|level| format!("{}- ", " ".repeat(level)))
            .collect();
        refused(
            &steps.join("\n"),
            &["a.yaml:101:101: nested deeper than 100 levels"],
        );
        refused(
            &format!("a: {}", "- ".repeat(5)),
            &["a.yaml:1:4: not valid YAML: block sequence entries are not allowed in this context"],
        );
        let mut ladder = "a0: &a0 [1]\n".to_owned();
        for level in 1..200 {
            let _ = writeln!(ladder, "a{level}: &a{level} [*a{}]", level - 1);
        }
        assert!(parse("a.yaml", &ladder).is_err());
    }

    #[test]
    fn control_characters_do_not_hide_what_follows() {
        refused(
            "a: 1\nbé\0b: 2\n",
            &["a.yaml:2:3: control character U+0000 is not allowed in YAML"],
        );
        refused(
            "a: \u{1b}[2J\n",
            &["a.yaml:1:4: control character U+001B is not allowed in YAML"],
        );
    }

    #[test]
    fn broken_syntax_is_named_with_its_place() {
        let problems = parse("a.yaml", "a: [1, 2\nb: 3\n").expect_err("unclosed");
        assert_eq!(problems.len(), 1);
        assert!(
            problems[0].line.is_some() && problems[0].message.starts_with("not valid YAML: "),
            "{problems:?}"
        );
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in "[-a-c0-1:#&*!?|>%@{}\\[\\],'\"\\\\ \\n\\t~.<éx]{0,60}") {
            let _ = parse("a.yaml", &text);
        }
    }
}
