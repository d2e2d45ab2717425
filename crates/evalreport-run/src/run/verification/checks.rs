//! Runs checks in a tree, one by one: each until it ends or its time is up, a server until it shows that it works.

use std::path::Path;
use std::time::{Duration, Instant};

use regex::{Regex, RegexBuilder};

use crate::domain::escape_invisible;
use crate::process::{
    self, BackgroundProgram, ProgramCommand, ProgramExit, ProgramLimits, StopSignal,
};
use crate::run::shell::CommandShell;
use crate::verify::{CheckExit, CheckResult, PlannedCheck, Readiness};

use super::baseline;

/// Bytes kept per stream. The beginning and the end show what failed.
const OUTPUT_BYTES: u64 = 4 << 20;
/// Bytes kept from a server, whose output is read repeatedly.
const SERVER_BYTES: u64 = 256 << 10;
const BETWEEN_LOOKS: Duration = Duration::from_millis(50);
const REGEX_BYTES: usize = 1 << 20;

/// The place where checks run.
pub struct CheckSite<'a> {
    /// The tree.
    pub root: &'a Path,
    /// The checkout whose virtual environments are used. `None` if the shell already uses one.
    pub checkout: Option<&'a Path>,
    pub shell: &'a CommandShell,
    /// The value of `PATH`.
    pub path: Option<&'a str>,
    pub stop: &'a StopSignal,
    /// Called before each check.
    pub step: &'a dyn Fn(&PlannedCheck),
}

/// Runs all checks. Returns `None` if stopped.
pub fn run_checks(checks: &[PlannedCheck], place: &CheckSite<'_>) -> Option<Vec<CheckResult>> {
    checks.iter().map(|check| place.run_check(check)).collect()
}

impl CheckSite<'_> {
    fn run_check(&self, check: &PlannedCheck) -> Option<CheckResult> {
        (self.step)(check);
        let folder = if check.folder.is_empty() {
            self.root.to_owned()
        } else {
            self.root.join(&check.folder)
        };
        let begin = Instant::now();
        let (exit, said) = if !folder.is_dir() {
            (
                CheckExit::NotStarted(format!(
                    "there is no folder `{}`",
                    escape_invisible(&check.folder)
                )),
                String::new(),
            )
        } else if let Some(readiness) = &check.readiness {
            self.run_server(check, readiness, &folder)?
        } else {
            self.run_program(check, &folder)?
        };
        let roots = [self.root.display().to_string()];
        Some(CheckResult::from_exit(
            check.clone(),
            &exit,
            &said,
            &roots.each_ref().map(String::as_str),
            begin.elapsed().as_secs_f64(),
        ))
    }

    fn check_command(
        &self,
        check: &PlannedCheck,
        folder: &Path,
        wall: Option<Duration>,
        output_bytes: u64,
    ) -> ProgramCommand {
        let mut shell = self.shell.clone();
        if let Some(checkout) = self.checkout {
            let twin = if check.folder.is_empty() {
                checkout.to_owned()
            } else {
                checkout.join(&check.folder)
            };
            if let Some(venv) = baseline::find_venv(checkout, &twin) {
                shell.enter_venv(&venv, self.path);
                let own_code = if checkout == self.root {
                    None
                } else {
                    baseline::python_path(&venv, checkout, self.root)
                };
                if let Some(path) = own_code {
                    shell.set_variable("PYTHONPATH", path);
                }
            }
        }
        let command = shell.line_command(&check.command, folder, wall);
        ProgramCommand {
            limits: ProgramLimits {
                output_bytes,
                ..command.limits
            },
            ..command
        }
    }

    fn run_program(&self, check: &PlannedCheck, folder: &Path) -> Option<(CheckExit, String)> {
        match process::run_program(
            &self.check_command(check, folder, Some(check.timeout), OUTPUT_BYTES),
            self.stop,
        ) {
            Ok(finished) => {
                let said = strip_escapes(&format!(
                    "{}\n{}",
                    finished.stdout.text(),
                    finished.stderr.text()
                ));
                to_check_exit(finished.end).map(|exit| (exit, said))
            }
            Err(error) => Some((CheckExit::NotStarted(error.to_string()), String::new())),
        }
    }

    /// Starts a check that may keep running, and stops it once it has shown that it works. Still running is not a failure.
    fn run_server(
        &self,
        check: &PlannedCheck,
        readiness: &Readiness,
        folder: &Path,
    ) -> Option<(CheckExit, String)> {
        let wanted = readiness
            .line
            .as_deref()
            .map(|line| RegexBuilder::new(line).size_limit(REGEX_BYTES).build())
            .transpose();
        let Ok(line) = wanted else {
            let pattern = escape_invisible(readiness.line.as_deref().unwrap_or_default());
            return Some((
                CheckExit::NotStarted(format!("`{pattern}` is no regular expression")),
                String::new(),
            ));
        };
        let mut server = match BackgroundProgram::start(&self.check_command(
            check,
            folder,
            None,
            SERVER_BYTES,
        )) {
            Ok(server) => server,
            Err(error) => return Some((CheckExit::NotStarted(error.to_string()), String::new())),
        };
        let begin = Instant::now();
        let patience = Duration::from_secs(readiness.seconds);
        loop {
            if self.stop.is_stopped() {
                return None;
            }
            let is_up = line
                .as_ref()
                .is_some_and(|line| is_ready(line, &server.captured_output().text()));
            let is_over = begin.elapsed() >= patience;
            let outcome = if is_up {
                Some(CheckExit::Ready)
            } else if let Some(end) = server.exit_by_now() {
                to_check_exit(end)
            } else if is_over {
                // Without a line to wait for, running this long is the requirement.
                Some(if line.is_some() {
                    CheckExit::TimedOut
                } else {
                    CheckExit::Ready
                })
            } else {
                None
            };
            if let Some(outcome) = outcome {
                let finished = server.stop();
                let said = finished.stdout.text();
                // The last output may have come after the previous look.
                let was_up = || line.as_ref().is_some_and(|line| is_ready(line, &said));
                let is_early = outcome == CheckExit::Code(0) && !readiness.may_end && !was_up();
                return Some((
                    if is_early {
                        CheckExit::TooEarly
                    } else {
                        outcome
                    },
                    strip_escapes(&said),
                ));
            }
            std::thread::sleep(BETWEEN_LOOKS);
        }
    }
}

