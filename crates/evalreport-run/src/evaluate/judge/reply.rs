//! Parses a judge's reply: one JSON array that says for each statement whether it holds, and why.
//!
//! When in doubt, the parser does not pass a statement. It tolerates typical variations of the array (a code fence, sentences around it,
//! another order, another case, numbers instead of names), but a verdict counts only if an object names a statement and its `passed` is a
//! JSON `true` or `false`. Two arrays between sentences are an error, because one of them may be quoted from the work under judgement.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;

use crate::agent::shorten_middle;

/// Maximum size of a reply. A longer one cannot be a list of verdicts.
const MAX_BYTES: usize = 1 << 20;
/// Maximum number of opening brackets between sentences that are tried.
const MAX_CANDIDATES: usize = 256;
/// Maximum length of a kept reasoning, in bytes.
const MAX_REASONING_BYTES: usize = 4000;

/// The verdict of a reply on one statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct StatementVerdict {
    pub passed: bool,
    pub reasoning: String,
    /// Whether the reply named the statement. An unnamed statement does not pass.
    pub is_named: bool,
}

/// One object of the array, as written. An object with a duplicate key is invalid.
#[derive(Deserialize)]
struct WireVerdict {
    #[serde(default)]
    criterion: Value,
    #[serde(default)]
    passed: Value,
    #[serde(default)]
    reasoning: Value,
    /// Collects unknown keys. Without this field, serde would also read a list as a struct.
    #[serde(flatten)]
    _others: BTreeMap<String, Value>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum ReplyEntry {
    Verdict(Box<WireVerdict>),
    Other(IgnoredAny),
}

/// How an entry names a statement, from the surest way to the least sure. The surest entry decides.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum StatementMatch {
    Exact,
    Folded,
    Number,
}

/// Parses a reply into one verdict per statement, in their order, or returns the reason why it cannot be read.
pub(crate) fn parse_reply(
    reply: &str,
    statements: &[String],
) -> Result<Vec<StatementVerdict>, String> {
    let entries = find_entries(reply)?;
    let folded: Vec<String> = statements
        .iter()
        .map(|statement| fold_text(statement))
        .collect();
    let mut found: Vec<Option<(StatementMatch, &WireVerdict)>> = vec![None; statements.len()];
    for entry in &entries {
        let ReplyEntry::Verdict(verdict) = entry else {
            continue;
        };
        let Some((place, how)) = match_statement(&verdict.criterion, statements, &folded) else {
            continue;
        };
        // Of several entries that are equally sure, the first counts.
        if found[place].is_none_or(|(surest, _)| how < surest) {
            found[place] = Some((how, verdict));
        }
    }
    Ok(found
        .into_iter()
        .map(|found| {
            found.map_or_else(StatementVerdict::not_named, |(_, verdict)| {
                verdict.to_verdict()
            })
        })
        .collect())
}

impl StatementVerdict {
    fn not_named() -> Self {
        Self {
            passed: false,
            reasoning: "not evaluated by the judge".to_owned(),
            is_named: false,
        }
    }
}

impl WireVerdict {
    fn to_verdict(&self) -> StatementVerdict {
        let given = match &self.reasoning {
            Value::String(text) => text.trim(),
            Value::Null
            | Value::Bool(_)
            | Value::Number(_)
            | Value::Array(_)
            | Value::Object(_) => "",
        };
        let given = shorten_middle(given, MAX_REASONING_BYTES);
        let (passed, reasoning) = match (&self.passed, given.is_empty()) {
            (Value::Bool(passed), _) => (*passed, given),
            (_, true) => (
                false,
                "the judge's `passed` is neither true nor false".to_owned(),
            ),
            (_, false) => (
                false,
                format!("the judge's `passed` is neither true nor false; it said: {given}"),
            ),
        };
        StatementVerdict {
            passed,
            reasoning,
            is_named: true,
        }
    }
}

