//! Reads rows of JSON: the elements of a list anywhere in the file, objects one after another, or one object per line.
//!
//! Each element is parsed separately, so that an invalid element costs only its own row.

use std::fmt;
use std::io::{self, BufRead};

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

use crate::domain::escape_invisible;
use crate::results::LineReader;

use super::cell::{CellKind, MAX_TRIES, Refused, RowCell};
use super::columns::ColumnTree;
use super::json_scanner::{JsonPart, JsonParts, JsonScanner};
use super::rows::{MAX_RECORD_BYTES, ReadStop, RowSink};

/// Number of rows whose columns are all noted by name. In later rows only the wanted columns are.
const MAX_ROWS_FOR_NAMES: u64 = 1000;

/// Reads the list at `path`, or without a path the file's list or sequence of objects.
pub(super) fn read_json(
    input: impl BufRead,
    path: Option<&str>,
    rows: &mut RowSink<'_>,
) -> Result<(), ReadStop> {
    let mut scanner = JsonScanner::new(input);
    let mut cells = rows.columns.empty_cells();
    match scan_rows(&mut scanner, path, rows, &mut cells) {
        Ok(()) => Ok(()),
        Err(ScanError::Stop(stop)) => Err(stop),
        Err(ScanError::Io(error)) => Err(rows.read_error(Some(scanner.line), &error)),
        Err(ScanError::Wrong(message)) => {
            Err(rows.unreadable_problem(Some(scanner.line), message).into())
        }
    }
}

/// Reads one object per line. An invalid line is refused; a last line that is cut off makes the file unreadable.
pub(super) fn read_json_lines(input: impl BufRead, rows: &mut RowSink<'_>) -> Result<(), ReadStop> {
    let mut cells = rows.columns.empty_cells();
    let mut lines = LineReader::new(input);
    let mut number = 0;
    while let Some(line) = lines
        .next_line()
        .map_err(|error| rows.read_error(Some(number + 1), &error))?
    {
        number = line.number as u64;
        let Ok(text) = line.text else {
            rows.refuse(Some(number), too_long())?;
            continue;
        };
        let text = if number == 1 {
            text.strip_prefix("\u{feff}".as_bytes()).unwrap_or(text)
        } else {
            text
        };
        if !line.is_ended && is_cut_off(text) {
            // Storing the whole lines would make short runs, which the complete file could not replace later.
            return Err(rows
                .unreadable_problem(Some(number), "is cut off in the middle of the JSON")
                .with_hint("fetch the file again; nothing of it was stored")
                .into());
        }
        if !text.trim_ascii().is_empty() {
            accept_element(text, Some(number), rows, &mut cells)?;
        }
    }
    if number == 0 {
        Err(rows.unreadable_problem(None, "is empty").into())
    } else {
        Ok(())
    }
}

fn is_cut_off(text: &[u8]) -> bool {
    !text.trim_ascii().is_empty()
        && serde_json::from_slice::<serde::de::IgnoredAny>(text).is_err_and(|error| error.is_eof())
}

fn too_long() -> Refused {
    Refused::new(format!("longer than {} MiB", MAX_RECORD_BYTES >> 20))
}

/// Parses one element and passes it on.
fn accept_element(
    bytes: &[u8],
    line: Option<u64>,
    rows: &mut RowSink<'_>,
    cells: &mut [RowCell],
) -> Result<(), ReadStop> {
    cells.iter_mut().for_each(RowCell::clear);
    if rows.columns.takes_all() {
        let mut element = RowCell::default();
        element.set_bytes(bytes);
        return rows.accept(line, &[element]);
    }
    let mut names = (rows.count() < MAX_ROWS_FOR_NAMES).then(Vec::new);
    let parsed = {
        let mut reader = serde_json::Deserializer::from_slice(bytes);
        let object = RowObjectSeed {
            branch: rows.columns.tree(),
            cells,
            names: names.as_mut(),
        };
        object
            .deserialize(&mut reader)
            .and_then(|is_object| reader.end().map(|()| is_object))
    };
    for name in names.into_iter().flatten() {
        rows.columns.add_known(&name);
    }
    match parsed {
        Ok(true) => {
            for (slot, cell) in cells.iter().enumerate() {
                if cell.kind != CellKind::Absent {
                    rows.columns.mark_seen(slot);
                }
            }
            rows.accept(line, cells)
        }
        Ok(false) => rows.refuse(line, Refused::new("not a JSON object")),
        Err(error) => rows.refuse(line, explain_parse_error(bytes, &error)),
    }
}

