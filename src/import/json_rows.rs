//! Reads rows of JSON: the elements of a list anywhere in the file, objects one after another, or one object per line.
//!
//! Each element is parsed separately, so that an invalid element costs only its own row.

use std::fmt;
use std::io::{self, BufRead};

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

use crate::domain::visible;
use crate::results::LineReader;

use super::cell::{Cell, CellKind, MOST_TRIES, Refused};
use super::columns::Branch;
use super::json_scanner::{Next, Parts, Scanner};
use super::rows::{MOST_RECORD_BYTES, Rows, Stop};

/// Number of rows whose columns are all noted by name. In later rows only the wanted columns are.
const ROWS_ASKED_FOR_NAMES: u64 = 1000;

/// Reads the list at `path`, or without a path the file's list or sequence of objects.
pub(super) fn read_json(
    input: impl BufRead,
    path: Option<&str>,
    rows: &mut Rows<'_>,
) -> Result<(), Stop> {
    let mut scanner = Scanner::of(input);
    let mut cells = rows.columns.cells();
    match scan(&mut scanner, path, rows, &mut cells) {
        Ok(()) => Ok(()),
        Err(Halt::Stop(stop)) => Err(stop),
        Err(Halt::Io(error)) => Err(rows.io(Some(scanner.line), &error)),
        Err(Halt::Wrong(message)) => Err(rows.unreadable(Some(scanner.line), message).into()),
    }
}

/// Reads one object per line. An invalid line is refused; a last line that is cut off makes the file unreadable.
pub(super) fn read_lines(input: impl BufRead, rows: &mut Rows<'_>) -> Result<(), Stop> {
    let mut cells = rows.columns.cells();
    let mut lines = LineReader::of(input);
    let mut number = 0;
    while let Some(line) = lines
        .next_line()
        .map_err(|error| rows.io(Some(number + 1), &error))?
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
                .unreadable(Some(number), "is cut off in the middle of the JSON")
                .with_hint("fetch the file again; nothing of it was stored")
                .into());
        }
        if !text.trim_ascii().is_empty() {
            take(text, Some(number), rows, &mut cells)?;
        }
    }
    if number == 0 {
        Err(rows.unreadable(None, "is empty").into())
    } else {
        Ok(())
    }
}

fn is_cut_off(text: &[u8]) -> bool {
    !text.trim_ascii().is_empty()
        && serde_json::from_slice::<serde::de::IgnoredAny>(text).is_err_and(|error| error.is_eof())
}

fn too_long() -> Refused {
    Refused::because(format!("longer than {} MiB", MOST_RECORD_BYTES >> 20))
}

/// Parses one element and passes it on.
fn take(
    bytes: &[u8],
    line: Option<u64>,
    rows: &mut Rows<'_>,
    cells: &mut [Cell],
) -> Result<(), Stop> {
    cells.iter_mut().for_each(Cell::clear);
    if rows.columns.takes_all() {
        let mut element = Cell::default();
        element.set_bytes(bytes);
        return rows.accept(line, &[element]);
    }
    let mut names = (rows.count() < ROWS_ASKED_FOR_NAMES).then(Vec::new);
    let parsed = {
        let mut reader = serde_json::Deserializer::from_slice(bytes);
        let object = Object {
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
        Ok(false) => rows.refuse(line, Refused::because("not a JSON object")),
        Err(error) => rows.refuse(line, explain(bytes, &error)),
    }
}

fn explain(bytes: &[u8], error: &serde_json::Error) -> Refused {
    if std::str::from_utf8(bytes).is_err() {
        return Refused::because("not UTF-8");
    }
    if error.is_eof() {
        return Refused::because("cut off in the middle of the JSON");
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
        visible(what)
    };
    Refused::with_detail("not valid JSON", detail)
}

/// Picks the wanted cells of an object. Returns `false` for a value that is not an object.
struct Object<'a> {
    branch: &'a Branch,
    cells: &'a mut [Cell],
    names: Option<&'a mut Vec<String>>,
}

