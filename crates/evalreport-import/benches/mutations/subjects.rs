//! The parsers that broken files are put before, each with the files of ours that are broken, and the account of one attack.
//!
//! A parser is reached by the function that `evalreport import` calls, with a file in memory's file system where there is one: what opens,
//! inflates and refuses a file is under attack with it.

use std::collections::BTreeMap;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::path::{Path, PathBuf};
use std::sync::Once;
use std::time::{Duration, Instant};

use evalreport::domain::RunId;
use evalreport::import::{
    Destination, ForeignFormat, ImportMode, ImportReport, NameOverrides, StoredRuns, TableMap,
    import_foreign, import_rubrics, import_table, is_decoding,
};
use evalreport::results::{ItemLine, Store, details_of, parse_header, unpack_figures};
use serde_json::{Value, json};

use super::archive::Archive;
use super::broken::{Broken, Numbers, Original, Shape};
use super::columnar;

/// A file may take so long of a processor, and as much again for each further MB that it is inflated.
const MAX_TIME: Duration = Duration::from_secs(1);
/// Who takes longer is asked so often again: where the system does not tell a thread's own time, it is that of the clock, and the machine has
/// other things to do too.
const SECOND_CHANCES: usize = 3;
/// Folders of fixtures are taken less often the more there is to read.
const FREE_BYTES: usize = 512;

const MAP: &str = "\
format: evalreport/map/1
name: harness
rows: item
run: {suite: {constant: quiz}, approach: approach, model: model, timestamp: when}
item: {id: task, kind: {constant: question}, score: score, status: {column: result, values: {ok: pass, wrong: fail}}}
";
const CSV: &str = "task,approach,model,result,score,when\nq1,a,m,ok,1,2026-01-02\n\"q,2\",a,m,wrong,0.5,2026-01-02T03:04:05Z\n\
    q1,b,m,ok,0,1767323045\nq3,\"b \"\"x\"\"\",m,wrong,,\n";
const ROWS: &str = "\
- {task: q1, approach: a, model: m, result: ok, score: 1, when: 2026-01-02}
- task: 'q2'
  approach: \"a\\n\"
  model: m
  result: wrong
  score: 0.5
- {task: q1, approach: b, model: m, result: ok, list: [1, 2, {a: b}]}
";

/// Parsers of files whose insides are read by place.
pub const COLUMNAR: [&str; 5] = [
    "table-arrow",
    "table-arrow-stream",
    "table-parquet",
    "table-workbook",
    "hal-archive",
];

/// What is attacked.
enum Parser {
    Foreign(ForeignFormat),
    Table(Box<TableMap>),
    Map,
    Rubric,
    Header,
    ItemLine,
    Bundle,
}

enum Source {
    File(Original),
    Archive(Archive),
    /// A file whose insides are read by place.
    Columnar(Vec<u8>),
}

impl Source {
    fn bytes(&self) -> Vec<u8> {
        match self {
            Self::File(original) => original.bytes().to_vec(),
            Self::Archive(archive) => archive.bytes(),
            Self::Columnar(bytes) => bytes.clone(),
        }
    }
}

/// A file that is broken, and the folder of what belongs with it.
struct Case {
    path: PathBuf,
    folder: Option<PathBuf>,
    source: Source,
    /// Of so many, this case is as many.
    weight: usize,
}

pub struct Subject {
    name: String,
    parser: Parser,
    cases: Vec<Case>,
    /// Where the files lie.
    place: tempfile::TempDir,
}

/// A moment, by the time that this thread had of a processor, or by the clock where the system does not tell.
struct Began(Option<Duration>, Instant);

impl Began {
    fn now() -> Self {
        Self(Self::of_thread(), Instant::now())
    }

    fn elapsed(&self) -> Duration {
        let own = Self::of_thread()
            .zip(self.0)
            .map(|(now, before)| now.saturating_sub(before));
        own.unwrap_or_else(|| self.1.elapsed())
    }

    /// On Linux the first number is the thread's nanoseconds on a processor.
    fn of_thread() -> Option<Duration> {
        let text = fs::read_to_string("/proc/thread-self/schedstat").ok()?;
        Some(Duration::from_nanos(text.split(' ').next()?.parse().ok()?))
    }
}

