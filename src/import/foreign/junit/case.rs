//! One test case, with the runs that it is said to have had.

use quick_xml::events::BytesStart;

use crate::domain::ItemStatus;

use super::super::super::cell::{Range, number};
use super::attribute;

/// A test has few of each; more are of no use.
const MOST_PROPERTIES: usize = 64;
const MOST_GOES: usize = 100;

pub(super) struct Case {
    class: String,
    name: String,
    file: Option<String>,
    suites: Vec<String>,
    pub properties: Vec<(String, String)>,
    pub is_expected_failure: bool,
    seconds: Option<f64>,
    /// What the case itself says.
    own: Verdict,
    /// Runs before a pass, or after a failure.
    others: Vec<(Verdict, Option<f64>)>,
    is_flaky: bool,
    /// The element that is open and takes text.
    open: Option<Open>,
    /// A property whose value is its text.
    property: Option<String>,
}

/// What one run of a case ended in.
#[derive(Clone)]
struct Verdict {
    status: ItemStatus,
    message: Option<String>,
    text: String,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Open {
    Own,
    Other,
    /// The value of a property.
    Property,
}

/// One run of a case.
pub(super) struct Go {
    pub status: ItemStatus,
    pub seconds: Option<f64>,
    pub reason: Option<String>,
    pub is_last: bool,
}

impl Case {
    pub fn open(start: &BytesStart<'_>, suites: Vec<String>) -> Self {
        let was_run = attribute(start, "status").is_none_or(|status| !matches!(status.as_str(), "notrun" | "disabled" | "skipped"));
        Self {
            class: attribute(start, "classname").unwrap_or_default(),
            name: attribute(start, "name").unwrap_or_default(),
            file: attribute(start, "file").filter(|file| !file.trim().is_empty()),
            suites,
            properties: Vec::new(),
            is_expected_failure: false,
            seconds: attribute(start, "time").and_then(|time| seconds(&time)),
            own: Verdict { status: if was_run { ItemStatus::Pass } else { ItemStatus::Skipped }, message: None, text: String::new() },
            others: Vec::new(),
            is_flaky: false,
            open: None,
            property: None,
        }
    }

    /// Takes an element inside the case.
    pub fn child(&mut self, name: &[u8], start: &BytesStart<'_>, is_empty: bool) {
        let status = match name {
            b"failure" => ItemStatus::Fail,
            b"error" => ItemStatus::Error,
            b"skipped" => ItemStatus::Skipped,
            b"flakyFailure" | b"rerunFailure" => {
                self.other(ItemStatus::Fail, start, name.starts_with(b"flaky"), is_empty);
                return;
            }
            b"flakyError" | b"rerunError" => {
                self.other(ItemStatus::Error, start, name.starts_with(b"flaky"), is_empty);
                return;
            }
            _ => return,
        };
        // A test that failed and broke is broken; one that was marked as skipped and failed has failed.
        if status.severity() > self.own.status.severity() {
            self.own = Verdict { status, message: attribute(start, "message"), text: String::new() };
            self.is_expected_failure = status == ItemStatus::Skipped && attribute(start, "type").as_deref() == Some("pytest.xfail");
            self.open = (!is_empty).then_some(Open::Own);
        }
    }

    fn other(&mut self, status: ItemStatus, start: &BytesStart<'_>, is_flaky: bool, is_empty: bool) {
        if self.others.len() >= MOST_GOES {
            return;
        }
        let seconds = attribute(start, "time").and_then(|time| seconds(&time));
        self.others.push((Verdict { status, message: attribute(start, "message"), text: String::new() }, seconds));
        self.is_flaky |= is_flaky;
        self.open = (!is_empty).then_some(Open::Other);
    }

    pub fn property(&mut self, name: String, value: Option<String>, is_empty: bool) {
        if self.properties.len() >= MOST_PROPERTIES {
            return;
        }
        match value {
            Some(value) => self.properties.push((name, value)),
            None if !is_empty => {
                self.property = Some(name);
                self.properties.push((String::new(), String::new()));
                self.open = Some(Open::Property);
            }
            None => {}
        }
    }

    pub fn text(&mut self, text: &str, most: usize) {
        let kept = match self.open {
            Some(Open::Own) => &mut self.own.text,
            Some(Open::Other) => match self.others.last_mut() {
                Some((verdict, _)) => &mut verdict.text,
                None => return,
            },
            Some(Open::Property) => match self.properties.last_mut() {
                Some((_, value)) => value,
                None => return,
            },
            None => return,
        };
        let room = most.saturating_sub(kept.len());
        kept.extend(text.chars().take(room));
    }

    /// An element inside the case has ended.
    pub fn end(&mut self, name: &[u8]) {
        if name == b"property"
            && let (Some(name), Some(last)) = (self.property.take(), self.properties.last_mut())
        {
            last.0 = name;
        }
        // What stands in a failure, such as the trace of a rerun, is not its text.
        self.open = match (self.open, name) {
            (Some(Open::Own), b"failure" | b"error" | b"skipped")
            | (Some(Open::Other), b"flakyFailure" | b"flakyError" | b"rerunFailure" | b"rerunError")
            | (Some(Open::Property), b"property") => None,
            (open, _) => open,
        };
    }

    /// Returns `class::name`; where the class says nothing, the file or the suites stand for it.
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

    /// Says whether the case tells what broke after the one before it.
    pub fn is_teardown_of(&self, before: Option<&Self>) -> bool {
        let is_teardown = self.own.status == ItemStatus::Error
            && self.own.message.as_deref().is_some_and(|message| message.starts_with("failed on teardown"));
        is_teardown && before.is_some_and(|before| before.id() == self.id())
    }

    pub fn worsen(&mut self, with: &Self) {
        if with.own.status.severity() > self.own.status.severity() {
            self.own = with.own.clone();
        }
        self.seconds = self.seconds.zip(with.seconds).map(|(one, other)| one + other).or(self.seconds);
    }

    pub fn status(&self) -> ItemStatus {
        self.own.status
    }

    /// The runs of the case in their order: before a pass the failed ones, after a failure those that were tried again.
    pub fn goes(&self) -> Vec<Go> {
        let go = |verdict: &Verdict, seconds: Option<f64>| Go { status: verdict.status, seconds, reason: verdict.reason(), is_last: false };
        let own = go(&self.own, self.seconds);
        let others = self.others.iter().map(|(verdict, seconds)| go(verdict, *seconds));
        let mut goes: Vec<Go> = if self.is_flaky || self.own.status == ItemStatus::Pass {
            others.chain([own]).collect()
        } else {
            std::iter::once(own).chain(others).collect()
        };
        if let Some(last) = goes.last_mut() {
            last.is_last = true;
        }
        goes
    }
}

impl Verdict {
    fn reason(&self) -> Option<String> {
        let message = self.message.as_deref().map(str::trim).filter(|message| !message.is_empty());
        message.map(str::to_owned).or_else(|| self.text.lines().map(str::trim).find(|line| !line.is_empty()).map(str::to_owned))
    }
}

/// Reads seconds, which some write with commas between thousands.
pub(super) fn seconds(text: &str) -> Option<f64> {
    number("time", &text.trim().replace(',', ""), Range::NotNegative).ok()
}
