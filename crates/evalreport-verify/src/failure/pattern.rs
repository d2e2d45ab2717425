//! Regular expressions that are tried only on lines that may match.

use regex::{CaptureMatches, Captures, Regex};

/// A pattern with a text that every matching line contains. Most lines do not match, and searching for a text is cheap.
pub(super) struct LinePattern {
    needed: &'static str,
    regex: Regex,
}

pub(super) fn line_pattern(needed: &'static str, regex: &str) -> LinePattern {
    LinePattern {
        needed,
        regex: Regex::new(regex).expect("a test reads with every pattern"),
    }
}

impl LinePattern {
    pub fn captures<'l>(&self, line: &'l str) -> Option<Captures<'l>> {
        if line.contains(self.needed) {
            self.regex.captures(line)
        } else {
            None
        }
    }

    pub fn captures_iter<'p, 'l>(&'p self, line: &'l str) -> CaptureMatches<'p, 'l> {
        self.regex.captures_iter(line)
    }

    pub fn is_match(&self, line: &str) -> bool {
        line.contains(self.needed) && self.regex.is_match(line)
    }
}
