//! Where a reply gives its final answer.
//!
//! The first rank that occurs counts, and in it the last marker:
//!
//! 1. `<answer>…</answer>`;
//! 2. `\boxed{…}`, `#### …`, and lines that begin with `Answer:`, `Final answer:` or a label of the grader;
//! 3. "the answer is …" in prose.

use std::ops::Range;
use std::sync::LazyLock;

use quick_xml::escape::resolve_xml_entity;
use regex::Regex;

use crate::cleaning::{clean_text, drop_emphasis};
use crate::visible::FenceMark;

/// Longest name of an XML entity, such as `&#x10FFFF;`.
const MAX_ENTITY: usize = 12;

/// How often a label is repeated at most.
const MAX_REPEATED_LABELS: usize = 4;

static ANSWER_ELEMENT: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"(?is)<answer\s*>(.*?)</answer\s*>").expect("a sound pattern"));
static OPENING_ANSWER: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"(?i)<answer\s*>").expect("a sound pattern"));
static IN_PROSE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?i)\bthe\s+(?:(?:final|correct|right)\s+){0,2}answer\s+is\b\s*[:\u{ff1a}]?")
        .expect("a sound pattern")
});
static CORRECTION: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?im)(?:^|[.!?\u{2026}]['\x22)\]*_]*\s+)[\s>*_#-]*(wait\b|no\s*[,:]|correction\b|scratch\s+that\b)")
        .expect("a sound pattern")
});
static SENTENCE_END: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?i)[.!?]+(?:\s|$)|[\u{3002}\u{ff01}\u{ff1f}\n;]| [\u{2013}\u{2014}] |\b(?:because|since|where)\b")
        .expect("a sound pattern")
});
/// Words whose full stop ends no sentence.
const ABBREVIATIONS: [&str; 16] = [
    "approx", "ca", "c", "e.g", "i.e", "vs", "no", "nr", "dr", "st", "mr", "mrs", "prof", "fig",
    "cf", "resp",
];

/// Which text of a reply is looked at.
#[derive(Clone, Debug, Default)]
pub(crate) struct AnswerPlace {
    /// Only the last line counts, and no marker.
    pub(crate) final_line_only: bool,
    /// Without a marker there is no answer.
    pub(crate) require_marker: bool,
    label_line: Option<Regex>,
}

/// A text that a marker points to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct MarkedText {
    pub(crate) text: String,
    /// Whether the answer ends with its sentence. The text in a box or an element is the answer as a whole.
    pub(crate) is_prose: bool,
}

impl AnswerPlace {
    /// Creates a place whose markers include lines that begin with one of these labels.
    pub(crate) fn new(final_line_only: bool, require_marker: bool, labels: &[String]) -> Self {
        let mut further = String::new();
        for label in labels {
            further.push('|');
            further.push_str(&regex::escape(label.trim()));
        }
        let pattern = format!(
            r"(?i)^[\s>*_~`#|\u{{2022}}+-]*(?:\\text(?:bf)?\{{)?[*_`]*(?:final\s+answer|answer{further})[*_`]*(?:\s*[:\u{{ff1a}}][*_`}}]*\s*(.*)|\s*)$"
        );
        Self {
            final_line_only,
            require_marker,
            label_line: Regex::new(&pattern).ok(),
        }
    }

    /// Returns the texts of the last marker of the first rank that occurs: several if its line has several. `None` without a marker.
    pub(crate) fn find_marked(&self, text: &str) -> Option<Vec<MarkedText>> {
        find_elements(text)
            .or_else(|| self.find_labels(text))
            .or_else(|| find_in_prose(text))
    }

    /// Returns what follows the label at the start of a line; empty if the label stands alone. `None` if the line has no label.
    fn read_label(&self, line: &str) -> Option<String> {
        let pattern = self.label_line.as_ref()?;
        let plain = drop_marks(line);
        let mut rest = pattern
            .captures(&plain)?
            .get(1)
            .map_or("", |rest| rest.as_str());
        // "Answer: Answer: C" has one label, written twice.
        for _ in 0..MAX_REPEATED_LABELS {
            let Some(inner) = pattern.captures(rest).and_then(|found| found.get(1)) else {
                break;
            };
            rest = inner.as_str();
        }
        Some(rest.trim().to_owned())
    }

