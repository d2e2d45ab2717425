//! One test case with its reported tries.

use quick_xml::events::BytesStart;

use crate::domain::ItemStatus;

use super::attribute::read_attribute;

/// Limits per test. Real tests have few of each.
const MAX_PROPERTIES: usize = 64;
const MAX_TRIES: usize = 100;

#[derive(Clone, Debug)]
pub struct JunitCase {
    class: String,
    name: String,
    file: Option<String>,
    suites: Vec<String>,
    pub properties: Vec<(String, String)>,
    pub is_expected_failure: bool,
    seconds: Option<f64>,
    /// The case's own result.
    own: JunitResult,
    /// Results of the tries before a pass, or after a failure.
    others: Vec<JunitResult>,
    /// The open element whose text is being read.
    open: Option<OpenElement>,
    /// The name of a property whose value is its text.
    property: Option<String>,
}

/// The result of one try.
#[derive(Clone, Debug)]
pub struct JunitResult {
    pub status: ItemStatus,
    message: Option<String>,
    text: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum OpenElement {
    Own,
    Other,
    /// The value of a property.
    Property,
}

impl JunitCase {
    pub(super) fn from_element(start: &BytesStart<'_>, suites: Vec<String>) -> Self {
        // Most tools say it by an element, and some by a word.
        let status = match read_attribute(start, "status").as_deref() {
            Some("notrun" | "disabled" | "skipped") => ItemStatus::Skipped,
            Some("failed" | "fail" | "failure") => ItemStatus::Fail,
            Some("error") => ItemStatus::Error,
            _ => ItemStatus::Pass,
        };
        let name = read_attribute(start, "name").unwrap_or_default();
        let mut case = Self::named(name, suites);
        case.class = read_attribute(start, "classname").unwrap_or_default();
        case.file = read_attribute(start, "file").filter(|file| !file.trim().is_empty());
        case.seconds = read_attribute(start, "time").and_then(|time| parse_seconds(&time));
        case.own.status = status;
        case
    }

    /// Returns a case that passed, and of which only the name is known.
    fn named(name: String, suites: Vec<String>) -> Self {
        Self {
            class: String::new(),
            name,
            file: None,
            suites,
            properties: Vec::new(),
            is_expected_failure: false,
            seconds: None,
            own: JunitResult {
                status: ItemStatus::Pass,
                message: None,
                text: String::new(),
            },
            others: Vec::new(),
            open: None,
            property: None,
        }
    }

    /// Returns a case for an error or a failure of a suite outside of its cases, such as in its teardown. `None` if the element is another.
    pub(super) fn of_suite(
        name: &[u8],
        start: &BytesStart<'_>,
        suites: Vec<String>,
    ) -> Option<Self> {
        let is_fault = matches!(name, b"error" | b"failure");
        let suite = suites.last().filter(|_| is_fault)?.clone();
        let mut case = Self::named(suite, suites);
        case.open_child(name, start, true);
        Some(case)
    }

    /// Handles an element that starts inside the case.
    pub(super) fn open_child(&mut self, name: &[u8], start: &BytesStart<'_>, is_empty: bool) {
        let status = match name {
            b"failure" => ItemStatus::Fail,
            b"error" => ItemStatus::Error,
            b"skipped" => ItemStatus::Skipped,
            b"flakyFailure" | b"rerunFailure" => {
                self.add_other_try(ItemStatus::Fail, start, is_empty);
                return;
            }
            b"flakyError" | b"rerunError" => {
                self.add_other_try(ItemStatus::Error, start, is_empty);
                return;
            }
            _ => return,
        };
        // The most severe result counts: an error before a failure, and a failure before a skip.
        if status.severity() > self.own.status.severity() {
            self.own = JunitResult {
                status,
                message: read_attribute(start, "message"),
                text: String::new(),
            };
            self.is_expected_failure = status == ItemStatus::Skipped
                && read_attribute(start, "type").as_deref() == Some("pytest.xfail");
            self.open = (!is_empty).then_some(OpenElement::Own);
        }
    }

    fn add_other_try(&mut self, status: ItemStatus, start: &BytesStart<'_>, is_empty: bool) {
        if self.others.len() >= MAX_TRIES {
            return;
        }
        self.others.push(JunitResult {
            status,
            message: read_attribute(start, "message"),
            text: String::new(),
        });
        self.open = (!is_empty).then_some(OpenElement::Other);
    }

