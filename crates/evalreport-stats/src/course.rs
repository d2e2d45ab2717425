//! The course of one item over nights: whether it broke, was repaired, or is flaky.

use super::Undefined;
use super::distribution::ln_choose;

/// The outcomes of one item in one night: attempts passed, and attempts counted.
pub type NightOutcomes = (u64, u64);

/// Maximum chance that an item whose outcomes come in random order is said to have changed.
pub const COURSE_ALPHA: f64 = 0.05;

/// The share of the test of the newest stretch in half of [`COURSE_ALPHA`]. It finds a break after some chance failures, which hide a break for
/// longest; the test of runs, which has the rest, finds what follows a long stretch of the same kind.
const STRETCH_SHARE: f64 = 2.0 / 3.0;

/// What the order of an item's outcomes says.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, schemars::JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum CourseKind {
    /// All outcomes are equal.
    Steady,
    /// It fails every attempt since a night, at least two, and chance does not explain it.
    Broken,
    /// It fails every attempt since a night and passed every attempt before. A flaky item does so, too, with a chance above 5%.
    MaybeBroken,
    /// It passes every attempt since a night, at least two, and chance does not explain it.
    Repaired,
    /// It passes every attempt since a night and failed every attempt before. A flaky item does so, too, with a chance above 5%.
    MaybeRepaired,
    /// It passes and fails within a night, or more often in turn than one change explains.
    Flaky,
}

impl CourseKind {
    /// Returns whether it fails now, and no randomness was seen that would excuse it.
    pub fn is_failing(self) -> bool {
        matches!(self, Self::Broken | Self::MaybeBroken)
    }

    /// Returns whether it passes now, after failures, and no randomness was seen.
    pub fn passes_again(self) -> bool {
        matches!(self, Self::Repaired | Self::MaybeRepaired)
    }
}

/// Minimum number of outcomes of a newest stretch that may be a change. Who looks at an item every night meets each chance failure as its
/// newest outcome, so one alone is no evidence however rare it is.
const MIN_STRETCH: u64 = 2;

/// The course of an item, and the newest stretch of nights with equal outcomes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Course {
    pub kind: CourseKind,
    /// The index of the first night of that stretch. 0 if all outcomes are equal.
    pub since: usize,
    /// The outcomes from that night on; then all outcomes before.
    pub after: NightOutcomes,
    pub before: NightOutcomes,
    /// The chance that the same outcomes in random order have so long a newest stretch, or so few changes. `None` if all outcomes are equal,
    /// or if the newest night has both.
    pub p: Option<f64>,
}