    fn find_labels(&self, text: &str) -> Option<Vec<MarkedText>> {
        let boxes = find_boxes(text);
        let last_box = boxes.last().map(|(start, _)| *start);
        let boxed_line = last_box.map(|start| text[..start].rfind('\n').map_or(0, |end| end + 1));
        let lines: Vec<&str> = text.split('\n').collect();
        let mut at = text.len() + 1;
        for (index, line) in lines.iter().enumerate().rev() {
            at -= line.len() + 1;
            if boxed_line == Some(at) {
                // A box in a line with a label is the same marker.
                let of_line =
                    |(start, _): &&(usize, Range<usize>)| (at..=at + line.len()).contains(start);
                return Some(
                    boxes
                        .iter()
                        .filter(of_line)
                        .map(|(_, inner)| MarkedText {
                            text: text[inner.clone()].to_owned(),
                            is_prose: false,
                        })
                        .collect(),
                );
            }
            let label = self.read_label(line).or_else(|| {
                let rest = line.trim_start().strip_prefix("####")?;
                (!rest.starts_with('#') && !rest.trim().is_empty()).then(|| rest.trim().to_owned())
            });
            if let Some(rest) = label {
                let text = if rest.is_empty() {
                    self.next_line(&lines[index + 1..])
                } else {
                    rest
                };
                return Some(vec![MarkedText {
                    text,
                    is_prose: true,
                }]);
            }
        }
        None
    }

    /// Returns the first line that is neither empty, decoration nor a label. Empty if there is none.
    fn next_line(&self, lines: &[&str]) -> String {
        lines
            .iter()
            .find(|line| !is_decoration(line) && self.read_label(line).is_none())
            .map(|line| (*line).to_owned())
            .unwrap_or_default()
    }
}

/// Says whether nothing of the line is left without Markdown and LaTeX.
pub(crate) fn is_decoration(line: &str) -> bool {
    FenceMark::of_line(line).is_some() || clean_text(line).trim().is_empty()
}

/// Drops emphasis, also where it begins or ends on another line.
fn drop_marks(line: &str) -> String {
    let plain = drop_emphasis_marks(line);
    plain.trim_end_matches("**").to_owned()
}

/// As [`drop_emphasis`], with the back-ticks of code kept: they can belong to the text.
fn drop_emphasis_marks(text: &str) -> String {
    let lines: Vec<String> = text
        .split('\n')
        .map(|line| {
            if line.contains('`') {
                line.to_owned()
            } else {
                drop_emphasis(line)
            }
        })
        .collect();
    lines.join("\n")
}

fn find_elements(text: &str) -> Option<Vec<MarkedText>> {
    let mut of_line: Vec<MarkedText> = Vec::new();
    let mut last_end = 0;
    for element in ANSWER_ELEMENT.captures_iter(text) {
        let (Some(whole), Some(inner)) = (element.get(0), element.get(1)) else {
            continue;
        };
        // Of nested opening tags the last counts.
        let inner = OPENING_ANSWER
            .find_iter(inner.as_str())
            .last()
            .map_or(inner.as_str(), |tag| &inner.as_str()[tag.end()..]);
        if text[last_end..whole.start()].contains('\n') {
            of_line.clear();
        }
        last_end = whole.end();
        of_line.push(MarkedText {
            text: decode_entities(inner),
            is_prose: false,
        });
    }
    (!of_line.is_empty()).then_some(of_line)
}

/// Resolves XML's entities and CDATA sections. What is neither stays.
fn decode_entities(text: &str) -> String {
    let trimmed = text.trim();
    if let Some(inner) = trimmed
        .strip_prefix("<![CDATA[")
        .and_then(|rest| rest.strip_suffix("]]>"))
    {
        return inner.to_owned();
    }
    let mut whole = String::with_capacity(trimmed.len());
    let mut rest = trimmed;
    while let Some(start) = rest.find('&') {
        whole.push_str(&rest[..start]);
        let after = &rest[start + 1..];
        let entity = after
            .bytes()
            .take(MAX_ENTITY)
            .position(|byte| byte == b';')
            .and_then(|end| Some((resolve_entity(&after[..end])?, end)));
        match entity {
            Some((resolved, end)) => {
                whole.push_str(&resolved);
                rest = &after[end + 1..];
            }
            None => {
                whole.push('&');
                rest = after;
            }
        }
    }
    whole.push_str(rest);
    whole
}

fn resolve_entity(name: &str) -> Option<String> {
    if let Some(number) = name.strip_prefix('#') {
        let code = match number.strip_prefix(['x', 'X']) {
            Some(digits) => u32::from_str_radix(digits, 16).ok()?,
            None => number.parse().ok()?,
        };
        return char::from_u32(code).map(String::from);
    }
    resolve_xml_entity(name).map(str::to_owned)
}

