//! Arms that may be of one model under two names: an alias or undated name, and the names that it may stand for.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::Serialize;

use crate::domain::may_mean;
use crate::inference::Arm;

/// A model name on a table, and other names there that may mean the same model.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
pub struct ModelNames {
    pub name: String,
    /// The names of other arms with the same approach.
    pub perhaps: BTreeSet<String>,
}

/// Finds the names of arms of the same approach that may mean one model. Nothing merges them: only the person who ran them knows.
pub(super) fn perhaps_one_model(arms: &[&Arm]) -> Vec<ModelNames> {
    let named = |arm: &&Arm| {
        let others = arms
            .iter()
            .filter(|other| other.approach == arm.approach && other.model != arm.model);
        let perhaps: BTreeSet<String> = others
            .filter(|other| may_mean(&arm.model, &other.model))
            .map(|other| other.model.clone())
            .collect();
        (!perhaps.is_empty()).then(|| ModelNames {
            name: arm.model.clone(),
            perhaps,
        })
    };
    let found: BTreeSet<ModelNames> = arms.iter().filter_map(named).collect();
    // Of names that mean each other, the first tells it.
    let is_told = |one: &ModelNames| {
        found.iter().any(|other| {
            other.name < one.name
                && other.perhaps.contains(&one.name)
                && one.perhaps.contains(&other.name)
        })
    };
    found.iter().filter(|one| !is_told(one)).cloned().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(arms: &[(&str, &str)]) -> Vec<(String, Vec<String>)> {
        let arms: Vec<Arm> = arms
            .iter()
            .map(|(approach, model)| Arm {
                approach: (*approach).to_owned(),
                model: (*model).to_owned(),
            })
            .collect();
        perhaps_one_model(&arms.iter().collect::<Vec<&Arm>>())
            .into_iter()
            .map(|names| (names.name, names.perhaps.into_iter().collect()))
            .collect()
    }

    #[test]
    fn an_alias_is_told_beside_the_names_that_it_may_stand_for() {
        let (new, old) = ("claude-sonnet-4-5-20250929", "claude-sonnet-4-20250514");
        assert_eq!(
            found(&[("a", "sonnet"), ("a", new), ("a", "claude-opus-4-1")]),
            [("sonnet".to_owned(), vec![new.to_owned()])]
        );
        assert_eq!(
            found(&[("a", "sonnet"), ("a", new), ("a", old)])[0].1,
            [old, new]
        );
        assert!(
            found(&[("a", new), ("a", old)]).is_empty(),
            "each date is a model of its own"
        );
        assert!(
            found(&[("a", "sonnet"), ("b", new)]).is_empty(),
            "other approaches are other arms anyway"
        );
        assert_eq!(
            found(&[("a", "openai/gpt-4o"), ("a", "gpt-4o")]),
            [("gpt-4o".to_owned(), vec!["openai/gpt-4o".to_owned()])]
        );
    }
}
