//! A suite that asks for nothing, for tests of evaluators.

use std::collections::BTreeMap;
use std::path::PathBuf;

use crate::suite::{Suite, Tests};

pub fn suite() -> Suite {
    Suite {
        file: "suites/sample/suite.yaml".to_owned(),
        folder: PathBuf::from("suites/sample"),
        name: "sample".to_owned(),
        description: None,
        requirements: None,
        workspace: None,
        questions: None,
        language: None,
        timeout: None,
        setup: Vec::new(),
        server: None,
        tests: Tests::default(),
        metrics: BTreeMap::new(),
        acceptance_criteria: Vec::new(),
        evaluators: BTreeMap::new(),
        build_command: None,
        test_command: None,
        coverage_threshold: None,
        static_analysis: Vec::new(),
        goal: None,
        profile: None,
        files: Vec::new(),
        verification: None,
        wrap: Vec::new(),
        tags: BTreeMap::new(),
    }
}
