//! Makes foreign text safe to show, and finds the name that was meant.

/// Returns `text` with all characters visible, so that it is safe to print and different names look different.
///
/// C0 controls and DEL become control pictures (U+2400 block). These become `\u{…}` escapes: C1 controls, bidirectional controls, line and
/// paragraph separators, zero-width characters, and foreign letters that look Latin within a Latin word. Joiners and variation selectors
/// stay if a script or emoji needs them, but not next to ASCII.
pub fn escape_invisible(text: &str) -> String {
    if text.bytes().all(|byte| matches!(byte, b' '..=b'~')) {
        return text.to_owned();
    }
    let mut shown = String::with_capacity(text.len());
    let mut before = None;
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '\u{0}'..='\u{1f}' => {
                shown.push(char::from_u32(0x2400 + character as u32).unwrap_or('\u{fffd}'));
            }
            '\u{7f}' => shown.push('\u{2421}'),
            _ if is_hidden(character)
                || is_joining(character)
                    && (is_plain(before) || is_plain(characters.peek().copied()))
                || passes_for_latin(character) && is_in_latin_word(&shown, characters.clone()) =>
            {
                shown.extend(character.escape_unicode());
            }
            _ => shown.push(character),
        }
        before = Some(character);
    }
    shown
}

/// Returns the text without terminal sequences, such as colours. A lone carriage return becomes a line end.
pub fn strip_terminal_codes(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '\u{1b}' => match characters.peek() {
                // A control sequence ends with a byte from `@` to `~`.
                Some('[') => {
                    characters.next();
                    while let Some(next) = characters.peek() {
                        let ends = ('@'..='~').contains(next);
                        if !ends && !(' '..='?').contains(next) {
                            break;
                        }
                        characters.next();
                        if ends {
                            break;
                        }
                    }
                }
                // A title or link ends with a bell or `ESC \`, but never goes beyond the line.
                Some(']') => {
                    while let Some(next) = characters.peek() {
                        if *next == '\n' {
                            break;
                        }
                        if characters.next() == Some('\u{7}') {
                            break;
                        }
                        if characters.peek() == Some(&'\u{1b}') {
                            characters.next();
                            characters.next_if_eq(&'\\');
                            break;
                        }
                    }
                }
                Some(_) | None => {}
            },
            '\r' => {
                if characters.peek() != Some(&'\n') {
                    plain.push('\n');
                }
            }
            character => plain.push(character),
        }
    }
    plain
}

/// Returns whether a character affects others, or is invisible and not needed by any script.
fn is_hidden(character: char) -> bool {
    matches!(
        character,
        '\u{80}'..='\u{9f}'
            | '\u{ad}'
            | '\u{34f}'
            | '\u{61c}'
            | '\u{115f}'
            | '\u{1160}'
            | '\u{17b4}'
            | '\u{17b5}'
            | '\u{180b}'..='\u{180f}'
            | '\u{200b}'
            | '\u{200e}'
            | '\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{3164}'
            | '\u{feff}'
            | '\u{ffa0}'
            | '\u{fff9}'..='\u{fffb}'
            | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0000}'..='\u{e007f}'
    )
}

/// Returns whether a character joins, separates or varies its neighbours, as some scripts and emoji need.
fn is_joining(character: char) -> bool {
    matches!(character, '\u{200c}' | '\u{200d}' | '\u{fe00}'..='\u{fe0f}' | '\u{e0100}'..='\u{e01ef}')
}

/// Returns whether a neighbour needs no joiner: the end of the text, or ASCII that is not part of a keycap.
fn is_plain(neighbour: Option<char>) -> bool {
    neighbour.is_none_or(|neighbour| {
        neighbour.is_ascii() && !matches!(neighbour, '0'..='9' | '#' | '*' | ' ')
    })
}

/// Returns whether a non-Latin letter looks like a Latin one (confusables of Unicode TS 39 that fonts draw alike).
fn passes_for_latin(character: char) -> bool {
    const CYRILLIC_LOOKALIKES: &str = "аеорсухіѕјһԁԛԝѵАВЕЗКМНОРСТУХІЅЈ";
    const GREEK_LOOKALIKES: &str = "οΑΒΕΖΗΙΚΜΝΟΡΤΥΧν";
    matches!(character, '\u{ff21}'..='\u{ff3a}' | '\u{ff41}'..='\u{ff5a}' | '\u{ff10}'..='\u{ff19}')
        || CYRILLIC_LOOKALIKES.contains(character)
        || GREEK_LOOKALIKES.contains(character)
}

/// Returns whether the word around a character contains Latin letters.
fn is_in_latin_word(before: &str, after: impl Iterator<Item = char>) -> bool {
    let is_word = |character: &char| character.is_alphanumeric();
    before
        .chars()
        .rev()
        .take_while(is_word)
        .chain(after.take_while(is_word))
        .any(|character| character.is_ascii_alphabetic())
}

/// Returns the first `characters` of a text, with an ellipsis if there is more.
pub fn shorten_to(text: &str, characters: usize) -> String {
    match text.char_indices().nth(characters) {
        Some((end, _)) => format!("{} …", &text[..end]),
        None => text.to_owned(),
    }
}

/// Returns the candidate nearest to `name` by edit distance, if it is near enough to be a typo.
pub fn nearest_name<'a>(
    name: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    candidates
        .into_iter()
        .map(|candidate| {
            (
                edit_distance(&name.to_lowercase(), &candidate.to_lowercase()),
                candidate,
            )
        })
        .filter(|(distance, candidate)| {
            *distance <= (candidate.chars().count().max(name.chars().count()) / 3).max(1)
        })
        .min()
        .map(|(_, candidate)| candidate)
}

