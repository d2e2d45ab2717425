//! Parses the text that `node --test` prints for people.

use crate::domain::ItemStatus;

use super::collect::OutcomeCollector;
use super::output::{OutputText, truncate_name};

/// Adds the tests, as `parent > child`. Returns false, and adds nothing, if this is not node's output.
pub fn read_tests(stdout: &OutputText, tests: &mut OutcomeCollector) -> bool {
    if !stdout.has_line_starting("ℹ tests ") {
        return false;
    }
    // Open parents: indentation, name, whether a child failed.
    let mut open: Vec<(usize, &str, bool)> = Vec::new();
    for line in stdout.lines() {
        if line == "✖ failing tests:" {
            break;
        }
        let trimmed = line.trim_start_matches(' ');
        let indent = line.len() - trimmed.len();
        let mut characters = trimmed.chars();
        let sign = characters.next();
        let Some(rest) = characters.as_str().strip_prefix(' ') else {
            continue;
        };
        let status = match sign {
            Some('▶') => {
                open.retain(|(at, ..)| *at < indent);
                open.push((indent, truncate_name(rest.trim_end()), false));
                continue;
            }
            Some('✔') => ItemStatus::Pass,
            Some('✖') => ItemStatus::Fail,
            Some('﹣') => ItemStatus::Skipped,
            Some(_) | None => continue,
        };
        let (name, seconds, note) = split_timing(rest);
        let status = if note.starts_with("TODO") || note.starts_with("SKIP") {
            ItemStatus::Skipped
        } else {
            status
        };
        open.retain(|(at, ..)| *at <= indent);
        let parent = open.pop_if(|(at, parent, _)| *at == indent && *parent == truncate_name(name));
        open.retain(|(at, ..)| *at < indent);
        let has_failed = status == ItemStatus::Fail;
        for (_, _, child_failed) in &mut open {
            *child_failed |= has_failed;
        }
        if parent.is_some_and(|(_, _, child_failed)| !has_failed || child_failed) {
            continue;
        }
        let path: Vec<&str> = open
            .iter()
            .map(|(_, parent, _)| *parent)
            .chain([name])
            .collect();
        tests.push(&path.join(" > "), status, seconds, None);
    }
    true
}

/// Splits `name (1.5ms) # note`.
fn split_timing(text: &str) -> (&str, Option<f64>, &str) {
    let Some((name, rest)) = text.rsplit_once(" (") else {
        return (text.trim_end(), None, "");
    };
    let Some((time, note)) = rest.split_once("ms)") else {
        return (text.trim_end(), None, "");
    };
    let note = note.trim().strip_prefix('#').map_or("", str::trim);
    (
        name,
        time.parse::<f64>()
            .ok()
            .map(|milliseconds| milliseconds / 1000.0),
        note,
    )
}
