//! Names that the command line gives a run, and the prices that the configuration gives its tokens.

use crate::domain::PriceTable;

/// What a run is called where that is not for the file to say.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GivenNames {
    pub suite: Option<String>,
    pub approach: Option<String>,
    pub model: Option<String>,
    /// The files are runs of one arm, as those on one side of a gate: reports of test runners, which know no models, are not told apart by
    /// where they lie.
    pub are_one_arm: bool,
    /// What tokens cost where a file has tokens and no cost. They are part of no run's identity.
    pub prices: PriceTable,
}

impl GivenNames {
    /// Returns what tells these names from others in a digest.
    pub(super) fn parts(&self) -> Vec<&[u8]> {
        // What is not given is not the same as nothing given.
        let part = |name: &'_ Option<String>| -> &'static [u8] { if name.is_some() { b"1" } else { b"0" } };
        [&self.suite, &self.approach, &self.model]
            .into_iter()
            .flat_map(|name| [part(name), name.as_deref().unwrap_or_default().as_bytes()])
            .collect()
    }

    /// Says whether the command line names nothing.
    pub fn is_empty(&self) -> bool {
        [&self.suite, &self.approach, &self.model].iter().all(|name| name.is_none())
    }
}