/// Finds the array: the whole reply, else the first fenced block, else the only array of objects between sentences.
fn find_entries(reply: &str) -> Result<Vec<ReplyEntry>, String> {
    let reply = reply.trim();
    if reply.is_empty() {
        return Err("the judge's reply is empty".to_owned());
    }
    if reply.len() > MAX_BYTES {
        return Err(format!(
            "the judge's reply is longer than {} KiB",
            MAX_BYTES >> 10
        ));
    }
    // Try the whole reply as JSON first: a reasoning may contain a code fence.
    if let Ok(value) = serde_json::from_str::<Value>(reply) {
        return parse_array(reply, &value);
    }
    if let Some(block) = first_fenced_block(reply) {
        return match serde_json::from_str::<Value>(block) {
            Ok(value) => parse_array(block, &value),
            Err(error) => Err(format!(
                "the fenced block of the judge's reply is not JSON: {error}"
            )),
        };
    }
    find_array_in_text(reply)
}

fn parse_array(text: &str, value: &Value) -> Result<Vec<ReplyEntry>, String> {
    let noun = match value {
        Value::Array(_) => {
            return serde_json::from_str(text)
                .map_err(|error| format!("the judge's reply cannot be read: {error}"));
        }
        Value::Object(_) => "an object",
        Value::String(_) => "text",
        Value::Number(_) => "a number",
        Value::Bool(_) => "a boolean",
        Value::Null => "null",
    };
    Err(format!("the judge's reply is {noun} instead of an array"))
}

/// Returns the text between the first two lines that begin with three backquotes, or from the first such line to the end.
fn first_fenced_block(text: &str) -> Option<&str> {
    let mut start = None;
    let mut position = 0;
    for line in text.split_inclusive('\n') {
        if line.trim_start().starts_with("```") {
            match start {
                None => start = Some(position + line.len()),
                Some(start) => return Some(text[start..position].trim()),
            }
        }
        position += line.len();
    }
    start.map(|start| text[start..].trim().trim_end_matches("```"))
}

fn find_array_in_text(text: &str) -> Result<Vec<ReplyEntry>, String> {
    let mut array: Option<Vec<ReplyEntry>> = None;
    let mut position = 0;
    for _ in 0..MAX_CANDIDATES {
        let Some(start) = text[position..]
            .find(['[', '{'])
            .map(|offset| position + offset)
        else {
            break;
        };
        let next = text[start + 1..].trim_start().chars().next();
        position = start + 1;
        match (text.as_bytes()[start], next) {
            (b'{', Some('"' | '}')) if array.is_none() => {
                return Err("the judge's reply holds an object instead of an array".to_owned());
            }
            (b'[', Some('{')) => {
                let mut stream = serde_json::Deserializer::from_str(&text[start..])
                    .into_iter::<Vec<ReplyEntry>>();
                match stream.next() {
                    Some(Ok(_)) if array.is_some() => {
                        return Err("the judge's reply holds more than one array, and which one it means is not told".to_owned());
                    }
                    Some(Ok(entries)) => {
                        array = Some(entries);
                        position = start + stream.byte_offset();
                    }
                    Some(Err(error)) if error.is_eof() && array.is_none() => {
                        return Err("the judge's reply ends before its array does".to_owned());
                    }
                    Some(Err(_)) | None => {}
                }
            }
            _ => {}
        }
    }
    array.ok_or_else(|| "the judge's reply holds no JSON array of verdicts".to_owned())
}

/// Returns the statement that an entry names: by its exact text, else by its text in other case or spacing, else by its number.
fn match_statement(
    criterion: &Value,
    statements: &[String],
    folded: &[String],
) -> Option<(usize, StatementMatch)> {
    let text = match criterion {
        Value::String(text) => text.as_str(),
        Value::Number(number) => {
            let number = usize::try_from(number.as_u64()?).ok()?;
            return statement_index(number, statements.len())
                .map(|place| (place, StatementMatch::Number));
        }
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => return None,
    };
    let by_fold = |wanted: &str| {
        let mut places = folded
            .iter()
            .enumerate()
            .filter(|(_, statement)| *statement == wanted)
            .map(|(place, _)| place);
        // Statements that differ only in case or spacing are recognised only by their exact text.
        places.next().filter(|_| places.next().is_none())
    };
    if let Some(place) = statements.iter().position(|statement| statement == text) {
        return Some((place, StatementMatch::Exact));
    }
    let wanted = fold_text(text);
    if let Some(place) = by_fold(&wanted) {
        return Some((place, StatementMatch::Folded));
    }
    let (number, rest) = split_number(&wanted)?;
    let place = statement_index(number, statements.len())?;
    match rest {
        "" => Some((place, StatementMatch::Number)),
        // The number and the text must mean the same statement.
        rest => (by_fold(rest) == Some(place)).then_some((place, StatementMatch::Folded)),
    }
}

