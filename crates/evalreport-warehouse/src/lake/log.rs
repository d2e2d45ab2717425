//! The log of a Delta Lake table, as plain JSON: which files belong to the table.
//!
//! See the Delta transaction log protocol, reader version 1 and writer version 2. A commit is one file `NNNNNNNNNNNNNNNNNNNN.json` with one
//! action a line. It gets its name whole, and only if nobody has it: so of two publishers one has to try again.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use chrono::{DateTime, Utc};
use polars::prelude::{DataType, Schema};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::domain::{Problem, escape_invisible};
use crate::files;

use super::board_bytes::BoardBytes;

/// Names of columns by which a table's files are partitioned, with each file's values.
pub(super) type PartitionValues = Vec<(&'static str, String)>;

/// A file of a table.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct DataFile {
    pub path: PathBuf,
    pub bytes: u64,
    pub rows: Option<u64>,
    /// The only value of a column, as far as the statistics tell.
    pub publish_id: Option<String>,
    /// SHA-256 of the file, if evalreport wrote it.
    pub sha256: Option<String>,
    /// What a board reads of it.
    pub board: Option<BoardBytes>,
    /// Values of the partition columns.
    pub partition: BTreeMap<String, String>,
}

/// A file to be added.
pub(super) struct NewFile {
    /// Relative to the table's folder, as it is on disk.
    pub path: String,
    pub bytes: u64,
    pub rows: u64,
    pub sha256: String,
    pub board: Option<BoardBytes>,
    pub partition: PartitionValues,
    /// Smallest and largest text of some columns.
    pub ranges: Vec<(&'static str, String, String)>,
}

/// The state of a table after a commit.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct TableListing {
    /// The version of the last commit; `None` if there is none.
    pub version: Option<u64>,
    pub files: Vec<DataFile>,
}

impl TableListing {
    /// Returns the number of files, and their bytes.
    fn total_size(&self) -> (u64, u64) {
        (
            self.files.len() as u64,
            self.files
                .iter()
                .fold(0, |bytes, file| bytes.saturating_add(file.bytes)),
        )
    }
}

pub(super) struct DeltaLog {
    table: PathBuf,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct DeltaAction {
    add: Option<AddAction>,
    remove: Option<RemoveAction>,
    protocol: Option<DeltaProtocol>,
    meta_data: Option<Value>,
    commit_info: Option<DeltaCommitInfo>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct DeltaCommitInfo {
    #[serde(default)]
    operation_metrics: Option<CommitMetrics>,
}

/// What a commit says of itself. Numbers are texts there.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct CommitMetrics {
    num_files: Option<String>,
}

/// The state of a table after a commit, in a file `NNNNNNNNNNNNNNNNNNNN.crc` beside it. It is written after the commit, and may be missing.
#[derive(Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
struct TableChecksum {
    table_size_bytes: u64,
    num_files: u64,
    num_metadata: u64,
    num_protocol: u64,
    #[serde(default)]
    metadata: Value,
    #[serde(default)]
    protocol: Value,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct AddAction {
    path: String,
    #[serde(default)]
    partition_values: BTreeMap<String, Option<String>>,
    size: u64,
    stats: Option<String>,
    #[serde(default)]
    tags: Option<BTreeMap<String, Option<String>>>,
}

#[derive(Deserialize)]
struct RemoveAction {
    path: String,
}

#[derive(Clone, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
struct DeltaProtocol {
    min_reader_version: u64,
    #[serde(default)]
    min_writer_version: u64,
}

#[derive(Default, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", default)]
struct FileStatistics {
    num_records: Option<u64>,
    min_values: BTreeMap<String, Value>,
    max_values: BTreeMap<String, Value>,
}

impl DeltaLog {
    pub fn new(table: PathBuf) -> Self {
        Self { table }
    }

    fn log_folder(&self) -> PathBuf {
        self.table.join("_delta_log")
    }

    fn commit_path(&self, version: u64) -> PathBuf {
        self.log_folder().join(format!("{version:020}.json"))
    }

