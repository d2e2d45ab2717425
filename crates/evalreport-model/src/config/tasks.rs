//! Configured tasks: named sets of questions for an agent.

use super::ids::Ids;
use crate::document::{Fields, ValueForm, quote_text};

/// A question evaluation, the only type of configured task.
#[derive(Clone, Debug, PartialEq)]
pub struct ConfiguredTask {
    pub id: String,
    /// The id of an agent. `None` means the default agent.
    pub agent: Option<String>,
    /// Overrides the agent's own model.
    pub model: Option<String>,
    /// Path relative to the configuration's folder.
    pub questions_file: String,
    /// The suite under which results are stored.
    pub suite: Option<String>,
    pub budget: QuestionBudget,
    /// Number of questions asked in parallel; at least 1.
    pub concurrency: Option<u64>,
}

/// The limits of one question.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct QuestionBudget {
    pub max_tokens: Option<u64>,
    pub max_seconds: Option<f64>,
    pub max_steps: Option<u64>,
}

pub(super) fn read_section(fields: &mut Fields, agents: &Ids) -> Vec<ConfiguredTask> {
    let mut ids = Ids::new("task");
    fields.read_each("tasks", |fields| read_task(fields, &mut ids, agents))
}

fn read_task(mut fields: Fields, ids: &mut Ids, agents: &Ids) -> Option<ConfiguredTask> {
    let id = ids.read_id(&mut fields);
    if !check_type(&mut fields) {
        // The other keys belong to an unknown type, so they cannot be checked.
        return None;
    }
    let agent = agents.read_reference(&mut fields, "agent");
    let model = fields.text("model");
    let questions_file = fields.required_text("questions_file");
    let suite = fields.text("suite");
    let budget = fields.fields("budget").map(read_budget).unwrap_or_default();
    let concurrency = fields.positive("concurrency");
    fields.set_replacements(&[(
        "compaction",
        "remove it: the agent compacts its own context",
    )]);
    fields.finish();
    Some(ConfiguredTask {
        id: id?,
        agent,
        model,
        questions_file: questions_file?,
        suite,
        budget,
        concurrency,
    })
}

/// Returns whether the rest of the task can be checked as a question evaluation.
fn check_type(fields: &mut Fields) -> bool {
    const QUESTION_TYPE: &str = "question_eval";
    let path = quote_text(&fields.path_of("type"));
    fields.note_form("type", || ValueForm::Word(vec![QUESTION_TYPE.to_owned()]));
    fields.note_required("type");
    if fields.child("type").is_none() {
        fields.reject(
            "type",
            format!("{path} is missing"),
            Some(format!("write type: {QUESTION_TYPE}")),
        );
        return true;
    }
    let Some(name) = fields.text("type") else {
        return false;
    };
    if name == "cucumber_eval" {
        let hint = format!(
            "write the scenarios as questions and use type: {QUESTION_TYPE} with `questions_file`"
        );
        fields.reject(
            "type",
            format!("{path} is `cucumber_eval`, which question evaluation replaced"),
            Some(hint),
        );
    } else if name != QUESTION_TYPE {
        fields.reject(
            "type",
            format!(
                "{path} must be `{QUESTION_TYPE}`, not {}",
                quote_text(&name)
            ),
            None,
        );
    }
    name == QUESTION_TYPE
}

fn read_budget(mut fields: Fields) -> QuestionBudget {
    let budget = QuestionBudget {
        max_tokens: fields.unsigned("max_tokens"),
        max_seconds: fields.amount("max_seconds"),
        max_steps: fields.unsigned("max_steps"),
    };
    fields.finish();
    budget
}
