//! The command line.

use std::path::PathBuf;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::domain::Profile;
use crate::import::ForeignFormat;
use crate::publish::Choice;
use crate::views::ItemChoice;

/// What the exit codes say, for the help and the man page.
const EXIT_CODES: &str = "Exit codes: 0 done; 1 done, and the answer is negative (damage, a regression); 2 bad arguments, configuration or \
                          data; 3 inconclusive (gate: the data do not say, or there is no baseline); 130 interrupted";

/// Which AI agent approach wins, by how much, and is that evidence.
#[derive(Parser)]
#[command(name = "evalreport", version, about, max_term_width = 120, propagate_version = true, after_help = EXIT_CODES)]
pub(super) struct Arguments {
    #[command(flatten)]
    pub global: Global,
    #[command(subcommand)]
    pub command: Command,
}

/// Options of every command.
#[expect(clippy::struct_excessive_bools, reason = "each is an option that is given or not")]
#[derive(Args)]
pub(super) struct Global {
    /// Configuration file [default: evalreport.yaml here or in a folder above]
    #[arg(long, alias = "spec", global = true, value_name = "FILE", help_heading = "Global options")]
    pub config: Option<PathBuf>,
    /// Folder of results; several are read together, the first is written to [default: results beside the configuration]
    #[arg(long, global = true, value_name = "DIR", help_heading = "Global options")]
    pub results: Vec<PathBuf>,
    /// Folder of derived files that may be deleted at any time [default: .evalreport/cache beside the results]
    #[arg(long, global = true, value_name = "DIR", help_heading = "Global options")]
    pub cache: Option<PathBuf>,
    /// How to print the answer
    #[arg(long, global = true, value_enum, default_value_t = Format::Table, help_heading = "Global options")]
    pub format: Format,
    /// When to use colour; NO_COLOR is respected
    #[arg(long, global = true, value_enum, default_value_t = Color::Auto, overrides_with = "no_color", help_heading = "Global options")]
    pub color: Color,
    /// The same as --color never
    #[arg(long, global = true, hide = true, overrides_with = "color")]
    pub no_color: bool,
    /// Print nothing but the answer
    #[arg(long, short, global = true, help_heading = "Global options")]
    pub quiet: bool,
    /// Say on stderr what is done and how long it takes; --quiet wins
    #[arg(long, short, global = true, help_heading = "Global options")]
    pub verbose: bool,
    /// Append what is done, with the time, to a file; its folder must exist
    #[arg(long, global = true, value_name = "FILE", help_heading = "Global options")]
    pub log: Option<PathBuf>,
    /// Exit with 2 on unreadable files, runs that contradict each other, or comparability grade C or worse
    #[arg(long, global = true, help_heading = "Global options")]
    pub strict: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Format {
    Table,
    Json,
    Markdown,
    Csv,
    /// Of `gate` only
    Junit,
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
    /// Run suites and tasks: agents, tests, results
    Run(Box<Run>),
    /// Put a file of questions to agents
    Eval(Box<Eval>),
    /// Say whether a goal is met in a checkout, by the few checks that tell
    Verify(Verify),
    /// List what has results and what can be run
    List(List),
    /// Show everything about runs
    Show(Show),
    /// Let a judge decide again about stored runs, or see how far judges can be trusted
    Judge(Box<Judge>),
    /// Put approaches side by side on a suite
    Compare(Compare),
    /// Order approaches by how they do on each suite
    Leaderboard(Leaderboard),
    /// Follow a suite over the nights: changes of level, who is better, flaky items
    History(History),
    /// Hold new runs against a baseline, for a build server
    Gate(Gate),
    /// Write the static site
    Build(Build),
    /// Build the site and show it on this machine, again whenever something changes
    Serve(Serve),
    /// Bring other tools' results into the store
    Import(Import),
    /// Hide runs by a tombstone, with a reason
    Retract(Retract),
    /// Ask stored results, boards and comparisons in SQL
    Sql(Sql),
    /// Write the tables as Parquet or CSV, or runs as one bundle
    Export(Export),
    /// Look the store over for damage
    Doctor(Doctor),
    /// Print shell completions or the man page
    Completions(Completions),
}

impl Command {
    /// Returns the command that is meant: `eval run` is `run`.
    pub fn meant(self) -> Self {
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

    /// Returns the word it is called by.
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
            Self::History(_) => "history",
            Self::Gate(_) => "gate",
            Self::Build(_) => "build",
            Self::Serve(_) => "serve",
            Self::Import(_) => "import",
            Self::Retract(_) => "retract",
            Self::Sql(_) => "sql",
            Self::Export(_) => "export",
            Self::Doctor(_) => "doctor",
            Self::Completions(_) => "completions",
        }
    }
}

