//! Rates and differences as people would see them, from a judge's verdicts on all items and people's labels of some: prediction-powered
//! inference (Angelopoulos, Duchi and Zrnic 2023, arXiv:2311.01453) over items and runs.
//!
//! With P(h, i) the share of item i's runs (of two arms: of its pairs of runs) with verdict h, and m(h) the mean label of the labelled ones,
//! the estimate is mean over items of Σ P(h, i)·m(h). For one judge of pass and fail this is PPI++ at its unclipped λ, and it stays right if
//! some verdicts were labelled more often. Values that are not whole have g(f) = λf instead of m, and the mean of Y − λf is added.
//!
//! Labels belong to an item of a run. Verdicts and labels of one item depend on each other, so the influences of all of them are summed by
//! item, or by cluster (CR1): V(items) = Σ(u) (Σ of u's influences)². A run may move all of its items together, so with several runs its
//! variance is added as in [`super::two_way()`]: Q, the squared deviations of the influences summed by run, less what independent items explain.

use std::collections::{BTreeMap, BTreeSet};

use super::distribution::{
    normal_quantile, normal_two_sided, t_quantile, t_two_sided, upper_level,
};
use super::mean::compensated_sum;
use super::posterior::{BetaPrior, beta_interval};
use super::proportion::effective_interval;
use super::proportion_difference::effective_paired_difference;
use super::two_way::RunsPart;
use super::{Interval, Undefined};

/// The largest share of an arm's labels that may be of one of its runs.
pub const MAX_OF_A_RUN: f64 = 0.8;

/// A person's label of an item in one run, and the judge's value of the same attempts. From 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LabelledAttempts {
    pub people: f64,
    pub judge: f64,
}

/// An arm's verdicts and labels by item and run. The labelled ones are a random part of all, or of those with one verdict.
#[derive(Clone, Copy, Debug)]
pub struct JudgedRuns<'a> {
    /// Number of runs, at least one.
    pub runs: usize,
    /// The judge's values from 0 to 1: the runs of the first item, then those of the second, and so on; `None` for a missing run.
    pub judged: &'a [Option<f64>],
    /// People's labels in the same order.
    pub labels: &'a [Option<LabelledAttempts>],
}

/// A mean of people's labels over all items, with an interval that holds the judge's error.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CorrectedMean {
    pub mean: f64,
    pub interval: Interval,
    /// Two-sided, for a mean of zero.
    pub p: f64,
    /// A quarter of a normal interval's length at 95%, about.
    pub standard_error: f64,
    /// Of Student's t; infinite if the interval is that of labels of independent items.
    pub degrees: f64,
}

/// Estimates an arm's pass rate as people would see it. `clusters` gives the cluster of each item.
///
/// The interval of whole verdicts adds Jeffreys's of each verdict's labels (Brown, Cai and DasGupta 2001), at the effective number of labels,
/// and the other variances by MOVER (Zou and Donner 2008, Stat Med 27:1693). With clusters or several runs it has Student's t (Satterthwaite
/// 1946). Undefined if an arm of several runs has more than [`MAX_OF_A_RUN`] of its labels in one, because how the judge errs from run to run is
/// then unknown.
pub fn corrected_rate(
    arm: JudgedRuns<'_>,
    clusters: Option<&[u32]>,
    confidence: f64,
) -> Result<CorrectedMean, Undefined> {
    LabelledSample::from_arms(&[arm], clusters)?.corrected_mean(confidence)
}

/// Estimates the difference of two arms on the same items, by the labels of items that both arms have. Runs of the arms are not paired.
pub fn corrected_difference(
    one: JudgedRuns<'_>,
    other: JudgedRuns<'_>,
    clusters: Option<&[u32]>,
    confidence: f64,
) -> Result<CorrectedMean, Undefined> {
    LabelledSample::from_arms(&[one, other], clusters)?.corrected_mean(confidence)
}

impl CorrectedMean {
    /// Returns the difference of two independent means, by MOVER with Welch's degrees of freedom. It is too wide for means of the same items.
    pub fn subtract_independent(self, other: Self, confidence: f64) -> Result<Self, Undefined> {
        let mean = self.mean - other.mean;
        let standard_error = self.standard_error.hypot(other.standard_error);
        let share = |one: Self| (one.standard_error / standard_error).powi(4) / one.degrees;
        let degrees = if standard_error > 0.0 {
            1.0 / (share(self) + share(other))
        } else {
            f64::INFINITY
        };
        let level = upper_level(confidence)?;
        let factor = |one: Self| {
            Ok(student_quantile(level, degrees)? / student_quantile(level, one.degrees)?)
        };
        let (own, others) = (factor(self)?, factor(other)?);
        let below = ((self.mean - self.interval.low) * own)
            .hypot((other.interval.high - other.mean) * others);
        let above = ((self.interval.high - self.mean) * own)
            .hypot((other.mean - other.interval.low) * others);
        let p = match standard_error {
            error if error <= 0.0 => 1.0,
            error if degrees.is_finite() => t_two_sided(mean / error, degrees)?,
            error => normal_two_sided(mean / error),
        };
        let interval = Interval::new(mean - below, mean + above).ok_or(Undefined::NotFinite)?;
        Ok(Self {
            mean,
            interval: interval.clipped_to(-1.0, 1.0),
            p,
            standard_error,
            degrees,
        })
    }
}

/// Returns Student's quantile, or the normal one for infinitely many degrees.
fn student_quantile(level: f64, degrees: f64) -> Result<f64, Undefined> {
    if degrees.is_finite() {
        t_quantile(level, degrees)
    } else {
        normal_quantile(level)
    }
}

