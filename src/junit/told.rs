//! What a report tells as it is read.

use quick_xml::events::BytesStart;

use super::case::Case;

/// What a report tells as it is read.
pub enum Told<'a> {
    /// A suite, or the whole. Suites nest: the depth counts those around it.
    Suite {
        start: &'a BytesStart<'a>,
        depth: usize,
        is_whole: bool,
    },
    /// Of the whole or of a suite.
    Property {
        name: &'a str,
        value: &'a str,
    },
    Case(Box<Case>),
}
