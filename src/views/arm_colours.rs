//! Which colour an arm has: the same on every page of a site, however many suites it runs on.

use std::collections::{BTreeMap, BTreeSet};

use sha2::{Digest, Sha256};

use crate::inference::Arm;

use super::site::OverviewSuite;

/// Colours that a reader can tell apart.
const COLOURS: u8 = 6;
/// Arms of a suite with a colour, from the best down; a baseline has one beside them.
const BEST: usize = 5;

/// The colours of a site's arms by number. An arm without one is neutral.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ArmColours(BTreeMap<Arm, u8>);

impl ArmColours {
    /// Gives the five best arms of each suite and its baseline a colour by the hash of their names; where two of a suite would have the
    /// same, the later hash takes the next one that is free.
    pub fn of(suites: &[OverviewSuite]) -> Self {
        let groups: Vec<BTreeSet<&Arm>> = suites.iter().map(coloured).collect();
        let mut arms: Vec<(u64, &Arm)> =
            groups.iter().flatten().copied().collect::<BTreeSet<&Arm>>().into_iter().map(|arm| (hash(arm), arm)).collect();
        arms.sort();
        let mut given = BTreeMap::<Arm, u8>::new();
        for (hash, arm) in arms {
            let beside = groups.iter().filter(|group| group.contains(arm)).flatten();
            let taken: BTreeSet<u8> = beside.filter_map(|other| given.get(*other).copied()).collect();
            let wanted = u8::try_from(hash % u64::from(COLOURS)).unwrap_or_default();
            let mut turns = (0..COLOURS).map(|step| (wanted + step) % COLOURS);
            let colour = turns.find(|colour| !taken.contains(colour)).unwrap_or(wanted);
            given.insert(arm.clone(), colour);
        }
        Self(given)
    }

    /// The number of an arm's colour.
    pub fn get(&self, arm: &Arm) -> Option<u8> {
        self.0.get(arm).copied()
    }
}

fn coloured(suite: &OverviewSuite) -> BTreeSet<&Arm> {
    let entries = &suite.board.entries;
    let best = entries.iter().take(BEST);
    let baseline = entries.iter().find(|entry| suite.baseline.as_ref() == Some(&entry.arm.approach));
    best.chain(baseline).map(|entry| &entry.arm).collect()
}

fn hash(arm: &Arm) -> u64 {
    let digest = Sha256::digest(format!("{}\n{}", arm.approach, arm.model).as_bytes());
    digest.iter().take(8).fold(0, |hash, byte| (hash << 8) | u64::from(*byte))
}
