//! Making foreign text safe to show, and finding the name that was meant.

/// Returns `text` with control and bidirectional-override characters replaced by visible ones, so that it can be printed anywhere.
///
/// C0 controls and DEL become the control pictures (U+2400 block), C1 controls, bidirectional controls, line and paragraph separators
/// become `\u{…}` escapes. Everything else is unchanged.
pub fn visible(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\u{0}'..='\u{1f}' => shown.push(char::from_u32(0x2400 + character as u32).unwrap_or('\u{fffd}')),
            '\u{7f}' => shown.push('\u{2421}'),
            '\u{80}'..='\u{9f}'
            | '\u{200e}'
            | '\u{200f}'
            | '\u{61c}'
            | '\u{2028}'
            | '\u{2029}'
            | '\u{202a}'..='\u{202e}'
            | '\u{2066}'..='\u{2069}'
            | '\u{feff}' => {
                shown.extend(character.escape_unicode());
            }
            _ => shown.push(character),
        }
    }
    shown
}

/// Returns the candidate nearest to `name` by edit distance, if it is near enough to be a slip of the finger.
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    candidates
        .into_iter()
        .map(|candidate| (edit_distance(&name.to_lowercase(), &candidate.to_lowercase()), candidate))
        .filter(|(distance, candidate)| *distance <= (candidate.chars().count().max(name.chars().count()) / 3).max(1))
        .min()
        .map(|(_, candidate)| candidate)
}

/// Levenshtein distance over characters.
fn edit_distance(left: &str, right: &str) -> usize {
    let right: Vec<char> = right.chars().collect();
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (index, left_char) in left.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = index + 1;
        for (column, right_char) in right.iter().enumerate() {
            let substituted = diagonal + usize::from(left_char != *right_char);
            diagonal = row[column + 1];
            row[column + 1] = substituted.min(diagonal + 1).min(row[column] + 1);
        }
    }
    row[right.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_become_visible() {
        assert_eq!(visible("a\x1b[31mb\u{202e}c\n"), "a␛[31mb\\u{202e}c␊");
        assert_eq!(visible("Ünïcødé 漢字 👩‍🔬"), "Ünïcødé 漢字 👩‍🔬");
    }

    #[test]
    fn nearest_finds_slips_and_nothing_else() {
        assert_eq!(nearest("tasktraker", ["workflow", "tasktracker"]), Some("tasktracker"));
        assert_eq!(nearest("zzz", ["workflow", "tasktracker"]), None);
        assert_eq!(nearest("x", []), None);
    }
}
