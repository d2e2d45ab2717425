//! Versions of all importers.

use super::foreign::ForeignFormat;
use super::source::hex_digest;
use super::{rubric, table};

/// Returns each importer's name with its version.
pub fn importer_versions() -> Vec<(&'static str, u32)> {
    let own = [("rubric", rubric::VERSION), ("table", table::VERSION)];
    ForeignFormat::all()
        .map(|format| (format.name(), format.version()))
        .chain(own)
        .collect()
}

/// Returns a short digest of all importers' versions. It changes when one of them gives other records.
pub fn versions_digest() -> String {
    let versions: Vec<String> = importer_versions()
        .into_iter()
        .map(|(name, version)| format!("{name} {version}"))
        .collect();
    let parts: Vec<&[u8]> = versions.iter().map(String::as_bytes).collect();
    hex_digest(&parts, true)[..12].to_owned()
}
