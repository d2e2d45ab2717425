//! The methods that say what data show: intervals, tests, effect sizes, verdicts.

use evalreport::stats::{self, PairedTable, Resampling, Undefined};
use serde_json::{Value, json};

use super::input::{Input, with_ends};

/// What the library says, under the names of the vectors; nothing for a method that belongs elsewhere or that it does not have.
pub fn compute(method: &str, input: &Input) -> Option<Value> {
    let got = match method {
        "wilson" | "clopper_pearson" => {
            let (passed, total) = (input.count("k"), input.count("n"));
            let interval = if method == "wilson" {
                stats::wilson_score_interval
            } else {
                stats::clopper_pearson
            }(passed, total, input.confidence());
            let share = (total > 0).then(|| passed as f64 / total as f64);
            with_ends(interval, json!({ "p": share }))
        }
        "newcombe_diff" => {
            let [k1, n1, k2, n2] = ["k1", "n1", "k2", "n2"].map(|key| input.count(key));
            let difference =
                (n1 > 0 && n2 > 0).then(|| k1 as f64 / n1 as f64 - k2 as f64 / n2 as f64);
            with_ends(
                stats::newcombe_interval(k1, n1, k2, n2, input.confidence()),
                json!({ "diff": difference }),
            )
        }
        "newcombe_paired_diff" | "tango_paired_diff" => {
            let [both, only_a, only_b, neither] =
                ["n11", "n10", "n01", "n00"].map(|key| input.count(key));
            let pairs = PairedTable {
                both,
                only_a,
                only_b,
                neither,
            };
            let interval = if method == "tango_paired_diff" {
                stats::tango_interval
            } else {
                stats::newcombe_paired
            }(pairs, input.confidence());
            with_ends(interval, json!({ "diff": pairs.share_difference().ok() }))
        }
        "mean_t_interval" => {
            let xs = input.values("xs");
            with_ends(
                stats::mean_interval(&xs, input.confidence()),
                moments(&xs, ["mean", "sd", "se", "df"]),
            )
        }
        "welch_t" => {
            let (a, b) = (input.values("a"), input.values("b"));
            let difference = stats::summarise_sample(&a)
                .ok()
                .zip(stats::summarise_sample(&b).ok())
                .map(|(a, b)| a.mean - b.mean);
            let got = stats::welch_test(&a, &b, input.confidence());
            let rest = json!({ "diff": got.map_or(difference, |got| Some(got.difference)), "se": got.map(|got| got.standard_error).ok(),
                "df": got.map(|got| got.degrees).ok(), "t": got.map(|got| got.t).ok(), "p": got.map(|got| got.p).ok() });
            with_ends(got.map(|got| got.interval), rest)
        }
        "paired_t" => {
            let (a, b) = (input.values("a"), input.values("b"));
            let differences: Vec<f64> = a.iter().zip(&b).map(|(a, b)| a - b).collect();
            let got = stats::paired_t(&a, &b, input.confidence());
            let mut rest = moments(&differences, ["mean_diff", "sd_diff", "se", "df"]);
            if got == Err(Undefined::NoVariation) {
                (rest["sd_diff"], rest["se"]) = (json!(0.0), json!(0.0));
            }
            (rest["t"], rest["p"]) = (
                json!(got.map(|got| got.t).ok()),
                json!(got.map(|got| got.p).ok()),
            );
            with_ends(got.map(|got| got.interval), rest)
        }
        "describe" => {
            let xs = input.values("xs");
            let summary = stats::summarise_sample(&xs).ok();
            json!({ "n": xs.len(), "min": summary.map(|of| of.min), "max": summary.map(|of| of.max), "mean": summary.map(|of| of.mean),
                "sd": summary.and_then(|of| of.sd), "median": stats::quantile(&xs, 0.5).ok(),
                "geometric_mean": stats::geometric_mean(&xs).ok(), "mad": stats::median_absolute_deviation(&xs).ok() })
        }
        "quantile_type7" => {
            let xs = input.values("xs");
            json!({ "values": input.values("probs").into_iter().map(|level| stats::quantile(&xs, level).ok()).collect::<Vec<_>>() })
        }
        "median_ci_order_stat" => {
            let xs = input.values("xs");
            let got = stats::median_interval(&xs, input.confidence());
            let median =
                got.map_or_else(|_| stats::quantile(&xs, 0.5).ok(), |got| Some(got.median));
            with_ends(
                got.map(|got| got.interval),
                json!({ "median": median, "coverage": got.map(|got| got.coverage).ok() }),
            )
        }
        "clustered_mean" => clustered(
            &input.values("values"),
            &input.codes("clusters"),
            input.confidence(),
        ),
        "mcnemar" => {
            let got = stats::mcnemar_test(input.count("b"), input.count("c"));
            json!({ "p_exact": got.exact, "p_mid": got.mid })
        }
        "fisher_exact" => {
            let [k1, n1, k2, n2] = ["k1", "n1", "k2", "n2"].map(|key| input.count(key));
            json!({ "p": stats::fisher_exact(k1, n1, k2, n2).ok() })
        }
        "sign_flip_exact" => permutation(stats::sign_flip(&input.values("d"), DRAWS)),
        "permutation_two_sample_exact" => permutation(stats::permutation_test(
            &input.values("a"),
            &input.values("b"),
            DRAWS,
        )),
        "log_ratio_welch" | "log_ratio_paired" => {
            let (a, b) = (input.values("a"), input.values("b"));
            let ratio = if method == "log_ratio_welch" {
                stats::log_ratio_welch
            } else {
                stats::log_ratio_paired
            };
            let got = ratio(&a, &b, input.confidence());
            // Where one mean is undefined, so is the comparison; then neither is shown.
            let means = stats::geometric_mean(&a)
                .ok()
                .zip(stats::geometric_mean(&b).ok());
            let rest = json!({ "ratio": got.map(|got| got.ratio).ok(), "t": got.map(|got| got.log.t).ok(), "p": got.map(|got| got.log.p).ok(),
                "df": got.map(|got| got.log.degrees).ok(), "gm_a": means.map(|(a, _)| a), "gm_b": means.map(|(_, b)| b) });
            with_ends(got.map(|got| got.interval), rest)
        }
        "ratio_of_means_delta" | "ratio_of_means_paired" => {
            let ratio = if method == "ratio_of_means_delta" {
                stats::ratio_of_means
            } else {
                stats::ratio_of_means_paired
            };
            let got = ratio(&input.values("a"), &input.values("b"), input.confidence());
            let rest = json!({ "ratio": got.map(|got| got.ratio).ok(), "se_log": got.map(|got| got.se_log).ok() });
            with_ends(got.map(|got| got.interval), rest)
        }
        "relative_change" => {
            json!({ "change": stats::relative_change(input.number("new"), input.number("base")).ok() })
        }
        "hedges_g" => {
            let (a, b) = (input.values("a"), input.values("b"));
            let got = stats::hedges_g(&a, &b).ok();
            // The customary approximation of the correction is not offered; it follows from d.
            let degrees = a.len() as f64 + b.len() as f64 - 2.0;
            let approximate = got.map(|got| got.cohens_d * (1.0 - 3.0 / (4.0 * degrees - 1.0)));
            json!({ "cohen_d": got.map(|got| got.cohens_d), "j_exact": got.map(|got| got.correction), "g": got.map(|got| got.hedges_g),
                "g_approx": approximate })
        }
        "cliffs_delta" => {
            let got = stats::cliffs_delta(&input.values("a"), &input.values("b")).ok();
            json!({ "delta": got.map(|got| got.delta), "p_superiority": got.map(|got| got.superiority) })
        }
        "holm" => json!({ "adjusted": stats::holm_adjustment(&input.values("p")).ok() }),
        "benjamini_hochberg" => {
            json!({ "adjusted": stats::benjamini_hochberg(&input.values("p")).ok() })
        }
        "t_quantile" => {
            json!({ "t": stats::t_quantile(0.5 + input.confidence() / 2.0, input.number("df")).ok() })
        }
        "t_two_sided_p" => {
            json!({ "p": stats::t_two_sided(input.number("t"), input.number("df")).ok() })
        }
        "normal_quantile" => json!({ "z": stats::normal_quantile(input.number("p")).ok() }),
        "normal_two_sided_p" => json!({ "p": stats::normal_two_sided(input.number("z")) }),
        "verdict" => json!({ "verdict": stats::apply_verdict_rule(&input.question()) }),
        _ => return None,
    };
    Some(got)
}

