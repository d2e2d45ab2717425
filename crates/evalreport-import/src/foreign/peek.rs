//! A first look at a file: its kind of content by the first bytes, and the keys at its beginning.
//!
//! A look tells the formats apart without reading the whole file. It may be cut off anywhere, so only the outline of JSON is read.

use std::collections::BTreeMap;
use std::io::{self, Cursor, Read};
use std::path::{Path, PathBuf};

use zip::ZipArchive;

use super::super::json_scanner::{JsonPart, JsonParts, JsonScanner};
use super::super::rows::ReadStop;
use super::buffered_seek::BufferedSeekFile;
use super::source::{ForeignFile, is_zip};

use crate::files;

/// Bytes that are looked at. Formats can be recognised within them.
const MAX_HEAD_BYTES: u64 = 256 << 10;
/// Depth of the outline. Deeper keys tell no format apart.
const MAX_DEPTH: usize = 4;
const MAX_KEYS: usize = 4096;
/// Longest text kept. Longer texts tell no format apart.
const MAX_TEXT_BYTES: usize = 200;

/// Kind of a file's content, by its first bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ContentKind {
    Zip,
    /// An object or a list, or one value per line.
    Json,
    Xml,
    /// YAML, CSV, anything else.
    Text,
}

/// Facts from the beginning of a file.
pub(super) struct Peek {
    pub path: PathBuf,
    /// The file's name without folders.
    pub name: String,
    pub content: ContentKind,
    /// The first bytes, decompressed.
    pub head: Vec<u8>,
    /// The names in an archive, sorted.
    members: Vec<String>,
    /// The keys found, by path, each with its text, number or boolean, if it has one.
    outline: BTreeMap<String, Option<String>>,
    /// A second value follows the first, so the file has one JSON value per line.
    pub is_lines: bool,
}

impl Peek {
    /// Looks at a file of a source. If it cannot be read, neither can the source.
    pub fn from_source_file(file: &ForeignFile) -> Result<Self, ReadStop> {
        Self::from_path(&file.path)
            .map_err(|error| file.problem(format!("cannot be read: {error}")))
    }

    pub fn from_path(path: &Path) -> io::Result<Self> {
        let mut file = files::open(path)?;
        let mut start = Vec::new();
        Read::by_ref(&mut file).take(4).read_to_end(&mut start)?;
        let whole = Cursor::new(start.clone()).chain(file);
        let mut peek = Self {
            path: path.to_owned(),
            name: path
                .file_name()
                .map_or_else(String::new, |name| name.to_string_lossy().into_owned()),
            content: ContentKind::Text,
            head: Vec::new(),
            members: Vec::new(),
            outline: BTreeMap::new(),
            is_lines: false,
        };
        if is_zip(&start) {
            peek.content = ContentKind::Zip;
            peek.members = match ZipArchive::new(BufferedSeekFile::open(files::open(path)?)?) {
                Ok(archive) => archive.file_names().map(str::to_owned).collect(),
                // A truncated archive has lost its directory. Its first member reveals the format, and reading the archive reports the
                // damage.
                Err(_) => first_member(&read_head(whole)).into_iter().collect(),
            };
            peek.members.sort_unstable();
            return Ok(peek);
        }
        peek.head = if start.starts_with(&[0x1f, 0x8b]) {
            read_head(flate2::read::MultiGzDecoder::new(whole))
        } else if start == [0x28, 0xb5, 0x2f, 0xfd] {
            read_head(zstd::Decoder::new(whole)?)
        } else {
            read_head(whole)
        };
        let text = peek
            .head
            .strip_prefix("\u{feff}".as_bytes())
            .unwrap_or(&peek.head)
            .trim_ascii_start();
        match text.first() {
            Some(b'{' | b'[') => {
                let mut outline = OutlineReader {
                    scanner: JsonScanner::new(text),
                    text: Vec::new(),
                    keys: BTreeMap::new(),
                };
                // A value that is not complete in the head ends the outline.
                let is_whole = outline.read_outline(&mut String::new(), 0).is_some();
                peek.is_lines =
                    is_whole && matches!(outline.scanner.peek_byte(), Ok(Some(b'{' | b'[')));
                peek.outline = outline.keys;
                peek.content = ContentKind::Json;
            }
            Some(b'<') => peek.content = ContentKind::Xml,
            _ => {}
        }
        Ok(peek)
    }

