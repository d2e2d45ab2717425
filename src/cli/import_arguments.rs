//! The options of `import`, which several files read.

use std::path::PathBuf;

use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

use crate::import::ForeignFormat;

/// Import other tools' results
#[derive(Args)]
pub(super) struct ImportArguments {
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
    #[command(flatten)]
    pub columns: TableColumns,
}

/// What the columns of a table mean, for every command that names files. How arms are named is each command's own.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Tables without a map")]
pub(super) struct TableColumns {
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
    /// Given as `@COLUMN` where the option's plain value selects runs.
    #[arg(skip)]
    pub of_arms: GivenArmColumns,
}

/// Columns that name the arms of a table.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct GivenArmColumns {
    pub approach: Option<String>,
    pub model: Option<String>,
    pub suite: Option<String>,
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