/// What an attack came to.
#[derive(Default)]
pub struct Attack {
    pub executions: u64,
    /// As many were not turned away before they reached the parser.
    pub reached: u64,
    pub seconds: f64,
    pub inflated: u64,
    pub largest: usize,
    /// The longest that a file took for each MB that it is inflated; one of less counts as a MB.
    pub slowest_per_mb: Duration,
}

/// Returns the names of all parsers that are attacked.
pub fn names() -> Vec<String> {
    let own = [
        "inspect-archive",
        "table-csv",
        "table-json",
        "table-jsonl",
        "table-yaml",
        "map",
        "rubric",
        "header",
        "item-line",
        "bundle",
    ];
    let own = own.into_iter().chain(COLUMNAR);
    ForeignFormat::all()
        .map(ForeignFormat::name)
        .chain(own)
        .map(str::to_owned)
        .collect()
}

/// Prints no panic of a decoder of columns, as the program does: it is reported as a problem of the file. Printing where it was would take
/// more memory than the file.
fn keep_decoders_quiet() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let usual = take_hook();
        set_hook(Box::new(move |information| {
            if !is_decoding() {
                usual(information);
            }
        }));
    });
}

impl Subject {
    pub fn named(name: &str) -> Self {
        keep_decoders_quiet();
        let memory = Path::new("/dev/shm");
        let place = if memory.is_dir() {
            tempfile::tempdir_in(memory)
        } else {
            tempfile::tempdir()
        }
        .expect("a temporary folder");
        let at = |name: &str| place.path().join(name);
        let one = |name: &str, shape: Shape, text: String| {
            vec![Case::alone(
                at(name),
                Source::File(Original::new(shape, text.into())),
            )]
        };
        let all = |files: Vec<(String, Vec<u8>)>| {
            files
                .into_iter()
                .map(|(name, bytes)| Case::alone(at(&name), Source::Columnar(bytes)))
                .collect()
        };
        let table = || {
            Parser::Table(Box::new(
                TableMap::parse("map.yaml", MAP, &BTreeMap::new()).expect("a map"),
            ))
        };
        let lines = |rows: &Value| {
            rows.as_array()
                .expect("a list")
                .iter()
                .fold(String::new(), |text, row| text + &row.to_string() + "\n")
        };
        let (parser, cases) = match name {
            "inspect-archive" => (
                Parser::Foreign(ForeignFormat::from_name("inspect").expect("a format")),
                archives(place.path()),
            ),
            "hal-archive" => (
                Parser::Foreign(ForeignFormat::from_name("hal").expect("a format")),
                all(columnar::hal_archive()),
            ),
            "table-arrow" => (table(), all(columnar::arrow(false))),
            "table-arrow-stream" => (table(), all(columnar::arrow(true))),
            "table-parquet" => (table(), all(columnar::parquet())),
            "table-workbook" => (table(), all(columnar::workbook())),
            "table-csv" => (table(), one("rows.csv", Shape::Csv, CSV.to_owned())),
            "table-json" => (table(), one("rows.json", Shape::Json, rows().to_string())),
            "table-jsonl" => (table(), one("rows.jsonl", Shape::Json, lines(&rows()))),
            "table-yaml" => (table(), one("rows.yaml", Shape::Yaml, ROWS.to_owned())),
            "map" => (Parser::Map, one("map.yaml", Shape::Yaml, MAP.to_owned())),
            "rubric" => (
                Parser::Rubric,
                one("graded.json", Shape::Json, rubric().to_string()),
            ),
            "header" => (
                Parser::Header,
                one("run.json", Shape::Json, header("r1").to_string()),
            ),
            "item-line" => (
                Parser::ItemLine,
                one(
                    "items.jsonl",
                    Shape::Json,
                    lines(&json!([item("q1"), item("q2")])),
                ),
            ),
            "bundle" => (
                Parser::Bundle,
                one("runs.jsonl", Shape::Json, lines(&bundle())),
            ),
            foreign => {
                let format = ForeignFormat::from_name(foreign).expect("the name of a parser");
                (Parser::Foreign(format), fixtures(format, place.path()))
            }
        };
        Self {
            name: name.to_owned(),
            parser,
            cases,
            place,
        }
    }

