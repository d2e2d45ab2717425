//! Prompts of questions.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{RngCore, SeedableRng};
use sha2::{Digest, Sha256};

use super::ChoiceQuestion;

const ANSWER_CONTRACT: &str = "Answer with exactly one of the choices. You may explain first. The reply must end with the choice, as XML text, in \
     this form:\n<answer>choice</answer>\n";

/// How to answer if a grader reads one final answer.
const FINAL_ANSWER_CONTRACT: &str =
    "You may explain first. The reply must end with a line in this form:\nAnswer: your answer\n";

/// Returns the agent's exact prompt: the question, its choices in order, and how to answer.
///
/// A `template` has the question at `{question}`, and may have its choices at `{choices}` and how to answer at `{answer_format}`. Choices without a
/// place follow the question, and how to answer follows everything.
pub fn question_prompt(question: &ChoiceQuestion, template: Option<&str>) -> String {
    let choices = choice_list(question);
    let with_choices = match &choices {
        Some(choices) => format!("{}\n\nChoices:\n{choices}", question.question),
        None => question.question.clone(),
    };
    let contract = answer_contract(question);
    let Some(template) = template else {
        return match contract {
            Some(contract) => format!("{with_choices}\n\n{contract}"),
            None => format!("{with_choices}\n"),
        };
    };
    let has_choices = template.contains("{choices}");
    let asked = if has_choices {
        &question.question
    } else {
        &with_choices
    };
    let filled = fill_template(
        template,
        &[
            ("{question}", asked),
            ("{choices}", choices.as_deref().unwrap_or_default()),
            ("{answer_format}", contract.unwrap_or_default().trim_end()),
        ],
    );
    match contract {
        Some(contract) if !template.contains("{answer_format}") => {
            format!("{}\n\n{contract}", filled.trim_end())
        }
        _ => filled,
    }
}

/// Returns the choices as lines, or `None` if there are none.
fn choice_list(question: &ChoiceQuestion) -> Option<String> {
    let lines: Vec<String> = match &question.grader {
        None => question
            .answers
            .iter()
            .map(|answer| format!("- {answer}"))
            .collect(),
        Some(grader) => grader
            .options()
            .iter()
            .map(|(label, text)| {
                if text.is_empty() {
                    label.clone()
                } else {
                    format!("{label}. {text}")
                }
            })
            .collect(),
    };
    (!lines.is_empty()).then(|| lines.join("\n"))
}

/// Returns how to answer, or `None` if the grader reads whole replies.
fn answer_contract(question: &ChoiceQuestion) -> Option<&'static str> {
    match &question.grader {
        None => Some(ANSWER_CONTRACT),
        Some(grader) => grader.reads_final_answer().then_some(FINAL_ANSWER_CONTRACT),
    }
}

/// Replaces each place by its text. Texts are not looked at again, so a question that holds a place keeps it.
fn fill_template(template: &str, places: &[(&str, &str)]) -> String {
    let mut whole = String::new();
    let mut rest = template;
    while let Some(start) = rest.find('{') {
        whole.push_str(&rest[..start]);
        rest = &rest[start..];
        let place = places.iter().find(|(name, _)| rest.starts_with(name));
        let (text, length) = place.map_or((&rest[..1], 1), |(name, text)| (*text, name.len()));
        whole.push_str(text);
        rest = &rest[length..];
    }
    whole.push_str(rest);
    whole
}

/// Returns the question with its choices shuffled by the seed and the question's id. Every order is equally likely. Without a seed, or with
/// seed 0, keeps the written order.
///
/// The id is included, so that one seed for a whole run does not place the right answers of all questions alike.
#[must_use]
pub fn shuffle_choices(question: &ChoiceQuestion, seed: Option<u64>) -> ChoiceQuestion {
    let mut order: Vec<usize> = (0..question.answers.len()).collect();
    if let Some(seed) = seed.filter(|seed| *seed != 0) {
        let key = Sha256::digest(format!("order of choices\n{seed}\n{}", question.id));
        let mut random = ChaCha8Rng::from_seed(key.into());
        for last in (1..order.len()).rev() {
            order.swap(last, random_up_to(&mut random, last));
        }
    }
    let is_correct = |position: &usize| question.correct.contains(&order[*position]);
    ChoiceQuestion {
        answers: order
            .iter()
            .map(|position| question.answers[*position].clone())
            .collect(),
        correct: (0..order.len()).filter(is_correct).collect(),
        ..question.clone()
    }
}

