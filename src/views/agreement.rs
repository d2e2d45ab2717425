//! Agreement of judges and people on which criteria are met, and the effect of question order on a judge.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::Serialize;

use crate::inference::seed_from_values;
use crate::stats::{
    Interval, PairedTable, Replicates, Seed, cohen_kappa, krippendorff_alpha_nominal,
    tango_interval, wilson_score_interval,
};

const CONFIDENCE: f64 = 0.95;
const RESAMPLES: u32 = 2000;
/// Minimum number of units to resample. Fewer show too little of how units vary.
const MIN_UNITS: usize = 10;

/// A criterion of a run: run and criterion name.
pub type RatedCriterion = (String, String);

/// A rater and its labels: which criteria it found met.
#[derive(Clone, Debug, PartialEq)]
pub struct Rater {
    pub name: String,
    pub labels: BTreeMap<RatedCriterion, bool>,
}

/// Totals of one rater.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct RaterLine {
    pub rater: String,
    /// Criteria rated.
    pub n: u64,
    /// The share of rated criteria that the rater found met.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prevalence: Option<f64>,
}

/// Agreement of two raters on the criteria that both rated.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct PairAgreement {
    pub one: String,
    pub other: String,
    /// Criteria that both rated.
    pub n: u64,
    pub alike: u64,
    /// The share of these criteria that both rated alike.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub percent: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub percent_interval: Option<Interval>,
    /// The agreement expected by chance, from each rater's share of `pass`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expected: Option<f64>,
    /// Cohen's kappa. Absent if both raters used only one label.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kappa: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kappa_interval: Option<Interval>,
    /// The share of `pass` among the labels of both.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prevalence: Option<f64>,
    /// Criteria that only the first rater found met; then those that only the second did.
    pub only_one: u64,
    pub only_other: u64,
}

/// Krippendorff's alpha over all raters.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Alpha {
    /// Criteria that at least two rated.
    pub n: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<f64>,
    /// Why alpha is undefined.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub undefined: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interval: Option<Interval>,
}

/// A criterion on which raters disagree.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Disagreement {
    pub run: String,
    pub item: String,
    /// `pass` or `fail`, by rater.
    pub labels: BTreeMap<String, String>,
}

/// Agreement of all raters.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct AgreementReport {
    /// In the given order: judges first.
    pub raters: Vec<RaterLine>,
    pub pairs: Vec<PairAgreement>,
    pub alpha: Alpha,
    /// The units resampled for the intervals: `runs`, or `criteria` if there are too few runs. Absent if there are too few of both.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resampled: Option<String>,
    pub runs: u64,
    /// Criteria that people labelled but the judge left undecided.
    pub undecided: u64,
    /// Each judge against people: over all, then by category, the largest bias first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub bias: Vec<CategoryBias>,
    pub disagreements: Vec<Disagreement>,
}

/// How a judge differs from people on the items of one category.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct CategoryBias {
    pub judge: String,
    /// Absent for all items together.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub category: Option<String>,
    /// Items that the judge decided and people labelled. A tie of people is no label.
    pub n: u64,
    pub alike: u64,
    /// Items that the judge passed and people failed; then the reverse.
    pub too_lenient: u64,
    pub too_strict: u64,
    /// The share of items that the judge passed minus the share that people passed.
    pub bias: f64,
    /// Tango's interval of the bias.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bias_interval: Option<Interval>,
}