/// Which runs a command looks at.
#[derive(Args, Clone, Default)]
pub(super) struct Selection {
    /// Only runs of this suite; may be given several times
    #[arg(long, value_name = "NAME", help_heading = "Selection")]
    pub suite: Vec<String>,
    /// Only runs of this approach; may be given several times
    #[arg(long, value_name = "NAME", value_delimiter = ',', help_heading = "Selection")]
    pub approach: Vec<String>,
    /// Only runs with this model; may be given several times
    #[arg(long, value_name = "NAME", help_heading = "Selection")]
    pub model: Vec<String>,
    /// Only runs with this tag; may be given several times, and all must match
    #[arg(long, value_name = "KEY=VALUE", help_heading = "Selection")]
    pub tag: Vec<String>,
    /// Only runs since this day or time; runs of unknown time are left out
    #[arg(long, value_name = "TIME", help_heading = "Selection")]
    pub since: Option<String>,
    /// Only runs of this batch
    #[arg(long, value_name = "ID", help_heading = "Selection")]
    pub batch: Option<String>,
}

/// What is fixed before the numbers are looked at.
#[derive(Args, Clone, Default)]
pub(super) struct Judging {
    /// The chance of naming a winner where there is none [default: 0.05]
    #[arg(long, value_name = "CHANCE", help_heading = "Evidence")]
    pub alpha: Option<f64>,
    /// The largest difference that does not matter, declared beforehand; may be given several times
    #[arg(long, value_name = "METRIC=VALUE", help_heading = "Evidence")]
    pub margin: Vec<String>,
    /// What makes items depend on each other: their recorded cluster, or nothing [default: cluster]
    #[arg(long, value_enum, value_name = "FIELD", help_heading = "Evidence")]
    pub cluster: Option<ClusterField>,
    /// What was independently repeated [default: by the kind of item]
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
    /// Items: questions like these
    Items,
    /// Clusters of items: questions like these
    Clusters,
    /// Runs: this suite, run again
    Runs,
}

#[derive(Args)]
pub(super) struct Init {
    /// Folder to write to
    #[arg(value_name = "DIR", default_value = ".")]
    pub folder: PathBuf,
}

/// How runs are carried out.
#[derive(Args, Clone, Default)]
pub(super) struct Carrying {
    /// Model; several with commas make an arm of each [default: the task's or the agent's own]
    #[arg(long, value_name = "NAME", value_delimiter = ',', help_heading = "What to run")]
    pub model: Vec<String>,
    /// Fresh runs of each arm
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=100_000), help_heading = "What to run")]
    pub runs: u32,
    /// Put the choices of questions in an order drawn from each run's seed
    #[arg(long, help_heading = "What to run")]
    pub shuffle: bool,
    /// What seeds are drawn from [default: a new one, which the plan records]
    #[arg(long, value_name = "NUMBER", help_heading = "What to run")]
    pub seed: Option<u64>,
    /// A tag for every run; may be given several times
    #[arg(long, value_name = "KEY=VALUE", help_heading = "What to run")]
    pub tag: Vec<String>,
    /// What goes on at once: questions of a run, or runs of code [default: the task's own, else 1]
    #[arg(long, short, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024), help_heading = "How to run")]
    pub jobs: Option<u32>,
    /// Exit with 1 where an arm passes less than this percentage
    #[arg(long, value_name = "PERCENT", help_heading = "How to run")]
    pub fail_under: Option<f64>,
    /// Print the plan and what it may cost, and run nothing
    #[arg(long, help_heading = "How to run")]
    pub dry_run: bool,
}