    pub(super) fn add_property(&mut self, name: String, value: Option<String>, is_empty: bool) {
        if self.properties.len() >= MAX_PROPERTIES {
            return;
        }
        match value {
            Some(value) => self.properties.push((name, value)),
            None if !is_empty => {
                self.property = Some(name);
                self.properties.push((String::new(), String::new()));
                self.open = Some(OpenElement::Property);
            }
            None => {}
        }
    }

    pub(super) fn append_text(&mut self, text: &str, most: usize) {
        let kept = match self.open {
            Some(OpenElement::Own) => &mut self.own.text,
            Some(OpenElement::Other) => match self.others.last_mut() {
                Some(verdict) => &mut verdict.text,
                None => return,
            },
            Some(OpenElement::Property) => match self.properties.last_mut() {
                Some((_, value)) => value,
                None => return,
            },
            None => return,
        };
        let room = most.saturating_sub(kept.len());
        kept.extend(text.chars().take(room));
    }

    /// Handles the end of an element inside the case.
    pub(super) fn close_child(&mut self, name: &[u8]) {
        if name == b"property"
            && let (Some(name), Some(last)) = (self.property.take(), self.properties.last_mut())
        {
            last.0 = name;
        }
        // The end of a nested element, such as the trace of a rerun, does not end the text of the enclosing one.
        self.open = match (self.open, name) {
            (Some(OpenElement::Own), b"failure" | b"error" | b"skipped")
            | (
                Some(OpenElement::Other),
                b"flakyFailure" | b"flakyError" | b"rerunFailure" | b"rerunError",
            )
            | (Some(OpenElement::Property), b"property") => None,
            (open, _) => open,
        };
    }

    /// Returns `class::name`. Without a class, uses the file or the suites instead.
    pub fn id(&self) -> String {
        let (class, name) = (self.class.trim(), self.name.trim());
        match (class, name) {
            ("", name) => match (&self.file, self.suites.as_slice()) {
                (_, _) if name.is_empty() => String::new(),
                (Some(file), _) => format!("{file}::{name}"),
                (None, []) => name.to_owned(),
                (None, suites) => format!("{} > {name}", suites.join(" > ")),
            },
            (class, "") => class.to_owned(),
            (class, name) => format!("{class}::{name}"),
        }
    }

    /// Returns whether this case reports an error in the teardown of the case before it.
    pub fn is_teardown_of(&self, before: Option<&Self>) -> bool {
        let is_teardown = self.own.status == ItemStatus::Error
            && self
                .own
                .message
                .as_deref()
                .is_some_and(|message| message.starts_with("failed on teardown"));
        is_teardown && before.is_some_and(|before| before.id() == self.id())
    }

    pub fn merge_worse(&mut self, with: &Self) {
        if with.own.status.severity() > self.own.status.severity() {
            self.own = with.own.clone();
        }
        self.seconds = self
            .seconds
            .zip(with.seconds)
            .map(|(one, other)| one + other)
            .or(self.seconds);
    }

    pub fn status(&self) -> ItemStatus {
        self.own.status
    }

    pub fn class(&self) -> &str {
        &self.class
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    pub fn file(&self) -> &str {
        self.file.as_deref().unwrap_or_default()
    }

    pub fn suites(&self) -> &[String] {
        &self.suites
    }

    pub fn seconds(&self) -> Option<f64> {
        self.seconds
    }

    /// Returns the result of the try that counts.
    pub fn counted_try(&self) -> &JunitResult {
        &self.own
    }

    /// Returns the results of the other tries: those before a pass, or those after a failure.
    pub fn other_tries(&self) -> &[JunitResult] {
        &self.others
    }
}

impl JunitResult {
    /// Returns the message, or else the first line of the text.
    pub fn reason(&self) -> Option<String> {
        let message = self
            .message
            .as_deref()
            .map(str::trim)
            .filter(|message| !message.is_empty());
        message.map(str::to_owned).or_else(|| {
            self.text
                .lines()
                .map(str::trim)
                .find(|line| !line.is_empty())
                .map(str::to_owned)
        })
    }
}

/// Parses seconds. Some tools write commas between thousands.
pub fn parse_seconds(text: &str) -> Option<f64> {
    text.trim()
        .replace(',', "")
        .parse()
        .ok()
        .filter(|seconds: &f64| seconds.is_finite() && *seconds >= 0.0)
}
