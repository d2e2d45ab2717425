//! The command line.

use std::path::PathBuf;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::domain::Profile;
use crate::import::ForeignFormat;
use crate::publish::TranscriptChoice;
use crate::views::ItemChoice;

/// Exit codes, for the help and the man page.
const EXIT_CODES: &str = "Exit codes: 0 done; 1 done, with a negative answer (damage, a regression); 2 wrong arguments, configuration or data; \
                          3 inconclusive (gate: not enough evidence, or no baseline); 130 interrupted";

/// Compare AI agents: pass rates, costs, and whether the differences are real
#[derive(Parser)]
#[command(name = "evalreport", version, about, max_term_width = 120, propagate_version = true, disable_help_subcommand = true, after_help = EXIT_CODES)]
pub(super) struct Arguments {
    #[command(flatten)]
    pub global: Global,
    #[command(subcommand)]
    pub command: Command,
}

/// Options of every command.
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is an option that is given or not"
)]
#[derive(Args)]
pub(super) struct Global {
    /// Configuration file [default: evalreport.yaml here or in a folder above]
    #[arg(
        long,
        alias = "spec",
        global = true,
        value_name = "FILE",
        help_heading = "Global options"
    )]
    pub config: Option<PathBuf>,
    /// Results folder, or a lake as lake:DIR; repeatable: all are read, only the first folder is written to [default: results beside the configuration]
    #[arg(
        long,
        global = true,
        value_name = "DIR",
        help_heading = "Global options"
    )]
    pub results: Vec<PathBuf>,
    /// Cache folder; may be deleted at any time [default: .evalreport/cache beside the results]
    #[arg(
        long,
        global = true,
        value_name = "DIR",
        help_heading = "Global options"
    )]
    pub cache: Option<PathBuf>,
    /// Output format
    #[arg(long, global = true, value_enum, default_value_t = Format::Table, help_heading = "Global options")]
    pub format: Format,
    /// When to use colour; auto respects NO_COLOR
    #[arg(long, global = true, value_enum, default_value_t = Color::Auto, overrides_with = "no_color", help_heading = "Global options")]
    pub color: Color,
    /// Short for --color never
    #[arg(long, global = true, hide = true, overrides_with = "color")]
    pub no_color: bool,
    /// Print only the answer
    #[arg(long, short, global = true, help_heading = "Global options")]
    pub quiet: bool,
    /// Report steps and times on stderr; --quiet overrides this
    #[arg(long, short, global = true, help_heading = "Global options")]
    pub verbose: bool,
    /// Append every event with its time to a file, as JSON lines; the folder must exist
    #[arg(
        long,
        global = true,
        value_name = "FILE",
        help_heading = "Global options"
    )]
    pub log: Option<PathBuf>,
    /// Exit with 2 on unreadable files, contradictory runs, or comparability grade C or worse
    #[arg(long, global = true, help_heading = "Global options")]
    pub strict: bool,
    /// Count runs of one arm together although they differ in this setting, such as temperature
    #[arg(
        long,
        global = true,
        value_name = "SETTING",
        help_heading = "Global options"
    )]
    pub pool: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Format {
    Table,
    Json,
    Markdown,
    Csv,
    /// JUnit XML, for `gate` only
    Junit,
    /// JSON that also holds the table and the Markdown, for packages in other languages
    #[value(hide = true)]
    Full,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Color {
    Auto,
    Always,
    Never,
}

#[derive(Subcommand)]
pub(super) enum Command {
    /// Write a configuration, a suite and questions that run at once
    Init(Init),
    /// Run suites or configured tasks and store the results
    Run(Box<Run>),
    /// Ask agents the questions of a file
    Eval(Box<Eval>),
    /// Check whether a goal is met in a checkout
    Verify(Verify),
    /// List results, suites, agents and approaches
    List(List),
    /// Show everything about runs
    Show(Show),
    /// Re-judge stored runs, or measure judge agreement
    Judge(Box<Judge>),
    /// Compare arms on a suite
    Compare(Compare),
    /// Rank arms on each suite
    Leaderboard(Leaderboard),
    /// Show how much of a board's order is established
    Audit(Audit),
    /// Say where the noise of a suite's runs comes from
    Noise(Noise),
    /// Fit abilities of arms, strengths from votes on pairs, or time horizons
    Fit(Fit),
    /// Show trends, change points, broken and flaky items by day or commit
    History(History),
    /// Fail CI if new runs regress against a baseline
    Gate(Gate),
    /// Write the static site
    Build(Build),
    /// Build the site, serve it on this machine, and rebuild on changes
    Serve(Serve),
    /// Import other tools' results
    Import(Import),
    /// Record the outcomes of your own harness, line by line from standard input
    Record(Record),
    /// Hide runs, with a reason
    Retract(Retract),
    /// Query results, boards and comparisons in SQL
    Sql(Sql),
    /// Write tables or runs for other programs
    Export(Export),
    /// Check the results folder for damage
    Doctor(Doctor),
    /// Show or clear the cache, which makes commands faster
    Cache(Cache),
    /// Print shell completions or the man page
    Completions(Completions),
    /// Print the help of a command, or a page of the documentation
    Help(Help),
}

impl Command {
    /// Returns the command to carry out; `eval run` becomes `run`.
    pub fn resolve_alias(self) -> Self {
        match self {
            Self::Eval(mut eval) => match eval.of_ralph.take() {
                Some(EvalOfRalph::Run(run)) => Self::Run(run),
                Some(EvalOfRalph::Compare(compare)) => Self::Compare(*compare),
                Some(EvalOfRalph::List(list)) => Self::List(*list),
                Some(EvalOfRalph::Leaderboard(leaderboard)) => Self::Leaderboard(*leaderboard),
                None => Self::Eval(eval),
            },
            other => other,
        }
    }

    /// Returns the command's name.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Init(_) => "init",
            Self::Run(_) => "run",
            Self::Eval(_) => "eval",
            Self::Verify(_) => "verify",
            Self::List(_) => "list",
            Self::Show(_) => "show",
            Self::Judge(_) => "judge",
            Self::Compare(_) => "compare",
            Self::Leaderboard(_) => "leaderboard",
            Self::Audit(_) => "audit",
            Self::Noise(_) => "noise",
            Self::Fit(_) => "fit",
            Self::History(_) => "history",
            Self::Gate(_) => "gate",
            Self::Build(_) => "build",
            Self::Serve(_) => "serve",
            Self::Import(_) => "import",
            Self::Record(_) => "record",
            Self::Retract(_) => "retract",
            Self::Sql(_) => "sql",
            Self::Export(_) => "export",
            Self::Doctor(_) => "doctor",
            Self::Cache(_) => "cache",
            Self::Completions(_) => "completions",
            Self::Help(_) => "help",
        }
    }

    /// Returns whether the command makes a results folder that is not there, or does without.
    pub fn creates_results_folder(&self) -> bool {
        match self {
            Self::Run(run) => run.resume.is_none(),
            // The last two do not need any.
            Self::Eval(_)
            | Self::Import(_)
            | Self::Record(_)
            | Self::Cache(_)
            | Self::Verify(_) => true,
            _ => false,
        }
    }

    /// Returns whether the command works on a results folder itself, not on the runs that it holds.
    pub fn writes_results(&self) -> bool {
        match self {
            Self::Run(_)
            | Self::Eval(_)
            | Self::Judge(_)
            | Self::Import(_)
            | Self::Record(_)
            | Self::Retract(_)
            | Self::Doctor(_) => true,
            Self::Gate(gate) => gate.accept.is_some(),
            Self::Init(_)
            | Self::Verify(_)
            | Self::List(_)
            | Self::Show(_)
            | Self::Compare(_)
            | Self::Leaderboard(_)
            | Self::Audit(_)
            | Self::Noise(_)
            | Self::Fit(_)
            | Self::History(_)
            | Self::Build(_)
            | Self::Serve(_)
            | Self::Sql(_)
            | Self::Export(_)
            | Self::Cache(_)
            | Self::Completions(_)
            | Self::Help(_) => false,
        }
    }
}