/// Returns the course of an item from its nights, oldest first. Nights without a counted attempt say nothing.
///
/// *Change or chance.* The null hypothesis is a flaky item: one pass rate in all nights, so that every order of its outcomes is equally
/// likely, given their numbers. Breaks and repairs have half of [`COURSE_ALPHA`] each. Two exact tests look for what a break makes unlikely, or
/// a repair if the item passes now, and share that half as 2 to 1:
///
/// - a long newest stretch: of N outcomes, k of the kind that the stretch does not have, the last r have none with the probability
///   C(N − r, k)/C(N, k), the hypergeometric distribution at zero;
/// - few runs of equal outcomes (Wald and Wolfowitz 1940), if no night has both: R runs of k outcomes of the newest kind and m others, the
///   last of the newest kind, have the probability C(k−1, j−1) C(m−1, j−1)/C(N, k) with R = 2j, and C(k−1, j) C(m−1, j−1)/C(N, k) with
///   R = 2j + 1.
///
/// The p-value is the smaller one of 3 times the first and 6 times the second. Seven passes and then seven failures have 1/C(14, 7) in both
/// tests, hence p = 0.00087; three failures after six passes have p = 0.036, and after ten outcomes with one failure p = 0.042.
///
/// *Flaky* is what no change explains: outcomes that change back without such evidence, or both outcomes within a night. A night of both
/// just before the newest stretch may be the night of the change.
///
/// Undefined without outcomes, or if a night passed more than it counts.
pub fn item_course(nights: &[NightOutcomes]) -> Result<Course, Undefined> {
    if nights.iter().any(|(passed, counted)| passed > counted) {
        return Err(Undefined::OutOfRange);
    }
    let known: Vec<usize> = (0..nights.len())
        .filter(|night| nights[*night].1 > 0)
        .collect();
    let (Some(first), Some(last)) = (known.first(), known.last()) else {
        return Err(Undefined::NoData);
    };
    let sum = |places: &[usize]| {
        places.iter().fold((0, 0), |sum, night| {
            (sum.0 + nights[*night].0, sum.1 + nights[*night].1)
        })
    };
    let state = |night: usize| NightPattern::from_counts(nights[night]);
    let newest = state(*last);
    let at = known
        .iter()
        .rposition(|night| state(*night) != newest)
        .map_or(0, |night| night + 1);
    let (before, after) = (sum(&known[..at]), sum(&known[at..]));
    if newest == NightPattern::Both {
        return Ok(Course {
            kind: CourseKind::Flaky,
            since: *last,
            after: nights[*last],
            before: sum(&known[..known.len() - 1]),
            p: None,
        });
    }
    if at == 0 {
        return Ok(Course {
            kind: CourseKind::Steady,
            since: *first,
            after,
            before,
            p: None,
        });
    }
    let passes = newest == NightPattern::Passes;
    let (passed, all) = (before.0 + after.0, before.1 + after.1);
    let others = if passes { all - passed } else { passed };
    let has_both = known
        .iter()
        .any(|night| state(*night) == NightPattern::Both);
    let stretch = p_of_stretch(all, others, after.1) / STRETCH_SHARE;
    let runs = if has_both {
        1.0
    } else {
        let runs = 1 + known
            .windows(2)
            .filter(|pair| state(pair[0]) != state(pair[1]))
            .count() as u64;
        p_of_runs(all - others, others, runs) / (1.0 - STRETCH_SHARE)
    };
    let p = (2.0 * stretch.min(runs)).min(1.0);
    let opposite = if passes {
        NightPattern::Fails
    } else {
        NightPattern::Passes
    };
    // The night of the change may have both outcomes.
    let old = if at > 1 && state(known[at - 1]) == NightPattern::Both {
        &known[..at - 1]
    } else {
        &known[..at]
    };
    let is_one_change = old.iter().all(|night| state(*night) == opposite);
    let is_change = p <= COURSE_ALPHA && after.1 >= MIN_STRETCH;
    let kind = match (is_change, is_one_change, passes) {
        (true, _, false) => CourseKind::Broken,
        (true, _, true) => CourseKind::Repaired,
        (false, true, false) => CourseKind::MaybeBroken,
        (false, true, true) => CourseKind::MaybeRepaired,
        (false, false, _) => CourseKind::Flaky,
    };
    Ok(Course {
        kind,
        since: known[at],
        after,
        before,
        p: Some(p),
    })
}

/// The outcomes of a night.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum NightPattern {
    Passes,
    Fails,
    Both,
}

impl NightPattern {
    fn from_counts((passed, counted): NightOutcomes) -> Self {
        match passed {
            0 => Self::Fails,
            passed if passed == counted => Self::Passes,
            _ => Self::Both,
        }
    }
}

/// Returns the chance that the last `stretch` of `all` outcomes have none of the `others`.
fn p_of_stretch(all: u64, others: u64, stretch: u64) -> f64 {
    let [all, others, stretch] = [all, others, stretch].map(|count| count as f64);
    (ln_choose(all - stretch, others) - ln_choose(all, others)).exp()
}