impl JudgedRuns<'_> {
    fn item_row(&self, item: usize) -> &[Option<f64>] {
        &self.judged[item * self.runs..(item + 1) * self.runs]
    }

    fn item_mean(&self, item: usize) -> Option<f64> {
        let known = || self.item_row(item).iter().flatten();
        known().next()?;
        Some(known().sum::<f64>() / known().count() as f64)
    }

    fn labels_of_item(&self, item: usize) -> impl Iterator<Item = (usize, LabelledAttempts)> {
        let own = &self.labels[item * self.runs..(item + 1) * self.runs];
        own.iter()
            .enumerate()
            .filter_map(|(run, label)| Some((run, (*label)?)))
    }
}

/// A label of one arm, or of a pair of runs of two arms, with their differences.
struct LabelTerm {
    /// Place of the item.
    place: usize,
    runs: [usize; 2],
    label: f64,
    said: f64,
    /// The terms of an item have the sum 1.
    weight: f64,
}

/// The items that all arms have.
struct LabelledSample<'a> {
    arms: &'a [JudgedRuns<'a>],
    kept: Vec<usize>,
    /// By place: each arm's share of passed runs.
    shares: Vec<[f64; 2]>,
    terms: Vec<LabelTerm>,
    /// By place: its independent unit.
    unit_of: Vec<usize>,
    units: usize,
    /// Whether units have several labels or items, which depend on each other.
    is_clustered: bool,
    spread: FigureKind,
}

/// What the figures are.
#[derive(Clone, Copy, PartialEq, Eq)]
enum FigureKind {
    /// From 0 to 1.
    Shares,
    /// From −1 to 1.
    Differences,
}

/// What a verdict says about the label, at −1, 0 and 1, and between them in proportion.
type LabelByVerdict = [f64; 3];

/// Returns the expected value for two arms' shares of passed runs. One arm alone has the second share 0.
fn expected_label(said: LabelByVerdict, [one, other]: [f64; 2]) -> f64 {
    let (ahead, behind) = (one * (1.0 - other), (1.0 - one) * other);
    ahead * said[2] + behind * said[0] + (1.0 - ahead - behind) * said[1]
}

/// Items with one verdict of the judge.
#[derive(Clone, Copy, Default)]
struct Stratum {
    /// Share of all items, a half of an item if half of its runs have the verdict.
    share: f64,
    /// Labelled items, and those with labels above and below zero.
    n: f64,
    ahead: f64,
    behind: f64,
}

/// What the labels say.
struct LabelFit {
    said: LabelByVerdict,
    /// By term: its weight in the estimate.
    weights: Vec<f64>,
    /// By term: the difference of label and expectation, whose weighted sum is zero.
    residuals: Vec<f64>,
    mean: f64,
    /// By verdict, if all values are whole.
    strata: Option<[Stratum; 3]>,
}

/// The parts of the estimate's variance.
struct VarianceParts {
    labels: f64,
    others: f64,
    runs: f64,
    runs_measured: f64,
    runs_degrees: f64,
    labelled_units: f64,
}

