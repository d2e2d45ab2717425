//! Making a site: which runs and texts are shown, which texts are redacted, and which files of the last build are kept.
//!
//! Texts that agents, judges and imports wrote reach a page only as [`Redacted`](crate::domain::Redacted), which `secret_scan` makes.

mod build;
mod build_cache;
mod error;
mod folder;
mod replace;
mod results;
mod secret_scan;
mod site;
mod source_key;
mod stored;
mod tally;
mod transcripts;
mod untrusted_texts;

pub use build::{BuildInputs, BuildResult, BuildTarget, DIGESTS_PATH_IN_SITE, build_site};
pub use error::PublishError;
pub use secret_scan::SecretPolicy;
pub use stored::{NamedStores, has_details, read_evaluator_scores};
pub use transcripts::TranscriptChoice;
