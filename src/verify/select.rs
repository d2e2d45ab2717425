//! Selects the checks of a task, their order, and the reasons.

use std::collections::BTreeSet;
use std::time::Duration;

use super::detect::{has_extension, shown_folder};
use super::listing::{below, is_manifest, join, name_of};
use super::policy::{most_checks, row_of, timeout_of};
use super::shell::words;
use super::targeted::targeted;
use super::{
    Check, CheckKind, Command, Detected, Listing, Overrides, Part, Readiness, Stack, Task, TaskKind,
};
use crate::domain::{Profile, visible};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Selection {
    pub kind: TaskKind,
    /// Checks in the order to run them.
    pub checks: Vec<Check>,
    /// What a person has to check, if no command can.
    pub manual: Option<String>,
    pub reasons: Vec<String>,
}

/// Selects the checks of a task by the policy. Declared commands win over detected ones.
pub fn select(
    detected: &Detected,
    listing: &Listing,
    task: &Task,
    overrides: &Overrides,
) -> Selection {
    let kind = TaskKind::of(&task.goal);
    let mut selection = Selection {
        kind,
        checks: Vec::new(),
        manual: None,
        reasons: Vec::new(),
    };
    if overrides.is_off == Some(true) {
        selection
            .reasons
            .push("verification is switched off".to_owned());
        return selection;
    }
    let subjects = task.subjects(listing);
    selection
        .reasons
        .push(format!("the goal is of kind `{}`", kind.name()));
    if is_for_reading(task, kind, &subjects) {
        selection
            .reasons
            .push("only documentation is concerned, which no command reads".to_owned());
        selection.manual = Some(manual(task, &subjects));
        return selection;
    }
    let parts = relevant(detected, task, &subjects, &mut selection.reasons);
    let chooser = Chooser {
        task,
        kind,
        listing,
        overrides,
        subjects: &subjects,
    };
    let mut chosen: Vec<Chosen> = Vec::new();
    for step in row_of(kind).steps(task.profile) {
        // A declared command is for the whole tree: it replaces what each part would offer in this step.
        let declared = step
            .iter()
            .enumerate()
            .find_map(|(rank, kind)| Some((rank, chooser.declared(*kind, &chosen)?)));
        let offers: Vec<Option<(usize, Chosen)>> = parts
            .iter()
            .map(|part| chooser.offer(step, part, &chosen))
            .collect();
        let best = offers.iter().flatten().map(|(rank, _)| *rank).min();
        match declared {
            Some((rank, declared)) if best.is_none_or(|best| rank <= best) => chosen.push(declared),
            Some(_) | None => chosen.extend(offers.into_iter().flatten().map(|(_, chosen)| chosen)),
        }
    }
    let mut checks = checks_of(chosen);
    if let Some(most) = most_checks(task.profile)
        && checks.len() > most
    {
        let left_out: Vec<String> = checks
            .split_off(most)
            .into_iter()
            .map(|check| check.id)
            .collect();
        selection.reasons.push(format!(
            "`{}` runs at most {most} commands; left out: {}",
            task.profile.name(),
            left_out.join(", ")
        ));
    }
    if checks.is_empty() {
        selection.reasons.push(format!(
            "no check found for profile `{}`",
            task.profile.name()
        ));
        let is_for_people = kind == TaskKind::Tiny || task.profile == Profile::Yolo;
        selection.manual = is_for_people.then(|| manual(task, &subjects));
    }
    selection.checks = checks;
    selection
}

/// Says whether only documentation is concerned. Uses the changed files, or the task's subjects if nothing was changed.
fn is_for_reading(task: &Task, kind: TaskKind, subjects: &[String]) -> bool {
    let concerned = if task.changed.is_empty() {
        subjects
    } else {
        &task.changed
    };
    let is_small = matches!(kind, TaskKind::Tiny | TaskKind::Docs);
    is_small
        && task.profile != Profile::Strict
        && !concerned.is_empty()
        && concerned.iter().all(|file| is_document(file))
}

fn is_document(path: &str) -> bool {
    const ENDINGS: [&str; 8] = ["adoc", "gif", "jpg", "md", "png", "rst", "svg", "txt"];
    const NAMES: [&str; 5] = ["AUTHORS", "CHANGELOG", "CONTRIBUTING", "LICENSE", "README"];
    let name = name_of(path);
    NAMES.contains(&name) || (has_extension(name, &ENDINGS) && !is_manifest(path))
}

fn manual(task: &Task, subjects: &[String]) -> String {
    let goal = visible(task.goal.trim());
    let files: Vec<String> = subjects
        .iter()
        .take(10)
        .map(|file| format!("`{}`", visible(file)))
        .collect();
    if files.is_empty() {
        format!("no command can tell this cheaply: look for yourself whether this is done: {goal}")
    } else {
        format!(
            "no command can tell this cheaply: read {} and look whether this is done: {goal}",
            files.join(", ")
        )
    }
}

