//! An importer that gives other records for the same bytes has another version: its output over the fixtures is kept beside the version.

use std::collections::BTreeMap;
use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use evalreport::domain::{Run, to_hex};
use evalreport::import::{
    Destination, ImportMode, ImportReport, NameOverrides, RunVisibility, StoredRuns, TableHints,
    TableMap, import_foreign, import_rubrics, import_table, importer_versions, propose_tables,
};
use evalreport::results::{SealedReader, Store, scan_store, to_json};
use sha2::{Digest, Sha256};

const KEPT: &str = "tests/fixtures/import/versions.tsv";
const UPDATE: &str = "EVALREPORT_UPDATE_VERSIONS";

const MAP: &str = "format: evalreport/map/1\nname: t\nrows: item\n\
    run: {suite: {constant: s}, approach: approach, model: model}\n\
    item: {id: q, kind: {constant: question}, cluster: topic, attempt: {column: trial, base: 0}, status: {equal: [answer, pred]}, \
    score: {column: points, metric: points, unit: number}, cost_usd: cost, input_tokens: tokens}\n";
const TABLE: &str = "approach,model,q,topic,trial,answer,pred,points,cost,tokens\na,m,1,x,0,A,A,1,0.1,10\na,m,1,x,1,A,B,0,0.2,20\n\
    a,m,2,,0,A,,,0.3,30\na,n,1,x,0,7,7.0,0.5,,5\n";
const RUBRIC: &str = r#"{"id":"r","requirements":"all","weight":1,"score":0.25,"valid_score":true,"sub_tasks":[
    {"id":"a","requirements":"A","weight":1,"score":1,"valid_score":true,"sub_tasks":[]},
    {"id":"b","requirements":"B","weight":3,"score":0,"valid_score":true,"sub_tasks":[]}]}"#;

/// What one source gave: its version and the digests of its bytes and of the records.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Line {
    version: u32,
    input: String,
    output: String,
}

type Lines = BTreeMap<(String, String), Line>;

