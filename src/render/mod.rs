//! Views into bytes. Numbers become text in [`mod@format`], sentences in [`words`], once for every output.

pub mod chart;
pub mod comparability;
pub mod csv;
mod details;
pub mod export;
pub mod format;
pub mod gate;
pub mod gate_plan;
pub mod html;
pub mod json;
pub mod judged;
pub mod judging;
pub mod junit;
pub mod markdown;
pub mod nights;
pub mod png;
pub mod runnable;
pub mod shown;
mod sparkline;
pub mod summary;
pub mod table;
pub mod tables;
pub mod terminal;
pub mod verdicts;
pub mod verification;
pub mod words;
