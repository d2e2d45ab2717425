//! Selects the checks of a task, their order, and the reasons.

use std::collections::BTreeSet;
use std::time::Duration;

use super::detect::{has_extension, shown_folder};
use super::listing::{file_name_of, is_manifest, join_path, path_below};
use super::policy::{default_timeout, max_checks, policy_row};
use super::shell::quote_paths;
use super::targeted::targeted_command;
use super::{
    CheckKind, CommandOverride, DetectedProject, Listing, Overrides, PlannedCheck, ProjectPart,
    Readiness, Stack, TaskKind, VerificationTask,
};
use crate::domain::{Profile, escape_invisible};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckSelection {
    pub kind: TaskKind,
    /// Checks in the order to run them.
    pub checks: Vec<PlannedCheck>,
    /// What a person has to check, if no command can.
    pub manual: Option<String>,
    pub reasons: Vec<String>,
}

/// Selects the checks of a task by the policy. Declared commands win over detected ones.
pub fn select_checks(
    detected: &DetectedProject,
    listing: &Listing,
    task: &VerificationTask,
    overrides: &Overrides,
) -> CheckSelection {
    let kind = TaskKind::from_goal(&task.goal);
    let mut selection = CheckSelection {
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
    let subjects = task.subject_files(listing);
    selection
        .reasons
        .push(format!("the goal is of kind `{}`", kind.name()));
    if is_for_reading(task, kind, &subjects) {
        selection
            .reasons
            .push("only documentation is concerned, which no command reads".to_owned());
        selection.manual = Some(manual_advice(task, &subjects));
        return selection;
    }
    let parts = relevant_parts(detected, task, &subjects, &mut selection.reasons);
    let chooser = CheckChooser {
        task,
        kind,
        listing,
        overrides,
        subjects: &subjects,
    };
    let mut chosen: Vec<ChosenCheck> = Vec::new();
    for step in policy_row(kind).steps_for(task.profile) {
        // A declared command is for the whole tree: it replaces what each part would offer in this step.
        let declared = step
            .iter()
            .enumerate()
            .find_map(|(rank, kind)| Some((rank, chooser.declared_check(*kind, &chosen)?)));
        let offers: Vec<Option<(usize, ChosenCheck)>> = parts
            .iter()
            .map(|part| chooser.offer_check(step, part, &chosen))
            .collect();
        let best = offers.iter().flatten().map(|(rank, _)| *rank).min();
        match declared {
            Some((rank, declared)) if best.is_none_or(|best| rank <= best) => chosen.push(declared),
            Some(_) | None => chosen.extend(offers.into_iter().flatten().map(|(_, chosen)| chosen)),
        }
    }
    let mut checks = to_checks(chosen);
    if let Some(most) = max_checks(task.profile)
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
        selection.manual = is_for_people.then(|| manual_advice(task, &subjects));
    }
    selection.checks = checks;
    selection
}

/// Says whether only documentation is concerned. Uses the changed files, or the task's subjects if nothing was changed.
fn is_for_reading(task: &VerificationTask, kind: TaskKind, subjects: &[String]) -> bool {
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
    const DOCUMENT_ENDINGS: [&str; 8] = ["adoc", "gif", "jpg", "md", "png", "rst", "svg", "txt"];
    const DOCUMENT_NAMES: [&str; 5] = ["AUTHORS", "CHANGELOG", "CONTRIBUTING", "LICENSE", "README"];
    let name = file_name_of(path);
    DOCUMENT_NAMES.contains(&name) || (has_extension(name, &DOCUMENT_ENDINGS) && !is_manifest(path))
}

fn manual_advice(task: &VerificationTask, subjects: &[String]) -> String {
    let goal = escape_invisible(task.goal.trim());
    let files: Vec<String> = subjects
        .iter()
        .take(10)
        .map(|file| format!("`{}`", escape_invisible(file)))
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
fn relevant_parts<'d>(
    detected: &'d DetectedProject,
    task: &VerificationTask,
    subjects: &[String],
    reasons: &mut Vec<String>,
) -> Vec<&'d ProjectPart> {
    let all: Vec<&ProjectPart> = detected.parts.iter().collect();
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
        .flat_map(|file| owning_parts(&all, file))
        .collect();
    if owners.is_empty() || owners.len() == all.len() {
        return all;
    }
    let chosen: Vec<&ProjectPart> = owners.iter().map(|place| all[*place]).collect();
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
fn owning_parts(parts: &[&ProjectPart], file: &str) -> Vec<usize> {
    let inside = |part: &&ProjectPart| path_below(&part.folder, file).is_some();
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
        .filter(|place| has_extension(file, file_endings(parts[*place].stack)))
        .collect();
    if own.is_empty() { here } else { own }
}

fn file_endings(stack: Stack) -> &'static [&'static str] {
    match stack {
        Stack::Node | Stack::ViteFrontend => &[
            "js", "mjs", "cjs", "jsx", "ts", "tsx", "mts", "vue", "svelte", "css", "scss", "html",
        ],
        Stack::Python => &["py", "pyi"],
        Stack::Go => &["go"],
        Stack::Rust => &["rs"],
        Stack::Java => &["java", "kt", "kts"],
        Stack::Swift => &["swift"],
        Stack::Dotnet => &["cs", "fs", "vb", "razor", "cshtml"],
        Stack::Php => &["php"],
        Stack::Ruby => &["rb", "rake", "erb"],
        Stack::Mixed | Stack::Unknown => &[],
    }
}

/// A check with its part. The part is `None` if the check is declared for the whole tree.
struct ChosenCheck<'d> {
    check: PlannedCheck,
    part: Option<&'d ProjectPart>,
}

