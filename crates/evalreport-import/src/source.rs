//! Opens a foreign file: its kind by the first bytes, its digest, and the members of an archive.

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Cursor, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};
use zip::ZipArchive;

use crate::document::quote_text;
use crate::domain::Problem;
use crate::domain::to_hex;
use crate::files::{self, BoundedReader, ReadAllowance};

use super::encoding::{CodeUnits, TextEncoding, TranscodedReader};
use super::member_names::{leads_out, leads_out_message};
use super::rows::ReadStop;

const BUFFER_BYTES: usize = 64 << 10;

/// A file on disk with its digest, or several files that are parts of one source.
pub(super) struct SourceFile {
    /// Path of the file, or of the folder around the parts.
    path: PathBuf,
    /// The files of a source of several, in the order of their paths.
    parts: Vec<SourceFile>,
    /// The path as the user gave it.
    pub shown: String,
    /// The file's name without folders.
    pub name: String,
    pub sha256: String,
    pub bytes: u64,
}

/// Format of the rows of a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RowFormat {
    Csv,
    Tsv,
    Json,
    JsonLines,
    Yaml,
    Parquet,
    /// Arrow, including Feather.
    Arrow,
    /// Arrow as a stream, without a directory of its parts.
    ArrowStream,
    Workbook,
    Markdown,
}

/// A file, or one member of an archive.
pub(super) struct SourcePart<'a> {
    /// Name in messages: `outer.zip/inner.json`.
    pub label: String,
    /// Name of the file without folders.
    pub file: String,
    /// Whole path, through the archive, with `/` between its parts.
    pub path: String,
    pub member: Option<String>,
    pub format: RowFormat,
    pub input: PartInput<'a>,
}

/// Input that rows are read from.
pub(super) enum PartInput<'a> {
    Text(Box<dyn BufRead + 'a>),
    /// A file that is read at several places.
    File(File),
}

impl<'a> PartInput<'a> {
    /// Returns a reader of the text, or of the file's bytes.
    pub fn into_reader(self) -> Box<dyn BufRead + 'a> {
        match self {
            Self::Text(text) => text,
            Self::File(file) => Box::new(BufReader::new(file)),
        }
    }
}

/// Returns the lower-case hex SHA-256 over the parts. If `framed`, each part is preceded by its length.
pub(super) fn hex_digest(parts: &[&[u8]], framed: bool) -> String {
    to_hex(&digest_parts(parts, framed))
}

/// Returns the SHA-256 over the parts. If `framed`, each part is preceded by its length.
pub(super) fn digest_parts(parts: &[&[u8]], framed: bool) -> [u8; 32] {
    let mut hasher = Sha256::new();
    for part in parts {
        if framed {
            hasher.update((part.len() as u64).to_le_bytes());
        }
        hasher.update(part);
    }
    hasher.finalize().into()
}

/// Reads a file, and returns its lower-case hex SHA-256 and its length in bytes.
pub(super) fn digest_file(path: &Path) -> io::Result<(String, u64)> {
    let mut hasher = Sha256::new();
    let mut bytes = 0;
    files::for_each_block(files::open(path)?, |block| {
        bytes += block.len() as u64;
        hasher.update(block);
    })?;
    Ok((to_hex(&hasher.finalize()), bytes))
}

/// Returns the problem for an unreadable path. For an address, its hint says what to name instead.
pub(super) fn unreadable_path(shown: String, error: &std::io::Error) -> Problem {
    let is_address = shown.contains("://");
    let problem = Problem::in_file(shown, format!("cannot be read: {error}"));
    if is_address {
        problem.with_hint("files are read from disk alone: mount the object store, or copy its files, and name that folder")
    } else {
        problem
    }
}

impl SourceFile {
    /// Reads a file that is not empty once to compute its digest.
    pub fn from_path(path: &Path) -> Result<Self, Problem> {
        let source = Self::examine(path)?;
        source.emptiness().map_or(Ok(source), Err)
    }

    /// Reads the file once to compute its digest.
    fn examine(path: &Path) -> Result<Self, Problem> {
        let shown = path.display().to_string();
        let problem = |message: String| Problem::in_file(shown.clone(), message);
        let metadata =
            fs::metadata(path).map_err(|error| unreadable_path(shown.clone(), &error))?;
        if metadata.is_dir() {
            return Err(problem("is a folder, not a file".to_owned()));
        }
        if !metadata.is_file() {
            return Err(problem("is not a regular file".to_owned()));
        }
        let (sha256, bytes) =
            digest_file(path).map_err(|error| problem(format!("cannot be read: {error}")))?;
        let name = path
            .file_name()
            .map_or_else(|| shown.clone(), |name| name.to_string_lossy().into_owned());
        Ok(Self {
            path: path.to_owned(),
            parts: Vec::new(),
            shown,
            name,
            sha256,
            bytes,
        })
    }

