//! What a model is told beside the question: the prompts of chat APIs.

use std::collections::BTreeMap;
use std::path::Path;

use sha2::{Digest, Sha256};

use super::setup::SetupError;
use crate::config::{AgentConfig, AgentKind, InstructionText, QUESTION_PLACE};
use crate::domain::{escape_invisible, to_hex};
use crate::files;

/// Largest file of a prompt.
const MAX_PROMPT_BYTES: u64 = 1 << 20;

/// Characters of the digest of a prompt that a run records.
const DIGEST_CHARS: usize = 8;

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

    /// Returns the settings of a chat API with which its runs are made, by the tag that records each: runs with other settings are of another arm.
    /// Empty for programs, which have settings of their own.
    pub(super) fn settings(&self, agent: &AgentConfig) -> BTreeMap<String, String> {
        if !matches!(agent.kind, AgentKind::Anthropic | AgentKind::Openai) {
            return BTreeMap::new();
        }
        let instruction = |configured: &Option<InstructionText>, text: &Option<String>| {
            let file = match configured.as_ref()? {
                InstructionText::File(file) => Some(file.as_str()),
                InstructionText::Inline(_) => None,
            };
            Some(describe_prompt(file, text.as_deref()?))
        };
        [
            ("system_prompt", instruction(&agent.system, &self.system)),
            (PROMPT_TAG, instruction(&agent.prompt, &self.prompt)),
            (
                "temperature",
                agent.temperature.map(|value| value.to_string()),
            ),
        ]
        .into_iter()
        .filter_map(|(tag, value)| Some((tag.to_owned(), value?)))
        .collect()
    }
}

/// The tag with the prompt of a run.
pub const PROMPT_TAG: &str = "prompt_template";

/// Names a prompt by its file, if it has one, and by the digest of its text: `strict.md 3f9a1b2c`.
pub fn describe_prompt(file: Option<&str>, text: &str) -> String {
    let digest: String = to_hex(&Sha256::digest(text.as_bytes()))
        .chars()
        .take(DIGEST_CHARS)
        .collect();
    let name = file.and_then(|file| Path::new(file).file_name()?.to_str());
    match name {
        Some(name) => format!("{} {digest}", escape_invisible(name)),
        None => digest,
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prompt_is_named_by_its_file_and_its_text() {
        let of = describe_prompt(Some("prompts/strict.md"), "Answer {question}");
        assert!(
            of.starts_with("strict.md ") && of.len() == "strict.md ".len() + 8,
            "{of}"
        );
        assert_ne!(
            of,
            describe_prompt(Some("prompts/strict.md"), "Reply to {question}")
        );
        assert_eq!(
            describe_prompt(None, "Answer {question}"),
            of["strict.md ".len()..]
        );
    }
}
