//! An engine for tests: answers the queries of `queries/` from the files of a lake, by loops instead of SQL, and can lie.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::net::TcpListener;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int32Type, Int64Type};
use arrow_array::{
    Array, ArrayRef, BooleanArray, Float64Array, Int8Array, Int32Array, Int64Array, RecordBatch,
    StringArray,
};
use arrow_flight::encode::FlightDataEncoderBuilder;
use arrow_flight::flight_service_server::{FlightService, FlightServiceServer};
use arrow_flight::{
    Action, ActionType, Criteria, Empty, FlightData, FlightDescriptor, FlightEndpoint, FlightInfo,
    HandshakeRequest, HandshakeResponse, PollInfo, PutResult, SchemaResult, Ticket,
};
use arrow_ipc::CompressionType;
use arrow_ipc::writer::IpcWriteOptions;
use arrow_schema::DataType;
use futures::stream::{self, BoxStream};
use futures::{StreamExt as _, TryStreamExt as _};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use serde_json::Value;
use tonic::{Request, Response, Status, Streaming};

/// A row of the table `runs`.
#[derive(Clone, Debug, Default)]
pub struct RunRow {
    pub run_id: String,
    pub publish_id: String,
    pub sequence: i64,
    pub deleted: bool,
    pub deleted_by: Option<String>,
    pub deleted_reason: Option<String>,
    pub record: String,
    pub totals: Option<String>,
    pub outcomes: i64,
    pub outcomes_check: i64,
    pub lines_check: i64,
    pub commit_rows: i64,
    pub all_runs: i64,
    pub row_check: i64,
}

/// A row of the table `outcomes`.
#[derive(Clone, Debug, Default)]
pub struct OutcomeRow {
    pub run_id: String,
    pub publish_id: String,
    pub standing: bool,
    pub kind: String,
    pub evaluator: String,
    pub item: String,
    pub item_id: i64,
    pub cluster: Option<String>,
    pub cluster_id: Option<i64>,
    pub category: Option<String>,
    pub attempt: i32,
    pub status: String,
    pub score: Option<f64>,
    pub duration_seconds: Option<f64>,
    pub cost_usd: Option<f64>,
    pub input_tokens: Option<i64>,
    pub output_tokens: Option<i64>,
}

/// What an engine has of a lake.
#[derive(Clone, Debug, Default)]
pub struct Tables {
    pub runs: Vec<RunRow>,
    pub outcomes: Vec<OutcomeRow>,
}

/// The columns of a batch by name, in whatever width of text.
struct Columns<'a>(&'a RecordBatch);

impl Columns<'_> {
    fn text(&self, name: &str, row: usize) -> Option<String> {
        let column = self
            .0
            .column_by_name(name)
            .expect("the lake has the column");
        column.is_valid(row).then(|| match column.data_type() {
            DataType::Utf8 => column.as_string::<i32>().value(row).to_owned(),
            DataType::LargeUtf8 => column.as_string::<i64>().value(row).to_owned(),
            _ => column.as_string_view().value(row).to_owned(),
        })
    }

    fn whole(&self, name: &str, row: usize) -> Option<i64> {
        let column = self
            .0
            .column_by_name(name)
            .expect("the lake has the column");
        column.is_valid(row).then(|| match column.data_type() {
            DataType::Int32 => column.as_primitive::<Int32Type>().value(row).into(),
            _ => column.as_primitive::<Int64Type>().value(row),
        })
    }

    fn float(&self, name: &str, row: usize) -> Option<f64> {
        let column = self
            .0
            .column_by_name(name)
            .expect("the lake has the column")
            .as_primitive::<Float64Type>();
        column.is_valid(row).then(|| column.value(row))
    }

    fn is(&self, name: &str, row: usize) -> bool {
        self.0
            .column_by_name(name)
            .expect("the lake has the column")
            .as_boolean()
            .value(row)
    }
}

