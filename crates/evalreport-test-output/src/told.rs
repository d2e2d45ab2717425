//! The parts of a report, as they are read.

use quick_xml::events::BytesStart;

use super::case::JunitCase;

/// A part of a report, passed on as it is read.
pub enum JunitEvent<'a> {
    /// A suite, or the whole report. Suites nest: `depth` counts the enclosing suites.
    Suite {
        start: &'a BytesStart<'a>,
        depth: usize,
        is_whole: bool,
    },
    /// A property of the whole report or of a suite.
    Property {
        name: &'a str,
        value: &'a str,
    },
    Case(Box<JunitCase>),
}
