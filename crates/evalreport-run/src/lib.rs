//! Runs evaluations of agents: suites, questions, isolation, evaluators, resume.

pub mod agent;
pub mod evaluate;
pub mod process;
pub mod run;
pub mod suite;

// Layers below, under the names that they have in this house.
use evalreport_grade as grade;
use evalreport_model::{config, document, domain, files, transcript};
use evalreport_stats as stats;
use evalreport_store as results;
use evalreport_test_output as junit;
use evalreport_verify as verify;
