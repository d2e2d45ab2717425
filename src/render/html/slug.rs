//! Turns names into path segments that all file systems and servers accept.

use std::collections::BTreeMap;

use sha2::{Digest, Sha256};

/// Device names that Windows reserves, with anything after the first dot.
const RESERVED_NAMES: [&str; 4] = ["con", "prn", "aux", "nul"];

/// Numbers of hash digits, tried in turn until all segments of a folder differ. With all 64 they always do.
const HASH_DIGITS: [usize; 5] = [0, 8, 16, 32, 64];

/// Gives each name a segment of at most `longest` bytes: lower-case ASCII, unique even if case is ignored, and never `..` or a reserved
/// name.
///
/// A name that loses characters gets a part of its hash, and so do all names that would share a segment. So a name's segment does not
/// depend on the order of the names.
pub(in crate::render) fn unique_segments<'a>(
    names: impl IntoIterator<Item = &'a str>,
    longest: usize,
) -> BTreeMap<&'a str, String> {
    let mut levels: BTreeMap<&str, usize> = names.into_iter().map(|name| (name, 0)).collect();
    loop {
        let given: BTreeMap<&str, String> = levels
            .iter()
            .map(|(name, level)| (*name, make_segment(name, HASH_DIGITS[*level], longest)))
            .collect();
        let mut users = BTreeMap::<&str, u32>::new();
        for segment in given.values() {
            *users.entry(segment).or_default() += 1;
        }
        let mut is_settled = true;
        for (name, level) in &mut levels {
            if users[given[name].as_str()] > 1 && *level + 1 < HASH_DIGITS.len() {
                *level += 1;
                is_settled = false;
            }
        }
        if is_settled {
            return given;
        }
    }
}

/// Makes one name's segment, with at least `digits` hash digits.
fn make_segment(name: &str, digits: usize, longest: usize) -> String {
    let mut plain = String::new();
    let mut is_lossy = false;
    for character in name.chars() {
        match character {
            'a'..='z' | '0'..='9' | '_' => plain.push(character),
            'A'..='Z' => plain.push(character.to_ascii_lowercase()),
            // Keep a dot only after a letter or digit: no hidden names, no `..`, and no final dot, which Windows drops.
            '.' if plain.ends_with(|before: char| before.is_ascii_alphanumeric()) => {
                plain.push('.');
            }
            ' '..='~' => {
                let kept = plain.trim_end_matches(['-', '.']).len();
                plain.truncate(kept);
                plain.push('-');
            }
            _ => is_lossy = true,
        }
    }
    let mut plain = plain.trim_matches(['-', '.']).to_owned();
    is_lossy |= plain.is_empty() || plain.len() > longest;
    let stem = plain.split('.').next().unwrap_or_default();
    if is_reserved(stem) {
        plain.insert_str(0, "x-");
        is_lossy = true;
    }
    let digits = if is_lossy {
        digits.max(HASH_DIGITS[1])
    } else {
        digits
    };
    if digits == 0 {
        return plain;
    }
    let hash = hex_prefix(&Sha256::digest(name.as_bytes()), digits);
    plain.truncate(longest.saturating_sub(digits + 1));
    let kept = plain.trim_end_matches(['-', '.']);
    if kept.is_empty() {
        format!("x-{hash}")
    } else {
        format!("{kept}-{hash}")
    }
}

fn is_reserved(stem: &str) -> bool {
    let numbered = |prefix: &str| {
        stem.strip_prefix(prefix)
            .is_some_and(|rest| rest.len() == 1 && rest.as_bytes()[0].is_ascii_digit())
    };
    RESERVED_NAMES.contains(&stem) || numbered("com") || numbered("lpt")
}

/// Returns the first `digits` hexadecimal digits of a hash.
pub(super) fn hex_prefix(hash: &[u8], digits: usize) -> String {
    let mut text = crate::domain::to_hex(hash);
    text.truncate(digits);
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(name: &str) -> String {
        unique_segments([name], 120)
            .remove(name)
            .unwrap_or_default()
    }

    #[test]
    fn plain_names_stay_readable() {
        for (name, wanted) in [
            ("qa-core", "qa-core"),
            ("Ralph", "ralph"),
            ("gpt-4.1 (2025-04-14)", "gpt-4.1-2025-04-14"),
            ("../../x", "x"),
            ("a--b", "a-b"),
            ("a/b\\c", "a-b-c"),
            ("__proto__", "__proto__"),
        ] {
            assert_eq!(one(name), wanted);
        }
    }

    #[test]
    fn hostile_names_are_harmless() {
        let long = "n".repeat(300);
        let names = [
            "",
            "..",
            ".",
            "con",
            "CON",
            "con.txt",
            "lpt1",
            "漢字",
            "a\0b",
            "trailing. ",
            "\u{202e}x",
            &long,
            "nul",
        ];
        let given = unique_segments(names, 120);
        for (name, segment) in &given {
            assert!(
                !segment.is_empty() && segment.len() <= 120,
                "{name:?} gives {segment:?}"
            );
            assert!(
                segment.bytes().all(|byte| byte.is_ascii_lowercase()
                    || byte.is_ascii_digit()
                    || b"-_.".contains(&byte)),
                "{segment:?}"
            );
            assert!(
                !segment.contains("..") && !segment.starts_with('.') && !segment.ends_with('.'),
                "{segment:?}"
            );
            assert!(
                !is_reserved(segment.split('.').next().unwrap_or_default()),
                "{segment:?}"
            );
        }
        let distinct: std::collections::BTreeSet<&String> = given.values().collect();
        assert_eq!(distinct.len(), given.len());
    }

    #[test]
    fn names_that_meet_are_told_apart_without_regard_to_order() {
        let mut hashed = unique_segments(["Foo", "foo", "bar"], 120);
        assert_eq!(hashed["bar"], "bar");
        assert_ne!(hashed["Foo"], hashed["foo"]);
        assert_eq!(hashed, unique_segments(["bar", "foo", "Foo"], 120));
        // A name that equals another name's hashed segment.
        let imitation = hashed.remove("foo").unwrap_or_default();
        let given = unique_segments(["Foo", "foo", imitation.as_str()], 120);
        let distinct: std::collections::BTreeSet<&String> = given.values().collect();
        assert_eq!(distinct.len(), 3);
    }
}
