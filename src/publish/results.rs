//! The results themselves within a site, so that its readers can import them.

use crate::domain::{Acceptance, Foreign, ItemDetails, ItemOutcome, Run, Secrets};
use crate::files;
use crate::render::format;
use crate::results::{
    Decisions, Extent, Retraction, Rewriter, ScoreLine, StoreError, page_element,
};
use crate::warehouse::{ShownNames, StoredAt, pack};

use super::error::PublishError;
use super::texts::Texts;

/// Maximum bytes of results within a page; a larger page is too big for mail.
const MOST_BYTES_IN_PAGE: usize = 16 << 20;

/// Packs the runs at these places without messages and files. Texts are redacted as on the site.
///
/// If a file of theirs cannot be read, the site goes without them, as its pages go without that file: then returns what to say about it.
pub(super) fn packed(
    places: (&[StoredAt], &Decisions),
    texts: &Texts,
    secrets: &Secrets,
) -> Result<Result<Vec<u8>, String>, PublishError> {
    let cannot =
        |error: std::io::Error| PublishError::new(format!("cannot pack the results: {error}"));
    let folder = tempfile::tempdir().map_err(cannot)?;
    let file = folder.path().join("results.bundle");
    let mut shown = Shown {
        texts,
        names: texts.names_of_outcomes(),
    };
    let rewriter = texts.takes_out().then_some(&mut shown as &mut dyn Rewriter);
    match pack(&file, places, Extent::Figures, secrets, rewriter) {
        Ok(_) => files::read(&file).map(Ok).map_err(cannot),
        Err(error @ StoreError::Io { .. }) => Ok(Err(format!(
            "warning: the site does not hold the results: {}",
            error.whole()
        ))),
        Err(error) => Err(error.into()),
    }
}

/// Returns the element that holds the results in a page. If they are too large, it is empty and a message says so.
pub(super) fn for_page(results: &[u8]) -> (String, Option<String>) {
    if results.len() <= MOST_BYTES_IN_PAGE {
        return (page_element(results), None);
    }
    let size = format::integer(results.len() as u64);
    (
        String::new(),
        Some(format!(
            "note: the file does not hold the results themselves, which take {size} bytes; the folder of a site does"
        )),
    )
}

/// Rewrites records to the names and texts that the site shows.
struct Shown<'a> {
    texts: &'a Texts,
    names: ShownNames,
}

impl Rewriter for Shown<'_> {
    fn run(&mut self, run: &mut Run) {
        self.texts.rename(run);
        run.each_text(&mut |_, text| self.texts.take_out(text));
    }

    fn outcome(&mut self, outcome: &mut ItemOutcome, details: &mut ItemDetails) {
        self.names.apply(outcome);
        outcome.each_text(&mut |_, text| self.texts.take_out(text));
        details.each_text(&mut |_, text| self.texts.take_out(text));
    }

    fn score(&mut self, score: &mut ScoreLine) {
        self.texts.rename_metric(&mut score.score.metric);
        score.each_text(&mut |_, text| self.texts.take_out(text));
    }

    fn acceptance(&mut self, accepted: &mut Acceptance) {
        self.texts.rename_acceptance(accepted);
        accepted.each_text(&mut |_, text| self.texts.take_out(text));
    }

    fn tombstone(&mut self, retracted: &mut Retraction) {
        self.texts.take_out(&mut retracted.reason);
    }
}