    /// Reads each file once to compute its digest, and fails only if the disk does not give one. Several files are parts of one source.
    pub fn from_paths(paths: &[&Path]) -> Result<Self, Problem> {
        match paths {
            [path] => Self::examine(path),
            paths => paths
                .iter()
                .map(|path| Self::examine(path))
                .collect::<Result<Vec<_>, _>>()
                .map(Self::from_parts),
        }
    }

    /// Joins files that are parts of one source. Its digest is that of their names and contents.
    fn from_parts(mut parts: Vec<Self>) -> Self {
        parts.sort_by(|one, other| one.path.cmp(&other.path));
        let own = parts
            .first()
            .map(|part| part.path.clone())
            .unwrap_or_default();
        let folder = own
            .ancestors()
            .skip(1)
            .find(|folder| parts.iter().all(|part| part.path.starts_with(folder)))
            .filter(|folder| !folder.as_os_str().is_empty())
            .unwrap_or(Path::new("."))
            .to_owned();
        let named: Vec<(String, &str)> = parts
            .iter()
            .map(|part| {
                let below = part.path.strip_prefix(&folder).unwrap_or(&part.path);
                (below.to_string_lossy().into_owned(), part.sha256.as_str())
            })
            .collect();
        let digested: Vec<&[u8]> = named
            .iter()
            .flat_map(|(name, sha256)| [name.as_bytes(), sha256.as_bytes()])
            .collect();
        let absolute = std::path::absolute(&folder).unwrap_or_else(|_| folder.clone());
        let name = absolute
            .components()
            .next_back()
            .map_or_else(String::new, |name| {
                name.as_os_str().to_string_lossy().into_owned()
            });
        Self {
            shown: folder.display().to_string(),
            name,
            sha256: hex_digest(&digested, true),
            bytes: parts.iter().map(|part| part.bytes).sum(),
            path: folder,
            parts,
        }
    }

    /// Returns where the source lies.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the problem of a file without content, if the source has one.
    pub fn emptiness(&self) -> Option<Problem> {
        let mut files = std::iter::once(self).chain(&self.parts);
        let empty = files.find(|file| file.bytes == 0)?;
        Some(Problem::in_file(&empty.shown, "is empty"))
    }

    /// Returns the number of files of a source of several. A single file has no parts.
    pub fn count_parts(&self) -> usize {
        self.parts.len()
    }

    /// Returns the whole path of each file.
    pub fn file_paths(&self) -> Vec<String> {
        if self.parts.is_empty() {
            return vec![self.full_path(None)];
        }
        self.parts.iter().map(|part| part.full_path(None)).collect()
    }

    /// Returns the whole path of the file, or of a member of the archive, with `/` between its parts.
    fn full_path(&self, member: Option<&str>) -> String {
        let path = std::path::absolute(&self.path).unwrap_or_else(|_| self.path.clone());
        let parts = path
            .components()
            .map(|part| part.as_os_str().to_string_lossy());
        let path = parts.collect::<Vec<_>>().join("/");
        member.map_or_else(|| path.clone(), |member| format!("{path}/{member}"))
    }

