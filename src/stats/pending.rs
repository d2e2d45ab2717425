//! Stand-ins until the calibrated methods land.

use super::{Interval, Resampling, Undefined, summary};

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TwoWay {
    pub mean: f64,
    pub se: f64,
    pub degrees: f64,
    pub interval: Interval,
    pub p: f64,
    pub var_items: f64,
    pub var_runs: f64,
    pub runs_vary: bool,
}

fn from(mean: f64, se: f64, degrees: f64, confidence: f64, var_items: f64, var_runs: f64) -> Result<TwoWay, Undefined> {
    if se <= 0.0 {
        return Err(Undefined::NoVariation);
    }
    let half = super::t_quantile(0.5 + confidence / 2.0, degrees)? * se;
    let interval = Interval::new(mean - half, mean + half).ok_or(Undefined::NotFinite)?;
    Ok(TwoWay { mean, se, degrees, interval, p: super::t_two_sided(mean / se, degrees)?, var_items, var_runs, runs_vary: false })
}

fn arm(runs: &[Vec<f64>]) -> (Vec<f64>, f64) {
    let n = runs[0].len();
    let means: Vec<f64> = (0..n)
        .map(|item| {
            let known: Vec<f64> = runs.iter().map(|run| run[item]).filter(|value| !value.is_nan()).collect();
            known.iter().sum::<f64>() / known.len() as f64
        })
        .collect();
    let of_runs: Vec<f64> = runs
        .iter()
        .map(|run| {
            let known: Vec<f64> = run.iter().copied().filter(|value| !value.is_nan()).collect();
            known.iter().sum::<f64>() / known.len() as f64
        })
        .collect();
    let variance = summary(&of_runs).ok().and_then(|summary| summary.sd).map_or(0.0, |sd| sd * sd / of_runs.len() as f64);
    (means, variance)
}

pub fn two_way(one: &[Vec<f64>], other: &[Vec<f64>], confidence: f64) -> Result<TwoWay, Undefined> {
    let ((a, var_a), (b, var_b)) = (arm(one), arm(other));
    let differences: Vec<f64> = a.iter().zip(&b).map(|(a, b)| a - b).collect();
    let found = summary(&differences)?;
    let items = found.sd.map_or(0.0, |sd| sd * sd / differences.len() as f64);
    from(found.mean, (items + var_a + var_b).sqrt(), differences.len() as f64 - 1.0, confidence, items, var_a + var_b)
}

pub fn two_way_clustered(one: &[Vec<f64>], other: &[Vec<f64>], _codes: &[u32], confidence: f64) -> Result<TwoWay, Undefined> {
    two_way(one, other, confidence)
}

pub fn two_way_mean(runs: &[Vec<f64>], confidence: f64) -> Result<TwoWay, Undefined> {
    let (means, var) = arm(runs);
    let found = summary(&means)?;
    let items = found.sd.map_or(0.0, |sd| sd * sd / means.len() as f64);
    from(found.mean, (items + var).sqrt(), means.len() as f64 - 1.0, confidence, items, var)
}

pub fn two_way_mean_clustered(runs: &[Vec<f64>], _codes: &[u32], confidence: f64) -> Result<TwoWay, Undefined> {
    two_way_mean(runs, confidence)
}

pub fn pooled_totals(one: &[(u64, u64)], other: &[(u64, u64)], confidence: f64) -> Result<TwoWay, Undefined> {
    let side = |runs: &[(u64, u64)]| {
        let rates: Vec<f64> = runs.iter().map(|(passed, total)| *passed as f64 / *total as f64).collect();
        let mean = rates.iter().sum::<f64>() / rates.len() as f64;
        let of_runs = summary(&rates).ok().and_then(|summary| summary.sd).map_or(0.0, |sd| sd * sd / rates.len() as f64);
        (mean, mean * (1.0 - mean) / runs[0].1 as f64, of_runs)
    };
    let ((a, items_a, runs_a), (b, items_b, runs_b)) = (side(one), side(other));
    from(
        a - b,
        (items_a + items_b + runs_a + runs_b).sqrt(),
        (one.len() + other.len() - 1) as f64,
        confidence,
        items_a + items_b,
        runs_a + runs_b,
    )
}

pub fn effective_interval(value: f64, n: f64, confidence: f64) -> Result<Interval, Undefined> {
    super::wilson((value * n).round() as u64, n.round() as u64, confidence)
}

pub fn effective_difference(one: f64, other: f64, n: f64, confidence: f64) -> Result<Interval, Undefined> {
    super::newcombe((one * n).round() as u64, n.round() as u64, (other * n).round() as u64, n.round() as u64, confidence)
}

pub fn max_t(sums: &[Vec<f64>], resampling: Resampling) -> Result<Vec<f64>, Undefined> {
    let p: Result<Vec<f64>, Undefined> = sums.iter().map(|sums| super::sign_flip(sums, resampling).map(|test| test.p)).collect();
    super::holm(&p?)
}
