//! Parses JUnit XML, as written by test runners of every language, and passes on its cases one by one.
//!
//! Input is streamed. Only XML's five entities and no document types are supported, so nothing can expand.

// Layers below, under the names that they have in this house.
use evalreport_model::domain;

mod attribute;
mod case;
mod told;

use std::io::BufRead;

use quick_xml::events::Event;
use quick_xml::reader::Reader;

pub use attribute::read_attribute;
use attribute::resolve_references;
pub use case::{JunitCase, JunitResult, parse_seconds};
pub use told::JunitEvent;

/// Maximum nesting of elements. Real suites nest two or three deep.
const MAX_DEPTH: usize = 64;
/// Maximum bytes kept of a failure's text while reading.
const MAX_TEXT_BYTES: usize = 8192;

/// The message for a report that ends too early.
pub const CUT_OFF: &str = "is cut off in the middle of the XML";

/// Why a report was not read to its end.
#[derive(Debug)]
pub enum JunitHalt<E> {
    /// It is no JUnit XML. The text completes a sentence about the report.
    Damaged(String),
    /// It ends too early: see [`CUT_OFF`].
    CutOff,
    /// The callback failed.
    Told(E),
}

/// Calls `tell` for each part of the report in order, and `renew` before each XML event.
///
/// # Errors
///
/// Fails if the report is damaged, cut off or of another kind, or if `tell` fails. Parts passed on earlier remain valid.
pub fn walk_report<E>(
    reader: impl BufRead,
    renew: &dyn Fn(),
    tell: &mut dyn FnMut(JunitEvent<'_>) -> Result<(), E>,
) -> Result<(), JunitHalt<E>> {
    let mut reader = Reader::from_reader(reader);
    let mut buffer = Vec::new();
    let mut suites: Vec<Option<String>> = Vec::new();
    let mut open: Option<JunitCase> = None;
    let (mut depth, mut has_root) = (0_usize, false);
    loop {
        buffer.clear();
        renew();
        let event = reader
            .read_event_into(&mut buffer)
            .map_err(|error| JunitHalt::Damaged(format!("is damaged: {error}")))?;
        let (start, is_empty) = match &event {
            Event::Start(start) => (Some(start), false),
            Event::Empty(start) => (Some(start), true),
            _ => (None, false),
        };
        if let Some(start) = start {
            if !is_empty {
                depth += 1;
            }
            if depth > MAX_DEPTH {
                return Err(JunitHalt::Damaged(format!(
                    "nests deeper than {MAX_DEPTH} elements"
                )));
            }
            let name = start.local_name();
            if !has_root && !matches!(name.as_ref(), b"testsuites" | b"testsuite") {
                return Err(JunitHalt::Damaged(
                    "is no JUnit report: its first element is another".to_owned(),
                ));
            }
            has_root = true;
            match name.as_ref() {
                b"testsuites" => tell(JunitEvent::Suite {
                    start,
                    depth: 0,
                    is_whole: true,
                })
                .map_err(JunitHalt::Told)?,
                b"testsuite" => {
                    tell(JunitEvent::Suite {
                        start,
                        depth: suites.len(),
                        is_whole: false,
                    })
                    .map_err(JunitHalt::Told)?;
                    if !is_empty {
                        suites.push(read_attribute(start, "name"));
                    }
                }
                b"testcase" => {
                    let case = JunitCase::from_element(start, names_of(&suites));
                    if is_empty {
                        tell(JunitEvent::Case(Box::new(case))).map_err(JunitHalt::Told)?;
                    } else {
                        open = Some(case);
                    }
                }
                b"property" => {
                    let name = read_attribute(start, "name").unwrap_or_default();
                    let value = read_attribute(start, "value");
                    match (&mut open, value) {
                        (Some(case), value) => case.add_property(name, value, is_empty),
                        (None, Some(value)) => tell(JunitEvent::Property {
                            name: &name,
                            value: &value,
                        })
                        .map_err(JunitHalt::Told)?,
                        (None, None) => {}
                    }
                }
                inner => {
                    if let Some(case) = &mut open {
                        case.open_child(inner, start, is_empty);
                    } else if let Some(case) = JunitCase::of_suite(inner, start, names_of(&suites))
                    {
                        tell(JunitEvent::Case(Box::new(case))).map_err(JunitHalt::Told)?;
                    }
                }
            }
        }
        match event {
            Event::Start(_)
            | Event::Empty(_)
            | Event::Comment(_)
            | Event::Decl(_)
            | Event::PI(_) => {}
            Event::End(end) => {
                depth = depth.saturating_sub(1);
                match end.local_name().as_ref() {
                    b"testsuite" => {
                        suites.pop();
                    }
                    b"testcase" => {
                        if let Some(case) = open.take() {
                            tell(JunitEvent::Case(Box::new(case))).map_err(JunitHalt::Told)?;
                        }
                    }
                    inner => {
                        if let Some(case) = &mut open {
                            case.close_child(inner);
                        }
                    }
                }
            }
            Event::Text(text) => push_text(&mut open, &String::from_utf8_lossy(&text)),
            Event::CData(text) => push_text(&mut open, &String::from_utf8_lossy(&text)),
            Event::GeneralRef(reference) => push_text(
                &mut open,
                &resolve_references(&format!("&{};", String::from_utf8_lossy(&reference))),
            ),
            Event::DocType(_) => {
                return Err(JunitHalt::Damaged(
                    "has a document type declaration, which is refused".to_owned(),
                ));
            }
            Event::Eof if !has_root => {
                return Err(JunitHalt::Damaged("holds no report".to_owned()));
            }
            Event::Eof if depth > 0 => {
                return Err(JunitHalt::CutOff);
            }
            Event::Eof => return Ok(()),
        }
    }
}

/// Returns the names of the open suites that have one.
fn names_of(suites: &[Option<String>]) -> Vec<String> {
    suites
        .iter()
        .flatten()
        .filter(|name| !name.trim().is_empty())
        .cloned()
        .collect()
}

fn push_text(open: &mut Option<JunitCase>, text: &str) {
    if let Some(case) = open {
        case.append_text(text, MAX_TEXT_BYTES);
    }
}