/// Returns the batches of all files that a table's log lists.
fn batches(table: &Path) -> Vec<RecordBatch> {
    let mut commits: Vec<_> = fs::read_dir(table.join("_delta_log"))
        .expect("a log")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| {
            path.extension()
                .is_some_and(|extension| extension == "json")
        })
        .collect();
    commits.sort();
    let lines: Vec<Value> = commits
        .iter()
        .flat_map(|path| {
            fs::read_to_string(path)
                .expect("readable")
                .lines()
                .map(str::to_owned)
                .collect::<Vec<_>>()
        })
        .map(|line| serde_json::from_str(&line).expect("JSON"))
        .collect();
    let paths = lines
        .iter()
        .filter_map(|action| action["add"]["path"].as_str())
        .map(|path| table.join(path.replace("%25", "%")));
    paths
        .flat_map(|path| {
            let file = File::open(path).expect("listed");
            let reader = ParquetRecordBatchReaderBuilder::try_new(file)
                .and_then(ParquetRecordBatchReaderBuilder::build)
                .expect("Parquet");
            reader
                .map(|batch| batch.expect("whole"))
                .collect::<Vec<_>>()
        })
        .collect()
}

impl Tables {
    pub fn of_lake(lake: &Path) -> Self {
        let mut tables = Self::default();
        for batch in batches(&lake.join("runs")) {
            let columns = Columns(&batch);
            tables.runs.extend((0..batch.num_rows()).map(|row| {
                let text = |name: &str| columns.text(name, row);
                let whole = |name: &str| columns.whole(name, row).expect("a number");
                RunRow {
                    run_id: text("run_id").expect("an id"),
                    publish_id: text("publish_id").expect("an id"),
                    sequence: whole("sequence"),
                    deleted: columns.is("deleted", row),
                    deleted_by: text("deleted_by"),
                    deleted_reason: text("deleted_reason"),
                    record: text("record").expect("a record"),
                    totals: text("totals"),
                    outcomes: whole("outcomes"),
                    outcomes_check: whole("outcomes_check"),
                    lines_check: whole("lines_check"),
                    commit_rows: whole("commit_rows"),
                    all_runs: whole("all_runs"),
                    row_check: whole("row_check"),
                }
            }));
        }
        for batch in batches(&lake.join("outcomes")) {
            let columns = Columns(&batch);
            tables.outcomes.extend((0..batch.num_rows()).map(|row| {
                let text = |name: &str| columns.text(name, row);
                OutcomeRow {
                    run_id: text("run_id").expect("an id"),
                    publish_id: text("publish_id").expect("an id"),
                    standing: columns.is("standing", row),
                    kind: text("kind").expect("a kind"),
                    evaluator: text("evaluator").expect("a name"),
                    item: text("item").expect("a name"),
                    item_id: columns.whole("item_id", row).expect("a number"),
                    cluster: text("cluster"),
                    cluster_id: columns.whole("cluster_id", row),
                    category: text("category"),
                    attempt: columns
                        .whole("attempt", row)
                        .and_then(|number| i32::try_from(number).ok())
                        .expect("a number"),
                    status: text("status").expect("a status"),
                    score: columns.float("score", row),
                    duration_seconds: columns.float("duration_seconds", row),
                    cost_usd: columns.float("cost_usd", row),
                    input_tokens: columns.whole("input_tokens", row),
                    output_tokens: columns.whole("output_tokens", row),
                }
            }));
        }
        tables
    }

    /// The last revision of each run, by id.
    fn last(&self) -> BTreeMap<&str, &RunRow> {
        let mut last: BTreeMap<&str, &RunRow> = BTreeMap::new();
        for run in &self.runs {
            let known = last.entry(&run.run_id).or_insert(run);
            if known.sequence < run.sequence {
                *known = run;
            }
        }
        last
    }

    /// The outcomes that count, in the order of the cells.
    fn counted(&self, only: Option<&BTreeSet<String>>) -> Vec<&OutcomeRow> {
        let last = self.last();
        let stands = |row: &&OutcomeRow| {
            row.standing
                && only.is_none_or(|only| only.contains(&row.run_id))
                && last
                    .get(row.run_id.as_str())
                    .is_some_and(|run| !run.deleted && run.publish_id == row.publish_id)
        };
        let mut rows: Vec<&OutcomeRow> = self.outcomes.iter().filter(stands).collect();
        rows.sort_by(|left, right| {
            (&left.run_id, left.attempt, left.item_id).cmp(&(
                &right.run_id,
                right.attempt,
                right.item_id,
            ))
        });
        rows
    }