    /// Puts so many broken files before the parser. Panics with where the file is kept that it does not survive.
    pub fn attack(&self, executions: u64, seed: u64) -> Attack {
        let mut numbers = Numbers(seed);
        let mut attack = Attack::default();
        let began = Instant::now();
        let weights: usize = self.cases.iter().map(|case| case.weight).sum();
        let mut last: Option<&Case> = None;
        for _ in 0..executions {
            let case = self.drawn(numbers.below(weights));
            // The others of the folder meet it whole.
            if let Some(last) = last.filter(|last| last.folder.is_some() && last.path != case.path)
            {
                last.restore();
            }
            last = Some(case);
            let broken = match &case.source {
                Source::File(original) => original.broken(&mut numbers),
                Source::Archive(archive) => archive.broken(&mut numbers),
                Source::Columnar(bytes) => columnar::broken(bytes, &mut numbers),
            };
            self.strike(case, &broken, &mut attack);
        }
        attack.seconds = began.elapsed().as_secs_f64();
        attack
    }

    fn drawn(&self, mut lot: usize) -> &Case {
        for case in &self.cases {
            if lot < case.weight {
                return case;
            }
            lot -= case.weight;
        }
        unreachable!("lots are below the sum of all weights")
    }

    fn strike(&self, case: &Case, broken: &Broken, attack: &mut Attack) {
        fs::write(&case.path, &broken.bytes).expect("writable");
        let megabytes = (broken.inflated as f64 / 1e6).max(1.0);
        let mut took = Duration::MAX;
        for chance in 0..=SECOND_CHANCES {
            let began = Began::now();
            let survived = catch_unwind(AssertUnwindSafe(|| self.execute(case, &broken.bytes)));
            took = took.min(began.elapsed());
            // What it said was printed when it happened.
            let Ok(reached) = survived else {
                panic!(
                    "{} does not survive {}",
                    self.name,
                    self.kept(case, broken).display()
                )
            };
            attack.reached += u64::from(reached && chance == 0);
            if took <= MAX_TIME.mul_f64(megabytes) {
                break;
            }
        }
        assert!(
            took <= MAX_TIME.mul_f64(megabytes),
            "{} takes {took:?} for {}",
            self.name,
            self.kept(case, broken).display()
        );
        attack.executions += 1;
        attack.inflated += broken.inflated as u64;
        attack.largest = attack.largest.max(broken.inflated);
        attack.slowest_per_mb = attack.slowest_per_mb.max(took.div_f64(megabytes));
    }

    /// Keeps a file that was not survived.
    fn kept(&self, case: &Case, broken: &Broken) -> PathBuf {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR"))
            .join("mutations")
            .join(&self.name);
        fs::create_dir_all(&folder).expect("writable");
        let path = folder.join(case.path.file_name().expect("a name"));
        fs::write(&path, &broken.bytes).expect("writable");
        path
    }

    /// Reads the file; says whether the parser was reached.
    fn execute(&self, case: &Case, bytes: &[u8]) -> bool {
        let store = Store::new(self.place.path().join("results"));
        let none = StoredRuns::default();
        let names = NameOverrides {
            suite: Some("s".to_owned()),
            approach: Some("a".to_owned()),
            model: Some("m".to_owned()),
            ..NameOverrides::default()
        };
        match &self.parser {
            Parser::Foreign(format) => {
                let paths: Vec<&Path> = std::iter::once(&case.path)
                    .chain(&case.folder)
                    .map(PathBuf::as_path)
                    .collect();
                let names = NameOverrides::default();
                checked(&import_foreign(
                    Destination::Store(&store, &none),
                    &paths,
                    Some(*format),
                    &names,
                    ImportMode::DryRun,
                    &mut |_| {},
                ))
            }
            Parser::Table(map) => checked(&import_table(
                &store,
                &[&case.path],
                map,
                &none,
                ImportMode::DryRun,
                &mut |_| {},
            )),
            Parser::Rubric => checked(&import_rubrics(
                &store,
                &[&case.path],
                &names,
                &none,
                ImportMode::DryRun,
                &mut |_| {},
            )),
            Parser::Map => {
                let text = String::from_utf8_lossy(bytes);
                TableMap::parse("map.yaml", &text, &BTreeMap::new())
                    .is_ok_and(|map| !map.name.is_empty())
                    || !text.is_empty()
            }
            Parser::Header => {
                parse_header(bytes, "run.json", None, Some("r1")).is_ok() || !bytes.is_empty()
            }
            Parser::ItemLine => {
                let run = RunId::parse("r1").expect("an id");
                for line in bytes.split(|byte| *byte == b'\n') {
                    if let Ok(item) = ItemLine::parse(line) {
                        let outcome = item.to_outcome(&run);
                        assert!(
                            outcome.is_err()
                                || outcome
                                    .is_ok_and(|outcome| outcome.score.is_none_or(f64::is_finite))
                        );
                    }
                    details_of(line);
                }
                true
            }
            Parser::Bundle => {
                let unpacked = unpack_figures(&case.path, &store);
                if unpacked.is_ok() {
                    fs::remove_dir_all(store.root()).expect("it was just written");
                }
                true
            }
        }
    }
}

