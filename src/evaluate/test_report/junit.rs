//! JUnit XML, as pytest writes it and as everybody else does.
//!
//! No DTD is read, so no entity but the five of XML exists and none can grow. A report that breaks off keeps what it told until there,
//! and a row says that it broke off.

use quick_xml::events::{BytesStart, Event};
use quick_xml::reader::Reader;

use crate::domain::ItemStatus;

use super::collect::Collector;
use super::output::short;

const MAX_BYTES: usize = 64 << 20;
/// Suites in suites; real ones nest two or three deep.
const MAX_DEPTH: usize = 64;
/// Most of a failure's text that is kept while reading.
const MAX_TEXT: usize = 4096;

/// Adds the tests of a report. With `is_python`, ids are those that pytest itself uses (`file::Class::test[parameter]`).
pub fn read(bytes: &[u8], is_python: bool, tests: &mut Collector) {
    let text = String::from_utf8_lossy(&bytes[..bytes.len().min(MAX_BYTES)]);
    let mut reading = Reading { suites: Vec::new(), case: None, is_python, tests };
    let problem = match reading.read_all(&text) {
        Err(problem) => problem,
        Ok(()) if bytes.len() > MAX_BYTES => "the report is larger than 64 MiB; the rest was not read".to_owned(),
        Ok(()) => return,
    };
    tests.push("(report)", ItemStatus::Error, None, Some(&problem));
}

struct Reading<'t, 'a> {
    suites: Vec<String>,
    case: Option<Case>,
    is_python: bool,
    tests: &'t mut Collector<'a>,
}

struct Case {
    id: String,
    status: ItemStatus,
    duration_seconds: Option<f64>,
    message: Option<String>,
    /// The text inside the element that decided the status, which is open.
    text: Option<String>,
}

impl Reading<'_, '_> {
    fn read_all(&mut self, text: &str) -> Result<(), String> {
        let mut reader = Reader::from_str(text);
        let mut depth = 0_usize;
        let mut has_root = false;
        loop {
            let event = reader.read_event().map_err(|error| format!("the report is not XML: {error}"))?;
            match event {
                Event::Start(start) => {
                    depth += 1;
                    has_root = true;
                    if depth > MAX_DEPTH {
                        return Err(format!("the report nests deeper than {MAX_DEPTH} elements"));
                    }
                    self.open(&start);
                }
                Event::Empty(start) => {
                    has_root = true;
                    self.open(&start);
                    self.close(start.local_name().as_ref());
                }
                Event::End(end) => {
                    depth = depth.saturating_sub(1);
                    self.close(end.local_name().as_ref());
                }
                Event::Text(text) => self.text(&String::from_utf8_lossy(&text)),
                Event::CData(text) => self.text(&String::from_utf8_lossy(&text)),
                Event::GeneralRef(reference) => {
                    let name = format!("&{};", String::from_utf8_lossy(&reference));
                    self.text(&unescaped(&name));
                }
                Event::DocType(_) => return Err("the report has a document type declaration, which is refused".to_owned()),
                Event::Eof if depth > 0 => return Err("the report breaks off".to_owned()),
                Event::Eof if !has_root => return Err("the report is empty".to_owned()),
                Event::Eof => return Ok(()),
                Event::Comment(_) | Event::Decl(_) | Event::PI(_) => {}
            }
        }
    }

    fn open(&mut self, start: &BytesStart) {
        match start.local_name().as_ref() {
            b"testsuite" => self.suites.push(short(&attribute(start, "name").unwrap_or_default()).to_owned()),
            b"testcase" => self.case = Some(self.case(start)),
            name @ (b"failure" | b"error" | b"skipped") => {
                let Some(case) = &mut self.case else { return };
                let status = match name {
                    b"failure" => ItemStatus::Fail,
                    b"error" => ItemStatus::Error,
                    _ => ItemStatus::Skipped,
                };
                // A test that failed and broke is broken; one that was marked as skipped and failed has failed.
                if status.severity() > case.status.severity() {
                    case.status = status;
                    case.message = attribute(start, "message").filter(|message| !message.trim().is_empty());
                    case.text = Some(String::new());
                }
            }
            _ => {}
        }
    }

    fn text(&mut self, text: &str) {
        if let Some(kept) = self.case.as_mut().and_then(|case| case.text.as_mut()) {
            let room = MAX_TEXT.saturating_sub(kept.len());
            kept.extend(text.chars().take(room));
        }
    }