    /// Answers one of the queries. `only` restricts it to some runs.
    fn answer(&self, query: &str, only: Option<&BTreeSet<String>>) -> RecordBatch {
        let rows = self.counted(only);
        let of_run: Vec<Vec<&OutcomeRow>> = rows
            .chunk_by(|left, right| (&left.run_id, left.attempt) == (&right.run_id, right.attempt))
            .map(<[_]>::to_vec)
            .collect();
        match query {
            "runs" => {
                let runs: Vec<&RunRow> = self.last().into_values().collect();
                batch(vec![
                    ("run_id", texts(&runs, |run| Some(run.run_id.clone()))),
                    (
                        "publish_id",
                        texts(&runs, |run| Some(run.publish_id.clone())),
                    ),
                    ("sequence", wholes(&runs, |run| Some(run.sequence))),
                    (
                        "deleted",
                        Arc::new(
                            runs.iter()
                                .map(|run| Some(run.deleted))
                                .collect::<BooleanArray>(),
                        ),
                    ),
                    ("deleted_by", texts(&runs, |run| run.deleted_by.clone())),
                    (
                        "deleted_reason",
                        texts(&runs, |run| run.deleted_reason.clone()),
                    ),
                    ("record", texts(&runs, |run| Some(run.record.clone()))),
                    ("totals", texts(&runs, |run| run.totals.clone())),
                    ("outcomes", wholes(&runs, |run| Some(run.outcomes))),
                    (
                        "outcomes_check",
                        wholes(&runs, |run| Some(run.outcomes_check)),
                    ),
                    ("lines_check", wholes(&runs, |run| Some(run.lines_check))),
                    ("commit_rows", wholes(&runs, |run| Some(run.commit_rows))),
                    ("all_runs", wholes(&runs, |run| Some(run.all_runs))),
                    ("row_check", wholes(&runs, |run| Some(run.row_check))),
                ])
            }
            "commits" => {
                let mut commits: BTreeMap<i64, Vec<&RunRow>> = BTreeMap::new();
                for run in &self.runs {
                    commits.entry(run.sequence).or_default().push(run);
                }
                let commits: Vec<Vec<&RunRow>> = commits.into_values().collect();
                let ids = |runs: &Vec<&RunRow>| {
                    runs.iter()
                        .map(|run| run.run_id.as_str())
                        .collect::<BTreeSet<_>>()
                        .len()
                };
                let stated = |runs: &Vec<&RunRow>| {
                    runs.iter()
                        .map(|run| run.commit_rows)
                        .collect::<BTreeSet<_>>()
                };
                batch(vec![
                    ("sequence", wholes(&commits, |runs| Some(runs[0].sequence))),
                    ("found", wholes(&commits, |runs| Some(number(runs.len())))),
                    ("runs", wholes(&commits, |runs| Some(number(ids(runs))))),
                    (
                        "least",
                        wholes(&commits, |runs| stated(runs).first().copied()),
                    ),
                    (
                        "most",
                        wholes(&commits, |runs| stated(runs).last().copied()),
                    ),
                ])
            }
            "publications" => {
                let mut publications: BTreeMap<&str, i64> = BTreeMap::new();
                for row in &self.outcomes {
                    *publications.entry(&row.publish_id).or_default() += 1;
                }
                let publications: Vec<(&str, i64)> = publications.into_iter().collect();
                batch(vec![
                    (
                        "publish_id",
                        texts(&publications, |(id, _)| Some((*id).to_owned())),
                    ),
                    ("outcomes", wholes(&publications, |(_, count)| Some(*count))),
                ])
            }
            "rows" => batch(vec![
                (
                    "run_id",
                    texts(&of_run, |rows| Some(rows[0].run_id.clone())),
                ),
                (
                    "attempt",
                    Arc::new(
                        of_run
                            .iter()
                            .map(|rows| Some(rows[0].attempt))
                            .collect::<Int32Array>(),
                    ),
                ),
                ("cells", wholes(&of_run, |rows| Some(sums(rows)[0]))),
                ("items_sum", wholes(&of_run, |rows| Some(sums(rows)[1]))),
                ("items_squares", wholes(&of_run, |rows| Some(sums(rows)[2]))),
                ("clusters_sum", wholes(&of_run, |rows| Some(sums(rows)[3]))),
                (
                    "cells_sum",
                    wholes(&of_run, |rows| {
                        Some(
                            rows.iter()
                                .map(|row| item_number(row) * i64::from(cell(row)))
                                .sum(),
                        )
                    }),
                ),
            ]),
            "items" => {
                let mut known = BTreeSet::new();
                let firsts = of_run.iter().filter(|rows| known.insert(sums(rows)));
                let rows: Vec<&OutcomeRow> = firsts.flatten().copied().collect();
                batch(vec![
                    ("run_id", texts(&rows, |row| Some(row.run_id.clone()))),
                    (
                        "attempt",
                        Arc::new(
                            rows.iter()
                                .map(|row| Some(row.attempt))
                                .collect::<Int32Array>(),
                        ),
                    ),
                    ("item_id", wholes(&rows, |row| Some(row.item_id))),
                    ("kind", texts(&rows, |row| Some(row.kind.clone()))),
                    ("evaluator", texts(&rows, |row| Some(row.evaluator.clone()))),
                    ("item", texts(&rows, |row| Some(row.item.clone()))),
                    ("cluster", texts(&rows, |row| row.cluster.clone())),
                ])
            }
            "cells" => batch(vec![(
                "cell",
                Arc::new(
                    rows.iter()
                        .map(|row| Some(cell(row)))
                        .collect::<Int8Array>(),
                ),
            )]),
            "scores" => {
                let rows: Vec<&OutcomeRow> =
                    rows.into_iter().filter(|row| cell(row) >= 16).collect();
                batch(vec![("score", floats(&rows, |row| row.score))])
            }
            _ => batch(vec![
                ("run_id", texts(&rows, |row| Some(row.run_id.clone()))),
                (
                    "attempt",
                    Arc::new(
                        rows.iter()
                            .map(|row| Some(row.attempt))
                            .collect::<Int32Array>(),
                    ),
                ),
                ("kind", texts(&rows, |row| Some(row.kind.clone()))),
                ("evaluator", texts(&rows, |row| Some(row.evaluator.clone()))),
                ("item", texts(&rows, |row| Some(row.item.clone()))),
                ("cluster", texts(&rows, |row| row.cluster.clone())),
                ("category", texts(&rows, |row| row.category.clone())),
                ("status", texts(&rows, |row| Some(row.status.clone()))),
                ("score", floats(&rows, |row| row.score)),
                (
                    "duration_seconds",
                    floats(&rows, |row| row.duration_seconds),
                ),
                ("cost_usd", floats(&rows, |row| row.cost_usd)),
                ("input_tokens", wholes(&rows, |row| row.input_tokens)),
                ("output_tokens", wholes(&rows, |row| row.output_tokens)),
            ]),
        }
    }
}

