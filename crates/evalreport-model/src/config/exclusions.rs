//! `exclusions.yaml`: items known to be broken.

use std::path::Path;

use crate::document::{self, Fields, quote_text};
use crate::domain::{Exclusion, Problem, escape_invisible};

/// The file's name, next to `evalreport.yaml`.
pub const EXCLUSIONS_FILE: &str = "exclusions.yaml";

/// Reads the file. A missing file excludes nothing.
pub fn load_exclusions(path: &Path) -> Result<Vec<Exclusion>, Vec<Problem>> {
    if !path.exists() {
        return Ok(Vec::new());
    }
    let file = escape_invisible(&path.display().to_string());
    let text = super::read_text(path).map_err(|message| vec![Problem::in_file(&file, message)])?;
    parse_exclusions(&file, &text)
}

/// Parses the `text` of `file`. Returns all problems together.
pub fn parse_exclusions(file: &str, text: &str) -> Result<Vec<Exclusion>, Vec<Problem>> {
    let root = document::parse(file, text)?;
    let mut problems = Vec::new();
    let exclusions = Fields::new(file, &root, "", &mut problems).map(|mut fields| {
        super::check_version(&mut fields);
        let exclusions = fields.read_each("exclusions", read_exclusion);
        fields.finish();
        exclusions
    });
    match exclusions {
        Some(exclusions) if problems.is_empty() => Ok(exclusions),
        Some(_) | None => {
            problems.sort();
            Err(problems)
        }
    }
}

fn read_exclusion(mut fields: Fields) -> Option<Exclusion> {
    let (item, reason, suite) = (
        fields.required_text("item"),
        fields.required_text("reason"),
        fields.text("suite"),
    );
    let since = fields.text("since").and_then(|text| {
        let day = text.parse().ok();
        if day.is_none() {
            let message = format!(
                "{} must be a day, not {}",
                quote_text(&fields.path_of("since")),
                quote_text(&text)
            );
            fields.reject("since", message, Some("write it as 2026-01-31".to_owned()));
        }
        day
    });
    fields.finish();
    Some(Exclusion {
        item: item?,
        suite,
        reason: reason?,
        since,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_with_reasons() {
        let text = "version: 1\nexclusions:\n  - {item: t1, reason: the reference fails it}\n  - {item: t2, suite: s, reason: r, since: 2026-03-01}\n";
        let exclusions = parse_exclusions("e.yaml", text).expect("a good file");
        assert_eq!(
            (exclusions[0].item.as_str(), exclusions[0].suite.as_deref()),
            ("t1", None)
        );
        assert_eq!(
            exclusions[1].since.map(|day| day.to_string()).as_deref(),
            Some("2026-03-01")
        );
    }

    #[test]
    fn every_problem_at_once() {
        let problems = parse_exclusions(
            "e.yaml",
            "exclusions:\n  - {item: t1, since: soon}\n  - {reason: r, itm: x}\n",
        )
        .expect_err("wrong");
        let shown: Vec<String> = problems.iter().map(ToString::to_string).collect();
        for part in [
            "`version` is missing",
            "exclusions[0].reason",
            "must be a day, not `soon`",
            "exclusions[1].item",
            "exclusions[1].itm",
        ] {
            assert!(
                shown.iter().any(|line| line.contains(part)),
                "{part}: {shown:?}"
            );
        }
    }
}
