//! Names of files that users write.

/// The possible names of a configuration file, by which it is found.
pub const CONFIGURATION_NAMES: [&str; 2] = ["evalreport.yaml", "evalreport.yml"];
