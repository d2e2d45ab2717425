//! One file of the site, and some made one after the other.

use askama::Template;

/// One file of the site.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SiteFile {
    /// Relative to the site's root, with `/` between its parts.
    pub path: String,
    pub bytes: Vec<u8>,
}

impl SiteFile {
    pub(super) fn page(path: String, template: &impl Template) -> Self {
        let text = template.render().expect("a template of text and numbers writes into memory");
        Self { path, bytes: text.into_bytes() }
    }
}

/// Files that are made one after the other.
pub type SitePart<'a> = Box<dyn Iterator<Item = SiteFile> + Send + 'a>;

/// How the names of pages end.
pub(super) const PAGE_ENDING: &str = ".html";

/// The page of a suite that compares any two of its arms.
pub(super) const ANY_PAIR: &str = "any.html";
