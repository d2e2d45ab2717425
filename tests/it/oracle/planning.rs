//! The methods around a comparison: attempts, resampling, where noise comes from, how much data a question needs, agreement of judges,
//! places on a board, and evidence that grows over nights.

use evalreport::stats::{self, Aim, BetaPrior, Interval, PairedVariance, Replicates, Seed};
use serde_json::{Value, json};

use super::input::{Input, with_ends};

/// What the library says, under the names of the vectors; nothing for a method that belongs elsewhere or that it does not have.
pub fn compute(method: &str, input: &Input) -> Option<Value> {
    let aim = || Aim {
        alpha: input.number("alpha"),
        power: input.number("power"),
    };
    let got = match method {
        "pass_at_k" | "pass_hat_k" => {
            let of_task = if method == "pass_at_k" {
                stats::pass_at_k
            } else {
                stats::pass_hat_k
            };
            json!({ "value": of_task(input.count("n"), input.count("c"), input.count("k")).ok() })
        }
        "pass_at_k_mean" => {
            let (tasks, k) = (tasks(input), input.count("k"));
            json!({ "pass_at_k": stats::mean_pass_at_k(&tasks, k).ok(), "pass_hat_k": stats::mean_pass_hat_k(&tasks, k).ok() })
        }
        "percentile_from_replicates" => {
            percentile(&replicates(input.values("replicates")), input.confidence())
        }
        "bootstrap_exhaustive_mean" => every_resample(&input.values("xs"), input.confidence()),
        "bca_from_replicates" => bca(
            &input.values("xs"),
            &replicates(input.values("replicates")),
            input.confidence(),
        ),
        "bootstrap_bca_mean_mc" => {
            let (xs, resamples) = (
                input.values("xs"),
                u32::try_from(input.count("resamples")).expect("a number of resamples"),
            );
            let drawn = Replicates::draw_replicates(xs.len(), resamples, Seed(1), |units| {
                Some(mean_of(&xs, units))
            })
            .expect("replicates");
            bca(&xs, &drawn, input.confidence())
        }
        "variance_decomposition" => {
            let got = stats::variance_split(&input.rows("scores")).ok();
            json!({ "ms_between": got.map(|got| got.ms_between), "ms_within": got.map(|got| got.ms_within),
                "var_between": got.map(|got| got.var_between), "var_within": got.map(|got| got.var_within),
                "icc": got.and_then(|got| got.icc), "se_mean": got.map(|got| got.se_mean) })
        }
        "mde_paired" => {
            json!({ "mde": stats::mde_paired(input.number("sd_diff"), input.count("n"), aim()).ok() })
        }
        "n_paired" => {
            json!({ "n": stats::n_paired(input.number("sd_diff"), input.number("delta"), aim()).ok() })
        }
        "mde_miller" => {
            let [omega2, sigma2_a, sigma2_b] =
                ["omega2", "sigma2_a", "sigma2_b"].map(|key| input.number(key));
            let variance = PairedVariance {
                omega2,
                sigma2_a,
                sigma2_b,
                runs_a: input.count("runs_a"),
                runs_b: input.count("runs_b"),
            };
            json!({ "mde": stats::mde_miller(variance, input.count("n"), aim()).ok(),
                "n_for_delta": stats::n_miller(variance, input.number("delta"), aim()).ok() })
        }
        "power_two_proportions" => {
            let ([p1, p2], [n1, n2]) = (
                ["p1", "p2"].map(|key| input.number(key)),
                ["n1", "n2"].map(|key| input.count(key)),
            );
            json!({ "power": stats::power_two_proportions(p1, n1, p2, n2, input.number("alpha")).ok() })
        }
        "n_two_proportions" => {
            json!({ "n_per_group": stats::n_two_proportions(input.number("p1"), input.number("p2"), aim()).ok() })
        }
        "n_mcnemar" => {
            json!({ "n": stats::n_mcnemar(input.number("discordant"), input.number("delta"), aim()).ok() })
        }
        "cohen_kappa" => {
            let got = stats::cohen_kappa(&input.labels("a"), &input.labels("b")).ok();
            json!({ "po": got.map(|got| got.percent), "pe": got.map(|got| got.expected), "kappa": got.and_then(|got| got.kappa) })
        }
        "krippendorff_alpha_nominal" => {
            json!({ "alpha": stats::krippendorff_alpha_nominal(&input.rows_with_gaps("ratings")).ok() })
        }
        "rank_intervals" => {
            let ends = input.values("lo").into_iter().zip(input.values("hi"));
            let intervals: Vec<Interval> = ends.map(|(low, high)| Interval { low, high }).collect();
            let ranges = stats::rank_intervals(&intervals, input.flag("higher_is_better"));
            json!({ "best": ranges.iter().map(|range| range.best).collect::<Vec<_>>(),
                "worst": ranges.iter().map(|range| range.worst).collect::<Vec<_>>() })
        }
        "mcnemar_e_value" => {
            json!({ "e": stats::mcnemar_e_value(input.count("b"), input.count("c")) })
        }
        "bernoulli_confidence_sequence" => with_ends(
            stats::bernoulli_confidence_sequence(
                input.count("k"),
                input.count("n"),
                input.number("alpha"),
            ),
            json!({}),
        ),
        "beta_credible_interval" => {
            let prior = BetaPrior {
                a: input.number("prior_a"),
                b: input.number("prior_b"),
            };
            with_ends(
                stats::beta_credible_interval(
                    input.count("k"),
                    input.count("n"),
                    prior,
                    input.confidence(),
                ),
                json!({}),
            )
        }
        _ => return None,
    };
    Some(got)
}