/// Compares judges with the majority of people, over all items and by category. Categories follow their number of items.
pub fn category_biases(
    judges: &[Rater],
    people: &[Rater],
    categories: &BTreeMap<RatedCriterion, String>,
) -> Vec<CategoryBias> {
    let mut majority = BTreeMap::<&RatedCriterion, i64>::new();
    for (rated, met) in people.iter().flat_map(|person| &person.labels) {
        *majority.entry(rated).or_default() += if *met { 1 } else { -1 };
    }
    let mut found = Vec::new();
    for judge in judges {
        let mut by_category = BTreeMap::<Option<&str>, PairedTable>::new();
        for (rated, met) in &judge.labels {
            let Some(votes) = majority.get(rated).filter(|votes| **votes != 0) else {
                continue;
            };
            let own = categories.get(rated).map(String::as_str);
            for category in std::iter::once(None).chain(own.map(Some)) {
                let pairs = by_category.entry(category).or_default();
                match (*met, *votes > 0) {
                    (true, true) => pairs.both += 1,
                    (true, false) => pairs.only_a += 1,
                    (false, true) => pairs.only_b += 1,
                    (false, false) => pairs.neither += 1,
                }
            }
        }
        let mut rows: Vec<(Option<&str>, PairedTable)> = by_category.into_iter().collect();
        rows.sort_by_key(|(category, pairs)| {
            (category.is_some(), std::cmp::Reverse(pairs.item_count()))
        });
        found.extend(rows.into_iter().filter_map(|(category, pairs)| {
            Some(CategoryBias {
                judge: judge.name.clone(),
                category: category.map(str::to_owned),
                n: pairs.item_count(),
                alike: pairs.both + pairs.neither,
                too_lenient: pairs.only_a,
                too_strict: pairs.only_b,
                bias: pairs.share_difference().ok()?,
                bias_interval: tango_interval(pairs, CONFIDENCE).ok(),
            })
        }));
    }
    found
}

/// Compares raters pair by pair and all together. `undecided` counts labels that no judge's decision matches.
pub fn measure_agreement(raters: &[Rater], undecided: u64) -> AgreementReport {
    let rated: BTreeSet<&RatedCriterion> = raters
        .iter()
        .flat_map(|rater| rater.labels.keys())
        .collect();
    let table: Vec<(&RatedCriterion, Vec<Option<bool>>)> = rated
        .into_iter()
        .map(|rated| {
            (
                rated,
                raters
                    .iter()
                    .map(|rater| rater.labels.get(rated).copied())
                    .collect(),
            )
        })
        .collect();
    let shared: Vec<&(&RatedCriterion, Vec<Option<bool>>)> = table
        .iter()
        .filter(|(_, labels)| labels.iter().flatten().count() > 1)
        .collect();
    let runs: BTreeSet<&str> = shared.iter().map(|(rated, _)| rated.0.as_str()).collect();
    let pairs =
        (0..raters.len()).flat_map(|one| (one + 1..raters.len()).map(move |other| (one, other)));
    let disagreements = shared.iter().filter(|(_, labels)| {
        let said: BTreeSet<bool> = labels.iter().flatten().copied().collect();
        said.len() > 1
    });
    AgreementReport {
        raters: raters.iter().map(rater_line).collect(),
        pairs: pairs
            .map(|(one, other)| pair_agreement(raters, one, other, &table))
            .collect(),
        alpha: overall_alpha(&shared),
        resampled: resampling_units(&shared.iter().map(|(rated, _)| *rated).collect::<Vec<_>>())
            .map(|(word, _)| word.to_owned()),
        runs: runs.len() as u64,
        undecided,
        bias: Vec::new(),
        disagreements: disagreements
            .map(|(rated, labels)| criterion_disagreement(raters, rated, labels))
            .collect(),
    }
}

fn rater_line(rater: &Rater) -> RaterLine {
    let n = rater.labels.len() as u64;
    let met = rater.labels.values().filter(|met| **met).count() as u64;
    RaterLine {
        rater: rater.name.clone(),
        n,
        prevalence: (n > 0).then(|| met as f64 / n as f64),
    }
}

fn criterion_disagreement(
    raters: &[Rater],
    rated: &RatedCriterion,
    labels: &[Option<bool>],
) -> Disagreement {
    let said = raters
        .iter()
        .zip(labels)
        .filter_map(|(rater, label)| Some((rater.name.clone(), label_word((*label)?).to_owned())));
    Disagreement {
        run: rated.0.clone(),
        item: rated.1.clone(),
        labels: said.collect(),
    }
}

fn label_word(met: bool) -> &'static str {
    if met { "pass" } else { "fail" }
}