/// Returns the start and the content of each outermost `\boxed{…}` and `\fbox{…}` whose braces are balanced, in order.
fn find_boxes(text: &str) -> Vec<(usize, Range<usize>)> {
    let bytes = text.as_bytes();
    // The start of the command and of its content, for braces of boxes.
    let mut open: Vec<Option<(usize, usize)>> = Vec::new();
    let mut boxes: Vec<(usize, Range<usize>)> = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        match bytes[at] {
            b'\\' => {
                let command = ["\\boxed", "\\fbox"]
                    .iter()
                    .find(|name| text[at..].starts_with(**name));
                let brace = command.map(|name| {
                    let after = at + name.len();
                    after + text[after..].len() - text[after..].trim_start_matches(' ').len()
                });
                match brace {
                    Some(brace) if bytes.get(brace) == Some(&b'{') => {
                        open.push(Some((at, brace + 1)));
                        at = brace + 1;
                    }
                    // The character after a backslash can be a brace that is text.
                    _ => at += 1 + text[at + 1..].chars().next().map_or(0, char::len_utf8),
                }
            }
            b'{' => {
                open.push(None);
                at += 1;
            }
            b'}' => {
                if let Some(Some((start, inner))) = open.pop() {
                    while boxes.last().is_some_and(|(begin, _)| *begin > start) {
                        boxes.pop();
                    }
                    boxes.push((start, inner..at));
                }
                at += 1;
            }
            _ => at += 1,
        }
    }
    boxes
}

fn find_in_prose(text: &str) -> Option<Vec<MarkedText>> {
    // Emphasis can stand between the words.
    let plain = drop_emphasis_marks(text);
    let text = plain.as_str();
    if !IN_PROSE.is_match(text) {
        return None;
    }
    let lines: Vec<&str> = text.split('\n').collect();
    let (index, line) = lines
        .iter()
        .enumerate()
        .rev()
        .find(|(_, line)| IN_PROSE.is_match(line))?;
    let marks: Vec<_> = IN_PROSE.find_iter(line).collect();
    let texts = marks.iter().enumerate().map(|(position, mark)| {
        let end = marks
            .get(position + 1)
            .map_or(line.len(), regex::Match::start);
        let rest = line[mark.end()..end].trim();
        let is_bare = rest
            .trim_matches(|mark: char| !mark.is_alphanumeric())
            .is_empty()
            && !rest.contains(|symbol: char| !symbol.is_ascii());
        let text = if is_bare && position + 1 == marks.len() {
            lines[index + 1..]
                .iter()
                .find(|line| !is_decoration(line))
                .map_or(rest, |next| *next)
        } else {
            rest
        };
        MarkedText {
            text: text.to_owned(),
            is_prose: true,
        }
    });
    Some(texts.collect())
}

/// Returns the text up to the end of its sentence or line, or up to a reason.
pub(crate) fn cut_sentence(text: &str) -> &str {
    let text = text.trim();
    for end in SENTENCE_END.find_iter(text) {
        let before = &text[..end.start()];
        if before
            .trim_matches(|mark: char| !mark.is_alphanumeric())
            .is_empty()
            && !before.contains(|symbol: char| !symbol.is_ascii())
        {
            continue;
        }
        let word = before
            .rsplit(|mark: char| mark.is_whitespace() || mark == '(')
            .next()
            .unwrap_or_default();
        let is_abbreviated =
            end.as_str().starts_with('.') && ABBREVIATIONS.contains(&word.to_lowercase().as_str());
        if !is_abbreviated {
            return before;
        }
    }
    text
}