/// Attempts and passes of each task.
fn tasks(input: &Input) -> Vec<(u64, u64)> {
    let pair = |task: &Value| Some((task[0].as_u64()?, task[1].as_u64()?));
    input
        .list("tasks")
        .iter()
        .map(|task| pair(task).unwrap_or_else(|| panic!("{task} is no task")))
        .collect()
}

fn replicates(values: Vec<f64>) -> Replicates {
    Replicates::from_values(values).expect("finite replicates")
}

fn percentile(replicates: &Replicates, confidence: f64) -> Value {
    with_ends(
        replicates.percentile_interval(confidence),
        json!({ "se": replicates.standard_error().ok() }),
    )
}

/// The bootstrap of a mean over all nⁿ resamples instead of random ones.
fn every_resample(xs: &[f64], confidence: f64) -> Value {
    let n = xs.len();
    let resamples = n.pow(u32::try_from(n).expect("a small sample"));
    let unit = |resample: usize, place: u32| xs[resample / n.pow(place) % n];
    let mean = |resample: usize| {
        (0..)
            .take(n)
            .map(|place| unit(resample, place))
            .sum::<f64>()
            / n as f64
    };
    let mut got = percentile(&replicates((0..resamples).map(mean).collect()), confidence);
    // All resamples there are have a spread, not a sample's estimate of one.
    let all = (resamples as f64 - 1.0) / resamples as f64;
    got["se"] = json!(got["se"].as_f64().map(|se| se * all.sqrt()));
    got["resamples"] = json!(resamples);
    got
}

/// The BCa interval of a mean.
fn bca(xs: &[f64], replicates: &Replicates, confidence: f64) -> Value {
    let all: Vec<u32> = (0..).take(xs.len()).collect();
    let left_out = stats::jackknife_values(xs.len(), |units| Some(mean_of(xs, units)));
    let got = left_out
        .and_then(|left_out| replicates.bca_interval(mean_of(xs, &all), &left_out, confidence));
    let part = |of: fn(stats::BcaInterval) -> f64| got.map(of).ok();
    let parts = json!({ "z0": part(|got| got.bias), "acceleration": part(|got| got.acceleration), "alpha_lo": part(|got| got.level_low),
        "alpha_hi": part(|got| got.level_high) });
    with_ends(got.map(|got| got.interval), parts)
}

/// The mean, added up in the order in which numpy adds, eight sums side by side: the vectors' replicates come from there, and one that
/// has the mean of the sample counts as equal only to the last digit.
fn mean_of(xs: &[f64], units: &[u32]) -> f64 {
    let values: Vec<f64> = units.iter().map(|unit| xs[*unit as usize]).collect();
    let (eights, rest) = values.as_chunks::<8>();
    let side_by_side = eights
        .iter()
        .copied()
        .reduce(|sums, eight| std::array::from_fn(|place| sums[place] + eight[place]));
    let start = side_by_side.map_or(0.0, |[a, b, c, d, e, f, g, h]| {
        ((a + b) + (c + d)) + ((e + f) + (g + h))
    });
    rest.iter().fold(start, |sum, value| sum + value) / values.len() as f64
}