/// Selection of runs.
#[derive(Args, Clone, Default)]
pub(super) struct Selection {
    /// Only runs of this suite; repeatable
    #[arg(long, value_name = "NAME", help_heading = "Selection")]
    pub suite: Vec<String>,
    /// Only runs of this approach; repeatable
    #[arg(
        long,
        value_name = "NAME",
        value_delimiter = ',',
        help_heading = "Selection"
    )]
    pub approach: Vec<String>,
    /// Only runs with this model; an alias or undated name selects its dated names too; repeatable
    #[arg(long, value_name = "NAME", help_heading = "Selection")]
    pub model: Vec<String>,
    /// Only runs with this tag; repeatable, all must match
    #[arg(long, value_name = "KEY=VALUE", help_heading = "Selection")]
    pub tag: Vec<String>,
    /// Only runs since this day or time; excludes runs of unknown time
    #[arg(long, value_name = "TIME", help_heading = "Selection")]
    pub since: Option<String>,
    /// Only runs of this batch
    #[arg(long, value_name = "ID", help_heading = "Selection")]
    pub batch: Option<String>,
}

/// How files are read that a command names.
#[derive(Args, Clone, Default)]
pub(super) struct OfFiles {
    /// Of files that are named: override a field of their runs, as in `import`: suite=NAME, approach=NAME, model=NAME. `--approach @file` makes each file an arm
    #[arg(long, value_name = "FIELD=VALUE", help_heading = "Files")]
    pub set: Vec<String>,
}

/// Settings of the tests, fixed before looking at the numbers.
#[derive(Args, Clone, Default)]
pub(super) struct Judging {
    /// Significance level [default: 0.05]
    #[arg(long, value_name = "CHANCE", help_heading = "Evidence")]
    pub alpha: Option<f64>,
    /// Largest unimportant difference, for example pass_rate=2pp or cost_usd=10%; repeatable
    #[arg(long, value_name = "METRIC=VALUE", help_heading = "Evidence")]
    pub margin: Vec<String>,
    /// Dependence of items: by recorded cluster, or none [default: cluster]
    #[arg(long, value_enum, value_name = "FIELD", help_heading = "Evidence")]
    pub cluster: Option<ClusterField>,
    /// Error rates of the judge on items whose truth is known, for example sensitivity=.93/200,specificity=.88/150: shares, with numbers of items
    #[arg(long, value_name = "RATES", help_heading = "Evidence")]
    pub judge_errors: Option<String>,
    /// Unit of sampling [default: by the kind of item]
    #[arg(long, value_enum, value_name = "UNIT", help_heading = "Evidence")]
    pub design: Option<JudgingDesign>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum ClusterField {
    Cluster,
    None,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum JudgingDesign {
    /// Generalise to similar items
    Items,
    /// Generalise to similar clusters of items
    Clusters,
    /// Generalise to new runs of this suite
    Runs,
    /// Compare independent samples, as the users of an A/B test are: nothing is paired
    Independent,
}

#[derive(Args)]
pub(super) struct Init {
    /// Folder to write to
    #[arg(value_name = "DIR", default_value = ".")]
    pub folder: PathBuf,
}

/// Options of `run` and `eval`.
#[derive(Args, Clone, Default)]
pub(super) struct Carrying {
    /// Model; commas separate several arms [default: the task's or the agent's own]
    #[arg(
        long,
        value_name = "NAME",
        value_delimiter = ',',
        help_heading = "What to run"
    )]
    pub model: Vec<String>,
    /// Fresh runs of each arm
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=100_000), help_heading = "What to run")]
    pub runs: u32,
    /// Shuffle the choices of questions by each run's seed
    #[arg(long, help_heading = "What to run")]
    pub shuffle: bool,
    /// Source of all seeds [default: random, recorded in the plan]
    #[arg(long, value_name = "NUMBER", help_heading = "What to run")]
    pub seed: Option<u64>,
    /// Tag for every run; repeatable
    #[arg(long, value_name = "KEY=VALUE", help_heading = "What to run")]
    pub tag: Vec<String>,
    /// Ask only the first N questions of each suite, as a suite of its own
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..), help_heading = "What to run")]
    pub limit: Option<u64>,
    /// Ask only these questions, as a suite of its own; `*` matches any text; repeatable
    #[arg(long, value_name = "PATTERN", help_heading = "What to run")]
    pub items: Vec<String>,
    /// Parallel jobs: questions of all arms together, or code runs [default: the task's own, else 1]
    #[arg(long, short, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024), help_heading = "How to run")]
    pub jobs: Option<u32>,
    /// Go on until the verdict on the arms is known, or until each pass rate is known within ±WIDTH, for example ci:5pp
    #[arg(long, value_name = "decided|ci:WIDTH", help_heading = "How to run")]
    pub until: Option<String>,
    /// With --until: repeat whole runs, this many per arm and task at most [default: 50, one run of chosen questions, or 5 of each of several tasks]
    #[arg(long, value_name = "N", requires = "until", value_parser = clap::value_parser!(u32).range(1..=100_000), help_heading = "How to run")]
    pub max_runs: Option<u32>,
    /// Start nothing more if agents would cost more dollars than this in all; --resume goes on with a larger purse
    #[arg(long, value_name = "USD", value_parser = parse_dollars, help_heading = "How to run")]
    pub max_cost: Option<f64>,
    /// Exit with 1 if an arm's pass rate is below this percentage
    #[arg(long, value_name = "PERCENT", help_heading = "How to run")]
    pub fail_under: Option<f64>,
    /// Print the plan and its likely cost, and run nothing
    #[arg(long, help_heading = "How to run")]
    pub dry_run: bool,
}