    fn checksum_path(&self, version: u64) -> PathBuf {
        self.log_folder().join(format!("{version:020}.crc"))
    }

    /// Replays the commits. Fails if one is missing, is not whole or cannot be understood: the table would be another.
    pub fn read_listing(&self) -> Result<TableListing, Problem> {
        self.replay_commits(None).map(|(listed, ..)| listed)
    }

    /// Replays the commits, the last one being `until`, if it is given.
    fn replay_commits(
        &self,
        until: Option<u64>,
    ) -> Result<(TableListing, Option<Value>, Option<DeltaProtocol>), Problem> {
        let folder = self.log_folder();
        let shown = escape_invisible(&folder.display().to_string());
        let (mut versions, mut checksums): (Vec<u64>, Vec<u64>) = (Vec::new(), Vec::new());
        let entries = match files::missing_as_none(fs::read_dir(&folder)) {
            Ok(Some(entries)) => entries,
            Ok(None) => return Ok(Default::default()),
            Err(error) => return Err(Problem::unread_file(shown, &error)),
        };
        for entry in entries {
            let name = entry
                .map_err(|error| Problem::unread_file(&*shown, &error))?
                .file_name();
            let number = |suffix: &str| {
                let number = name
                    .to_str()
                    .and_then(|name| name.strip_suffix(suffix))
                    .filter(|number| number.len() == 20)?;
                number.parse::<u64>().ok()
            };
            versions.extend(number(".json"));
            checksums.extend(number(".crc"));
        }
        versions.sort_unstable();
        if let Some((expected, _)) = (0..)
            .zip(&versions)
            .find(|(expected, found)| expected != *found)
        {
            return Err(Problem::in_file(shown, format!("has no commit {expected}, and later ones"))
                .with_hint("restore the file: evalreport reads a table from its first commit, without checkpoints"));
        }
        if let Some(lost) = checksums
            .iter()
            .max()
            .filter(|checksum| versions.last().is_none_or(|last| last < *checksum))
        {
            return Err(Problem::in_file(shown, format!("has no commit {lost}, although its checksum is there"))
                .with_hint("restore the file from a copy; if the lake is just being copied, wait until it is whole"));
        }
        versions.retain(|version| until.is_none_or(|until| *version <= until));
        let mut listed = TableListing {
            version: versions.last().copied(),
            files: Vec::new(),
        };
        let (mut metadata, mut protocol) = (None, None);
        let mut present: BTreeMap<String, usize> = BTreeMap::new();
        let mut all: Vec<Option<DataFile>> = Vec::new();
        for version in versions {
            let path = self.commit_path(version);
            let shown = escape_invisible(&path.display().to_string());
            let bytes =
                files::read(&path).map_err(|error| Problem::unread_file(&*shown, &error))?;
            let lines = (1..)
                .zip(bytes.split(|byte| *byte == b'\n'))
                .filter(|(_, line)| !line.trim_ascii().is_empty());
            let (mut actions, mut added, mut stated) = (0, 0, None);
            for (number, line) in lines {
                let wrong = |message: String| Problem::at_line(&*shown, number, message);
                let action: DeltaAction = serde_json::from_slice(line).map_err(|error| {
                    wrong(format!(
                        "is not an action of a Delta log: {}",
                        escape_invisible(&error.to_string())
                    ))
                })?;
                if let Some(DeltaProtocol {
                    min_reader_version, ..
                }) = action.protocol
                    && min_reader_version > 1
                {
                    return Err(wrong(format!("another program made this a table for readers of version {min_reader_version}"))
                        .with_hint("evalreport reads version 1, which it writes: publish into a new folder"));
                }
                actions += 1;
                metadata = action.meta_data.or(metadata);
                protocol = action.protocol.or(protocol);
                stated = action
                    .commit_info
                    .and_then(|info| info.operation_metrics?.num_files)
                    .or(stated);
                if let Some(add) = action.add {
                    added += 1;
                    let path = add.path.clone();
                    let file = self.to_data_file(add).ok_or_else(|| {
                        wrong(format!(
                            "`{}` is not a path below the table",
                            escape_invisible(&path)
                        ))
                    })?;
                    if let Some(earlier) = present.insert(path, all.len()) {
                        all[earlier] = None;
                    }
                    all.push(Some(file));
                }
                if let Some(earlier) = action
                    .remove
                    .and_then(|remove| present.remove(&remove.path))
                {
                    all[earlier] = None;
                }
            }
            let restore =
                "restore the file from a copy, or publish the runs again into a new folder";
            if actions == 0 {
                return Err(Problem::in_file(shown, "is empty: no commit is").with_hint(restore));
            }
            if let Some(stated) = stated.filter(|stated| *stated != added.to_string()) {
                let message = format!(
                    "adds {added} files, and says that it adds {}",
                    escape_invisible(&stated)
                );
                return Err(Problem::in_file(shown, message).with_hint(restore));
            }
        }
        listed.files = all.into_iter().flatten().collect();
        self.compare_checksum(&listed)?;
        Ok((listed, metadata, protocol))
    }

