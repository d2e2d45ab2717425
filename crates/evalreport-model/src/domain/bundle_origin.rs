//! The bundle with which a run was imported.

use serde::{Deserialize, Serialize};

/// Who signed a bundle, and what of the run it did not hold.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Carried {
    /// Checked when the bundle was imported.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signed_by: Option<Signer>,
    /// Parts of the run that are sealed and were not in the bundle: `transcript`, `output`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub without: Vec<String>,
}

/// Whose key made a signature.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Signer {
    /// The principals of the line of allowed signers, as they stand there.
    pub name: String,
    /// The fingerprint of the key, such as `SHA256:…`.
    pub key: String,
}
