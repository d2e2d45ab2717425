//! Where a reply has its JSON.

use super::parse::{ParsedJson, parse_start, parse_whole};
use crate::graded::GradeError;
use crate::visible::{FencedBlock, find_fenced_blocks};

/// Bytes that are looked at for values in prose, per byte of the reply. More means brackets that were written to be in the way.
const MAX_STEPS_PER_BYTE: usize = 4;
/// Different values that are compared. A reply with more means none of them.
const MAX_VALUES: usize = 16;

/// Returns the values that the reply can mean: the whole text; or the last fenced block tagged `json` or not at all; or each different span in
/// brackets.
///
/// # Errors
///
/// `Missing` without brackets, and `Unparsable` if there are some but no JSON.
pub(crate) fn find_json(text: &str, is_lenient: bool) -> Result<Vec<ParsedJson>, GradeError> {
    if let Some(parsed) = parse_whole(text.trim(), is_lenient) {
        return Ok(vec![parsed]);
    }
    if let Some(block) = last_block(text) {
        return match parse_whole(block.trim(), is_lenient) {
            Some(parsed) => Ok(vec![parsed]),
            None => Err(GradeError::Unparsable),
        };
    }
    let mut steps = MAX_STEPS_PER_BYTE * text.len();
    let mut found: Vec<ParsedJson> = Vec::new();
    let (mut at, mut has_brackets) = (0, false);
    while let Some(offset) = text[at..].find(['{', '[']) {
        has_brackets = true;
        at += offset;
        match parse_start(&text[at..], is_lenient, &mut steps) {
            Some(parsed) => {
                at += parsed.end;
                if !found.iter().any(|known| known.value == parsed.value) {
                    found.push(parsed);
                }
            }
            None => at += 1,
        }
        if steps == 0 || found.len() > MAX_VALUES {
            return Err(GradeError::Unparsable);
        }
    }
    match (found.is_empty(), has_brackets) {
        (false, _) => Ok(found),
        (true, true) => Err(GradeError::Unparsable),
        (true, false) => Err(GradeError::Missing),
    }
}

/// Returns the content of the last fenced block that is tagged `json` or not at all. A block that does not end runs to the end of the text.
fn last_block(text: &str) -> Option<&str> {
    let is_json = |block: &FencedBlock<'_>| {
        let tag = block
            .info
            .split_whitespace()
            .next()
            .unwrap_or_default()
            .to_lowercase();
        matches!(tag.as_str(), "" | "json" | "jsonc" | "json5")
    };
    let block = find_fenced_blocks(text).into_iter().rfind(is_json)?;
    Some(&text[block.content])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Result<Vec<String>, GradeError> {
        let values = find_json(text, false)?;
        Ok(values
            .iter()
            .map(|parsed| parsed.value.to_serde().to_string())
            .collect())
    }

    #[track_caller]
    fn check(text: &str, expected: Result<&[&str], GradeError>) {
        let expected = expected.map(|texts| texts.iter().map(|text| (*text).to_owned()).collect());
        assert_eq!(found(text), expected, "{text:?}");
    }

    #[test]
    fn the_whole_text_or_the_last_block_or_a_span_is_the_answer() {
        check(" [1] ", Ok(&["[1]"]));
        check("42", Ok(&["42"]));
        check(
            "See:\n```json\n[1]\n```\nor\n```\n[2]\n```\nbye [3]",
            Ok(&["[2]"]),
        );
        check("```json\n{\"a\": \"``` \"}\n```", Ok(&["{\"a\":\"``` \"}"]));
        check(
            "```python\n[1]\n```\nso {\"a\": 1}",
            Ok(&["[1]", "{\"a\":1}"]),
        );
        check(
            "```json\n[1]\n```\nbetter:\n```json\n[2\n```",
            Err(GradeError::Unparsable),
        );
        check("```json\n[1]", Ok(&["[1]"]));
        check("It is {\"a\": 1}, so {\"a\": 1.0}.", Ok(&["{\"a\":1}"]));
        check("{a} or [1]", Ok(&["[1]"]));
        check("no", Err(GradeError::Missing));
        check("{a}", Err(GradeError::Unparsable));
    }

    #[test]
    fn brackets_in_the_way_take_linear_time() {
        for part in ["[", "{\"a\":", "[1,", "[]", "```json\n", "[\""] {
            let text = part.repeat(1_000_000 / part.len());
            let started = std::time::Instant::now();
            let _ = find_json(&text, true);
            assert!(started.elapsed().as_secs() < 8, "{part:?}");
        }
    }
}
