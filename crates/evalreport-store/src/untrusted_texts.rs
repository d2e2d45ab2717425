//! Visits the untrusted texts of judgements.

use crate::domain::{Untrusted, for_each_string_mut};

use super::{JudgeLine, ScoreLine};

impl Untrusted for ScoreLine {
    fn visit_texts(&mut self, visit: &mut dyn FnMut(&str, &mut String)) {
        let Self {
            score,
            details,
            reasoning,
            not_evaluated,
            judge,
            raw,
        } = self;
        if let Some(evaluator) = &mut score.evaluator {
            visit("evaluator", evaluator);
        }
        for (field, text) in [("not_evaluated", not_evaluated), ("reasoning", reasoning)] {
            if let Some(text) = text {
                visit(field, text);
            }
        }
        if let Some(details) = details {
            for_each_string_mut(details, &mut |text| visit("details", text));
        }
        if let Some(JudgeLine {
            agent,
            model,
            prompt_sha256: _,
            votes: _,
            agreement: _,
            usage: _,
            cost_usd: _,
            cost_source: _,
        }) = judge
        {
            visit("judge.agent", agent);
            if let Some(model) = model {
                visit("judge.model", model);
            }
        }
        for reply in raw {
            visit("raw", reply);
        }
    }
}
