//! Visits the untrusted texts in the views that pages are made of.

use crate::domain::{Untrusted, for_each_string_mut};
use crate::views::{EvaluatorScore, JudgeView, TranscriptPart};

impl Untrusted for EvaluatorScore {
    fn visit_texts(&mut self, visit: &mut dyn FnMut(&str, &mut String)) {
        let Self {
            evaluator: _,
            value: _,
            unit: _,
            direction: _,
            revision: _,
            earlier: _,
            not_evaluated,
            reasoning,
            details,
            judge,
        } = self;
        for (field, text) in [("not_evaluated", not_evaluated), ("reasoning", reasoning)] {
            if let Some(text) = text {
                visit(field, text);
            }
        }
        if let Some(details) = details {
            for_each_string_mut(details, &mut |text| visit("details", text));
        }
        if let Some(JudgeView {
            agent,
            model,
            prompt_sha256: _,
            votes: _,
            agreement: _,
            input_tokens: _,
            output_tokens: _,
            cost_usd: _,
            cost_source: _,
        }) = judge
        {
            visit("judge.agent", agent);
            if let Some(model) = model {
                visit("judge.model", model);
            }
        }
    }
}

impl Untrusted for TranscriptPart {
    fn visit_texts(&mut self, visit: &mut dyn FnMut(&str, &mut String)) {
        let Self {
            role,
            text,
            spent: _,
        } = self;
        if let Some(role) = role {
            visit("role", role);
        }
        visit("content", text);
    }
}