    fn close(&mut self, name: &[u8]) {
        match name {
            b"testsuite" => {
                self.suites.pop();
            }
            b"failure" | b"error" | b"skipped" => {
                let Some(case) = &mut self.case else { return };
                if let Some(text) = case.text.take()
                    && case.message.is_none()
                {
                    case.message = text.lines().map(str::trim).find(|line| !line.is_empty()).map(str::to_owned);
                }
            }
            b"testcase" => {
                let Some(case) = self.case.take() else { return };
                // pytest reports what broke after a failed test as a second case of the same name.
                let is_second_part = self.is_python
                    && case.status == ItemStatus::Error
                    && case.message.as_deref().is_some_and(|message| message.starts_with("failed on teardown"));
                let Case { id, status, duration_seconds, message, text: _ } = case;
                if is_second_part {
                    self.tests.push_or_worsen(&id, status, duration_seconds, message.as_deref());
                } else {
                    self.tests.push(&id, status, duration_seconds, message.as_deref());
                }
            }
            _ => {}
        }
    }

    fn case(&self, start: &BytesStart) -> Case {
        let name = attribute(start, "name").unwrap_or_default();
        let class = attribute(start, "classname").unwrap_or_default();
        let file = attribute(start, "file").filter(|file| !file.is_empty());
        let id = if self.is_python { python_id(file.as_deref(), &class, &name) } else { self.id(file.as_deref(), &class, &name) };
        let was_run = attribute(start, "status").is_none_or(|status| !matches!(status.as_str(), "notrun" | "disabled" | "skipped"));
        Case {
            id,
            status: if was_run { ItemStatus::Pass } else { ItemStatus::Skipped },
            duration_seconds: attribute(start, "time").and_then(|time| time.trim().replace(',', "").parse().ok()),
            message: None,
            text: None,
        }
    }

    /// Returns `class::name`, or the suites' names where the class says nothing.
    fn id(&self, file: Option<&str>, class: &str, name: &str) -> String {
        let named: Vec<&str> = self.suites.iter().map(String::as_str).filter(|suite| !suite.is_empty()).collect();
        match (file, class) {
            (Some(file), "") => format!("{file}::{name}"),
            // What node writes everywhere.
            (None, "" | "test") if !named.is_empty() => format!("{} > {name}", named.join(" > ")),
            (_, "" | "test") => name.to_owned(),
            (_, class) if name.is_empty() => class.to_owned(),
            (_, class) => format!("{class}::{name}"),
        }
    }
}

/// Returns pytest's own id of a case. The class name has file and classes joined by dots; the file, where it is there, tells them
/// apart, else the names do: modules are `test_*` or `*_test`.
fn python_id(file: Option<&str>, class: &str, name: &str) -> String {
    if class.is_empty() {
        // A file that could not be collected.
        let path = file.map_or_else(|| format!("{}.py", name.replace('.', "/")), str::to_owned);
        return if file.is_none() && name.contains('[') { name.to_owned() } else { path };
    }
    let parts: Vec<&str> = class.split('.').collect();
    let from_file = file.map(|file| file.replace('\\', "/")).and_then(|file| {
        let module = file.strip_suffix(".py")?.split('/').filter(|part| !part.is_empty()).count();
        let dotted = file.strip_suffix(".py")?.replace('/', ".");
        (class == dotted || class.starts_with(&format!("{dotted}."))).then_some(module)
    });
    let is_module = |part: &&str| part.starts_with("test_") || part.ends_with("_test");
    let by_name = || parts.iter().rposition(is_module).map(|index| index + 1);
    let first_class = || parts.iter().position(|part| part.starts_with(char::is_uppercase)).filter(|index| *index > 0);
    let length = from_file.or_else(by_name).or_else(first_class).unwrap_or(parts.len()).min(parts.len());
    let (module, classes) = parts.split_at(length);
    let mut id = format!("{}.py", module.join("/"));
    for part in classes.iter().chain([&name]) {
        id.push_str("::");
        id.push_str(part);
    }
    id
}

fn attribute(start: &BytesStart, name: &str) -> Option<String> {
    let found = start.attributes().with_checks(false).flatten().find(|attribute| attribute.key.as_ref() == name.as_bytes())?;
    Some(unescaped(&String::from_utf8_lossy(&found.value)))
}

/// Returns the text with its references resolved, as it stands if one is unknown.
fn unescaped(text: &str) -> String {
    quick_xml::escape::unescape(text).map_or_else(|_| text.to_owned(), std::borrow::Cow::into_owned)
}
