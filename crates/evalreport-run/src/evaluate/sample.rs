//! A suite without requirements, for tests of evaluators.

use std::path::PathBuf;

use crate::suite::Suite;

pub fn sample_suite() -> Suite {
    Suite {
        file: "suites/sample/suite.yaml".to_owned(),
        folder: PathBuf::from("suites/sample"),
        name: "sample".to_owned(),
        ..Suite::default()
    }
}