/// Returns the parts that own the concerned files. Returns all parts if the owners are unknown or the profile is `strict`.
fn relevant<'d>(
    detected: &'d Detected,
    task: &Task,
    subjects: &[String],
    reasons: &mut Vec<String>,
) -> Vec<&'d Part> {
    let all: Vec<&Part> = detected.parts.iter().collect();
    if task.profile == Profile::Strict || all.len() < 2 {
        return all;
    }
    // A removed file also concerns its part.
    let concerned: BTreeSet<&str> = subjects
        .iter()
        .chain(&task.changed)
        .map(String::as_str)
        .filter(|file| !is_document(file))
        .collect();
    let owners: BTreeSet<usize> = concerned
        .iter()
        .flat_map(|file| owners(&all, file))
        .collect();
    if owners.is_empty() || owners.len() == all.len() {
        return all;
    }
    let chosen: Vec<&Part> = owners.iter().map(|place| all[*place]).collect();
    let named: Vec<String> = chosen
        .iter()
        .map(|part| shown_folder(&part.folder))
        .collect();
    reasons.push(format!(
        "only the parts that the change concerns: {}",
        named.join(", ")
    ));
    chosen
}

/// Returns the indices of the parts that own a file: those of the innermost folder and, if several share it, those whose stack fits the
/// file's extension.
fn owners(parts: &[&Part], file: &str) -> Vec<usize> {
    let inside = |part: &&Part| below(&part.folder, file).is_some();
    let Some(depth) = parts
        .iter()
        .filter(|part| inside(part))
        .map(|part| part.folder.len())
        .max()
    else {
        return Vec::new();
    };
    let here: Vec<usize> = (0..parts.len())
        .filter(|place| inside(&parts[*place]) && parts[*place].folder.len() == depth)
        .collect();
    let own: Vec<usize> = here
        .iter()
        .copied()
        .filter(|place| has_extension(file, endings(parts[*place].stack)))
        .collect();
    if own.is_empty() { here } else { own }
}

fn endings(stack: Stack) -> &'static [&'static str] {
    match stack {
        Stack::Node | Stack::ViteFrontend => &[
            "js", "mjs", "cjs", "jsx", "ts", "tsx", "mts", "vue", "svelte", "css", "scss", "html",
        ],
        Stack::Python => &["py", "pyi"],
        Stack::Go => &["go"],
        Stack::Rust => &["rs"],
        Stack::Java => &["java", "kt", "kts"],
        Stack::Mixed | Stack::Unknown => &[],
    }
}

/// A check with its part. The part is `None` if the check is declared for the whole tree.
struct Chosen<'d> {
    check: Check,
    part: Option<&'d Part>,
}

/// Makes the ids unique if two stacks share a folder.
fn checks_of(chosen: Vec<Chosen>) -> Vec<Check> {
    let mut checks: Vec<Check> = Vec::new();
    for Chosen { mut check, part } in chosen {
        if let Some(part) = part
            && checks.iter().any(|earlier| earlier.id == check.id)
        {
            check.id = format!("{}@{}", check.id, part.stack.name());
        }
        checks.push(check);
    }
    checks
}

struct Chooser<'a> {
    task: &'a Task,
    kind: TaskKind,
    listing: &'a Listing,
    overrides: &'a Overrides,
    subjects: &'a [String],
}

