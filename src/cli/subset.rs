//! `--limit` and `--items`: only some questions of each suite.
//!
//! A part of a suite is a suite of its own, which its name says: `basics (first 5)`. So no board, gate or history takes its rate for that of the
//! whole suite, and runs of the same part are compared as usual.

use crate::domain::escape_invisible;
use crate::results::Subset;
use crate::run::{ArmWork, QuestionWork, RunnableArm};
use crate::views::pattern_matches_item;

use super::failure::CommandFailure;

/// Restricts the arms to a part of their questions, and names the part.
pub(super) fn narrow_arms(arms: &mut [RunnableArm], subset: &Subset) -> Result<(), CommandFailure> {
    let Some(name) = subset.description() else {
        return Ok(());
    };
    for arm in arms {
        narrow_work(&mut arm.work, &arm.planned.suite, subset)?;
        arm.planned.suite = format!("{} ({name})", arm.planned.suite);
    }
    Ok(())
}

/// Restricts the questions of an arm.
pub(super) fn narrow_work(
    work: &mut ArmWork,
    suite: &str,
    subset: &Subset,
) -> Result<(), CommandFailure> {
    let suite = escape_invisible(suite);
    let QuestionWork { spec, .. } = match work {
        ArmWork::Questions(work) => &mut **work,
        ArmWork::Code(_) => {
            return Err(CommandFailure::new(format!("--limit and --items choose questions, and `{suite}` is code that is tested as a whole"))
                .with_hint("leave them out, or run only suites of questions"));
        }
    };
    let is_wanted = |id: &str| {
        subset.items.is_empty()
            || subset
                .items
                .iter()
                .any(|pattern| pattern_matches_item(pattern, id))
    };
    if let Some(unknown) = subset.items.iter().find(|pattern| {
        !spec
            .questions
            .iter()
            .any(|question| pattern_matches_item(pattern, &question.id))
    }) {
        return Err(CommandFailure::new(format!(
            "no question `{}` in `{suite}`",
            escape_invisible(unknown)
        ))
        .with_hint(
            "`*` matches any text, for example `auth/*`; the ids are in the question file",
        ));
    }
    spec.questions.retain(|question| is_wanted(&question.id));
    spec.questions
        .truncate(subset.limit.map_or(usize::MAX, |limit| {
            usize::try_from(limit).unwrap_or(usize::MAX)
        }));
    Ok(())
}