#[derive(Args)]
#[command(after_help = EXIT_CODES)]
pub(super) struct Run {
    /// Suites, tasks, or tasks at an agent [default: every task of the configuration]
    #[arg(value_name = "SUITE|TASK[@AGENT]")]
    pub what: Vec<String>,
    /// Approach; several with commas make an arm of each
    #[arg(long, value_name = "NAME", value_delimiter = ',', help_heading = "What to run")]
    pub approach: Vec<String>,
    /// Agent that answers questions, or that `oneshot` asks; several with commas make an arm of each. Of questions and code in one command,
    /// code has it only where an approach asks an agent, as `oneshot` does
    #[arg(long, value_name = "ID", value_delimiter = ',', help_heading = "What to run")]
    pub agent: Vec<String>,
    #[command(flatten)]
    pub carrying: Carrying,
    /// Go on with a batch that was interrupted [default: the newest that is not finished]
    #[arg(long, value_name = "BATCH", num_args = 0..=1, default_missing_value = "", conflicts_with_all = ["what", "approach", "agent", "model", "runs", "shuffle", "seed", "tag", "until", "no_output"], help_heading = "How to run")]
    pub resume: Option<String>,
    /// Go on until the two arms are decided, or until each arm's rate is known to within a half-width, as in ci:5pp
    #[arg(long, value_name = "decided|ci:WIDTH", help_heading = "How to run")]
    pub until: Option<String>,
    /// With --until: at most so many runs of each arm
    #[arg(long, value_name = "N", default_value_t = 50, requires = "until", value_parser = clap::value_parser!(u32).range(1..=100_000), help_heading = "How to run")]
    pub max_runs: u32,
    /// Leave what was made out of the results
    #[arg(long, help_heading = "How to run")]
    pub no_output: bool,
    /// Folder for workspaces, outside the repository [default: evalreport in the user's cache folder]
    #[arg(long, value_name = "DIR", help_heading = "How to run")]
    pub scratch: Option<PathBuf>,
    /// Let approaches and what they wrote reach all that you can reach; for programs that cannot work otherwise
    #[arg(long, conflicts_with = "resume", help_heading = "How to run")]
    pub no_isolation: bool,
    /// Refuse (exit code 2) while another `run` works on the same results
    #[arg(long, help_heading = "How to run")]
    pub exclusive: bool,
    /// Append the comparison as Markdown to a file, such as a CI job's summary
    #[arg(long, value_name = "FILE", help_heading = "Afterwards")]
    pub summary: Option<PathBuf>,
    /// Write the static site
    #[arg(long, value_name = "DIR", help_heading = "Afterwards")]
    pub site: Option<PathBuf>,
    /// Hold the new runs to the configuration's gate, against a baseline as `gate --baseline` takes it, and exit as `gate` does
    #[arg(long, value_name = "BASELINE", help_heading = "Afterwards")]
    pub gate: Option<String>,
}

#[derive(Args)]
#[command(after_help = EXIT_CODES, args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub(super) struct Eval {
    /// Questions: YAML or JSON
    #[arg(value_name = "QUESTIONS", required = true)]
    pub questions: Option<PathBuf>,
    /// Agent of the configuration; several with commas make an arm of each [default: the configuration's]
    #[arg(long, value_name = "ID", value_delimiter = ',', help_heading = "What to run")]
    pub agent: Vec<String>,
    /// Suite that results are filed under [default: the file's name]
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
    /// `run`
    #[command(hide = true)]
    Run(Box<Run>),
    /// `compare`
    #[command(hide = true)]
    Compare(Box<Compare>),
    /// `list`
    #[command(hide = true)]
    List(Box<List>),
    /// `leaderboard`
    #[command(hide = true)]
    Leaderboard(Box<Leaderboard>),
}