    /// Opens the file, or each readable member of an archive in the order of names, or each file of several.
    pub fn for_each_part(
        &self,
        encoding: TextEncoding,
        progress: &mut dyn FnMut(u64),
        mut on_part: impl FnMut(SourcePart<'_>) -> Result<(), ReadStop>,
    ) -> Result<(), ReadStop> {
        if self.parts.is_empty() {
            return self.open_each_part(encoding, progress, &mut on_part);
        }
        self.parts
            .iter()
            .try_for_each(|part| part.open_each_part(encoding, progress, &mut on_part))
    }

    fn open_each_part(
        &self,
        encoding: TextEncoding,
        progress: &mut dyn FnMut(u64),
        on_part: &mut dyn FnMut(SourcePart<'_>) -> Result<(), ReadStop>,
    ) -> Result<(), ReadStop> {
        let problem =
            |message: String| ReadStop::from(Problem::in_file(self.shown.clone(), message));
        let mut file =
            files::open(&self.path).map_err(|error| problem(format!("cannot be read: {error}")))?;
        let mut head = Vec::new();
        Read::by_ref(&mut file)
            .take(6)
            .read_to_end(&mut head)
            .map_err(|error| problem(format!("cannot be read: {error}")))?;
        file.seek(SeekFrom::Start(0))
            .map_err(|error| problem(format!("cannot be read: {error}")))?;
        let format = match head.as_slice() {
            [b'P', b'A', b'R', b'1', ..] => Some(RowFormat::Parquet),
            b"ARROW1" => Some(RowFormat::Arrow),
            [0xff, 0xff, 0xff, 0xff, ..] => Some(RowFormat::ArrowStream),
            [b'P', b'K', 3, 4, ..] if is_workbook(&file) => Some(RowFormat::Workbook),
            _ => None,
        };
        if let Some((compression, tool)) = unsupported_compression(&head) {
            return Err(Problem::in_file(
                &self.shown,
                format!("is compressed with {compression}, which is not read"),
            )
            .with_hint(format!(
                "unpack it with `{tool}`, or compress it with gzip or zstd"
            ))
            .into());
        }
        if let Some(format) = format {
            file.seek(SeekFrom::Start(0))
                .map_err(|error| problem(format!("cannot be read: {error}")))?;
            let read = on_part(SourcePart {
                label: self.shown.clone(),
                file: self.name.clone(),
                path: self.full_path(None),
                member: None,
                format,
                input: PartInput::File(file),
            });
            progress(self.bytes);
            return read;
        }
        let file = ProgressReader { file, progress };
        let left = ReadAllowance::of_file(self.bytes);
        if !head.starts_with(b"PK\x03\x04") && !head.starts_with(b"PK\x05\x06") {
            let (format, input) = self.open_part(file, &left, encoding, &self.shown, &self.name)?;
            return on_part(SourcePart {
                label: self.shown.clone(),
                file: self.name.clone(),
                path: self.full_path(None),
                member: None,
                format,
                input,
            });
        }

        let damaged =
            |error: zip::result::ZipError| problem(format!("is a damaged zip archive: {error}"));
        let mut archive = ZipArchive::new(BufReader::new(file)).map_err(damaged)?;
        if let Some(name) = archive.file_names().find(|name| leads_out(name)) {
            return Err(problem(leads_out_message(name)));
        }
        let mut members: Vec<String> = archive
            .file_names()
            .filter(|name| is_readable_member(name))
            .map(str::to_owned)
            .collect();
        members.sort_unstable();
        if members.is_empty() {
            return Err(problem(
                "has no member that ends in .csv, .tsv, .json, .jsonl, .ndjson, .yaml or .yml"
                    .to_owned(),
            ));
        }
        for member in members {
            let label = format!(
                "{}/{}",
                self.shown,
                crate::domain::escape_invisible(&member)
            );
            let input = archive.by_name(&member).map_err(damaged)?;
            let (format, input) = self.open_part(
                BoundedReader::new(input, &left),
                &left,
                encoding,
                &label,
                &member,
            )?;
            on_part(SourcePart {
                label,
                file: self.name.clone(),
                path: self.full_path(Some(&member)),
                member: Some(member.clone()),
                format,
                input,
            })?;
        }
        Ok(())
    }

    /// Decompresses the input if its first bytes show a compression, and determines the format by the name's extension.
    #[expect(clippy::unused_self, reason = "opening is the source's work")]
    fn open_part<'a>(
        &self,
        mut input: impl Read + 'a,
        left: &ReadAllowance,
        encoding: TextEncoding,
        label: &str,
        name: &str,
    ) -> Result<(RowFormat, PartInput<'a>), ReadStop> {
        let problem = |message: String| Problem::in_file(label.to_owned(), message);
        let mut head = Vec::new();
        input
            .by_ref()
            .take(4)
            .read_to_end(&mut head)
            .map_err(|error| problem(format!("cannot be read: {error}")))?;
        let whole = Cursor::new(head.clone()).chain(input);
        let mut reader: Box<dyn BufRead + 'a> = if head.starts_with(&[0x1f, 0x8b]) {
            Box::new(BufReader::with_capacity(
                BUFFER_BYTES,
                BoundedReader::new(flate2::read::MultiGzDecoder::new(whole), left),
            ))
        } else if head == [0x28, 0xb5, 0x2f, 0xfd] {
            let decoder = zstd::Decoder::new(whole)
                .map_err(|error| problem(format!("is damaged: {error}")))?;
            Box::new(BufReader::with_capacity(
                BUFFER_BYTES,
                BoundedReader::new(decoder, left),
            ))
        } else {
            Box::new(BufReader::with_capacity(BUFFER_BYTES, whole))
        };
        // An error here will occur again when the rows are read, with its line number.
        let start = reader.fill_buf().unwrap_or_default();
        let units = match start {
            [0xff, 0xfe, ..] => Some(CodeUnits::LittleEndian),
            [0xfe, 0xff, ..] => Some(CodeUnits::BigEndian),
            _ if encoding == TextEncoding::Windows1252 => Some(CodeUnits::Windows1252),
            _ => None,
        };
        if let Some(units) = units {
            // The decoded text may be longer than its bytes.
            reader = Box::new(BufReader::with_capacity(
                BUFFER_BYTES,
                BoundedReader::new(TranscodedReader::new(reader, units), left),
            ));
        }
        let start = reader.fill_buf().unwrap_or_default();
        let start = start.strip_prefix("\u{feff}".as_bytes()).unwrap_or(start);
        let format = match format_from_name(name) {
            Some(format) => format,
            None if start
                .iter()
                .find(|byte| !byte.is_ascii_whitespace())
                .is_some_and(|byte| matches!(byte, b'[' | b'{')) =>
            {
                RowFormat::Json
            }
            None if has_extension(name, &["txt", "tab", "dat"]) => RowFormat::Csv,
            None => {
                let message = format!("has an unknown kind of name: {}", quote_text(name));
                return Err(problem(message)
                    .with_hint(
                        "name it .csv, .tsv, .json, .jsonl, .yaml or .md, also with .gz or .zst, or put it into a .zip; Parquet, Arrow and .xlsx are known by their content",
                    )
                    .into());
            }
        };
        Ok((format, PartInput::Text(reader)))
    }
}