fn explain_parse_error(bytes: &[u8], error: &serde_json::Error) -> Refused {
    if std::str::from_utf8(bytes).is_err() {
        return Refused::new("not UTF-8");
    }
    if error.is_eof() {
        return Refused::new("cut off in the middle of the JSON");
    }
    // The position inside the element says little, and the message already has the row's line.
    let text = error.to_string();
    let what = text.split(" at line ").next().unwrap_or(&text);
    let near = bytes
        .get(error.column().saturating_sub(2)..)
        .unwrap_or_default();
    let word: String = String::from_utf8_lossy(near).chars().take(12).collect();
    let is_constant = error.line() == 1
        && ["NaN", "Inf", "-Inf", "nan", "inf"]
            .iter()
            .any(|name| word.trim_start_matches([' ', ':']).starts_with(name));
    let detail = if is_constant {
        "JSON has no NaN or Infinity".to_owned()
    } else {
        escape_invisible(what)
    };
    Refused::with_detail("not valid JSON", detail)
}

/// Picks the wanted cells of an object. Returns `false` for a value that is not an object.
struct RowObjectSeed<'a> {
    branch: &'a ColumnTree,
    cells: &'a mut [RowCell],
    names: Option<&'a mut Vec<String>>,
}

impl<'de> DeserializeSeed<'de> for RowObjectSeed<'_> {
    type Value = bool;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<bool, D::Error> {
        deserializer.deserialize_any(CellPicker {
            branch: self.branch,
            cells: self.cells,
            names: self.names,
            place: JsonValueRole::Row,
        })
    }
}

/// Puts a value into its cell, and wanted values below it into theirs.
struct CellPicker<'a> {
    branch: &'a ColumnTree,
    cells: &'a mut [RowCell],
    names: Option<&'a mut Vec<String>>,
    place: JsonValueRole,
}

/// What a value is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum JsonValueRole {
    Row,
    Cell,
    /// Part of a list that is a cell.
    Item,
}

impl<'de> DeserializeSeed<'de> for CellPicker<'_> {
    type Value = bool;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<bool, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl CellPicker<'_> {
    fn set_cell(self, kind: CellKind, text: &str) {
        if let Some(slot) = self
            .branch
            .slot()
            .filter(|_| self.place != JsonValueRole::Row)
        {
            self.cells[slot].set(kind, text);
        }
    }
}