/// Formats a text as one shell word: in single quotes if needed. Make characters that must not reach a terminal visible first.
pub fn shell_word(text: &str) -> String {
    let is_plain = |letter: char| letter.is_alphanumeric() || "/._-+,:@%=".contains(letter);
    if !text.is_empty() && !text.starts_with('-') && text.chars().all(is_plain) {
        text.to_owned()
    } else {
        format!("'{}'", text.replace('\'', r"'\''"))
    }
}

/// Splits a text into the words that a shell makes of it, where [`shell_word`] wrote them. `None` if a quotation does not end.
pub fn split_shell_words(text: &str) -> Option<Vec<String>> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '\'' => {
                let quoted = word.get_or_insert_default();
                loop {
                    match letters.next()? {
                        '\'' => break,
                        other => quoted.push(other),
                    }
                }
            }
            '\\' => word.get_or_insert_default().push(letters.next()?),
            ' ' => words.extend(word.take()),
            other => word.get_or_insert_default().push(other),
        }
    }
    words.extend(word);
    Some(words)
}

/// Returns the edit distance in characters. Swapping two neighbours counts as one edit (optimal string alignment).
fn edit_distance(left: &str, right: &str) -> usize {
    let (left, right): (Vec<char>, Vec<char>) = (left.chars().collect(), right.chars().collect());
    let mut before = vec![0; right.len() + 1];
    let mut above: Vec<usize> = (0..=right.len()).collect();
    for row in 1..=left.len() {
        let mut current = vec![row; right.len() + 1];
        for column in 1..=right.len() {
            let is_other = left[row - 1] != right[column - 1];
            let mut least = (above[column - 1] + usize::from(is_other))
                .min(above[column] + 1)
                .min(current[column - 1] + 1);
            if row > 1
                && column > 1
                && left[row - 1] == right[column - 2]
                && left[row - 2] == right[column - 1]
            {
                least = least.min(before[column - 2] + 1);
            }
            current[column] = least;
        }
        before = std::mem::replace(&mut above, current);
    }
    above[right.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_for_a_shell_are_split_where_they_were_joined() {
        for words in [
            vec!["--passed", "it's right", "", "a=b"],
            vec!["--list", "$.runs[].results"],
            vec![],
        ] {
            let joined: Vec<String> = words.iter().map(|word| shell_word(word)).collect();
            assert_eq!(
                split_shell_words(&joined.join(" ")),
                Some(words.iter().map(|word| (*word).to_owned()).collect())
            );
        }
        assert_eq!(split_shell_words("'a"), None);
        assert_eq!(
            split_shell_words("x'y z'=w"),
            Some(vec!["xy z=w".to_owned()])
        );
    }

    #[test]
    fn colours_links_and_progress_lines_go() {
        assert_eq!(
            strip_terminal_codes("\u{1b}[1m\u{1b}[32m3 passed\u{1b}[0m\r\n50%\r100%\n"),
            "3 passed\n50%\n100%\n"
        );
        assert_eq!(
            strip_terminal_codes("\u{1b}]8;;http://x\u{7}a\u{1b}]8;;\u{1b}\\b\u{1b}]open\nc"),
            "ab\nc"
        );
        assert_eq!(strip_terminal_codes("a\u{1b}[31\nb\u{1b}"), "a\nb");
    }

    #[test]
    fn control_characters_become_visible() {
        assert_eq!(
            escape_invisible("a\x1b[31mb\u{202e}c\n"),
            "a␛[31mb\\u{202e}c␊"
        );
        assert_eq!(
            escape_invisible("Ünïcødé 漢字 👩‍🔬 ❤️ 1️⃣"),
            "Ünïcødé 漢字 👩‍🔬 ❤️ 1️⃣"
        );
        for text in [
            "می‌خواهم",
            "Москва и Kyiv",
            "Ελλάδα",
            "Δt in μs, α = 0.05",
            "ｶﾞ",
            "naïve café",
        ] {
            assert_eq!(escape_invisible(text), text);
        }
    }

    #[test]
    fn names_that_differ_look_different() {
        let names = [
            "sonnet",
            "son\u{200b}net",
            "son\u{ad}net",
            "son\u{2060}net",
            "son\u{34f}net",
            "son\u{180e}net",
            "sonnet\u{3164}",
            "sonnet\u{e0041}",
            "s\u{43e}nnet",
            "s\u{3bf}nnet",
            "\u{455}onnet",
            "s\u{ff4f}nnet",
            "son\u{200d}net",
            "son\u{200c}net",
            "sonnet\u{fe0f}",
            "sonnet\u{feff}",
        ];
        let shown: std::collections::BTreeSet<String> =
            names.iter().map(|name| escape_invisible(name)).collect();
        assert_eq!(shown.len(), names.len(), "{shown:?}");
        assert!(shown.iter().all(|name| name.is_ascii()), "{shown:?}");
    }

    #[test]
    fn a_shell_takes_any_text_as_one_word() {
        let plain = ["a/b-1", "été_2.csv", "a=b,c:d@e%f+g"];
        assert_eq!(plain.map(shell_word), plain);
        let texts = ["", "my evals", "it's", "-x", "a;b", "$(x)", "~"];
        assert_eq!(
            texts.map(shell_word),
            [
                "''",
                "'my evals'",
                r"'it'\''s'",
                "'-x'",
                "'a;b'",
                "'$(x)'",
                "'~'"
            ]
        );
    }

    #[test]
    fn nearest_finds_slips_and_nothing_else() {
        assert_eq!(
            nearest_name("tasktraker", ["workflow", "tasktracker"]),
            Some("tasktracker")
        );
        assert_eq!(nearest_name("modle", ["model", "suite"]), Some("model"));
        assert_eq!(nearest_name("zzz", ["workflow", "tasktracker"]), None);
        assert_eq!(nearest_name("x", []), None);
    }
}
