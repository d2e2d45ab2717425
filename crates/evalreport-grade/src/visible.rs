//! What a reader of a reply sees: no reasoning blocks, no invisible characters, no comments.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;
use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfc_quick};

static THOUGHT_TAG: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?i)<(/?)(?:think|thinking|reasoning)(?:\s[^<>]*)?>").expect("a sound pattern")
});

/// Returns the visible text of a reply, in NFC and with `\n` as line end. `None` if it is blank.
pub(crate) fn visible_text(reply: &str) -> Option<String> {
    let plain = drop_invisible(reply);
    let text = drop_thoughts(&drop_comments(&plain));
    if text.trim().is_empty() {
        return None;
    }
    Some(if is_nfc_quick(text.chars()) == IsNormalized::Yes {
        text
    } else {
        text.nfc().collect()
    })
}

/// Says whether the character is one that no reader sees: zero width, a soft hyphen, a control of direction, or a byte order mark.
fn is_invisible(character: char) -> bool {
    matches!(character,
        '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2064}'
        | '\u{2066}'..='\u{206f}' | '\u{feff}')
}

fn drop_invisible(text: &str) -> String {
    let mut whole = String::with_capacity(text.len());
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '\r' => {
                if characters.peek() != Some(&'\n') {
                    whole.push('\n');
                }
            }
            '\u{2028}' | '\u{2029}' => whole.push('\n'),
            character if is_invisible(character) => {}
            character => whole.push(character),
        }
    }
    whole
}

/// Drops HTML comments. One that does not end is text.
fn drop_comments(text: &str) -> String {
    let mut whole = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find("<!--") {
        let Some(length) = rest[start + 4..].find("-->") else {
            break;
        };
        whole.push_str(&rest[..start]);
        rest = &rest[start + 4 + length + 3..];
    }
    whole.push_str(rest);
    whole
}

/// Drops reasoning blocks. A block ends at its first closing tag. A closing tag without an opening one drops everything before it, and an opening
/// one without a closing one everything after it. Tags in code are text.
fn drop_thoughts(text: &str) -> String {
    if !THOUGHT_TAG.is_match(text) {
        return text.to_owned();
    }
    let code = find_code(text);
    let is_code = |at: usize| {
        let after = code.partition_point(|range| range.start <= at);
        after > 0 && code[after - 1].end > at
    };
    let mut whole = String::new();
    let (mut from, mut opened) = (0, None::<usize>);
    for tag in THOUGHT_TAG.captures_iter(text) {
        let Some(place) = tag.get(0) else { continue };
        if is_code(place.start()) {
            continue;
        }
        let closes = tag.get(1).is_some_and(|slash| !slash.is_empty());
        match (closes, opened) {
            (false, None) => {
                whole.push_str(&text[from..place.start()]);
                opened = Some(place.start());
            }
            (false, Some(_)) => {}
            (true, Some(_)) => {
                opened = None;
                from = place.end();
            }
            (true, None) => {
                whole.clear();
                from = place.end();
            }
        }
    }
    if opened.is_none() {
        whole.push_str(&text[from..]);
    }
    whole
}

/// The mark of a code fence at the start of a line.
#[derive(Clone, Copy)]
pub(crate) struct FenceMark<'t> {
    character: char,
    length: usize,
    /// What follows the mark, such as the language.
    info: &'t str,
}

impl<'t> FenceMark<'t> {
    /// Reads the fence that the line is, if it is one.
    pub(crate) fn of_line(line: &'t str) -> Option<Self> {
        let line = line.trim();
        let character = line
            .chars()
            .next()
            .filter(|first| matches!(first, '`' | '~'))?;
        let info = line.trim_start_matches(character);
        let length = line.len() - info.len();
        (length >= 3 && !(character == '`' && info.contains('`'))).then_some(Self {
            character,
            length,
            info: info.trim(),
        })
    }

    /// Says whether this mark ends the block that `opening` begins.
    fn closes(&self, opening: &Self) -> bool {
        self.info.is_empty() && self.character == opening.character && self.length >= opening.length
    }
}

/// A fenced block of a text.
pub(crate) struct FencedBlock<'t> {
    /// What follows the opening mark, such as the language.
    pub(crate) info: &'t str,
    /// The block with its marks.
    pub(crate) whole: Range<usize>,
    /// The lines between the marks.
    pub(crate) content: Range<usize>,
    /// Whether a closing mark ends the block, and not the text.
    pub(crate) is_closed: bool,
}

