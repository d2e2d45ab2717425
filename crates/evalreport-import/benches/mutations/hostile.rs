//! Files that somebody made to do harm: bombs, nesting without end, names that lead elsewhere, lines and fields that fill the memory. Each
//! with what an import must say of it.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::time::Instant;

use evalreport::import::{
    Destination, ForeignFormat, ImportMode, ImportReport, NameOverrides, StoredRuns, TableMap,
    import_foreign, import_rubrics, import_table,
};
use evalreport::results::Store;
use flate2::Compression;
use flate2::write::{DeflateEncoder, GzEncoder};

use super::archive::{DEFLATED, Member, STORED, ZSTANDARD, written};
use super::memory;

const MIB: usize = 1 << 20;
/// What every file may take, however small.
pub const FREE_BYTES: u64 = 64 << 20;
/// And for each byte that it is inflated.
pub const TIMES_INFLATED: u64 = 8;
/// What is said of a bomb, and how large it is then.
const TOO_MUCH: &str = "than 512 times its size";
const MAX_TIMES: u64 = 512;
/// Deeper than any parser of ours goes.
const DEEP: usize = 100_000;
const MAP: &str = "format: evalreport/map/1\nname: m\nrows: item\nrun: {suite: {constant: s}, approach: {constant: a}, model: {constant: m}}\n\
    item: {id: task, kind: {constant: question}, status: {column: result, values: {ok: pass, wrong: fail}}}\n";
const LOG: &str = r#"{"version":2,"status":"success","eval":{"task":"t","task_id":"t1","run_id":"r1","eval_id":"e1","model":"m","created":"2026-01-02T03:04:05Z","dataset":{}},"#;
const LEADERBOARD: &str =
    "- dirname: d\n  test_cases: 225\n  model: m\n  edit_format: diff\n  pass_rate_1: ";

/// How large the files are.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Scale {
    /// For every day.
    Small,
    /// Bombs of 10 GB, lines of 1 GB.
    Full,
}

/// Who reads a file.
#[derive(Clone, Copy)]
pub enum Reader {
    Foreign(ForeignFormat),
    Table,
    Rubric,
}

pub fn foreign(format: &str) -> Reader {
    Reader::Foreign(ForeignFormat::from_name(format).expect("a format that is read"))
}

pub type Filler = Box<dyn Fn(&mut dyn Write) -> io::Result<()>>;

pub struct Hostile {
    pub name: &'static str,
    reader: Reader,
    file: &'static str,
    contents: Filler,
    /// A part of what is said; nothing where the file only must be survived.
    says: &'static str,
}

/// What became of a file.
pub struct Met {
    pub bytes: u64,
    pub seconds: f64,
    /// The most memory that was held more than before, where the system says.
    pub memory: Option<u64>,
    pub most_memory: u64,
    pub said: String,
}

impl Hostile {
    pub fn new(
        name: &'static str,
        reader: Reader,
        file: &'static str,
        says: &'static str,
        contents: Filler,
    ) -> Self {
        Self {
            name,
            reader,
            file,
            contents,
            says,
        }
    }

    /// Writes the file and has it read. Panics where it is taken for an honest one.
    pub fn meet(&self) -> Met {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join(self.file);
        let mut file = BufWriter::new(File::create(&path).expect("writable"));
        (self.contents)(&mut file)
            .and_then(|()| file.into_inner().map_err(io::IntoInnerError::into_error))
            .expect("writable");
        let bytes = fs::metadata(&path).expect("it was just written").len();
        memory::forget_peak();
        let (before, began) = (memory::bytes(), Instant::now());
        let report = self.read(&path, &Store::new(folder.path().join("results")));
        let seconds = began.elapsed().as_secs_f64();
        let memory = memory::peak_bytes()
            .zip(before)
            .map(|(peak, before)| peak.saturating_sub(before));
        let said = said(&report);
        assert!(
            said.contains(self.says),
            "{}: `{}` is not in `{said}`",
            self.name,
            self.says
        );
        let refused = report
            .sources
            .iter()
            .all(|source| source.runs_new.is_empty());
        assert!(
            refused || self.says.is_empty() || said.contains("refused"),
            "{} is taken for honest",
            self.name
        );
        let left: Vec<_> = fs::read_dir(folder.path())
            .expect("readable")
            .map(|entry| entry.expect("readable").file_name())
            .collect();
        assert_eq!(left, [self.file], "{} wrote something", self.name);
        // Texts of XML are bounded before the whole is.
        let inflated = if self.says == TOO_MUCH || self.name.contains("bomb") {
            FREE_BYTES + MAX_TIMES * bytes
        } else {
            bytes
        };
        Met {
            bytes,
            seconds,
            memory,
            most_memory: FREE_BYTES + TIMES_INFLATED * inflated,
            said,
        }
    }

