//! The one integration binary: linking polars is what costs, so it is linked once.

#![expect(clippy::print_stderr, reason = "tests say what they skip and what they found")]

mod acceptance;
mod agents;
mod architecture;
mod broken;
mod browser;
mod cache;
mod cli;
mod code_runs;
mod compare;
mod doctor;
mod eval;
mod evidence;
mod firefox;
mod foreign;
mod gate;
mod harnesses;
mod history;
mod import;
mod imported;
mod init;
mod inspect;
mod items;
mod judge;
mod judge_replies;
mod judged;
mod leaderboard;
mod list;
mod log;
mod mutated;
mod oracle;
mod pairs;
mod published;
mod publishing;
mod resume;
mod rubric;
mod schema;
mod show;
mod site;
mod sql_export;
mod store;
mod suites;
mod support;
mod textbook;
mod verify;
