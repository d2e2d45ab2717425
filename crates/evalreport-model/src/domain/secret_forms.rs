//! Forms in which a secret may stand in text: as programs escape, encode and wrap it.
//!
//! Not covered: text that is compressed, encrypted, hashed, encoded twice in base64, spelled in another case or normalised otherwise, or
//! interrupted by anything but line ends. Docs: docs/understand/what-you-can-trust.md.

use std::collections::BTreeSet;

use base64::Engine;
use base64::engine::general_purpose::STANDARD_NO_PAD;

/// Shortest form that is looked for. Shorter ones match ordinary text.
pub(super) const MIN_LENGTH: usize = 8;
/// Shortest form that is looked for across line ends.
const MIN_WRAPPED: usize = 16;
/// Longer secrets are private keys and documents: of most of their forms the lines alone are looked for.
const MAX_BYTES_OF_ALL_FORMS: usize = 1024;
/// Blanks and equals signs of a secret of which each may be at a line end.
const MAX_BLANKS: usize = 12;
/// Levels of JSON inside JSON.
const MAX_NESTED: usize = 4;
/// Letters that stay as they are in URLs: by the standard, as browsers and as Python write them.
const UNESCAPED_IN_URLS: [&str; 3] = ["-_.~", "-_.!~*'()", "-_.~/"];

/// Returns the forms of a secret, at least [`MIN_LENGTH`] bytes each.
pub(super) fn forms_of(secret: &str) -> BTreeSet<Vec<u8>> {
    let is_long = secret.len() > MAX_BYTES_OF_ALL_FORMS;
    let mut texts = BTreeSet::from([secret.to_owned(), secret.replace('\n', "\r\n")]);
    texts.extend(json_forms(secret, if is_long { 1 } else { MAX_NESTED }));
    texts.extend(base64_forms(secret));
    texts.extend(inner_lines(secret));
    if !is_long {
        let in_json = escaped_json(secret, |_| false);
        for text in [secret, &in_json] {
            texts.extend(markup_forms(text));
            texts.extend(source_code_forms(text));
        }
        texts.extend(percent_forms(secret));
        texts.extend(hexadecimal_forms(secret));
    }
    let mut forms: BTreeSet<Vec<u8>> = texts.into_iter().map(String::into_bytes).collect();
    forms.extend(latin_form(secret));
    forms.extend(JoinedText::from_bytes(secret.as_bytes()).map(|joined| joined.bytes));
    forms.retain(|form| form.len() >= MIN_LENGTH);
    forms
}

/// Returns the forms of a secret in UTF-16, whose removal keeps its two bytes per letter, each with its form as text of JSON.
pub(super) fn wide_forms_of(secret: &str) -> [(Vec<u8>, Option<String>); 2] {
    [
        encode_wide(secret, u16::to_le_bytes),
        encode_wide(secret, u16::to_be_bytes),
    ]
    .map(|form| {
        let text = std::str::from_utf8(&form)
            .ok()
            .map(|text| escaped_json(text, |_| false));
        (form, text)
    })
}

/// Returns text in UTF-16.
pub(super) fn encode_wide(text: &str, bytes: fn(u16) -> [u8; 2]) -> Vec<u8> {
    text.encode_utf16().flat_map(bytes).collect()
}

/// Returns forms as [`JoinedText`] text has them. A blank at a line end is taken for indentation, and `=` for a sign that the line goes on.
pub(super) fn joined_forms(forms: &BTreeSet<Vec<u8>>) -> BTreeSet<Vec<u8>> {
    let joined = forms.iter().map(|form| {
        JoinedText::from_bytes(form).map_or_else(|| form.clone(), |joined| joined.bytes)
    });
    let mut joined: BTreeSet<Vec<u8>> = joined.filter(|form| form.len() >= MIN_WRAPPED).collect();
    let without_a_blank = joined.iter().flat_map(|form| {
        let blanks = (0..form.len())
            .rev()
            .filter(|place| b" =".contains(&form[*place]))
            .take(MAX_BLANKS);
        blanks.map(|place| [&form[..place], &form[place + 1..]].concat())
    });
    let without_a_blank: Vec<Vec<u8>> = without_a_blank.collect();
    joined.extend(without_a_blank);
    joined
}