    fn read(&self, path: &Path, store: &Store) -> ImportReport {
        let none = StoredRuns::default();
        let map = TableMap::parse("map.yaml", MAP, &BTreeMap::new()).expect("a map");
        let names = NameOverrides {
            suite: Some("s".to_owned()),
            approach: Some("a".to_owned()),
            model: Some("m".to_owned()),
            ..NameOverrides::default()
        };
        match self.reader {
            Reader::Foreign(format) => import_foreign(
                Destination::Store(store, &none),
                &[path],
                Some(format),
                &NameOverrides::default(),
                ImportMode::DryRun,
                &mut |_| {},
            ),
            Reader::Table => {
                import_table(store, &[path], &map, &none, ImportMode::DryRun, &mut |_| {})
            }
            Reader::Rubric => import_rubrics(
                store,
                &[path],
                &names,
                &none,
                ImportMode::DryRun,
                &mut |_| {},
            ),
        }
        .expect("nothing is written")
    }
}

/// Everything that a report complains about.
fn said(report: &ImportReport) -> String {
    let mut said = Vec::new();
    for source in &report.sources {
        said.extend(
            source
                .problems
                .iter()
                .map(|problem| problem.message.clone()),
        );
        for refusal in &source.refusals {
            said.push(format!("refused: {}", refusal.reason));
            said.extend(
                refusal
                    .examples
                    .iter()
                    .map(|problem| problem.message.clone()),
            );
        }
    }
    said.join("; ")
}

impl Scale {
    fn pick(self, small: usize, full: usize) -> usize {
        match self {
            Self::Small => small,
            Self::Full => full,
        }
    }
}

