//! Stored runs in one bundle.

use std::path::Path;

use crate::domain::{Problem, Secrets};
use crate::results::{
    BundleDecisions, BundleExtent, BundleParts, BundleRewriter, BundleWriter, StoreError,
};

use super::records::StoredLocation;

/// The content of a written bundle.
pub struct BundleSummary {
    pub runs: usize,
    pub outcomes: u64,
    /// Output files that the bundle omits.
    pub left_out: Vec<Problem>,
}

/// Writes a bundle of the runs at these places, with what was decided about them: see [`Warehouse::stored_locations`](super::Warehouse::stored_locations)
/// and [`Warehouse::collect_decisions`](super::Warehouse::collect_decisions). `rewriter` changes each record
/// before it is packed. Fails, and leaves nothing behind, if the bundle would contain one of the `secrets`.
pub fn write_bundle<'a>(
    path: &Path,
    (places, decisions): (&[StoredLocation], &BundleDecisions),
    extent: BundleExtent,
    secrets: &'a Secrets,
    rewriter: Option<&'a mut dyn BundleRewriter>,
) -> Result<BundleSummary, StoreError> {
    let runs = places.iter().map(StoredLocation::run_count).sum();
    let with_judged = places
        .iter()
        .any(|place| matches!(place, StoredLocation::Sealed(_, _, judged) if !judged.is_empty()));
    let parts = BundleParts {
        runs,
        with_judged,
        with_decisions: !decisions.is_empty(),
    };
    let mut writer = BundleWriter::create(path, parts, extent, secrets, rewriter)?;
    for place in places {
        match place {
            StoredLocation::Own(header) => writer.write_own_run(header)?,
            StoredLocation::Sealed(pair, ids, judged) => {
                writer.write_imported_runs(pair, ids)?;
                judged
                    .iter()
                    .try_for_each(|(run, folder)| writer.write_judgements(run, folder))?;
            }
        }
    }
    writer.write_decisions(decisions)?;
    let (outcomes, left_out) = writer.commit()?;
    Ok(BundleSummary {
        runs,
        outcomes,
        left_out,
    })
}