/// Escapes a text as in JSON. Of the other characters, those that `is_code` names become `\u` and four digits.
fn escaped_json(text: &str, is_code: impl Fn(char) -> bool) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '"' => escaped.push_str("\\\""),
            '\\' => escaped.push_str("\\\\"),
            '\n' => escaped.push_str("\\n"),
            '\r' => escaped.push_str("\\r"),
            '\t' => escaped.push_str("\\t"),
            '\u{8}' => escaped.push_str("\\b"),
            '\u{c}' => escaped.push_str("\\f"),
            letter if letter < ' ' || is_code(letter) => {
                let mut units = [0; 2];
                letter
                    .encode_utf16(&mut units)
                    .iter()
                    .for_each(|unit| escaped.push_str(&format!("\\u{unit:04x}")));
            }
            letter => escaped.push(letter),
        }
    }
    escaped
}

/// Writes the digits of `\u00f6` large.
fn with_uppercase_digits(text: &str) -> String {
    with_uppercase_digits_after(text, "\\u", 4)
}

fn with_uppercase_digits_after(text: &str, sign: &str, count: usize) -> String {
    let mut large = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once(sign) {
        let (digits, behind) = after.split_at_checked(count).unwrap_or((after, ""));
        large.push_str(before);
        large.push_str(sign);
        large.push_str(&digits.to_uppercase());
        rest = behind;
    }
    large + rest
}

/// Returns the forms in JSON, in JSON inside JSON and so on.
fn json_forms(secret: &str, levels: usize) -> BTreeSet<String> {
    let is_foreign = |letter: char| !letter.is_ascii();
    let in_pages =
        |letter: char| matches!(letter, '<' | '>' | '&' | '\'' | '\u{2028}' | '\u{2029}');
    let plain = escaped_json(secret, |_| false);
    let ascii = escaped_json(secret, is_foreign);
    let of_pages = [
        escaped_json(secret, in_pages),
        escaped_json(secret, |letter| in_pages(letter) && letter != '\''),
    ];
    let mut level = BTreeSet::from([plain.clone(), ascii]);
    level.extend(of_pages);
    level.extend(level.clone().iter().map(|text| with_uppercase_digits(text)));
    level.extend(level.clone().iter().map(|text| text.replace('/', "\\/")));
    let mut all = level.clone();
    let mut plain = plain;
    for _ in 1..levels {
        level = level
            .iter()
            .map(|text| escaped_json(text, |_| false))
            .collect();
        // Only the outermost may be the one that knows no other letters.
        let ascii = escaped_json(&plain, is_foreign);
        level.extend([with_uppercase_digits(&ascii), ascii]);
        all.extend(level.iter().cloned());
        plain = escaped_json(&plain, |_| false);
    }
    all
}

fn replace_characters(text: &str, by: impl Fn(char) -> Option<String>) -> String {
    let mut replaced = String::with_capacity(text.len());
    for letter in text.chars() {
        match by(letter) {
            Some(other) => replaced.push_str(&other),
            None => replaced.push(letter),
        }
    }
    replaced
}

/// Returns the forms in HTML and XML.
fn markup_forms(text: &str) -> BTreeSet<String> {
    let named = |quote: &'static str, apostrophe: &'static str| {
        replace_characters(text, |letter| {
            let entity = match letter {
                '&' => "&amp;",
                '<' => "&lt;",
                '>' => "&gt;",
                '"' if !quote.is_empty() => quote,
                '\'' if !apostrophe.is_empty() => apostrophe,
                _ => return None,
            };
            Some(entity.to_owned())
        })
    };
    let is_special = |letter: char| matches!(letter, '&' | '<' | '>' | '"' | '\'');
    let numbered = replace_characters(text, |letter| {
        is_special(letter).then(|| format!("&#{};", u32::from(letter)))
    });
    let mut forms = BTreeSet::from([numbered]);
    for quote in ["", "&quot;", "&#34;"] {
        for apostrophe in ["", "&#39;", "&#x27;", "&apos;", "&#039;"] {
            forms.insert(named(quote, apostrophe));
        }
    }
    for form in forms.clone() {
        let foreign = |code: fn(u32) -> String| {
            replace_characters(&form, |letter| {
                (!letter.is_ascii()).then(|| code(u32::from(letter)))
            })
        };
        forms.extend([
            foreign(|code| format!("&#{code};")),
            foreign(|code| format!("&#x{code:x};")),
            foreign(|code| format!("&#x{code:X};")),
        ]);
    }
    forms
}