/// Spaces, which every format that can be compressed may have anywhere.
pub fn bombs(scale: Scale) -> Vec<Hostile> {
    let mebibytes = scale.pick(130, 10_000);
    let inspect = foreign("inspect");
    let spaces = |write: &mut dyn Write, mebibytes: usize| -> io::Result<()> {
        let block = [b' '; 16 << 10];
        (0..mebibytes << 6).try_for_each(|_| write.write_all(&block))
    };
    let gzip = move |write: &mut dyn Write, start: &str| -> io::Result<()> {
        let mut encoder = GzEncoder::new(write, Compression::best());
        encoder.write_all(start.as_bytes())?;
        spaces(&mut encoder, mebibytes)?;
        encoder.finish().map(drop)
    };
    let zstd = move |write: &mut dyn Write, start: &str| -> io::Result<()> {
        let mut encoder = zstd::Encoder::new(write, 3)?;
        encoder.write_all(start.as_bytes())?;
        spaces(&mut encoder, mebibytes)?;
        encoder.finish().map(drop)
    };
    let eval = move |write: &mut dyn Write, method: u16| -> io::Result<()> {
        let mut packed = Vec::new();
        if method == ZSTANDARD {
            zstd(&mut packed, "[")?;
        } else {
            let mut encoder = DeflateEncoder::new(&mut packed, Compression::best());
            encoder.write_all(b"[")?;
            spaces(&mut encoder, mebibytes)?;
            encoder.finish()?;
        }
        let header = [LOG.strip_suffix(',').unwrap_or(LOG), "}"].concat();
        let members = [
            Member::new("header.json", STORED, header.as_bytes()),
            Member::new("samples/1_epoch_1.json", STORED, b"{}"),
            Member::of_packed("summaries.json", method, packed),
        ];
        write.write_all(&written(&members))
    };
    vec![
        Hostile::new(
            "gzip bomb",
            inspect,
            "log.json.gz",
            TOO_MUCH,
            Box::new(move |write| gzip(write, LOG)),
        ),
        Hostile::new(
            "zstd bomb",
            inspect,
            "log.json.zst",
            TOO_MUCH,
            Box::new(move |write| zstd(write, LOG)),
        ),
        Hostile::new(
            "zip bomb, deflate",
            inspect,
            "log.eval",
            TOO_MUCH,
            Box::new(move |write| eval(write, DEFLATED)),
        ),
        Hostile::new(
            "zip bomb, zstd",
            inspect,
            "log.eval",
            TOO_MUCH,
            Box::new(move |write| eval(write, ZSTANDARD)),
        ),
        Hostile::new(
            "XML bomb",
            foreign("junit"),
            "r.xml.gz",
            "a part of it is longer than 64 MiB",
            Box::new(move |write| gzip(write, "<testsuite>")),
        ),
        Hostile::new(
            "table bomb",
            Reader::Table,
            "t.json.gz",
            TOO_MUCH,
            Box::new(move |write| gzip(write, "[")),
        ),
        Hostile::new(
            "bomb in an archive",
            Reader::Table,
            "t.zip",
            TOO_MUCH,
            Box::new(move |write| {
                let mut inner = Vec::new();
                gzip(&mut inner, "[")?;
                write.write_all(&written(&[Member::new("t.json.gz", STORED, &inner)]))
            }),
        ),
        Hostile::new(
            "archive in an archive",
            Reader::Table,
            "t.zip",
            "has no member that ends in",
            Box::new(|write| {
                let inner = written(&[Member::new("t.csv", DEFLATED, b"task,result\nq1,ok\n")]);
                write.write_all(&written(&[Member::new("inner.zip", DEFLATED, &inner)]))
            }),
        ),
        Hostile::new(
            "sizes that are not so",
            Reader::Table,
            "t.zip",
            "",
            Box::new(|write| {
                write.write_all(&written(&[Member::new(
                    "t.csv",
                    DEFLATED,
                    b"task,result\nq1,ok\n",
                )
                .declaring(1 << 30)]))
            }),
        ),
    ]
}

/// Names that are paths out of an archive, or no names.
pub fn names() -> Vec<Hostile> {
    let leads_out = "has a member whose name leads out of the archive";
    let inspect = foreign("inspect");
    let eval = |name: &'static str| -> Filler {
        Box::new(move |write| {
            let members = [("header.json", "{}"), (name, "{}")]
                .map(|(name, text)| Member::new(name, STORED, text.as_bytes()));
            write.write_all(&written(&members))
        })
    };
    let table = |name: &'static str| -> Filler {
        Box::new(move |write| {
            write.write_all(&written(&[Member::new(
                name,
                STORED,
                b"task,result\nq1,ok\n",
            )]))
        })
    };
    vec![
        Hostile::new("../../x", inspect, "log.eval", leads_out, eval("../../x")),
        Hostile::new(
            "a path through samples",
            inspect,
            "log.eval",
            leads_out,
            eval("samples/../../x.json"),
        ),
        Hostile::new(
            "an absolute path",
            inspect,
            "log.eval",
            leads_out,
            eval("/etc/passwd"),
        ),
        Hostile::new(
            "a zero character",
            inspect,
            "log.eval",
            leads_out,
            eval("samples/\0.json"),
        ),
        Hostile::new(
            "../x.csv of a table",
            Reader::Table,
            "t.zip",
            leads_out,
            table("../x.csv"),
        ),
        Hostile::new(
            "/x.csv of a table",
            Reader::Table,
            "t.zip",
            leads_out,
            table("/x.csv"),
        ),
        Hostile::new(
            "a name of 65 thousand characters",
            inspect,
            "log.eval",
            "",
            Box::new(|write| {
                write.write_all(&written(&[Member::new(
                    &"x/".repeat(35_000),
                    STORED,
                    b"{}",
                )]))
            }),
        ),
    ]
}