pub fn batch(columns: Vec<(&str, ArrayRef)>) -> RecordBatch {
    RecordBatch::try_from_iter_with_nullable(
        columns
            .into_iter()
            .map(|(name, column)| (name, column, true)),
    )
    .expect("columns of one length")
}

fn texts<R>(rows: &[R], value: impl Fn(&R) -> Option<String>) -> ArrayRef {
    Arc::new(rows.iter().map(value).collect::<StringArray>())
}

fn wholes<R>(rows: &[R], value: impl Fn(&R) -> Option<i64>) -> ArrayRef {
    Arc::new(rows.iter().map(value).collect::<Int64Array>())
}

fn floats<R>(rows: &[R], value: impl Fn(&R) -> Option<f64>) -> ArrayRef {
    Arc::new(rows.iter().map(value).collect::<Float64Array>())
}

fn number(count: usize) -> i64 {
    i64::try_from(count).expect("few")
}

fn item_number(row: &OutcomeRow) -> i64 {
    row.item_id.rem_euclid(2_147_483_629)
}

/// Cells and the sums over items and clusters, as `queries/rows.sql` has them.
fn sums(rows: &[&OutcomeRow]) -> [i64; 4] {
    let short = |row: &OutcomeRow| row.item_id.rem_euclid(65_521);
    let cluster = |row: &OutcomeRow| {
        row.cluster_id
            .map_or(0, |cluster| cluster.rem_euclid(65_521) + 1)
    };
    [
        number(rows.len()),
        rows.iter().map(|row| item_number(row)).sum(),
        rows.iter().map(|row| short(row) * short(row)).sum(),
        rows.iter().map(|row| short(row) * cluster(row)).sum(),
    ]
}

fn cell(row: &OutcomeRow) -> i8 {
    let names = [
        "pass",
        "fail",
        "error",
        "limit",
        "infra",
        "skipped",
        "not_evaluated",
    ];
    let status = names
        .iter()
        .position(|name| *name == row.status)
        .map_or(0, |place| i8::try_from(place).expect("seven names") + 1);
    let repeated = if row.status == "pass" { 1.0 } else { 0.0 };
    status
        + row.score.map_or(0, |score| {
            if score.to_bits() == f64::to_bits(repeated) {
                8
            } else {
                16
            }
        })
}