#[test]
fn an_importer_whose_output_changes_has_another_version() {
    let found = found();
    let importers: BTreeMap<&str, u32> = importer_versions().into_iter().collect();
    for importer in importers.keys() {
        assert!(
            found.keys().any(|(name, _)| name == importer),
            "no fixture is read by `{importer}`"
        );
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(KEPT);
    let kept = parse(&fs::read_to_string(&path).unwrap_or_default());
    for ((importer, source), line) in &found {
        let Some(before) = kept.get(&(importer.clone(), source.clone())) else {
            continue;
        };
        assert!(
            !is_silent(before, line),
            "`{importer}` gives other records for {source} than before: raise its `version`, so that stores read such files again, and run \
             this test with {UPDATE}=1"
        );
    }
    if std::env::var_os(UPDATE).is_some() {
        fs::write(&path, write(&found)).expect("writable");
    } else {
        let (kept, found) = (write(&kept), write(&found));
        let [gone, new] = [(&kept, &found), (&found, &kept)].map(|(these, others)| {
            these
                .lines()
                .filter(|line| !others.contains(line))
                .collect::<Vec<_>>()
                .join("\n")
        });
        assert!(
            kept == found,
            "{KEPT} is not up to date: run this test with {UPDATE}=1\ngone:\n{gone}\nnew:\n{new}"
        );
    }
}

/// Says whether an importer gives other records for the same input, and goes by the same version.
fn is_silent(before: &Line, now: &Line) -> bool {
    before.input == now.input && before.output != now.output && before.version >= now.version
}

#[test]
fn a_changed_output_is_told_from_a_changed_input() {
    let line = |version: u32, input: &str, output: &str| Line {
        version,
        input: input.to_owned(),
        output: output.to_owned(),
    };
    let before = line(2, "in", "out");
    assert!(
        is_silent(&before, &line(2, "in", "other")) && is_silent(&before, &line(1, "in", "other"))
    );
    assert!(!is_silent(&before, &line(2, "in", "out")));
    assert!(
        !is_silent(&before, &line(3, "in", "other"))
            && !is_silent(&before, &line(2, "changed", "other"))
    );
}

#[test]
fn lines_are_read_as_they_were_written() {
    let text = "junit\t2\ta.xml\tin\tout\n";
    let lines = parse(text);
    assert_eq!(write(&lines), text);
    assert_eq!(lines[&("junit".to_owned(), "a.xml".to_owned())].version, 2);
}

fn parse(text: &str) -> Lines {
    let line = |line: &str| -> Option<((String, String), Line)> {
        let [importer, version, source, input, output] =
            line.split('\t').collect::<Vec<_>>().try_into().ok()?;
        let line = Line {
            version: version.parse().ok()?,
            input: input.to_owned(),
            output: output.to_owned(),
        };
        Some(((importer.to_owned(), source.to_owned()), line))
    };
    text.lines().filter_map(line).collect()
}

fn write(lines: &Lines) -> String {
    let line = |((importer, source), line): (&(String, String), &Line)| {
        format!(
            "{importer}\t{}\t{source}\t{}\t{}\n",
            line.version, line.input, line.output
        )
    };
    lines.iter().map(line).collect()
}

fn found() -> Lines {
    let importers: BTreeMap<&str, u32> = importer_versions().into_iter().collect();
    let place = tempfile::tempdir().expect("a temporary folder");
    let mut found = Lines::new();
    let mut add =
        |importer: &str, source: &str, report: &ImportReport, store: &dyn Fn(&str) -> Store| {
            for one in &report.sources {
                // What was refused counts as output too: a row that is read today is no row that was refused before.
                let refused: Vec<(String, u64)> = one
                    .refusals
                    .iter()
                    .map(|refusal| (refusal.reason.clone(), refusal.rows))
                    .collect();
                let refused = format!("{:?} {refused:?}", one.outcome);
                let (Some(input), key) = (&one.sha256, one.key.clone().unwrap_or_default()) else {
                    continue;
                };
                let store = store(&key);
                for run in scan_store(&store)
                    .sealed
                    .iter()
                    .flat_map(|pair| SealedReader::read_runs(&pair.runs).0)
                {
                    let said = run.provenance.and_then(|from| from.version);
                    assert_eq!(
                        said,
                        Some(importers[importer]),
                        "the provenance of a run of `{importer}` tells the importer's version"
                    );
                }
                let line = Line {
                    version: importers[importer],
                    input: short(input),
                    output: digest_of(&store, &refused),
                };
                let name = one
                    .file
                    .strip_prefix(env!("CARGO_MANIFEST_DIR"))
                    .unwrap_or(source)
                    .trim_start_matches('/');
                found.insert((importer.to_owned(), name.replace('\\', "/")), line);
            }
        };

    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/import");
    let cache = Destination::Cache(place.path());
    let report = import_foreign(
        cache,
        &[fixtures],
        None,
        &NameOverrides::default(),
        ImportMode::Store,
        &mut |_| {},
    )
    .expect("a writable folder");
    let mut by_format: BTreeMap<&str, ImportReport> = BTreeMap::new();
    for source in report.sources {
        if let Some(format) = source.foreign.as_ref().map(|foreign| foreign.format) {
            by_format.entry(format).or_default().sources.push(source);
        }
    }
    for (format, report) in &by_format {
        add(format, "", report, &|key| {
            if key.is_empty() {
                Store::new(place.path().join("none"))
            } else {
                cache.store_for(key)
            }
        });
    }

    // Every reader of tables, layout of rows and encoding, each by the map that is proposed for it, which is part of the input.
    let none: StoredRuns = std::iter::empty::<(&Run, RunVisibility)>().collect();
    let mut tables: Vec<(String, PathBuf)> = table_fixtures();
    for (name, bytes) in [
        ("t.csv", TABLE.as_bytes().to_vec()),
        ("out.arrow", crate::tables::arrow()),
    ] {
        let path = place.path().join(name);
        fs::write(&path, bytes).expect("writable");
        tables.push((name.to_owned(), path));
    }
    for (number, (name, path)) in tables.into_iter().enumerate() {
        let own = (name == "t.csv").then(|| {
            (
                TableMap::parse("m.yaml", MAP, &BTreeMap::new()).expect("a map"),
                MAP.to_owned(),
            )
        });
        let proposed = || {
            propose_tables(std::slice::from_ref(&path), &TableHints::default())
                .ok()
                .map(|proposal| (proposal.map, proposal.text))
        };
        let Some((map, text)) = own.or_else(proposed) else {
            continue;
        };
        let store = Store::new(place.path().join(format!("table-{number}")));
        let mut report = import_table(
            &store,
            &[&path],
            &map,
            &none,
            ImportMode::Store,
            &mut |_| {},
        )
        .expect("a writable folder");
        let source = &mut report.sources[0];
        source.sha256 = source
            .sha256
            .take()
            .map(|sha256| to_hex(&Sha256::digest(format!("{sha256}{text}"))));
        source.file.clone_from(&name);
        add("table", &name, &report, &|_| store.clone());
    }

    let names = |name: &str| Some(name.to_owned());
    let names = NameOverrides {
        suite: names("s"),
        approach: names("a"),
        model: names("m"),
        ..NameOverrides::default()
    };
    let rubrics = [
        ("r.json", RUBRIC.to_owned()),
        (
            "fractions.json",
            RUBRIC.replace("\"valid_score\":true", "\"valid_score\":1.0"),
        ),
        (
            "invalid.json",
            RUBRIC.replacen("\"valid_score\":true", "\"valid_score\":false", 2),
        ),
        (
            "judged.json",
            format!("{{\"graded_task_tree\":{RUBRIC},\"score\":0.25}}"),
        ),
    ];
    for (name, text) in rubrics {
        let store = Store::new(place.path().join(format!("rubric-{name}")));
        let path = place.path().join(name);
        fs::write(&path, text).expect("writable");
        let report = import_rubrics(
            &store,
            &[path],
            &names,
            &none,
            ImportMode::Store,
            &mut |_| {},
        )
        .expect("a writable folder");
        add("rubric", name, &report, &|_| store.clone());
    }
    found
}

/// The tables of `tests/it/tables`, by their paths there.
fn table_fixtures() -> Vec<(String, PathBuf)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/tables");
    let files = walkdir::WalkDir::new(&folder)
        .sort_by_file_name()
        .into_iter()
        .map(|entry| entry.expect("readable").into_path());
    let files = files.filter(|path| path.is_file() && !path.ends_with("EXPECTED.json"));
    files
        .map(|path| {
            (
                path.strip_prefix(&folder)
                    .expect("below")
                    .display()
                    .to_string()
                    .replace('\\', "/"),
                path,
            )
        })
        .collect()
}