/// What opens and never closes, and what refers to itself.
pub fn nesting() -> Vec<Hostile> {
    let text =
        |content: String| -> Filler { Box::new(move |write| write.write_all(content.as_bytes())) };
    let lists = || format!("{}{}", "[".repeat(DEEP), "]".repeat(DEEP));
    let objects = || format!("{}1{}", "{\"a\":".repeat(DEEP), "}".repeat(DEEP));
    let laughs = || {
        (1..=9).fold("a0: &a0 [x]\n".to_owned(), |text, level| {
            format!(
                "{text}a{level}: &a{level} [{}]\n",
                vec![format!("*a{}", level - 1); 10].join(", ")
            )
        })
    };
    let entities = "<?xml version=\"1.0\"?><!DOCTYPE l [<!ENTITY a \"ha\"><!ENTITY b \"&a;&a;&a;\">]><testsuite name=\"&b;\"/>";
    let outside = "<?xml version=\"1.0\"?><!DOCTYPE l [<!ENTITY a SYSTEM \"file:///etc/passwd\">]><testsuite name=\"&a;\"/>";
    let many_entities = format!(
        "<testsuite><testcase name=\"{}\"/></testsuite>",
        "&a;".repeat(DEEP)
    );
    let no_types = "document type declaration";
    let deep = "recursion limit";
    vec![
        Hostile::new(
            "lists in JSON",
            foreign("promptfoo"),
            "p.json",
            deep,
            text(format!(
                "{{\"results\":{{\"version\":3,\"prompts\":{}}}}}",
                lists()
            )),
        ),
        Hostile::new(
            "objects in JSON",
            foreign("inspect"),
            "i.json",
            deep,
            text(format!(
                "{LOG}\"plan\":{},\"samples\":[{}]}}",
                objects(),
                objects()
            )),
        ),
        Hostile::new(
            "objects in CTRF",
            foreign("ctrf"),
            "c.json",
            deep,
            text(format!(
                "{{\"results\":{{\"summary\":{},\"tests\":[]}}}}",
                objects()
            )),
        ),
        Hostile::new(
            "objects in HELM",
            foreign("helm"),
            "run_spec.json",
            "",
            text(format!("{{\"name\":\"n\",\"adapter_spec\":{}}}", objects())),
        ),
        Hostile::new(
            "lists in a line",
            foreign("promptfoo"),
            "p.jsonl",
            deep,
            text(format!(
                "{{\"promptIdx\":0,\"testIdx\":0,\"vars\":{}}}\n",
                lists()
            )),
        ),
        Hostile::new(
            "lists in a table of JSON",
            Reader::Table,
            "t.json",
            "refused",
            text(format!("[{{\"task\":\"q\",\"result\":{}}}]", lists())),
        ),
        Hostile::new(
            "lists in a rubric",
            Reader::Rubric,
            "r.json",
            "nested deeper than",
            text(format!("{{\"id\":\"r\",\"sub_tasks\":{}}}", lists())),
        ),
        Hostile::new(
            "lists in YAML",
            foreign("aider"),
            "l.yml",
            "",
            text(format!("{LEADERBOARD}{}\n", lists())),
        ),
        Hostile::new(
            "a list without end in YAML",
            foreign("aider"),
            "l.yml",
            "",
            text(format!("{LEADERBOARD}{}\n", "[".repeat(DEEP))),
        ),
        Hostile::new(
            "dashes in a table of YAML",
            Reader::Table,
            "t.yaml",
            "",
            text(format!("{}x\n", "- ".repeat(DEEP))),
        ),
        Hostile::new(
            "questions in a table of YAML",
            Reader::Table,
            "t.yaml",
            "",
            text(format!("{}x\n", "? ".repeat(DEEP))),
        ),
        Hostile::new(
            "aliases in YAML",
            foreign("aider"),
            "l.yml",
            "alias",
            text(format!(
                "{LEADERBOARD}1\n  x:\n    {}",
                laughs().replace('\n', "\n    ")
            )),
        ),
        Hostile::new(
            "aliases in a table of YAML",
            Reader::Table,
            "t.yaml",
            "alias",
            text(laughs()),
        ),
        Hostile::new(
            "entities in XML",
            foreign("junit"),
            "j.xml",
            no_types,
            text(entities.to_owned()),
        ),
        Hostile::new(
            "a file as an entity",
            foreign("junit"),
            "j.xml",
            no_types,
            text(outside.to_owned()),
        ),
        Hostile::new(
            "entities that nobody declared",
            foreign("junit"),
            "j.xml",
            "",
            text(many_entities),
        ),
        Hostile::new(
            "suites in XML",
            foreign("junit"),
            "j.xml",
            "",
            text(format!(
                "{}{}",
                "<testsuite>".repeat(DEEP),
                "</testsuite>".repeat(DEEP)
            )),
        ),
        Hostile::new(
            "elements without end in XML",
            foreign("junit"),
            "j.xml",
            "",
            text(format!("<testsuite>{}", "<a>".repeat(DEEP))),
        ),
    ]
}