/// Returns a uniform number from 0 to `last`. Numbers beyond the largest whole multiple are redrawn.
#[expect(
    clippy::cast_possible_truncation,
    reason = "a remainder is not above `last`"
)]
fn random_up_to(random: &mut ChaCha8Rng, last: usize) -> usize {
    let count = last as u64 + 1;
    let excess = (u64::MAX % count + 1) % count;
    loop {
        let drawn = random.next_u64();
        if drawn <= u64::MAX - excess {
            return (drawn % count) as usize;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use super::*;

    fn question(id: &str, answers: &[&str]) -> ChoiceQuestion {
        ChoiceQuestion {
            id: id.to_owned(),
            generated_id: false,
            question: "What is 2+2?".to_owned(),
            answers: answers.iter().map(|answer| (*answer).to_owned()).collect(),
            correct: vec![1],
            grader: None,
            category: None,
            cluster: None,
        }
    }

    #[test]
    fn the_prompt_to_the_letter() {
        let expected = "What is 2+2?\n\nChoices:\n- 3\n- 4\n- AT&T\n\nAnswer with exactly one of the choices. You may explain first. The reply \
                        must end with the choice, as XML text, in this form:\n<answer>choice</answer>\n";
        assert_eq!(
            question_prompt(&question("q1", &["3", "4", "AT&T"]), None),
            expected
        );
    }

    #[test]
    fn a_template_says_where_question_and_choices_stand() {
        let question = ChoiceQuestion {
            question: "Is {choices} a word?".to_owned(),
            ..question("q1", &["yes", "no"])
        };
        let prompt = |template| question_prompt(&question, Some(template));
        assert_eq!(
            prompt("Be brief.\n{question}\n"),
            format!(
                "Be brief.\nIs {{choices}} a word?\n\nChoices:\n- yes\n- no\n\n{ANSWER_CONTRACT}"
            )
        );
        assert_eq!(
            prompt("{answer_format}\n---\n{question}\n[{choices}] {other}"),
            format!(
                "{}\n---\nIs {{choices}} a word?\n[- yes\n- no] {{other}}",
                ANSWER_CONTRACT.trim_end()
            )
        );
    }

    #[test]
    fn a_free_answer_is_asked_for_as_its_grader_reads_it() {
        let prompt = |grader: &str| {
            let text = format!("version: 1\nquestions: [{{question: 'Why?', grader: {grader}}}]\n");
            let spec = super::super::parse_questions("q.yaml", &text).expect("sound");
            question_prompt(&spec.questions[0], None)
        };
        assert_eq!(
            prompt("{kind: number, expected: 1}"),
            format!("Why?\n\n{FINAL_ANSWER_CONTRACT}")
        );
        assert_eq!(prompt("{kind: contains, expected: so}"), "Why?\n");
        assert_eq!(
            prompt("{kind: choice, expected: A, options: [x, y]}"),
            format!("Why?\n\nChoices:\nA. x\nB. y\n\n{FINAL_ANSWER_CONTRACT}")
        );
    }

    #[test]
    fn without_a_seed_the_order_is_the_files() {
        let question = question("q1", &["a", "b", "c", "d"]);
        assert_eq!(shuffle_choices(&question, None), question);
        assert_eq!(shuffle_choices(&question, Some(0)), question);
    }

    #[test]
    fn an_order_is_the_same_for_ever() {
        let order = |id, seed| {
            shuffle_choices(&question(id, &["a", "b", "c", "d", "e", "f"]), Some(seed))
                .answers
                .concat()
        };
        assert_eq!(
            [order("q1", 1), order("q1", 2), order("q2", 1)],
            ["acdbfe", "bedcfa", "febcad"]
        );
    }

    #[test]
    fn every_order_is_equally_likely() {
        let mut counts: BTreeMap<String, u32> = BTreeMap::new();
        for seed in 1..=24_000 {
            let shuffled = shuffle_choices(&question("q1", &["a", "b", "c", "d"]), Some(seed));
            assert_eq!(
                shuffled
                    .correct
                    .iter()
                    .map(|position| shuffled.answers[*position].as_str())
                    .collect::<Vec<_>>(),
                ["b"]
            );
            *counts.entry(shuffled.answers.concat()).or_default() += 1;
        }
        assert_eq!(counts.len(), 24);
        // Chi-squared with 23 degrees of freedom exceeds 49.7 once in 1,000. The seeds are fixed, so this test never fails by chance.
        let distance: f64 = counts
            .values()
            .map(|count| (f64::from(*count) - 1000.0).powi(2) / 1000.0)
            .sum();
        assert!(distance < 49.7, "{distance}");
    }

    #[test]
    fn bounds_are_inclusive() {
        let mut random = ChaCha8Rng::seed_from_u64(1);
        let drawn: BTreeSet<usize> = (0..200).map(|_| random_up_to(&mut random, 2)).collect();
        assert_eq!(drawn, BTreeSet::from([0, 1, 2]));
        assert_eq!(
            shuffle_choices(&question("q1", &["a"]), Some(7)).answers,
            ["a"]
        );
    }
}