impl<'de> DeserializeSeed<'de> for Object<'_> {
    type Value = bool;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<bool, D::Error> {
        deserializer.deserialize_any(Pick {
            branch: self.branch,
            cells: self.cells,
            names: self.names,
            place: Place::Row,
        })
    }
}

/// Puts a value into its cell, and wanted values below it into theirs.
struct Pick<'a> {
    branch: &'a Branch,
    cells: &'a mut [Cell],
    names: Option<&'a mut Vec<String>>,
    place: Place,
}

/// What a value is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Row,
    Cell,
    /// Part of a list that is a cell.
    Item,
}

impl<'de> DeserializeSeed<'de> for Pick<'_> {
    type Value = bool;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<bool, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl Pick<'_> {
    fn set(self, kind: CellKind, text: &str) {
        if let Some(slot) = self.branch.slot().filter(|_| self.place != Place::Row) {
            self.cells[slot].set(kind, text);
        }
    }
}

impl<'de> Visitor<'de> for Pick<'_> {
    type Value = bool;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a JSON value")
    }

    fn visit_bool<E>(self, value: bool) -> Result<bool, E> {
        self.set(CellKind::Boolean, if value { "true" } else { "false" });
        Ok(false)
    }

    fn visit_u64<E>(self, value: u64) -> Result<bool, E> {
        self.set(CellKind::Number, &value.to_string());
        Ok(false)
    }

    fn visit_i64<E>(self, value: i64) -> Result<bool, E> {
        self.set(CellKind::Number, &value.to_string());
        Ok(false)
    }

    fn visit_f64<E>(self, value: f64) -> Result<bool, E> {
        self.set(CellKind::Number, &value.to_string());
        Ok(false)
    }

    fn visit_str<E>(self, value: &str) -> Result<bool, E> {
        self.set(CellKind::Text, value);
        Ok(false)
    }

    fn visit_unit<E>(self) -> Result<bool, E> {
        self.set(CellKind::Null, "");
        Ok(false)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<bool, A::Error> {
        let slot = self.branch.slot().filter(|_| self.place == Place::Cell);
        let leaf = Branch::leaf();
        let (mut item, mut items) = ([Cell::default()], Vec::new());
        // The first item that is not yes or no decides.
        while slot.is_some() && items.last() != Some(&None) {
            let pick = Pick {
                branch: &leaf,
                cells: &mut item,
                names: None,
                place: Place::Item,
            };
            if list.next_element_seed(pick)?.is_none() {
                break;
            }
            items.push(item[0].flag().filter(|_| items.len() < MOST_TRIES));
        }
        while list.next_element::<IgnoredAny>()?.is_some() {}
        match slot {
            Some(slot) => self.cells[slot].set_list(items),
            None => self.set(CellKind::Compound, ""),
        }
        Ok(false)
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut map: A) -> Result<bool, A::Error> {
        while let Some(branch) = map.next_key_seed(Key {
            branch: self.branch,
            names: self.names.as_deref_mut(),
        })? {
            match branch {
                Some(branch) => {
                    map.next_value_seed(Pick {
                        branch,
                        cells: &mut *self.cells,
                        names: None,
                        place: Place::Cell,
                    })?;
                }
                None => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        let is_row = self.place == Place::Row;
        self.set(CellKind::Compound, "");
        Ok(is_row)
    }
}

/// Looks up a key without allocating it.
struct Key<'a, 'n> {
    branch: &'a Branch,
    names: Option<&'n mut Vec<String>>,
}

impl<'de, 'a> DeserializeSeed<'de> for Key<'a, '_> {
    type Value = Option<&'a Branch>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl<'a> Visitor<'_> for Key<'a, '_> {
    type Value = Option<&'a Branch>;

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
enum Halt {
    /// The input cannot be read, or ended inside a value.
    Io(io::Error),
    Wrong(String),
    Stop(Stop),
}

impl From<io::Error> for Halt {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl From<Stop> for Halt {
    fn from(stop: Stop) -> Self {
        Self::Stop(stop)
    }
}

fn scan<R: BufRead>(
    scanner: &mut Scanner<R>,
    path: Option<&str>,
    rows: &mut Rows<'_>,
    cells: &mut [Cell],
) -> Result<(), Halt> {
    if scanner.next()?.is_none() {
        return Err(Halt::Wrong("is empty".to_owned()));
    }
    if let Some(path) = path {
        for key in path.split('.') {
            descend(scanner, key, path)?;
        }
        return match scanner.more()? {
            b'[' => elements(scanner, rows, cells),
            _ => Err(Halt::Wrong(format!("`{}` is not a list", visible(path)))),
        };
    }
    match scanner.more()? {
        b'[' => {
            elements(scanner, rows, cells)?;
            if scanner.next()?.is_some() {
                Err(Halt::Wrong("goes on after the end of the list".to_owned()))
            } else {
                Ok(())
            }
        }
        b'{' => {
            let mut record = Vec::new();
            while scanner.next()?.is_some() {
                element(scanner, &mut record, rows, cells)?;
            }
            Ok(())
        }
        _ => Err(Halt::Wrong("is neither a list nor objects".to_owned())),
    }
}

/// Goes to the value of `key` in the next object.
fn descend<R: BufRead>(scanner: &mut Scanner<R>, key: &str, path: &str) -> Result<(), Halt> {
    let path = visible(path);
    if scanner.more()? != b'{' {
        return Err(Halt::Wrong(format!(
            "has no list at `{path}`: what should have the key `{}` is not an object",
            visible(key)
        )));
    }
    let mut entries = Parts::begin(scanner);
    let mut known = Vec::new();
    loop {
        match entries.entry(scanner)? {
            Next::Value(found) if found == key => return Ok(()),
            Next::Value(found) => {
                if known.len() < 20 {
                    known.push(format!("`{}`", visible(&found)));
                }
                scanner.skip()?;
            }
            Next::End => {
                return Err(Halt::Wrong(format!(
                    "has no list at `{path}`: no key `{}` among {}",
                    visible(key),
                    known.join(", ")
                )));
            }
            Next::Wrong(what) => return Err(Halt::Wrong(format!("is not valid JSON: {what}"))),
        }
    }
}

fn elements<R: BufRead>(
    scanner: &mut Scanner<R>,
    rows: &mut Rows<'_>,
    cells: &mut [Cell],
) -> Result<(), Halt> {
    let mut list = Parts::begin(scanner);
    let mut record = Vec::new();
    loop {
        match list.element(scanner)? {
            Next::Value(()) => element(scanner, &mut record, rows, cells)?,
            Next::End => return Ok(()),
            Next::Wrong(what) => {
                return Err(Halt::Wrong(format!(
                    "is not a JSON list: {what} after row {}",
                    rows.count()
                )));
            }
        }
    }
}

fn element<R: BufRead>(
    scanner: &mut Scanner<R>,
    record: &mut Vec<u8>,
    rows: &mut Rows<'_>,
    cells: &mut [Cell],
) -> Result<(), Halt> {
    let line = scanner.line;
    record.clear();
    let fits = scanner.value(record)?;
    Ok(if fits {
        take(record, Some(line), rows, cells)
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
            let mut columns = super::super::columns::Columns::of(vec!["ok".to_owned()]);
            let mut found = None;
            let mut on_row = |row: &super::super::rows::Row<'_>| {
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
                &mut Rows::new("f", &mut columns, &mut on_row),
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
        let (rows, problem) = rows_of(&["id"], |rows| read_lines(&lines[..], rows));
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
        let (_, problem) = rows_of(&["id"], |rows| read_lines(&b""[..], rows));
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
        let (rows, _) = rows_of(&["id"], |rows| read_lines(BufReader::new(input), rows));
        assert_eq!(rows, ["1! longer than 64 MiB ()", "2: 1"]);
    }
}