impl<'a> LabelledSample<'a> {
    fn from_arms(arms: &'a [JudgedRuns<'a>], clusters: Option<&[u32]>) -> Result<Self, Undefined> {
        let mut items = clusters.map(<[u32]>::len);
        for arm in arms {
            if arm.runs == 0 {
                return Err(Undefined::NoData);
            }
            let rows = arm.judged.len() / arm.runs;
            let is_table =
                arm.judged.len() == rows * arm.runs && arm.labels.len() == arm.judged.len();
            if !is_table || items.is_some_and(|items| items != rows) {
                return Err(Undefined::Unequal);
            }
            let is_share = |value: &f64| (0.0..=1.0).contains(value);
            let labels = || {
                arm.labels
                    .iter()
                    .flatten()
                    .flat_map(|label| [label.people, label.judge])
            };
            if !arm.judged.iter().flatten().all(is_share) || !labels().all(|value| is_share(&value))
            {
                return Err(Undefined::OutOfRange);
            }
            items = Some(rows);
        }
        let spread = if arms.len() > 1 {
            FigureKind::Differences
        } else {
            FigureKind::Shares
        };
        let (kept, shares, terms, unit_of) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let mut sample = Self {
            arms,
            kept,
            shares,
            terms,
            unit_of,
            units: 0,
            is_clustered: clusters.is_some(),
            spread,
        };
        let mut numbers = BTreeMap::<u32, usize>::new();
        for item in 0..items.unwrap_or(0) {
            let mut shares = [0.0; 2];
            let is_kept = arms
                .iter()
                .zip(&mut shares)
                .all(|(arm, share)| arm.item_mean(item).map(|mean| *share = mean).is_some());
            if !is_kept {
                continue;
            }
            let place = sample.kept.len();
            let number = numbers.len();
            sample.unit_of.push(
                clusters.map_or(place, |codes| *numbers.entry(codes[item]).or_insert(number)),
            );
            sample.kept.push(item);
            sample.shares.push(shares);
            sample.add_labels(place, item);
        }
        sample.units = if sample.is_clustered {
            numbers.len()
        } else {
            sample.kept.len()
        };
        sample.is_clustered |= sample.terms.len() as f64 > sample.labelled_count();
        if sample.terms.is_empty() {
            Err(Undefined::NoData)
        } else {
            Ok(sample)
        }
    }

    fn add_labels(&mut self, place: usize, item: usize) {
        let before = self.terms.len();
        let term = |runs, label, said| LabelTerm {
            place,
            runs,
            label,
            said,
            weight: 1.0,
        };
        for (run, label) in self.arms[0].labels_of_item(item) {
            match self.arms.get(1) {
                None => self.terms.push(term([run, 0], label.people, label.judge)),
                Some(arm) => {
                    let pairs = arm.labels_of_item(item);
                    let pairs = pairs.map(|(other, its)| {
                        term(
                            [run, other],
                            label.people - its.people,
                            label.judge - its.judge,
                        )
                    });
                    self.terms.extend(pairs);
                }
            }
        }
        let count = (self.terms.len() - before) as f64;
        self.terms[before..]
            .iter_mut()
            .for_each(|term| term.weight = 1.0 / count);
    }

    /// Returns the number of labelled items.
    fn labelled_count(&self) -> f64 {
        self.terms
            .iter()
            .map(|term| term.place)
            .collect::<BTreeSet<usize>>()
            .len() as f64
    }

    fn has_whole_values(&self) -> bool {
        let values = self
            .arms
            .iter()
            .flat_map(|arm| arm.judged.iter().flatten().copied());
        let labels = self.terms.iter().flat_map(|term| [term.label, term.said]);
        values.chain(labels).all(|value| value.fract() == 0.0)
    }

    /// Stratifies the items by verdict.
    fn fit_by_strata(&self) -> LabelFit {
        let mut strata = [Stratum::default(); 3];
        let size = self.shares.len() as f64;
        for (verdict, stratum) in strata.iter_mut().enumerate() {
            let mut is_verdict = [0.0; 3];
            is_verdict[verdict] = 1.0;
            stratum.share = compensated_sum(
                self.shares
                    .iter()
                    .map(|shares| expected_label(is_verdict, *shares)),
            ) / size;
        }
        for term in &self.terms {
            let stratum = &mut strata[verdict_index(term.said)];
            stratum.n += term.weight;
            stratum.ahead += term.weight * f64::from(u8::from(term.label > 0.0));
            stratum.behind += term.weight * f64::from(u8::from(term.label < 0.0));
        }
        let overall = compensated_sum(self.terms.iter().map(|term| term.weight * term.label))
            / self.labelled_count();
        let said = strata.map(|stratum| stratum.mean_label(overall));
        let weights = self.terms.iter().map(|term| {
            let stratum = &strata[verdict_index(term.said)];
            term.weight * stratum.share / stratum.n
        });
        let mean = compensated_sum(
            strata
                .iter()
                .zip(said)
                .map(|(stratum, said)| stratum.share * said),
        );
        let residuals = self
            .terms
            .iter()
            .map(|term| term.label - said[verdict_index(term.said)])
            .collect();
        LabelFit {
            said,
            weights: weights.collect(),
            residuals,
            mean,
            strata: Some(strata),
        }
    }

    /// Fits λ of PPI++, here of all items instead of those without a label, which is (1 + n/N) times the other.
    fn fit_by_regression(&self) -> LabelFit {
        let n = self.labelled_count();
        let by_label = |of: &dyn Fn(&LabelTerm) -> f64| {
            compensated_sum(self.terms.iter().map(|term| term.weight * of(term))) / n
        };
        let (labels, judged) = (by_label(&|term| term.label), by_label(&|term| term.said));
        let covariance = by_label(&|term| (term.label - labels) * (term.said - judged));
        let size = self.shares.len() as f64;
        let values: Vec<f64> = self.shares.iter().map(|[one, other]| one - other).collect();
        let centre = compensated_sum(values.iter().copied()) / size;
        let variance =
            compensated_sum(values.iter().map(|value| (value - centre).powi(2))) / (size - 1.0);
        let rest = size - n;
        let lambda = if rest > 0.0 && variance > 0.0 {
            (covariance / variance).clamp(0.0, size / rest)
        } else {
            0.0
        };
        let off = labels - lambda * judged;
        let residuals = self
            .terms
            .iter()
            .map(|term| term.label - lambda * term.said - off)
            .collect();
        let weights = self.terms.iter().map(|term| term.weight / n).collect();
        LabelFit {
            said: [-lambda, 0.0, lambda],
            weights,
            residuals,
            mean: lambda * centre + off,
            strata: None,
        }
    }

    fn corrected_mean(&self, confidence: f64) -> Result<CorrectedMean, Undefined> {
        let z = normal_quantile(upper_level(confidence)?)?;
        let fit = if self.has_whole_values() {
            self.fit_by_strata()
        } else {
            self.fit_by_regression()
        };
        let parts = self.variance_parts(&fit)?;
        let n = self.labelled_count();
        match &fit.strata {
            Some(strata) => self
                .stratified_interval(&fit, strata, &parts)
                .corrected_mean(z),
            None if n < 3.0 => Err(Undefined::TooFew),
            None => {
                // CR1 has its own correction for few clusters.
                let (labels, degrees) = if self.is_clustered {
                    (parts.labels, parts.labelled_units - 1.0)
                } else {
                    (parts.labels * n / (n - 2.0), n - 2.0)
                };
                let units = if self.is_clustered {
                    parts.labelled_units
                } else {
                    n
                };
                let degrees = parts.satterthwaite_degrees(labels, degrees, self.units as f64 - 1.0);
                self.spread.corrected_around(
                    fit.mean,
                    (labels + parts.others + parts.runs).sqrt(),
                    degrees,
                    units,
                    confidence,
                )
            }
        }
    }

    fn stratified_interval<'s>(
        &self,
        fit: &LabelFit,
        strata: &'s [Stratum; 3],
        parts: &'s VarianceParts,
    ) -> StratifiedInterval<'s> {
        let alone = compensated_sum(
            strata
                .iter()
                .map(|stratum| stratum.share.powi(2) * stratum.label_variance()),
        );
        // Several labels of one item are worth at least one label, and at most as many as there are.
        let least = self.labelled_count() / self.terms.len() as f64;
        let design_effect = if alone > 0.0 {
            (parts.labels / alone).max(least)
        } else {
            1.0
        };
        StratifiedInterval {
            strata,
            mean: fit.mean,
            design_effect,
            parts,
            others_degrees: self.units as f64 - 1.0,
            labels_degrees: if self.is_clustered {
                parts.labelled_units - 1.0
            } else {
                f64::INFINITY
            },
            spread: self.spread,
        }
    }

    fn variance_parts(&self, fit: &LabelFit) -> Result<VarianceParts, Undefined> {
        let size = self.shares.len() as f64;
        let predicted: Vec<f64> = self
            .shares
            .iter()
            .map(|shares| expected_label(fit.said, *shares))
            .collect();
        let centre = compensated_sum(predicted.iter().copied()) / size;
        // By unit: the influences of its labels, and of its verdicts.
        let (mut of_labels, mut of_verdicts) = (vec![0.0; self.units], vec![0.0; self.units]);
        for (predicted, unit) in predicted.iter().zip(&self.unit_of) {
            of_verdicts[*unit] += (predicted - centre) / size;
        }
        let mut labelled = BTreeSet::new();
        for (term, (weight, residual)) in self
            .terms
            .iter()
            .zip(fit.weights.iter().zip(&fit.residuals))
        {
            of_labels[self.unit_of[term.place]] += weight * residual;
            labelled.insert(self.unit_of[term.place]);
        }
        let labelled_units = labelled.len() as f64;
        if self.is_clustered && labelled_units < 3.0 {
            return Err(Undefined::TooFew);
        }
        let few = |units: f64| {
            if self.is_clustered {
                units / (units - 1.0)
            } else {
                1.0
            }
        };
        let labels = few(labelled_units) * compensated_sum(of_labels.iter().map(|own| own * own));
        let others = few(self.units as f64)
            * compensated_sum(
                of_labels
                    .iter()
                    .zip(&of_verdicts)
                    .map(|(label, verdict)| verdict * (verdict + 2.0 * label)),
            );
        let parts: Vec<RunsPart> = (0..self.arms.len())
            .map(|arm| self.runs_part(arm, fit, &predicted))
            .collect::<Result<Vec<_>, _>>()?
            .into_iter()
            .flatten()
            .collect();
        let (runs, runs_degrees) = RunsPart::pool_parts(&parts);
        let runs_measured = parts.iter().map(|part| part.measured).sum();
        Ok(VarianceParts {
            labels: (labels + others.min(0.0)).max(0.0),
            others: others.max(0.0),
            runs,
            runs_measured,
            runs_degrees,
            labelled_units,
        })
    }

    /// Returns what an arm's runs add to the variance, or `None` for one run.
    fn runs_part(
        &self,
        arm: usize,
        fit: &LabelFit,
        predicted: &[f64],
    ) -> Result<Option<RunsPart>, Undefined> {
        let runs = self.arms[arm].runs;
        if runs < 2 {
            return Ok(None);
        }
        let (n, size) = (self.labelled_count(), self.shares.len() as f64);
        let mut shares = vec![0.0; runs];
        // By unit and run: influences.
        let mut influences = vec![0.0; self.units * runs];
        for ((item, unit), (shares, predicted)) in self
            .kept
            .iter()
            .zip(&self.unit_of)
            .zip(self.shares.iter().zip(predicted))
        {
            let row = self.arms[arm].item_row(*item);
            let has = row.iter().flatten().count() as f64;
            for (run, value) in row.iter().enumerate() {
                let Some(value) = value else { continue };
                let mut own = *shares;
                own[arm] = *value;
                influences[unit * runs + run] +=
                    (expected_label(fit.said, own) - predicted) / (size * has);
            }
        }
        for (term, (weight, residual)) in self
            .terms
            .iter()
            .zip(fit.weights.iter().zip(&fit.residuals))
        {
            let run = term.runs[arm];
            influences[self.unit_of[term.place] * runs + run] += weight * residual;
            shares[run] += term.weight / n;
        }
        let power = |power: i32| shares.iter().map(|share| share.powi(power)).sum::<f64>();
        if shares
            .iter()
            .any(|share| *share > MAX_OF_A_RUN + ROUNDING_ERROR)
        {
            return Err(Undefined::TooFew);
        }
        // Deviations of runs from their weighted mean vary less than the runs.
        let seen = power(2) - 2.0 * power(3) + power(2).powi(2);
        let factor = (power(2) / seen).max(runs as f64 / (runs as f64 - 1.0));
        let (mut sums, mut explained) = (vec![0.0; runs], 0.0);
        for own in influences.chunks(runs) {
            let mean = own.iter().sum::<f64>() / runs as f64;
            for (sum, influence) in sums.iter_mut().zip(own) {
                *sum += influence - mean;
                explained += (influence - mean).powi(2);
            }
        }
        let measured = compensated_sum(sums.iter().map(|sum| sum * sum));
        Ok(Some(RunsPart {
            measured: factor * measured,
            explained: factor * explained,
            share: power(2),
            degrees: (1.0 / power(2) - 1.0).max(1.0),
        }))
    }
}

