//! Roles of a log's models: which answered, which judged, and what each used.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::domain::Usage;

use super::super::json::{ObjectTable, to_amount, to_count, to_text};
use super::super::sink::ImportSink;
use super::wire::ModelUsage;

/// The roles of a log's models.
pub(super) struct ModelRoles {
    model: String,
    /// Models that only have a role, such as the judge.
    others: BTreeSet<String>,
    /// Roles of the answering model: it may judge itself.
    own: BTreeSet<String>,
    /// Models that were given to scorers.
    given: BTreeSet<String>,
}

impl ModelRoles {
    pub fn new(roles: &Value, scorers: &Value, model: &str) -> Self {
        let of = |role: &Value| to_text(role).or_else(|| to_text(role.get("model")?));
        let (mut others, mut own) = (BTreeSet::new(), BTreeSet::new());
        for (role, named) in roles.as_object().into_iter().flatten() {
            match of(named) {
                Some(name) if name == model => own.insert(role.clone()),
                Some(name) => others.insert(name),
                None => false,
            };
        }
        let given = |scorer: &Value| {
            to_text(scorer.get("options")?.get("model")?).filter(|model| !model.is_empty())
        };
        let given = scorers
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(given)
            .collect();
        Self {
            model: model.to_owned(),
            others,
            own,
            given,
        }
    }

    /// Returns the judges' names: models in a role, and models that were given to a scorer.
    pub fn judge_names(&self) -> String {
        let itself = (!self.own.is_empty()).then_some(&self.model);
        let named: BTreeSet<&str> = self
            .others
            .iter()
            .chain(&self.given)
            .chain(itself)
            .map(String::as_str)
            .collect();
        named.into_iter().collect::<Vec<_>>().join(", ")
    }

    /// Reports which tokens cannot be attributed to a model's role.
    pub fn explain_usage(
        &self,
        models: &ObjectTable<ModelUsage>,
        by_role: &ObjectTable<ModelUsage>,
        sink: &mut ImportSink<'_>,
    ) {
        if models
            .iter()
            .filter(|(model, _)| !self.others.contains(*model))
            .count()
            > 1
        {
            sink.note_quirk(
                "the tokens of several models are summed: the log does not say which model judged",
            );
        }
        let judges_itself = !self.own.is_empty() || self.given.contains(&self.model);
        if judges_itself && models.get(&self.model).is_some() && !self.has_usage_by_role(by_role) {
            sink.note_quirk("the model judges itself, and the log does not give its tokens for judging: all its tokens are summed");
        }
    }

    /// Returns whether the log knows the model's usage in one of its roles.
    pub fn has_usage_by_role(&self, by_role: &ObjectTable<ModelUsage>) -> bool {
        self.own.iter().any(|role| by_role.get(role).is_some())
    }

    /// Adds up the usage of the models that do not only have a role, minus the answering model's usage in its roles. Input excludes the
    /// cache, as in our records. The cost is known only if every model has one.
    pub fn sum_usage(
        &self,
        models: &ObjectTable<ModelUsage>,
        by_role: &ObjectTable<ModelUsage>,
    ) -> (Option<Usage>, Option<f64>) {
        let (mut sum, mut cost) = (None, Some(0.0));
        for (model, usage) in models
            .iter()
            .filter(|(model, _)| !self.others.contains(*model))
        {
            let (mut one, mut paid) = (to_usage(usage), to_amount(&usage.total_cost));
            for role in self
                .own
                .iter()
                .filter(|_| *model == self.model)
                .filter_map(|role| by_role.get(role))
            {
                one = subtract_usage(one, to_usage(role));
                paid = paid
                    .zip(to_amount(&role.total_cost))
                    .map(|(paid, role)| (paid - role).max(0.0));
            }
            sum = Some(sum.map_or(one, |sum: Usage| sum.plus(&one)));
            cost = cost.zip(paid).map(|(sum, one)| sum + one);
        }
        (sum, cost.filter(|_| sum.is_some()))
    }
}

fn to_usage(usage: &ModelUsage) -> Usage {
    Usage {
        input: to_count(&usage.input_tokens),
        cache_write: to_count(&usage.input_tokens_cache_write),
        cache_read: to_count(&usage.input_tokens_cache_read),
        output: to_count(&usage.output_tokens),
    }
}

fn subtract_usage(whole: Usage, part: Usage) -> Usage {
    let less = |whole: Option<u64>, part: Option<u64>| {
        whole.map(|whole| whole.saturating_sub(part.unwrap_or(0)))
    };
    Usage {
        input: less(whole.input, part.input),
        cache_write: less(whole.cache_write, part.cache_write),
        cache_read: less(whole.cache_read, part.cache_read),
        output: less(whole.output, part.output),
    }
}
