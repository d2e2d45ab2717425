//! How a control ended: a test that cannot pass, run among a suite's own.

/// How the control of a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Control {
    /// It did not pass.
    Held,
    /// It passed, which it cannot.
    Passed,
    /// The report does not know it, although the tests came to their end.
    Missing,
}
