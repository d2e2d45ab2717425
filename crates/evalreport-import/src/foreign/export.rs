//! evalreport's own `export csv` and `export parquet`: a folder with the tables `runs`, `items`, `scores` and `usage`.
//!
//! The runs keep their ids, so a run that the store has is not added a second time. Only lines that count are read: judgements that later
//! ones replaced, and what the tables lack, are in bundles only.

use std::collections::BTreeMap;

use crate::domain::{
    CostSource, Direction, ItemDetails, ItemKind, ItemStatus, Problem, RunId, RunStatus,
    ScoreRecord, Unit, Usage,
};
use crate::files;
use crate::results::StoreError;

use super::super::arrow_rows::{parquet_columns, read_parquet};
use super::super::cell::{Refused, RowCell, parse_date_time};
use super::super::columns::SourceColumns;
use super::super::csv_rows::read_csv;
use super::super::rows::{ReadStop, RowSink, SourceRow};
use super::super::titles::HeaderLines;
use super::claim::Claim;
use super::format::FormatFacts;
use super::importer::FormatImporter;
use super::peek::{ContentKind, Peek};
use super::sink::{ImportSink, RunHandle};
use super::source::{ForeignFile, ForeignFileGroup};

pub(super) const FORMAT: FormatImporter = FormatImporter::new(
    FormatFacts {
        name: "export",
        title: "evalreport's tables",
        kind: ItemKind::Test,
        reads_names: false,
        version: 1,
    },
    claim_file,
    read_source,
);

const RUN_COLUMNS: &[&str] = &[
    "run_id",
    "suite",
    "approach",
    "model",
    "reported_model",
    "timestamp",
    "status",
    "error",
    "duration_seconds",
    "shared_tests_passed",
    "shared_tests_total",
    "own_tests_passed",
    "own_tests_total",
    "counted",
    "files_generated",
    "lines_generated",
    "batch_id",
    "run_index",
    "suite_version",
    "tags",
];
const ITEM_COLUMNS: &[&str] = &[
    "run_id",
    "item",
    "kind",
    "evaluator",
    "cluster",
    "category",
    "attempt",
    "revision",
    "status",
    "score",
    "duration_seconds",
    "cost_usd",
    "input_tokens",
    "output_tokens",
    "standing",
];
const SCORE_COLUMNS: &[&str] = &[
    "run_id",
    "metric",
    "value",
    "unit",
    "direction",
    "least",
    "most",
    "standard_error",
    "n",
    "evaluator",
    "revision",
    "standing",
];
const USAGE_COLUMNS: &[&str] = &[
    "run_id",
    "total_calls",
    "turns",
    "input_tokens",
    "cache_write_tokens",
    "cache_read_tokens",
    "output_tokens",
    "total_tokens",
    "cost_usd",
    "cost_source",
];
const TABLE_COLUMNS: [(&str, &[&str]); 4] = [
    ("runs", RUN_COLUMNS),
    ("usage", USAGE_COLUMNS),
    ("scores", SCORE_COLUMNS),
    ("items", ITEM_COLUMNS),
];

fn claim_file(peek: &Peek) -> Option<Claim> {
    let (stem, ending) = peek.name.split_once('.')?;
    let (_, columns) = TABLE_COLUMNS
        .into_iter()
        .find(|(table, _)| *table == stem)?;
    let found = match ending {
        "csv" if peek.content == ContentKind::Text => {
            let header = peek
                .head
                .split(|byte| *byte == b'\n')
                .next()
                .unwrap_or_default();
            String::from_utf8_lossy(header)
                .trim()
                .split(',')
                .map(str::to_owned)
                .collect()
        }
        "parquet" if peek.head.starts_with(b"PAR1") => {
            parquet_columns(files::open(&peek.path).ok()?)?
        }
        _ => return None,
    };
    let is_ours = columns
        .iter()
        .all(|column| found.iter().any(|name| name == column));
    is_ours.then(|| {
        Claim::PartOf(
            peek.path
                .parent()
                .filter(|folder| !folder.as_os_str().is_empty())
                .unwrap_or(".".as_ref())
                .to_owned(),
        )
    })
}

