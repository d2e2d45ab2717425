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

/// Returns the beginning of a text, of so many characters, with a sign that there is more where there is.
pub fn beginning(text: &str, characters: usize) -> String {
    match text.char_indices().nth(characters) {
        Some((end, _)) => format!("{} …", &text[..end]),
        None => text.to_owned(),
    }
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

/// Edit distance over characters, in which swapping two neighbours is one edit (optimal string alignment).
fn edit_distance(left: &str, right: &str) -> usize {
    let (left, right): (Vec<char>, Vec<char>) = (left.chars().collect(), right.chars().collect());
    let mut before = vec![0; right.len() + 1];
    let mut above: Vec<usize> = (0..=right.len()).collect();
    for row in 1..=left.len() {
        let mut current = vec![row; right.len() + 1];
        for column in 1..=right.len() {
            let is_other = left[row - 1] != right[column - 1];
            let mut least = (above[column - 1] + usize::from(is_other)).min(above[column] + 1).min(current[column - 1] + 1);
            if row > 1 && column > 1 && left[row - 1] == right[column - 2] && left[row - 2] == right[column - 1] {
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
    fn control_characters_become_visible() {
        assert_eq!(visible("a\x1b[31mb\u{202e}c\n"), "a␛[31mb\\u{202e}c␊");
        assert_eq!(visible("Ünïcødé 漢字 👩‍🔬"), "Ünïcødé 漢字 👩‍🔬");
    }

    #[test]
    fn nearest_finds_slips_and_nothing_else() {
        assert_eq!(nearest("tasktraker", ["workflow", "tasktracker"]), Some("tasktracker"));
        assert_eq!(nearest("modle", ["model", "suite"]), Some("model"));
        assert_eq!(nearest("zzz", ["workflow", "tasktracker"]), None);
        assert_eq!(nearest("x", []), None);
    }
}
