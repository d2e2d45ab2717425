//! Imports tables by a map.

use std::path::Path;

use crate::domain::{ItemOutcome, Problem, Provenance};
use crate::results::{Store, StoreError};

use super::columns::SourceColumns;
use super::each_file::{FileImporter, import_files};
use super::file_parts::group_parts;
use super::ledger::Ledger;
use super::map::{TABLE_IMPORTER, TableMap};
use super::map_rows::{for_each_map_row, map_columns};
use super::mode::ImportMode;
use super::report::{ImportReport, MissingColumn, SourceReport};
use super::rows::ReadStop;
use super::source::{SourceFile, hex_digest};
use super::stored::StoredRuns;
use super::table_runs::TableRuns;

/// Goes up by one when the same rows by the same map give other records. Sources imported before are then read again.
pub(super) const VERSION: u32 = 6;

/// Imports each file by the map, or all as one source if they are parts of the same runs. `existing` are the runs of the store; a run that
/// grew or changed replaces its stored version. `progress` is called with the number of further bytes read.
///
/// If the disk does not give a file, it is reported and nothing is imported. A file without a row that fits the map is reported; the others
/// are imported all the same. Returns an error only if writing to the store fails. Earlier files are imported then.
pub fn import_table(
    store: &Store,
    files: &[impl AsRef<Path>],
    map: &TableMap,
    existing: &StoredRuns,
    mode: ImportMode,
    progress: &mut dyn FnMut(u64),
) -> Result<ImportReport, StoreError> {
    let reading = FileImporter {
        importer: TABLE_IMPORTER,
        version: VERSION,
        key_of: &|source| import_key(source, map),
        provenance: &|file| Provenance {
            map: Some(map.file.clone()),
            map_sha256: Some(map.sha256.clone()),
            url: map.url.clone(),
            ..file
        },
        read: &|source, ledger, progress, report| read_rows(source, map, ledger, progress, report),
    };
    let files: Vec<&Path> = files.iter().map(AsRef::as_ref).collect();
    let sources = group_parts(&files, map);
    import_files(&reading, store, &sources, existing, mode, progress)
}

/// Reads the source once, row by row.
fn read_rows<'a>(
    source: &SourceFile,
    map: &TableMap,
    ledger: Ledger<'a>,
    progress: &mut dyn FnMut(u64),
    report: &mut SourceReport,
) -> Result<Ledger<'a>, ReadStop> {
    let mut columns = map_columns(map);
    let mut fold = TableRuns::new(map, ledger);
    let read = read_source(
        source,
        map,
        u64::MAX,
        &mut columns,
        &mut fold,
        progress,
        &mut |_| {},
    );
    let ledger = &fold.ledger;
    (report.rows_read, report.rows_accepted, report.items) =
        (ledger.rows_read, ledger.rows_accepted, ledger.outcomes);
    read?;
    if fold.ledger.rows_read == 0 {
        return Err(Problem::in_file(&report.file, "has no rows").into());
    }
    // Without these columns every row was refused. One problem is clearer than all those refusals.
    if let Some(problem) =
        columns.essential_columns_problem(|name| map.is_essential(name), &report.file)
    {
        return Err(problem.into());
    }
    report.columns_lacking = describe_missing_columns(&columns, map);
    report.columns_unused = columns.unread_columns();
    report.rows_skipped = fold.rows_skipped;
    Ok(fold.finish())
}

/// Returns the key of the pair: the same bytes with the same map are the same import.
fn import_key(source: &SourceFile, map: &TableMap) -> String {
    let version = VERSION.to_string();
    let mut parts = vec![source.sha256.as_bytes(), map.sha256.as_bytes()];
    if VERSION > 1 {
        parts.extend([b"version".as_slice(), version.as_bytes()]);
    }
    if map.reads_file_name {
        parts.push(source.name.as_bytes());
    }
    let names = names_in_path(source, map);
    parts.extend(names.iter().map(String::as_bytes));
    hex_digest(&parts, true)
}

/// Returns the names that the map reads in the source's path. Under other names the same bytes are another source.
pub(super) fn names_in_path(source: &SourceFile, map: &TableMap) -> Vec<String> {
    let paths = source.file_paths();
    let names = map
        .shape
        .path
        .iter()
        .flat_map(|(_, part)| paths.iter().filter_map(|path| part.text_in(path)));
    names.collect()
}