impl Chooser<'_> {
    /// Returns the check of the first kind in the step for which the part has a command, with the index of that kind.
    fn offer<'d>(
        &self,
        step: &[CheckKind],
        part: &'d Part,
        chosen: &[Chosen],
    ) -> Option<(usize, Chosen<'d>)> {
        step.iter()
            .enumerate()
            .find_map(|(rank, kind)| Some((rank, self.of_part(*kind, part, chosen)?)))
    }

    /// Returns the check of one kind in one part. `None` if the part has no such command, if the kind is declared, or if a chosen check
    /// already covers it.
    fn of_part<'d>(
        &self,
        kind: CheckKind,
        part: &'d Part,
        chosen: &[Chosen],
    ) -> Option<Chosen<'d>> {
        if self.overrides.commands.contains_key(&kind) || is_covered(kind, part, chosen) {
            return None;
        }
        let (command, what) = match kind {
            CheckKind::Targeted => {
                let targeted = targeted(part, self.listing, &self.targets(part))?;
                (
                    targeted.command,
                    format!(
                        "the tests of what is concerned ({})",
                        visible(&targeted.what)
                    ),
                )
            }
            CheckKind::Test => (part.primary_test.clone()?, "all tests".to_owned()),
            CheckKind::Smoke => (part.smoke_test.clone()?, "whether it starts".to_owned()),
            CheckKind::Build => (part.build.clone()?, "whether it builds".to_owned()),
            CheckKind::Lint => (part.lint.clone()?, "what its linter says".to_owned()),
            CheckKind::Syntax => (
                part.syntax_check.clone()?,
                "whether it can be read".to_owned(),
            ),
        };
        let readiness = match kind {
            CheckKind::Smoke => self
                .overrides
                .readiness
                .clone()
                .or_else(|| part.server.clone()),
            CheckKind::Test
            | CheckKind::Targeted
            | CheckKind::Build
            | CheckKind::Lint
            | CheckKind::Syntax => None,
        };
        let place = if part.folder.is_empty() {
            String::new()
        } else {
            format!(" in {}", shown_folder(&part.folder))
        };
        let id = if part.folder.is_empty() {
            kind.name().to_owned()
        } else {
            format!("{}:{}", kind.name(), part.folder)
        };
        let check = Check {
            id,
            kind,
            command,
            folder: part.folder.clone(),
            reason: format!("{}: {what}{place}", self.rule()),
            timeout: self.timeout(kind, readiness.as_ref()),
            readiness,
        };
        Some(Chosen {
            check,
            part: Some(part),
        })
    }

    /// Returns the declared check of a kind. `None` if there is none, if it is already chosen, or if it needs files and there are none.
    fn declared(&self, kind: CheckKind, chosen: &[Chosen]) -> Option<Chosen<'static>> {
        let Some(Command::Line(line)) = self.overrides.commands.get(&kind) else {
            return None;
        };
        if chosen
            .iter()
            .any(|chosen| chosen.part.is_none() && chosen.check.kind == kind)
        {
            return None;
        }
        let files = words(self.subjects.iter().map(String::as_str));
        if line.contains(FILES) && files.is_empty() {
            return None;
        }
        let readiness = if kind == CheckKind::Smoke {
            self.overrides.readiness.clone()
        } else {
            None
        };
        let check = Check {
            id: kind.name().to_owned(),
            kind,
            command: if kind == CheckKind::Targeted {
                line.replace(FILES, &files)
            } else {
                line.clone()
            },
            folder: String::new(),
            reason: format!(
                "{}: the {} command that is declared",
                self.rule(),
                kind.name()
            ),
            timeout: self.timeout(kind, readiness.as_ref()),
            readiness,
        };
        Some(Chosen { check, part: None })
    }

    /// Returns the files whose tests to run. If the task to create a program names no files, it is the file that starts the program.
    fn targets(&self, part: &Part) -> Vec<String> {
        let mut targets = self.subjects.to_vec();
        if targets.is_empty() && self.kind == TaskKind::CreateApp {
            let started = part
                .smoke_test
                .as_deref()
                .and_then(|line| line.split_whitespace().last());
            targets.extend(
                started
                    .map(|file| join(&part.folder, file))
                    .filter(|file| self.listing.files.contains(file)),
            );
        }
        targets
    }

    fn rule(&self) -> String {
        format!("`{}` for `{}`", self.task.profile.name(), self.kind.name())
    }

    /// Returns the time limit. It is at least the time that a program may take to get ready.
    fn timeout(&self, kind: CheckKind, readiness: Option<&Readiness>) -> Duration {
        let usual = self
            .overrides
            .timeouts
            .get(&kind)
            .copied()
            .unwrap_or_else(|| timeout_of(kind));
        usual.max(readiness.map_or(Duration::ZERO, |readiness| {
            Duration::from_secs(readiness.seconds)
        }))
    }
}

/// Says whether the chosen checks already cover a check of this kind for the part.
fn is_covered(kind: CheckKind, part: &Part, chosen: &[Chosen]) -> bool {
    let is_own = |chosen: &&Chosen| chosen.part.is_some_and(|own| std::ptr::eq(own, part));
    let has = |wanted: CheckKind| {
        chosen
            .iter()
            .any(|chosen| chosen.check.kind == wanted && (chosen.part.is_none() || is_own(&chosen)))
    };
    match kind {
        CheckKind::Targeted => has(CheckKind::Targeted) || has(CheckKind::Test),
        // These compilers parse everything during a build.
        CheckKind::Syntax => {
            has(CheckKind::Syntax)
                || (has(CheckKind::Build) && matches!(part.stack, Stack::Rust | Stack::Java))
        }
        CheckKind::Test | CheckKind::Smoke | CheckKind::Build | CheckKind::Lint => has(kind),
    }
}

/// Placeholder for the concerned files in a declared command.
const FILES: &str = "{files}";

#[cfg(test)]
mod tests;
