//! A program's words, bounded and without what is only for terminals.

use std::borrow::Cow;

/// How much is read of the beginning and of the end: the first errors and the summaries.
const HEAD: usize = 1 << 20;
const TAIL: usize = 3 << 20;
const LONGEST_LINE: usize = 2000;

pub(super) struct Said(String);

impl Said {
    pub fn read(said: &str, roots: &[&str]) -> Self {
        let mut text = without_escapes(&bounded(said)).into_owned();
        let mut roots: Vec<&str> = roots.iter().map(|root| root.trim_end_matches('/')).filter(|root| !root.is_empty()).collect();
        // The longer ones first: one may be within another.
        roots.sort_by_key(|root| std::cmp::Reverse(root.len()));
        for root in roots {
            for prefix in ["file:///private", "file://", "/private", ""] {
                text = text.replace(&format!("{prefix}{root}/"), "");
            }
        }
        Self(text)
    }

    /// Lines without what a carriage return has overwritten, each of bounded length.
    pub fn lines(&self) -> Vec<&str> {
        self.0
            .lines()
            .map(|line| line.trim_end_matches('\r').rsplit('\r').next().unwrap_or(line))
            .map(|line| cut(line, LONGEST_LINE))
            .collect()
    }
}

/// The beginning of a text, cut between characters.
pub(super) fn cut(text: &str, most: usize) -> &str {
    &text[..text.floor_char_boundary(most.min(text.len()))]
}

fn bounded(said: &str) -> Cow<'_, str> {
    if said.len() <= HEAD + TAIL {
        return Cow::Borrowed(said);
    }
    let tail = &said[said.ceil_char_boundary(said.len() - TAIL)..];
    Cow::Owned(format!("{}\n{}", cut(said, HEAD), tail))
}

/// Leaves out escape sequences: colours, links, cursor movements.
fn without_escapes(text: &str) -> Cow<'_, str> {
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
            // Control sequence: up to a letter or another final character.
            Some('[') => while characters.next().is_some_and(|next| !('\u{40}'..='\u{7e}').contains(&next)) {},
            // Link or title: up to a bell, or an escape with its backslash. Where neither comes, the line's end has to do.
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