/// Reads up to `most` rows of each part of the source into `fold`, and passes items' outcomes to `seen`. If `most` ended the reading, the
/// error has no problems.
pub(super) fn read_source(
    source: &SourceFile,
    map: &TableMap,
    most: u64,
    columns: &mut SourceColumns,
    fold: &mut TableRuns<'_, '_>,
    progress: &mut dyn FnMut(u64),
    seen: &mut dyn FnMut(&ItemOutcome),
) -> Result<(), ReadStop> {
    for_each_map_row(source, map, most, columns, progress, &mut |row, place| {
        match row {
            None => fold.rows_skipped += 1,
            Some(row) => {
                if let Some(outcome) = fold.take_row(row, place)? {
                    seen(outcome);
                }
            }
        }
        Ok(())
    })
}

fn describe_missing_columns(columns: &SourceColumns, map: &TableMap) -> Vec<MissingColumn> {
    let describe = |name: &str| MissingColumn {
        column: name.to_owned(),
        fields: map.fields_of(name).to_vec(),
        hint: columns.spelling_hint(name),
    };
    columns.missing_columns().map(describe).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::fs;
    use std::io::{Read as _, Write as _};

    use super::*;
    use crate::domain::{Direction, ItemKind, ItemOutcome, ItemStatus, Run, RunId};
    use crate::results::{ItemLine, SealedReader, examine_store, scan_store};
    use crate::{RunVisibility, SourceOutcome, SourceRun};

    const ITEMS: &str = "format: evalreport/map/1\nname: t\nrows: item\n\
        run: {suite: {constant: s}, approach: approach, model: model}\n\
        item: {id: q, kind: {constant: question}, cluster: topic, attempt: {column: trial, base: 0}, status: {equal: [answer, pred]}, \
        score: {column: points, metric: points, unit: number}, cost_usd: cost, input_tokens: tokens}\n";

    const RUNS: &str = "format: evalreport/map/1\nname: t\nrows: run\n\
        run: {suite: suite, approach: approach, model: model, passed: passed, total: total, cost_usd: cost, timestamp: date}\n\
        stated: {rate: {value: rate, unit: percent, passed: passed, total: total, decimals: 1}}\n";

    const HEADER: &str = "approach,model,q,topic,trial,answer,pred,points,cost,tokens\n";

    /// A temporary store and a temporary folder of files.
    struct Place {
        folder: tempfile::TempDir,
        store: Store,
    }

    impl Place {
        fn new() -> Self {
            let folder = tempfile::tempdir().expect("a temporary folder");
            let store = Store::new(folder.path().join("results"));
            Self { folder, store }
        }

        fn file(&self, name: &str, bytes: &[u8]) -> std::path::PathBuf {
            let path = self.folder.path().join(name);
            fs::write(&path, bytes).expect("a writable folder");
            path
        }

        fn import_as(
            &self,
            map: &str,
            files: &[(&str, &[u8])],
            mode: ImportMode,
        ) -> Vec<SourceReport> {
            let map = TableMap::parse("m.yaml", map, &BTreeMap::new()).expect("a valid map");
            let files: Vec<_> = files
                .iter()
                .map(|(name, bytes)| self.file(name, bytes))
                .collect();
            let runs = self.runs();
            let existing: StoredRuns = runs
                .iter()
                .map(|run| (run, RunVisibility::Counts))
                .collect();
            let report = import_table(&self.store, &files, &map, &existing, mode, &mut |_| {})
                .expect("a writable store");
            assert_eq!(report.dry_run, mode == ImportMode::DryRun);
            report.sources
        }

        fn import(&self, map: &str, name: &str, bytes: &[u8]) -> SourceReport {
            self.import_as(map, &[(name, bytes)], ImportMode::Store)
                .remove(0)
        }

        fn runs(&self) -> Vec<Run> {
            scan_store(&self.store)
                .sealed
                .iter()
                .flat_map(|pair| SealedReader::read_runs(&pair.runs).0)
                .collect()
        }

        /// The lines of the stored items.
        fn lines(&self) -> Vec<String> {
            let mut lines = Vec::new();
            for pair in scan_store(&self.store).sealed {
                let mut text = String::new();
                let path = pair.items.expect("a pair has items");
                SealedReader::open_items(&path)
                    .and_then(|mut reader| reader.read_to_string(&mut text))
                    .expect("readable items");
                lines.extend(text.lines().map(str::to_owned));
            }
            lines
        }

        fn items(&self) -> Vec<ItemOutcome> {
            let nobody = RunId::parse("nobody").expect("a valid id");
            let outcome = |line: String| {
                ItemLine::parse(line.as_bytes())
                    .and_then(|item| item.to_outcome(&nobody))
                    .expect("a valid line")
            };
            self.lines().into_iter().map(outcome).collect()
        }

        fn answers(&self) -> Vec<String> {
            let answer = |line: &String| {
                let line: serde_json::Value = serde_json::from_str(line).expect("JSON");
                line["details"]["answer"].as_str().map(str::to_owned)
            };
            self.lines().iter().filter_map(answer).collect()
        }
    }

    /// The messages of all examples, without the folder.
    fn refused(report: &SourceReport) -> Vec<String> {
        report
            .refusals
            .iter()
            .flat_map(|refusal| &refusal.examples)
            .map(|problem| format!("{}: {}", problem.line.unwrap_or(0), problem.message))
            .collect()
    }

    fn problem(report: &SourceReport) -> String {
        assert_eq!(
            (report.outcome, report.problems.len()),
            (SourceOutcome::Unreadable, 1),
            "{report:?}"
        );
        let problem = &report.problems[0];
        let name = problem.file.rsplit('/').next().unwrap_or_default();
        format!("{name}:{}: {}", problem.line.unwrap_or(0), problem.message)
    }

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder
            .write_all(bytes)
            .and_then(|()| encoder.finish())
            .expect("memory")
    }

    fn zip_of(members: &[(&str, &[u8])]) -> Vec<u8> {
        let mut writer = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
        for (name, bytes) in members {
            writer
                .start_file(*name, zip::write::SimpleFileOptions::default())
                .expect("memory");
            writer.write_all(bytes).expect("memory");
        }
        writer.finish().expect("memory").into_inner()
    }

    #[test]
    fn items_become_runs_with_counts_sums_and_provenance() {
        let place = Place::new();
        let rows = format!(
            "{HEADER}a,m,1,x,0,A,A,1,0.1,10\na,m,1,x,1,A,B,0,0.2,20\na,m,2,,0,A,,,0.3,30\na,n,1,x,0,7,7.0,0.5,,5\n"
        );
        let report = place.import(ITEMS, "f.csv", rows.as_bytes());
        assert_eq!(
            (
                report.outcome,
                report.rows_read,
                report.rows_accepted,
                report.items
            ),
            (SourceOutcome::Imported, 4, 4, 4)
        );
        let runs = place.runs();
        assert_eq!(
            runs.iter()
                .map(|run| run.model.as_str())
                .collect::<Vec<_>>(),
            ["m", "n"]
        );
        assert_eq!(
            (runs[0].shared_tests_passed, runs[0].shared_tests_total),
            (Some(1), Some(3))
        );
        assert_eq!(
            (
                runs[0].cost_usd.map(|cost| (cost * 1e9).round()),
                runs[0].input_tokens
            ),
            (Some(6e8), Some(60))
        );
        assert_eq!(
            (runs[0].scores[0].value, runs[0].scores[0].n),
            (Some(0.5), Some(2))
        );
        assert_eq!(
            (runs[1].cost_usd, runs[1].input_tokens),
            (None, Some(5)),
            "a sum with a part unknown is unknown"
        );
        let provenance = runs[0].provenance.as_ref().expect("imports have one");
        assert_eq!(
            (
                provenance.file.as_str(),
                provenance.map.as_deref(),
                provenance.sha256.len()
            ),
            ("f.csv", Some("m.yaml"), 64)
        );
        let items = place.items();
        assert_eq!(
            items
                .iter()
                .map(|item| (item.item.as_str(), item.attempt, item.status))
                .collect::<Vec<_>>(),
            [
                ("1", 1, ItemStatus::Pass),
                ("1", 2, ItemStatus::Fail),
                ("2", 1, ItemStatus::Fail),
                ("1", 1, ItemStatus::Pass),
            ]
        );
        assert_eq!(
            (
                items[2].cluster.as_deref(),
                items[2].score,
                items[3].run.clone()
            ),
            (None, None, runs[1].id.clone())
        );
        assert_eq!(examine_store(&place.store).damage, []);
    }

    #[test]
    fn importing_again_adds_nothing() {
        let place = Place::new();
        let rows = format!("{HEADER}a,m,1,x,0,A,A,1,0.1,10\n");
        assert_eq!(
            place.import(ITEMS, "f.csv", rows.as_bytes()).outcome,
            SourceOutcome::Imported
        );
        assert_eq!(
            place.import(ITEMS, "renamed.csv", rows.as_bytes()).outcome,
            SourceOutcome::AlreadyImported
        );
        // The same rows compressed are another file with the same runs.
        let repeated = place.import(ITEMS, "f.csv.gz", &gzip(rows.as_bytes()));
        assert_eq!(
            (
                repeated.outcome,
                repeated.runs_repeated.len(),
                repeated.items
            ),
            (SourceOutcome::NothingNew, 1, 0)
        );
        assert_eq!((place.runs().len(), place.items().len()), (1, 1));
        assert_eq!(examine_store(&place.store).damage, []);
    }

    #[test]
    fn other_figures_in_another_file_are_another_run_of_the_arm() {
        let place = Place::new();
        let first = "suite,approach,model,passed,total,rate,cost,date\ns,a,m,1,2,50,,\n";
        let second = "suite,approach,model,passed,total,rate,cost,date\ns,a,m,1,2,50.1,,\ns,a,n,1,3,33.3,0,2024-01-02\n";
        let reports = place.import_as(
            RUNS,
            &[
                ("a.csv", first.as_bytes()),
                ("b.csv", second.as_bytes()),
                ("c.csv", first.as_bytes()),
            ],
            ImportMode::Store,
        );
        assert_eq!(
            reports
                .iter()
                .map(|report| report.outcome)
                .collect::<Vec<_>>(),
            [
                SourceOutcome::Imported,
                SourceOutcome::Imported,
                SourceOutcome::AlreadyImported
            ]
        );
        let models =
            |runs: &[SourceRun]| runs.iter().map(|run| run.model.clone()).collect::<Vec<_>>();
        assert_eq!(
            (
                models(&reports[1].runs_new),
                models(&reports[1].runs_repeated)
            ),
            (vec!["m".to_owned(), "n".to_owned()], vec![])
        );
        let stated = &reports[1].stated;
        assert_eq!(
            (stated.checked, stated.agree, stated.disagreements.len()),
            (2, 1, 1)
        );
        assert_eq!(
            (
                stated.disagreements[0].run.model.as_str(),
                stated.disagreements[0].run.line
            ),
            ("m", Some(2))
        );
        let runs = place.runs();
        assert_eq!(runs.len(), 3);
        let zero = runs.iter().find(|run| run.model == "n").expect("stored");
        assert_eq!(zero.cost_usd, Some(0.0), "zero stays zero");
        assert_eq!(
            runs.iter()
                .find(|run| run.model == "m")
                .expect("stored")
                .cost_usd,
            None,
            "and empty stays unknown"
        );
    }

    #[test]
    fn a_dry_run_says_the_same_and_writes_nothing() {
        let place = Place::new();
        let rows = format!("{HEADER}a,m,1,x,0,A,A,1,0.1,10\na,m,1,x,0,A,A,1,0.1,10\n");
        let dry = place.import_as(ITEMS, &[("f.csv", rows.as_bytes())], ImportMode::DryRun);
        assert!(!place.store.root().exists());
        let wet = place.import_as(ITEMS, &[("f.csv", rows.as_bytes())], ImportMode::Store);
        assert_eq!(dry, wet);
    }

    #[test]
    fn each_bad_row_is_refused_with_its_line_and_reason() {
        let place = Place::new();
        let rows = format!(
            "{HEADER}a,m,1,x,0,A,A,1,0.1,10\na,m,1,x,0,A,A,1,0.1,10\na,m,2,x,0,A,A,NaN,0.1,10\na,m,2,x,0,A,A,1e400,0.1,10\n\
            a,m,2,x,0,A,A,1,-0.1,10\na,m,2,x,0,A,A,1,0.1,-10\na,m,2,x,0,A,A,1,0.1,1.5\na,m,,x,0,A,A,1,0.1,1\na,,2,x,0,A,A,1,0.1,1\n\
            a,m,2,x,,A,A,1,0.1,1\na,m,2,x,0,,A,1,0.1,1\na,m,2\na,m,2,x,0,A,A,1,0.1,-11\n"
        );
        let report = place.import(ITEMS, "f.csv", rows.as_bytes());
        assert_eq!(
            refused(&report),
            [
                "3: row 2: the attempt at the item is there twice (item `1`, attempt 1)",
                "4: row 3: `points` is not a number (it is `NaN`)",
                "5: row 4: `points` is not a finite number (it is `1e400`)",
                "6: row 5: `cost` is negative (it is `-0.1`)",
                "7: row 6: `tokens` is negative (it is `-10`)",
                "14: row 13: `tokens` is negative (it is `-11`)",
                "8: row 7: `tokens` is not a whole number (it is `1.5`)",
                "9: row 8: `q` is empty",
                "10: row 9: `model` is empty",
                "11: row 10: `trial` is empty",
                "12: row 11: `answer`, which is expected, is empty",
                "13: row 12: wrong number of columns (it has 3, the header 10)",
            ]
        );
        assert_eq!(
            (
                report.rows_read,
                report.rows_accepted,
                report.count_refused_rows()
            ),
            (13, 1, 12)
        );
        assert_eq!(place.items().len(), 1);
    }

    #[test]
    fn examples_are_few_and_counts_are_whole() {
        let place = Place::new();
        let mut rows = HEADER.to_owned();
        for _ in 0..50 {
            rows.push_str("a,m,1,x,0,A,A,x,0.1,10\n");
        }
        let report = place.import(ITEMS, "f.csv", rows.as_bytes());
        assert_eq!(
            (
                report.outcome,
                report.refusals[0].rows,
                report.refusals[0].examples.len()
            ),
            (SourceOutcome::NothingAccepted, 50, 3)
        );
        assert!(
            !place.store.root().exists(),
            "nothing accepted, nothing written"
        );
    }

    #[test]
    fn a_file_that_cannot_be_read_is_one_problem_and_stores_nothing() {
        let place = Place::new();
        let rows = format!("{HEADER}a,m,1,x,0,A,A,1,0.1,10\n");
        let whole = gzip(rows.repeat(50).as_bytes());
        let json =
            br#"[{"approach":"a","model":"m","q":1,"trial":0,"answer":"A","pred":"A"},{"approach""#;
        let cases: [(&str, &[u8], &str); 8] = [
            ("f.csv", b"", "f.csv:0: is empty"),
            (
                "f.csv",
                b"approach,model\n",
                "f.csv:0: no row has the columns `q`, `trial`, `answer`, `pred`",
            ),
            ("f.csv", HEADER.as_bytes(), "f.csv:0: has no rows"),
            (
                "f.csv.gz",
                &whole[..whole.len() - 9],
                "f.csv.gz:101: is cut off after row 99",
            ),
            ("f.json", json, "f.json:1: is cut off after row 1"),
            (
                "f.zip",
                b"PK\x03\x04 and no more",
                "f.zip:0: is a damaged zip archive: invalid Zip archive: Could not find EOCD",
            ),
            (
                "f.bin",
                b"hello",
                "f.bin:0: has an unknown kind of name: `f.bin`",
            ),
            (
                "f.csv",
                &[0xff, 0xfe, b'a', 0],
                "f.csv:0: no row has the columns `approach`, `model`, `q`, `trial`, `answer`, `pred`",
            ),
        ];
        for (name, bytes, expected) in cases {
            assert_eq!(problem(&place.import(ITEMS, name, bytes)), expected);
        }
        let map = TableMap::parse("m.yaml", ITEMS, &BTreeMap::new()).expect("a valid map");
        let missing = place.folder.path().join("missing.csv");
        let report = import_table(
            &place.store,
            &[place.folder.path(), &missing],
            &map,
            &StoredRuns::default(),
            ImportMode::Store,
            &mut |_| {},
        )
        .expect("no writing");
        assert_eq!(
            report.sources[0].problems[0].message,
            "is a folder, not a file"
        );
        assert!(
            report.sources[1].problems[0]
                .message
                .starts_with("cannot be read: ")
        );
        let left = fs::read_dir(place.store.imports_dir()).map_or(0, Iterator::count);
        assert_eq!(left, 0, "what was begun is gone");
    }

    #[test]
    fn a_column_that_no_row_has_is_named_once_with_the_nearest() {
        let place = Place::new();
        let row = br#"{"approach":"a","modl":"m","q":1,"trial":0,"answer":"A","pred":"A","extra":1}
"#;
        let report = place.import(ITEMS, "f.jsonl", &row.repeat(20));
        assert_eq!(problem(&report), "f.jsonl:0: no row has the column `model`");
        let hint = report.problems[0].hint.as_deref().unwrap_or_default();
        assert_eq!(
            hint,
            "did you mean `modl`? the columns are `answer`, `approach`, `extra`, `modl`, `pred`, `q`, `trial`"
        );
        // Missing columns that are not essential are only reported.
        let fixed = String::from_utf8_lossy(row).replace("modl", "model");
        let report = place.import(ITEMS, "g.jsonl", fixed.as_bytes());
        let lacking: Vec<(&str, &str)> = report
            .columns_lacking
            .iter()
            .map(|one| (one.column.as_str(), one.fields[0].as_str()))
            .collect();
        assert_eq!(
            lacking,
            [
                ("topic", "item.cluster"),
                ("points", "item.score"),
                ("cost", "item.cost_usd"),
                ("tokens", "item.input_tokens")
            ]
        );
        assert_eq!(report.columns_unused, ["extra"]);
    }

    #[test]
    fn every_member_of_an_archive_is_read_in_the_order_of_names() {
        let place = Place::new();
        let json = br#"[{"approach":"a","model":"m","q":2,"trial":0,"answer":"A","pred":"A"}]"#;
        let csv = format!("{HEADER}a,m,1,x,0,A,A,1,0.1,10\n");
        let bad = format!("{HEADER}a,m,1,x,0,A,A,1,x,10\n");
        let bytes = zip_of(&[
            ("z/late.csv.gz", &gzip(bad.as_bytes())),
            ("readme.txt", b"x"),
            ("b.json", json),
            ("a.csv", csv.as_bytes()),
        ]);
        let report = place.import(ITEMS, "f.zip", &bytes);
        assert_eq!((report.rows_read, report.rows_accepted), (3, 2));
        assert!(
            report.refusals[0].examples[0]
                .file
                .ends_with("f.zip/z/late.csv.gz")
        );
        assert_eq!(
            place
                .items()
                .iter()
                .map(|item| item.item.as_str())
                .collect::<Vec<_>>(),
            ["1", "2"]
        );
    }

    #[test]
    fn the_order_of_the_rows_does_not_change_the_runs() {
        let map = ITEMS.replace("model: model", "model: model, timestamp: date");
        let mut rows: Vec<String> = Vec::new();
        for model in ["m", "n", "o"] {
            for question in 0..40 {
                let (cost, points) = (0.1 * f64::from(question + 1), 1.0 / f64::from(question + 3));
                let pred = if question % 3 == 0 { "A" } else { "B" };
                rows.push(format!(
                    "2024-01-{:02},a,{model},{question},x,0,A,{pred},{points},{cost},{question}",
                    question % 28 + 1
                ));
            }
        }
        let text = |rows: &[String]| format!("date,{HEADER}{}\n", rows.join("\n"));
        // Other bytes under the same names are another run, with the same content.
        let nobody = || Store::imported_run_id("", &[]);
        let bare = |runs: Vec<Run>| {
            let mut bare: Vec<Run> = runs
                .into_iter()
                .map(|run| Run {
                    id: nobody(),
                    provenance: None,
                    ..run
                })
                .collect();
            bare.sort_by(|one, other| one.model.cmp(&other.model));
            bare
        };
        let (forward, backward) = (Place::new(), Place::new());
        forward.import(&map, "f.csv", text(&rows).as_bytes());
        rows.sort_by_key(|row| row.bytes().rev().collect::<Vec<_>>());
        backward.import(&map, "f.csv", text(&rows).as_bytes());
        assert_eq!(bare(forward.runs()).len(), 3);
        assert_eq!(bare(forward.runs()), bare(backward.runs()));
        let sorted = |place: &Place| {
            let mut items: Vec<_> = place
                .items()
                .into_iter()
                .map(|item| {
                    format!(
                        "{:?}",
                        ItemOutcome {
                            run: nobody(),
                            ..item
                        }
                    )
                })
                .collect();
            items.sort();
            items
        };
        assert_eq!(sorted(&forward), sorted(&backward));
    }

    #[test]
    fn rows_that_contradict_their_run_are_refused() {
        let place = Place::new();
        let map = ITEMS.replace(
            "model: model",
            "model: model, identity: [run], agent: agent",
        );
        let head = "run,agent,approach,model,q,trial,answer,pred\n";
        let rows =
            format!("{head}r,x,a,m,1,0,A,A\nr,y,a,m,2,0,A,A\nr,x,a,n,2,0,A,A\nr,,a,m,2,0,A,A\n");
        let report = place.import(&map, "f.csv", rows.as_bytes());
        assert_eq!(
            refused(&report),
            [
                "3: row 2: rows of one run disagree about its agent",
                "4: row 3: rows of one run disagree about its approach, model or index"
            ]
        );
        assert_eq!((place.runs().len(), place.items().len()), (1, 2));
    }

    #[test]
    fn occurrences_number_the_attempts_and_thresholds_decide() {
        let place = Place::new();
        let map = ITEMS
            .replace(
                "attempt: {column: trial, base: 0}",
                "attempt: {occurrence: true}",
            )
            .replace(
                "status: {equal: [answer, pred]}",
                "status: {column: points, pass_at_least: 0.5}",
            );
        let rows = "approach,model,q,points\na,m,1,0.5\na,m,1,0.4\na,m,2,\na,m,1,1\n";
        place.import(&map, "f.csv", rows.as_bytes());
        let found: Vec<_> = place
            .items()
            .iter()
            .map(|item| (item.item.clone(), item.attempt, item.status))
            .collect();
        let expected = [
            ("1", 1, ItemStatus::Pass),
            ("1", 2, ItemStatus::Fail),
            ("2", 1, ItemStatus::NotEvaluated),
            ("1", 3, ItemStatus::Pass),
        ];
        assert_eq!(
            found,
            expected.map(|(item, attempt, status)| (item.to_owned(), attempt, status))
        );
        assert_eq!(
            place.runs()[0].shared_tests_total,
            Some(3),
            "what was not evaluated is not counted"
        );
    }

    #[test]
    fn scores_without_a_status_stand_outside_of_pass_rates() {
        let place = Place::new();
        let map = ITEMS
            .replace("status: {equal: [answer, pred]}, ", "category: topic, ")
            .replace("cluster: topic, ", "")
            .replace("{constant: question}", "{constant: task}")
            .replace(
                "unit: number",
                "unit: number, direction: down, range: [0, 10]",
            );
        let rows = "approach,model,q,topic,trial,points\na,m,1,x,0,9.5\na,m,2,,0,\na,m,3,y,0,0\na,m,4,y,0,10.5\n";
        let report = place.import(&map, "f.csv", rows.as_bytes());
        assert_eq!(
            refused(&report),
            ["5: row 4: `points` is outside 0 to 10 (it is `10.5`)"]
        );
        let items = place.items();
        let found: Vec<_> = items
            .iter()
            .map(|item| (item.status, item.score, item.category.as_deref()))
            .collect();
        let expected = [
            (ItemStatus::Skipped, Some(9.5), Some("x")),
            (ItemStatus::NotEvaluated, None, None),
            (ItemStatus::Skipped, Some(0.0), Some("y")),
        ];
        assert_eq!(found, expected);
        assert!(
            items
                .iter()
                .all(|item| item.kind == ItemKind::Task && item.cluster.is_none())
        );
        let run = &place.runs()[0];
        assert_eq!(run.shared_tests_total, None);
        let mean = &run.scores[0];
        assert_eq!(
            (mean.value, mean.n, mean.direction, mean.range),
            (Some(4.75), Some(2), Direction::Down, Some([0.0, 10.0]))
        );
        assert_eq!(examine_store(&place.store).damage, []);
    }

    #[test]
    fn counts_are_of_what_the_map_says() {
        let place = Place::new();
        let map = RUNS.replace("total: total, cost", "total: total, counted: task, cost")
            + "scores: {grade: {value: cost, unit: percent, direction: up, range: [0, 60]}}\n";
        let rows =
            "suite,approach,model,passed,total,rate,cost,date\ns,a,m,1,2,50,30,\ns,a,n,,,,30,\n";
        place.import(&map, "f.csv", rows.as_bytes());
        let runs = place.runs();
        assert_eq!(
            [runs[0].counted, runs[1].counted],
            [Some(ItemKind::Task), None],
            "nothing was counted"
        );
        assert_eq!(
            (runs[0].scores[0].value, runs[0].scores[0].range),
            (Some(0.3), Some([0.0, 0.6]))
        );
    }

    #[test]
    fn the_same_bytes_by_another_map_replace_what_they_gave() {
        let place = Place::new();
        let rows = format!("{HEADER}a,m,1,x,0,A,A,1,0.1,10\na,n,1,x,0,A,A,1,0.1,10\n");
        let first = place.import(ITEMS, "f.csv", rows.as_bytes());
        let map = ITEMS.replace("cluster: topic", "category: topic");
        let again = place.import_as(
            &map,
            &[("f.csv", rows.as_bytes()), ("copy.csv", rows.as_bytes())],
            ImportMode::Store,
        );
        assert_eq!(
            again.iter().map(|one| one.outcome).collect::<Vec<_>>(),
            [SourceOutcome::Imported, SourceOutcome::AlreadyImported]
        );
        let ids = |report: &SourceReport| {
            report
                .runs_new
                .iter()
                .map(|run| run.id.clone())
                .collect::<Vec<_>>()
        };
        let replaced: Vec<_> = again[0]
            .runs_replaced
            .iter()
            .map(|one| (one.run.clone(), one.by.clone(), one.found))
            .collect();
        let expected: Vec<_> = ids(&first)
            .into_iter()
            .zip(ids(&again[0]))
            .map(|(run, by)| (run, by, 1))
            .collect();
        assert_eq!(replaced, expected);
        let of = |id: &RunId| {
            place
                .runs()
                .into_iter()
                .find(|run| run.id == *id)
                .expect("the run")
        };
        let new = of(&replaced[0].1);
        assert_eq!(
            new.provenance.expect("a source").first.as_ref(),
            Some(&replaced[0].0)
        );
        let items: Vec<ItemOutcome> = place
            .items()
            .into_iter()
            .filter(|item| item.run == new.id)
            .collect();
        assert_eq!(
            (
                items.len(),
                items[0].cluster.as_deref(),
                items[0].category.as_deref()
            ),
            (1, None, Some("x"))
        );
        // Other bytes with the same runs are a repeat, whatever the map.
        let other = place.import(&map, "f.csv.gz", &gzip(rows.as_bytes()));
        assert_eq!(
            (
                other.outcome,
                other.runs_repeated.len(),
                other.runs_replaced.len()
            ),
            (SourceOutcome::NothingNew, 2, 0)
        );
    }

    #[test]
    fn a_run_that_is_there_twice_is_refused_and_so_are_impossible_counts() {
        let place = Place::new();
        let rows = "suite,approach,model,passed,total,rate,cost,date\ns,a,m,1,2,50,1,\ns,a,m,2,2,100,1,\ns,a,n,3,2,100,1,\ns,a,n,2,2,101,1,\n\
            s,a,n,2,2,,1,soon\ns,a,o,,9,,1,\n";
        let report = place.import(RUNS, "f.csv", rows.as_bytes());
        let first = format!(
            "row 2: the run is there twice (first in {}, line 2)",
            report.file
        );
        assert_eq!(
            refused(&report),
            [
                &format!("3: {first}"),
                "4: row 3: `passed` is more than `total` (3 of 2)",
                "5: row 4: `rate` is outside 0 to 100 (it is `101`)",
                "6: row 5: `date` is not a date or time (it is `soon`)",
            ]
        );
        let runs = place.runs();
        assert_eq!(
            (runs[1].shared_tests_passed, runs[1].shared_tests_total),
            (None, None),
            "a total alone is no count"
        );
    }

    #[test]
    fn times_beyond_the_calendar_refuse_their_row_and_leave_the_store_readable() {
        let place = Place::new();
        let map = RUNS.replace("timestamp: date", "timestamp: {column: date, format: unix}");
        let rows = "suite,approach,model,passed,total,rate,cost,date\ns,a,m,1,2,50,1,1763683200\ns,a,n,1,2,50,1,1763683200000\n";
        let report = place.import(&map, "f.csv", rows.as_bytes());
        assert_eq!(
            refused(&report),
            ["3: row 2: `date` is not in the years 1970 to 9999 (it is `1763683200000`)"]
        );
        assert_eq!(place.runs().len(), 1);
        assert_eq!(examine_store(&place.store).damage, []);
    }

    #[test]
    fn a_scale_holds_for_every_field_that_reads_a_column() {
        let place = Place::new();
        let map = "format: evalreport/map/1\nname: t\nrows: run\n\
            run: {suite: suite, approach: approach, model: model, index: {column: index, divide: 10}, \
            passed: {column: passed, multiply: 100}, total: {column: total, multiply: 100}, \
            input_tokens: {column: kilo, multiply: 1000}, total_calls: {sum: [a, b], divide: 2}, \
            timestamp: {column: micros, divide: 1000, format: unix_ms}, tags: {mega: {column: kilo, divide: 1000}}}\n\
            stated: {rate: {value: {column: share, multiply: 100}, unit: percent, passed: {column: passed, multiply: 100}, \
            total: {column: total, multiply: 100}}}\n";
        let rows = "suite,approach,model,index,passed,total,kilo,a,b,micros,share\n\
            s,a,m,20,0.5,0.8,12.5,3,5,1763683200500000,0.63\ns,a,n,20,0.5,0.8,12.3456,3,5,,\n";
        let report = place.import(map, "f.csv", rows.as_bytes());
        assert_eq!(
            refused(&report),
            ["3: row 2: `kilo` is not a whole number once it is scaled (it is `12.3456`)"]
        );
        let run = &place.runs()[0];
        assert_eq!(
            (
                run.run_index,
                run.shared_tests_passed,
                run.shared_tests_total
            ),
            (Some(2), Some(50), Some(80))
        );
        assert_eq!((run.input_tokens, run.total_calls), (Some(12_500), Some(4)));
        assert_eq!(
            run.timestamp.map(|time| time.to_rfc3339()).as_deref(),
            Some("2025-11-21T00:00:00.500+00:00")
        );
        assert_eq!(run.tags["mega"], "0.0125");
        assert_eq!(
            (
                run.stated[0].value,
                run.stated[0].rounding,
                report.stated.agree
            ),
            (0.63, Some(0.005), 1)
        );
    }

    #[test]
    fn a_text_that_is_cut_says_so() {
        let place = Place::new();
        let map = ITEMS.replace("item: {id: q", "item: {answer: pred, id: q");
        let rows = format!(
            "{HEADER}a,m,1,x,0,A,{},1,0.1,10\na,m,2,x,0,A,{},1,0.1,10\n",
            "é".repeat(2000),
            "é".repeat(2001)
        );
        place.import(&map, "f.csv", rows.as_bytes());
        assert_eq!(
            place.answers(),
            ["é".repeat(2000), format!("{}…", "é".repeat(1999))]
        );
    }

    #[test]
    fn the_ready_maps_are_valid() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/look-up/import");
        let mut maps = 0;
        for entry in fs::read_dir(folder).expect("the maps' folder") {
            let path = entry.expect("a readable folder").path();
            if path
                .extension()
                .is_some_and(|extension| extension == "yaml")
            {
                let map = TableMap::load(&path, &BTreeMap::new())
                    .unwrap_or_else(|problems| panic!("{problems}"));
                assert!(
                    map.url.is_some() && map.licence.is_some(),
                    "{} names its source",
                    path.display()
                );
                maps += 1;
            }
        }
        assert!(maps >= 5);
    }
}