fn read_source(source: &ForeignFileGroup, sink: &mut ImportSink<'_>) -> Result<(), ReadStop> {
    let table = |name: &str, ending: &str| {
        source
            .files
            .iter()
            .find(|file| file.name == format!("{name}.{ending}"))
    };
    let endings: Vec<&str> = ["csv", "parquet"]
        .into_iter()
        .filter(|ending| table("runs", ending).is_some())
        .collect();
    let [ending] = endings.as_slice() else {
        let problem = if endings.is_empty() {
            "lacks `runs`, which names the runs"
        } else {
            "has the tables twice, as CSV and as Parquet"
        };
        return Err(Problem::in_file(source.shown.clone(), problem)
            .with_hint("name a folder with all tables of one export")
            .into());
    };
    let mut runs: BTreeMap<String, Option<RunHandle>> = BTreeMap::new();
    for (name, columns) in TABLE_COLUMNS {
        let Some(file) = table(name, ending) else {
            return Err(
                Problem::in_file(source.shown.clone(), format!("lacks `{name}.{ending}`"))
                    .with_hint("name a folder with all tables of one export")
                    .into(),
            );
        };
        read_table(
            file,
            columns,
            &mut |line| match add_line(name, line, &mut runs, sink) {
                Ok(Err(refused)) => {
                    sink.refuse_part(&format!("{name}, row {}", line.number), refused);
                    Ok(())
                }
                Ok(Ok(())) => Ok(()),
                Err(stop) => Err(stop),
            },
        )?;
    }
    Ok(())
}

/// Takes a line of a table. The inner result is why the line is refused.
fn add_line(
    table: &str,
    line: &ExportLine<'_>,
    runs: &mut BTreeMap<String, Option<RunHandle>>,
    sink: &mut ImportSink<'_>,
) -> Result<Result<(), Refused>, ReadStop> {
    let Some(id) = line.text("run_id") else {
        return Ok(Err(Refused::new("the line names no run")));
    };
    if table == "runs" {
        return Ok(begin_run(id, line, sink).map(|handle| {
            runs.insert(id.to_owned(), handle);
        }));
    }
    let handle = match runs.get(id) {
        Some(Some(handle)) => *handle,
        // The store has the run already.
        Some(None) => return Ok(Ok(())),
        None => {
            return Ok(Err(Refused::new("the line's run is not among the runs")));
        }
    };
    match table {
        "usage" => Ok(add_usage(handle, line, sink)),
        "scores" => Ok(add_score(handle, line, sink)),
        _ => add_outcome(handle, line, sink),
    }
}

/// Begins a run. Returns `None` if the store has it.
fn begin_run(
    id: &str,
    line: &ExportLine<'_>,
    sink: &mut ImportSink<'_>,
) -> Result<Option<RunHandle>, Refused> {
    let own = RunId::parse(id).map_err(|_| Refused::new("the run's id is no id"))?;
    let status = line
        .parse_name("status", RunStatus::from_name)?
        .unwrap_or(RunStatus::Completed);
    let timestamp = line
        .text("timestamp")
        .map(|text| parse_date_time("timestamp", text))
        .transpose()?;
    let tags = match line.text("tags") {
        Some(text) => {
            serde_json::from_str(text).map_err(|_| Refused::new("tags are no object of texts"))?
        }
        None => BTreeMap::new(),
    };
    let [shared, total, passed, of] = [
        "shared_tests_passed",
        "shared_tests_total",
        "own_tests_passed",
        "own_tests_total",
    ];
    let counts = [
        line.parse_number(shared)?,
        line.parse_number(total)?,
        line.parse_number(passed)?,
        line.parse_number(of)?,
    ];
    let (counted, duration) = (
        line.parse_name("counted", ItemKind::from_name)?,
        line.parse_number("duration_seconds")?,
    );
    let (files, lines, index) = (
        line.parse_number("files_generated")?,
        line.parse_number("lines_generated")?,
        line.parse_number("run_index")?,
    );
    let name = |column: &str| line.text(column).unwrap_or_default();
    let Some(handle) = sink.begin_kept_run(own, [name("suite"), name("approach"), name("model")])
    else {
        return Ok(None);
    };
    let record = sink.run_mut(handle);
    record.reported_model = line.text("reported_model").map(str::to_owned);
    record.error = line.text("error").map(str::to_owned);
    record.batch_id = line.text("batch_id").map(str::to_owned);
    record.suite_version = line.text("suite_version").map(str::to_owned);
    (record.status, record.timestamp, record.tags) = (status, timestamp, tags);
    [
        record.shared_tests_passed,
        record.shared_tests_total,
        record.own_tests_passed,
        record.own_tests_total,
    ] = counts;
    (record.counted, record.duration_seconds) = (counted, duration);
    (
        record.files_generated,
        record.lines_generated,
        record.run_index,
    ) = (files, lines, index);
    sink.count_run_record();
    Ok(Some(handle))
}