impl<'de> Visitor<'de> for CellPicker<'_> {
    type Value = bool;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a JSON value")
    }

    fn visit_bool<E>(self, value: bool) -> Result<bool, E> {
        self.set_cell(CellKind::Boolean, if value { "true" } else { "false" });
        Ok(false)
    }

    fn visit_u64<E>(self, value: u64) -> Result<bool, E> {
        self.set_cell(CellKind::Number, &value.to_string());
        Ok(false)
    }

    fn visit_i64<E>(self, value: i64) -> Result<bool, E> {
        self.set_cell(CellKind::Number, &value.to_string());
        Ok(false)
    }

    fn visit_f64<E>(self, value: f64) -> Result<bool, E> {
        self.set_cell(CellKind::Number, &value.to_string());
        Ok(false)
    }

    fn visit_str<E>(self, value: &str) -> Result<bool, E> {
        self.set_cell(CellKind::Text, value);
        Ok(false)
    }

    fn visit_unit<E>(self) -> Result<bool, E> {
        self.set_cell(CellKind::Null, "");
        Ok(false)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<bool, A::Error> {
        let slot = self
            .branch
            .slot()
            .filter(|_| self.place == JsonValueRole::Cell);
        let leaf = ColumnTree::leaf();
        let (mut item, mut items) = ([RowCell::default()], Vec::new());
        // The first item that is not yes or no decides.
        while slot.is_some() && items.last() != Some(&None) {
            let pick = CellPicker {
                branch: &leaf,
                cells: &mut item,
                names: None,
                place: JsonValueRole::Item,
            };
            if list.next_element_seed(pick)?.is_none() {
                break;
            }
            items.push(item[0].as_bool().filter(|_| items.len() < MAX_TRIES));
        }
        while list.next_element::<IgnoredAny>()?.is_some() {}
        match slot {
            Some(slot) => self.cells[slot].set_list(items),
            None => self.set_cell(CellKind::Compound, ""),
        }
        Ok(false)
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut map: A) -> Result<bool, A::Error> {
        while let Some(branch) = map.next_key_seed(KeyLookup {
            branch: self.branch,
            names: self.names.as_deref_mut(),
        })? {
            match branch {
                Some(branch) => {
                    map.next_value_seed(CellPicker {
                        branch,
                        cells: &mut *self.cells,
                        names: None,
                        place: JsonValueRole::Cell,
                    })?;
                }
                None => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        let is_row = self.place == JsonValueRole::Row;
        self.set_cell(CellKind::Compound, "");
        Ok(is_row)
    }
}

/// Looks up a key without allocating it.
struct KeyLookup<'a, 'n> {
    branch: &'a ColumnTree,
    names: Option<&'n mut Vec<String>>,
}

impl<'de, 'a> DeserializeSeed<'de> for KeyLookup<'a, '_> {
    type Value = Option<&'a ColumnTree>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl<'a> Visitor<'_> for KeyLookup<'a, '_> {
    type Value = Option<&'a ColumnTree>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a key")
    }

    fn visit_str<E>(self, key: &str) -> Result<Self::Value, E> {
        if let Some(names) = self.names {
            names.push(key.to_owned());
        }
        Ok(self.branch.get(key))
    }
}

/// Reason why scanning ended.
enum ScanError {
    /// The input cannot be read, or ended inside a value.
    Io(io::Error),
    Wrong(String),
    Stop(ReadStop),
}

impl From<io::Error> for ScanError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl From<ReadStop> for ScanError {
    fn from(stop: ReadStop) -> Self {
        Self::Stop(stop)
    }
}

fn scan_rows<R: BufRead>(
    scanner: &mut JsonScanner<R>,
    path: Option<&str>,
    rows: &mut RowSink<'_>,
    cells: &mut [RowCell],
) -> Result<(), ScanError> {
    if scanner.peek_byte()?.is_none() {
        return Err(ScanError::Wrong("is empty".to_owned()));
    }
    if let Some(path) = path {
        for key in path.split('.') {
            descend_to_key(scanner, key, path)?;
        }
        return match scanner.require_byte()? {
            b'[' => read_elements(scanner, rows, cells),
            _ => Err(ScanError::Wrong(format!(
                "`{}` is not a list",
                escape_invisible(path)
            ))),
        };
    }
    match scanner.require_byte()? {
        b'[' => {
            read_elements(scanner, rows, cells)?;
            if scanner.peek_byte()?.is_some() {
                Err(ScanError::Wrong(
                    "goes on after the end of the list".to_owned(),
                ))
            } else {
                Ok(())
            }
        }
        b'{' => {
            let mut record = Vec::new();
            while scanner.peek_byte()?.is_some() {
                read_element(scanner, &mut record, rows, cells)?;
            }
            Ok(())
        }
        _ => Err(ScanError::Wrong("is neither a list nor objects".to_owned())),
    }
}

/// Goes to the value of `key` in the next object.
fn descend_to_key<R: BufRead>(
    scanner: &mut JsonScanner<R>,
    key: &str,
    path: &str,
) -> Result<(), ScanError> {
    let path = escape_invisible(path);
    if scanner.require_byte()? != b'{' {
        return Err(ScanError::Wrong(format!(
            "has no list at `{path}`: what should have the key `{}` is not an object",
            escape_invisible(key)
        )));
    }
    let mut entries = JsonParts::new(scanner);
    let mut known = Vec::new();
    loop {
        match entries.next_entry(scanner)? {
            JsonPart::Value(found) if found == key => return Ok(()),
            JsonPart::Value(found) => {
                if known.len() < 20 {
                    known.push(format!("`{}`", escape_invisible(&found)));
                }
                scanner.skip_value()?;
            }
            JsonPart::End => {
                return Err(ScanError::Wrong(format!(
                    "has no list at `{path}`: no key `{}` among {}",
                    escape_invisible(key),
                    known.join(", ")
                )));
            }
            JsonPart::Wrong(what) => {
                return Err(ScanError::Wrong(format!("is not valid JSON: {what}")));
            }
        }
    }
}

