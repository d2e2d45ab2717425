//! `skill`: writes a skill that teaches a coding agent the commands, and how to read their verdicts.

use std::fs;
use std::io::{self, Write as _};
use std::path::PathBuf;

use clap::Args;

use crate::domain::shell_word;
use crate::files;
use crate::results::AtomicOutput;

use super::command::{Command, Example, Invocation};
use super::display_path::display_path;
use super::failure::CommandFailure;
use super::{exit_code, output};

/// The skill's text.
const SKILL: &str = include_str!("skill/SKILL.md");
/// Its name in a folder of skills.
const FILE: &str = "SKILL.md";

/// Write a skill that teaches a coding agent the commands and how to read verdicts
#[derive(Args)]
pub(super) struct SkillArguments {
    /// Folder of the skill
    #[arg(value_name = "DIR", default_value = ".claude/skills/evalreport")]
    pub folder: PathBuf,
    /// Replace a skill that is there with other words
    #[arg(long)]
    pub force: bool,
}

impl Command for SkillArguments {
    const NAME: &'static str = "skill";
    const EXAMPLES: [Example; 2] = [
        ("evalreport skill", "for Claude Code, in this project"),
        (
            "evalreport skill .agents/skills/evalreport",
            "for Codex and other agents",
        ),
    ];
    const UNREAD: &'static [&'static str] = &["folder"];

    fn output_paths(&self) -> Vec<PathBuf> {
        vec![self.folder.join(FILE)]
    }

    fn run(&self, invocation: &Invocation<'_>) -> Result<u8, CommandFailure> {
        let path = self.folder.join(FILE);
        let shown = display_path(&path);
        let is_there = path.symlink_metadata().is_ok();
        let is_ours = files::read(&path).is_ok_and(|text| text == SKILL.as_bytes());
        if is_there && !is_ours && !self.force {
            return Err(
                CommandFailure::new(format!("{shown} has other words")).with_hint(format!(
                    "look at it, then replace it: evalreport skill {} --force",
                    shell_word(&display_path(&self.folder))
                )),
            );
        }
        if !is_ours {
            let write = || {
                fs::create_dir_all(&self.folder)?;
                let mut file = AtomicOutput::create(&path)?;
                file.write_all(SKILL.as_bytes())?;
                file.commit()
            };
            write().map_err(|error: io::Error| {
                CommandFailure::new(format!("cannot write {shown}: {error}"))
            })?;
        }
        if !invocation.global.quiet {
            output::print_text(&format!(
                "{shown}\nAn agent reads it when evaluations are asked about. `evalreport mcp` answers it without a shell.\n"
            ))?;
        }
        Ok(exit_code::DONE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_of_the_skill_parses() {
        let mut count = 0;
        for line in SKILL.split('`').skip(1).step_by(2) {
            if line.strip_prefix("evalreport ").is_none() {
                continue;
            }
            let parsed = crate::cli::command_line().try_get_matches_from(line.split(' '));
            assert!(parsed.is_ok(), "{line}: {:?}", parsed.err());
            count += 1;
        }
        assert!(count >= 10, "{count} commands");
    }
}
