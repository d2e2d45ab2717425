//! Formats a problem as plain text, with its source line.

use std::fmt::Write;

use unicode_width::UnicodeWidthStr;

use crate::domain::{Problem, escape_invisible};

/// Maximum number of characters shown of a source line, and how many of them precede the problem's column.
const MAX_SHOWN: usize = 120;
const MAX_BEFORE: usize = 60;

/// Returns the problem with its place, the source line with a caret below the column, and the hint. Has no colours and ends in a newline.
pub fn render_problem(problem: &Problem, source: &str) -> String {
    let mut text = format!(
        "{}: {}\n",
        escape_invisible(&problem.format_place()),
        problem.message
    );
    if let Some(number) = problem.line
        && let Some(line) = nth_line(source, number)
    {
        let column = problem.column.unwrap_or(1).saturating_sub(1);
        let start = column.saturating_sub(MAX_BEFORE);
        let mut window = line.chars().skip(start);
        let before: String = window.by_ref().take(column - start).collect();
        let after: String = window.by_ref().take(MAX_SHOWN - (column - start)).collect();
        let opening = if start > 0 { "…" } else { "" };
        let closing = if window.next().is_some() { "…" } else { "" };
        // Tabs become spaces, so that the caret is in the right column for any tab width.
        let before = format!("{opening}{}", escape_invisible(&before.replace('\t', " ")));
        let after = format!("{}{closing}", escape_invisible(&after.replace('\t', " ")));
        let gutter = " ".repeat(number.to_string().len());
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "  {number} | {}",
            format!("{before}{after}").trim_end()
        );
        if problem.column.is_some() {
            let _ = writeln!(text, "  {gutter} | {}^", " ".repeat(before.width()));
        }
    }
    if let Some(hint) = &problem.hint {
        let _ = writeln!(text, "  hint: {hint}");
    }
    text
}

fn nth_line(source: &str, number: usize) -> Option<&str> {
    source
        .strip_prefix('\u{feff}')
        .unwrap_or(source)
        .lines()
        .nth(number.checked_sub(1)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_caret_stands_below_the_column() {
        let problem = Problem::at_position(
            "evalreport.yaml",
            2,
            10,
            "`model` must be text, not a number",
        )
        .with_hint("write \"4.10\"");
        assert_eq!(
            render_problem(&problem, "\u{feff}version: 1\r\n\tmodel:\t 4.10\r\n"),
            "evalreport.yaml:2:10: `model` must be text, not a number\n  2 |  model:  4.10\n    |          ^\n  hint: write \"4.10\"\n"
        );
    }

    #[test]
    fn wide_characters_move_the_caret() {
        assert_eq!(
            render_problem(&Problem::at_position("a", 1, 3, "m"), "漢字x"),
            "a:1:3: m\n  1 | 漢字x\n    |     ^\n"
        );
    }

    #[test]
    fn hostile_and_long_lines_stay_on_one_short_line() {
        let source = format!("{}\x1b[2J{}", "a".repeat(200), "b".repeat(1_000_000));
        let shown = render_problem(&Problem::at_position("a", 1, 201, "m"), &source);
        let lines: Vec<&str> = shown.lines().collect();
        assert!(
            lines[1].chars().count() < 140 && lines[1].contains("…a") && lines[1].ends_with("b…"),
            "{shown}"
        );
        assert!(!shown.contains('\x1b'));
        let caret = lines[2].chars().position(|character| character == '^');
        assert_eq!(
            caret.and_then(|caret| lines[1].chars().nth(caret)),
            Some('␛')
        );
    }

    #[test]
    fn a_place_beyond_the_source_shows_no_excerpt() {
        assert_eq!(
            render_problem(&Problem::at_position("a", 9, 9, "m"), "x"),
            "a:9:9: m\n"
        );
        assert_eq!(render_problem(&Problem::in_file("a", "m"), "x"), "a: m\n");
        assert_eq!(
            render_problem(&Problem::at_line("a", 1, "m"), "x"),
            "a:1: m\n  1 | x\n"
        );
        assert_eq!(
            render_problem(&Problem::at_position("a", 1, 9, "m"), "x"),
            "a:1:9: m\n  1 | x\n    |  ^\n"
        );
    }
}