    /// Returns whether the beginning of the JSON has the key: `a.b` is `b` inside the object `a`, `[].a` is `a` in a list's first element.
    pub fn has(&self, key: &str) -> bool {
        self.outline.contains_key(key)
    }

    pub fn has_all(&self, keys: &[&str]) -> bool {
        keys.iter().all(|key| self.has(key))
    }

    /// Returns the text, number or boolean under the key.
    pub fn text(&self, key: &str) -> Option<&str> {
        self.outline.get(key)?.as_deref()
    }

    /// Returns the keys of the outline directly below `parent`. An empty `parent` means the whole value.
    pub fn keys_below<'a>(&'a self, parent: &str) -> impl Iterator<Item = &'a str> {
        let prefix = if parent.is_empty() {
            String::new()
        } else {
            format!("{parent}.")
        };
        self.outline.keys().filter_map(move |key| {
            key.strip_prefix(prefix.as_str())
                .filter(|rest| !rest.contains('.'))
        })
    }

    pub fn has_member(&self, name: &str) -> bool {
        self.members
            .binary_search_by(|member| member.as_str().cmp(name))
            .is_ok()
    }

    pub fn has_member_ending(&self, ending: &str) -> bool {
        self.members.iter().any(|member| member.ends_with(ending))
    }

    pub fn has_member_in(&self, folder: &str) -> bool {
        self.members.iter().any(|member| member.starts_with(folder))
    }

    /// Returns the name of the folder `levels` above the file. Level 0 is the folder that holds the file.
    pub fn folder_name(&self, levels: usize) -> Option<&str> {
        self.path.ancestors().nth(levels + 1)?.file_name()?.to_str()
    }
}

/// Returns the name of an archive's first member.
fn first_member(archive: &[u8]) -> Option<String> {
    const NAME_LENGTH_OFFSET: usize = 26;
    const NAME_OFFSET: usize = 30;
    let length = archive.get(NAME_LENGTH_OFFSET..NAME_LENGTH_OFFSET + 2)?;
    let length = usize::from(u16::from_le_bytes([length[0], length[1]]));
    String::from_utf8(archive.get(NAME_OFFSET..NAME_OFFSET + length)?.to_vec()).ok()
}

/// Returns the first decompressed bytes. A decompression error ends them; reading the file reports it.
fn read_head(mut reader: impl Read) -> Vec<u8> {
    let mut head = Vec::new();
    let mut block = [0; 16 << 10];
    while (head.len() as u64) < MAX_HEAD_BYTES {
        match reader.read(&mut block) {
            Ok(0) => break,
            Ok(read) => head.extend_from_slice(&block[..read]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => break,
        }
    }
    head
}

/// Reads keys from JSON that may be cut off anywhere.
struct OutlineReader<'a> {
    scanner: JsonScanner<&'a [u8]>,
    /// The last value, as it is written.
    text: Vec<u8>,
    keys: BTreeMap<String, Option<String>>,
}