/// Returns the name of a compression that is not read, and the program that unpacks it.
fn unsupported_compression(head: &[u8]) -> Option<(&'static str, &'static str)> {
    match head {
        [b'B', b'Z', b'h', ..] => Some(("bzip2", "bunzip2")),
        [0xfd, b'7', b'z', b'X', b'Z', 0] => Some(("xz", "unxz")),
        [b'7', b'z', 0xbc, 0xaf, ..] => Some(("7-Zip", "7z x")),
        _ => None,
    }
}

/// Returns whether a zip archive is a workbook.
fn is_workbook(file: &File) -> bool {
    let Ok(file) = file.try_clone() else {
        return false;
    };
    ZipArchive::new(BufReader::new(file))
        .is_ok_and(|archive| archive.file_names().any(|name| name == "xl/workbook.xml"))
}

fn has_extension(name: &str, endings: &[&str]) -> bool {
    name.to_lowercase()
        .rsplit_once('.')
        .is_some_and(|(_, ending)| endings.contains(&ending))
}

/// Returns whether a file may hold a table, judging by its name.
pub fn may_be_table(name: &str) -> bool {
    // Reading these says how to unpack them.
    let lower = name.to_lowercase();
    let name = [".bz2", ".xz"]
        .iter()
        .find_map(|ending| lower.strip_suffix(ending))
        .unwrap_or(&lower);
    format_from_name(name).is_some()
        || has_extension(
            name,
            &[
                "txt", "tab", "dat", "parquet", "pq", "arrow", "arrows", "feather", "ipc", "xlsx",
                "xlsm", "zip",
            ],
        )
}

fn is_readable_member(member: &str) -> bool {
    let hidden = member
        .split('/')
        .any(|part| part.starts_with('.') || part == "__MACOSX");
    !hidden && format_from_name(member).is_some_and(|format| format != RowFormat::Markdown)
}

fn format_from_name(name: &str) -> Option<RowFormat> {
    let name = name.to_lowercase();
    let name = [".gz", ".gzip", ".zst"]
        .iter()
        .find_map(|ending| name.strip_suffix(ending))
        .unwrap_or(&name);
    match name.rsplit_once('.')?.1 {
        "csv" => Some(RowFormat::Csv),
        "tsv" => Some(RowFormat::Tsv),
        "json" => Some(RowFormat::Json),
        "jsonl" | "ndjson" => Some(RowFormat::JsonLines),
        "yaml" | "yml" => Some(RowFormat::Yaml),
        "md" | "markdown" => Some(RowFormat::Markdown),
        _ => None,
    }
}

/// Reports how many bytes of the file were read.
struct ProgressReader<'a> {
    file: File,
    progress: &'a mut dyn FnMut(u64),
}

impl Read for ProgressReader<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.file.read(buffer)?;
        (self.progress)(read as u64);
        Ok(read)
    }
}

impl Seek for ProgressReader<'_> {
    fn seek(&mut self, place: SeekFrom) -> io::Result<u64> {
        self.file.seek(place)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_tells_the_format_behind_any_compression() {
        for (name, format) in [
            ("a.csv", Some(RowFormat::Csv)),
            ("A.CSV.GZ", Some(RowFormat::Csv)),
            ("a.b.jsonl.zst", Some(RowFormat::JsonLines)),
            ("dir/a.yml", Some(RowFormat::Yaml)),
            ("a.txt", None),
            ("csv", None),
        ] {
            assert_eq!(format_from_name(name), format, "{name}");
        }
        assert!(!is_readable_member("__MACOSX/._a.csv"));
        assert!(!is_readable_member("x/.hidden.csv"));
    }

    #[test]
    fn framed_digests_tell_parts_apart() {
        assert_ne!(
            hex_digest(&[b"ab", b"c"], true),
            hex_digest(&[b"a", b"bc"], true)
        );
        assert_eq!(
            hex_digest(&[b"abc"], false),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        );
    }
}
