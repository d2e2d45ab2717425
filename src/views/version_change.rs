//! Why a suite has a new version.

use schemars::JsonSchema;
use serde::Serialize;

/// The newest version of a suite and the version before it. Their runs are not compared.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct VersionChange {
    pub suite: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<String>,
    /// The reason in words: which files decide and changed.
    pub why: String,
}