/// Returns the forms in shells, YAML, CSV, SQL, and in what languages print for a text.
fn source_code_forms(text: &str) -> BTreeSet<String> {
    let in_shell = |letter: char| {
        letter.is_ascii() && !letter.is_ascii_alphanumeric() && !"-_./:=@%+,".contains(letter)
    };
    let octal = text.bytes().fold(String::new(), |form, byte| match byte {
        b'"' | b'\\' => form + "\\" + char::from(byte).encode_utf8(&mut [0; 4]),
        b'\n' => form + "\\n",
        b'\t' => form + "\\t",
        b' '..=b'~' => form + char::from(byte).encode_utf8(&mut [0; 4]),
        _ => form + &format!("\\{byte:03o}"),
    });
    let bytes = |is_quoted: bool| {
        text.bytes().fold(String::new(), |form, byte| match byte {
            b'\\' => form + "\\\\",
            b'\'' if is_quoted => form + "\\'",
            b'\n' => form + "\\n",
            b'\r' => form + "\\r",
            b'\t' => form + "\\t",
            b' '..=b'~' => form + char::from(byte).encode_utf8(&mut [0; 4]),
            _ => form + &format!("\\x{byte:02x}"),
        })
    };
    let python = |is_ascii: bool, quote: char| {
        replace_characters(text, |letter| {
            Some(match letter {
                '\\' => "\\\\".to_owned(),
                '\n' => "\\n".to_owned(),
                '\r' => "\\r".to_owned(),
                '\t' => "\\t".to_owned(),
                letter if letter == quote => format!("\\{letter}"),
                letter if letter.is_control() || (is_ascii && !letter.is_ascii()) => {
                    match u32::from(letter) {
                        code @ 0..=0xff => format!("\\x{code:02x}"),
                        code @ 0x100..=0xffff => format!("\\u{code:04x}"),
                        code => format!("\\U{code:08x}"),
                    }
                }
                _ => return None,
            })
        })
    };
    let mut forms = BTreeSet::from([
        text.replace('\'', "''"),
        text.replace('"', "\"\""),
        text.replace('\'', "'\\''"),
        text.replace('\'', "'\"'\"'"),
        text.replace('\'', "\\'"),
        replace_characters(text, |letter| {
            in_shell(letter).then(|| format!("\\{letter}"))
        }),
        replace_characters(text, |letter| {
            matches!(letter, '"' | '\\' | '$' | '`').then(|| format!("\\{letter}"))
        }),
        octal,
        bytes(true),
        bytes(false),
        text.escape_debug().to_string(),
        text.escape_default().to_string(),
    ]);
    forms.extend([
        python(false, '\''),
        python(true, '\''),
        python(false, '"'),
        python(true, '"'),
        python(false, '\0'),
        python(true, '\0'),
    ]);
    // YAML writes other digits in its double quotes.
    let yaml = with_uppercase_digits_after(
        &with_uppercase_digits_after(&python(true, '"'), "\\x", 2),
        "\\U",
        8,
    );
    forms.insert(with_uppercase_digits(&yaml));
    forms
}

/// Returns the percent-encoded forms, and the quoted-printable one.
fn percent_forms(secret: &str) -> BTreeSet<String> {
    let encoded = |sign: &str, is_large: bool, stays: &dyn Fn(u8) -> bool| {
        secret.bytes().fold(String::new(), |form, byte| match byte {
            byte if stays(byte) => form + char::from(byte).encode_utf8(&mut [0; 4]),
            byte if is_large => form + &format!("{sign}{byte:02X}"),
            byte => form + &format!("{sign}{byte:02x}"),
        })
    };
    // Two slashes of an address are one in the name of a file.
    let mut forms = BTreeSet::from([secret.replace("//", "/")]);
    for is_large in [true, false] {
        for stay in UNESCAPED_IN_URLS {
            let stays = |byte: u8| byte.is_ascii_alphanumeric() || stay.as_bytes().contains(&byte);
            let form = encoded("%", is_large, &stays);
            forms.extend([form.replace("%20", "+"), form.replace('%', "%25"), form]);
        }
        // Of forms: a blank is a plus, and the asterisk stays.
        let form = encoded("%", is_large, &|byte| {
            byte.is_ascii_alphanumeric() || b"*-._ ".contains(&byte)
        });
        forms.insert(form.replace(' ', "+"));
        // Of addresses that are mended rather than encoded.
        forms.insert(encoded("%", is_large, &|byte| {
            byte.is_ascii_graphic() && !b"\"<>\\^`{|}%".contains(&byte)
        }));
        forms.insert(encoded("=", is_large, &|byte| {
            matches!(byte, b' '..=b'~' | b'\t' | b'\n' | b'\r') && byte != b'='
        }));
    }
    forms
}