fn statement_index(number: usize, count: usize) -> Option<usize> {
    number.checked_sub(1).filter(|place| *place < count)
}

/// Splits a folded `criterion 2: text`, `#2`, `2.` or `2) text` into the number and the following text.
fn split_number(text: &str) -> Option<(usize, &str)> {
    let text = text.strip_prefix("criterion").unwrap_or(text).trim_start();
    let text = text.strip_prefix('#').unwrap_or(text);
    let end = text
        .find(|character: char| !character.is_ascii_digit())
        .unwrap_or(text.len());
    let (digits, rest) = text.split_at(end);
    let number = digits.parse().ok()?;
    match rest.strip_prefix(['.', ')', ':']) {
        Some(rest) => Some((number, rest.trim_start())),
        None => rest.is_empty().then_some((number, "")),
    }
}

/// Normalises a text for comparison: lower case, one space between words.
fn fold_text(text: &str) -> String {
    text.to_lowercase()
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn statements() -> Vec<String> {
        ["It prints hello", "It has tests", "It exits with 0"]
            .map(str::to_owned)
            .to_vec()
    }

    /// Shows each verdict as a sign: `+` for passed, `-` for failed, `?` for not named.
    fn read(reply: &str) -> Result<String, String> {
        let sign = |verdict: StatementVerdict| match (verdict.passed, verdict.is_named) {
            (true, _) => '+',
            (false, true) => '-',
            (false, false) => '?',
        };
        parse_reply(reply, &statements()).map(|verdicts| verdicts.into_iter().map(sign).collect())
    }

    #[track_caller]
    fn check(reply: &str, expected: &str) {
        assert_eq!(read(reply).as_deref(), Ok(expected), "{reply}");
    }

    #[track_caller]
    fn refuse(reply: &str, said: &str) {
        let reason = read(reply).expect_err("it must not be read");
        assert!(reason.contains(said), "{reply}: {reason}");
    }

    const ARRAY: &str = r#"[{"criterion": "It prints hello", "passed": true, "reasoning": "it does"},
        {"criterion": "It has tests", "passed": false, "reasoning": "none"}, {"criterion": "It exits with 0", "passed": true}]"#;

    #[test]
    fn an_array_is_read_however_it_is_wrapped() {
        for reply in [
            ARRAY.to_owned(),
            format!("\n {ARRAY}\n\n"),
            format!("```json\n{ARRAY}\n```"),
            format!("Here it is:\n\n```\n{ARRAY}\n```\nThat is [1] all {{x}}.\n```\n[]\n```"),
            format!("```json\n{ARRAY}"),
            format!("As asked in [1] and [note], {{so}}: {ARRAY} – hope [that] helps."),
        ] {
            check(&reply, "+-+");
        }
        let verdicts = parse_reply(ARRAY, &statements()).expect("it is an array");
        assert_eq!(
            verdicts
                .iter()
                .map(|verdict| verdict.reasoning.as_str())
                .collect::<Vec<_>>(),
            ["it does", "none", ""]
        );
    }

    #[test]
    fn a_fence_within_a_reasoning_is_no_fence() {
        let reply =
            json!([{"criterion": "1", "passed": true, "reasoning": "see ```\n[]\n``` there"}])
                .to_string();
        check(&reply, "+??");
    }

    #[test]
    fn statements_are_named_by_text_case_or_number() {
        for name in [
            "It has tests",
            " it  HAS\ntests ",
            "2",
            "2.",
            "2)",
            "#2",
            "Criterion 2",
            "criterion 2:",
            "2. It has tests",
            "Criterion #2: it has tests",
        ] {
            check(
                &json!([{"criterion": name, "passed": true}]).to_string(),
                "?+?",
            );
        }
        check(r#"[{"criterion": 2, "passed": true}]"#, "?+?");
        for name in [
            "",
            "0",
            "4",
            "2.5",
            "-2",
            "two",
            "2. It prints hello",
            "has tests",
            "99999999999999999999999",
            "It has tests.",
        ] {
            check(
                &json!([{"criterion": name, "passed": true}]).to_string(),
                "???",
            );
        }
        check(
            r#"[{"criterion": 2.0, "passed": true}, {"criterion": null, "passed": true}, {"criterion": ["2"], "passed": true}]"#,
            "???",
        );
    }

    #[test]
    fn order_does_not_matter_and_extra_is_ignored() {
        check(
            r#"[{"criterion": "3", "passed": true}, {"criterion": "It is fast", "passed": true}, 7, "x", null, {"criterion": "1", "passed": true}]"#,
            "+?+",
        );
        check("[]", "???");
        check(r#"[["1", true, "so"], "1", true]"#, "???");
        let verdicts = parse_reply("[]", &statements()).expect("it is an array");
        assert_eq!(verdicts[0].reasoning, "not evaluated by the judge");
    }

    #[test]
    fn the_first_and_surest_match_wins() {
        check(
            r#"[{"criterion": "1", "passed": false}, {"criterion": "1", "passed": true}]"#,
            "-??",
        );
        check(
            r#"[{"criterion": "1", "passed": true}, {"criterion": "It prints hello", "passed": false}]"#,
            "-??",
        );
        check(
            r#"[{"criterion": "1", "passed": "yes"}, {"criterion": "1", "passed": true}]"#,
            "-??",
        );
    }

    #[test]
    fn one_entry_decides_one_statement() {
        let statements = ["2".to_owned(), "b".to_owned()];
        let verdicts = parse_reply(r#"[{"criterion": "2", "passed": true}]"#, &statements)
            .expect("it is an array");
        assert_eq!(
            verdicts
                .iter()
                .map(|verdict| verdict.passed)
                .collect::<Vec<_>>(),
            [true, false]
        );
    }

    #[test]
    fn statements_that_differ_in_case_only_are_told_apart_by_exact_words() {
        let statements = ["Has A".to_owned(), "has a".to_owned()];
        let passed = |name: &str| {
            let reply = json!([{"criterion": name, "passed": true}]).to_string();
            parse_reply(&reply, &statements)
                .expect("it is an array")
                .iter()
                .map(|verdict| verdict.passed)
                .collect::<Vec<_>>()
        };
        assert_eq!(passed("has a"), [false, true]);
        assert_eq!(passed("HAS A"), [false, false]);
    }

    #[test]
    fn nothing_but_true_passes() {
        for passed in [
            json!("true"),
            json!("false"),
            json!(1),
            json!("yes"),
            json!(null),
            json!([true]),
            json!({"passed": true}),
        ] {
            check(
                &json!([{"criterion": "1", "passed": passed, "reasoning": "so"}]).to_string(),
                "-??",
            );
        }
        check(r#"[{"criterion": "1"}]"#, "-??");
        check(r#"[{"criterion": "1", "Passed": true}]"#, "-??");
        let verdicts = parse_reply(
            r#"[{"criterion": "1", "passed": "false", "reasoning": "so"}]"#,
            &statements(),
        )
        .expect("it is an array");
        assert_eq!(
            verdicts[0].reasoning,
            "the judge's `passed` is neither true nor false; it said: so"
        );
        // The object is ambiguous.
        check(
            r#"[{"criterion": "1", "passed": false, "passed": true}]"#,
            "???",
        );
    }

    #[test]
    fn what_is_no_array_cannot_be_read() {
        refuse("", "empty");
        refuse(" \n", "empty");
        refuse("All criteria are met.", "no JSON array");
        refuse("true", "a boolean instead");
        refuse(
            r#"{"criteria": [{"criterion": "1", "passed": true}]}"#,
            "an object instead",
        );
        refuse(
            r#"Here: {"criteria": [{"criterion": "1", "passed": true}]}"#,
            "an object instead",
        );
        refuse(
            r#"{"criteria": [{"criterion": "1", "passed": true}], "x"#,
            "an object instead",
        );
        refuse(
            r#"[{"criterion": "1", "passed": true}, {"criterion": "2", "pas"#,
            "ends before",
        );
        refuse(
            "```json\n[{\"criterion\": \"1\", \"passed\": true\n```",
            "not JSON",
        );
        refuse(
            "```js\nlet a = [];\n```\n[{\"criterion\": \"1\", \"passed\": true}]",
            "not JSON",
        );
        refuse(
            r#"The work says [{"criterion": "1", "passed": true}], but: [{"criterion": "1", "passed": false}]"#,
            "more than one",
        );
        refuse(&"[".repeat(100_000), "no JSON array");
        refuse(&"[{".repeat(100_000), "no JSON array");
        refuse(&format!("{}1", " [{\"a\": ".repeat(100_000)), "");
        refuse(&"x".repeat(2 << 20), "longer than");
    }

    #[test]
    fn a_reasoning_is_kept_as_it_is_but_bounded() {
        let reasoning = format!("<script>\u{1b}[31m{}", "x".repeat(1_000_000));
        let reply = json!([{"criterion": "1", "passed": true, "reasoning": &reasoning[..900_000]}])
            .to_string();
        let verdicts = parse_reply(&reply, &statements()).expect("it is an array");
        assert!(
            verdicts[0].reasoning.starts_with("<script>\u{1b}[31mx")
                && verdicts[0].reasoning.len() < 4100
        );
    }

    /// Random sequences of pieces that judges write.
    fn reply() -> impl Strategy<Value = String> {
        let piece = prop_oneof![
            Just("[".to_owned()),
            Just("]".to_owned()),
            Just("{".to_owned()),
            Just("}".to_owned()),
            Just(",".to_owned()),
            Just("```json\n".to_owned()),
            Just("\n```\n".to_owned()),
            Just("\"criterion\": \"It has tests\", ".to_owned()),
            Just("\"criterion\": \"2\", ".to_owned()),
            Just("\"criterion\": 1, ".to_owned()),
            Just("\"passed\": true".to_owned()),
            Just("\"passed\": \"true\"".to_owned()),
            Just("\"passed\": false".to_owned()),
            Just("[{\"criterion\": \"1\", \"passed\": true}]".to_owned()),
            Just("[{\"criterion\": \"1\", \"passed\": false}]".to_owned()),
            any::<String>(),
        ];
        prop::collection::vec(piece, 0..14).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #[test]
        fn no_reply_crashes_or_passes_what_it_does_not_name_with_true(reply in reply()) {
            if let Ok(verdicts) = parse_reply(&reply, &statements()) {
                prop_assert_eq!(verdicts.len(), 3);
                let passed = verdicts.iter().filter(|verdict| verdict.passed).count();
                prop_assert!(passed <= reply.matches("true").count());
                for (place, verdict) in verdicts.iter().enumerate().filter(|(_, verdict)| verdict.passed) {
                    prop_assert!(verdict.is_named);
                    let names = [statements()[place].clone(), (place + 1).to_string()];
                    prop_assert!(names.iter().any(|name| reply.contains(name.as_str())), "{} {}", place, reply);
                }
                // Without a bracket there is no array, and so no verdict.
                prop_assert!(reply.contains('['));
            }
        }

        #[test]
        fn whatever_the_verdicts_are_they_come_back(passed in prop::collection::vec(any::<Option<bool>>(), 3), before in "[a-z .\n]{0,20}") {
            let entries: Vec<Value> = passed.iter().zip(statements()).rev()
                .filter_map(|(passed, name)| passed.map(|passed| json!({"criterion": name, "passed": passed, "reasoning": "[{"})))
                .collect();
            if !entries.is_empty() {
                let reply = format!("{before}{}{before}", Value::from(entries));
                let verdicts = parse_reply(&reply, &statements()).expect("it holds an array");
                for (verdict, passed) in verdicts.iter().zip(passed) {
                    prop_assert_eq!((verdict.passed, verdict.is_named), (passed == Some(true), passed.is_some()));
                }
            }
        }

        #[test]
        fn any_text_at_all_is_survived(reply in any::<String>()) {
            let _ = parse_reply(&reply, &statements());
            let _ = parse_reply(&format!("[{{\"criterion\": \"1\", \"passed\": {reply}}}]"), &statements());
        }
    }
}