fn pair_agreement(
    raters: &[Rater],
    one: usize,
    other: usize,
    table: &[(&RatedCriterion, Vec<Option<bool>>)],
) -> PairAgreement {
    let both: Vec<(&RatedCriterion, bool, bool)> = table
        .iter()
        .filter_map(|(rated, labels)| Some((*rated, labels[one]?, labels[other]?)))
        .collect();
    let (a, b): (Vec<bool>, Vec<bool>) = both.iter().map(|(_, a, b)| (*a, *b)).unzip();
    let of = |drawn: &[u32], labels: &[bool]| -> Vec<bool> {
        drawn.iter().map(|index| labels[*index as usize]).collect()
    };
    let agreement = cohen_kappa(&a, &b).ok();
    let alike = a.iter().zip(&b).filter(|(a, b)| a == b).count() as u64;
    let n = both.len() as u64;
    let rated: Vec<&RatedCriterion> = both.iter().map(|(rated, _, _)| *rated).collect();
    let units = resampling_units(&rated);
    let seed = seed_from_labels(&a, &b);
    let kappa_interval = bootstrap_interval(units.as_ref(), seed, |drawn| {
        cohen_kappa(&of(drawn, &a), &of(drawn, &b)).ok()?.kappa
    });
    let by_run = units.as_ref().filter(|(word, _)| *word == RUN_UNITS);
    let clustered = bootstrap_interval(by_run, seed, |drawn| {
        cohen_kappa(&of(drawn, &a), &of(drawn, &b))
            .ok()
            .map(|both| both.percent)
    });
    PairAgreement {
        one: raters[one].name.clone(),
        other: raters[other].name.clone(),
        n,
        alike,
        percent: agreement.map(|agreement| agreement.percent),
        percent_interval: clustered.or_else(|| wilson_score_interval(alike, n, CONFIDENCE).ok()),
        expected: agreement.map(|agreement| agreement.expected),
        kappa: agreement.and_then(|agreement| agreement.kappa),
        kappa_interval,
        prevalence: (n > 0)
            .then(|| a.iter().chain(&b).filter(|met| **met).count() as f64 / (2 * n) as f64),
        only_one: both.iter().filter(|(_, a, b)| *a && !*b).count() as u64,
        only_other: both.iter().filter(|(_, a, b)| !*a && *b).count() as u64,
    }
}

fn overall_alpha(shared: &[&(&RatedCriterion, Vec<Option<bool>>)]) -> Alpha {
    let raters = shared.first().map_or(0, |(_, labels)| labels.len());
    let of = |drawn: &[u32]| {
        let rows: Vec<Vec<Option<bool>>> = (0..raters)
            .map(|rater| {
                drawn
                    .iter()
                    .map(|index| shared[*index as usize].1[rater])
                    .collect()
            })
            .collect();
        krippendorff_alpha_nominal(&rows)
    };
    let all: Vec<u32> = (0u32..).take(shared.len()).collect();
    let value = of(&all);
    let rated: Vec<&RatedCriterion> = shared.iter().map(|(rated, _)| *rated).collect();
    let labels: Vec<bool> = shared
        .iter()
        .flat_map(|(_, labels)| labels.iter().flatten().copied())
        .collect();
    Alpha {
        n: shared.len() as u64,
        value: value.ok(),
        undefined: value.err().map(|reason| reason.to_string()),
        interval: bootstrap_interval(
            resampling_units(&rated).as_ref(),
            seed_from_labels(&labels, &[]),
            |drawn| of(drawn).ok(),
        ),
    }
}

const RUN_UNITS: &str = "runs";

/// Returns the units to resample, as indices of criteria: whole runs, whose criteria depend on each other, or single criteria if there are
/// too few runs.
fn resampling_units(rated: &[&RatedCriterion]) -> Option<(&'static str, Vec<Vec<u32>>)> {
    let mut by_run: BTreeMap<&str, Vec<u32>> = BTreeMap::new();
    for (place, rated) in (0u32..).zip(rated) {
        by_run.entry(rated.0.as_str()).or_default().push(place);
    }
    if by_run.len() >= MIN_UNITS {
        Some((RUN_UNITS, by_run.into_values().collect()))
    } else if rated.len() >= MIN_UNITS {
        Some((
            "criteria",
            (0u32..)
                .take(rated.len())
                .map(|place| vec![place])
                .collect(),
        ))
    } else {
        None
    }
}

fn bootstrap_interval(
    units: Option<&(&'static str, Vec<Vec<u32>>)>,
    seed: Seed,
    statistic: impl Fn(&[u32]) -> Option<f64> + Sync,
) -> Option<Interval> {
    let (_, units) = units?;
    let of_units = |drawn: &[u32]| {
        let places: Vec<u32> = drawn
            .iter()
            .flat_map(|unit| units[*unit as usize].iter().copied())
            .collect();
        statistic(&places)
    };
    Replicates::draw_replicates(units.len(), RESAMPLES, seed, of_units)
        .ok()?
        .percentile_interval(CONFIDENCE)
        .ok()
}

/// Derives the seed from the labels, so that equal labels give equal numbers.
fn seed_from_labels(a: &[bool], b: &[bool]) -> Seed {
    Seed(seed_from_values(
        a.iter().chain(b).map(|met| f64::from(u8::from(*met))),
    ))
}

/// A criterion that a judge decided differently the second time.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct CriterionFlip {
    pub run: String,
    pub item: String,
    /// `pass` or `fail`.
    pub before: String,
    pub after: String,
}