/// Holds a report to what every report must keep to.
fn checked(report: &Result<ImportReport, evalreport::results::StoreError>) -> bool {
    let report = report.as_ref().expect("nothing is written");
    for source in &report.sources {
        assert!(
            source
                .problems
                .iter()
                .all(|problem| !problem.message.is_empty()),
            "{}: a problem without words",
            source.file
        );
        assert!(
            source.rows_accepted + source.count_refused_rows() <= source.rows_read,
            "{}: rows that were not read",
            source.file
        );
    }
    report.sources.iter().any(|source| source.sha256.is_some())
}

impl Case {
    fn alone(path: PathBuf, source: Source) -> Self {
        let mut case = Self {
            path,
            folder: None,
            source,
            weight: 0,
        };
        case.weigh(0);
        case
    }

    fn weigh(&mut self, companions: usize) {
        let bytes = self.source.bytes().len();
        self.weight = (1 << 24) / (bytes + companions + FREE_BYTES);
    }

    fn restore(&self) {
        let bytes = self.source.bytes();
        fs::create_dir_all(self.path.parent().expect("a folder")).expect("writable");
        fs::write(&self.path, bytes).expect("writable");
    }
}

/// Returns the folder of the repository, from the crate of the bench and from that of the tests.
pub fn repository() -> &'static Path {
    let own = Path::new(env!("CARGO_MANIFEST_DIR"));
    own.ancestors()
        .find(|folder| folder.join("tests/fixtures/import").is_dir())
        .expect("the repository")
}

/// Returns a case for each of a format's fixtures, copied to the place.
fn fixtures(format: ForeignFormat, place: &Path) -> Vec<Case> {
    let all = repository().join("tests/fixtures/import");
    let folders =
        [format.name().to_owned(), format.name().replace('-', "_")].map(|name| all.join(name));
    let folder = folders
        .into_iter()
        .find(|folder| folder.is_dir())
        .expect("every format has fixtures");
    let mut cases = Vec::new();
    for entry in walkdir::WalkDir::new(&folder).sort_by_file_name() {
        let entry = entry.expect("readable");
        if !entry.file_type().is_file() {
            continue;
        }
        let bytes = fs::read(entry.path()).expect("readable");
        let below = entry
            .path()
            .strip_prefix(&folder)
            .expect("it was found there");
        let shape = match entry.path().extension().and_then(|ending| ending.to_str()) {
            Some("xml") => Shape::Xml,
            Some("yml" | "yaml") => Shape::Yaml,
            _ => Shape::Json,
        };
        let top = below
            .iter()
            .next()
            .filter(|top| below != Path::new(top))
            .map(|top| place.join(top));
        cases.push(Case {
            path: place.join(below),
            folder: top,
            source: Source::File(Original::new(shape, bytes)),
            weight: 0,
        });
    }
    let mut companions: BTreeMap<PathBuf, usize> = BTreeMap::new();
    for case in &cases {
        case.restore();
        if let (Some(folder), Source::File(original)) = (&case.folder, &case.source) {
            *companions.entry(folder.clone()).or_default() += original.bytes().len();
        }
    }
    for case in &mut cases {
        let bytes = case.folder.as_ref().map_or(0, |folder| companions[folder]);
        case.weigh(bytes);
    }
    cases
}