impl OutlineReader<'_> {
    /// Skips one value and notes its keys. Returns `None` if the text ends within it or is not JSON.
    fn read_outline(&mut self, path: &mut String, depth: usize) -> Option<()> {
        let begin = self.scanner.peek_byte().ok()??;
        if matches!(begin, b'{' | b'[') && depth < MAX_DEPTH {
            self.note_key(path, None);
            let parts = JsonParts::new(&mut self.scanner);
            return if begin == b'{' {
                self.read_entries(parts, path, depth)
            } else {
                self.read_first_element(parts, path, depth)
            };
        }
        self.text.clear();
        self.scanner.copy_value(&mut self.text).ok()?;
        if !matches!(begin, b'{' | b'[') && self.text != b"null" {
            let text = self
                .text
                .strip_prefix(b"\"")
                .and_then(|text| text.strip_suffix(b"\""))
                .unwrap_or(&self.text);
            let text =
                String::from_utf8_lossy(&text[..text.len().min(MAX_TEXT_BYTES)]).into_owned();
            self.note_key(path, Some(text));
        }
        Some(())
    }

    fn read_entries(
        &mut self,
        mut object: JsonParts,
        path: &mut String,
        depth: usize,
    ) -> Option<()> {
        loop {
            match object.next_entry(&mut self.scanner).ok()? {
                JsonPart::Value(key) => {
                    let length = path.len();
                    if !path.is_empty() {
                        path.push('.');
                    }
                    path.push_str(&key);
                    self.note_key(path, None);
                    self.read_outline(path, depth + 1)?;
                    path.truncate(length);
                }
                JsonPart::End => return Some(()),
                JsonPart::Wrong(_) => return None,
            }
        }
    }

    /// Looks into the first element of a list only.
    fn read_first_element(
        &mut self,
        mut list: JsonParts,
        path: &mut String,
        depth: usize,
    ) -> Option<()> {
        let mut is_first = true;
        loop {
            match list.next_element(&mut self.scanner).ok()? {
                JsonPart::Value(()) if std::mem::take(&mut is_first) => {
                    let length = path.len();
                    path.push_str("[]");
                    self.read_outline(path, depth + 1)?;
                    path.truncate(length);
                }
                JsonPart::Value(()) => self.scanner.skip_value().ok()?,
                JsonPart::End => return Some(()),
                JsonPart::Wrong(_) => return None,
            }
        }
    }

    fn note_key(&mut self, path: &str, text: Option<String>) {
        if !path.is_empty() && (self.keys.len() < MAX_KEYS || self.keys.contains_key(path)) {
            self.keys.insert(path.to_owned(), text);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn peek(bytes: &[u8]) -> Peek {
        let file = tempfile::NamedTempFile::new().expect("a temporary file");
        std::fs::write(file.path(), bytes).expect("writable");
        Peek::from_path(file.path()).expect("readable")
    }

    #[test]
    fn keys_are_read_off_json_that_is_cut_off() {
        let text =
            br#"{"version": 2, "eval": {"task": "t\"x", "list": [{"a": 1}, {"b": 2}]}, "deep": {"a": {"b": {"c": {"d": 1}}}}, "cut": "he"#;
        let found = peek(text);
        assert_eq!(found.content, ContentKind::Json);
        assert!(
            found.has_all(&["version", "eval.task", "eval.list[].a", "deep.a.b", "cut"]),
            "{:?}",
            found.outline
        );
        assert!(!found.has("eval.list[].b") && !found.has("deep.a.b.c.d") && !found.is_lines);
        assert_eq!(
            (
                found.text("version"),
                found.text("eval.task"),
                found.text("eval")
            ),
            (Some("2"), Some("t\\\"x"), None)
        );
        assert_eq!(
            found.keys_below("eval").collect::<Vec<_>>(),
            ["list", "list[]", "task"]
        );
        for end in 0..text.len() {
            peek(&text[..end]);
        }
    }

    #[test]
    fn brackets_that_do_not_match_end_the_look() {
        for text in [
            b"[1}".as_slice(),
            b"[1, 2}",
            b"[[1}, 2]",
            b"{\"a\": [1}}",
            b"{]",
            b"[1 2 }",
            b"{\"a\": ]",
            b"[\"a\" }",
        ] {
            assert_eq!(peek(text).content, ContentKind::Json);
        }
    }

    #[test]
    fn the_first_bytes_tell_what_a_file_is_written_in() {
        let gzip = |bytes: &[u8]| {
            let mut encoder =
                flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
            std::io::Write::write_all(&mut encoder, bytes).expect("memory");
            encoder.finish().expect("memory")
        };
        assert_eq!(
            peek(b"\xef\xbb\xbf <testsuites/>").content,
            ContentKind::Xml
        );
        assert_eq!(peek(b"- dirname: x\n").content, ContentKind::Text);
        assert_eq!(peek(b"PK\x03\x04 and no more").content, ContentKind::Zip);
        let lines = peek(&gzip(b"{\"a\": 1}\n{\"a\": 2}\n"));
        assert!(lines.is_lines && lines.has("a"));
        let list = peek(b"[{\"id\": 1}, 2]");
        assert!(list.has("[].id") && !list.is_lines);
    }
}