#[derive(Args)]
#[command(after_help = EXIT_CODES)]
pub(super) struct Run {
    /// Suites, configured tasks, or tasks with another agent [default: every configured task]
    #[arg(value_name = "SUITE|TASK[@AGENT]")]
    pub what: Vec<String>,
    /// Approach; commas separate several arms
    #[arg(
        long,
        value_name = "NAME",
        value_delimiter = ',',
        help_heading = "What to run"
    )]
    pub approach: Vec<String>,
    /// Agent for questions, and for approaches that ask an agent, such as `oneshot`; commas separate several arms
    #[arg(
        long,
        value_name = "ID",
        value_delimiter = ',',
        help_heading = "What to run"
    )]
    pub agent: Vec<String>,
    #[command(flatten)]
    pub carrying: Carrying,
    /// Resume an interrupted batch [default: the newest unfinished batch]
    #[arg(long, value_name = "BATCH", num_args = 0..=1, default_missing_value = "", conflicts_with_all = ["what", "approach", "agent", "model", "runs", "shuffle", "seed", "tag", "limit", "items", "until", "no_output"], help_heading = "How to run")]
    pub resume: Option<String>,
    /// Ask again what ended in an outage or never started, in a run that takes the place of the first, which stays on record [default: the newest batch]
    #[arg(long, value_name = "BATCH", num_args = 0..=1, default_missing_value = "", conflicts_with_all = ["resume", "what", "approach", "agent", "model", "runs", "shuffle", "seed", "tag", "limit", "items", "until", "no_output", "no_isolation"], help_heading = "How to run")]
    pub retry: Option<String>,
    /// Test the kept output of these runs again, without starting the approach
    #[arg(long, value_name = "ID", value_delimiter = ',', conflicts_with_all = ["resume", "retry", "what", "approach", "agent", "model", "runs", "shuffle", "seed", "tag", "limit", "items", "until", "no_output"], help_heading = "How to run")]
    pub retest: Vec<String>,
    /// Do not store generated files
    #[arg(long, help_heading = "How to run")]
    pub no_output: bool,
    /// Folder for workspaces, outside the repository [default: evalreport in the user's cache folder]
    #[arg(long, value_name = "DIR", help_heading = "How to run")]
    pub scratch: Option<PathBuf>,
    /// Let approaches and their code access everything that you can; for programs that need it
    #[arg(long, conflicts_with = "resume", help_heading = "How to run")]
    pub no_isolation: bool,
    /// Exit with 2 if another `run` uses this results folder
    #[arg(long, help_heading = "How to run")]
    pub exclusive: bool,
    /// Append date, batch, gate and comparison as Markdown to a file, for example a CI summary
    #[arg(long, value_name = "FILE", help_heading = "Afterwards")]
    pub summary: Option<PathBuf>,
    /// Write the static site
    #[arg(long, value_name = "DIR", help_heading = "Afterwards")]
    pub site: Option<PathBuf>,
    /// Check the new runs by the configured gate against this baseline, with the exit codes of `gate`
    #[arg(long, value_name = "BASELINE", help_heading = "Afterwards")]
    pub gate: Option<String>,
    /// Treat an inconclusive gate as a failure (exit code 1) or a pass (0) [default: the configuration's, else exit code 3]
    #[arg(
        long,
        value_enum,
        value_name = "AS",
        requires = "gate",
        help_heading = "Afterwards"
    )]
    pub on_inconclusive: Option<OnInconclusive>,
}

#[derive(Args)]
#[command(after_help = EXIT_CODES, args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub(super) struct Eval {
    /// Questions: YAML or JSON
    #[arg(value_name = "QUESTIONS", required = true)]
    pub questions: Option<PathBuf>,
    /// Configured agent; commas separate several arms [default: the configuration's]
    #[arg(
        long,
        value_name = "ID",
        value_delimiter = ',',
        help_heading = "What to run"
    )]
    pub agent: Vec<String>,
    /// Suite of the results [default: the file's name]
    #[arg(long, value_name = "NAME", help_heading = "What to run")]
    pub suite: Option<String>,
    #[command(flatten)]
    pub carrying: Carrying,
    /// Write results to DIR/results and the site to DIR/report
    #[arg(long, value_name = "DIR", help_heading = "Afterwards")]
    pub output_dir: Option<PathBuf>,
    #[command(subcommand)]
    pub of_ralph: Option<EvalOfRalph>,
}

/// The words of `ralph eval`, each of them a command here.
#[derive(Subcommand)]
#[command(disable_help_subcommand = true)]
pub(super) enum EvalOfRalph {
    /// Run suites or configured tasks, as `evalreport run`
    #[command(hide = true)]
    Run(Box<Run>),
    /// Compare arms on a suite, as `evalreport compare`
    #[command(hide = true)]
    Compare(Box<Compare>),
    /// List results, as `evalreport list`
    #[command(hide = true)]
    List(Box<List>),
    /// Rank arms on each suite, as `evalreport leaderboard`
    #[command(hide = true)]
    Leaderboard(Box<Leaderboard>),
}

