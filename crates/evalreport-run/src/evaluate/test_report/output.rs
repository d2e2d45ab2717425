//! Output of a command, as lines without colour codes.

use crate::domain::strip_terminal_codes;

/// Maximum number of bytes that are read from one stream.
const MAX_BYTES: usize = 64 << 20;

pub struct OutputText {
    text: String,
}

impl OutputText {
    /// Decodes a stream: removes terminal sequences, replaces bytes that are not UTF-8 by `�`, and treats a lone carriage return as a line
    /// end.
    pub fn new(bytes: &[u8], roots: &[&str]) -> Self {
        let bytes = &bytes[..bytes.len().min(MAX_BYTES)];
        Self {
            text: strip_roots(
                &strip_terminal_codes(&String::from_utf8_lossy(bytes)),
                roots,
            ),
        }
    }

    pub fn lines(&self) -> impl Iterator<Item = &str> {
        self.text.lines()
    }

    pub fn last_line(&self) -> Option<&str> {
        self.text
            .lines()
            .map(str::trim)
            .rfind(|line| !line.is_empty())
    }

    pub fn has_line_starting(&self, start: &str) -> bool {
        self.lines().any(|line| line.starts_with(start))
    }
}

/// Returns the start of a name that becomes part of many ids, so that a name of megabytes is not copied for each of them.
pub fn truncate_name(name: &str) -> &str {
    &name[..name.floor_char_boundary(400)]
}

/// Removes folders that change from run to run from a text, so that the paths below them are equal in every run.
pub fn strip_roots(text: &str, roots: &[&str]) -> String {
    let mut text = text.to_owned();
    let mut roots: Vec<&str> = roots
        .iter()
        .map(|root| root.trim_end_matches('/'))
        .filter(|root| root.len() > 1)
        .collect();
    // A folder inside another one is removed first.
    roots.sort_by_key(|root| std::cmp::Reverse(root.len()));
    for root in roots {
        if text.contains(root) {
            text = text
                .replace(&format!("file://{root}/"), "")
                .replace(&format!("{root}/"), "");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_of_one_run_go() {
        assert_eq!(
            strip_roots(
                "file:///t/w1/a.js:3 /t/w1/b /t/w12/c",
                &["/t/w1/", "/t/w1/sub", "/"]
            ),
            "a.js:3 b /t/w12/c"
        );
    }
}
