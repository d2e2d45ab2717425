//! What a model is told beside the question: the prompts of chat APIs.

use std::path::Path;

use super::setup::SetupError;
use crate::config::{AgentConfig, InstructionText, QUESTION_PLACE};
use crate::files;

/// Largest file of a prompt.
const MAX_PROMPT_BYTES: u64 = 1 << 20;

/// The system message and the template of the prompt; `None` if the agent has none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AgentInstructions {
    pub system: Option<String>,
    /// Has `{question}`, and may have `{choices}` and `{answer_format}`.
    pub prompt: Option<String>,
}

impl AgentInstructions {
    /// Reads the texts of an agent. Files are relative to `root`.
    ///
    /// # Errors
    ///
    /// A file that cannot be read or is blank, and a prompt without `{question}`.
    pub(super) fn read(agent: &AgentConfig, root: &Path) -> Result<Self, SetupError> {
        let read = |text: &Option<InstructionText>| {
            text.as_ref()
                .map(|text| read_text(agent, root, text))
                .transpose()
        };
        let (system, prompt) = (read(&agent.system)?, read(&agent.prompt)?);
        if prompt
            .as_ref()
            .is_some_and(|prompt| !prompt.contains(QUESTION_PLACE))
        {
            let message =
                format!("its `prompt` has no `{QUESTION_PLACE}`, so no question would be asked");
            let hint = "what comes before each question can be `system`";
            return Err(SetupError::refused(&agent.id, message, hint));
        }
        Ok(Self { system, prompt })
    }
}

fn read_text(
    agent: &AgentConfig,
    root: &Path,
    text: &InstructionText,
) -> Result<String, SetupError> {
    let path = match text {
        InstructionText::Inline(text) => return Ok(text.clone()),
        InstructionText::File(path) => path,
    };
    let refuse = |why: String| {
        let message = format!("cannot use its prompt file `{path}`: {why}");
        SetupError::refused(
            &agent.id,
            message,
            "paths are relative to the configuration's folder",
        )
    };
    let bytes = files::open(root.join(path))
        .and_then(|file| files::read_up_to(file, MAX_PROMPT_BYTES + 1))
        .map_err(|error| refuse(error.to_string()))?;
    if bytes.len() as u64 > MAX_PROMPT_BYTES {
        return Err(refuse(format!(
            "it is larger than {MAX_PROMPT_BYTES} bytes"
        )));
    }
    let text = String::from_utf8(bytes).map_err(|_| refuse("it is not UTF-8".to_owned()))?;
    if text.trim().is_empty() {
        return Err(refuse("it is empty".to_owned()));
    }
    Ok(text)
}
