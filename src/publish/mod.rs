//! Making a site: which runs and texts are shown, which texts are redacted, and which files of the last build are kept.
//!
//! Texts that agents, judges and imports wrote reach a page only as [`Published`](crate::domain::Published), which `texts` makes.

mod build;
mod error;
mod folder;
mod foreign;
mod memory;
mod replace;
mod results;
mod site;
mod stamp;
mod stored;
mod tally;
mod texts;
mod transcripts;

pub use build::{Built, Order, Target, build};
pub use error::PublishError;
pub use stored::{Stores, evaluators, has_details};
pub use texts::Found;
pub use transcripts::Choice;
