//! Reads an `.xlsx` workbook: a zip archive of XML, of which one sheet is read row by row. Formulas are not computed; their stored values
//! are read.

use std::fs::File;
use std::io::{BufRead, BufReader};

use chrono::{Duration, NaiveDate};
use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};
use zip::ZipArchive;

use crate::document::quote_text;
use crate::domain::{Problem, escape_invisible};
use crate::files::{BoundedReader, ReadAllowance};

use super::cell::{CellKind, RowCell};
use super::member_names::{leads_out, leads_out_message};
use super::rows::{ReadStop, RowSink};
use super::titles::HeaderLines;

/// Maximum number of columns in a sheet, as in Excel.
const MAX_COLUMNS: usize = 16_384;
/// Maximum bytes of shared texts, which are kept in memory.
const MAX_SHARED_BYTES: usize = 256 << 20;
/// Excel's built-in number formats that show a date or a time.
const DATE_FORMAT_IDS: [std::ops::RangeInclusive<u32>; 4] = [14..=22, 27..=36, 45..=47, 50..=58];

/// An open workbook.
pub(super) struct Workbook {
    archive: ZipArchive<BufReader<File>>,
    /// Size of the file.
    bytes: u64,
    left: ReadAllowance,
    /// Name and member of each sheet, in their order.
    sheets: Vec<(String, String)>,
    /// Days are counted from 1904 instead of 1900.
    is_1904: bool,
    /// Texts that cells refer to by index. Read when the first sheet is opened.
    shared: Option<Vec<String>>,
    /// For each cell style, whether it shows a date.
    dates: Vec<bool>,
}

