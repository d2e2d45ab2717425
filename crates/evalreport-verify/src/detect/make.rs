//! Makefiles: commands of projects without another manifest, and commands that another stack lacks.

use std::collections::BTreeSet;

use super::folder::ListedFolder;
use super::part::ProjectPart;
use crate::Stack;

/// Targets for each kind of command, most preferred first.
const TEST_TARGETS: [&str; 3] = ["test", "tests", "check"];
const BUILD_TARGETS: [&str; 2] = ["build", "all"];
const LINT_TARGETS: [&str; 1] = ["lint"];
const SMOKE_TARGETS: [&str; 2] = ["smoke", "smoke-test"];

/// Returns the folder as a part if its Makefile has a target that checks something.
pub(super) fn find_part(folder: &ListedFolder) -> Option<ProjectPart> {
    let mut part = ProjectPart::new(folder.path, Stack::Unknown);
    fill_commands(folder, &mut part);
    let has_any = [
        &part.primary_test,
        &part.build,
        &part.lint,
        &part.smoke_test,
    ]
    .into_iter()
    .any(Option::is_some);
    has_any.then_some(part)
}

/// Adds the Makefile's commands for which the part has none.
pub(super) fn fill_commands(folder: &ListedFolder, part: &mut ProjectPart) {
    let Some((name, text)) = ["GNUmakefile", "makefile", "Makefile"]
        .into_iter()
        .find_map(|name| Some((name, folder.file_text(name)?)))
    else {
        return;
    };
    let targets = parse_targets(text);
    let mut reasons = Vec::new();
    let mut fill = |command: &mut Option<String>, wanted: &[&str]| {
        if let (None, Some(target)) = (
            &command,
            wanted.iter().find(|target| targets.contains(**target)),
        ) {
            *command = Some(format!("make {target}"));
            reasons.push(format!("target `{target}` of `{name}`"));
        }
    };
    fill(&mut part.primary_test, &TEST_TARGETS);
    fill(&mut part.build, &BUILD_TARGETS);
    fill(&mut part.lint, &LINT_TARGETS);
    fill(&mut part.smoke_test, &SMOKE_TARGETS);
    part.reasons.extend(reasons);
}

/// Returns the targets of a Makefile: whole words before the colon of a rule.
fn parse_targets(text: &str) -> BTreeSet<&str> {
    let rule = |line: &'_ str| -> bool { !line.starts_with(['\t', ' ', '#', '.']) };
    text.lines()
        .filter(|line| rule(line))
        .filter_map(|line| line.split_once(':'))
        .filter(|(names, rest)| {
            !names.contains(['=', '$', '%', '"'])
                && !rest.starts_with('=')
                && !rest.starts_with(":=")
        })
        .flat_map(|(names, _)| names.split_whitespace())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_are_whole_words_before_a_rule() {
        let text = ".PHONY: lint\nCC := gcc\nX = a:b\ntest unit: deps\n\tpytest: no\nlatest:\n# build:\nall::\n";
        assert_eq!(
            parse_targets(text),
            BTreeSet::from(["all", "latest", "test", "unit"])
        );
    }
}
