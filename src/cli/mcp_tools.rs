//! The tools that `mcp` offers: each is a command that reads, with some of its options. A tool is a row here.

use serde_json::{Map, Value, json};

/// A tool, and the command that answers it.
pub(super) struct McpTool {
    pub name: &'static str,
    pub description: &'static str,
    /// The command with the options that are always given.
    pub command: &'static [&'static str],
    pub parameters: &'static [ToolParameter],
}

/// An argument of a tool.
pub(super) struct ToolParameter {
    pub name: &'static str,
    pub description: &'static str,
    pub form: ParameterForm,
    pub is_required: bool,
}

/// How an argument is said on the command line.
#[derive(Clone, Copy)]
pub(super) enum ParameterForm {
    /// A word without an option.
    Word,
    /// `--option=VALUE`
    Text(&'static str),
    /// `--option=VALUE` for each text of a list.
    Texts(&'static str),
    /// `--option` if it is true.
    Flag(&'static str),
}

use ParameterForm::{Flag, Text, Texts, Word};

const fn optional(
    name: &'static str,
    form: ParameterForm,
    description: &'static str,
) -> ToolParameter {
    ToolParameter {
        name,
        description,
        form,
        is_required: false,
    }
}

const SUITE: ToolParameter = optional(
    "suite",
    Word,
    "Name of a suite; without it, all suites. A path to other tools' results is read instead of the store",
);
const APPROACHES: ToolParameter = optional(
    "approaches",
    Texts("--approach"),
    "Only these approaches, as `list` names them",
);
const MODELS: ToolParameter = optional("models", Texts("--model"), "Only these models");

/// Arms of a suite that has to be named, because items are told of.
const ARMS_OF_A_SUITE: &[ToolParameter] = &[
    ToolParameter {
        is_required: true,
        ..SUITE
    },
    APPROACHES,
    MODELS,
];

pub(super) const TOOLS: &[McpTool] = &[
    McpTool {
        name: "list",
        description: "Lists the suites with their arms (approach and model) and numbers of runs; with `runs`, the runs with their ids.",
        command: &["list"],
        parameters: &[
            optional("suites", Texts("--suite"), "Only these suites"),
            optional("runs", Flag("--runs"), "List runs instead of suites"),
        ],
    },
    McpTool {
        name: "compare",
        description: "Compares the arms of a suite: who wins, by how much, whether that is evidence (interval and p-value), at what cost, and what to do next.",
        command: &["compare"],
        parameters: &[
            SUITE,
            APPROACHES,
            MODELS,
            optional(
                "against",
                Text("--against"),
                "Compare all other arms with this one",
            ),
            optional(
                "explain",
                Flag("--explain"),
                "Add methods, assumptions and what is not measured",
            ),
        ],
    },
    McpTool {
        name: "leaderboard",
        description: "Ranks the arms of each suite, with intervals, rank intervals and costs. Arms whose rank intervals overlap are not told apart.",
        command: &["leaderboard"],
        parameters: &[SUITE, APPROACHES, MODELS],
    },
    McpTool {
        name: "gate",
        description: "Says whether new runs regress against a baseline: pass, fail or inconclusive, with what changed.",
        command: &["gate"],
        parameters: &[
            SUITE,
            ToolParameter {
                name: "baseline",
                description: "What to compare with: last:K for the K batches before, a git revision, a run id, or a file",
                form: Text("--baseline"),
                is_required: true,
            },
            optional(
                "max_drop",
                Text("--max-drop"),
                "Largest drop of the pass rate that passes, such as 5pp",
            ),
            optional(
                "no_new_failures",
                Flag("--no-new-failures"),
                "Fail if an item that passed fails now",
            ),
        ],
    },
    McpTool {
        name: "show",
        description: "Shows a run: its settings, figures and items, failures first.",
        command: &["show"],
        parameters: &[
            ToolParameter {
                name: "run",
                description: "Id of the run, at least its first four characters, or `last`",
                form: Word,
                is_required: true,
            },
            optional(
                "items",
                Text("--items"),
                "Items to show: all, failed, or a number",
            ),
        ],
    },
    McpTool {
        name: "items",
        description: "Lists the items of a suite that only one of two arms passed, with what each answered: where a difference comes from.",
        command: &["compare", "--flips"],
        parameters: ARMS_OF_A_SUITE,
    },
    McpTool {
        name: "why",
        description: "Groups the items that only one of two arms passed, or the failures of one arm, by what they share, with each group's part of the difference.",
        command: &["compare", "--why"],
        parameters: ARMS_OF_A_SUITE,
    },
    McpTool {
        name: "explain",
        description: "Prints a page of the documentation: glossary, method, gate, suites, questions, import, statuses-and-exit-codes, and others.",
        command: &["help"],
        parameters: &[optional(
            "topic",
            Word,
            "The page; without it, the list of pages",
        )],
    },
];

impl McpTool {
    /// Returns the JSON Schema of the tool's arguments.
    pub fn input_schema(&self) -> Map<String, Value> {
        let properties: Map<String, Value> = self
            .parameters
            .iter()
            .map(|parameter| {
                let mut schema = match parameter.form {
                    Word | Text(_) => json!({"type": "string"}),
                    Texts(_) => json!({"type": "array", "items": {"type": "string"}}),
                    Flag(_) => json!({"type": "boolean"}),
                };
                schema["description"] = json!(parameter.description);
                (parameter.name.to_owned(), schema)
            })
            .collect();
        let required: Vec<&str> = self
            .parameters
            .iter()
            .filter(|parameter| parameter.is_required)
            .map(|parameter| parameter.name)
            .collect();
        let schema = json!({
            "type": "object",
            "properties": properties,
            "required": required,
            "additionalProperties": false,
        });
        match schema {
            Value::Object(schema) => schema,
            _ => Map::new(),
        }
    }

    /// Returns the words of the command line that answers a call. A word that comes from a call is never an option of its own.
    ///
    /// # Errors
    ///
    /// All arguments that are unknown, missing or of another type, in one text.
    pub fn command_words(&self, given: &Map<String, Value>) -> Result<Vec<String>, String> {
        let mut problems = Vec::new();
        let mut options: Vec<String> = self.command.iter().map(|&word| word.to_owned()).collect();
        let mut words = Vec::new();
        for name in given.keys() {
            if !self.parameters.iter().any(|known| known.name == name) {
                let known: Vec<&str> = self.parameters.iter().map(|known| known.name).collect();
                problems.push(format!(
                    "`{}` has no argument `{name}`; it has {}",
                    self.name,
                    known.join(", ")
                ));
            }
        }
        for parameter in self.parameters {
            let name = parameter.name;
            let value = match given.get(name) {
                None | Some(Value::Null) if parameter.is_required => {
                    problems.push(format!("`{name}` is missing: {}", parameter.description));
                    continue;
                }
                None | Some(Value::Null) => continue,
                Some(value) => value,
            };
            match (parameter.form, value) {
                (Word, Value::String(text)) => words.push(text.clone()),
                (Text(option), Value::String(text)) => options.push(format!("{option}={text}")),
                (Texts(option), Value::Array(texts)) if texts.iter().all(Value::is_string) => {
                    options.extend(
                        texts
                            .iter()
                            .filter_map(Value::as_str)
                            .map(|text| format!("{option}={text}")),
                    );
                }
                (Flag(option), Value::Bool(is_set)) => {
                    options.extend(is_set.then(|| option.to_owned()));
                }
                (Word | Text(_), _) => problems.push(format!("`{name}` must be a text")),
                (Texts(_), _) => problems.push(format!("`{name}` must be a list of texts")),
                (Flag(_), _) => problems.push(format!("`{name}` must be true or false")),
            }
        }
        if !problems.is_empty() {
            return Err(problems.join("\n"));
        }
        if !words.is_empty() {
            options.push("--".to_owned());
            options.extend(words);
        }
        Ok(options)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(tool: &str, given: &Value) -> Result<Vec<String>, String> {
        let tool = TOOLS
            .iter()
            .find(|known| known.name == tool)
            .expect("a tool");
        tool.command_words(given.as_object().expect("an object"))
    }

    #[test]
    fn a_call_is_a_command_whose_options_are_ours() {
        let given =
            json!({"suite": "--cache=/etc", "approaches": ["a", "--format=csv"], "explain": true});
        assert_eq!(
            words("compare", &given).expect("a command"),
            [
                "compare",
                "--approach=a",
                "--approach=--format=csv",
                "--explain",
                "--",
                "--cache=/etc"
            ]
        );
        assert_eq!(
            words("list", &json!({"runs": false})).expect("a command"),
            ["list"]
        );
    }

    #[test]
    fn all_wrong_arguments_are_told_at_once() {
        let told = words("gate", &json!({"suite": 5, "basline": "x"})).expect_err("three problems");
        for problem in [
            "`suite` must be a text",
            "no argument `basline`",
            "`baseline` is missing",
        ] {
            assert!(told.contains(problem), "{told}");
        }
    }

    /// What a tool runs is a command of the program, with options that it has, and none of them writes.
    #[test]
    fn every_tool_is_a_command_that_reads() {
        for tool in TOOLS {
            assert!(
                ["list", "compare", "leaderboard", "gate", "show", "help"]
                    .contains(&tool.command[0]),
                "{}",
                tool.name
            );
            let mut line = vec!["evalreport".to_owned()];
            line.extend(tool.command.iter().map(|&word| word.to_owned()));
            for parameter in tool.parameters {
                match parameter.form {
                    Word => {}
                    Text(option) | Texts(option) => {
                        let value = if option == "--items" { "5" } else { "1pp" };
                        line.push(format!("{option}={value}"));
                    }
                    Flag(option) => line.push(option.to_owned()),
                }
            }
            line.extend(["--".to_owned(), "word".to_owned()]);
            let parsed = crate::cli::command_line().try_get_matches_from(&line);
            assert!(parsed.is_ok(), "{line:?}: {:?}", parsed.err());
        }
    }
}