/// Reads a sheet of a workbook by [`Workbook::read_sheet`].
pub(super) fn read_workbook(
    file: File,
    sheet: Option<&str>,
    header: HeaderLines,
    rows: &mut RowSink<'_>,
    ready: impl FnOnce(&RowSink<'_>) -> Option<Problem>,
) -> Result<(), ReadStop> {
    let mut workbook = Workbook::open(file).map_err(|why| rows.unreadable_problem(None, why))?;
    workbook.read_sheet(sheet, header, rows, ready)
}

impl Workbook {
    /// Opens a workbook. The error is a message about the file.
    pub fn open(file: File) -> Result<Self, String> {
        let bytes = file.metadata().map_or(0, |metadata| metadata.len());
        let archive = ZipArchive::new(BufReader::new(file))
            .map_err(|error| format!("is a damaged workbook: {error}"))?;
        if let Some(name) = archive.file_names().find(|name| leads_out(name)) {
            return Err(leads_out_message(name));
        }
        let mut workbook = Self {
            archive,
            bytes,
            left: ReadAllowance::of_file(bytes),
            sheets: Vec::new(),
            is_1904: false,
            shared: None,
            dates: Vec::new(),
        };
        let mut named = Vec::new();
        let mut is_1904 = false;
        workbook.for_each_element("xl/workbook.xml", &mut |element| match element
            .local_name()
            .as_ref()
        {
            b"sheet" => {
                named
                    .extend(attribute_value(element, b"name").zip(attribute_value(element, b"id")));
            }
            b"workbookPr" => {
                is_1904 = matches!(
                    attribute_value(element, b"date1904").as_deref(),
                    Some("1" | "true")
                );
            }
            _ => {}
        })?;
        let mut targets = Vec::new();
        workbook.for_each_element("xl/_rels/workbook.xml.rels", &mut |element| {
            targets
                .extend(attribute_value(element, b"Id").zip(attribute_value(element, b"Target")));
        })?;
        workbook.is_1904 = is_1904;
        workbook.sheets = named
            .into_iter()
            .filter_map(|(name, id)| {
                let target = &targets.iter().find(|(known, _)| *known == id)?.1;
                Some((
                    name,
                    target
                        .strip_prefix('/')
                        .map_or_else(|| format!("xl/{target}"), str::to_owned),
                ))
            })
            .collect();
        if workbook.sheets.is_empty() {
            Err("is a workbook without sheets".to_owned())
        } else {
            Ok(workbook)
        }
    }

    /// Returns the names of the sheets in their order.
    pub fn sheet_names(&self) -> Vec<String> {
        self.sheets.iter().map(|(name, _)| name.clone()).collect()
    }

    /// Returns the texts of the first `most` rows that are not blank. The error is a message about the file.
    pub fn first_rows(&mut self, sheet: &str, most: usize) -> Result<Vec<Vec<String>>, String> {
        let mut sheet = self.open_sheet(Some(sheet))?;
        let mut rows = Vec::new();
        while rows.len() < most && sheet.next_row()? {
            rows.push(sheet.row_texts());
        }
        Ok(rows)
    }

    /// Reads a sheet, or the first if none is named. Calls `ready` when the columns are known; a problem that it returns stops the reading.
    pub fn read_sheet(
        &mut self,
        sheet: Option<&str>,
        header: HeaderLines,
        rows: &mut RowSink<'_>,
        ready: impl FnOnce(&RowSink<'_>) -> Option<Problem>,
    ) -> Result<(), ReadStop> {
        let mut sheet = self
            .open_sheet(sheet)
            .map_err(|why| rows.unreadable_problem(None, why))?;
        let mut lines = Vec::new();
        for number in 1..header.line + header.lines {
            if !sheet
                .next_row()
                .map_err(|why| rows.unreadable_problem(Some(sheet.number), why))?
            {
                return Err(rows
                    .unreadable_problem(None, "has no rows in this sheet")
                    .into());
            }
            if number >= header.line {
                lines.push(sheet.row_texts());
            }
        }
        let names = HeaderLines::column_names(&lines);
        let places = rows
            .columns
            .locate_in_header(&names)
            .map_err(|message| rows.unreadable_problem(Some(sheet.number), message))?;
        if let Some(problem) = ready(rows) {
            return Err(problem.into());
        }
        let mut cells = rows.columns.empty_cells();
        while sheet
            .next_row()
            .map_err(|why| rows.unreadable_problem(Some(sheet.number), why))?
        {
            for (cell, place) in cells.iter_mut().zip(&places) {
                match place.map(|place| sheet.row.get(place)) {
                    Some(Some(found)) => cell.clone_from(found),
                    Some(None) => cell.set(CellKind::Null, ""),
                    None => cell.clear(),
                }
            }
            rows.accept(Some(sheet.number), &cells)?;
        }
        Ok(())
    }

    /// Opens a sheet, or the first if none is named. Shared texts and styles are read with the first opened sheet, and kept.
    fn open_sheet(&mut self, name: Option<&str>) -> Result<SheetReader<'_, impl BufRead>, String> {
        // Each sheet has a limit of its own.
        self.left = ReadAllowance::of_file(self.bytes);
        if self.shared.is_none() {
            let shared = self.read_shared()?;
            self.read_styles()?;
            self.shared = Some(shared);
        }
        let found = self
            .sheets
            .iter()
            .find(|(known, _)| name.is_none_or(|name| name == known));
        let Some((_, member)) = found else {
            let names: Vec<String> = self
                .sheets
                .iter()
                .map(|(name, _)| quote_text(name))
                .collect();
            return Err(format!(
                "has no sheet {}; its sheets are {}",
                quote_text(name.unwrap_or_default()),
                names.join(", ")
            ));
        };
        let input = self
            .archive
            .by_name(member)
            .map_err(|error| format!("is a damaged workbook: {error}"))?;
        let styles = CellStyles {
            shared: self.shared.as_deref().unwrap_or_default(),
            dates: &self.dates,
            is_1904: self.is_1904,
        };
        let xml = Reader::from_reader(BufReader::new(BoundedReader::new(input, &self.left)));
        Ok(SheetReader {
            xml,
            styles,
            buffer: Vec::new(),
            row: Vec::new(),
            number: 0,
        })
    }

    fn open_member(&mut self, name: &str) -> Result<Option<impl BufRead + '_>, String> {
        if self.archive.index_for_name(name).is_none() {
            return Ok(None);
        }
        let member = self
            .archive
            .by_name(name)
            .map_err(|error| format!("is a damaged workbook: {error}"))?;
        Ok(Some(BufReader::new(BoundedReader::new(member, &self.left))))
    }

    fn for_each_element(
        &mut self,
        name: &str,
        on_element: &mut dyn FnMut(&BytesStart<'_>),
    ) -> Result<(), String> {
        let Some(input) = self.open_member(name)? else {
            return Ok(());
        };
        let mut reader = Reader::from_reader(input);
        let mut buffer = Vec::new();
        loop {
            buffer.clear();
            match reader
                .read_event_into(&mut buffer)
                .map_err(|error| damaged_member(name, &error))?
            {
                Event::Start(element) | Event::Empty(element) => on_element(&element),
                Event::Eof => return Ok(()),
                _ => {}
            }
        }
    }

    /// Reads the texts that cells refer to by index.
    fn read_shared(&mut self) -> Result<Vec<String>, String> {
        const SHARED_STRINGS: &str = "xl/sharedStrings.xml";
        let mut shared = Vec::new();
        let Some(input) = self.open_member(SHARED_STRINGS)? else {
            return Ok(shared);
        };
        let mut reader = Reader::from_reader(input);
        let (mut buffer, mut text, mut kept) = (Vec::new(), String::new(), 0);
        // Phonetic readings of Japanese words are beside the text, and are skipped.
        let (mut in_text, mut is_reading) = (false, false);
        loop {
            buffer.clear();
            match reader
                .read_event_into(&mut buffer)
                .map_err(|error| damaged_member(SHARED_STRINGS, &error))?
            {
                Event::Start(element) => match element.local_name().as_ref() {
                    b"si" => text.clear(),
                    b"t" => in_text = true,
                    b"rPh" => is_reading = true,
                    _ => {}
                },
                Event::End(element) => match element.local_name().as_ref() {
                    b"si" => {
                        kept += text.len();
                        shared.push(std::mem::take(&mut text));
                    }
                    b"t" => in_text = false,
                    b"rPh" => is_reading = false,
                    _ => {}
                },
                Event::Empty(element) if element.local_name().as_ref() == b"si" => {
                    shared.push(String::new());
                }
                Event::Eof => break,
                event if in_text && !is_reading => add_text(&event, &mut text),
                _ => {}
            }
            if kept > MAX_SHARED_BYTES {
                return Err(format!(
                    "has more than {} MiB of text",
                    MAX_SHARED_BYTES >> 20
                ));
            }
        }
        Ok(shared)
    }

    fn read_styles(&mut self) -> Result<(), String> {
        let (mut own, mut dates, mut in_cells) = (Vec::new(), Vec::new(), false);
        self.for_each_element(
            "xl/styles.xml",
            &mut |element| match element.local_name().as_ref() {
                b"numFmt" => {
                    let id =
                        attribute_value(element, b"numFmtId").and_then(|id| id.parse::<u32>().ok());
                    own.extend(id.zip(attribute_value(element, b"formatCode")));
                }
                b"cellXfs" => in_cells = true,
                b"cellStyleXfs" | b"cellStyles" | b"dxfs" => in_cells = false,
                b"xf" if in_cells => {
                    let id = attribute_value(element, b"numFmtId")
                        .and_then(|id| id.parse().ok())
                        .unwrap_or(0);
                    let code = own
                        .iter()
                        .find(|(known, _)| *known == id)
                        .map(|(_, code)| code.as_str());
                    dates.push(code.map_or_else(
                        || DATE_FORMAT_IDS.iter().any(|range| range.contains(&id)),
                        shows_date,
                    ));
                }
                _ => {}
            },
        )?;
        self.dates = dates;
        Ok(())
    }
}

/// Returns whether a number format shows a date or a time.
fn shows_date(code: &str) -> bool {
    let mut is_quoted = false;
    let mut in_brackets = false;
    let mut letters = code.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '"' => is_quoted = !is_quoted,
            '\\' | '_' | '*' => drop(letters.next()),
            '[' => in_brackets = true,
            ']' => in_brackets = false,
            'd' | 'm' | 'y' | 'h' | 's' | 'D' | 'M' | 'Y' | 'H' | 'S'
                if !is_quoted && !in_brackets =>
            {
                return true;
            }
            _ => {}
        }
    }
    false
}