/// Lines, fields and values that fill the memory of who keeps them.
pub fn long(scale: Scale) -> Vec<Hostile> {
    let (line, field) = (scale.pick(100, 1000), scale.pick(80, 500));
    let filled =
        |start: String, with: &'static [u8], mebibytes: usize, end: &'static str| -> Filler {
            Box::new(move |write| {
                let block = with.repeat((64 << 10) / with.len());
                write.write_all(start.as_bytes())?;
                (0..(mebibytes * MIB).div_ceil(block.len()))
                    .try_for_each(|_| write.write_all(&block))?;
                write.write_all(end.as_bytes())
            })
        };
    let row = "{\"promptIdx\":0,\"testIdx\":0,\"success\":true,\"vars\":\"";
    vec![
        Hostile::new(
            "a line",
            foreign("promptfoo"),
            "p.jsonl",
            "bytes long; at most",
            filled(row.to_owned(), b"a", line, "\"}\n"),
        ),
        Hostile::new(
            "an element of a list",
            foreign("inspect"),
            "i.eval",
            "has a record of more than 64 MiB",
            Box::new(move |write| {
                let summaries =
                    [b"[\"".as_slice(), "a".repeat(line * MIB).as_bytes(), b"\"]"].concat();
                let header = [LOG.strip_suffix(',').unwrap_or(LOG), "}"].concat();
                let members = [
                    ("header.json", header.as_bytes()),
                    ("samples/1_epoch_1.json", b"{}"),
                    ("summaries.json", &summaries),
                ];
                write.write_all(&written(
                    &members.map(|(name, bytes)| Member::new(name, STORED, bytes)),
                ))
            }),
        ),
        Hostile::new(
            "a line of a table",
            Reader::Table,
            "t.jsonl",
            "no row has the columns",
            filled("{\"task\":\"".to_owned(), b"a", line, "\"}\n"),
        ),
        Hostile::new(
            "a field of CSV",
            Reader::Table,
            "t.csv",
            "longer than",
            filled("task,result\n\"".to_owned(), b"a", field, ""),
        ),
        Hostile::new(
            "a header of CSV",
            Reader::Table,
            "t.csv",
            "",
            filled(String::new(), b"a,", field, "\n"),
        ),
        Hostile::new(
            "a text of JSON",
            foreign("inspect"),
            "i.json",
            "",
            filled(
                format!("{LOG}\"error\":\""),
                b"a",
                line,
                "\",\"samples\":[]}",
            ),
        ),
        Hostile::new(
            "a document of YAML",
            foreign("aider"),
            "l.yml",
            "is longer than",
            filled(LEADERBOARD.to_owned(), b"a", line, "\n"),
        ),
        Hostile::new(
            "a table of YAML",
            Reader::Table,
            "t.yaml",
            "is longer than 32 MiB",
            filled("- task: ".to_owned(), b"a", line, "\n"),
        ),
        Hostile::new(
            "an attribute of XML",
            foreign("junit"),
            "j.xml",
            "",
            filled("<testsuite name=\"".to_owned(), b"a", line, "\"/>"),
        ),
    ]
}