#[derive(Args)]
pub(super) struct Record {
    /// Suite of the run
    #[arg(
        long,
        value_name = "NAME",
        required_unless_present = "resume",
        help_heading = "Run"
    )]
    pub suite: Option<String>,
    /// Approach of the run
    #[arg(
        long,
        value_name = "NAME",
        required_unless_present = "resume",
        help_heading = "Run"
    )]
    pub approach: Option<String>,
    /// Model of the run [default: none]
    #[arg(long, value_name = "NAME", help_heading = "Run")]
    pub model: Option<String>,
    /// Id of the run [default: a new one, which sorts by time]
    #[arg(long, value_name = "ID", help_heading = "Run")]
    pub id: Option<String>,
    /// Batch of the run, shared by runs that belong together
    #[arg(long, value_name = "ID", help_heading = "Run")]
    pub batch: Option<String>,
    /// Number of the run within its arm and batch, from 1
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..), help_heading = "Run")]
    pub run_index: Option<u32>,
    /// Seed of the run
    #[arg(long, value_name = "NUMBER", help_heading = "Run")]
    pub seed: Option<u64>,
    /// Version of the suite; runs of different versions never share a table
    #[arg(long, value_name = "TEXT", help_heading = "Run")]
    pub suite_version: Option<String>,
    /// Name of the agent
    #[arg(long, value_name = "NAME", help_heading = "Run")]
    pub agent: Option<String>,
    /// Tag of the run; repeatable
    #[arg(long, value_name = "KEY=VALUE", help_heading = "Run")]
    pub tag: Vec<String>,
    /// Resume an abandoned recording: its run id, or at least the first four characters
    #[arg(long, value_name = "ID", conflicts_with_all = ["suite", "approach", "model", "id", "batch", "run_index", "seed", "suite_version", "agent", "tag"], help_heading = "Run")]
    pub resume: Option<String>,
    /// Kind of items that do not name one: question, task, test, criterion or check
    #[arg(
        long,
        value_name = "KIND",
        default_value = "question",
        help_heading = "Items"
    )]
    pub kind: String,
    /// Evaluator of items that do not name one
    #[arg(
        long,
        value_name = "NAME",
        default_value = "answers",
        help_heading = "Items"
    )]
    pub evaluator: String,
}

#[derive(Args)]
pub(super) struct List {
    /// Suites, or paths such as ./logs to other tools' results, of which only the runs there are listed [default: all suites]
    #[arg(value_name = "SUITE|PATH")]
    pub suites: Vec<String>,
    /// List runs instead of suites
    #[arg(long)]
    pub runs: bool,
    #[command(flatten)]
    pub selection: Selection,
}

#[derive(Args)]
pub(super) struct Show {
    /// Run ids, or at least their first four characters; `last` is the newest run; or paths such as ./logs to other tools' results
    #[arg(value_name = "ID|PATH")]
    pub ids: Vec<String>,
    /// Items to show: all, failed, or a number (failures first) [default: 20; all as JSON and CSV]
    #[arg(long, value_name = "all|failed|N")]
    pub items: Option<ItemChoice>,
    #[command(flatten)]
    pub selection: Selection,
}

#[expect(
    clippy::struct_excessive_bools,
    reason = "each is an option that is given or not"
)]
#[derive(Args)]
#[command(after_help = EXIT_CODES)]
pub(super) struct Judge {
    /// Run ids, or at least their first four characters; `last` is the newest run
    #[arg(value_name = "ID")]
    pub ids: Vec<String>,
    /// Configured agent that judges [default: the configuration's `judge`]; with --agreement or --against, a judge of the stored runs
    #[arg(long = "judge", value_name = "AGENT", help_heading = "Judge")]
    pub agent: Option<String>,
    /// Model of the judge [default: the configuration's]
    #[arg(long = "judge-model", value_name = "NAME", help_heading = "Judge")]
    pub model_of_agent: Option<String>,
    /// Number of votes per question; the majority decides
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=99), help_heading = "Judge")]
    pub votes: Option<u64>,
    /// Fail the criteria of an unreadable reply instead of leaving them undecided
    #[arg(long = "strict-judge", help_heading = "Judge")]
    pub is_strict: bool,
    /// Runs to judge in parallel [default: 1]
    #[arg(long, short, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024), conflicts_with_all = ["agreement", "against"], help_heading = "Judge")]
    pub jobs: Option<u32>,
    /// Only undecided criteria; asks again about all criteria of a run if another judge decided the rest
    #[arg(long, help_heading = "What to judge")]
    pub retry: bool,
    /// List the runs that would be judged, and ask no judge
    #[arg(long, help_heading = "What to judge")]
    pub dry_run: bool,
    /// Compare the judge with people: by their imported labels, or by a CSV file with run, item, label and, for several people, rater
    #[arg(long, value_name = "LABELS", num_args = 0..=1, conflicts_with_all = ["retry", "dry_run", "probe", "against", "votes", "is_strict", "model_of_agent"], help_heading = "Trust")]
    #[expect(clippy::option_option, reason = "an option whose value may be omitted")]
    pub agreement: Option<Option<PathBuf>>,
    /// List about N items to label next, drawn where labels narrow the intervals of judged figures most [default: 50]
    #[arg(long, value_name = "N", num_args = 0..=1, default_missing_value = "50", value_parser = clap::value_parser!(u64).range(1..=100_000), conflicts_with_all = ["retry", "dry_run", "probe", "agreement", "against", "votes", "is_strict", "model_of_agent"], help_heading = "Trust")]
    pub next: Option<u64>,
    /// Compare the newest judge of the runs with this other judge of the same runs
    #[arg(long, value_name = "JUDGE", conflicts_with_all = ["retry", "dry_run", "probe", "votes", "is_strict", "model_of_agent"], help_heading = "Trust")]
    pub against: Option<String>,
    /// Ask again with criteria in reverse order, list changed decisions, and store nothing
    #[arg(long, conflicts_with_all = ["retry", "dry_run"], help_heading = "Trust")]
    pub probe: bool,
    #[command(flatten)]
    pub selection: Selection,
}

#[derive(Args)]
pub(super) struct Compare {
    /// Suites, run ids, `last` for the newest batch, or paths such as ./logs to other tools' results [default: every suite with at least two arms]
    #[arg(value_name = "SUITE|ID|PATH")]
    pub what: Vec<String>,
    /// Result files to compare, instead of stored runs
    #[arg(
        long,
        value_name = "FILE,FILE",
        value_delimiter = ',',
        conflicts_with = "what"
    )]
    pub files: Vec<PathBuf>,
    /// Compare each arm with its baseline: a store, bundle, result file, run, last:K, tag KEY=VALUE or git revision
    #[arg(long, value_name = "WHAT")]
    pub baseline: Option<String>,
    /// Take only each arm's newest batch [default: all its runs since the newest change point of a pass rate]
    #[arg(long)]
    pub newest_batch: bool,
    /// Explain the table: intervals, methods, planning figures, other tests, unmeasured figures
    #[arg(long)]
    pub explain: bool,
    /// List the items that only one of two arms passed
    #[arg(long)]
    pub flips: bool,
    #[command(flatten)]
    pub judging: Judging,
    #[command(flatten)]
    pub engine: Engine,
    #[command(flatten)]
    pub of_files: OfFiles,
    #[command(flatten)]
    pub selection: Selection,
}

