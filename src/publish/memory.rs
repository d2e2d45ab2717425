//! What the last build of a site made of what, so that the next one need not make it again.
//!
//! It lies in the cache and can be deleted at any time: without it every page is made, and written where it differs.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::domain::hex;
use crate::files;
use crate::warehouse::FileStamp;

use super::replace::replace;
use super::tally::Tally;

/// What a file and a field of it were found to hold, by pattern.
pub(super) type Places = BTreeMap<(String, String), BTreeSet<String>>;

/// What is said at the terminal of the runs whose pages were made together.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Said {
    pub transcripts: Tally,
    #[serde(with = "places")]
    pub places: Places,
}

/// Files that were made together, and what was said of it.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Made {
    pub paths: Vec<String>,
    /// The stamps of further files that belong to these, and may be kept where these may not.
    pub parts: Vec<String>,
    pub said: Said,
}

#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct SiteMemory {
    /// By the path from the site's root: how the file was when it had been written.
    pub files: BTreeMap<String, FileStamp>,
    /// By the stamp of all that the files were made of.
    pub made: BTreeMap<String, Made>,
}

impl SiteMemory {
    /// Returns where what is known of a site lies in a cache.
    pub fn place(cache: &Path, site: &Path) -> io::Result<PathBuf> {
        let site = std::path::absolute(site)?;
        let name = hex(&Sha256::digest(site.as_os_str().as_encoded_bytes())[..8]);
        Ok(cache.join(format!("site-{name}.json")))
    }

    /// Reads what the last build knew; nothing where there is none that can be read.
    pub fn load(place: &Path) -> Self {
        files::read(place).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default()
    }

    pub fn save(&self, place: &Path) -> io::Result<()> {
        replace(place, &serde_json::to_vec(self).map_err(io::Error::other)?)
    }
}

/// A map in JSON has texts as keys: pairs go as a list.
mod places {
    use std::collections::BTreeSet;

    use serde::{Deserialize, Deserializer, Serializer};

    use super::Places;

    pub fn serialize<S: Serializer>(places: &Places, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(places)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Places, D::Error> {
        Ok(Vec::<((String, String), BTreeSet<String>)>::deserialize(deserializer)?.into_iter().collect())
    }
}