/// Returns a verdict's place in lists.
fn verdict_index(said: f64) -> usize {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "-1, 0 or 1"
    )]
    let at = (said + 1.0) as usize;
    at
}

impl VarianceParts {
    /// Returns Satterthwaite's degrees of freedom, given those of the labels' part and of the other items'.
    fn satterthwaite_degrees(&self, labels: f64, of_labels: f64, of_others: f64) -> f64 {
        let variance = labels + self.others + self.runs;
        let share = |part: f64| {
            if variance > 0.0 {
                (part / variance).powi(2)
            } else {
                1.0
            }
        };
        let runs = if self.runs > 0.0 {
            share(self.runs_measured) / self.runs_degrees
        } else {
            0.0
        };
        let others = if of_labels.is_finite() {
            share(self.others) / of_others
        } else {
            0.0
        };
        (1.0 / (share(labels) / of_labels + others + runs)).max(1.0)
    }
}

impl Stratum {
    /// Returns the mean label. A verdict that nobody labelled has the mean of all labels, and could have any.
    fn mean_label(&self, overall: f64) -> f64 {
        if self.n > 0.0 {
            (self.ahead - self.behind) / self.n
        } else {
            overall
        }
    }

    /// Returns the variance of the mean label if each item has one.
    fn label_variance(&self) -> f64 {
        if self.n > 0.0 {
            ((self.ahead + self.behind) / self.n - self.mean_label(0.0).powi(2)) / self.n
        } else {
            0.0
        }
    }