/// Returns the text from the last correction on that has an answer, as `has_answer` says, and the whole text if none has. `has_answer` of a text is
/// true if it is true of an end of it.
pub(crate) fn restart_at_correction(text: &str, has_answer: impl Fn(&str) -> bool) -> &str {
    let starts: Vec<usize> = CORRECTION
        .captures_iter(text)
        .filter_map(|found| Some(found.get(1)?.start()))
        .collect();
    // The answer is mostly near the end, so ever longer ends are tried before the place is searched for.
    let mut upper = starts.len();
    let mut length = 1;
    while length <= starts.len() && !has_answer(&text[starts[starts.len() - length]..]) {
        upper = starts.len() - length;
        length *= 2;
    }
    let lower = starts.len().saturating_sub(length);
    let within = starts[lower..upper].partition_point(|start| has_answer(&text[*start..]));
    match (lower + within).checked_sub(1) {
        Some(last) if within > 0 => &text[starts[last]..],
        _ => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        let place = AnswerPlace::new(false, false, &["Antwort".to_owned()]);
        let found: Vec<String> = place
            .find_marked(text)
            .unwrap_or_default()
            .into_iter()
            .map(|marked| marked.text.trim().to_owned())
            .collect();
        assert_eq!(found, expected, "{text:?}");
    }

    #[test]
    fn elements_come_before_boxes_and_boxes_before_prose() {
        check("<answer>1</answer> \\boxed{2} the answer is 3", &["1"]);
        check("\\boxed{2} and the answer is 3", &["2"]);
        check("So the final answer is 3.", &["3."]);
        check("The correct answer is: 3", &["3"]);
        check("**The answer is** 4", &["4"]);
        check("nothing", &[]);
    }

    #[test]
    fn the_last_marker_of_a_rank_counts() {
        check("Answer: 1\nAnswer: 2", &["2"]);
        check("<answer>a</answer>\n<ANSWER>b &amp; c</ANSWER>", &["b & c"]);
        check("\\boxed{1}\n\\boxed{2}", &["2"]);
        check("#### 7\nAnswer: 8", &["8"]);
        check("Answer: 8\n#### 7", &["7"]);
    }

    #[test]
    fn two_markers_of_a_line_are_two_readings() {
        check("\\boxed{1} or \\boxed{2}", &["1", "2"]);
        check("<answer>1</answer> <answer>2</answer>", &["1", "2"]);
        check("The answer is 5. No, the answer is 6.", &["5. No,", "6."]);
    }

    #[test]
    fn labels_stand_at_the_start_of_a_line() {
        for text in [
            "Answer: 42",
            "ANSWER : 42",
            "**Answer:** 42",
            "**Answer**: 42",
            "**Answer: 42**",
            "- Final answer: 42",
            "### Final Answer: 42",
            "> answer: 42",
            "Answer\n\n42",
            "Answer:\n42",
            "## Final Answer\n\n$$\n42\n$$",
            "Antwort: Antwort: 42",
            "Answer\u{ff1a}42",
            "Answer: \\boxed{42}",
            "Answer: $\\boxed{ 42 }$ (sure)",
            "#### 42",
            "\\textbf{Answer:} 42",
        ] {
            check(text, &["42"]);
        }
        check("My answer: 42", &[]);
        check("Answers: 42", &[]);
        check("##### 42", &[]);
    }

    #[test]
    fn braces_of_boxes_are_balanced() {
        check("\\boxed{\\frac{1}{2}}", &["\\frac{1}{2}"]);
        check("\\boxed{a\\}b}", &["a\\}b"]);
        check("\\boxed{1", &[]);
        check("\\fbox{\\boxed{5}}", &["\\boxed{5}"]);
        check("\\boxed{\n42\n}", &["42"]);
    }

    #[test]
    fn a_sentence_ends_at_its_end_or_reason() {
        for (text, expected) in [
            ("42. Note that 5", "42"),
            ("3.14 metres", "3.14 metres"),
            ("42; 5", "42"),
            ("42 \u{2013} 5", "42"),
            ("42 because 5", "42"),
            ("approx. 42", "approx. 42"),
            ("42!", "42"),
            ("42\n5", "42"),
            ("B where 4", "B"),
        ] {
            assert_eq!(cut_sentence(text).trim(), expected);
        }
    }

    #[test]
    fn a_correction_restarts_only_if_an_answer_follows() {
        let has_digit = |text: &str| text.contains(|digit: char| digit.is_ascii_digit());
        for (text, expected) in [
            ("41. Wait, no: 42", "Wait, no: 42"),
            ("42. Wait, it holds.", "42. Wait, it holds."),
            ("1\nNo, 2\nCorrection: 3", "Correction: 3"),
            (
                "1. Scratch that, 2. Wait, done",
                "Scratch that, 2. Wait, done",
            ),
            ("Nothing 1. Waiting 2", "Nothing 1. Waiting 2"),
            ("1. No problem 2", "1. No problem 2"),
        ] {
            assert_eq!(restart_at_correction(text, has_digit), expected);
        }
    }

    #[test]
    fn a_megabyte_of_markers_is_read_in_linear_time() {
        let place = AnswerPlace::new(false, false, &[]);
        for part in [
            "\\boxed{",
            "<answer>",
            "Answer:\n",
            "Wait, ",
            "the answer is ",
            "#### \n",
            "&amp",
        ] {
            let text = part.repeat(1_000_000 / part.len());
            let started = std::time::Instant::now();
            let _ = place.find_marked(restart_at_correction(&text, |_| false));
            let _ = decode_entities(&text);
            assert!(
                started.elapsed().as_secs() < 8,
                "{part:?} {:?}",
                started.elapsed()
            );
        }
    }
}