fn hexadecimal_forms(secret: &str) -> [String; 8] {
    let joined = |between: &str, is_large: bool| {
        let digits = secret.bytes().map(|byte| {
            if is_large {
                format!("{byte:02X}")
            } else {
                format!("{byte:02x}")
            }
        });
        digits.collect::<Vec<_>>().join(between)
    };
    ["", " ", ":", "\\x"]
        .map(|between| [joined(between, false), joined(between, true)])
        .concat()
        .try_into()
        .unwrap_or_default()
}

/// Returns the base64 forms, at any offset of the encoded text, in both alphabets.
fn base64_forms(secret: &str) -> BTreeSet<String> {
    let mut forms = BTreeSet::new();
    let with_line_end = format!("{secret}\n");
    for text in [secret, &secret.replace('\n', "\r\n"), &with_line_end] {
        for before in 0..3 {
            let encoded = STANDARD_NO_PAD.encode([&vec![0; before], text.as_bytes()].concat());
            // The characters at both ends depend on the neighbouring bytes.
            let (from, to) = ((before * 8).div_ceil(6), (before + text.len()) * 8 / 6);
            if let Some(own) = encoded.get(from..to) {
                forms.extend([
                    own.to_owned(),
                    own.replace('+', "-").replace('/', "_"),
                    own.replace('/', "\\/"),
                ]);
                forms.extend([
                    own.replace('+', "%2B").replace('/', "%2F"),
                    own.replace('+', "%2b").replace('/', "%2f"),
                ]);
            }
        }
    }
    forms
}

/// Returns the lines of a key of several lines, as PEM has them, without its first and last.
fn inner_lines(secret: &str) -> Vec<String> {
    let is_encoded = |line: &&str| {
        line.len() >= MIN_WRAPPED
            && line
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || b"+/=_-".contains(&byte))
    };
    let lines = if secret.contains('\n') {
        secret.lines()
    } else {
        "".lines()
    };
    let lines = lines
        .map(str::trim)
        .filter(is_encoded)
        .filter(|line| !line.starts_with("-----"));
    lines
        .flat_map(|line| {
            [
                line.to_owned(),
                line.replace('/', "\\/"),
                line.replace('+', "%2B").replace('/', "%2F"),
            ]
        })
        .collect()
}

/// Returns the form in Latin-1, if the secret has letters beyond ASCII that it knows.
fn latin_form(secret: &str) -> Option<Vec<u8>> {
    if secret.is_ascii() {
        None
    } else {
        secret
            .chars()
            .map(|letter| u8::try_from(u32::from(letter)).ok())
            .collect()
    }
}

/// Text without its line ends, written out or as `\n`, and what comes with them: indentation, and signs that the line goes on. It has no
/// backslashes either: with each level of JSON in JSON there are more of them, and nothing else changes.
pub(super) struct JoinedText {
    pub bytes: Vec<u8>,
    /// Where bytes were left out of the joined text, and how many in all until there.
    gaps: Vec<(usize, usize)>,
}

impl JoinedText {
    /// Returns `None` if there is nothing to leave out.
    pub fn from_bytes(text: &[u8]) -> Option<Self> {
        let mut joined = Self {
            bytes: Vec::new(),
            gaps: Vec::new(),
        };
        let mut kept = 0;
        while let Some(length) = memchr::memchr3(b'\n', b'\r', b'\\', &text[kept..]) {
            let mut start = kept + length;
            let mut end = start;
            while let Some(length) = text.get(end..).and_then(line_end) {
                end += length;
            }
            if end > start {
                // Quoted-printable text ends a line that goes on with this.
                start -= usize::from(start > kept && text[start - 1] == b'=');
            } else {
                end += text[start..]
                    .iter()
                    .take_while(|byte| **byte == b'\\')
                    .count();
            }
            joined.bytes.extend_from_slice(&text[kept..start]);
            let missing = joined.gaps.last().map_or(0, |(_, missing)| *missing) + end - start;
            joined.gaps.push((joined.bytes.len(), missing));
            kept = end;
        }
        if joined.gaps.is_empty() {
            return None;
        }
        joined.bytes.extend_from_slice(&text[kept..]);
        Some(joined)
    }

    /// Returns where a byte of the joined text is in the text.
    pub fn original_place(&self, at: usize) -> usize {
        let before = self.gaps.partition_point(|(place, _)| *place <= at);
        at + before.checked_sub(1).map_or(0, |last| self.gaps[last].1)
    }
}

