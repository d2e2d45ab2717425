//! A document: its blocks, their marks, and the commands in them.

use evalreport::document::{self, Node, Value};

/// A fenced block: its lines in the document, without the fences.
pub struct Block {
    /// What follows the opening fence.
    pub language: String,
    /// What is said above it.
    pub mark: Option<Mark>,
    /// The index of its first line.
    pub first: usize,
    pub lines: Vec<String>,
}

/// What is done with a block.
pub enum Mark {
    /// It is run in a place, and its output compared.
    Shown(String),
    /// It is run in a place.
    Run(String),
    /// It is not run, for a reason.
    NotRun(String),
}

/// A command and the lines below it.
pub struct Shown {
    pub command: String,
    /// As it stands in the document, with its prompt.
    pub typed: Vec<String>,
    pub output: Vec<String>,
}

impl Mark {
    fn of(line: &str) -> Option<Self> {
        let mark = line.trim().strip_prefix("<!-- ")?.strip_suffix("-->")?;
        let (kind, text) = mark.split_once(':')?;
        let text = text.trim().to_owned();
        match kind {
            "shown" => Some(Self::Shown(text)),
            "run" => Some(Self::Run(text)),
            "not run" => Some(Self::NotRun(text)),
            _ => None,
        }
    }
}

pub fn blocks(text: &str) -> Vec<Block> {
    let mut found: Vec<Block> = Vec::new();
    let (mut is_open, mut above) = (false, "");
    for (number, line) in text.lines().enumerate() {
        match line.trim_start().strip_prefix("```") {
            Some(_) if is_open => is_open = false,
            Some(language) => {
                found.push(Block {
                    language: language.to_owned(),
                    mark: Mark::of(above),
                    first: number + 1,
                    lines: Vec::new(),
                });
                is_open = true;
            }
            None if is_open => found
                .last_mut()
                .expect("an open block")
                .lines
                .push(line.to_owned()),
            None => {}
        }
        above = line;
    }
    found
}

/// The commands of a console block. A command goes on after a backslash, within quotes and until the end of a text that it is given.
pub fn shown(block: &Block) -> Vec<Shown> {
    let mut all: Vec<Shown> = Vec::new();
    let mut goes_on = false;
    for line in &block.lines {
        match (line.strip_prefix("$ "), all.last_mut()) {
            (_, Some(last)) if goes_on => {
                last.command.push_str(&format!("\n{line}"));
                last.typed.push(line.clone());
            }
            (Some(command), _) => all.push(Shown {
                command: command.to_owned(),
                typed: vec![line.clone()],
                output: Vec::new(),
            }),
            (None, Some(last)) => last.output.push(line.clone()),
            (None, None) => panic!("line {}: output without a command", block.first + 1),
        }
        let command = &all.last().expect("just added").command;
        goes_on = match command.split_once("<<'END'") {
            Some((_, text)) => !text.ends_with("\nEND"),
            None => command.ends_with('\\') || command.matches('"').count() % 2 == 1,
        };
    }
    all
}

/// Whether a block is there to be run by a reader.
pub fn is_commands(block: &Block) -> bool {
    match block.language.as_str() {
        "sh" | "bash" | "shell" | "console" => true,
        "yaml" => !scripts(block).is_empty(),
        _ => false,
    }
}

/// What a shell is given to run a block: the lines of a script, each command of a console, each step of a workflow.
pub fn scripts(block: &Block) -> Vec<String> {
    match block.language.as_str() {
        "console" => shown(block)
            .into_iter()
            .map(|shown| shown.command)
            .collect(),
        "yaml" => {
            let mut steps = Vec::new();
            let text = block.lines.join("\n");
            if let Ok(node) = document::parse("a block", &text) {
                add_steps(&node, &mut steps);
            }
            steps
        }
        _ => vec![block.lines.join("\n")],
    }
}

/// Adds the commands of GitHub's steps and GitLab's jobs.
fn add_steps(node: &Node, steps: &mut Vec<String>) {
    match &node.value {
        Value::Map(entries) => {
            for (key, value) in entries {
                match (key.text.as_str(), &value.value) {
                    ("run", Value::Scalar(script)) => steps.push(script.text.clone()),
                    ("script", Value::List(lines)) => {
                        for line in lines {
                            if let Value::Scalar(script) = &line.value {
                                steps.push(script.text.clone());
                            }
                        }
                    }
                    _ => add_steps(value, steps),
                }
            }
        }
        Value::List(items) => items.iter().for_each(|item| add_steps(item, steps)),
        Value::Scalar(_) => {}
    }
}

/// Our own commands within a script: what stands after another program's name is not ours, unless that program starts ours.
pub fn ours(script: &str) -> Vec<String> {
    let script = script.replace("\\\n", " ");
    let parts = script
        .lines()
        .flat_map(|line| line.split(" # ").next().unwrap_or_default().split("&&"))
        .flat_map(|part| part.split("||"));
    parts
        .filter_map(|part| {
            let part = part.trim();
            let part = ["npx ", "uvx ", "sudo -u evals "]
                .iter()
                .find_map(|start| part.strip_prefix(start))
                .unwrap_or(part);
            let part = part.split([';', '>', '|']).next().unwrap_or_default();
            part.starts_with("evalreport ")
                .then(|| part.trim_end().to_owned())
        })
        .collect()
}

/// What a sentence says in place of any command or format.
const ANY: [(&str, &str); 3] = [
    ("evalreport COMMAND", "evalreport list"),
    ("export FORMAT", "export json"),
    ("SHELL", "bash"),
];

/// The commands within sentences and tables.
pub fn inline(text: &str) -> Vec<String> {
    let mut is_open = false;
    let prose = text.lines().filter(|line| {
        let is_fence = line.trim_start().starts_with("```");
        is_open ^= is_fence;
        !is_open && !is_fence
    });
    let prose = prose.collect::<Vec<_>>().join("\n");
    let code = prose
        .split("\n\n")
        .flat_map(|paragraph| paragraph.split('`').skip(1).step_by(2));
    let code = code.map(|code| code.replace(['\n', '…'], " ").replace("\\|", "|"));
    let code = code.map(|code| {
        ANY.iter()
            .fold(code, |code, (any, one)| code.replace(any, one))
    });
    code.filter(|code| code.starts_with("evalreport "))
        .collect()
}