fn damaged_member(member: &str, error: &quick_xml::Error) -> String {
    let why: String = escape_invisible(&error.to_string())
        .chars()
        .take(200)
        .collect();
    format!("is a damaged workbook: {member}: {why}")
}

fn attribute_value(element: &BytesStart<'_>, name: &[u8]) -> Option<String> {
    let found = element
        .attributes()
        .flatten()
        .find(|attribute| attribute.key.local_name().as_ref() == name)?;
    let raw = std::str::from_utf8(&found.value).ok()?;
    Some(
        quick_xml::escape::unescape(raw)
            .map_or_else(|_| raw.to_owned(), std::borrow::Cow::into_owned),
    )
}

fn add_text(event: &Event<'_>, text: &mut String) {
    match event {
        Event::Text(part) => text.push_str(&String::from_utf8_lossy(part)),
        Event::CData(part) => text.push_str(&String::from_utf8_lossy(part)),
        Event::GeneralRef(name) => {
            let name = String::from_utf8_lossy(name);
            text.push_str(&quick_xml::escape::unescape(&format!("&{name};")).unwrap_or_default());
        }
        _ => {}
    }
}

/// Shared texts and styles that cells refer to.
struct CellStyles<'w> {
    shared: &'w [String],
    dates: &'w [bool],
    is_1904: bool,
}