fn read_elements<R: BufRead>(
    scanner: &mut JsonScanner<R>,
    rows: &mut RowSink<'_>,
    cells: &mut [RowCell],
) -> Result<(), ScanError> {
    let mut list = JsonParts::new(scanner);
    let mut record = Vec::new();
    loop {
        match list.next_element(scanner)? {
            JsonPart::Value(()) => read_element(scanner, &mut record, rows, cells)?,
            JsonPart::End => return Ok(()),
            JsonPart::Wrong(what) => {
                return Err(ScanError::Wrong(format!(
                    "is not a JSON list: {what} after row {}",
                    rows.count()
                )));
            }
        }
    }
}

fn read_element<R: BufRead>(
    scanner: &mut JsonScanner<R>,
    record: &mut Vec<u8>,
    rows: &mut RowSink<'_>,
    cells: &mut [RowCell],
) -> Result<(), ScanError> {
    let line = scanner.line;
    record.clear();
    let fits = scanner.copy_value(record)?;
    Ok(if fits {
        accept_element(record, Some(line), rows, cells)
    } else {
        rows.refuse(Some(line), too_long())
    }?)
}

#[cfg(test)]
mod tests {
    use std::io::BufReader;

    use super::super::rows::testing::rows_of;
    use super::*;

    fn check(json: &[u8], path: Option<&str>, expected: &[&str], problem: Option<&str>) {
        // Tiny buffers put a block boundary at every place.
        for capacity in [1, 2, 3, 7, 64, 4096] {
            let (rows, found) = rows_of(&["id", "info.cost", "ok"], |rows| {
                read_json(BufReader::with_capacity(capacity.max(3), json), path, rows)
            });
            assert_eq!(rows, expected);
            assert_eq!(found.map(|problem| problem.to_string()).as_deref(), problem);
        }
    }