#[derive(Args)]
#[command(after_help = EXIT_CODES)]
pub(super) struct Gate {
    /// Suites [default: all], or paths such as new/*.xml to other tools' results, which are then the only new runs
    #[arg(value_name = "SUITE|PATH")]
    pub suites: Vec<String>,
    /// Baseline: a store, bundle, result file, other tools' results, run, last:K, tag KEY=VALUE or git revision
    #[arg(long, value_name = "WHAT")]
    pub baseline: Option<String>,
    /// Metric of --max-drop and --max-rise [default: pass_rate]
    #[arg(long, value_name = "NAME", help_heading = "Rules")]
    pub metric: Option<String>,
    /// Largest allowed fall of the metric, for example 2pp; for time, tokens and money in percent
    #[arg(long, value_name = "AMOUNT", help_heading = "Rules")]
    pub max_drop: Option<String>,
    /// Largest allowed rise of the metric
    #[arg(long, value_name = "AMOUNT", help_heading = "Rules")]
    pub max_rise: Option<String>,
    /// Largest allowed rise of the cost, for example +10%
    #[arg(long, value_name = "PERCENT", help_heading = "Rules")]
    pub max_cost: Option<String>,
    /// Item that must pass, with all parametrised cases; `*` matches any text; repeatable
    #[arg(long, value_name = "ITEM", help_heading = "Rules")]
    pub must_pass: Vec<String>,
    /// Fail if an item fails that always passed in the baseline
    #[arg(long, help_heading = "Rules")]
    pub no_new_failures: bool,
    /// Accept the open regressions of the selected suites and arms, and why: their level is the new baseline; needs --baseline last:K
    #[arg(long, value_name = "REASON", conflicts_with_all = ["plan", "decide", "junit", "markdown"])]
    pub accept: Option<String>,
    /// Accept that items of the baseline are gone, because somebody removed them on purpose; no excuse for skipped ones
    #[arg(long, help_heading = "Rules")]
    pub allow_removed: bool,
    /// Share of the baseline's items that may have no outcome, for example 5% [default: none]
    #[arg(long, value_name = "SHARE", help_heading = "Rules")]
    pub max_missing: Option<String>,
    /// Treat an inconclusive result as a failure (exit code 1) or a pass (0) [default: the configuration's, else exit code 3]
    #[arg(long, value_enum, value_name = "AS", help_heading = "Rules")]
    pub on_inconclusive: Option<OnInconclusive>,
    #[command(flatten)]
    pub instead: Instead,
    /// Also write JUnit XML to a file
    #[arg(long, value_name = "FILE", conflicts_with_all = ["plan", "decide"])]
    pub junit: Option<PathBuf>,
    /// Also write the comment of a pull request to a file, as Markdown
    #[arg(long, value_name = "FILE", conflicts_with_all = ["plan", "decide"])]
    pub markdown: Option<PathBuf>,
    /// Take only each arm's newest batch [default: all its runs on the suite's version]
    #[arg(long)]
    pub newest_batch: bool,
    #[command(flatten)]
    pub judging: Judging,
    #[command(flatten)]
    pub engine: Engine,
    #[command(flatten)]
    pub of_files: OfFiles,
    #[command(flatten)]
    pub selection: Selection,
}

/// Results that an engine holds, or that it exported.
#[expect(
    clippy::struct_field_names,
    reason = "the fields are the names of options"
)]
#[derive(Args, Default)]
pub(super) struct Engine {
    /// Read the runs of a lake through an Arrow Flight SQL server: grpc://HOST:PORT or grpc+tls://HOST:PORT; EVALREPORT_ENGINE_TOKEN holds its token
    #[arg(long, value_name = "URL", help_heading = "Engine")]
    pub engine: Option<String>,
    /// Longest wait for the engine's next rows, in seconds
    #[arg(
        long,
        value_name = "SECONDS",
        default_value_t = 120.0,
        requires = "engine",
        help_heading = "Engine"
    )]
    pub engine_timeout: f64,
    /// Longest time for all of the engine's answers together, in seconds
    #[arg(
        long,
        value_name = "SECONDS",
        default_value_t = 3600.0,
        requires = "engine",
        help_heading = "Engine"
    )]
    pub engine_time_limit: f64,
    /// A table of counts that an engine exported with queries/counts.sql: CSV, Parquet and others; repeatable
    #[arg(
        long,
        value_name = "FILE",
        conflicts_with = "engine",
        help_heading = "Engine"
    )]
    pub from_counts: Vec<PathBuf>,
}

/// Modes of `gate` without rules.
#[derive(Args, Default)]
pub(super) struct Instead {
    /// Only estimate how often these rules raise false alarms and detect drops of 2, 5 and 10 pp
    #[arg(long, conflicts_with = "decide")]
    pub plan: bool,
    /// Decide between new runs and baseline by quality, cost and time; exit code 0 ship, 1 keep, 3 open
    #[arg(long)]
    pub decide: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum OnInconclusive {
    Fail,
    Pass,
}

#[derive(Args)]
pub(super) struct Leaderboard {
    /// Suites, or paths such as ./logs to other tools' results [default: all suites]
    #[arg(value_name = "SUITE|PATH")]
    pub suites: Vec<String>,
    /// Order of arms, best first
    #[arg(long, value_enum, default_value_t = Sort::Primary)]
    pub sort: Sort,
    /// One board over all suites: the mean of suite rates (macro), or all items together (micro)
    #[arg(long, value_enum, value_name = "MEAN")]
    pub overall: Option<Mean>,
    /// Weight of a suite in the macro mean, 1 unless given; repeatable
    #[arg(long, value_name = "SUITE=WEIGHT", requires = "overall", value_parser = parse_weight)]
    pub weight: Vec<(String, f64)>,
    /// With --overall macro: a table of scores instead of suites, with a row for each system and a column for each suite
    #[arg(
        long,
        value_name = "FILE",
        requires = "overall",
        conflicts_with = "suites"
    )]
    pub matrix: Option<PathBuf>,
    /// Take only each arm's newest batch [default: all its runs since the newest change point of a pass rate]
    #[arg(long, conflicts_with = "matrix")]
    pub newest_batch: bool,
    /// Show how often each arm ranks first in bootstrap samples of the items; decides nothing
    #[arg(long, alias = "p-best", help_heading = "Evidence")]
    pub resample: bool,
    #[command(flatten)]
    pub judging: Judging,
    #[command(flatten)]
    pub engine: Engine,
    #[command(flatten)]
    pub of_files: OfFiles,
    #[command(flatten)]
    pub selection: Selection,
}

