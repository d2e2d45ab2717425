//! The results themselves within a site, so that its readers can import them.

use crate::domain::{Acceptance, ItemDetails, ItemOutcome, Run, Secrets, Untrusted};
use crate::files;
use crate::render::format;
use crate::results::{
    BundleDecisions, BundleExtent, BundleRewriter, Retraction, ScoreLine, StoreError, page_element,
};
use crate::warehouse::{DisplayNames, StoredLocation, write_bundle};

use super::error::PublishError;
use super::secret_scan::SecretScan;

/// Maximum bytes of results within a page; a larger page is too big for mail.
const MAX_BYTES_IN_PAGE: usize = 16 << 20;

/// Packs the runs at these places without messages and files. Texts are redacted as on the site.
///
/// If a file of theirs cannot be read, the site goes without them, as its pages go without that file: then returns what to say about it.
pub(super) fn pack_results(
    places: (&[StoredLocation], &BundleDecisions),
    texts: &SecretScan,
    secrets: &Secrets,
) -> Result<Result<Vec<u8>, String>, PublishError> {
    let cannot =
        |error: std::io::Error| PublishError::new(format!("cannot pack the results: {error}"));
    let folder = tempfile::tempdir().map_err(cannot)?;
    let file = folder.path().join("results.bundle");
    let mut shown = RecordRedactor {
        texts,
        names: texts.outcome_names(),
    };
    let rewriter = texts
        .is_redacting()
        .then_some(&mut shown as &mut dyn BundleRewriter);
    match write_bundle(&file, places, BundleExtent::Figures, secrets, rewriter) {
        Ok(_) => files::read(&file).map(Ok).map_err(cannot),
        Err(error @ StoreError::Io { .. }) => Ok(Err(format!(
            "warning: the site does not hold the results: {}",
            error.full_message()
        ))),
        Err(error) => Err(error.into()),
    }
}

/// Returns the element that holds the results in a page. If they are too large, it is empty and a message says so.
pub(super) fn results_element(results: &[u8]) -> (String, Option<String>) {
    if results.len() <= MAX_BYTES_IN_PAGE {
        return (page_element(results), None);
    }
    let size = format::format_integer(results.len() as u64);
    (
        String::new(),
        Some(format!(
            "note: the file does not hold the results themselves, which take {size} bytes; the folder of a site does"
        )),
    )
}

/// Rewrites records to the names and texts that the site shows.
struct RecordRedactor<'a> {
    texts: &'a SecretScan,
    names: DisplayNames,
}

impl BundleRewriter for RecordRedactor<'_> {
    fn rewrite_run(&mut self, run: &mut Run) {
        self.texts.rename_run(run);
        run.visit_texts(&mut |_, text| self.texts.redact_uncounted(text));
    }

    fn rewrite_outcome(&mut self, outcome: &mut ItemOutcome, details: &mut ItemDetails) {
        self.names.rename_outcome(outcome);
        outcome.visit_texts(&mut |_, text| self.texts.redact_uncounted(text));
        details.visit_texts(&mut |_, text| self.texts.redact_uncounted(text));
    }

    fn rewrite_score(&mut self, score: &mut ScoreLine) {
        self.texts.rename_metric(&mut score.score.metric);
        score.visit_texts(&mut |_, text| self.texts.redact_uncounted(text));
    }

    fn rewrite_acceptance(&mut self, accepted: &mut Acceptance) {
        self.texts.rename_acceptance(accepted);
        accepted.visit_texts(&mut |_, text| self.texts.redact_uncounted(text));
    }

    fn rewrite_tombstone(&mut self, retracted: &mut Retraction) {
        self.texts.redact_uncounted(&mut retracted.reason);
    }
}
