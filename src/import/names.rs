//! Names that the command line gives a run.

/// What a run is called where that is not for the file to say.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GivenNames {
    pub suite: Option<String>,
    pub approach: Option<String>,
    pub model: Option<String>,
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

    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}