    /// Fails if the table is not as the checksum of its last commit says. One that is missing or unreadable says nothing.
    fn compare_checksum(&self, listed: &TableListing) -> Result<(), Problem> {
        let Some(version) = listed.version else {
            return Ok(());
        };
        let path = self.checksum_path(version);
        let shown = || escape_invisible(&path.display().to_string());
        let bytes = files::missing_as_none(files::read(&path))
            .map_err(|error| Problem::unread_file(shown(), &error))?;
        let Some(stated) =
            bytes.and_then(|bytes| serde_json::from_slice::<TableChecksum>(&bytes).ok())
        else {
            return Ok(());
        };
        let (files, bytes) = listed.total_size();
        if (stated.num_files, stated.table_size_bytes) == (files, bytes) {
            return Ok(());
        }
        let message = format!(
            "says that the table has {} files with {} bytes, and it has {files} with {bytes}",
            stated.num_files, stated.table_size_bytes
        );
        Err(Problem::in_file(shown(), message).with_hint(
            "restore `_delta_log` from a copy, or publish the runs again into a new folder",
        ))
    }

    /// Writes the checksum of a commit. The table is whole without it, so a publisher that is killed before leaves no damage.
    fn write_checksum(&self, version: u64) -> Result<(), Problem> {
        let (listed, metadata, protocol) = self.replay_commits(Some(version))?;
        let (num_files, table_size_bytes) = listed.total_size();
        let protocol = protocol.map_or(Value::Null, |protocol| json!(protocol));
        let checksum = TableChecksum {
            table_size_bytes,
            num_files,
            num_metadata: 1,
            num_protocol: 1,
            metadata: metadata.unwrap_or_default(),
            protocol,
        };
        let path = self.checksum_path(version);
        let cannot = |error: io::Error| {
            Problem::in_file(
                escape_invisible(&path.display().to_string()),
                format!("cannot be written: {error}"),
            )
        };
        let mut file = files::create_temporary_in(&self.log_folder()).map_err(cannot)?;
        let text = serde_json::to_string(&checksum).expect("a checksum is JSON");
        writeln!(file, "{text}")
            .and_then(|()| file.as_file().sync_all())
            .map_err(cannot)?;
        file.persist(&path).map_err(|error| cannot(error.error))?;
        sync_folder(&self.log_folder()).map_err(cannot)
    }

    fn to_data_file(&self, add: AddAction) -> Option<DataFile> {
        let relative = decode_path(&add.path)?;
        let is_below = Path::new(&relative)
            .components()
            .all(|part| matches!(part, std::path::Component::Normal(_)));
        let statistics: FileStatistics = add
            .stats
            .as_deref()
            .and_then(|text| serde_json::from_str(text).ok())
            .unwrap_or_default();
        let only = |column: &str| {
            let (least, most) = (
                statistics.min_values.get(column)?,
                statistics.max_values.get(column)?,
            );
            (least == most)
                .then(|| least.as_str().map(str::to_owned))
                .flatten()
        };
        is_below.then(|| DataFile {
            path: self.table.join(&relative),
            bytes: add.size,
            rows: statistics.num_records,
            publish_id: only("publish_id"),
            sha256: add
                .tags
                .as_ref()
                .and_then(|tags| tags.get("sha256")?.clone()),
            board: add
                .tags
                .and_then(|tags| BoardBytes::parse(tags.get("board")?.as_deref()?)),
            partition: add
                .partition_values
                .into_iter()
                .filter_map(|(column, value)| Some((column, value?)))
                .collect(),
        })
    }