/// Returns `None` if the program was stopped.
fn to_check_exit(end: ProgramExit) -> Option<CheckExit> {
    match end {
        ProgramExit::Exited(code) => Some(CheckExit::Code(code)),
        ProgramExit::Signalled(signal) => Some(CheckExit::Signal(signal)),
        ProgramExit::TimedOut => Some(CheckExit::TimedOut),
        ProgramExit::Stopped => None,
    }
}

fn is_ready(line: &Regex, said: &str) -> bool {
    strip_escapes(said).lines().any(|said| line.is_match(said))
}

/// Removes colours and cursor movements.
fn strip_escapes(said: &str) -> String {
    let mut text = String::with_capacity(said.len());
    let mut characters = said.chars();
    while let Some(character) = characters.next() {
        if character != '\u{1b}' {
            text.push(character);
            continue;
        }
        match characters.next() {
            // A control sequence ends with a letter or one of a few symbols.
            Some('[') => {
                while characters
                    .next()
                    .is_some_and(|next| !('@'..='~').contains(&next))
                {}
            }
            // An operating system command ends with a bell, or with an escape and a backslash.
            Some(']') => {
                while characters
                    .next()
                    .is_some_and(|next| next != '\u{7}' && next != '\\')
                {}
            }
            Some(_) | None => {}
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_do_not_hide_a_line() {
        assert_eq!(
            strip_escapes(
                "\u{1b}[32m\u{1b}[1mVITE\u{1b}[22m v5\u{1b}[39m ready\u{1b}]0;title\u{7}!\n"
            ),
            "VITE v5 ready!\n"
        );
        let line = Regex::new("VITE .* ready").expect("a regular expression");
        assert!(
            is_ready(&line, "x\n\u{1b}[32mVITE\u{1b}[39m v5 ready in 3 ms\n")
                && !is_ready(&line, "VITE\nready")
        );
    }
}
