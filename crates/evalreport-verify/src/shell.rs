//! Quotes file names as words of a shell line. A file name may be crafted to run as a command.

/// Returns a path as one word for `sh`. `None` if the path is empty or has control characters.
///
/// A path that starts with a dash gets the prefix `./`, so that no program takes it for an option.
pub(super) fn quote_path(path: &str) -> Option<String> {
    if path.is_empty() || path.chars().any(char::is_control) {
        return None;
    }
    let path = if path.starts_with('-') {
        format!("./{path}")
    } else {
        path.to_owned()
    };
    let is_plain =
        |character: char| character.is_ascii_alphanumeric() || "_-./+,:@%".contains(character);
    Some(if path.chars().all(is_plain) {
        path
    } else {
        format!("'{}'", path.replace('\'', r"'\''"))
    })
}

/// Joins the paths as words. Paths that cannot be quoted are skipped.
pub(super) fn quote_paths<'p>(paths: impl IntoIterator<Item = &'p str>) -> String {
    paths
        .into_iter()
        .filter_map(quote_path)
        .collect::<Vec<_>>()
        .join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_plain_is_quoted() {
        let cases = [
            ("tests/test_a.py", Some("tests/test_a.py")),
            ("a b.py", Some("'a b.py'")),
            ("$(touch x).py", Some("'$(touch x).py'")),
            ("it's; rm -r ~", Some(r"'it'\''s; rm -r ~'")),
            ("-rf", Some("./-rf")),
            ("--p=a b", Some("'./--p=a b'")),
            ("~root", Some("'~root'")),
            ("a\nb", None),
            ("", None),
            ("größe.py", Some("'größe.py'")),
        ];
        for (path, expected) in cases {
            assert_eq!(quote_path(path).as_deref(), expected, "{path:?}");
        }
    }
}