#[derive(Args)]
pub(super) struct List {
    /// List the runs instead
    #[arg(long)]
    pub runs: bool,
    #[command(flatten)]
    pub selection: Selection,
}

#[derive(Args)]
pub(super) struct Show {
    /// Run ids, or their beginnings of at least four characters
    #[arg(value_name = "ID")]
    pub ids: Vec<String>,
    /// Items to show: all, failed (what did not pass), or so many, those first that did not pass [default: 20; all as JSON and CSV]
    #[arg(long, value_name = "all|failed|N")]
    pub items: Option<ItemChoice>,
    #[command(flatten)]
    pub selection: Selection,
}

#[expect(clippy::struct_excessive_bools, reason = "each is an option that is given or not")]
#[derive(Args)]
#[command(after_help = EXIT_CODES)]
pub(super) struct Judge {
    /// Run ids, or their beginnings of at least four characters
    #[arg(value_name = "ID")]
    pub ids: Vec<String>,
    /// Agent of the configuration that judges [default: the configuration's `judge`]; with --agreement or --against, one that has judged
    #[arg(long = "judge", value_name = "AGENT", help_heading = "Judge")]
    pub agent: Option<String>,
    /// Model of the judge [default: that of the configuration]
    #[arg(long = "judge-model", value_name = "NAME", help_heading = "Judge")]
    pub model_of_agent: Option<String>,
    /// Ask so many times; the majority decides
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=99), help_heading = "Judge")]
    pub votes: Option<u64>,
    /// Let a reply that cannot be read fail the criteria, instead of leaving them undecided
    #[arg(long = "strict-judge", help_heading = "Judge")]
    pub is_strict: bool,
    /// Judge so many runs at the same time [default: 1]
    #[arg(long, short, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024), conflicts_with_all = ["agreement", "against"], help_heading = "Judge")]
    pub jobs: Option<u32>,
    /// Only runs with criteria that nobody has decided, and only these criteria where the same judge decided the others
    #[arg(long, help_heading = "What to judge")]
    pub retry: bool,
    /// Say what would be judged, and ask nobody
    #[arg(long, help_heading = "What to judge")]
    pub dry_run: bool,
    /// Hold the judge against labels of people: CSV with the columns run, item, label and, where several labelled, rater
    #[arg(long, value_name = "LABELS", conflicts_with_all = ["retry", "dry_run", "probe", "against", "votes", "is_strict", "model_of_agent"], help_heading = "Trust")]
    pub agreement: Option<PathBuf>,
    /// Hold the newest judge of the runs against another one that has judged them, too
    #[arg(long, value_name = "JUDGE", conflicts_with_all = ["retry", "dry_run", "probe", "votes", "is_strict", "model_of_agent"], help_heading = "Trust")]
    pub against: Option<String>,
    /// Ask in the reverse order as well, say what is decided otherwise, and store nothing
    #[arg(long, conflicts_with_all = ["retry", "dry_run"], help_heading = "Trust")]
    pub probe: bool,
    #[command(flatten)]
    pub selection: Selection,
}