/// The rows of a sheet, read one by one.
struct SheetReader<'w, R> {
    xml: Reader<R>,
    styles: CellStyles<'w>,
    buffer: Vec<u8>,
    /// The current row, from column A.
    row: Vec<RowCell>,
    /// Number of the current row in the sheet.
    number: u64,
}

impl<R: BufRead> SheetReader<'_, R> {
    fn row_texts(&self) -> Vec<String> {
        self.row
            .iter()
            .map(|cell| cell.text.trim().to_owned())
            .collect()
    }

    /// Reads the next row that is not blank. Returns false at the end.
    fn next_row(&mut self) -> Result<bool, String> {
        self.row.clear();
        let (mut column, mut kind, mut style) = (0, String::new(), 0);
        let (mut text, mut in_text, mut is_formula) = (String::new(), false, false);
        loop {
            self.buffer.clear();
            let event = self
                .xml
                .read_event_into(&mut self.buffer)
                .map_err(|error| damaged_member("the sheet", &error))?;
            match event {
                Event::Start(element) | Event::Empty(element)
                    if element.local_name().as_ref() == b"row" =>
                {
                    self.row.clear();
                    self.number = attribute_value(&element, b"r")
                        .and_then(|number| number.parse().ok())
                        .unwrap_or(self.number + 1);
                    column = 0;
                }
                Event::Start(element) => match element.local_name().as_ref() {
                    b"c" => {
                        column = attribute_value(&element, b"r")
                            .and_then(|place| column_index(&place))
                            .unwrap_or(column);
                        kind = attribute_value(&element, b"t").unwrap_or_default();
                        style = attribute_value(&element, b"s")
                            .and_then(|style| style.parse().ok())
                            .unwrap_or(0);
                        text.clear();
                        is_formula = false;
                    }
                    b"f" => is_formula = true,
                    b"v" | b"t" => in_text = true,
                    _ => {}
                },
                Event::Empty(element) if element.local_name().as_ref() == b"f" => is_formula = true,
                Event::Empty(element) if element.local_name().as_ref() == b"c" => {
                    column = attribute_value(&element, b"r")
                        .and_then(|place| column_index(&place))
                        .unwrap_or(column)
                        + 1;
                }
                Event::End(element) => match element.local_name().as_ref() {
                    b"v" | b"t" => in_text = false,
                    b"c" if column < MAX_COLUMNS => {
                        if self.row.len() <= column {
                            self.row.resize(
                                column + 1,
                                RowCell {
                                    kind: CellKind::Null,
                                    text: String::new(),
                                },
                            );
                        }
                        match kind.as_str() {
                            "str" | "e" => {
                                self.styles
                                    .set_cell(&kind, style, &text, &mut self.row[column]);
                            }
                            // A program that computes no formulas leaves their values out.
                            _ if is_formula && text.trim().is_empty() => {
                                self.row[column].set(CellKind::Uncomputed, "");
                            }
                            _ => self
                                .styles
                                .set_cell(&kind, style, &text, &mut self.row[column]),
                        }
                        column += 1;
                    }
                    b"row" if self.row.iter().any(|cell| !cell.text.trim().is_empty()) => {
                        return Ok(true);
                    }
                    b"sheetData" => return Ok(false),
                    _ => {}
                },
                Event::Eof => return Ok(false),
                event if in_text => add_text(&event, &mut text),
                _ => {}
            }
        }
    }
}