    /// Returns the interval of the mean label, with the labels worth that of `self.n / design_effect` items.
    fn label_interval(
        &self,
        spread: FigureKind,
        design_effect: f64,
        z: f64,
    ) -> Result<Interval, Undefined> {
        let confidence = 1.0 - normal_two_sided(z);
        let (n, ahead, behind) = (
            self.n / design_effect,
            self.ahead / design_effect,
            self.behind / design_effect,
        );
        match spread {
            _ if n <= 0.0 => Ok(spread.value_range()),
            FigureKind::Shares => jeffreys_interval(ahead, n, confidence),
            FigureKind::Differences => {
                // The counts of wins and losses exclude each other, so their difference varies more than that of independent shares.
                let (won, lost) = (
                    jeffreys_interval(ahead, n, confidence)?,
                    jeffreys_interval(behind, n, confidence)?,
                );
                let (ahead, behind) = (ahead / n, behind / n);
                let both = 2.0 * z * z * ahead * behind / n;
                let below =
                    ((ahead - won.low).powi(2) + (lost.high - behind).powi(2) + both).sqrt();
                let above =
                    ((won.high - ahead).powi(2) + (behind - lost.low).powi(2) + both).sqrt();
                Interval::new(ahead - behind - below, ahead - behind + above)
                    .ok_or(Undefined::NotFinite)
            }
        }
    }
}

/// Returns the interval of a share with Jeffreys's prior, which reaches 0 and 1 if nothing or everything passed (Brown, Cai and DasGupta 2001).
fn jeffreys_interval(passed: f64, n: f64, confidence: f64) -> Result<Interval, Undefined> {
    // Sums of parts may miss a whole number by a rounding error.
    let failed = (n - passed).max(0.0);
    let found = beta_interval(
        passed + BetaPrior::JEFFREYS.a,
        failed + BetaPrior::JEFFREYS.b,
        confidence,
    )?;
    let low = if passed > ROUNDING_ERROR {
        found.low
    } else {
        0.0
    };
    Interval::new(
        low,
        if failed > ROUNDING_ERROR {
            found.high
        } else {
            1.0
        },
    )
    .ok_or(Undefined::NotFinite)
}

const ROUNDING_ERROR: f64 = 1e-9;

/// The interval of whole verdicts.
struct StratifiedInterval<'s> {
    strata: &'s [Stratum; 3],
    mean: f64,
    /// The labels' variance, as a multiple of that of one label of each of as many independent items.
    design_effect: f64,
    parts: &'s VarianceParts,
    labels_degrees: f64,
    others_degrees: f64,
    spread: FigureKind,
}