/// Tests that are asked for by these names are small enough to be exact; the draws would show as a wrong total.
const DRAWS: Resampling = Resampling { seed: 1, draws: 1 };

/// The number of values, and their mean, deviation, error and degrees of freedom under the given names.
fn moments(values: &[f64], [mean, sd, se, degrees]: [&str; 4]) -> Value {
    let summary = stats::summarise_sample(values).ok();
    let spread = summary.and_then(|summary| summary.sd);
    let n = values.len() as f64;
    json!({ "n": values.len(), mean: summary.map(|summary| summary.mean), sd: spread, se: spread.map(|sd| sd / n.sqrt()),
        degrees: spread.map(|_| n - 1.0) })
}

fn clustered(values: &[f64], clusters: &[u32], confidence: f64) -> Value {
    // Another estimator that such vectors name; it differs from CR0 by a term of the naive error.
    let with_small_sample =
        |cr0: f64, naive: f64| (cr0 * cr0 + naive * naive / values.len() as f64).sqrt();
    match stats::clustered_mean(values, clusters, confidence) {
        Ok(got) => with_ends(
            Ok(got.interval),
            json!({ "n": got.n, "clusters": got.clusters, "mean": got.mean, "se_naive": got.se_naive, "se_cr0": got.se_cr0,
                "se_cr1": got.se_cr1, "df": got.degrees, "design_effect": got.design_effect,
                "se_miller": with_small_sample(got.se_cr0, got.se_naive) }),
        ),
        // One cluster: the library refuses. CR0 is zero then whatever the data, and is not a result of anything.
        Err(reason) => {
            let mut rest = moments(values, ["mean", "sd", "se_naive", "df"]);
            let naive = rest["se_naive"].as_f64();
            let one = (reason == Undefined::TooFew).then_some(0.0);
            (
                rest["df"],
                rest["se_cr0"],
                rest["se_cr1"],
                rest["design_effect"],
            ) = (Value::Null, json!(one), Value::Null, Value::Null);
            (rest["clusters"], rest["se_miller"]) = (
                json!(1),
                json!(naive.map(|naive| with_small_sample(0.0, naive))),
            );
            with_ends(Err(reason), rest)
        }
    }
}

fn permutation(got: Result<stats::Permutation, Undefined>) -> Value {
    let got = got.ok();
    json!({ "p": got.map(|got| got.p), "count": got.map(|got| got.count), "total": got.map(|got| got.total) })
}
