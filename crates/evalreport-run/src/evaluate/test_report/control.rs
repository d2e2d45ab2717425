//! Result of a control: a test that cannot pass, run together with a suite's own tests.

/// Result of a command's control.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ControlResult {
    /// The control did not pass, as expected.
    Held,
    /// The control passed, which should be impossible.
    Passed,
    /// The report does not contain the control, although the tests ran to their end.
    Missing,
}
