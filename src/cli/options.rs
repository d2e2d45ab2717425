//! Options that several commands share.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::import_arguments::TableColumns;

/// Exit codes, for the help and the man page.
pub(super) const EXIT_CODES: &str = "Exit codes: 0 done; 1 done, with a negative answer (damage, a regression); 2 wrong arguments, configuration or data; \
                          3 inconclusive (gate: not enough evidence, or no baseline); 130 interrupted";

/// Options of every command.
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is an option that is given or not"
)]
#[derive(Args)]
pub(super) struct Global {
    /// The words of the command line, without the program's name.
    #[arg(skip)]
    pub typed: Vec<String>,
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
    /// Cache folder; may be deleted at any time [default: .evalreport/cache beside the results, or the user's cache folder outside of a project]
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
    /// Append every event with its time to a file, as JSON lines
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
    /// Set suite=NAME, approach=NAME or model=NAME of named files. `--approach @file` makes each file an arm, `--approach @COLUMN` each name in a column
    #[arg(long, value_name = "FIELD=VALUE", help_heading = "Files")]
    pub set: Vec<String>,
    #[command(flatten)]
    pub columns: TableColumns,
}

/// Suites that a command is about.
#[derive(Args)]
pub(super) struct SuiteOptions {
    /// Suites, or paths such as ./logs to other tools' results [default: all suites]
    #[arg(value_name = "SUITE|PATH")]
    pub suites: Vec<String>,
    #[command(flatten)]
    pub of_files: OfFiles,
    #[command(flatten)]
    pub selection: Selection,
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
    /// Write results to DIR/results and the site to DIR/report
    #[arg(long, value_name = "DIR", help_heading = "Afterwards")]
    pub output_dir: Option<PathBuf>,
}

impl Carrying {
    /// Returns the folder of the results below `--output-dir`. `None` without that option.
    pub(super) fn results_folder(&self) -> Option<PathBuf> {
        self.output_dir
            .as_ref()
            .map(|folder| folder.join("results"))
    }

    /// Returns the folder of the site below `--output-dir`. `None` without that option.
    pub(super) fn report_folder(&self) -> Option<PathBuf> {
        self.output_dir.as_ref().map(|folder| folder.join("report"))
    }
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