/// What a server does wrong.
pub type TablesLie = fn(&mut Tables);
/// Changes the answer to a query; `asked` counts how often it was asked before.
pub type AnswerLie = fn(query: &str, asked: usize, answer: RecordBatch) -> Vec<RecordBatch>;

#[derive(Clone, Copy)]
pub enum Lie {
    None,
    /// The tables are others than those of the lake.
    Tables(TablesLie),
    Answer(AnswerLie),
    /// The answer to a query is this stream, with a pause between its batches, compressed.
    Stream(
        &'static str,
        fn(RecordBatch) -> Box<dyn Iterator<Item = RecordBatch> + Send>,
        Duration,
    ),
    /// The answer is in so many parts, of which only the first has rows.
    Parts(usize),
    /// The stream of the cells breaks off with an error.
    Breaks,
    /// Every question is answered with an error of this length.
    Error(usize),
}

struct Server {
    tables: Tables,
    lie: Lie,
    asked: Arc<Mutex<Vec<String>>>,
}

/// A running server, which ends with the process.
pub struct StandIn {
    pub url: String,
    asked: Arc<Mutex<Vec<String>>>,
}

impl StandIn {
    pub fn start(tables: &Tables, lie: Lie) -> Self {
        let mut tables = tables.clone();
        if let Lie::Tables(lie) = lie {
            lie(&mut tables);
        }
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let url = format!("grpc://{}", listener.local_addr().expect("an address"));
        listener.set_nonblocking(true).expect("a socket");
        let asked: Arc<Mutex<Vec<String>>> = Arc::default();
        let server = Server {
            tables,
            lie,
            asked: Arc::clone(&asked),
        };
        std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()
                .expect("a runtime");
            runtime.block_on(async {
                let listener = tokio::net::TcpListener::from_std(listener).expect("a socket");
                let accepted = stream::unfold(listener, |listener| async {
                    let accepted = listener.accept().await.map(|(stream, _)| stream);
                    Some((accepted, listener))
                });
                let service = FlightServiceServer::new(server);
                tonic::transport::Server::builder()
                    .add_service(service)
                    .serve_with_incoming(accepted)
                    .await
                    .expect("it serves");
            });
        });
        Self { url, asked }
    }

    /// The names of the queries so far.
    pub fn asked(&self) -> Vec<String> {
        self.asked.lock().expect("no panic").clone()
    }
}

/// The queries by their first line.
fn name_of(sql: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("queries");
    let mut files: Vec<_> = fs::read_dir(folder)
        .expect("queries")
        .map(|entry| entry.expect("an entry").path())
        .collect();
    files.sort();
    let first = |text: &str| text.lines().next().unwrap_or_default().to_owned();
    let is_it = |path: &&std::path::PathBuf| {
        first(&fs::read_to_string(path).expect("readable")) == first(sql)
    };
    let path = files.iter().find(is_it).expect("a query of ours");
    path.file_stem()
        .expect("a name")
        .to_string_lossy()
        .into_owned()
}

/// The runs to which a query is restricted.
fn only(sql: &str) -> Option<BTreeSet<String>> {
    if sql.contains("-- and run_id in (") {
        return None;
    }
    let list = sql.split(" and run_id in (").nth(1)?.split(')').next()?;
    Some(
        list.split(", ")
            .map(|id| id.trim_matches('\'').to_owned())
            .collect(),
    )
}

type Answer<T> = Result<Response<T>, Status>;

#[tonic::async_trait]
impl FlightService for Server {
    type HandshakeStream = BoxStream<'static, Result<HandshakeResponse, Status>>;
    type ListFlightsStream = BoxStream<'static, Result<FlightInfo, Status>>;
    type DoGetStream = BoxStream<'static, Result<FlightData, Status>>;
    type DoPutStream = BoxStream<'static, Result<PutResult, Status>>;
    type DoExchangeStream = BoxStream<'static, Result<FlightData, Status>>;
    type DoActionStream = BoxStream<'static, Result<arrow_flight::Result, Status>>;
    type ListActionsStream = BoxStream<'static, Result<ActionType, Status>>;