impl CellStyles<'_> {
    fn set_cell(&self, kind: &str, style: usize, text: &str, cell: &mut RowCell) {
        match kind {
            "s" => match text
                .trim()
                .parse::<usize>()
                .ok()
                .and_then(|place| self.shared.get(place))
            {
                Some(shared) => cell.set(CellKind::Text, shared),
                None => cell.set(CellKind::Invalid, ""),
            },
            "b" => cell.set(
                CellKind::Boolean,
                if text.trim() == "1" { "true" } else { "false" },
            ),
            "str" | "inlineStr" | "d" => cell.set(CellKind::Text, text),
            // An error of a formula, such as #N/A, means not measured.
            "e" => cell.set(CellKind::Null, ""),
            _ if text.trim().is_empty() => cell.set(CellKind::Null, ""),
            _ => match self
                .dates
                .get(style)
                .filter(|is_date| **is_date)
                .and_then(|_| self.format_time(text))
            {
                Some(time) => cell.set(CellKind::Text, &time),
                None => cell.set(CellKind::Number, &shortest_number(text.trim())),
            },
        }
    }

    /// Formats days since the base date, whose fraction is the time of day. Less than one day is a length of time.
    fn format_time(&self, text: &str) -> Option<String> {
        const MILLISECONDS_PER_DAY: f64 = 86_400_000.0;
        let days: f64 = text
            .trim()
            .parse()
            .ok()
            .filter(|days| (0.0..3_000_000.0).contains(days))?;
        #[expect(clippy::cast_possible_truncation, reason = "below three million days")]
        let length = Duration::milliseconds((days * MILLISECONDS_PER_DAY).round() as i64);
        let base = if self.is_1904 {
            NaiveDate::from_ymd_opt(1904, 1, 1)
        } else {
            NaiveDate::from_ymd_opt(1899, 12, 30)
        };
        let time = base?.and_hms_opt(0, 0, 0)?.checked_add_signed(length)?;
        let pattern = if days < 1.0 {
            "%H:%M:%S%.f"
        } else {
            "%Y-%m-%dT%H:%M:%S%.f"
        };
        Some(time.format(pattern).to_string())
    }
}

/// Returns the shortest number of equal value: spreadsheets store 0.1 + 0.2 with 17 digits.
fn shortest_number(text: &str) -> String {
    match text.parse::<f64>() {
        Ok(value) if value.is_finite() && text.contains(['.', 'e', 'E']) => value.to_string(),
        _ => text.to_owned(),
    }
}

/// Returns the index of a cell's column, from 0: 27 for `AB12`.
fn column_index(place: &str) -> Option<usize> {
    let letters = place.bytes().take_while(u8::is_ascii_uppercase);
    let column = letters.fold(0usize, |column, letter| {
        column
            .saturating_mul(26)
            .saturating_add(usize::from(letter - b'A') + 1)
    });
    column.checked_sub(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_counted_in_letters() {
        assert_eq!(
            ["A1", "Z9", "AA1", "AB12", "7"].map(column_index),
            [Some(0), Some(25), Some(26), Some(27), None]
        );
    }

    #[test]
    fn dates_are_shown_by_their_format() {
        for (code, is_date) in [
            ("yyyy-mm-dd", true),
            ("[$-407]d. mmmm yyyy", true),
            ("0.00%", false),
            ("#,##0.00 [$€-1]", false),
            ("\"days\" 0", false),
        ] {
            assert_eq!(shows_date(code), is_date, "{code}");
        }
        let styles = CellStyles {
            shared: &[],
            dates: &[true],
            is_1904: false,
        };
        assert_eq!(
            styles.format_time("45597.5").as_deref(),
            Some("2024-11-01T12:00:00")
        );
        assert_eq!(styles.format_time("0.25").as_deref(), Some("06:00:00"));
    }
}