fn add_usage(
    handle: RunHandle,
    line: &ExportLine<'_>,
    sink: &mut ImportSink<'_>,
) -> Result<(), Refused> {
    let count = |column: &str| line.parse_number::<u64>(column);
    let (input, output) = (count("input_tokens")?, count("output_tokens")?);
    let (cache_write, cache_read) = (count("cache_write_tokens")?, count("cache_read_tokens")?);
    let sources = [
        CostSource::Reported,
        CostSource::Priced,
        CostSource::Unknown,
    ];
    let cost_source = line.parse_name("cost_source", |name| {
        sources.into_iter().find(|source| source.name() == name)
    })?;
    let (calls, turns, total, cost) = (
        count("total_calls")?,
        count("turns")?,
        count("total_tokens")?,
        line.parse_number("cost_usd")?,
    );
    let record = sink.run_mut(handle);
    (
        record.total_calls,
        record.turns,
        record.total_tokens,
        record.cost_usd,
    ) = (calls, turns, total, cost);
    (
        record.input_tokens,
        record.output_tokens,
        record.cost_source,
    ) = (input, output, cost_source.unwrap_or(CostSource::Unknown));
    if cache_write.is_some() || cache_read.is_some() {
        // The table adds cached tokens to the input.
        let cached = cache_write
            .unwrap_or(0)
            .saturating_add(cache_read.unwrap_or(0));
        record.usage = Some(Usage {
            input: input.and_then(|input| input.checked_sub(cached)),
            cache_write,
            cache_read,
            output,
        });
    }
    sink.keep_totals(handle);
    sink.count_run_record();
    Ok(())
}

fn add_score(
    handle: RunHandle,
    line: &ExportLine<'_>,
    sink: &mut ImportSink<'_>,
) -> Result<(), Refused> {
    let metric = line
        .text("metric")
        .ok_or_else(|| Refused::new("the score names no metric"))?;
    let unit = line
        .parse_name("unit", Unit::from_name)?
        .ok_or_else(|| Refused::new("the score has no unit"))?;
    let direction = line
        .parse_name("direction", Direction::from_name)?
        .unwrap_or(Direction::None);
    let score = ScoreRecord {
        metric: metric.to_owned(),
        value: line.parse_number("value")?,
        unit,
        direction,
        range: line
            .parse_number("least")?
            .zip(line.parse_number("most")?)
            .map(|(least, most)| [least, most]),
        standard_error: line.parse_number("standard_error")?,
        n: line.parse_number("n")?,
        evaluator: line.text("evaluator").map(str::to_owned),
        revision: line.parse_number("revision")?.unwrap_or(0),
    };
    if line.is_latest_revision() {
        sink.run_mut(handle).scores.push(score);
    }
    sink.count_run_record();
    Ok(())
}