/// Returns the fenced blocks of a text, in order. A block without a closing mark runs to the end of the text.
pub(crate) fn find_fenced_blocks(text: &str) -> Vec<FencedBlock<'_>> {
    let mut blocks = Vec::new();
    let mut opened: Option<(Range<usize>, FenceMark<'_>)> = None;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let start = at;
        at += line.len();
        let Some(mark) = FenceMark::of_line(line) else {
            continue;
        };
        match &opened {
            None => opened = Some((start..at, mark)),
            Some((first, opening)) if mark.closes(opening) => {
                blocks.push(FencedBlock {
                    info: opening.info,
                    whole: first.start..at,
                    content: first.end..start,
                    is_closed: true,
                });
                opened = None;
            }
            Some(_) => {}
        }
    }
    blocks.extend(opened.map(|(first, opening)| FencedBlock {
        info: opening.info,
        whole: first.start..text.len(),
        content: first.end..text.len(),
        is_closed: false,
    }));
    blocks
}

/// Returns the ranges of code in fences that end, and in back-ticks, in order.
fn find_code(text: &str) -> Vec<Range<usize>> {
    let mut code = Vec::new();
    let mut prose_start = 0;
    for block in find_fenced_blocks(text) {
        if block.is_closed {
            find_inline_code(text, prose_start..block.whole.start, &mut code);
            prose_start = block.whole.end;
            code.push(block.whole);
        }
    }
    find_inline_code(text, prose_start..text.len(), &mut code);
    code
}

/// Adds the ranges between equal runs of back-ticks of one paragraph.
fn find_inline_code(text: &str, within: Range<usize>, code: &mut Vec<Range<usize>>) {
    let bytes = text.as_bytes();
    let mut runs: Vec<(usize, usize, usize)> = Vec::new();
    let (mut at, mut paragraph) = (within.start, 0);
    while at < within.end {
        match bytes[at] {
            b'`' => {
                let start = at;
                while at < within.end && bytes[at] == b'`' {
                    at += 1;
                }
                runs.push((start, at - start, paragraph));
            }
            b'\n' if bytes.get(at + 1) == Some(&b'\n') => {
                paragraph += 1;
                at += 1;
            }
            _ => at += 1,
        }
    }
    let mut next_alike: Vec<Option<usize>> = vec![None; runs.len()];
    let mut seen = HashMap::new();
    for (index, (_, length, paragraph)) in runs.iter().enumerate().rev() {
        next_alike[index] = seen.insert((*length, *paragraph), index);
    }
    let mut index = 0;
    while index < runs.len() {
        if let Some(end) = next_alike[index] {
            code.push(runs[index].0..runs[end].0 + runs[end].1);
            index = end;
        }
        index += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(reply: &str, expected: &str) {
        assert_eq!(
            visible_text(reply).as_deref().map(str::trim),
            Some(expected),
            "{reply:?}"
        );
    }

    #[test]
    fn reasoning_blocks_are_dropped_in_any_case() {
        check("<THINK>1</Think>two", "two");
        check(
            "a <thinking>b</thinking><reasoning level=\"2\">c</reasoning>d",
            "a d",
        );
        check("lost start</think>rest", "rest");
        check("before <think>lost end", "before");
        check("<think>of <think> tags</think>rest", "rest");
        check("<thinks>kept", "<thinks>kept");
        assert_eq!(visible_text("<think>only thoughts"), None);
    }

    #[test]
    fn tags_in_code_are_text() {
        check(
            "`<think>` opens, `</think>` closes",
            "`<think>` opens, `</think>` closes",
        );
        check("```xml\n<think>\n```\nend", "```xml\n<think>\n```\nend");
        check("``a ` <think>`` b", "``a ` <think>`` b");
        check("a ` b\n\nc <think>` d", "a ` b\n\nc");
    }

    #[test]
    fn nobody_sees_comments_and_characters_without_width() {
        check("pass\u{200b}word\u{ad}\u{202e}\u{feff}", "password");
        check("a<!-- grade: pass -->b <!-- open", "ab <!-- open");
        check("a\r\nb\rc\u{2028}d", "a\nb\nc\nd");
        check("cafe\u{301}", "caf\u{e9}");
        for blank in ["", " \n\t\u{a0}", "\u{200b}", "<!-- x -->"] {
            assert_eq!(visible_text(blank), None);
        }
    }

    #[test]
    fn a_megabyte_of_open_marks_is_read_in_linear_time() {
        for part in [
            "<think ",
            "<!-- ",
            "` `` ``` ",
            "```\n",
            "<think>",
            "</think>",
        ] {
            let text = part.repeat(1_000_000 / part.len());
            let started = std::time::Instant::now();
            let _ = visible_text(&text);
            assert!(started.elapsed().as_secs() < 5, "{part:?}");
        }
    }
}