/// Returns the chance of at most so many runs of equal outcomes, the last of the newest kind; both numbers are above zero.
fn p_of_runs(newest: u64, others: u64, runs: u64) -> f64 {
    let (k, m) = (newest as f64, others as f64);
    let all = ln_choose(k + m, k);
    let of_runs = |runs: u64| {
        let blocks = (runs / 2) as f64;
        // Of an odd number of runs, the newest kind has the first, too.
        let more = (runs % 2) as f64;
        if blocks + more <= k && blocks <= m {
            (ln_choose(k - 1.0, blocks + more - 1.0) + ln_choose(m - 1.0, blocks - 1.0) - all).exp()
        } else {
            0.0
        }
    };
    (2..=runs).map(of_runs).sum::<f64>().min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nights(text: &str) -> Vec<NightOutcomes> {
        text.chars()
            .map(|letter| (u64::from(letter == 'P'), u64::from(letter != '-')))
            .collect()
    }

    #[track_caller]
    fn of(text: &str) -> Course {
        item_course(&nights(text)).expect("outcomes")
    }

    #[track_caller]
    fn is_about(found: Option<f64>, expected: f64) {
        assert!(
            found.is_some_and(|found| (found - expected).abs() < 1e-9),
            "{found:?} is not {expected}"
        );
    }

    #[test]
    fn p_values_in_closed_form() {
        is_about(of("PPPPPPPFFFFFFF").p, 3.0 / 3432.0);
        is_about(of("PPPPPPFFF").p, 3.0 / 84.0);
        is_about(of("PPPPPPF").p, 3.0 / 7.0);
        // Three runs of 14 and 7 that end with a pass: 1 of two runs, 13 of three; C(21, 7) = 116,280.
        is_about(of("PPPPPPPFFFFFFFPPPPPPP").p, 6.0 * 14.0 / 116_280.0);
        // A stretch of six after noise: C(7, 6)/C(13, 6).
        is_about(of("PPPFPPPFFFFFF").p, 3.0 * 7.0 / 1716.0);
        // Nights of three attempts: six passes and three failures.
        is_about(
            item_course(&[(3, 3), (3, 3), (0, 3)]).expect("outcomes").p,
            3.0 / 84.0,
        );
    }

    /// All orders of few outcomes, one by one.
    #[test]
    fn runs_are_counted_exactly() {
        for (passed, failed) in [(1_u64, 1_u64), (3, 2), (4, 4), (6, 3), (2, 7)] {
            let all = passed + failed;
            let orders: Vec<u32> = (0_u32..1 << all)
                .filter(|order| u64::from(order.count_ones()) == passed)
                .collect();
            for runs in 2..=all {
                let changes = |order: u32| {
                    (1..all)
                        .filter(|at| ((order >> at) ^ (order >> (at - 1))) & 1 == 1)
                        .count() as u64
                };
                let ends_with_a_pass = |order: u32| (order >> (all - 1)) & 1 == 1;
                let has = |order: &&u32| changes(**order) < runs && ends_with_a_pass(**order);
                let expected = orders.iter().filter(has).count() as f64 / orders.len() as f64;
                assert!(
                    (p_of_runs(passed, failed, runs) - expected).abs() < 1e-9,
                    "{passed} {failed} {runs}"
                );
            }
        }
    }

    #[test]
    fn a_break_is_told_after_three_nights() {
        assert_eq!(of("PPPPPPF").kind, CourseKind::MaybeBroken);
        assert_eq!(of("PPPPPPFF").kind, CourseKind::MaybeBroken);
        let broken = of("PPPPPPFFF");
        assert_eq!(
            (broken.kind, broken.since, broken.after, broken.before),
            (CourseKind::Broken, 6, (0, 3), (6, 6))
        );
        for blip in ["PFPPPPPPPPFFF", "PPPPPFPPPPFFF", "PPPPPPPPFPFFF"] {
            assert_eq!(of(blip).kind, CourseKind::Broken, "{blip}");
        }
        assert_eq!(of("FFFFFFPPP").kind, CourseKind::Repaired);
        assert_eq!(of("PPPPPPPFFFFPPPP").kind, CourseKind::Repaired);
        assert_eq!(of("PPPPPPPFFFFFFFPPPPPPPFFFFFFF").since, 21, "broken again");
    }

    #[test]
    fn one_failure_is_no_break() {
        let thirty = "P".repeat(30);
        assert_eq!(of(&format!("{thirty}F")).kind, CourseKind::MaybeBroken);
        assert_eq!(of(&format!("{thirty}FF")).kind, CourseKind::Broken);
        assert_eq!(of(&format!("PF{thirty}F")).kind, CourseKind::Flaky);
    }

    #[test]
    fn alternating_outcomes_are_flaky() {
        for flaky in [
            "PPFFPPFF",
            "PFPFPFPF",
            "PPPPFPPPP",
            "FPP FPF".replace(' ', "").as_str(),
            "PPPFPPFF",
        ] {
            assert_eq!(of(flaky).kind, CourseKind::Flaky, "{flaky}");
        }
        assert_eq!(
            item_course(&[(3, 3), (2, 3)]).map(|course| course.kind),
            Ok(CourseKind::Flaky)
        );
        assert_eq!(
            item_course(&[(2, 3), (1, 3), (3, 3)]).map(|course| course.kind),
            Ok(CourseKind::Flaky)
        );
        // A night of both may be that of the change.
        assert_eq!(
            item_course(&[(3, 3), (2, 3), (0, 3)]).map(|course| course.kind),
            Ok(CourseKind::MaybeBroken)
        );
        assert_eq!(
            item_course(&[(3, 3), (2, 3), (0, 3), (0, 3), (0, 3)]).map(|course| course.kind),
            Ok(CourseKind::Broken)
        );
    }

    #[test]
    fn steady_items_and_missing_nights() {
        assert_eq!(
            (of("PPP").kind, of("F").kind),
            (CourseKind::Steady, CourseKind::Steady)
        );
        let gaps = of("P-PPP-PP--FF-F");
        assert_eq!(
            (gaps.kind, gaps.since, gaps.before),
            (CourseKind::Broken, 10, (6, 6))
        );
        assert_eq!(item_course(&nights("--")), Err(Undefined::NoData));
        assert_eq!(item_course(&[(2, 1)]), Err(Undefined::OutOfRange));
    }

    /// Given its numbers of passes and failures, a flaky item is said to be broken in at most 2.5% of all orders, and repaired in as many.
    #[test]
    fn false_changes_are_rare() {
        for nights in 2..=14_u32 {
            let mut changed = vec![[0_u32; 3]; nights as usize + 1];
            for order in 0_u32..1 << nights {
                let outcomes: Vec<NightOutcomes> = (0..nights)
                    .map(|night| (u64::from(order >> night & 1), 1))
                    .collect();
                let kind = item_course(&outcomes).expect("outcomes").kind;
                let of = &mut changed[order.count_ones() as usize];
                of[0] += u32::from(kind == CourseKind::Broken);
                of[1] += u32::from(kind == CourseKind::Repaired);
                of[2] += 1;
            }
            for [broken, repaired, all] in changed {
                assert!(
                    f64::from(broken.max(repaired)) <= COURSE_ALPHA / 2.0 * f64::from(all),
                    "{nights} nights: {broken} and {repaired} of {all}"
                );
            }
        }
    }

    proptest::proptest! {
        #[test]
        fn passes_and_failures_mirror(outcomes in proptest::collection::vec((0u64..4, 0u64..4), 1..30)) {
            let nights: Vec<NightOutcomes> = outcomes.iter().map(|(one, other)| (*one.min(other), *one.max(other))).collect();
            let mirrored: Vec<NightOutcomes> = nights.iter().map(|(passed, counted)| (counted - passed, *counted)).collect();
            let swapped = |kind| match kind {
                CourseKind::Broken => CourseKind::Repaired,
                CourseKind::Repaired => CourseKind::Broken,
                CourseKind::MaybeBroken => CourseKind::MaybeRepaired,
                CourseKind::MaybeRepaired => CourseKind::MaybeBroken,
                other => other,
            };
            match (item_course(&nights), item_course(&mirrored)) {
                (Ok(one), Ok(other)) => {
                    proptest::prop_assert_eq!((swapped(one.kind), one.since), (other.kind, other.since));
                    proptest::prop_assert!((one.p.unwrap_or(0.0) - other.p.unwrap_or(0.0)).abs() < 1e-9);
                }
                (one, other) => proptest::prop_assert_eq!(one, other),
            }
        }
    }
}