impl StratifiedInterval<'_> {
    fn corrected_mean(&self, z: f64) -> Result<CorrectedMean, Undefined> {
        let [below, above] = self.squared_label_reach(z)?;
        let labels = (f64::midpoint(below.sqrt(), above.sqrt()) / z).powi(2);
        let degrees =
            self.parts
                .satterthwaite_degrees(labels, self.labels_degrees, self.others_degrees);
        let [below, above] = self.reach_below_and_above(z, degrees)?;
        let range = self.spread.value_range();
        let (low, high) = (
            (self.mean - below).max(range.low),
            (self.mean + above).min(range.high),
        );
        let interval = Interval::new(low, high).ok_or(Undefined::NotFinite)?;
        let standard_error = (high - low)
            / (2.0 * student_quantile(upper_level(1.0 - normal_two_sided(z))?, degrees)?);
        Ok(CorrectedMean {
            mean: self.mean,
            interval,
            p: self.p_value(degrees)?,
            standard_error,
            degrees,
        })
    }

    /// Returns the squared lengths of the interval below and above the mean, as far as they come from labels.
    fn squared_label_reach(&self, z: f64) -> Result<[f64; 2], Undefined> {
        let (mut below, mut above) = (0.0, 0.0);
        for stratum in self.strata.iter().filter(|stratum| stratum.share > 0.0) {
            let mean = stratum.mean_label(self.overall_mean());
            let ends = stratum.label_interval(self.spread, self.design_effect, z)?;
            below += (stratum.share * (mean - ends.low)).powi(2);
            above += (stratum.share * (ends.high - mean)).powi(2);
        }
        Ok([below, above])
    }

    /// Returns the mean of all labels.
    fn overall_mean(&self) -> f64 {
        let sum = |of: fn(&Stratum) -> f64| self.strata.iter().map(of).sum::<f64>();
        (sum(|stratum| stratum.ahead) - sum(|stratum| stratum.behind)) / sum(|stratum| stratum.n)
    }

    /// Returns the interval's lengths below and above the mean at a normal deviate, which stands for Student's at the same level.
    fn reach_below_and_above(&self, z: f64, degrees: f64) -> Result<[f64; 2], Undefined> {
        let factor = if degrees.is_finite() {
            student_quantile(upper_level(1.0 - normal_two_sided(z))?, degrees)? / z
        } else {
            1.0
        };
        let others = z * z * (self.parts.others + self.parts.runs);
        Ok(self
            .squared_label_reach(z)?
            .map(|labels| factor * (labels + others).sqrt()))
    }

    /// Returns the smallest error at which the interval excludes zero, not below that of six standard errors.
    fn p_value(&self, degrees: f64) -> Result<f64, Undefined> {
        if self.mean == 0.0 {
            return Ok(1.0);
        }
        let left = |z: f64| -> Result<f64, Undefined> {
            Ok(self.mean.abs()
                - self.reach_below_and_above(z, degrees)?[usize::from(self.mean < 0.0)])
        };
        // False position, with the older end's value halved if it stays (Illinois).
        let (mut low, mut high) = (
            (MIN_DEVIATE, left(MIN_DEVIATE)?),
            (MAX_DEVIATE, left(MAX_DEVIATE)?),
        );
        if low.1 <= 0.0 {
            return Ok(1.0);
        }
        if high.1 > 0.0 {
            return Ok(normal_two_sided(MAX_DEVIATE));
        }
        for _ in 0..100 {
            if high.0 - low.0 < 1e-12 {
                break;
            }
            let at =
                (low.0 + (high.0 - low.0) * low.1 / (low.1 - high.1)).clamp(low.0 + 1e-13, high.0);
            let value = left(at)?;
            if value > 0.0 {
                low = (at, value);
                high.1 /= 2.0;
            } else {
                high = (at, value);
                low.1 /= 2.0;
            }
        }
        Ok(normal_two_sided(low.0))
    }
}

/// The smallest and the largest deviate of an interval.
const MIN_DEVIATE: f64 = 1e-6;
const MAX_DEVIATE: f64 = 6.0;

impl FigureKind {
    fn value_range(self) -> Interval {
        match self {
            Self::Shares => Interval {
                low: 0.0,
                high: 1.0,
            },
            Self::Differences => Interval {
                low: -1.0,
                high: 1.0,
            },
        }
    }

