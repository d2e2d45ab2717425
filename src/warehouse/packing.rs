//! Stored runs in one bundle.

use std::path::Path;

use crate::domain::{Problem, Secrets};
use crate::results::{BundleParts, BundleWriter, Decisions, Extent, Rewriter, StoreError};

use super::records::StoredAt;

/// The content of a written bundle.
pub struct Packed {
    pub runs: usize,
    pub outcomes: u64,
    /// Output files that the bundle omits.
    pub left_out: Vec<Problem>,
}

/// Writes a bundle of the runs at these places, with what was decided about them: see [`Warehouse::stored_at`](super::Warehouse::stored_at)
/// and [`Warehouse::decisions`](super::Warehouse::decisions). `rewriter` changes each record
/// before it is packed. Fails, and leaves nothing behind, if the bundle would contain one of the `secrets`.
pub fn pack<'a>(
    path: &Path,
    (places, decisions): (&[StoredAt], &Decisions),
    extent: Extent,
    secrets: &'a Secrets,
    rewriter: Option<&'a mut dyn Rewriter>,
) -> Result<Packed, StoreError> {
    let runs = places.iter().map(StoredAt::runs).sum();
    let with_judged = places
        .iter()
        .any(|place| matches!(place, StoredAt::Sealed(_, _, judged) if !judged.is_empty()));
    let parts = BundleParts {
        runs,
        with_judged,
        with_decisions: !decisions.is_empty(),
    };
    let mut writer = BundleWriter::create(path, parts, extent, secrets, rewriter)?;
    for place in places {
        match place {
            StoredAt::Own(header) => writer.own_run(header)?,
            StoredAt::Sealed(pair, ids, judged) => {
                writer.imported(pair, ids)?;
                judged
                    .iter()
                    .try_for_each(|(run, folder)| writer.judged(run, folder))?;
            }
        }
    }
    writer.decisions(decisions)?;
    let (outcomes, left_out) = writer.commit()?;
    Ok(Packed {
        runs,
        outcomes,
        left_out,
    })
}