/// Nothing but values of a byte or two, which are fifty times as large once they are read.
pub fn tiny(scale: Scale) -> Vec<Hostile> {
    let mebibytes = scale.pick(6, 24);
    let json = "holds more values than are read of JSON";
    let yaml = "holds more values than are read of YAML";
    let filled = |start: String, with: &'static str, end: &'static str| -> Filler {
        Box::new(move |write| {
            write.write_all(start.as_bytes())?;
            write.write_all(
                with.repeat((mebibytes * MIB).div_ceil(with.len()))
                    .as_bytes(),
            )?;
            write.write_all(end.as_bytes())
        })
    };
    let prompts = || "{\"results\":{\"version\":3,\"prompts\":[".to_owned();
    let table = |with| filled("[".to_owned(), with, "0]\n");
    vec![
        Hostile::new(
            "numbers of a header",
            foreign("promptfoo"),
            "p.json",
            json,
            filled(prompts(), "0,", "0]}}"),
        ),
        Hostile::new(
            "lists of a header",
            foreign("promptfoo"),
            "p.json",
            json,
            filled(prompts(), "[0],", "0]}}"),
        ),
        Hostile::new(
            "objects of a header",
            foreign("promptfoo"),
            "p.json",
            json,
            filled(prompts(), "{\"a\":0},", "0]}}"),
        ),
        Hostile::new(
            "texts of a header",
            foreign("promptfoo"),
            "p.json",
            json,
            filled(prompts(), "\"\",\"a\",", "0]}}"),
        ),
        Hostile::new(
            "numbers of a plan",
            foreign("inspect"),
            "i.json",
            json,
            filled(
                format!("{LOG}\"samples\":[],\"plan\":{{\"steps\":["),
                "0,",
                "0]}}",
            ),
        ),
        Hostile::new(
            "numbers of a row",
            foreign("promptfoo"),
            "p.jsonl",
            json,
            filled(
                "{\"promptIdx\":0,\"testIdx\":0,\"vars\":[".to_owned(),
                "0,",
                "0]}\n",
            ),
        ),
        Hostile::new(
            "numbers of a result",
            foreign("lm-eval"),
            "results_2026-01-02T03-04-05.json",
            json,
            filled(
                "{\"results\":{\"t\":{\"acc\":[".to_owned(),
                "0,",
                "0]}},\"configs\":{\"t\":{}}}",
            ),
        ),
        Hostile::new(
            "numbers of a rubric",
            Reader::Rubric,
            "r.json",
            "holds more values than are read of",
            filled("{\"id\":\"r\",\"sub_tasks\":[".to_owned(), "0,", "0]}"),
        ),
        Hostile::new(
            "numbers of a leaderboard",
            foreign("aider"),
            "l.yml",
            yaml,
            filled(format!("{LEADERBOARD}["), "0,", "0]\n"),
        ),
        Hostile::new(
            "numbers of a table of YAML",
            Reader::Table,
            "t.yaml",
            yaml,
            table("0,"),
        ),
        Hostile::new(
            "maps of a table of YAML",
            Reader::Table,
            "t.yaml",
            yaml,
            table("{a: 0},"),
        ),
        Hostile::new(
            "keys of a table of YAML",
            Reader::Table,
            "t.yaml",
            yaml,
            table("a: 0,"),
        ),
        Hostile::new(
            "lists of a table of YAML",
            Reader::Table,
            "t.yaml",
            yaml,
            table("[],"),
        ),
        Hostile::new(
            "anchors of a table of YAML",
            Reader::Table,
            "t.yaml",
            yaml,
            table("&a "),
        ),
        Hostile::new(
            "questions in brackets of YAML",
            Reader::Table,
            "t.yaml",
            yaml,
            table("? "),
        ),
        Hostile::new(
            "rows of a table of YAML",
            Reader::Table,
            "t.yaml",
            yaml,
            filled(String::new(), "- 0\n", ""),
        ),
    ]
}