    /// Returns Student's interval around a mean. If nothing varies, that of as many passes and fails.
    fn corrected_around(
        self,
        mean: f64,
        error: f64,
        degrees: f64,
        n: f64,
        confidence: f64,
    ) -> Result<CorrectedMean, Undefined> {
        let range = self.value_range();
        let level = upper_level(confidence)?;
        if error <= 0.0 {
            let at = mean.clamp(range.low, range.high);
            let interval = match self {
                Self::Shares => effective_interval(at, n, confidence)?,
                Self::Differences => {
                    effective_paired_difference(at.max(0.0), (-at).max(0.0), n, confidence)?
                }
            };
            let p = if interval.low > 0.0 || interval.high < 0.0 {
                1.0 - confidence
            } else {
                1.0
            };
            let standard_error = (interval.high - interval.low) / (2.0 * normal_quantile(level)?);
            return Ok(CorrectedMean {
                mean: at,
                interval,
                p,
                standard_error,
                degrees,
            });
        }
        let reach = t_quantile(level, degrees)? * error;
        let interval = Interval::new(mean - reach, mean + reach)
            .ok_or(Undefined::NotFinite)?
            .clipped_to(range.low, range.high);
        let mean = mean.clamp(range.low, range.high);
        Ok(CorrectedMean {
            mean,
            interval,
            p: t_two_sided(mean / error, degrees)?,
            standard_error: error,
            degrees,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(serde::Deserialize)]
    struct Vectors {
        vectors: Vec<Vector>,
    }

    #[derive(serde::Deserialize)]
    struct Vector {
        name: String,
        arms: Vec<Listed>,
        clusters: Option<Vec<u32>>,
        expected: Expected,
    }

    #[derive(serde::Deserialize)]
    struct Listed {
        runs: usize,
        judged: Vec<Vec<Option<f64>>>,
        labels: Vec<Vec<Option<[f64; 2]>>>,
    }

    #[derive(serde::Deserialize)]
    struct Expected {
        mean: f64,
        ends: [f64; 2],
        p: f64,
        degrees: Option<f64>,
    }

    /// An arm's verdicts and labels.
    struct Cells {
        runs: usize,
        judged: Vec<Option<f64>>,
        labels: Vec<Option<LabelledAttempts>>,
    }

    impl Cells {
        fn data(&self) -> JudgedRuns<'_> {
            JudgedRuns {
                runs: self.runs,
                judged: &self.judged,
                labels: &self.labels,
            }
        }

        /// One run with labels passed by both, only by people, only by the judge and by neither, and other items with those passed.
        fn counted(labels: [usize; 4], [others, passed]: [usize; 2]) -> Self {
            let mut cells = Self {
                runs: 1,
                judged: Vec::new(),
                labels: Vec::new(),
            };
            for (count, (people, judge)) in
                labels
                    .into_iter()
                    .zip([(1.0, 1.0), (1.0, 0.0), (0.0, 1.0), (0.0, 0.0)])
            {
                cells.judged.extend(vec![Some(judge); count]);
                cells
                    .labels
                    .extend(vec![Some(LabelledAttempts { people, judge }); count]);
            }
            cells
                .judged
                .extend((0..others).map(|item| Some(f64::from(u8::from(item < passed)))));
            cells.labels.resize(cells.judged.len(), None);
            cells
        }

        /// The same outcomes in each of several runs. Only the first has labels unless `is_every`.
        fn repeated(&self, runs: usize, is_labelled: impl Fn(usize, usize) -> bool) -> Self {
            let cells =
                || (0..self.judged.len()).flat_map(|item| (0..runs).map(move |run| (item, run)));
            Self {
                runs,
                judged: cells().map(|(item, _)| self.judged[item]).collect(),
                labels: cells()
                    .map(|(item, run)| self.labels[item].filter(|_| is_labelled(item, run)))
                    .collect(),
            }
        }
    }

    fn rate(cells: &Cells, clusters: Option<&[u32]>) -> Result<CorrectedMean, Undefined> {
        corrected_rate(cells.data(), clusters, 0.95)
    }

    #[test]
    fn equals_the_formulas_in_numpy() {
        let vectors: Vectors =
            serde_json::from_str(include_str!("../../../tests/fixtures/judges/runs.json"))
                .expect("vectors");
        assert!(vectors.vectors.len() >= 12);
        for Vector {
            name,
            arms,
            clusters,
            expected,
        } in vectors.vectors
        {
            let label = |[people, judge]: [f64; 2]| LabelledAttempts { people, judge };
            let cells = |arm: Listed| Cells {
                runs: arm.runs,
                judged: arm.judged.into_iter().flatten().collect(),
                labels: arm
                    .labels
                    .into_iter()
                    .flatten()
                    .map(|pair| pair.map(label))
                    .collect(),
            };
            let cells: Vec<Cells> = arms.into_iter().map(cells).collect();
            let found = match cells.as_slice() {
                [one] => rate(one, clusters.as_deref()),
                [one, other] => {
                    corrected_difference(one.data(), other.data(), clusters.as_deref(), 0.95)
                }
                _ => panic!("one or two arms"),
            };
            let found = found.expect("a figure");
            let pairs = [
                (found.mean, expected.mean),
                (found.interval.low, expected.ends[0]),
                (found.interval.high, expected.ends[1]),
                (found.p, expected.p),
            ];
            for (own, expected) in pairs {
                assert!((own - expected).abs() < 1e-7, "{name}: {own} {expected}");
            }
            let degrees = (found.degrees, expected.degrees);
            let is_alike = expected
                .degrees
                .map_or(found.degrees.is_infinite(), |expected| {
                    (found.degrees / expected - 1.0).abs() < 1e-6
                });
            assert!(is_alike, "{name}: {degrees:?}");
        }
    }

    #[test]
    fn with_many_labels_the_interval_is_that_of_ppi() {
        let cells = Cells::counted([300, 20, 60, 220], [4000, 2400]);
        let values = |of: &dyn Fn(usize) -> Option<f64>| {
            (0..cells.judged.len()).filter_map(of).collect::<Vec<f64>>()
        };
        let labels = values(&|item| Some(cells.labels[item]?.people));
        let judged = values(&|item| Some(cells.labels[item]?.judge));
        let others = values(&|item| cells.judged[item].filter(|_| cells.labels[item].is_none()));
        let data = super::super::JudgedSample {
            labels: &labels,
            judged: &judged,
            others: &others,
        };
        let plain = super::super::prediction_powered(data, 0.95).expect("an estimate");
        let own = rate(&cells, None).expect("corrected");
        assert!((own.mean - plain.mean).abs() < 1e-3, "{own:?} {plain:?}");
        assert!(
            (own.interval.low - plain.interval.low).abs() < 2e-3
                && (own.interval.high - plain.interval.high).abs() < 2e-3
        );
    }

    #[test]
    fn a_mean_of_strata_by_hand() {
        // Of 60 passes 15 of 20 labels agree, of 40 fails 1 of 10 is a pass: 0.6 · 0.75 + 0.4 · 0.1.
        let found = rate(&Cells::counted([15, 1, 5, 9], [70, 40]), None).expect("corrected");
        assert!(
            (found.mean - 0.49).abs() < 1e-12
                && found.interval.low < 0.49
                && found.interval.high > 0.49,
            "{found:?}"
        );
    }

    #[test]
    fn p_and_interval_agree_and_arms_can_be_swapped() {
        for (won, lost, same) in [(12, 3, 25), (9, 3, 28), (3, 3, 34), (0, 0, 40), (30, 0, 10)] {
            let sides = [(1.0, 0.0, won), (0.0, 1.0, lost), (1.0, 1.0, same)];
            let people: Vec<(f64, f64)> = sides
                .iter()
                .flat_map(|(one, other, n)| vec![(*one, *other); *n])
                .collect();
            let arm = |of: fn((f64, f64)) -> f64| {
                let said = people
                    .iter()
                    .enumerate()
                    .map(|(at, pair)| if at % 7 == 0 { 1.0 } else { of(*pair) });
                let said: Vec<f64> = said.collect();
                let labels = people.iter().zip(&said).map(|(pair, said)| {
                    Some(LabelledAttempts {
                        people: of(*pair),
                        judge: *said,
                    })
                });
                let judged: Vec<Option<f64>> = said
                    .iter()
                    .cycle()
                    .take(240)
                    .map(|said| Some(*said))
                    .collect();
                Cells {
                    runs: 1,
                    labels: labels
                        .chain(std::iter::repeat(None))
                        .take(judged.len())
                        .collect(),
                    judged,
                }
            };
            let (one, other) = (arm(|pair| pair.0), arm(|pair| pair.1));
            let found =
                corrected_difference(one.data(), other.data(), None, 0.95).expect("corrected");
            assert_eq!(
                found.p < 0.05,
                found.interval.low > 0.0 || found.interval.high < 0.0,
                "{found:?}"
            );
            let back =
                corrected_difference(other.data(), one.data(), None, 0.95).expect("corrected");
            assert!(
                (found.mean + back.mean).abs() < 1e-12
                    && (found.interval.low + back.interval.high).abs() < 1e-12
            );
            assert!((found.p - back.p).abs() < 1e-9);
        }
    }

    #[test]
    fn clusters_widen_and_a_full_set_of_labels_needs_no_judge() {
        let cells = Cells::counted([30, 5, 5, 20], [120, 70]);
        let codes: Vec<u32> = (0..cells.judged.len())
            .map(|at| u32::try_from(at / 6).expect("few"))
            .collect();
        let (clustered, alone) = (
            rate(&cells, Some(&codes)).expect("clustered"),
            rate(&cells, None).expect("corrected"),
        );
        assert!(
            clustered.interval.high - clustered.interval.low
                > alone.interval.high - alone.interval.low
        );
        let all = rate(&Cells::counted([30, 5, 5, 20], [0, 0]), None).expect("labels alone");
        assert!((all.mean - 35.0 / 60.0).abs() < 1e-12, "{all:?}");
        assert_eq!(
            rate(&Cells::counted([0; 4], [20, 10]), None),
            Err(Undefined::NoData)
        );
        let uneven = JudgedRuns {
            labels: &cells.labels[1..],
            ..cells.data()
        };
        assert_eq!(corrected_rate(uneven, None, 0.95), Err(Undefined::Unequal));
    }

    #[test]
    fn runs_that_are_all_alike_add_nothing() {
        let single = Cells::counted([30, 5, 5, 20], [120, 70]);
        let alone = rate(&single, None).expect("corrected");
        // A label of one run of each item, or of every run: the item remains the unit, so more labels of it say nothing new.
        let (one, every) = (
            single.repeated(3, |item, run| item % 3 == run),
            single.repeated(3, |_, _| true),
        );
        let one = rate(&one, None).expect("three runs");
        assert!(
            (one.mean - alone.mean).abs() < 1e-12
                && one.interval.high - one.interval.low >= alone.interval.high - alone.interval.low
        );
        let every = rate(&every, None).expect("three runs");
        assert!(
            (every.interval.low - alone.interval.low).abs() < 0.005
                && (every.interval.high - alone.interval.high).abs() < 0.005,
            "{every:?} {alone:?}"
        );
    }

    #[test]
    fn one_labelled_run_of_several_says_nothing_about_the_others() {
        let single = Cells::counted([30, 5, 5, 20], [120, 70]);
        assert_eq!(
            rate(&single.repeated(3, |_, run| run == 0), None),
            Err(Undefined::TooFew)
        );
        assert_eq!(
            rate(
                &single.repeated(2, |item, run| run == usize::from(item == 7)),
                None
            ),
            Err(Undefined::TooFew)
        );
        assert!(
            rate(
                &single.repeated(2, |item, run| run == usize::from(item % 4 == 0)),
                None
            )
            .is_ok()
        );
    }

    #[test]
    fn a_run_in_which_the_judge_changed_its_mind_names_no_winner() {
        // Two arms that pass the same items in three runs; in one run the judge failed everything of the second arm.
        let people = |item: usize| f64::from(u8::from(!item.is_multiple_of(3)));
        let arm = |is_wrong: &dyn Fn(usize) -> bool| {
            let cells = || (0..150).flat_map(|item| (0..3).map(move |run| (item, run)));
            let said = |(item, run): (usize, usize)| if is_wrong(run) { 0.0 } else { people(item) };
            let label = |(item, run)| {
                (item < 60 && run == item % 3).then(|| LabelledAttempts {
                    people: people(item),
                    judge: said((item, run)),
                })
            };
            Cells {
                runs: 3,
                judged: cells().map(|cell| Some(said(cell))).collect(),
                labels: cells().map(label).collect(),
            }
        };
        let (one, other) = (arm(&|_| false), arm(&|run| run == 1));
        let found = corrected_difference(one.data(), other.data(), None, 0.95).expect("corrected");
        assert!(found.p > 0.2 && found.interval.low < 0.0, "{found:?}");
    }

    #[test]
    fn few_runs_have_few_degrees_of_freedom() {
        let cells = Cells::counted([30, 5, 5, 20], [120, 70]);
        let codes: Vec<u32> = (0..cells.judged.len())
            .map(|at| u32::try_from(at % 3).expect("few"))
            .collect();
        let one = rate(&cells, Some(&codes)).expect("three clusters");
        let gap = one.subtract_independent(one, 0.95).expect("a difference");
        assert!(
            one.degrees <= 3.0
                && gap.degrees > one.degrees
                && gap.degrees <= 2.0 * one.degrees + 1e-9,
            "{one:?} {gap:?}"
        );
        assert!(
            gap.mean == 0.0
                && (gap.p - 1.0).abs() < 1e-12
                && (gap.interval.low + gap.interval.high).abs() < 1e-9
        );
        let codes: Vec<u32> = codes.iter().map(|code| code.min(&1)).copied().collect();
        assert_eq!(rate(&cells, Some(&codes)), Err(Undefined::TooFew));
    }
}