    async fn get_flight_info(&self, request: Request<FlightDescriptor>) -> Answer<FlightInfo> {
        if let Lie::Error(length) = self.lie {
            return Err(Status::internal("\u{1b}[31mno\n".repeat(length / 8)));
        }
        // The text of the query is in a message of two layers, unpacked by eye.
        let command = String::from_utf8_lossy(&request.into_inner().cmd).into_owned();
        let sql = command[command.find("-- ").expect("a query begins with a comment")..].to_owned();
        let parts = if let Lie::Parts(parts) = self.lie {
            parts
        } else {
            1
        };
        let endpoint =
            |part: usize| FlightEndpoint::new().with_ticket(Ticket::new(format!("{part}\n{sql}")));
        let info = (0..parts).fold(FlightInfo::new(), |info, part| {
            info.with_endpoint(endpoint(part))
        });
        Ok(Response::new(info))
    }

    async fn do_get(&self, request: Request<Ticket>) -> Answer<Self::DoGetStream> {
        let ticket = String::from_utf8_lossy(&request.into_inner().ticket).into_owned();
        let (part, sql) = ticket.split_once('\n').expect("our ticket");
        let query = name_of(sql);
        let asked = {
            let mut asked = self.asked.lock().expect("no panic");
            asked.push(query.clone());
            asked.iter().filter(|one| **one == query).count() - 1
        };
        let answer = self.tables.answer(&query, only(sql).as_ref());
        let (pause, batches): (_, Box<dyn Iterator<Item = RecordBatch> + Send>) = match self.lie {
            Lie::Answer(lie) => (
                Duration::ZERO,
                Box::new(lie(&query, asked, answer).into_iter()),
            ),
            Lie::Stream(of, stream, pause) if of == query => (pause, stream(answer)),
            Lie::Parts(_) if part != "0" => (
                Duration::ZERO,
                Box::new(std::iter::once(answer.slice(0, 0))),
            ),
            Lie::Breaks if query == "cells" => (
                Duration::ZERO,
                Box::new(std::iter::once(answer.slice(0, answer.num_rows() / 2))),
            ),
            _ => (Duration::ZERO, Box::new(std::iter::once(answer))),
        };
        let breaks = matches!(self.lie, Lie::Breaks) && query == "cells";
        let end = stream::iter(breaks.then(|| {
            Err(arrow_flight::error::FlightError::from(Status::unavailable(
                "gone",
            )))
        }));
        let batches = stream::unfold(batches, move |mut batches| async move {
            if !pause.is_zero() {
                tokio::time::sleep(pause).await;
            }
            // Leave other connections their turn.
            tokio::time::sleep(Duration::ZERO).await;
            Some((Ok(batches.next()?), batches))
        });
        let options = IpcWriteOptions::default();
        let options = match self.lie {
            Lie::Stream(..) => options
                .try_with_compression(Some(CompressionType::ZSTD))
                .expect("it is built in"),
            _ => options,
        };
        let encoded = FlightDataEncoderBuilder::new()
            .with_options(options)
            .with_max_flight_data_size(usize::MAX)
            .build(batches.chain(end));
        Ok(Response::new(encoded.map_err(Status::from).boxed()))
    }

    async fn handshake(
        &self,
        _: Request<Streaming<HandshakeRequest>>,
    ) -> Answer<Self::HandshakeStream> {
        Err(Status::unimplemented("handshake"))
    }

    async fn list_flights(&self, _: Request<Criteria>) -> Answer<Self::ListFlightsStream> {
        Err(Status::unimplemented("list_flights"))
    }

    async fn poll_flight_info(&self, _: Request<FlightDescriptor>) -> Answer<PollInfo> {
        Err(Status::unimplemented("poll_flight_info"))
    }

    async fn get_schema(&self, _: Request<FlightDescriptor>) -> Answer<SchemaResult> {
        Err(Status::unimplemented("get_schema"))
    }

    async fn do_put(&self, _: Request<Streaming<FlightData>>) -> Answer<Self::DoPutStream> {
        Err(Status::unimplemented("do_put"))
    }

    async fn do_exchange(
        &self,
        _: Request<Streaming<FlightData>>,
    ) -> Answer<Self::DoExchangeStream> {
        Err(Status::unimplemented("do_exchange"))
    }

    async fn do_action(&self, _: Request<Action>) -> Answer<Self::DoActionStream> {
        Err(Status::unimplemented("do_action"))
    }

    async fn list_actions(&self, _: Request<Empty>) -> Answer<Self::ListActionsStream> {
        Err(Status::unimplemented("list_actions"))
    }
}