/// Reads an amount of money, such as `2.50` or `$2.50`.
fn parse_dollars(text: &str) -> Result<f64, String> {
    let amount = text
        .trim()
        .trim_start_matches('$')
        .parse::<f64>()
        .ok()
        .filter(|amount| amount.is_finite() && *amount > 0.0);
    amount.ok_or_else(|| "write an amount in dollars, such as 2.50".to_owned())
}

/// Parses `suite=2`.
fn parse_weight(text: &str) -> Result<(String, f64), String> {
    let (suite, weight) = text
        .rsplit_once('=')
        .ok_or("write SUITE=WEIGHT, for example basics=2")?;
    let weight: f64 = weight
        .trim()
        .parse()
        .map_err(|_| format!("`{weight}` is no number"))?;
    if weight > 0.0 && weight.is_finite() {
        Ok((suite.to_owned(), weight))
    } else {
        Err("a weight is above 0".to_owned())
    }
}

#[derive(Args)]
pub(super) struct Audit {
    /// Suites, or paths such as ./logs to other tools' results [default: all suites]
    #[arg(value_name = "SUITE|PATH")]
    pub suites: Vec<String>,
    /// A table of scores from -1 to 1: a row for each system, named in the first column, and a column for each item; repeatable
    #[arg(long, value_name = "FILE")]
    pub matrix: Vec<PathBuf>,
    /// Instead, check a table of published figures against itself: counts, totals, intervals, repeated rows, first places; repeatable
    #[arg(long, value_name = "FILE", conflicts_with_all = ["suites", "matrix"])]
    pub claims: Vec<PathBuf>,
    /// Exit with 1 if a finding is this bad or worse
    #[arg(long, value_name = "SEVERITY", requires = "claims")]
    pub fail_on: Option<FailOn>,
    #[command(flatten)]
    pub of_files: OfFiles,
    #[command(flatten)]
    pub selection: Selection,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum FailOn {
    /// No data could give the figure
    Impossible,
    /// Two figures exclude each other
    Contradictory,
    /// The figures do not show it
    NotEstablished,
}

#[derive(Args)]
pub(super) struct Noise {
    /// Suites, or paths such as ./logs to other tools' results [default: all suites]
    #[arg(value_name = "SUITE|PATH")]
    pub suites: Vec<String>,
    #[command(flatten)]
    pub judging: Judging,
    #[command(flatten)]
    pub of_files: OfFiles,
    #[command(flatten)]
    pub selection: Selection,
}

#[derive(Args)]
pub(super) struct Fit {
    #[command(subcommand)]
    pub model: Model,
}

#[derive(Subcommand)]
pub(super) enum Model {
    /// Abilities of arms that were asked different items, their expected rates on all items, and the items' difficulties
    Abilities(Abilities),
    /// Strengths of arms from votes on pairs of them (Bradley and Terry), with ranks that hold
    Preferences(Preferences),
    /// How long tasks take people that an arm does half of the time, and 8 of 10 times
    Horizons(Horizons),
}

#[derive(Args)]
pub(super) struct Abilities {
    /// Suites, or paths such as ./logs to other tools' results [default: all suites]
    #[arg(value_name = "SUITE|PATH")]
    pub suites: Vec<String>,
    /// A table of scores from 0 to 1: a row for each arm, named in the first column, and a column for each item; an empty cell if the arm was
    /// not asked; repeatable
    #[arg(long, value_name = "FILE")]
    pub matrix: Vec<PathBuf>,
    /// Print the items instead: difficulty, discrimination, and whether worse arms pass them rather than better ones
    #[arg(long)]
    pub items: bool,
    #[command(flatten)]
    pub of_files: OfFiles,
    #[command(flatten)]
    pub selection: Selection,
}

#[derive(Args)]
pub(super) struct Preferences {
    /// Tables of votes with the columns model_a, model_b and winner: model_a, model_b or tie
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,
    /// Another name of a column, for example winner=better; first, second, winner, voter or prompt; repeatable
    #[arg(long, value_name = "COLUMN=NAME")]
    pub column: Vec<String>,
    /// Compare at equal style: two columns of amounts, for example `words` for words_a and words_b, or 'n_*_words'; repeatable
    #[arg(long, value_name = "NAME")]
    pub style: Vec<String>,
    /// Take a tie as half a win for each arm, or as an outcome of its own
    #[arg(long, value_enum, default_value_t = TiesAre::HalfWins)]
    pub ties: TiesAre,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum TiesAre {
    HalfWins,
    Davidson,
}

#[derive(Args)]
pub(super) struct Horizons {
    /// Suites, or paths such as ./runs.jsonl to other tools' results [default: all suites with human times]
    #[arg(value_name = "SUITE|PATH")]
    pub suites: Vec<String>,
    #[command(flatten)]
    pub of_files: OfFiles,
    #[command(flatten)]
    pub selection: Selection,
}

#[derive(Args)]
pub(super) struct History {
    /// Suites, or paths such as ./logs to other tools' results [default: all suites]
    #[arg(value_name = "SUITE|PATH")]
    pub suites: Vec<String>,
    /// Number of newest days or commits to show for each arm
    #[arg(long, value_name = "N", default_value_t = 30)]
    pub nights: usize,
    /// Points of the history: days, or commits in the order of the repository here
    #[arg(long, value_enum, default_value_t = HistoryBy::Day)]
    pub by: HistoryBy,
    #[command(flatten)]
    pub judging: Judging,
    #[command(flatten)]
    pub engine: Engine,
    #[command(flatten)]
    pub of_files: OfFiles,
    #[command(flatten)]
    pub selection: Selection,
}

/// What a point of a history is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum HistoryBy {
    Day,
    Commit,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Sort {
    /// The primary metric: the pass rate, unless the suite has another
    Primary,
    PassRate,
    Cost,
    CostPerSolved,
    Tokens,
    Duration,
    Approach,
    Model,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Mean {
    Macro,
    Micro,
}

#[derive(Args)]
pub(super) struct Build {
    /// Other tools' results to show beside the stored runs; read through the cache, not stored
    #[arg(value_name = "PATH")]
    pub paths: Vec<PathBuf>,
    /// Folder of the site: empty, new, or an earlier site
    #[arg(long, short, value_name = "DIR", default_value = "site")]
    pub out: PathBuf,
    /// Replace a site that shows runs by one without any
    #[arg(long)]
    pub allow_empty: bool,
    #[command(flatten)]
    pub publishing: Publishing,
    #[command(flatten)]
    pub of_files: OfFiles,
    #[command(flatten)]
    pub selection: Selection,
}

/// Options of a published site.
#[derive(Args, Clone, Default)]
pub(super) struct Publishing {
    /// Write overview, suites and comparisons into one HTML file instead of a folder
    #[arg(long, value_name = "FILE", help_heading = "Publishing")]
    pub single_file: Option<PathBuf>,
    /// Address of the published site, for absolute links [default: site.base_url of the configuration]
    #[arg(long, value_name = "URL", help_heading = "Publishing")]
    pub base_url: Option<String>,
    /// Ask search engines not to list the site
    #[arg(long, help_heading = "Publishing")]
    pub noindex: bool,
    /// Remove keys, tokens, passwords, e-mail addresses and user names from every text, and count them
    #[arg(long, help_heading = "Publishing")]
    pub redact: bool,

    /// Do not include the results file that `import` reads back
    #[arg(long)]
    pub without_results: bool,
    /// Transcripts to show: usual (failing, disagreeing and some passing), all, failing, disagreeing, none, or budget:SIZE
    #[arg(
        long,
        value_name = "WHICH",
        default_value = "usual",
        help_heading = "Publishing"
    )]
    pub transcripts: TranscriptChoice,
}

#[derive(Args)]
pub(super) struct Serve {
    /// Other tools' results to show beside the stored runs; read through the cache, not stored
    #[arg(value_name = "PATH")]
    pub paths: Vec<PathBuf>,
    /// Folder to build the site in [default: a temporary one]
    #[arg(long, short, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Port to listen on; 0 means any free port
    #[arg(long, value_name = "N", default_value_t = 8000)]
    pub port: u16,
    #[command(flatten)]
    pub publishing: Publishing,
    #[command(flatten)]
    pub of_files: OfFiles,
    #[command(flatten)]
    pub selection: Selection,
}

#[derive(Args)]
pub(super) struct Import {
    /// Other tools' results, bundles, tables, or folders of them
    #[arg(value_name = "PATH", required = true)]
    pub files: Vec<PathBuf>,
    /// Format of the files [default: detected by content; with --map a table]
    #[arg(id = "import_as", long = "as", value_name = "FORMAT", value_parser = import_format_parser())]
    pub kind: Option<ImportAs>,
    /// Map from a table's columns to fields; see `evalreport help import/tables`. Without it, a map is proposed
    #[arg(long, value_name = "MAP")]
    pub map: Option<PathBuf>,
    /// Override a field of the run: suite=NAME, approach=NAME, model=NAME; for tables also suite_version, agent and tags.NAME
    #[arg(long, value_name = "FIELD=VALUE")]
    pub set: Vec<String>,
    /// Accept only bundles with a signature FILE.sig by one of these signers, listed as for `ssh-keygen -Y verify`
    #[arg(long, value_name = "ALLOWED_SIGNERS", conflicts_with_all = ["map", "set"])]
    pub signed_by: Option<PathBuf>,
    /// Read known files again: differing runs are replaced, retracted runs return
    #[arg(long, conflicts_with = "signed_by")]
    pub again: bool,
    /// Show what would be imported, and write nothing
    #[arg(long)]
    pub dry_run: bool,
    #[command(flatten)]
    pub table: Table,
}

/// Options for tables without a map.
#[derive(Args)]
#[command(next_help_heading = "Tables without a map")]
pub(super) struct Table {
    /// Import a table as proposed, without asking
    #[arg(long)]
    pub yes: bool,
    /// Write the proposed map to a file, to edit and use with --map
    #[arg(long, value_name = "FILE")]
    pub write_map: Option<PathBuf>,
    /// Column of the approach
    #[arg(long, value_name = "COLUMN")]
    pub approach: Option<String>,
    /// Column of the model
    #[arg(long, value_name = "COLUMN")]
    pub model: Option<String>,
    /// Column of the suite
    #[arg(long, value_name = "COLUMN")]
    pub suite: Option<String>,
    /// Column of the item: the task or question
    #[arg(long, value_name = "COLUMN")]
    pub item: Option<String>,
    /// Column of the outcome: passed or failed
    #[arg(long, value_name = "COLUMN")]
    pub passed: Option<String>,
    /// Column of the item's score, if no column says whether it passed
    #[arg(long, value_name = "COLUMN", conflicts_with = "passed")]
    pub score: Option<String>,
    /// Better end of the score's scale: up if more is better
    #[arg(long, value_name = "END")]
    pub direction: Option<End>,
    /// Column of the attempt number
    #[arg(long, value_name = "COLUMN")]
    pub attempt: Option<String>,
    /// Column of the evaluator: the judge or grader of the outcome
    #[arg(long, value_name = "COLUMN")]
    pub evaluator: Option<String>,
    /// Meaning of columns side by side
    #[arg(long, value_name = "WHAT")]
    pub wide: Option<Wide>,
    /// Meaning of a word in the source, for example partial=fail
    #[arg(long = "value", value_name = "WORD=STATUS", allow_hyphen_values = true)]
    pub values: Vec<String>,
    /// Decimal mark of numbers
    #[arg(long, value_name = "MARK")]
    pub decimal: Option<Mark>,
    /// Sheet of a workbook
    #[arg(long, value_name = "NAME")]
    pub sheet: Option<String>,
    /// Path of the rows in a document, for example runs[].results
    #[arg(long, value_name = "PATH")]
    pub list: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum Wide {
    Approaches,
    Items,
    Suites,
    Attempts,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum End {
    Up,
    Down,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum Mark {
    Comma,
    Point,
}

/// Format of imported files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ImportAs {
    /// Rows of columns that a map explains
    Table,
    /// Trees of weighted requirements with their grades
    Rubric,
    /// Runs of another store
    Bundle,
    /// Results in another tool's format
    Foreign(ForeignFormat),
}

impl ImportAs {
    /// Returns the value of `--as`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Table => "table",
            Self::Rubric => "rubric",
            Self::Bundle => "bundle",
            Self::Foreign(format) => format.name(),
        }
    }

