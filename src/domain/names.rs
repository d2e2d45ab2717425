//! Names of files that people write for this program.

/// A configuration has one of these names, and is found by it.
pub const CONFIGURATION_NAMES: [&str; 2] = ["evalreport.yaml", "evalreport.yml"];