    #[test]
    fn a_list_of_objects_gives_their_cells() {
        check(
            br#" [{"id": "a\"]", "info": {"cost": 0.5, "x": [1, {}]}, "ok": true, "more": "}"},
                {"id": 7, "ok": null}, {"info": 3, "id": [1]} ] "#,
            None,
            &["1: 'a\"]'|0.5|true", "2: 7|-|null", "2: […]|-|-"],
            None,
        );
        check(b"[]", None, &[], None);
    }

    #[test]
    fn lists_of_yes_and_no_have_a_text() {
        let text_of = |list: &str| {
            let mut columns = super::super::columns::SourceColumns::new(vec!["ok".to_owned()]);
            let mut found = None;
            let mut on_row = |row: &super::super::rows::SourceRow<'_>| {
                found = row
                    .cells
                    .as_ref()
                    .ok()
                    .map(|cells| (cells[0].kind, cells[0].text.clone()));
                Ok(())
            };
            let json = format!("[{{\"ok\": {list}}}]");
            read_json(
                json.as_bytes(),
                None,
                &mut RowSink::new("f", &mut columns, &mut on_row),
            )
            .expect("JSON");
            let (kind, text) = found.expect("a row");
            assert_eq!(kind, CellKind::Compound, "{list}");
            text
        };
        assert_eq!(text_of("[true, false ,true]"), "[true, false, true]");
        let nested = format!("[true, {}{}]", "[".repeat(5000), "]".repeat(5000));
        for other in [
            "[]",
            "[true, 1]",
            "[\"true\"]",
            "[[true]]",
            "[true, null]",
            &nested,
            &format!("[true{}]", ", true".repeat(1000)),
        ] {
            assert_eq!(text_of(other), "", "{}", &other[..other.len().min(20)]);
        }
    }

    #[test]
    fn a_list_inside_is_found_by_its_path() {
        let json = br#"{"meta": {"results": [1]}, "data": {"n": "x", "results": [{"id": 1}, {"id": 2}], "z": 0}}"#;
        check(json, Some("data.results"), &["1: 1|-|-", "1: 2|-|-"], None);
        check(
            json,
            Some("data.rows"),
            &[],
            Some("f:1: has no list at `data.rows`: no key `rows` among `n`, `results`, `z`"),
        );
        check(json, Some("meta"), &[], Some("f:1: `meta` is not a list"));
    }

    #[test]
    fn objects_may_follow_each_other() {
        check(
            b"{\"id\":1}\n{\"id\":2}{\"id\":3}",
            None,
            &["1: 1|-|-", "2: 2|-|-", "2: 3|-|-"],
            None,
        );
    }

    #[test]
    fn a_dotted_key_is_found_as_it_is() {
        check(br#"[{"info.cost": 2}]"#, None, &["1: -|2|-"], None);
    }

    #[test]
    fn a_bad_element_is_refused_alone() {
        check(
            b"[{\"id\":1},\n{\"id\":NaN},\n{\"id\":1e400},\n{\"id\":\"\xff\"},\n7, {\"id\" 1},\n{\"id\":2}]",
            None,
            &[
                "1: 1|-|-",
                "2! not valid JSON (JSON has no NaN or Infinity)",
                "3! not valid JSON (number out of range)",
                "4! not UTF-8 ()",
                "5! not a JSON object ()",
                "5! not valid JSON (expected `:`)",
                "6: 2|-|-",
            ],
            None,
        );
    }

    #[test]
    fn a_file_that_is_no_list_is_one_problem() {
        check(b"  ", None, &[], Some("f:1: is empty"));
        check(
            b"\"text\"",
            None,
            &[],
            Some("f:1: is neither a list nor objects"),
        );
        check(
            b"[{\"id\":1},\n{\"id\":",
            None,
            &["1: 1|-|-"],
            Some("f:2: is cut off after row 1"),
        );
        check(
            b"[{\"id\":1} {\"id\":2}]",
            None,
            &["1: 1|-|-"],
            Some("f:1: is not a JSON list: expected `,` or `]` after row 1"),
        );
        check(
            b"[{\"id\":1}]]",
            None,
            &["1: 1|-|-"],
            Some("f:1: goes on after the end of the list"),
        );
    }

    #[test]
    fn lines_are_refused_alone() {
        let lines =
            b"\xef\xbb\xbf{\"id\":1}\n\n{\"id\":\n[1]\n{\"id\":2} x\r\n{\"id\":3}\r\n{\"id\":4";
        let (rows, problem) = rows_of(&["id"], |rows| read_json_lines(&lines[..], rows));
        assert_eq!(
            problem.map(|problem| (problem.line, problem.message)),
            Some((Some(7), "is cut off in the middle of the JSON".to_owned()))
        );
        assert_eq!(
            rows,
            [
                "1: 1",
                "3! cut off in the middle of the JSON ()",
                "4! not a JSON object ()",
                "5! not valid JSON (trailing characters)",
                "6: 3",
            ]
        );
        let (_, problem) = rows_of(&["id"], |rows| read_json_lines(&b""[..], rows));
        assert_eq!(
            problem.map(|problem| problem.message),
            Some("is empty".to_owned())
        );
    }

    #[test]
    fn a_line_beyond_the_bound_is_refused_without_being_kept() {
        let long = "x".repeat(1 << 20);
        let mut input: Box<dyn io::Read> = Box::new(&b"\""[..]);
        for _ in 0..65 {
            input = Box::new(io::Read::chain(input, long.as_bytes()));
        }
        let input = io::Read::chain(input, &b"\"\n{\"id\":1}\n"[..]);
        let (rows, _) = rows_of(&["id"], |rows| read_json_lines(BufReader::new(input), rows));
        assert_eq!(rows, ["1! longer than 64 MiB ()", "2: 1"]);
    }
}
