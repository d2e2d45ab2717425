//! Makefiles: commands of projects without another manifest, and commands that another stack lacks.

use std::collections::BTreeSet;

use super::folder::Folder;
use super::part::Part;
use crate::verify::Stack;

/// Targets for each kind of command, most preferred first.
const TEST: [&str; 3] = ["test", "tests", "check"];
const BUILD: [&str; 2] = ["build", "all"];
const LINT: [&str; 1] = ["lint"];
const SMOKE: [&str; 2] = ["smoke", "smoke-test"];

/// Returns the folder as a part if its Makefile has a target that checks something.
pub(super) fn part(folder: &Folder) -> Option<Part> {
    let mut part = Part::new(folder.path, Stack::Unknown);
    fill(folder, &mut part);
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
pub(super) fn fill(folder: &Folder, part: &mut Part) {
    let Some((name, text)) = ["GNUmakefile", "makefile", "Makefile"]
        .into_iter()
        .find_map(|name| Some((name, folder.text(name)?)))
    else {
        return;
    };
    let targets = targets(text);
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
    fill(&mut part.primary_test, &TEST);
    fill(&mut part.build, &BUILD);
    fill(&mut part.lint, &LINT);
    fill(&mut part.smoke_test, &SMOKE);
    part.reasons.extend(reasons);
}

/// Returns the targets of a Makefile: whole words before the colon of a rule.
fn targets(text: &str) -> BTreeSet<&str> {
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
            targets(text),
            BTreeSet::from(["all", "latest", "test", "unit"])
        );
    }
}