#[derive(Args)]
pub(super) struct Compare {
    /// A suite, run ids, or paths such as ./logs to results of other tools [default: every suite with two arms or more]
    #[arg(value_name = "SUITE|ID|PATH")]
    pub what: Vec<String>,
    /// Result files to compare, instead of those of the store
    #[arg(long, value_name = "FILE,FILE", value_delimiter = ',', conflicts_with = "what")]
    pub files: Vec<PathBuf>,
    /// Hold each arm against the same arm of other runs: a store, a bundle, a result file, a run, last:K, a tag or a git revision
    #[arg(long, value_name = "WHAT")]
    pub baseline: Option<String>,
    /// Take only each arm's newest batch [default: all its runs on the suite's version]
    #[arg(long)]
    pub newest_batch: bool,
    /// Explain the table: intervals, methods, plans, second looks and what was not measured
    #[arg(long)]
    pub explain: bool,
    /// List the items that only one of two arms passed
    #[arg(long)]
    pub flips: bool,
    #[command(flatten)]
    pub judging: Judging,
    #[command(flatten)]
    pub selection: Selection,
}

#[derive(Args)]
#[command(after_help = EXIT_CODES)]
pub(super) struct Gate {
    /// Suites [default: all], and paths such as new/*.xml to other tools' results, which are then the runs under judgement
    #[arg(value_name = "SUITE|PATH")]
    pub suites: Vec<String>,
    /// What to hold the runs against: a store, a bundle, a result file, other tools' results, a run, last:K, a tag KEY=VALUE or a git
    /// revision
    #[arg(long, value_name = "WHAT")]
    pub baseline: Option<String>,
    /// What --max-drop and --max-rise are about [default: pass_rate]
    #[arg(long, value_name = "NAME", help_heading = "Rules")]
    pub metric: Option<String>,
    /// How far the metric may fall, as in 2pp; time, tokens and money in percent of the baseline
    #[arg(long, value_name = "AMOUNT", help_heading = "Rules")]
    pub max_drop: Option<String>,
    /// How far the metric may rise
    #[arg(long, value_name = "AMOUNT", help_heading = "Rules")]
    pub max_rise: Option<String>,
    /// How far the cost may rise, as in +10%
    #[arg(long, value_name = "PERCENT", help_heading = "Rules")]
    pub max_cost: Option<String>,
    /// An item that must pass, with all its parametrised cases; `*` stands for any text; may be given several times
    #[arg(long, value_name = "ITEM", help_heading = "Rules")]
    pub must_pass: Vec<String>,
    /// No item that passed every attempt of the baseline may fail now
    #[arg(long, help_heading = "Rules")]
    pub no_new_failures: bool,
    /// Take what is inconclusive for a failure (exit code 1) or a pass (0) [default: exit code 3]
    #[arg(long, value_enum, value_name = "AS", help_heading = "Rules")]
    pub on_inconclusive: Option<OnInconclusive>,
    #[command(flatten)]
    pub instead: Instead,
    /// Write JUnit XML to a file as well
    #[arg(long, value_name = "FILE", conflicts_with_all = ["plan", "decide"])]
    pub junit: Option<PathBuf>,
    /// Take only each arm's newest batch [default: all its runs on the suite's version]
    #[arg(long)]
    pub newest_batch: bool,
    #[command(flatten)]
    pub judging: Judging,
    #[command(flatten)]
    pub selection: Selection,
}

/// What `gate` does instead of holding runs to rules.
#[derive(Args, Default)]
pub(super) struct Instead {
    /// Judge nothing: say how often these rules would raise a false alarm, and how often they would see drops of 2, 5 and 10 pp
    #[arg(long, conflicts_with = "decide")]
    pub plan: bool,
    /// Say whether to ship the head or keep the baseline, from quality, cost and time together; exit code 0 ship, 1 keep, 3 undecided
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
    /// Suites, and paths such as ./logs to results of other tools [default: all suites]
    #[arg(value_name = "SUITE|PATH")]
    pub suites: Vec<String>,
    /// What to order by, best first
    #[arg(long, value_enum, default_value_t = Sort::Primary)]
    pub sort: Sort,
    /// One board over all suites: the mean of suite rates (macro), or all outcomes together (micro)
    #[arg(long, value_enum, value_name = "MEAN")]
    pub overall: Option<Mean>,
    /// Show how often each arm ranks first in bootstrap samples of the items; decides nothing
    #[arg(long, alias = "p-best", help_heading = "Evidence")]
    pub resample: bool,
    #[command(flatten)]
    pub judging: Judging,
    #[command(flatten)]
    pub selection: Selection,
}

