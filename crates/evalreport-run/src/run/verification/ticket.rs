//! Tickets for the problems that a partial success leaves open, as Markdown files.
//!
//! A ticket's content determines its name, so the same problems are filed once, and no ticket is overwritten. Text from the goal and from
//! failures goes into code blocks line by line, so that none of it acts as markup.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use crate::domain::{escape_invisible, to_hex};

/// Maximum length of the goal's part of the name.
const SLUG_CHARACTERS: usize = 48;
const HASH_CHARACTERS: usize = 8;
const MAX_ISSUES: usize = 50;
const ISSUE_LINES: usize = 40;
const LINE_CHARACTERS: usize = 300;

/// One remaining failure.
pub struct TicketIssue<'a> {
    /// The check's command.
    pub command: &'a str,
    pub text: &'a str,
    /// Why it does not block the goal.
    pub reason: &'a str,
}

/// A ticket written to its folder.
#[derive(Debug, PartialEq, Eq)]
pub struct FiledTicket {
    pub path: PathBuf,
    /// Whether it is new.
    pub is_new: bool,
}

/// Writes the ticket, unless an identical one exists.
pub fn write_ticket(
    folder: &Path,
    goal: &str,
    issues: &[TicketIssue<'_>],
) -> io::Result<FiledTicket> {
    let text = ticket_text(goal, issues);
    let hash: String = to_hex(&Sha256::digest(text.as_bytes()))
        .chars()
        .take(HASH_CHARACTERS)
        .collect();
    let path = folder.join(format!("{}-{hash}.md", goal_slug(goal)));
    fs::create_dir_all(folder)?;
    match OpenOptions::new().write(true).create_new(true).open(&path) {
        Ok(mut file) => {
            file.write_all(text.as_bytes())?;
            Ok(FiledTicket { path, is_new: true })
        }
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(FiledTicket {
            path,
            is_new: false,
        }),
        Err(error) => Err(error),
    }
}

fn ticket_text(goal: &str, issues: &[TicketIssue<'_>]) -> String {
    let mut text = format!(
        "# Follow-up: {}\n\nThe goal is achieved. What is listed below fails, and did so before.\n",
        goal_slug(goal)
    );
    text.push_str(&format!(
        "\n## Goal achieved\n\n{}\n## Issues remaining\n",
        code_block(goal)
    ));
    for (number, issue) in (1..).zip(issues.iter().take(MAX_ISSUES)) {
        text.push_str(&format!(
            "\n### Issue {number}\n\nThe check:\n\n{}\nsays:\n\n{}\n",
            code_block(issue.command),
            code_block(issue.text)
        ));
        text.push_str(&format!(
            "It does not stand in the way of the goal:\n\n{}",
            code_block(issue.reason)
        ));
    }
    if issues.len() > MAX_ISSUES {
        text.push_str(&format!("\nAnd {} more.\n", issues.len() - MAX_ISSUES));
    }
    text
}

/// Returns an indented code block.
fn code_block(said: &str) -> String {
    let mut lines: Vec<String> = said
        .lines()
        .filter(|line| !line.trim().is_empty())
        .take(ISSUE_LINES + 1)
        .map(code_line)
        .collect();
    if lines.len() > ISSUE_LINES {
        lines.truncate(ISSUE_LINES);
        lines.push("    …\n".to_owned());
    }
    lines.concat()
}

fn code_line(said: &str) -> String {
    let clipped: String = escape_invisible(said)
        .chars()
        .take(LINE_CHARACTERS)
        .collect();
    format!("    {clipped}\n")
}

/// Returns the goal's letters and digits joined by hyphens, safe for file names everywhere.
fn goal_slug(goal: &str) -> String {
    let words = goal
        .split(|letter: char| !letter.is_ascii_alphanumeric())
        .filter(|word| !word.is_empty());
    let mut slug = words.collect::<Vec<_>>().join("-").to_ascii_lowercase();
    slug.truncate(SLUG_CHARACTERS);
    let slug = slug.trim_end_matches('-');
    if slug.is_empty() {
        "goal".to_owned()
    } else {
        slug.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_plain() {
        for (goal, name) in [
            ("Fix the adder!", "fix-the-adder"),
            ("../../etc/passwd", "etc-passwd"),
            ("$(rm -rf ~)\u{1b}[2J", "rm-rf-2j"),
            ("Ärger", "rger"),
            ("漢字", "goal"),
        ] {
            assert_eq!(goal_slug(goal), name);
        }
        assert!(goal_slug(&"word ".repeat(100)).len() <= SLUG_CHARACTERS);
    }

    #[test]
    fn what_is_hostile_stays_in_its_block() {
        let issue = TicketIssue {
            command: "pytest `x`",
            text: "# heading\n</code><img src=x>\n\n- [x] @me\u{1b}[31m",
            reason: "stood before\n## no",
        };
        let text = ticket_text("a goal\n# Owned", &[issue]);
        let marked: Vec<&str> = text.lines().filter(|line| line.starts_with('#')).collect();
        assert_eq!(
            marked,
            [
                "# Follow-up: a-goal-owned",
                "## Goal achieved",
                "## Issues remaining",
                "### Issue 1"
            ]
        );
        for line in text
            .lines()
            .filter(|line| line.contains(['<', '@', '`', '\u{241b}']))
        {
            assert!(line.starts_with("    "), "{line}");
        }
        assert!(!text.contains('\u{1b}'));
    }

    #[test]
    fn a_ticket_is_written_once_and_never_over_another() {
        let folder = tempfile::tempdir().expect("a folder");
        let issue = || {
            [TicketIssue {
                command: "pytest",
                text: "boom",
                reason: "it stood before",
            }]
        };
        let place = folder.path().join("open");
        let first = write_ticket(&place, "A goal", &issue()).expect("it is written");
        assert!(first.is_new);
        fs::write(&first.path, "edited by a person").expect("a file");
        let again = write_ticket(&place, "A goal", &issue()).expect("it is there");
        assert_eq!(
            again,
            FiledTicket {
                path: first.path.clone(),
                is_new: false
            }
        );
        assert_eq!(
            fs::read_to_string(&first.path).expect("a file"),
            "edited by a person"
        );
        let other = write_ticket(&place, "A goal", &[]).expect("it is written");
        assert!(other.is_new && other.path != first.path);
    }
}