/// Returns the length of the line end at the beginning of the text, with the indentation after it.
fn line_end(text: &[u8]) -> Option<usize> {
    let slashes = text.iter().take_while(|byte| **byte == b'\\').count();
    let is_end = match text.get(slashes)? {
        b'\n' | b'\r' => true,
        b'n' | b'r' => slashes > 0,
        _ => false,
    };
    let blanks = || {
        text[slashes + 1..]
            .iter()
            .take_while(|byte| matches!(**byte, b' ' | b'\t'))
            .count()
    };
    is_end.then(|| slashes + 1 + blanks())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn has(secret: &str, form: &str) -> bool {
        forms_of(secret).contains(form.as_bytes())
    }

    #[test]
    fn json_inside_json_is_escaped_again() {
        let secret = "a\"b/ö\nc<d>";
        for form in [
            "a\\\"b/ö\\nc<d>",
            "a\\\"b/\\u00f6\\nc<d>",
            "a\\\"b/\\u00F6\\nc<d>",
            "a\\\"b\\/\\u00f6\\nc<d>",
            "a\\\"b/ö\\nc\\u003cd\\u003e",
            "a\\\\\\\"b/ö\\\\nc<d>",
            "a\\\\\\\"b/\\u00f6\\\\nc<d>",
            "a\\\\\\\"b/\\\\u00f6\\\\nc<d>",
            "a\\\\\\\\\\\\\\\"b/ö\\\\\\\\nc<d>",
        ] {
            assert!(has(secret, form), "{form}");
        }
    }

    #[test]
    fn programs_write_a_secret_in_their_own_way() {
        let secret = "it's \"ö\" & <x>\\y";
        for form in [
            "it&#39;s &quot;ö&quot; &amp; &lt;x&gt;\\y",
            "it&#x27;s &quot;&#246;&quot; &amp; &lt;x&gt;\\y",
            "it&#39;s &#34;ö&#34; &#38; &#60;x&#62;\\y",
            "it''s \"ö\" & <x>\\y",
            "it's \"\"ö\"\" & <x>\\y",
            "it'\\''s \"ö\" & <x>\\y",
            "it'\"'\"'s \"ö\" & <x>\\y",
            "it\\'s\\ \\\"ö\\\"\\ \\&\\ \\<x\\>\\\\y",
            "it\\'s \"\\xf6\" & <x>\\\\y",
            "it\\'s \"\\xc3\\xb6\" & <x>\\\\y",
            "it's \\\"\\303\\266\\\" & <x>\\\\y",
            "it%27s+%22%C3%B6%22+%26+%3Cx%3E%5Cy",
            "it%27s%20%22%c3%b6%22%20%26%20%3cx%3e%5cy",
            "it's \"=C3=B6\" & <x>\\y",
            "697427732022c3b622202620 3c783e5c79"
                .replace(' ', "")
                .as_str(),
        ] {
            assert!(
                has(secret, form),
                "{form}: {:?}",
                forms_of(secret)
                    .iter()
                    .map(|form| String::from_utf8_lossy(form))
                    .collect::<Vec<_>>()
            );
        }
    }

    #[test]
    fn line_ends_and_what_comes_with_them_are_left_out() {
        let joined = |text: &str| {
            JoinedText::from_bytes(text.as_bytes())
                .map(|joined| String::from_utf8_lossy(&joined.bytes).into_owned())
        };
        assert_eq!(joined("no end, C:/x"), None);
        assert_eq!(joined("a\\\\\\\"b\\u00f6").as_deref(), Some("a\"bu00f6"));
        for text in [
            "ab\ncd",
            "ab\r\n  cd",
            "ab\\ncd",
            "ab\\\\r\\\\ncd",
            "ab=\r\ncd",
            "ab\\\n\tcd",
            "ab\n\n\ncd",
        ] {
            assert_eq!(joined(text).as_deref(), Some("abcd"), "{text:?}");
        }
        let text = b"a\nbc\\n  d";
        let joined = JoinedText::from_bytes(text).expect("line ends");
        let places: Vec<u8> = (0..joined.bytes.len())
            .map(|at| text[joined.original_place(at)])
            .collect();
        assert_eq!(places, b"abcd");
    }

    #[test]
    fn a_plain_key_has_few_forms() {
        assert!(
            forms_of("sk-abcdefghijklmnop").len() < 40,
            "{}",
            forms_of("sk-abcdefghijklmnop").len()
        );
    }
}