    /// Makes the table if it does not exist. Its id is the same whoever makes it.
    pub fn create_table(
        &self,
        name: &str,
        schema: &Schema,
        partitioned_by: &[&str],
        time: DateTime<Utc>,
    ) -> Result<(), Problem> {
        if self.commit_path(0).exists() {
            return Ok(());
        }
        let id = uuid::Uuid::new_v5(
            &uuid::Uuid::NAMESPACE_URL,
            format!("evalreport lake {name}").as_bytes(),
        );
        let fields: Vec<Value> = schema
            .iter()
            .map(|(name, of)| json!({"name": name.as_str(), "type": to_delta_type(of), "nullable": true, "metadata": {}}))
            .collect();
        let actions = [
            json!({"commitInfo": commit_info("CREATE TABLE", &[], time)}),
            json!({"protocol": {"minReaderVersion": 1, "minWriterVersion": 2}}),
            json!({"metaData": {
                "id": id.to_string(),
                "name": name,
                "format": {"provider": "parquet", "options": {}},
                "schemaString": json!({"type": "struct", "fields": fields}).to_string(),
                "partitionColumns": partitioned_by,
                "configuration": {"delta.appendOnly": "true"},
                "createdTime": time.timestamp_millis(),
            }}),
        ];
        // Whoever comes first makes it.
        self.write_commit(0, &actions).map(|_| ())
    }

    /// Adds files as this version. Returns whether it did: not if another publisher has made this version meanwhile.
    pub fn commit_files(
        &self,
        version: u64,
        added: &[NewFile],
        time: DateTime<Utc>,
    ) -> Result<bool, Problem> {
        let mut actions = vec![json!({"commitInfo": commit_info("WRITE", added, time)})];
        actions.extend(added.iter().map(|file| {
            let least: BTreeMap<&str, &String> = file.ranges.iter().map(|(column, least, _)| (*column, least)).collect();
            let most: BTreeMap<&str, &String> = file.ranges.iter().map(|(column, _, most)| (*column, most)).collect();
            let statistics = json!({"numRecords": file.rows, "minValues": least, "maxValues": most, "nullCount": {}});
            let mut tags = BTreeMap::from([("sha256", file.sha256.clone())]);
            tags.extend(file.board.as_ref().map(|board| ("board", board.to_log_text())));
            json!({"add": {
                "path": encode_path(&file.path),
                "partitionValues": file.partition.iter().cloned().collect::<BTreeMap<&str, String>>(),
                "size": file.bytes,
                "modificationTime": time.timestamp_millis(),
                "dataChange": true,
                "stats": statistics.to_string(),
                "tags": tags,
            }})
        }));
        self.write_commit(version, &actions)
    }

