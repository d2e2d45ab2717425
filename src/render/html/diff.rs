//! Two texts side by side, with marks on words that only one of them has.

use std::collections::BTreeMap;

use similar::{ChangeTag, DiffableStr, TextDiff};

use super::shell::Text;

/// Minimum share of common words for marks. Below it, marks on every other word would be useless.
const MIN_ALIKE: f64 = 0.25;

/// A stretch of one text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct DiffPiece {
    /// Whether only this text has it.
    pub is_own: bool,
    pub text: Text,
    /// Whether a line ends after it.
    pub ends_line: bool,
}

/// Two texts with their marks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct WordDiff {
    pub first: Vec<DiffPiece>,
    pub second: Vec<DiffPiece>,
    /// States that texts are equal, or too different for marks.
    pub note: Option<&'static str>,
}

impl WordDiff {
    /// Marks the words of each text that the other text lacks.
    pub fn from_texts(first: &str, second: &str) -> Self {
        if first == second {
            return Self {
                first: join_pieces([(first, false)]),
                second: join_pieces([(second, false)]),
                note: Some("Both texts are identical."),
            };
        }
        let words = [first, second].map(DiffableStr::tokenize_unicode_words);
        if common_word_share(&words) < MIN_ALIKE {
            let note = Some("The two have so little in common that no words are marked.");
            return Self {
                first: join_pieces([(first, false)]),
                second: join_pieces([(second, false)]),
                note,
            };
        }
        let diff = TextDiff::from_slices(&words[0], &words[1]);
        let (mut one, mut other) = (Vec::new(), Vec::new());
        for change in diff.iter_all_changes() {
            match change.tag() {
                ChangeTag::Equal => {
                    one.push((change.value(), false));
                    other.push((change.value(), false));
                }
                ChangeTag::Delete => one.push((change.value(), true)),
                ChangeTag::Insert => other.push((change.value(), true)),
            }
        }
        Self {
            first: join_pieces(one),
            second: join_pieces(other),
            note: None,
        }
    }

    /// Returns the pieces of one text without a counterpart.
    pub fn unmarked_pieces(text: &str) -> Vec<DiffPiece> {
        join_pieces([(text, false)])
    }
}

/// Returns the share of non-blank words that both texts have, in any order. Cheap to compute, unlike the marks.
fn common_word_share(words: &[Vec<&str>; 2]) -> f64 {
    let mut counts = BTreeMap::<&str, [u32; 2]>::new();
    for (side, words) in words.iter().enumerate() {
        for word in words.iter().filter(|word| !word.trim().is_empty()) {
            counts.entry(word).or_default()[side] += 1;
        }
    }
    let all: u32 = counts.values().flatten().sum();
    let shared: u32 = counts.values().map(|[one, other]| 2 * one.min(other)).sum();
    if all == 0 {
        1.0
    } else {
        f64::from(shared) / f64::from(all)
    }
}

/// Joins adjacent pieces of one kind and splits them at line ends.
fn join_pieces<'t>(words: impl IntoIterator<Item = (&'t str, bool)>) -> Vec<DiffPiece> {
    let mut joined = Vec::<(String, bool)>::new();
    for (word, is_own) in words {
        match joined.last_mut() {
            Some((text, before)) if *before == is_own => text.push_str(word),
            Some(_) | None => joined.push((word.to_owned(), is_own)),
        }
    }
    let mut pieces = Vec::new();
    for (text, is_own) in joined {
        let mut lines = text.split('\n').peekable();
        while let Some(line) = lines.next() {
            let line = line.trim_end_matches('\r');
            let ends_line = lines.peek().is_some();
            if !line.is_empty() || ends_line {
                pieces.push(DiffPiece {
                    is_own: is_own && !line.trim().is_empty(),
                    text: Text::new(line),
                    ends_line,
                });
            }
        }
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(pieces: &[DiffPiece]) -> String {
        let piece = |piece: &DiffPiece| {
            let text = if piece.is_own {
                format!("[{}]", piece.text)
            } else {
                piece.text.to_string()
            };
            if piece.ends_line { text + "\n" } else { text }
        };
        pieces.iter().map(piece).collect()
    }

    #[test]
    fn words_that_one_text_has_alone_are_marked() {
        let check = |first: &str, second: &str, expected: (&str, &str)| {
            let beside = WordDiff::from_texts(first, second);
            assert_eq!(
                (
                    shown(&beside.first).as_str(),
                    shown(&beside.second).as_str()
                ),
                expected
            );
        };
        check(
            "the answer is four",
            "the answer is five",
            ("the answer is [four]", "the answer is [five]"),
        );
        check(
            "a b c\nd e",
            "a b c\nd e f",
            ("a b c\nd e", "a b c\nd e[ f]"),
        );
        check(
            "漢字 is one",
            "漢字 is two",
            ("漢字 is [one]", "漢字 is [two]"),
        );
    }

    #[test]
    fn equal_and_foreign_texts_have_no_marks_but_a_note() {
        for (first, second) in [
            ("same", "same"),
            ("one two three", "completely different words here"),
        ] {
            let beside = WordDiff::from_texts(first, second);
            assert!(beside.note.is_some(), "{first} / {second}");
            assert!(
                beside
                    .first
                    .iter()
                    .chain(&beside.second)
                    .all(|piece| !piece.is_own)
            );
            assert_eq!(
                (
                    shown(&beside.first).as_str(),
                    shown(&beside.second).as_str()
                ),
                (first, second)
            );
        }
    }

    #[test]
    fn nothing_is_lost_and_control_characters_are_visible() {
        let beside = WordDiff::from_texts("a\u{202e}b <ins>\r\n\nend", "a\u{202e}b <del>\r\n\nend");
        assert_eq!(shown(&beside.first), "a\\u{202e}b <[ins]>\n\nend");
        assert_eq!(shown(&beside.second), "a\\u{202e}b <[del]>\n\nend");
    }
}