#[test]
fn every_reader_is_held_and_tells_its_version() {
    let found = found();
    let read: Vec<&str> = found
        .keys()
        .filter(|(importer, _)| importer == "table")
        .map(|(_, source)| source.as_str())
        .collect();
    for ending in [
        "csv", "tsv", "json", "jsonl", "yaml", "parquet", "arrow", "xlsx", "gz",
    ] {
        assert!(
            read.iter()
                .any(|name| name.ends_with(&format!(".{ending}"))),
            "no table ends with .{ending}: {read:?}"
        );
    }
}

/// Over everything in the store but where it came from.
fn digest_of(store: &Store, refused: &str) -> String {
    let mut texts = vec![refused.to_owned()];
    for pair in scan_store(store).sealed {
        for run in SealedReader::read_runs(&pair.runs).0 {
            // An unnamed model is called after its file, by as much of the path as tells it from the other fixtures.
            let end = run
                .model
                .strip_prefix("unknown (")
                .and_then(|path| path.rsplit('/').next());
            let model = end.map_or_else(|| run.model.clone(), |end| format!("unknown ({end}"));
            texts.push(to_json(&Run {
                provenance: None,
                carried: None,
                model,
                ..run
            }));
        }
        if let Some(items) = pair.items {
            let mut text = String::new();
            SealedReader::open_items(&items)
                .and_then(|mut reader| reader.read_to_string(&mut text))
                .expect("readable");
            texts.extend(text.lines().map(str::to_owned));
        }
    }
    texts.sort();
    short(&to_hex(&Sha256::digest(texts.join("\n").as_bytes())))
}

fn short(digest: &str) -> String {
    digest[..16].to_owned()
}
