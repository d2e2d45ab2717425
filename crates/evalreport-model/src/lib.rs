//! The vocabulary of evalreport as plain data, its documents with lines and columns, its settings, and the opening of files.

pub mod config;
pub mod document;
pub mod domain;
pub mod files;
pub mod transcript;
