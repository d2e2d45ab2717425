//! Colours of arms. An arm has the same colour on every page of a site, on all its suites.

use std::collections::{BTreeMap, BTreeSet};

use sha2::{Digest, Sha256};

use crate::inference::Arm;

use super::site::OverviewSuite;

/// Colours that a reader can tell apart.
const COLOUR_COUNT: u8 = 6;
/// Best arms of a suite that get a colour. A baseline gets one in addition.
const MAX_COLOURED_ARMS: usize = 5;

/// Colour numbers of a site's arms. An arm without a number is neutral.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ArmColours(BTreeMap<Arm, u8>);

impl ArmColours {
    /// Gives each suite's five best arms and its baseline a colour by the hash of their names. If two arms of a suite would share a colour,
    /// the later hash takes the next free one.
    pub fn from_suites(suites: &[OverviewSuite]) -> Self {
        let groups: Vec<BTreeSet<&Arm>> = suites.iter().map(coloured_arms).collect();
        let mut arms: Vec<(u64, &Arm)> = groups
            .iter()
            .flatten()
            .copied()
            .collect::<BTreeSet<&Arm>>()
            .into_iter()
            .map(|arm| (hash_name(arm), arm))
            .collect();
        arms.sort();
        let mut given = BTreeMap::<Arm, u8>::new();
        for (hash, arm) in arms {
            let beside = groups.iter().filter(|group| group.contains(arm)).flatten();
            let taken: BTreeSet<u8> = beside
                .filter_map(|other| given.get(*other).copied())
                .collect();
            let wanted = u8::try_from(hash % u64::from(COLOUR_COUNT)).unwrap_or_default();
            let mut turns = (0..COLOUR_COUNT).map(|step| (wanted + step) % COLOUR_COUNT);
            let colour = turns
                .find(|colour| !taken.contains(colour))
                .unwrap_or(wanted);
            given.insert(arm.clone(), colour);
        }
        Self(given)
    }

    /// Returns the number of an arm's colour, or `None` if the arm is neutral.
    pub fn get(&self, arm: &Arm) -> Option<u8> {
        self.0.get(arm).copied()
    }
}

fn coloured_arms(suite: &OverviewSuite) -> BTreeSet<&Arm> {
    let entries = &suite.board.entries;
    let best = entries.iter().take(MAX_COLOURED_ARMS);
    let baseline = entries
        .iter()
        .find(|entry| suite.baseline.as_ref() == Some(&entry.arm.approach));
    best.chain(baseline).map(|entry| &entry.arm).collect()
}

fn hash_name(arm: &Arm) -> u64 {
    let digest = Sha256::digest(format!("{}\n{}", arm.approach, arm.model).as_bytes());
    digest
        .iter()
        .take(8)
        .fold(0, |hash, byte| (hash << 8) | u64::from(*byte))
}