    fn from_name(name: &str) -> Option<Self> {
        let own = [Self::Table, Self::Rubric, Self::Bundle]
            .into_iter()
            .find(|own| own.name() == name);
        own.or_else(|| ForeignFormat::from_name(name).map(Self::Foreign))
    }
}

fn import_format_parser() -> impl TypedValueParser<Value = ImportAs> {
    let formats =
        ForeignFormat::all().map(|format| PossibleValue::new(format.name()).help(format.title()));
    let own = [
        PossibleValue::new("table").help("Rows of columns that a map explains"),
        PossibleValue::new("rubric").help("Trees of weighted requirements with their grades"),
        PossibleValue::new("bundle").help("Runs of another store, as `export bundle` writes them"),
    ];
    PossibleValuesParser::new(own.into_iter().chain(formats)).map(|name| {
        ImportAs::from_name(&name).expect("every name that is taken is one of a format")
    })
}

#[derive(Args)]
pub(super) struct Retract {
    /// Run ids, or at least their first four characters; `last` is the newest run
    #[arg(value_name = "ID")]
    pub ids: Vec<String>,
    /// Reason; shown with the number of retracted runs
    #[arg(long, value_name = "TEXT", required_unless_present = "undo")]
    pub reason: Option<String>,
    /// Show the runs of this selector again
    #[arg(long)]
    pub undo: bool,
    #[command(flatten)]
    pub selection: Selection,
}

#[derive(Args)]
pub(super) struct Sql {
    /// A SELECT over the tables runs, items, scores, usage, arms and metrics
    #[arg(value_name = "QUERY")]
    pub query: String,
    /// Time limit of the query in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 60, value_parser = clap::value_parser!(u32).range(1..=86_400))]
    pub timeout: u32,
    /// Memory limit of the query, on Linux [default: 4096, or half of the free memory]
    #[arg(long, value_name = "MIB")]
    pub memory: Option<u64>,
}

#[derive(Args)]
pub(super) struct Export {
    /// Format
    // The id differs from `format`, which is the global option.
    #[arg(id = "file_format", value_enum, value_name = "FORMAT")]
    pub format: ExportAs,
    /// File to write for junit, json and bundle; a folder for parquet, csv, lake and eee; for ctrf a folder, or a .json file for one run
    #[arg(value_name = "DIR|FILE")]
    pub path: PathBuf,
    /// Bundle without messages and generated files, enough for figures and baselines
    #[arg(long)]
    pub slim: bool,
    /// Sign the bundle with this OpenSSH private key (Ed25519, without a passphrase), into FILE.sig
    #[arg(long, value_name = "KEY")]
    pub sign_key: Option<PathBuf>,
    #[command(flatten)]
    pub selection: Selection,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum ExportAs {
    /// The tables runs, items, scores and usage, one file each
    Parquet,
    /// The four tables as CSV
    Csv,
    /// A lake that grows: Delta Lake tables in a folder, to which each export adds what is new; read with --results lake:DIR
    Lake,
    /// Runs and their outcomes in one JSON document
    Json,
    /// JUnit XML: a test suite per run, a test case per outcome
    Junit,
    /// CTRF, the common test report format: a report per run
    Ctrf,
    /// Every Eval Ever: a record and its samples per run
    Eee,
    /// Every record of the runs in one file, for `import` and --baseline elsewhere; compressed unless it ends in .jsonl
    Bundle,
}

/// Exit codes of `verify`.
const VERIFY_EXIT_CODES: &str = "Exit codes: 0 done_success, done_partial or a dry run; 1 not_done, blocked; 2 wrong arguments or configuration; \
                                 3 unverified (nothing to check); 130 interrupted";

#[derive(Args)]
#[command(after_help = VERIFY_EXIT_CODES)]
pub(super) struct Verify {
    /// The checkout, or a folder in one
    #[arg(value_name = "DIR", default_value = ".")]
    pub folder: PathBuf,
    /// Goal of the change, in a sentence
    #[arg(long, value_name = "TEXT")]
    pub goal: String,
    /// Extent of the checks [default: the configuration's, else strict]
    #[arg(long, value_enum, value_name = "PROFILE")]
    pub profile: Option<VerifyProfile>,
    /// The git revision before the change [default: HEAD]
    #[arg(long, value_name = "REV")]
    pub base: Option<String>,
    /// File that the goal concerns, below DIR; repeatable
    #[arg(long, value_name = "PATH")]
    pub file: Vec<PathBuf>,
    /// Print the stack and the checks, and run nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Folder for the tree before the change, outside of DIR [default: the system's temporary folder]
    #[arg(long, value_name = "DIR")]
    pub scratch: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum VerifyProfile {
    /// All relevant checks
    Strict,
    /// Core or targeted tests
    Fast,
    /// A start or a build
    Smoke,
    /// One cheap check
    Yolo,
}

impl VerifyProfile {
    pub fn to_profile(self) -> Profile {
        match self {
            Self::Strict => Profile::Strict,
            Self::Fast => Profile::Fast,
            Self::Smoke => Profile::Smoke,
            Self::Yolo => Profile::Yolo,
        }
    }
}

#[derive(Args)]
pub(super) struct Doctor {
    /// Also compare every run with its seal, and the store with its chain, to find later edits and removals
    #[arg(long)]
    pub verify: bool,
    /// With --verify: this entry of the chain must be there. An earlier check printed it as the newest
    #[arg(long, value_name = "ENTRY", requires = "verify")]
    pub since: Option<String>,
    /// Remove leftovers of killed commands: half-written files, half-unpacked bundles, workspaces
    #[arg(long)]
    pub tidy: bool,
    /// Report how far this system isolates the programs of runs
    #[arg(long)]
    pub system: bool,
}

#[derive(Args)]
pub(super) struct Cache {
    #[command(subcommand)]
    pub action: Option<CacheAction>,
}

#[derive(Subcommand)]
pub(super) enum CacheAction {
    /// Delete the cache; later commands make it again
    Clear(CacheClear),
}

#[derive(Args)]
pub(super) struct CacheClear {
    /// Delete only parts that no command used for this time, such as 720h
    #[arg(long, value_name = "TIME", value_parser = crate::config::parse_duration)]
    pub older_than: Option<std::time::Duration>,
}

#[derive(Args)]
pub(super) struct Help {
    /// Command or topic [default: list commands and topics]
    #[arg(value_name = "COMMAND|TOPIC")]
    pub topic: Vec<String>,
}

#[derive(Args)]
pub(super) struct Completions {
    /// Shell, or `man` for the man page
    #[arg(value_enum, value_name = "SHELL")]
    pub shell: Shell,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Shell {
    Bash,
    Elvish,
    Fish,
    Powershell,
    Zsh,
    Man,
}

impl Shell {
    pub fn name(self) -> &'static str {
        match self {
            Self::Bash => "bash",
            Self::Elvish => "elvish",
            Self::Fish => "fish",
            Self::Powershell => "powershell",
            Self::Zsh => "zsh",
            Self::Man => "man",
        }
    }
}
