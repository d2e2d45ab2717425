//! Which evaluators are people, and which are judging models, by their names.

use super::Evaluator;

/// Name of the evaluator of people's labels.
pub const PERSON: &str = "human";

/// Words in the names of evaluators that are models.
const JUDGE_WORDS: [&str; 9] = [
    "judge", "grader", "graded", "llm", "geval", "g-eval", "gpt-", "claude-", "gemini-",
];

/// Returns whether an evaluator is a person: `human`, or `human:` with a name.
pub fn is_person(evaluator: &str) -> bool {
    evaluator
        .strip_prefix(PERSON)
        .is_some_and(|name| name.is_empty() || name.starts_with(':'))
}

/// Returns the evaluator of a person's labels. An empty name is that of the only person.
pub fn person_evaluator(name: &str) -> String {
    if name.is_empty() || is_person(name) {
        if name.is_empty() { PERSON } else { name }.to_owned()
    } else {
        format!("{PERSON}:{name}")
    }
}

/// Returns whether an evaluator with this name is a judge or a person, who can judge a whole run again.
pub fn can_judge_again(evaluator: &str) -> bool {
    is_person(evaluator)
        || Evaluator::ALL
            .into_iter()
            .any(|one| one.is_judged() && one.name() == evaluator)
}

/// Returns whether an evaluator's name is that of a judging model.
pub fn is_judge(evaluator: &str) -> bool {
    let name = evaluator.to_lowercase();
    can_judge_again(evaluator) && !is_person(evaluator)
        || JUDGE_WORDS.iter().any(|word| name.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_people_from_judges() {
        assert!(
            is_person("human")
                && is_person("human:alice")
                && !is_person("humane")
                && !is_person("judge")
        );
        assert_eq!(
            [
                person_evaluator(""),
                person_evaluator("alice"),
                person_evaluator("human:bo")
            ],
            ["human", "human:alice", "human:bo"]
        );
        assert!(is_judge("requirementFulfillment") && is_judge("GPT-4o") && is_judge("llm_judge"));
        assert!(!is_judge("answers") && !is_judge("human:graham") && !is_judge("exact_match"));
    }
}
