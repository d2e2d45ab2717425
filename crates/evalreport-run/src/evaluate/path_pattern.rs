//! Path patterns that say which files a rule applies to: `*.py`, `src/**`, `{a,b}/*.ts`.

use regex::Regex;

/// A pattern without a slash matches a file name in any folder. A pattern with a slash matches the whole path relative to the workspace.
#[derive(Clone, Debug)]
pub(super) struct PathPattern {
    /// The pattern as written.
    pub text: String,
    regex: Regex,
}

impl PartialEq for PathPattern {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl PathPattern {
    /// Reads `*`, `**`, `?` and `{a,b}`. Every other character stands for itself.
    pub fn parse(text: &str) -> Option<Self> {
        let wanted = text.strip_prefix("./").unwrap_or(text);
        let wanted = wanted.strip_prefix('/').unwrap_or(wanted);
        if wanted.is_empty() {
            return None;
        }
        let mut regex = String::from(if text.contains('/') { "^" } else { "^(?:.*/)?" });
        let mut rest = wanted;
        let mut depth = 0_usize;
        while let Some(character) = rest.chars().next() {
            let (part, length) = if rest.starts_with("**/") {
                ("(?:.*/)?".to_owned(), 3)
            } else if rest.starts_with("**") {
                (".*".to_owned(), 2)
            } else {
                let part = match character {
                    '*' => "[^/]*".to_owned(),
                    '?' => "[^/]".to_owned(),
                    '{' => {
                        depth += 1;
                        "(?:".to_owned()
                    }
                    '}' => {
                        depth = depth.checked_sub(1)?;
                        ")".to_owned()
                    }
                    ',' if depth > 0 => "|".to_owned(),
                    other => regex::escape(other.encode_utf8(&mut [0; 4])),
                };
                (part, character.len_utf8())
            };
            regex.push_str(&part);
            rest = &rest[length..];
        }
        // A folder matches everything in it.
        regex.push_str(if wanted.ends_with('/') { ".*$" } else { "$" });
        Some(Self {
            text: text.to_owned(),
            regex: Regex::new(&format!("(?s){regex}")).ok()?,
        })
    }

    /// Says whether the pattern matches a path with `/` between folders.
    pub fn matches(&self, path: &str) -> bool {
        self.regex.is_match(path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_mean_what_they_say() {
        for (pattern, matching, others) in [
            (
                "*.py",
                vec!["a.py", "src/a.py", ".py"],
                vec!["a.pyc", "a.py/b", "apy"],
            ),
            (
                "src/*.py",
                vec!["src/a.py"],
                vec!["src/b/a.py", "x/src/a.py", "a.py"],
            ),
            ("src/**", vec!["src/a", "src/b/c"], vec!["src", "srcs/a"]),
            ("src/", vec!["src/a", "src/b/c"], vec!["lib/src/a"]),
            ("./src/a", vec!["src/a"], vec!["x/src/a"]),
            ("/a.py", vec!["a.py"], vec!["src/a.py"]),
            (
                "**/test_?.py",
                vec!["test_a.py", "x/y/test_b.py"],
                vec!["test_.py", "test_ab.py"],
            ),
            (
                "src/{a,b*}.ts",
                vec!["src/a.ts", "src/bc.ts"],
                vec!["src/c.ts", "src/a,b.ts"],
            ),
            ("a,b(+).[x]", vec!["a,b(+).[x]"], vec!["ab.x"]),
            ("é*", vec!["été"], vec!["ete"]),
        ] {
            let read = PathPattern::parse(pattern).unwrap_or_else(|| panic!("{pattern}"));
            for path in matching {
                assert!(read.matches(path), "{pattern} {path}");
            }
            for path in others {
                assert!(!read.matches(path), "{pattern} {path}");
            }
        }
        for pattern in ["", "/", "{a", "a}"] {
            assert!(PathPattern::parse(pattern).is_none(), "{pattern}");
        }
    }
}
