//! Turns the answers of an imported run into a transcript, for judges that have nothing else to read.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::domain::{ItemDetails, ItemOutcome, can_judge_again};

/// Shown to the judge for an item without an answer, if other items have one.
const NO_ANSWER: &str = "(The import holds no answer to this item.)";

/// Returns each item's question and answer, in item order. An item without a question is shown by its name. Returns `None` if no item has
/// an answer. Leaves out expected answers and other evaluators' comments: the judge decides by its own criteria.
pub(super) fn build_transcript(items: &[(ItemOutcome, ItemDetails)]) -> Option<Vec<Value>> {
    // A judge's comment on a run is not an answer.
    let items = || {
        items
            .iter()
            .filter(|(outcome, _)| !can_judge_again(&outcome.evaluator))
    };
    // Several evaluators may report the same answer, and some leave out its text.
    let answered: BTreeSet<(&str, u32)> = items()
        .filter(|(_, details)| answer_text(details).is_some())
        .map(|(outcome, _)| (outcome.item.as_str(), outcome.attempt))
        .collect();
    if answered.is_empty() {
        return None;
    }
    let mut told = BTreeSet::new();
    let mut messages = Vec::new();
    for (outcome, details) in items() {
        let place = (outcome.item.as_str(), outcome.attempt);
        let answer = answer_text(details);
        if answer.is_none() && answered.contains(&place) || !told.insert(place) {
            continue;
        }
        let question = non_blank(details.question.as_ref())
            .map_or_else(|| format!("item {}", outcome.item), str::to_owned);
        messages.push(json!({"role": "user", "content": question}));
        messages.push(json!({"role": "assistant", "content": answer.unwrap_or(NO_ANSWER)}));
    }
    Some(messages)
}

fn answer_text(details: &ItemDetails) -> Option<&str> {
    non_blank(details.reply.as_ref()).or_else(|| non_blank(details.answer.as_ref()))
}

fn non_blank(text: Option<&String>) -> Option<&str> {
    text.map(String::as_str)
        .filter(|text| !text.trim().is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{ItemKind, ItemStatus, RunId};

    fn item(
        name: &str,
        attempt: u32,
        evaluator: &str,
        details: ItemDetails,
    ) -> (ItemOutcome, ItemDetails) {
        let outcome = ItemOutcome {
            run: RunId::parse("r").expect("a valid id"),
            kind: ItemKind::Question,
            item: name.to_owned(),
            cluster: None,
            category: None,
            attempt,
            status: ItemStatus::Fail,
            score: None,
            evaluator: evaluator.to_owned(),
            revision: 0,
            duration_seconds: None,
            cost_usd: None,
            input_tokens: None,
            output_tokens: None,
        };
        (outcome, details)
    }

    fn said(question: &str, reply: &str, answer: &str) -> ItemDetails {
        let text = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
        ItemDetails {
            question: text(question),
            reply: text(reply),
            answer: text(answer),
            expected: vec!["secret".to_owned()],
            reason: Some("wrong".to_owned()),
            ..ItemDetails::default()
        }
    }

    #[test]
    fn each_question_is_told_once_with_its_answer() {
        let items = [
            item("a", 1, "exact", said("Why?", "", "")),
            item("a", 1, "model", said("Why?", "Because.", "because")),
            item("a", 2, "exact", said("Why?", "", "because")),
            item("b", 1, "exact", said("", "", " ")),
            item(
                "met",
                1,
                "requirementFulfillment",
                said("", "I said so", ""),
            ),
        ];
        let told: Vec<String> = build_transcript(&items)
            .expect("answers")
            .iter()
            .map(|one| format!("{}: {}", one["role"], one["content"]))
            .collect();
        assert_eq!(
            told,
            [
                "\"user\": \"Why?\"",
                "\"assistant\": \"Because.\"",
                "\"user\": \"Why?\"",
                "\"assistant\": \"because\"",
                "\"user\": \"item b\"",
                "\"assistant\": \"(The import holds no answer to this item.)\""
            ]
        );
        assert_eq!(build_transcript(&items[3..4]), None);
    }
}
