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

pub use build::{BuildInputs, BuildResult, BuildTarget, build_site};
pub use error::PublishError;
pub use stored::{NamedStores, has_details, read_evaluator_scores};
pub use texts::SecretPolicy;
pub use transcripts::TranscriptChoice;