fn add_outcome(
    handle: RunHandle,
    line: &ExportLine<'_>,
    sink: &mut ImportSink<'_>,
) -> Result<Result<(), Refused>, ReadStop> {
    let read = || -> Result<_, Refused> {
        let name = line
            .text("item")
            .ok_or_else(|| Refused::new("the item has no name"))?;
        let status = line
            .parse_name("status", ItemStatus::from_name)?
            .ok_or_else(|| Refused::new("the outcome has no status"))?;
        let kind = line
            .parse_name("kind", ItemKind::from_name)?
            .ok_or_else(|| Refused::new("the item has no kind"))?;
        let mut outcome = sink.new_outcome(handle, name, status);
        outcome.kind = kind;
        line.text("evaluator")
            .unwrap_or_default()
            .clone_into(&mut outcome.evaluator);
        outcome.cluster = line.text("cluster").map(str::to_owned);
        outcome.category = line.text("category").map(str::to_owned);
        outcome.attempt = line.parse_number("attempt")?.unwrap_or(1);
        outcome.revision = line.parse_number("revision")?.unwrap_or(0);
        outcome.score = line.parse_number("score")?;
        outcome.duration_seconds = line.parse_number("duration_seconds")?;
        outcome.cost_usd = line.parse_number("cost_usd")?;
        outcome.input_tokens = line.parse_number("input_tokens")?;
        outcome.output_tokens = line.parse_number("output_tokens")?;
        Ok(outcome)
    };
    match read() {
        Ok(outcome) if line.is_latest_revision() => sink
            .add_outcome(
                handle,
                &format!("items, row {}", line.number),
                outcome,
                ItemDetails::default(),
            )
            .map(Ok),
        Ok(_) => {
            sink.note_quirk("outcomes replaced by a later judgement are not read");
            sink.count_run_record();
            Ok(Ok(()))
        }
        Err(refused) => Ok(Err(refused)),
    }
}

/// A row of a table, whose cells are named.
struct ExportLine<'r> {
    number: u64,
    columns: &'static [&'static str],
    cells: &'r [RowCell],
}

impl ExportLine<'_> {
    fn text(&self, column: &str) -> Option<&str> {
        let place = self.columns.iter().position(|name| *name == column)?;
        Some(self.cells[place].text.as_str()).filter(|text| !text.is_empty())
    }

    fn parse_number<T: std::str::FromStr>(&self, column: &str) -> Result<Option<T>, Refused> {
        let parse = |text: &str| {
            text.parse()
                .map_err(|_| Refused::with_value(format!("{column} is no such number"), text))
        };
        self.text(column).map(parse).transpose()
    }

    fn parse_name<T>(
        &self,
        column: &str,
        of: impl Fn(&str) -> Option<T>,
    ) -> Result<Option<T>, Refused> {
        let parse = |text: &str| {
            of(text)
                .ok_or_else(|| Refused::with_value(format!("{column} has an unknown name"), text))
        };
        self.text(column).map(parse).transpose()
    }

    fn is_latest_revision(&self) -> bool {
        self.text("standing") != Some("false")
    }
}

fn read_table(
    file: &ForeignFile,
    columns: &'static [&'static str],
    on_line: &mut dyn FnMut(&ExportLine<'_>) -> Result<(), ReadStop>,
) -> Result<(), ReadStop> {
    let mut wanted =
        SourceColumns::new(columns.iter().map(|column| (*column).to_owned()).collect());
    let mut unreadable = None;
    let mut on_row = |row: &SourceRow<'_>| -> Result<(), StoreError> {
        let cells = match &row.cells {
            Ok(cells) if unreadable.is_none() => *cells,
            Ok(_) => return Ok(()),
            Err(refused) => {
                let why = Problem {
                    line: row.line.and_then(|line| usize::try_from(line).ok()),
                    ..Problem::in_file(&file.shown, refused.reason.clone())
                };
                unreadable.get_or_insert(vec![why]);
                return Ok(());
            }
        };
        match on_line(&ExportLine {
            number: row.number,
            columns,
            cells,
        }) {
            Ok(()) => Ok(()),
            Err(ReadStop::Store(error)) => Err(error),
            Err(ReadStop::Unreadable(problems)) => {
                unreadable.get_or_insert(problems);
                Ok(())
            }
        }
    };
    let mut rows = RowSink::new(&file.shown, &mut wanted, &mut on_row);
    let ready = |rows: &RowSink<'_>| rows.columns.essential_columns_problem(|_| true, rows.label);
    if file
        .name
        .rsplit_once('.')
        .is_some_and(|(_, ending)| ending == "parquet")
    {
        let opened = files::open(&file.path)
            .map_err(|error| file.problem(format!("cannot be read: {error}")))?;
        read_parquet(opened, &mut rows, ready)?;
    } else {
        read_csv(file.open()?, b',', HeaderLines::default(), &mut rows, ready)?;
    }
    unreadable.map_or(Ok(()), |problems| Err(ReadStop::Unreadable(problems)))
}