    fn write_commit(&self, version: u64, actions: &[Value]) -> Result<bool, Problem> {
        let (folder, path) = (self.log_folder(), self.commit_path(version));
        let cannot = |error: io::Error| {
            Problem::in_file(
                escape_invisible(&path.display().to_string()),
                format!("cannot be written: {error}"),
            )
        };
        fs::create_dir_all(&folder).map_err(cannot)?;
        files::sweep_files(&folder);
        let mut file = files::create_temporary_in(&folder).map_err(cannot)?;
        let text = actions
            .iter()
            .map(ToString::to_string)
            .collect::<Vec<String>>()
            .join("\n")
            + "\n";
        file.write_all(text.as_bytes())
            .and_then(|()| file.as_file().sync_all())
            .map_err(cannot)?;
        match file.persist_noclobber(&path) {
            Ok(_) => {}
            Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => return Ok(false),
            Err(error) => return Err(cannot(error.error)),
        }
        sync_folder(&folder).map_err(cannot)?;
        self.write_checksum(version)?;
        Ok(true)
    }
}

fn commit_info(operation: &str, added: &[NewFile], time: DateTime<Utc>) -> Value {
    json!({
        "timestamp": time.timestamp_millis(),
        "operation": operation,
        "operationParameters": {"mode": "Append"},
        "engineInfo": concat!("evalreport/", env!("CARGO_PKG_VERSION")),
        "isBlindAppend": true,
        "operationMetrics": {
            "numFiles": added.len().to_string(),
            "numOutputRows": added.iter().map(|file| file.rows).sum::<u64>().to_string(),
            "numOutputBytes": added.iter().map(|file| file.bytes).sum::<u64>().to_string(),
        },
    })
}

/// Makes new names in a folder survive a power cut. Windows has no such call; its file system journals names.
pub(super) fn sync_folder(folder: &Path) -> io::Result<()> {
    if cfg!(unix) {
        files::open(folder)?.sync_all()
    } else {
        Ok(())
    }
}

fn to_delta_type(of: &DataType) -> &'static str {
    match of {
        DataType::Boolean => "boolean",
        DataType::Int32 => "integer",
        DataType::Int64 => "long",
        DataType::Float64 => "double",
        DataType::Datetime(..) => "timestamp",
        _ => "string",
    }
}

/// Returns a partition's value as part of a folder's name: only characters that mean nothing to any file system or reader.
pub(super) fn to_folder_name(value: &str) -> String {
    let mut name = String::with_capacity(value.len());
    for byte in value.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.') {
            name.push(char::from(byte));
        } else {
            name.push_str(&format!("%{byte:02X}"));
        }
    }
    name
}

/// Returns a path as it is written in a log: percent-encoded, whatever is encoded already.
fn encode_path(path: &str) -> String {
    path.replace('%', "%25")
}

