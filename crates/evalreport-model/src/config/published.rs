//! Tables of published figures that the site checks.

use crate::document::Fields;

use super::site::read_url;

/// A file of published figures about a suite.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PublishedFile {
    pub suite: String,
    /// Path from the configuration's folder.
    pub file: String,
    /// The web address that it comes from.
    pub source: Option<String>,
}

pub(super) fn read_section(fields: &mut Fields) -> Vec<PublishedFile> {
    fields.read_each("published", |mut fields| {
        let (suite, file) = (fields.required_text("suite"), fields.required_text("file"));
        let source = read_url(&mut fields, "source");
        fields.finish();
        Some(PublishedFile {
            suite: suite?,
            file: file?,
            source,
        })
    })
}
