//! A program's output, with bounded size and without terminal sequences.

use std::borrow::Cow;

/// Number of bytes read from the beginning and from the end, where the first errors and the summaries are.
const HEAD_BYTES: usize = 512 << 10;
const TAIL_BYTES: usize = 1536 << 10;
const MAX_LINE: usize = 2000;

pub(super) struct ProgramOutput(String);

impl ProgramOutput {
    pub fn from_raw(said: &str, roots: &[&str]) -> Self {
        let mut text = strip_escapes(&keep_ends(said)).into_owned();
        let mut roots: Vec<&str> = roots
            .iter()
            .map(|root| root.trim_end_matches('/'))
            .filter(|root| !root.is_empty())
            .collect();
        // Longer roots come first, because one root may be within another.
        roots.sort_by_key(|root| std::cmp::Reverse(root.len()));
        for root in roots {
            for prefix in ["file:///private", "file://", "/private", ""] {
                text = text.replace(&format!("{prefix}{root}/"), "");
            }
        }
        Self(text)
    }

    /// Returns the lines, without text that a carriage return has overwritten, each of bounded length.
    pub fn lines(&self) -> Vec<&str> {
        self.0
            .lines()
            .map(|line| {
                line.trim_end_matches('\r')
                    .rsplit('\r')
                    .next()
                    .unwrap_or(line)
            })
            .map(|line| truncate_text(line, MAX_LINE))
            .collect()
    }
}

/// Returns the beginning of a text, cut between characters.
pub(super) fn truncate_text(text: &str, most: usize) -> &str {
    &text[..text.floor_char_boundary(most.min(text.len()))]
}

fn keep_ends(said: &str) -> Cow<'_, str> {
    if said.len() <= HEAD_BYTES + TAIL_BYTES {
        return Cow::Borrowed(said);
    }
    let tail = &said[said.ceil_char_boundary(said.len() - TAIL_BYTES)..];
    Cow::Owned(format!("{}\n{}", truncate_text(said, HEAD_BYTES), tail))
}

/// Removes escape sequences: colours, links, cursor movements.
fn strip_escapes(text: &str) -> Cow<'_, str> {
    if !text.contains('\u{1b}') {
        return Cow::Borrowed(text);
    }
    let mut plain = String::with_capacity(text.len());
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        if character != '\u{1b}' {
            plain.push(character);
            continue;
        }
        match characters.next() {
            // Control sequence: ends at a letter or another final character.
            Some('[') => {
                while characters
                    .next()
                    .is_some_and(|next| !('\u{40}'..='\u{7e}').contains(&next))
                {}
            }
            // Link or title: ends at a bell, or at an escape with its backslash, or at the latest at the line's end.
            Some(']') => {
                while let Some(next) = characters.next() {
                    match next {
                        '\u{7}' => break,
                        '\u{1b}' => {
                            characters.next();
                            break;
                        }
                        '\n' => {
                            plain.push('\n');
                            break;
                        }
                        _ => {}
                    }
                }
            }
            Some(_) | None => {}
        }
    }
    Cow::Owned(plain)
}