#[derive(Args)]
pub(super) struct History {
    /// Suites [default: all]
    #[arg(value_name = "SUITE")]
    pub suites: Vec<String>,
    /// Newest nights of each arm to show
    #[arg(long, value_name = "N", default_value_t = 30)]
    pub nights: usize,
    #[command(flatten)]
    pub judging: Judging,
    #[command(flatten)]
    pub selection: Selection,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Sort {
    /// The metric that decides: the pass rate, unless the suite has another
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
    /// Results of other tools to show beside the store's, and folders with such: read through the cache, not kept in the store
    #[arg(value_name = "PATH")]
    pub paths: Vec<PathBuf>,
    /// Folder of the site; a folder that holds anything else is refused
    #[arg(long, short, value_name = "DIR", default_value = "site")]
    pub out: PathBuf,
    #[command(flatten)]
    pub publishing: Publishing,
    #[command(flatten)]
    pub selection: Selection,
}

/// How a site goes out.
#[derive(Args, Clone, Default)]
pub(super) struct Publishing {
    /// Write overview, suites and comparisons into one file that opens by itself, instead of a folder
    #[arg(long, value_name = "FILE", help_heading = "Publishing")]
    pub single_file: Option<PathBuf>,
    /// Where the site will be served, for addresses that must be absolute [default: site.base_url of the configuration]
    #[arg(long, value_name = "URL", help_heading = "Publishing")]
    pub base_url: Option<String>,
    /// Ask search engines to leave the site out
    #[arg(long, help_heading = "Publishing")]
    pub noindex: bool,
    /// Take keys, tokens, passwords, e-mail addresses and users' names out of every text, and say how many
    #[arg(long, help_heading = "Publishing")]
    pub redact: bool,
    /// Transcripts to show: usual (failing, disagreeing and some passing), all, failing, disagreeing, none, or budget:SIZE
    #[arg(long, value_name = "WHICH", default_value = "usual", help_heading = "Publishing")]
    pub transcripts: Choice,
}

#[derive(Args)]
pub(super) struct Serve {
    /// Results of other tools to show beside the store's, and folders with such: read through the cache, not kept in the store
    #[arg(value_name = "PATH")]
    pub paths: Vec<PathBuf>,
    /// Folder to build the site in [default: a temporary one]
    #[arg(long, short, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Port to listen on; 0 takes any that is free
    #[arg(long, value_name = "N", default_value_t = 8000)]
    pub port: u16,
    #[command(flatten)]
    pub publishing: Publishing,
    #[command(flatten)]
    pub selection: Selection,
}

#[derive(Args)]
pub(super) struct Import {
    /// Results of other tools, folders with such, and bundles of another store; with --map tables: CSV, JSONL, JSON or YAML lists, plain, gzipped or zipped
    #[arg(value_name = "PATH", required = true)]
    pub files: Vec<PathBuf>,
    /// What the files are [default: what their content says; with --map a table]
    #[arg(id = "import_as", long = "as", value_name = "FORMAT", value_parser = import_as())]
    pub kind: Option<ImportAs>,
    /// The map from a table's columns to our fields; see docs/import. Without it, a table gets one proposed
    #[arg(long, value_name = "MAP")]
    pub map: Option<PathBuf>,
    /// Set a field of the run to a constant, whatever the file or the map says: suite=NAME, approach=NAME, model=NAME; of tables also suite_version, agent and tags.NAME
    #[arg(long, value_name = "FIELD=VALUE")]
    pub set: Vec<String>,
    /// Take only bundles that one of these signed, as FILE.sig says; a file of allowed signers as `ssh-keygen -Y verify` reads it
    #[arg(long, value_name = "ALLOWED_SIGNERS", conflicts_with_all = ["map", "set"])]
    pub signed_by: Option<PathBuf>,
    /// Read also what was imported before: what differs replaces, and what was retracted comes back
    #[arg(long, conflicts_with = "signed_by")]
    pub again: bool,
    /// Say what would be imported and write nothing
    #[arg(long)]
    pub dry_run: bool,
    #[command(flatten)]
    pub table: Table,
}

/// What the columns of a table without a map are.
#[derive(Args)]
#[command(next_help_heading = "Tables without a map")]
pub(super) struct Table {
    /// Import a table as proposed, without asking
    #[arg(long, conflicts_with = "map")]
    pub yes: bool,
    /// Write the proposed map to a file, to be changed and given as --map
    #[arg(long, value_name = "FILE", conflicts_with = "map")]
    pub write_map: Option<PathBuf>,
    /// The column that names the approach
    #[arg(long, value_name = "COLUMN", conflicts_with = "map")]
    pub approach: Option<String>,
    /// The column that names the model
    #[arg(long, value_name = "COLUMN", conflicts_with = "map")]
    pub model: Option<String>,
    /// The column that names the item: the task, the question
    #[arg(long, value_name = "COLUMN", conflicts_with = "map")]
    pub item: Option<String>,
    /// The column that says whether the item passed
    #[arg(long, value_name = "COLUMN", conflicts_with = "map")]
    pub passed: Option<String>,
    /// The column with the item's score, where nothing says whether it passed
    #[arg(long, value_name = "COLUMN", conflicts_with_all = ["map", "passed"])]
    pub score: Option<String>,
    /// The column that counts the attempts at an item
    #[arg(long, value_name = "COLUMN", conflicts_with = "map")]
    pub attempt: Option<String>,
    /// What stands side by side in the columns
    #[arg(long, value_name = "WHAT", conflicts_with = "map")]
    pub wide: Option<Wide>,
    /// What a word of the source stands for: partial=fail
    #[arg(long = "value", value_name = "WORD=STATUS", conflicts_with = "map")]
    pub values: Vec<String>,
    /// What parts the whole of a number from its fraction
    #[arg(long, value_name = "MARK", conflicts_with = "map")]
    pub decimal: Option<Mark>,
    /// The sheet of a workbook
    #[arg(long, value_name = "NAME", conflicts_with = "map")]
    pub sheet: Option<String>,
    /// Where the rows are in a document, such as runs[].results
    #[arg(long, value_name = "PATH", conflicts_with = "map")]
    pub list: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum Wide {
    Approaches,
    Items,
    Suites,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum Mark {
    Comma,
    Point,
}

/// What imported files are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ImportAs {
    /// Rows of columns that a map explains
    Table,
    /// Trees of weighted requirements with their grades
    Rubric,
    /// Runs of another store
    Bundle,
    /// What another tool writes
    Foreign(ForeignFormat),
}

impl ImportAs {
    fn from_name(name: &str) -> Option<Self> {
        match name {
            "table" => Some(Self::Table),
            "rubric" => Some(Self::Rubric),
            "bundle" => Some(Self::Bundle),
            name => ForeignFormat::from_name(name).map(Self::Foreign),
        }
    }
}

fn import_as() -> impl TypedValueParser<Value = ImportAs> {
    let formats = ForeignFormat::all().map(|format| PossibleValue::new(format.name()).help(format.title()));
    let own = [
        PossibleValue::new("table").help("Rows of columns that a map explains"),
        PossibleValue::new("rubric").help("Trees of weighted requirements with their grades"),
        PossibleValue::new("bundle").help("Runs of another store, as `export bundle` writes them"),
    ];
    PossibleValuesParser::new(own.into_iter().chain(formats))
        .map(|name| ImportAs::from_name(&name).expect("every name that is taken is one of a format"))
}

#[derive(Args)]
pub(super) struct Retract {
    /// Run ids, or their beginnings of at least four characters
    #[arg(value_name = "ID")]
    pub ids: Vec<String>,
    /// Why; shown with the count of retracted runs
    #[arg(long, value_name = "TEXT", required_unless_present = "undo")]
    pub reason: Option<String>,
    /// Take back the tombstones of this same selector
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
    /// End the query after so many seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 60, value_parser = clap::value_parser!(u32).range(1..=86_400))]
    pub timeout: u32,
    /// End the query when it needs more memory, on Linux [default: 4096, or half of what is free]
    #[arg(long, value_name = "MIB")]
    pub memory: Option<u64>,
}

#[derive(Args)]
pub(super) struct Export {
    /// The format
    // An id of its own: `format` is the global option.
    #[arg(id = "file_format", value_enum, value_name = "FORMAT")]
    pub format: ExportAs,
    /// Where to write: a file for junit, json and bundle, a folder for parquet, csv and eee; for ctrf a folder, or a .json file for one run
    #[arg(value_name = "DIR|FILE")]
    pub path: PathBuf,
    /// For a bundle: without messages and what agents made, enough for figures and baselines
    #[arg(long)]
    pub slim: bool,
    /// For a bundle: sign it with this private key of OpenSSH's (Ed25519, without a passphrase), into FILE.sig
    #[arg(long, value_name = "KEY")]
    pub sign_key: Option<PathBuf>,
    #[command(flatten)]
    pub selection: Selection,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum ExportAs {
    /// The tables runs, items, scores and usage, a file each
    Parquet,
    /// The same as CSV
    Csv,
    /// Runs and their outcomes in one JSON document
    Json,
    /// JUnit XML: a test suite for each run, a test case for each outcome
    Junit,
    /// CTRF, the common test report format: a report for each run
    Ctrf,
    /// Every Eval Ever: a record and its samples for each run
    Eee,
    /// Every record of the runs in one file, for `import` and --baseline elsewhere; compressed unless it ends in .jsonl
    Bundle,
}

/// What the exit codes of `verify` say.
const VERIFY_EXIT_CODES: &str = "Exit codes: 0 done_success, done_partial or a dry run; 1 not_done, blocked; 2 bad arguments or configuration; \
                                 3 unverified (there was nothing to check); 130 interrupted";

#[derive(Args)]
#[command(after_help = VERIFY_EXIT_CODES)]
pub(super) struct Verify {
    /// The checkout, or a folder in one
    #[arg(value_name = "DIR", default_value = ".")]
    pub folder: PathBuf,
    /// What the change is to achieve, in a sentence
    #[arg(long, value_name = "TEXT")]
    pub goal: String,
    /// How much is checked [default: the configuration's, else strict]
    #[arg(long, value_enum, value_name = "PROFILE")]
    pub profile: Option<VerifyProfile>,
    /// The git revision before the change [default: HEAD]
    #[arg(long, value_name = "REV")]
    pub base: Option<String>,
    /// A file that the goal is about, below DIR; may be given several times
    #[arg(long, value_name = "PATH")]
    pub file: Vec<PathBuf>,
    /// Print the stack and the checks, and run nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Folder for the tree as it was, outside of DIR [default: the system's temporary folder]
    #[arg(long, value_name = "DIR")]
    pub scratch: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum VerifyProfile {
    /// Everything that is relevant
    Strict,
    /// Core or targeted tests
    Fast,
    /// Whether it starts
    Smoke,
    /// One cheap look
    Yolo,
}

impl VerifyProfile {
    pub fn profile(self) -> Profile {
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
    /// Also compare every run with its seal, to find what was edited after it was written
    #[arg(long)]
    pub verify: bool,
    /// Remove what killed commands left: half-written files, half-unpacked bundles, and workspaces where they are usually made
    #[arg(long)]
    pub tidy: bool,
    /// Say what this system keeps the programs of runs from
    #[arg(long)]
    pub system: bool,
}

#[derive(Args)]
pub(super) struct Completions {
    /// Whose completions, or `man` for the man page
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
