//! `mcp`: answers an agent's questions about results, as a server of the Model Context Protocol on standard input and output. Each call is a
//! command of this program, so that an agent reads what a person reads.

use std::collections::BTreeMap;
use std::env;
use std::ffi::OsString;
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, Implementation,
    ListToolsResult, PaginatedRequestParams, ServerCapabilities, Tool, ToolAnnotations,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler, serve_server};

use crate::process::{ProgramCommand, ProgramExit, ProgramLimits, StopSignal, run_program};

use super::command::{Command, Example, Invocation};
use super::exit_code;
use super::failure::CommandFailure;
use super::mcp_tools::{McpTool, TOOLS};
use super::options::Global;

/// Longest answer in characters. A reader of the protocol pays for each.
const MAX_ANSWER_CHARS: usize = 12_000;
/// Longest time of a call.
const MAX_CALL_TIME: Duration = Duration::from_mins(2);
/// What the server says of itself when an agent connects.
const INSTRUCTIONS: &str = "Results of evaluations of AI agents, models and prompts, with statistics. Begin with `list`, then `compare` a suite. \
    A difference counts only if the answer says `wins` or names evidence; `open`, `not enough evidence` and `inconclusive` mean that nobody knows yet, \
    not that arms are equal. All tools read; none changes or runs anything.";

/// Answer an agent's questions by the Model Context Protocol
#[derive(Args)]
pub(super) struct McpArguments {}

impl Command for McpArguments {
    const NAME: &'static str = "mcp";
    const EXAMPLES: [Example; 2] = [
        (
            "evalreport mcp < /dev/null",
            "what an agent's program starts; it ends with its input",
        ),
        (
            "evalreport mcp --results results < /dev/null",
            "for results that lie elsewhere",
        ),
    ];

    fn run(&self, invocation: &Invocation<'_>) -> Result<u8, CommandFailure> {
        serve(invocation.global)
    }
}

fn serve(global: &Global) -> Result<u8, CommandFailure> {
    let failed = |what: String| CommandFailure::new(format!("cannot serve: {what}"));
    let server = ResultsServer {
        program: env::current_exe()
            .map_err(|error| failed(error.to_string()))?
            .into(),
        options: Arc::new(global_words(global)),
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| failed(error.to_string()))?;
    runtime.block_on(async {
        match serve_server(server, rmcp::transport::stdio()).await {
            Ok(running) => running
                .waiting()
                .await
                .map(|_| ())
                .map_err(|error| failed(error.to_string())),
            // An agent that says nothing and goes away asked for nothing.
            Err(rmcp::service::ServerInitializeError::ConnectionClosed(_)) => Ok(()),
            Err(error) => Err(failed(error.to_string())),
        }
    })?;
    // A read of standard input cannot be interrupted, and nothing else is left to do.
    runtime.shutdown_background();
    Ok(exit_code::DONE)
}

/// Returns the options that say where results are, for the commands of the calls.
fn global_words(global: &Global) -> Vec<OsString> {
    let option = |name: &str, value: &std::ffi::OsStr| {
        let mut word = OsString::from(format!("--{name}="));
        word.push(value);
        word
    };
    let paths = |name: &'static str, paths: &[std::path::PathBuf]| {
        paths
            .iter()
            .map(|path| option(name, path.as_os_str()))
            .collect::<Vec<_>>()
    };
    [
        paths("config", global.config.as_slice()),
        paths("results", &global.results),
        paths("cache", global.cache.as_slice()),
        global
            .pool
            .iter()
            .map(|setting| option("pool", setting.as_ref()))
            .collect(),
    ]
    .concat()
}

#[derive(Clone)]
struct ResultsServer {
    program: OsString,
    options: Arc<Vec<OsString>>,
}

