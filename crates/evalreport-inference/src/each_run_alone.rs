//! What each repeat of two arms says alone.
//!
//! Two repeats of each arm leave two degrees of freedom for the variance between them, so that together they may show less than either. A
//! difference that every repeat of one arm shows against every repeat of the other is as sure as a single run of each could make it.

use crate::stats::{
    Interval, ItemsByRuns, PairedTable, mcnemar_test, mean_interval, paired_t, tango_interval,
};

use super::cluster_test::ClusterTest;
use super::policy::{MIN_ITEMS, MIN_PAIRED_T, Policy};

/// The difference that all pairs of repeats show.
pub(super) struct EachRunAlone {
    /// The largest p-value of any pair of repeats.
    pub p: f64,
    /// From the lowest to the highest end of any pair's interval.
    pub interval: Interval,
}

/// Pairs of repeats beyond which nobody looks at each: there are enough to tell how repeats vary.
const MAX_PAIRS: usize = 64;

impl EachRunAlone {
    /// Returns the interval of the difference: the end that is nearest to no difference is that which all pairs exclude, and the other end
    /// that of all repeats together, because a single run does not know how much runs vary.
    pub fn interval_within(&self, together: Interval) -> Interval {
        if self.interval.low > 0.0 {
            Interval {
                high: self.interval.high.max(together.high),
                ..self.interval
            }
        } else {
            Interval {
                low: self.interval.low.min(together.low),
                ..self.interval
            }
        }
    }

    /// Tests each repeat of one arm against each of the other. Returns `None` if any of these pairs is open, or if two name different arms.
    pub fn from_runs(
        one: ItemsByRuns<'_>,
        other: ItemsByRuns<'_>,
        codes: Option<&[u32]>,
        policy: &Policy,
    ) -> Option<Self> {
        if one.runs * other.runs > MAX_PAIRS {
            return None;
        }
        let mut all: Option<Self> = None;
        for (run, other_run) in
            (0..one.runs).flat_map(|run| (0..other.runs).map(move |at| (run, at)))
        {
            let found = RunPair::new((one, run), (other, other_run), codes).test(policy)?;
            if found.p >= policy.alpha || found.interval.low <= 0.0 && found.interval.high >= 0.0 {
                return None;
            }
            all = Some(match all {
                None => found,
                Some(before) => Self {
                    p: before.p.max(found.p),
                    interval: Interval {
                        low: before.interval.low.min(found.interval.low),
                        high: before.interval.high.max(found.interval.high),
                    },
                },
            });
        }
        all.filter(|found| found.interval.low > 0.0 || found.interval.high < 0.0)
    }
}

/// The values of one repeat of each arm, on the items that both have.
struct RunPair {
    one: Vec<f64>,
    other: Vec<f64>,
    codes: Option<Vec<u32>>,
}

impl RunPair {
    fn new(
        (one, run): (ItemsByRuns<'_>, usize),
        (other, other_run): (ItemsByRuns<'_>, usize),
        codes: Option<&[u32]>,
    ) -> Self {
        let mut found = Self {
            one: Vec::new(),
            other: Vec::new(),
            codes: codes.map(|_| Vec::new()),
        };
        let rows = one
            .values
            .chunks(one.runs)
            .zip(other.values.chunks(other.runs));
        for (item, (own, others)) in rows.enumerate() {
            let Some((own, others)) = own[run].zip(others[other_run]) else {
                continue;
            };
            found.one.push(own);
            found.other.push(others);
            if let Some((kept, all)) = found.codes.as_mut().zip(codes) {
                kept.push(all[item]);
            }
        }
        found
    }

    /// Tests them as single runs are tested: over clusters, by the counts of passes, or by Student's t.
    fn test(&self, policy: &Policy) -> Option<EachRunAlone> {
        let confidence = policy.confidence();
        let differences: Vec<f64> = self
            .one
            .iter()
            .zip(&self.other)
            .map(|(a, b)| a - b)
            .collect();
        if differences.len() < MIN_ITEMS {
            return None;
        }
        if let Some(codes) = &self.codes {
            let found = ClusterTest::from_differences(&differences, codes, confidence);
            return Some(EachRunAlone {
                p: found.p,
                interval: found.interval?,
            });
        }
        if let Some(table) = self.table() {
            return Some(EachRunAlone {
                p: mcnemar_test(table.only_a, table.only_b).exact,
                interval: tango_interval(table, confidence).ok()?,
            });
        }
        if differences.len() < MIN_PAIRED_T {
            return None;
        }
        Some(EachRunAlone {
            p: paired_t(&self.one, &self.other, confidence).ok()?.p,
            interval: mean_interval(&differences, confidence).ok()?,
        })
    }

    /// Returns the counts if every value is a pass or a fail.
    fn table(&self) -> Option<PairedTable> {
        let mut table = PairedTable {
            both: 0,
            only_a: 0,
            only_b: 0,
            neither: 0,
        };
        for (one, other) in self.one.iter().zip(&self.other) {
            let is_pass = |value: f64| {
                if (value - 1.0).abs() <= 0.0 {
                    Some(true)
                } else {
                    (value.abs() <= 0.0).then_some(false)
                }
            };
            let cell = match (is_pass(*one)?, is_pass(*other)?) {
                (true, true) => &mut table.both,
                (true, false) => &mut table.only_a,
                (false, true) => &mut table.only_b,
                (false, false) => &mut table.neither,
            };
            *cell += 1;
        }
        Some(table)
    }
}
