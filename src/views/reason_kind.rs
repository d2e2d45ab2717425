//! The kind of a reason: what reasons have in common that people would call the same.

use crate::domain::shorten_to;

/// Characters of a kind. What follows differs too much to tell kinds apart.
const MAX_OF_A_KIND: usize = 160;
/// Characters of a reason that are read. Logs can be far longer.
const MAX_READ: usize = 1_000;
/// Characters of a quotation. A quotation mark without its partner is only a character.
const MAX_QUOTED: usize = 400;
/// Minimum characters of an item's name to find it in a reason. Shorter names are parts of words.
const MIN_NAME: usize = 4;
/// Minimum characters of a number in hexadecimal digits, and of an id of digits and letters.
const MIN_HEX: usize = 7;
const MIN_ID: usize = 12;
/// Digits from which on a long word is an id.
const MIN_ID_DIGITS: usize = 3;

const NUMBER: &str = "#";
const QUOTED: &str = "<text>";
const PATH: &str = "<path>";
const ADDRESS: &str = "<url>";
const ITEM: &str = "<item>";

/// Units of time, which go with their number.
const TIME_UNITS: [&str; 23] = [
    "s",
    "sec",
    "secs",
    "second",
    "seconds",
    "ms",
    "msec",
    "millisecond",
    "milliseconds",
    "us",
    "µs",
    "ns",
    "m",
    "min",
    "mins",
    "minute",
    "minutes",
    "h",
    "hr",
    "hrs",
    "hour",
    "hours",
    "days",
];
/// Endings of source files: such a name is a path, also without a folder.
const SOURCE_ENDINGS: [&str; 16] = [
    "py", "rs", "js", "mjs", "ts", "tsx", "jsx", "go", "java", "c", "cc", "cpp", "rb", "sh", "php",
    "cs",
];

/// Returns the part of a message that says what went wrong, without colours: the exception of a Python traceback, the first assertion of a
/// pytest report, a message without the calls below it. It is the message's own text.
pub(super) fn essential_part(reason: &str) -> String {
    let plain = without_colours(reason);
    if let Some(assertion) = plain.lines().find_map(|line| {
        let said = line.trim_start().strip_prefix("E  ")?.trim();
        (!said.is_empty()).then_some(said)
    }) {
        return assertion.to_owned();
    }
    if let Some((_, frames)) = plain.rsplit_once("Traceback (most recent call last)") {
        let starts_message =
            |line: &&str| !line.trim().is_empty() && !line.starts_with(char::is_whitespace);
        // The marker's own line ends with a colon.
        if let Some(line) = frames.lines().skip(1).find(starts_message) {
            let place = line.as_ptr() as usize - frames.as_ptr() as usize;
            return frames[place..].trim().to_owned();
        }
    }
    let calls = plain
        .lines()
        .position(|line| {
            line.starts_with(char::is_whitespace) && line.trim_start().starts_with("at ")
        })
        .filter(|place| *place > 0);
    match calls {
        Some(place) => {
            let message: Vec<&str> = plain.lines().take(place).collect();
            message.join("\n").trim().to_owned()
        }
        None => plain.trim().to_owned(),
    }
}

/// Returns a reason's kind, in lower case: numbers, durations and ids are `#`, quotations `<text>`, paths `<path>`, addresses `<url>`, and the
/// item's own name is `<item>`. A reason without other words is its own kind. Empty if there is nothing to read.
pub(super) fn reason_kind(reason: &str, item: &str) -> String {
    let part = essential_part(reason);
    let read: String = part.chars().take(MAX_READ).collect();
    let named = if item.chars().count() >= MIN_NAME {
        read.replace(item, ITEM)
    } else {
        read.clone()
    };
    let kind = join_repeated(&replace_variables(&named));
    let has_words = [QUOTED, PATH, ADDRESS, ITEM]
        .iter()
        .fold(kind.clone(), |text, placeholder| {
            text.replace(placeholder, "")
        })
        .chars()
        .any(char::is_alphabetic);
    let kind = if has_words {
        kind
    } else {
        join_spaces(&read.to_lowercase())
    };
    let kept: String = kind.chars().take(MAX_OF_A_KIND).collect();
    kept.trim_matches(|end: char| end.is_whitespace() || ".!:;,…".contains(end))
        .to_owned()
}

/// Returns the beginning of a message's essential part, on one line: an example for people.
pub(super) fn reason_example(reason: &str, characters: usize) -> String {
    shorten_to(&join_spaces(&essential_part(reason)), characters)
}