/// Returns the criteria that two judgements decide differently, in the order of the second. A criterion that only one of them decided is no
/// flip.
pub fn criterion_flips_in_run(
    run: &str,
    before: &[(String, Option<bool>)],
    after: &[(String, Option<bool>)],
) -> Vec<CriterionFlip> {
    let known: BTreeMap<&str, bool> = before
        .iter()
        .filter_map(|(item, met)| Some((item.as_str(), (*met)?)))
        .collect();
    let flip = |(item, met): &(String, Option<bool>)| {
        let (then, now) = (*known.get(item.as_str())?, (*met)?);
        (then != now).then(|| CriterionFlip {
            run: run.to_owned(),
            item: item.clone(),
            before: label_word(then).to_owned(),
            after: label_word(now).to_owned(),
        })
    };
    after.iter().filter_map(flip).collect()
}

/// One run that was judged again.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct JudgedRun {
    pub run: String,
    pub suite: String,
    /// The judged evaluator: `requirementFulfillment` or `tool_use`.
    pub evaluator: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub judge: Option<String>,
    /// The previous judge.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub judge_before: Option<String>,
    /// From 0 to 100.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<f64>,
    /// Why there is no score.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not_evaluated: Option<String>,
    pub passed: u64,
    /// Decided criteria, including those that were not asked again.
    pub decided: u64,
    pub criteria: u64,
    /// Criteria that keep their earlier decision.
    pub kept: u64,
    /// The stored revision. Absent if the judgement decides less than the current one and so was not stored.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub revision: Option<u32>,
    /// Cost of the judge's requests.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost_usd: Option<f64>,
    pub flips: Vec<CriterionFlip>,
}

/// A run that was not judged, and why.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct SkippedRun {
    pub run: String,
    pub suite: String,
    pub reason: String,
}

/// Result of judging stored runs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct JudgeReport {
    /// Nothing was asked; `runs` are those that would be judged.
    pub is_dry: bool,
    pub runs: Vec<JudgedRun>,
    pub skipped: Vec<SkippedRun>,
}

/// One run whose criteria were judged in two orders.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ProbedRun {
    pub run: String,
    pub suite: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub judge: Option<String>,
    /// The score with the criteria in the suite's order; then in reverse order.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub given: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reversed: Option<f64>,
    /// Why there is no score.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not_evaluated: Option<String>,
    /// Criteria decided in both orders.
    pub n: u64,
    pub flips: Vec<CriterionFlip>,
}

/// The effect of question order on a judge.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ProbeReport {
    pub runs: Vec<ProbedRun>,
    pub skipped: Vec<SkippedRun>,
    /// Criteria decided in both orders; then those decided differently.
    pub n: u64,
    pub flipped: u64,
    /// The share of flipped criteria.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub share: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interval: Option<Interval>,
}

