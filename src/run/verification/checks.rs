//! Runs checks in a tree, one by one: each until it ends or its time is up, a server until it shows that it works.

use std::path::Path;
use std::time::{Duration, Instant};

use regex::{Regex, RegexBuilder};

use crate::domain::visible;
use crate::process::{self, Background, Command, End, Limits, Stop};
use crate::run::shell::Shell;
use crate::verify::{Check, CheckResult, Exit, Readiness};

use super::baseline;

/// Bytes kept per stream. The beginning and the end show what failed.
const OUTPUT_BYTES: u64 = 4 << 20;
/// Bytes kept from a server, whose output is read repeatedly.
const SERVER_BYTES: u64 = 256 << 10;
const BETWEEN_LOOKS: Duration = Duration::from_millis(50);
const REGEX_BYTES: usize = 1 << 20;

/// The place where checks run.
pub struct Place<'a> {
    /// The tree.
    pub root: &'a Path,
    /// The checkout whose virtual environments are used. `None` if the shell already uses one.
    pub checkout: Option<&'a Path>,
    pub shell: &'a Shell,
    /// The value of `PATH`.
    pub path: Option<&'a str>,
    pub stop: &'a Stop,
    /// Called before each check.
    pub step: &'a dyn Fn(&Check),
}

/// Runs all checks. Returns `None` if stopped.
pub fn run(checks: &[Check], place: &Place<'_>) -> Option<Vec<CheckResult>> {
    checks.iter().map(|check| place.check(check)).collect()
}

impl Place<'_> {
    fn check(&self, check: &Check) -> Option<CheckResult> {
        (self.step)(check);
        let folder = if check.folder.is_empty() {
            self.root.to_owned()
        } else {
            self.root.join(&check.folder)
        };
        let begin = Instant::now();
        let (exit, said) = if !folder.is_dir() {
            (
                Exit::NotStarted(format!("there is no folder `{}`", visible(&check.folder))),
                String::new(),
            )
        } else if let Some(readiness) = &check.readiness {
            self.server(check, readiness, &folder)?
        } else {
            self.program(check, &folder)?
        };
        let roots = [self.root.display().to_string()];
        Some(CheckResult::read(
            check.clone(),
            &exit,
            &said,
            &roots.each_ref().map(String::as_str),
            begin.elapsed().as_secs_f64(),
        ))
    }

    fn command(
        &self,
        check: &Check,
        folder: &Path,
        wall: Option<Duration>,
        output_bytes: u64,
    ) -> Command {
        let mut shell = self.shell.clone();
        if let Some(checkout) = self.checkout {
            let twin = if check.folder.is_empty() {
                checkout.to_owned()
            } else {
                checkout.join(&check.folder)
            };
            if let Some(venv) = baseline::venv(checkout, &twin) {
                shell.enter_venv(&venv, self.path);
                let own_code = if checkout == self.root {
                    None
                } else {
                    baseline::python_path(&venv, checkout, self.root)
                };
                if let Some(path) = own_code {
                    shell.set("PYTHONPATH", path);
                }
            }
        }
        let command = shell.line(&check.command, folder, wall);
        Command {
            limits: Limits {
                output_bytes,
                ..command.limits
            },
            ..command
        }
    }

    fn program(&self, check: &Check, folder: &Path) -> Option<(Exit, String)> {
        match process::run(
            &self.command(check, folder, Some(check.timeout), OUTPUT_BYTES),
            self.stop,
        ) {
            Ok(finished) => {
                let said = plain(&format!(
                    "{}\n{}",
                    finished.stdout.text(),
                    finished.stderr.text()
                ));
                exit(finished.end).map(|exit| (exit, said))
            }
            Err(error) => Some((Exit::NotStarted(error.to_string()), String::new())),
        }
    }

    /// Starts a check that may keep running, and stops it once it has shown that it works. Still running is not a failure.
    fn server(
        &self,
        check: &Check,
        readiness: &Readiness,
        folder: &Path,
    ) -> Option<(Exit, String)> {
        let wanted = readiness
            .line
            .as_deref()
            .map(|line| RegexBuilder::new(line).size_limit(REGEX_BYTES).build())
            .transpose();
        let Ok(line) = wanted else {
            let pattern = visible(readiness.line.as_deref().unwrap_or_default());
            return Some((
                Exit::NotStarted(format!("`{pattern}` is no regular expression")),
                String::new(),
            ));
        };
        let mut server = match Background::start(&self.command(check, folder, None, SERVER_BYTES)) {
            Ok(server) => server,
            Err(error) => return Some((Exit::NotStarted(error.to_string()), String::new())),
        };
        let begin = Instant::now();
        let patience = Duration::from_secs(readiness.seconds);
        loop {
            if self.stop.is_stopped() {
                return None;
            }
            let is_up = line
                .as_ref()
                .is_some_and(|line| is_ready(line, &server.output().text()));
            let is_over = begin.elapsed() >= patience;
            let outcome = if is_up {
                Some(Exit::Ready)
            } else if let Some(end) = server.exited() {
                exit(end)
            } else if is_over {
                // Without a line to wait for, running this long is the requirement.
                Some(if line.is_some() {
                    Exit::TimedOut
                } else {
                    Exit::Ready
                })
            } else {
                None
            };
            if let Some(outcome) = outcome {
                let finished = server.stop();
                let said = finished.stdout.text();
                // The last output may have come after the previous look.
                let was_up = || line.as_ref().is_some_and(|line| is_ready(line, &said));
                let is_early = outcome == Exit::Code(0) && !readiness.may_end && !was_up();
                return Some((
                    if is_early { Exit::TooEarly } else { outcome },
                    plain(&said),
                ));
            }
            std::thread::sleep(BETWEEN_LOOKS);
        }
    }
}

/// Returns `None` if the program was stopped.
fn exit(end: End) -> Option<Exit> {
    match end {
        End::Exited(code) => Some(Exit::Code(code)),
        End::Signalled(signal) => Some(Exit::Signal(signal)),
        End::TimedOut => Some(Exit::TimedOut),
        End::Stopped => None,
    }
}

fn is_ready(line: &Regex, said: &str) -> bool {
    plain(said).lines().any(|said| line.is_match(said))
}

/// Removes colours and cursor movements.
fn plain(said: &str) -> String {
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
            plain("\u{1b}[32m\u{1b}[1mVITE\u{1b}[22m v5\u{1b}[39m ready\u{1b}]0;title\u{7}!\n"),
            "VITE v5 ready!\n"
        );
        let line = Regex::new("VITE .* ready").expect("a regular expression");
        assert!(
            is_ready(&line, "x\n\u{1b}[32mVITE\u{1b}[39m v5 ready in 3 ms\n")
                && !is_ready(&line, "VITE\nready")
        );
    }
}