impl ResultsServer {
    /// Runs the command of a call, and returns what it printed.
    fn answer(&self, words: &[String]) -> CallToolResult {
        let is_help = words.first().is_some_and(|word| word == "help");
        let format: &[&str] = if is_help {
            &[]
        } else {
            &["--format=markdown", "--quiet"]
        };
        let argv = [self.program.clone()]
            .into_iter()
            .chain(self.options.iter().cloned())
            .chain(format.iter().map(OsString::from))
            .chain(["--color=never".into()])
            .chain(words.iter().map(OsString::from))
            .collect();
        let command = ProgramCommand {
            argv,
            cwd: ".".into(),
            env: BTreeMap::new(),
            input: Vec::new(),
            limits: ProgramLimits {
                wall: Some(MAX_CALL_TIME),
                ..ProgramLimits::default()
            },
            confinement: None,
        };
        let error = |text: String| CallToolResult::error(vec![ContentBlock::text(text)]);
        let finished = match run_program(&command, &StopSignal::new()) {
            Ok(finished) => finished,
            Err(failure) => return error(format!("cannot start evalreport: {failure}")),
        };
        let told = finished.stderr.text();
        match finished.end {
            ProgramExit::Exited(0 | 1 | 3) => {
                let text = cut_answer(finished.stdout.text().trim());
                CallToolResult::success(vec![ContentBlock::text(text)])
            }
            ProgramExit::Exited(_) => error(cut_answer(told.trim())),
            ProgramExit::TimedOut => error(format!(
                "no answer within {} s; ask for one suite",
                MAX_CALL_TIME.as_secs()
            )),
            ProgramExit::Signalled(_) | ProgramExit::Stopped => {
                error("evalreport was ended from outside".to_owned())
            }
        }
    }
}

impl ServerHandler for ResultsServer {
    fn get_info(&self) -> rmcp::model::ServerConfig {
        let mut info =
            rmcp::model::ServerConfig::new(ServerCapabilities::builder().enable_tools().build());
        info.server_info = Implementation::new("evalreport", env!("CARGO_PKG_VERSION"));
        info.instructions = Some(INSTRUCTIONS.to_owned());
        info
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(
            TOOLS.iter().map(describe_tool).collect(),
        ))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let Some(tool) = TOOLS.iter().find(|tool| tool.name == request.name) else {
            return Err(ErrorData::invalid_params(
                format!("there is no tool `{}`", request.name),
                None,
            ));
        };
        let words = match tool.command_words(&request.arguments.unwrap_or_default()) {
            Ok(words) => words,
            Err(problems) => {
                return Ok(CallToolResult::error(vec![ContentBlock::text(problems)]).into());
            }
        };
        let server = self.clone();
        tokio::task::spawn_blocking(move || server.answer(&words))
            .await
            .map(Into::into)
            .map_err(|error| ErrorData::internal_error(error.to_string(), None))
    }
}

fn describe_tool(tool: &McpTool) -> Tool {
    Tool::new(tool.name, tool.description, Arc::new(tool.input_schema()))
        .annotate(ToolAnnotations::new().read_only(true).open_world(false))
}

/// Cuts an answer at the end of a line, and says how much is missing.
fn cut_answer(text: &str) -> String {
    let Some((end, _)) = text.char_indices().nth(MAX_ANSWER_CHARS) else {
        return text.to_owned();
    };
    let kept = text[..end]
        .rfind('\n')
        .map_or(&text[..end], |end| &text[..end]);
    let missing = text[kept.len()..].trim_start().lines().count();
    format!("{kept}\n\n… {missing} more lines; ask for one suite, or for fewer arms.")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_answer_is_cut_at_a_line_and_says_so() {
        let long = "0123456789\n".repeat(2_000);
        let cut = cut_answer(long.trim());
        assert!(
            cut.len() < MAX_ANSWER_CHARS + 100 && cut.contains("9\n\n… "),
            "{}",
            &cut[cut.len() - 80..]
        );
        assert!(
            cut.ends_with("910 more lines; ask for one suite, or for fewer arms."),
            "{}",
            &cut[cut.len() - 80..]
        );
        assert_eq!(cut_answer("short"), "short");
    }
}