/// Sums up the results of probed runs.
pub fn probe_report(runs: Vec<ProbedRun>, skipped: Vec<SkippedRun>) -> ProbeReport {
    let n: u64 = runs.iter().map(|run| run.n).sum();
    let flipped = runs.iter().map(|run| run.flips.len() as u64).sum();
    let share = (n > 0).then(|| flipped as f64 / n as f64);
    ProbeReport {
        runs,
        skipped,
        n,
        flipped,
        share,
        interval: wilson_score_interval(flipped, n, CONFIDENCE).ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rater(name: &str, labels: impl IntoIterator<Item = (usize, bool)>) -> Rater {
        let labels = labels
            .into_iter()
            .map(|(item, met)| (("r".to_owned(), format!("c{item:02}")), met));
        Rater {
            name: name.to_owned(),
            labels: labels.collect(),
        }
    }

    /// 20 items that both pass, 5 only the first, 10 only the second, 15 that both fail.
    fn fifty() -> [Rater; 2] {
        let first = |item: usize| item < 25;
        let second = |item: usize| item < 20 || (25..35).contains(&item);
        [
            rater("judge", (0..50).map(|item| (item, first(item)))),
            rater("labels", (0..50).map(|item| (item, second(item)))),
        ]
    }

    #[test]
    fn two_raters_by_hand() {
        let report = measure_agreement(&fifty(), 3);
        let [pair] = report.pairs.as_slice() else {
            panic!("one pair")
        };
        assert_eq!(
            (pair.n, pair.alike, pair.only_one, pair.only_other),
            (50, 35, 5, 10)
        );
        let near =
            |value: Option<f64>, expected: f64| (value.expect("a value") - expected).abs() < 1e-12;
        assert!(
            near(pair.percent, 0.7)
                && near(pair.expected, 0.5)
                && near(pair.kappa, 0.4)
                && near(pair.prevalence, 0.55),
            "{pair:?}"
        );
        // Two raters, all rated: 1 - (2n - 1)(disagreements) / (2 passes × fails among the 2n labels) = 1 - 99·15 / (55·45).
        assert!(
            near(report.alpha.value, 1.0 - 99.0 * 15.0 / (55.0 * 45.0)),
            "{:?}",
            report.alpha
        );
        let (low, high) = pair
            .kappa_interval
            .map(|interval| (interval.low, interval.high))
            .expect("fifty criteria vary");
        // The large-sample standard error is sqrt(.7 · .3 / (50 · .25)) = 0.13.
        assert!(
            (0.08..0.22).contains(&low) && (0.56..0.72).contains(&high),
            "{low} {high}"
        );
        assert_eq!(
            (
                report.disagreements.len(),
                report.undecided,
                report.resampled.as_deref()
            ),
            (15, 3, Some("criteria"))
        );
        assert_eq!(report.disagreements[0].labels["judge"], "pass");
        assert_eq!(
            measure_agreement(&fifty(), 3),
            report,
            "the same labels give the same interval"
        );
    }

    #[test]
    fn little_or_uniform_data_have_no_kappa_and_no_interval() {
        let all = |name| rater(name, (0..4).map(|item| (item, true)));
        let report = measure_agreement(&[all("a"), all("b")], 0);
        let pair = &report.pairs[0];
        assert_eq!(
            (pair.percent, pair.kappa, pair.kappa_interval),
            (Some(1.0), None, None)
        );
        assert_eq!(
            (report.alpha.value, report.alpha.undefined.as_deref()),
            (None, Some("no value differs from another"))
        );
        let apart = measure_agreement(&[rater("a", [(1, true)]), rater("b", [(2, true)])], 0);
        assert_eq!(
            (
                apart.pairs[0].n,
                apart.pairs[0].percent,
                apart.pairs[0].percent_interval
            ),
            (0, None, None)
        );
        assert_eq!(measure_agreement(&[], 0).alpha.n, 0);
    }

    #[test]
    fn criteria_of_one_run_are_drawn_together() {
        let labels = |other: bool| {
            (0..60).map(move |item: usize| {
                (
                    (format!("r{:02}", item / 5), format!("c{item}")),
                    item.is_multiple_of(2) ^ (other && item.is_multiple_of(7)),
                )
            })
        };
        let raters = [false, true].map(|other| Rater {
            name: format!("{other}"),
            labels: labels(other).collect(),
        });
        let report = measure_agreement(&raters, 0);
        assert_eq!(
            (report.resampled.as_deref(), report.runs),
            (Some("runs"), 12)
        );
        assert!(report.pairs[0].percent_interval.is_some() && report.alpha.interval.is_some());
    }

    #[test]
    fn what_only_one_decided_is_no_flip() {
        let item = |name: &str, met| (name.to_owned(), met);
        let before = [
            item("a", Some(true)),
            item("b", None),
            item("c", Some(false)),
            item("gone", Some(true)),
        ];
        let after = [
            item("c", Some(true)),
            item("a", Some(true)),
            item("b", Some(true)),
            item("new", Some(false)),
        ];
        let flips = criterion_flips_in_run("r", &before, &after);
        assert_eq!(
            flips
                .iter()
                .map(|flip| (flip.item.as_str(), flip.after.as_str()))
                .collect::<Vec<_>>(),
            [("c", "pass")]
        );
    }
}