fn decode_path(path: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(path.len());
    let mut rest = path.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        if *first == b'%' {
            let digits = std::str::from_utf8(after.get(..2)?).ok()?;
            bytes.push(u8::from_str_radix(digits, 16).ok()?);
            rest = &after[2..];
        } else {
            bytes.push(*first);
            rest = after;
        }
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &str) -> NewFile {
        NewFile {
            path: path.to_owned(),
            bytes: 7,
            rows: 3,
            sha256: "00".to_owned(),
            board: BoardBytes::parse("4+10,20+3 ab"),
            partition: vec![("suite", "a b/%".to_owned())],
            ranges: vec![("publish_id", "p".to_owned(), "p".to_owned())],
        }
    }

    #[test]
    fn a_version_is_committed_once_and_read_back() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let log = DeltaLog::new(folder.path().join("runs"));
        assert_eq!(
            log.read_listing().expect("no table yet"),
            TableListing::default()
        );
        let schema = Schema::from_iter([polars::prelude::Field::new(
            "run_id".into(),
            DataType::String,
        )]);
        log.create_table("runs", &schema, &[], DateTime::UNIX_EPOCH)
            .expect("writable");
        log.create_table("runs", &schema, &[], DateTime::UNIX_EPOCH)
            .expect("it is there");
        let path = format!("suite={}/part.parquet", to_folder_name("a b/%"));
        assert!(
            log.commit_files(1, &[file(&path)], DateTime::UNIX_EPOCH)
                .expect("writable")
        );
        assert!(
            !log.commit_files(1, &[file("other.parquet")], DateTime::UNIX_EPOCH)
                .expect("writable"),
            "the version is taken"
        );
        let listed = log.read_listing().expect("a whole log");
        assert_eq!(listed.version, Some(1));
        let [read] = listed.files.as_slice() else {
            panic!("one file")
        };
        assert_eq!(
            read.board.as_ref().map(BoardBytes::to_log_text).as_deref(),
            Some("4+10,20+3 ab")
        );
        assert_eq!(read.path, folder.path().join("runs").join(&path));
        assert_eq!(
            (
                read.rows,
                read.publish_id.as_deref(),
                read.partition["suite"].as_str()
            ),
            (Some(3), Some("p"), "a b/%")
        );
    }

    #[test]
    fn a_log_with_a_gap_or_a_foreign_protocol_is_refused() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let log = DeltaLog::new(folder.path().to_owned());
        log.create_table("runs", &Schema::default(), &[], DateTime::UNIX_EPOCH)
            .expect("writable");
        assert!(
            log.commit_files(1, &[], DateTime::UNIX_EPOCH)
                .expect("writable")
        );
        assert!(
            log.commit_files(2, &[], DateTime::UNIX_EPOCH)
                .expect("writable")
        );
        fs::remove_file(log.commit_path(1)).expect("it is there");
        assert!(
            log.read_listing()
                .expect_err("1 is missing")
                .message
                .contains("no commit 1")
        );
        fs::write(log.commit_path(1), r#"{"protocol":{"minReaderVersion":3,"minWriterVersion":7,"readerFeatures":["deletionVectors"]}}"#)
            .expect("writable");
        assert!(
            log.read_listing()
                .expect_err("another protocol")
                .message
                .contains("version 3")
        );
        fs::write(
            log.commit_path(1),
            r#"{"add":{"path":"../../x.parquet","size":1}}"#,
        )
        .expect("writable");
        assert!(
            log.read_listing()
                .expect_err("outside")
                .message
                .contains("not a path")
        );
        fs::write(log.commit_path(1), "{\"add\"").expect("writable");
        assert!(
            log.read_listing()
                .expect_err("cut off")
                .message
                .contains("not an action")
        );
    }

    #[test]
    fn a_log_that_lost_a_part_is_refused() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let log = DeltaLog::new(folder.path().to_owned());
        log.create_table("runs", &Schema::default(), &[], DateTime::UNIX_EPOCH)
            .expect("writable");
        assert!(
            log.commit_files(1, &[file("a.parquet")], DateTime::UNIX_EPOCH)
                .expect("writable")
        );
        assert!(
            log.commit_files(
                2,
                &[file("b.parquet"), file("c.parquet")],
                DateTime::UNIX_EPOCH
            )
            .expect("writable")
        );
        assert_eq!(log.read_listing().expect("whole").total_size(), (3, 21));
        let refusal = |version: u64, text: Option<&str>| {
            let path = log.commit_path(version);
            let whole = fs::read_to_string(&path).expect("readable");
            match text {
                Some(text) => fs::write(&path, text).expect("writable"),
                None => fs::remove_file(&path).expect("removable"),
            }
            let message = log.read_listing().expect_err("it is not whole").message;
            fs::write(&path, whole).expect("writable");
            message
        };
        let commit = fs::read_to_string(log.commit_path(2)).expect("readable");
        let lines: Vec<&str> = commit.lines().collect();
        assert!(refusal(1, Some("")).contains("is empty"));
        assert!(refusal(2, Some("\n")).contains("is empty"));
        assert!(
            refusal(2, Some(&lines[..2].join("\n")))
                .contains("adds 1 files, and says that it adds 2")
        );
        // Nothing but the checksum knows this.
        assert!(
            refusal(2, Some(lines[1]))
                .contains("the table has 3 files with 21 bytes, and it has 2 with 14")
        );
        assert!(refusal(2, None).contains("has no commit 2, although its checksum is there"));
        // A publisher that was killed before the checksum, and a checksum that is damaged, are no damage of the table.
        fs::write(log.checksum_path(2), "{").expect("writable");
        assert_eq!(log.read_listing().expect("whole").total_size(), (3, 21));
        fs::remove_file(log.checksum_path(2)).expect("removable");
        assert_eq!(log.read_listing().expect("whole").total_size(), (3, 21));
        fs::remove_file(log.commit_path(2)).expect("removable");
        assert_eq!(
            log.read_listing()
                .expect("as before the last commit")
                .total_size(),
            (1, 7)
        );
    }
}