/// Makes the ids unique if two stacks share a folder.
fn to_checks(chosen: Vec<ChosenCheck>) -> Vec<PlannedCheck> {
    let mut checks: Vec<PlannedCheck> = Vec::new();
    for ChosenCheck { mut check, part } in chosen {
        if let Some(part) = part
            && checks.iter().any(|earlier| earlier.id == check.id)
        {
            check.id = format!("{}@{}", check.id, part.stack.name());
        }
        checks.push(check);
    }
    checks
}

struct CheckChooser<'a> {
    task: &'a VerificationTask,
    kind: TaskKind,
    listing: &'a Listing,
    overrides: &'a Overrides,
    subjects: &'a [String],
}

impl CheckChooser<'_> {
    /// Returns the check of the first kind in the step for which the part has a command, with the index of that kind.
    fn offer_check<'d>(
        &self,
        step: &[CheckKind],
        part: &'d ProjectPart,
        chosen: &[ChosenCheck],
    ) -> Option<(usize, ChosenCheck<'d>)> {
        step.iter()
            .enumerate()
            .find_map(|(rank, kind)| Some((rank, self.part_check(*kind, part, chosen)?)))
    }

    /// Returns the check of one kind in one part. `None` if the part has no such command, if the kind is declared, or if a chosen check
    /// already covers it.
    fn part_check<'d>(
        &self,
        kind: CheckKind,
        part: &'d ProjectPart,
        chosen: &[ChosenCheck],
    ) -> Option<ChosenCheck<'d>> {
        if self.overrides.commands.contains_key(&kind) || is_covered(kind, part, chosen) {
            return None;
        }
        let (command, what) = match kind {
            CheckKind::Targeted => {
                let targeted = targeted_command(part, self.listing, &self.target_files(part))?;
                (
                    targeted.command,
                    format!(
                        "the tests of what is concerned ({})",
                        escape_invisible(&targeted.what)
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
        let check = PlannedCheck {
            id,
            kind,
            command,
            folder: part.folder.clone(),
            reason: format!("{}: {what}{place}", self.rule_text()),
            timeout: self.check_timeout(kind, readiness.as_ref()),
            readiness,
        };
        Some(ChosenCheck {
            check,
            part: Some(part),
        })
    }

    /// Returns the declared check of a kind. `None` if there is none, if it is already chosen, or if it needs files and there are none.
    fn declared_check(
        &self,
        kind: CheckKind,
        chosen: &[ChosenCheck],
    ) -> Option<ChosenCheck<'static>> {
        let Some(CommandOverride::Line(line)) = self.overrides.commands.get(&kind) else {
            return None;
        };
        if chosen
            .iter()
            .any(|chosen| chosen.part.is_none() && chosen.check.kind == kind)
        {
            return None;
        }
        let files = quote_paths(self.subjects.iter().map(String::as_str));
        if line.contains(FILES_PLACEHOLDER) && files.is_empty() {
            return None;
        }
        let readiness = if kind == CheckKind::Smoke {
            self.overrides.readiness.clone()
        } else {
            None
        };
        let check = PlannedCheck {
            id: kind.name().to_owned(),
            kind,
            command: if kind == CheckKind::Targeted {
                line.replace(FILES_PLACEHOLDER, &files)
            } else {
                line.clone()
            },
            folder: String::new(),
            reason: format!(
                "{}: the {} command that is declared",
                self.rule_text(),
                kind.name()
            ),
            timeout: self.check_timeout(kind, readiness.as_ref()),
            readiness,
        };
        Some(ChosenCheck { check, part: None })
    }

    /// Returns the files whose tests to run. If the task to create a program names no files, it is the file that starts the program.
    fn target_files(&self, part: &ProjectPart) -> Vec<String> {
        let mut targets = self.subjects.to_vec();
        if targets.is_empty() && self.kind == TaskKind::CreateApp {
            let started = part
                .smoke_test
                .as_deref()
                .and_then(|line| line.split_whitespace().last());
            targets.extend(
                started
                    .map(|file| join_path(&part.folder, file))
                    .filter(|file| self.listing.files.contains(file)),
            );
        }
        targets
    }

    fn rule_text(&self) -> String {
        format!("`{}` for `{}`", self.task.profile.name(), self.kind.name())
    }

    /// Returns the time limit. It is at least the time that a program may take to get ready.
    fn check_timeout(&self, kind: CheckKind, readiness: Option<&Readiness>) -> Duration {
        let usual = self
            .overrides
            .timeouts
            .get(&kind)
            .copied()
            .unwrap_or_else(|| default_timeout(kind));
        usual.max(readiness.map_or(Duration::ZERO, |readiness| {
            Duration::from_secs(readiness.seconds)
        }))
    }
}

/// Says whether the chosen checks already cover a check of this kind for the part.
fn is_covered(kind: CheckKind, part: &ProjectPart, chosen: &[ChosenCheck]) -> bool {
    let is_own = |chosen: &&ChosenCheck| chosen.part.is_some_and(|own| std::ptr::eq(own, part));
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
                || (has(CheckKind::Build)
                    && matches!(
                        part.stack,
                        Stack::Rust | Stack::Java | Stack::Swift | Stack::Dotnet
                    ))
        }
        CheckKind::Test | CheckKind::Smoke | CheckKind::Build | CheckKind::Lint => has(kind),
    }
}

/// Placeholder for the concerned files in a declared command.
const FILES_PLACEHOLDER: &str = "{files}";

#[cfg(test)]
mod tests;
