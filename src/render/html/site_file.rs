//! A file of the site, and a sequence of files.

use askama::Template;

/// One file of the site.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SiteFile {
    /// Relative to the site's root, with `/` between its parts.
    pub path: String,
    pub bytes: Vec<u8>,
}

impl SiteFile {
    pub(super) fn from_template(path: String, template: &impl Template) -> Self {
        let text = template
            .render()
            .expect("a template of text and numbers writes into memory");
        Self {
            path,
            bytes: text.into_bytes(),
        }
    }
}

/// Files that are made one after the other.
pub type SitePart<'a> = Box<dyn Iterator<Item = SiteFile> + Send + 'a>;

/// Extension of pages.
pub(super) const PAGE_EXTENSION: &str = ".html";

/// File name of the page that compares any two arms of a suite.
pub(super) const ANY_PAIR_FILE: &str = "any.html";