/// Removes the terminal's escape sequences.
fn without_colours(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        if character != '\u{1b}' {
            plain.push(character);
            continue;
        }
        match characters.peek() {
            Some('[') => {
                characters.next();
                // Parameters, then one letter.
                let _ = characters.find(|end| ('@'..='~').contains(end));
            }
            Some(']') => {
                let _ = characters.find(|end| *end == '\u{7}');
            }
            _ => {}
        }
    }
    plain
}

fn join_spaces(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Replaces what varies between messages of a kind, and joins spaces.
fn replace_variables(text: &str) -> String {
    let characters: Vec<char> = text.chars().collect();
    let mut kind = String::with_capacity(text.len());
    let mut place = 0;
    while let Some(character) = characters.get(place).copied() {
        let before = place.checked_sub(1).map(|before| characters[before]);
        if character.is_whitespace() {
            if !kind.ends_with(' ') && !kind.is_empty() {
                kind.push(' ');
            }
            place += 1;
        } else if let Some(end) = end_of_quotation(&characters, place, before) {
            kind.push_str(QUOTED);
            place = end;
        } else if is_in_word(character) {
            let rest = characters[place..].iter();
            let length = rest.take_while(|next| is_in_word(**next)).count();
            let word: String = characters[place..place + length].iter().collect();
            let is_address = word.starts_with("http:") || word.starts_with("https:");
            if is_address {
                kind.push_str(ADDRESS);
                let rest = characters[place..].iter();
                place += rest
                    .take_while(|next| !next.is_whitespace() && !"\"'`<>)]}".contains(**next))
                    .count();
                continue;
            }
            push_word(&mut kind, &word);
            place += length;
        } else if characters[place..].starts_with(&['<', 'i', 't', 'e', 'm', '>']) {
            kind.push_str(ITEM);
            place += ITEM.len();
        } else {
            kind.extend(character.to_lowercase());
            place += 1;
        }
    }
    kind
}

/// Returns whether a character is part of words, numbers, paths and ids.
fn is_in_word(character: char) -> bool {
    character.is_alphanumeric() || "_-−+./\\~@:%$".contains(character)
}

/// Returns the place behind the quotation that begins here. `None` if none does: an apostrophe is no quotation mark.
fn end_of_quotation(characters: &[char], place: usize, before: Option<char>) -> Option<usize> {
    let close = match characters[place] {
        mark @ ('"' | '\'' | '`') => mark,
        '“' => '”',
        '‘' => '’',
        '«' => '»',
        _ => return None,
    };
    if before.is_some_and(char::is_alphanumeric) {
        return None;
    }
    let mut inside = place + 1;
    while inside < characters.len().min(place + MAX_QUOTED) {
        let next = characters.get(inside + 1).copied();
        if characters[inside] == '\\' {
            inside += 2;
            continue;
        }
        if characters[inside] == close && !next.is_some_and(char::is_alphanumeric) {
            return Some(inside + 1);
        }
        inside += 1;
    }
    None
}

/// Adds a word, or what stands for it.
fn push_word(kind: &mut String, word: &str) {
    let trimmed = word.trim_end_matches(['.', ':', '+', '-']);
    let (own, end) = word.split_at(trimmed.len());
    if is_path(own) {
        kind.push_str(PATH);
    } else if is_id(own) {
        kind.push_str(NUMBER);
    } else if TIME_UNITS.contains(&own.to_lowercase().as_str())
        && kind.trim_end().ends_with(NUMBER)
        && kind.ends_with(' ')
    {
        // The unit of a number that is written apart from it.
        kind.truncate(kind.trim_end().len());
    } else {
        push_without_numbers(kind, own);
    }
    kind.push_str(end);
}

fn is_path(word: &str) -> bool {
    let has_letter = word.chars().any(char::is_alphabetic);
    let slashes = word.matches('/').count();
    let starts = ["/", "./", "../", "~/", "\\\\"]
        .iter()
        .any(|start| word.starts_with(start));
    let drive = word.get(1..3) == Some(":\\");
    // A line number may follow: `shop.py:12:3`.
    let file = word.split(':').next().unwrap_or_default();
    let is_source = file
        .rsplit_once('.')
        .is_some_and(|(name, ending)| !name.is_empty() && SOURCE_ENDINGS.contains(&ending));
    let last_has_ending = file
        .rsplit_once('/')
        .is_some_and(|(_, last)| last.contains('.'));
    has_letter && (starts || drive || slashes > 1 || is_source || slashes == 1 && last_has_ending)
}

/// Returns whether a word is an id or an address in memory: hexadecimal, or a long mixture of digits and letters.
fn is_id(word: &str) -> bool {
    let digits = word.chars().filter(char::is_ascii_digit).count();
    let letters = word.chars().filter(char::is_ascii_alphabetic).count();
    let is_hex = |text: &str| text.chars().all(|digit| digit.is_ascii_hexdigit());
    if let Some(rest) = word.strip_prefix("0x") {
        return !rest.is_empty() && is_hex(rest);
    }
    let joined = word.replace('-', "");
    let is_one_word = word
        .chars()
        .all(|part| part.is_ascii_alphanumeric() || part == '_' || part == '-');
    digits > 0 && letters > 0 && joined.len() >= MIN_HEX && is_hex(&joined)
        || is_one_word && letters > 0 && digits >= MIN_ID_DIGITS && word.len() >= MIN_ID
}

/// Adds a word in lower case with `#` for each number in it. A sign, decimals, an exponent and a unit of time belong to the number.
fn push_without_numbers(kind: &mut String, word: &str) {
    let lower: Vec<char> = word.to_lowercase().chars().collect();
    let is_digit = |place: usize| lower.get(place).is_some_and(|next| next.is_numeric());
    let mut place = 0;
    if matches!(lower.first(), Some('-' | '−' | '+')) && is_digit(1) {
        place = 1;
    }
    while let Some(character) = lower.get(place).copied() {
        if !character.is_numeric() {
            kind.push(character);
            place += 1;
            continue;
        }
        while is_digit(place) || lower.get(place) == Some(&'.') && is_digit(place + 1) {
            place += 1;
        }
        let exponent = usize::from(matches!(lower.get(place + 1), Some('-' | '+')));
        if lower.get(place) == Some(&'e') && is_digit(place + 1 + exponent) {
            place += 1 + exponent;
            while is_digit(place) {
                place += 1;
            }
        }
        let unit: String = lower[place..]
            .iter()
            .take_while(|next| next.is_alphabetic())
            .collect();
        if TIME_UNITS.contains(&unit.as_str()) {
            place += unit.chars().count();
        }
        if !kind.ends_with(NUMBER) {
            kind.push_str(NUMBER);
        }
    }
}

/// Joins lists of numbers, quotations or paths: how many there are varies, too.
fn join_repeated(kind: &str) -> String {
    let mut joined = kind.to_owned();
    for placeholder in [NUMBER, QUOTED, PATH] {
        for between in [", ", ",", " "] {
            let several = format!("{placeholder}{between}{placeholder}");
            while joined.contains(&several) {
                joined = joined.replace(&several, placeholder);
            }
        }
    }
    joined
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Checks that messages are of one kind.
    fn are_alike(messages: &[&str]) -> String {
        let kinds: Vec<String> = messages.iter().map(|text| reason_kind(text, "q")).collect();
        for (message, kind) in messages.iter().zip(&kinds) {
            assert_eq!(kind, &kinds[0], "{message}");
        }
        kinds.into_iter().next().expect("a message")
    }

    #[test]
    fn messages_that_people_call_the_same_are_of_one_kind() {
        let cases: [(&[&str], &str); 12] = [
            (
                &[
                    "expected 391, got 381",
                    "expected -3, got 12.5",
                    "Expected 1e-7, got +2",
                ],
                "expected #, got #",
            ),
            (
                &[
                    "HTTP 429: rate limit exceeded, retry after 12s (request req_011CSHoEeqs5C35K2UUqR7Fy)",
                    "HTTP 429: rate limit exceeded, retry after 1.5 seconds (request req_011CPNKyNTxDbXF9YGtV3nCk)",
                ],
                "http #: rate limit exceeded, retry after # (request #)",
            ),
            (
                &[
                    "timed out after 300 s",
                    "timed out after 299.98s",
                    "timed out after 5 minutes",
                    "Timed out after 2m",
                ],
                "timed out after #",
            ),
            (
                &[
                    "KeyError: 'total_price'",
                    "KeyError: \"name\"",
                    "KeyError: `it's`",
                ],
                "keyerror: <text>",
            ),
            (
                &[
                    "no such file: /tmp/run-81/out.json",
                    "no such file: ./out.json",
                    "no such file: C:\\Users\\a\\out.json",
                ],
                "no such file: <path>",
            ),
            (
                &[
                    "answers differ: [1, 2, 3]",
                    "answers differ: [4,5]",
                    "answers differ: [7]",
                ],
                "answers differ: [#]",
            ),
            (
                &[
                    "commit 3f2c9ab not found",
                    "commit 0x7ffe12 not found",
                    "commit 12 not found",
                ],
                "commit # not found",
            ),
            (
                &[
                    "trace 550e8400-e29b-41d4-a716-446655440000 lost",
                    "trace 7c9e6679-7425-40de-944b-e07fc1f90ae7 lost",
                ],
                "trace # lost",
            ),
            (
                &[
                    "\u{1b}[31mFAILED\u{1b}[0m   no answer tag.",
                    "failed no answer\n tag",
                    "Failed no answer tag!",
                ],
                "failed no answer tag",
            ),
            (
                &[
                    "see https://example.org/a?b=1 for help",
                    "see http://localhost:8080 for help",
                ],
                "see <url> for help",
            ),
            (
                &[
                    "the user's answer didn't match",
                    "The user's answer  didn't match.",
                ],
                "the user's answer didn't match",
            ),
            (&["missing", "Missing"], "missing"),
        ];
        for (messages, kind) in cases {
            assert_eq!(are_alike(messages), kind);
        }
    }

    #[test]
    fn a_traceback_is_its_exception_and_a_report_its_first_assertion() {
        let traceback = "Traceback (most recent call last):\n  File \"/srv/a.py\", line 3, in <module>\n    total = order['sum']\nKeyError: 'sum'";
        let deeper = "boot\nTraceback (most recent call last):\n  File \"b.py\", line 3, in f\n    g()\n  File \"b.py\", line 9, in g\n    x['y']\n    ~^^^^^\nKeyError: 'y'\n";
        assert_eq!(
            are_alike(&[traceback, deeper, "KeyError: 'z'"]),
            "keyerror: <text>"
        );
        assert_eq!(essential_part(traceback), "KeyError: 'sum'");
        let chained = "Traceback (most recent call last):\n  File \"a.py\", line 1\nKeyError: 'a'\n\nDuring handling of the above exception, another exception occurred:\n\nTraceback (most recent call last):\n  File \"a.py\", line 3\nValueError: no total in row 7";
        assert_eq!(reason_kind(chained, "q"), "valueerror: no total in row #");
        let report = "    def test_total():\n>       assert total(cart) == 391\nE       assert 381 == 391\nE        +  where 381 = total([3, 4])\n\ntest_shop.py:12: AssertionError";
        assert_eq!(
            are_alike(&[report, "E   assert 1 == 2", "assert 12 == 13"]),
            "assert # == #"
        );
        let script = "TypeError: total is not a function\n    at cart (/app/cart.js:4:11)\n    at Object.<anonymous> (/app/test.js:9:3)";
        assert_eq!(
            are_alike(&[script, "TypeError: total is not a function"]),
            "typeerror: total is not a function"
        );
        assert_eq!(
            reason_kind(
                "thread 'main' panicked at src/main.rs:4:5:\nindex out of bounds: the len is 3",
                "q"
            ),
            "thread <text> panicked at <path>: index out of bounds: the len is #"
        );
    }

    #[test]
    fn other_messages_are_of_other_kinds_and_values_alone_are_themselves() {
        for (one, other) in [
            ("no answer tag", "two answer tags"),
            ("wrong_choice", "wrong_answer"),
            ("'Paris'", "'London'"),
            ("42", "43"),
            ("and/or", "n/a"),
            ("assert 1 == 2", "assert 1 != 2"),
        ] {
            assert_ne!(reason_kind(one, "q"), reason_kind(other, "q"), "{one}");
        }
        assert_eq!(reason_kind("", "q"), "");
        assert_eq!(reason_kind(" \u{1b}[0m\n", "q"), "");
    }

    #[test]
    fn an_item_s_own_name_makes_no_kind() {
        assert_eq!(
            reason_kind("france: no answer tag", "france"),
            reason_kind("peru: no answer tag", "peru")
        );
        assert_eq!(reason_kind("france", "france"), "france");
    }

    proptest! {
        #[test]
        fn every_text_has_a_short_kind_and_an_example_of_its_own(text in "\\PC{0,300}|[ -~\n\u{1b}]{0,300}") {
            let kind = reason_kind(&text, "q");
            prop_assert!(kind.chars().count() <= MAX_OF_A_KIND);
            prop_assert_eq!(&kind, &reason_kind(&text, "q"));
            let has_colours = reason_example(&text, 80).contains('\u{1b}');
            prop_assert!(!has_colours);
        }

        #[test]
        fn numbers_and_spaces_never_make_a_kind(first in 0_u32..10_000_000, second in -1e9_f64..1e9, spaces in 1_usize..4) {
            let space = " ".repeat(spaces);
            prop_assert_eq!(reason_kind(&format!("row {first}:{space}sum is {second:.3}"), "q"), "row #: sum is #");
        }
    }
}
