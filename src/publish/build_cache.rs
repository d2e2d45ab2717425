//! Record of the last build of a site: which sources each file was made from, so that the next build can skip unchanged ones.
//!
//! It is in the cache and can be deleted at any time. Without it every page is made again, and written if it differs.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::domain::to_hex;
use crate::files;
use crate::views::ItemCategory;
use crate::warehouse::{FileStamp, SITE_PREFIX};

use super::replace::replace_file;
use super::tally::TranscriptTally;

/// Patterns found, by file and field.
pub(super) type SecretMatches = BTreeMap<(String, String), BTreeSet<String>>;

/// Totals for messages at the terminal about runs whose pages were made together.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct PageTotals {
    pub transcripts: TranscriptTally,
    #[serde(with = "places")]
    pub places: SecretMatches,
}

/// Files that were made together, with the totals for messages about them.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct CachedPages {
    pub paths: Vec<String>,
    /// Stamps of further files that belong to these. They can be kept even if these cannot.
    pub parts: Vec<String>,
    /// What the pages of other files say of a suite's items: of each version, in the order of the overview, the categories.
    pub categories: Vec<Vec<ItemCategory>>,
    pub said: PageTotals,
}

#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct BuildCache {
    /// State of each file after it was written, by path from the site's root.
    pub files: BTreeMap<String, FileStamp>,
    /// Files by the stamp of their sources.
    pub made: BTreeMap<String, CachedPages>,
}

impl BuildCache {
    /// Returns the path in a cache of a site's record.
    pub fn cache_path(cache: &Path, site: &Path) -> io::Result<PathBuf> {
        let site = std::path::absolute(site)?;
        let name = to_hex(&Sha256::digest(site.as_os_str().as_encoded_bytes())[..8]);
        Ok(cache.join(format!("{SITE_PREFIX}{name}.json")))
    }

    /// Reads the last build's record. It is empty if it is missing or unreadable.
    pub fn load(place: &Path) -> Self {
        files::read(place)
            .ok()
            .and_then(|bytes| serde_json::from_slice(&bytes).ok())
            .unwrap_or_default()
    }

    pub fn save(&self, place: &Path) -> io::Result<()> {
        replace_file(place, &serde_json::to_vec(self).map_err(io::Error::other)?)
    }
}

/// JSON maps need text keys, so pairs are stored as a list.
mod places {
    use std::collections::BTreeSet;

    use serde::{Deserialize, Deserializer, Serializer};

    use super::SecretMatches;

    pub fn serialize<S: Serializer>(
        places: &SecretMatches,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(places)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<SecretMatches, D::Error> {
        Ok(
            Vec::<((String, String), BTreeSet<String>)>::deserialize(deserializer)?
                .into_iter()
                .collect(),
        )
    }
}