/// Returns logs as archives: finished, without summaries, and one that crashed.
fn archives(place: &Path) -> Vec<Case> {
    let fixtures = repository().join("tests/fixtures/import/inspect");
    let log = |name: &str| -> Value {
        serde_json::from_slice(&fs::read(fixtures.join(name)).expect("readable")).expect("JSON")
    };
    let mut cases = Vec::new();
    for (name, fixture, lacks) in [
        ("finished.eval", "dict-scores.json", ""),
        (
            "whole-samples.eval",
            "attachments-and-refs.json",
            "summaries.json",
        ),
        ("crashed.eval", "errors-and-limits.json", "header.json"),
    ] {
        let mut header = log(fixture);
        let samples = header
            .as_object_mut()
            .and_then(|header| header.remove("samples"))
            .expect("samples");
        let mut members = vec![
            (
                "_journal/start.json".to_owned(),
                json!({"version": 2, "eval": header["eval"], "plan": header["plan"]}),
            ),
            ("_journal/summaries/1.json".to_owned(), samples.clone()),
            ("header.json".to_owned(), header),
        ];
        for sample in samples.as_array().expect("a list").iter().take(2) {
            members.push((
                format!("samples/{}_epoch_{}.json", sample["id"], sample["epoch"]),
                sample.clone(),
            ));
        }
        members.push(("summaries.json".to_owned(), samples));
        members.retain(|(member, _)| {
            lacks.is_empty() || (member != lacks && member != "summaries.json")
        });
        let members = members
            .into_iter()
            .map(|(name, value)| (name, value.to_string().into_bytes()))
            .collect();
        cases.push(Case::alone(
            place.join(name),
            Source::Archive(Archive::new(members)),
        ));
    }
    cases
}

fn rows() -> Value {
    json!([
        {"task": "q1", "approach": "a", "model": "m", "result": "ok", "score": 1, "when": "2026-01-02"},
        {"task": "q2", "approach": "a", "model": "m", "result": "wrong", "score": 0.5, "more": {"a": [1, {"b": null}]}},
        {"task": 3, "approach": "b\u{1f}", "model": "m", "result": "ok", "score": null, "when": 1_767_323_045},
    ])
}

fn rubric() -> Value {
    let leaf = |id: &str, score: f64| {
        json!({"id": id, "requirements": "seen", "weight": 1, "score": score, "valid_score": true, "task_category": "c", "explanation": "e",
            "sub_tasks": []})
    };
    let branch = |id: &str, score: f64, below: Value| json!({"id": id, "requirements": "r", "weight": 2, "score": score, "sub_tasks": below});
    branch(
        "root",
        0.5,
        json!([
            branch("b", 0.5, json!([leaf("l1", 1.0), leaf("l2", 0.0)])),
            leaf("l3", 0.5)
        ]),
    )
}

fn header(id: &str) -> Value {
    json!({"format": "evalreport/result/1", "id": id, "suite": "s", "approach": "a", "model": "m", "status": "completed",
        "timestamp": "2026-01-02T03:04:05Z", "duration_seconds": 1.5, "shared_tests_passed": 1, "shared_tests_total": 2, "cost_usd": 0.5,
        "cost_source": "reported", "input_tokens": 10, "output_tokens": 5, "usage": {"cache_read": 3}, "seed": 7,
        "scores": [{"metric": "x", "value": 0.5, "unit": "fraction", "direction": "up", "n": 2, "evaluator": "e"}],
        "tags": {"lang": "rs"}, "git": {"rev": "abc", "branch": "main", "dirty": false}})
}

fn item(name: &str) -> Value {
    json!({"run": "r1", "item": name, "kind": "question", "evaluator": "answers", "attempt": 1, "revision": 0, "status": "pass", "score": 0.5,
        "duration_seconds": 1.5, "cost_usd": 0.1, "input_tokens": 3, "output_tokens": 4, "cluster": "c",
        "details": {"reason": "r", "reply": "x", "answer": "y", "expected": ["z"], "category": "k", "question": "q"}})
}

fn bundle() -> Value {
    json!([{"format": "evalreport/bundle/1", "runs": 1}, header("r1"), item("q1"), item("q2"), {"end": {"items": 2}}])
}
