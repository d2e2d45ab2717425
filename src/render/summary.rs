//! The summary of a comparison in sentences.

use crate::views::{Comparison, Winner};

use super::words::{count_runs, labels, listed};
use super::{format, verdicts};

/// The summary: who leads on quality and at what price, and whether that is evidence.
pub fn summary_sentences(comparison: &Comparison) -> Vec<String> {
    summary_sentences_naming(comparison, &labels(comparison))
}

/// The same with other names for the arms: where more arms are in sight than these, the shortest names may be ambiguous.
pub fn summary_sentences_naming(comparison: &Comparison, names: &[String]) -> Vec<String> {
    if comparison.arms.len() < 2 {
        let name = names.first().cloned().unwrap_or_default();
        return vec![format!("Only {name} has runs here: nothing to compare with.")];
    }
    let mut sentences = Vec::new();
    let quality = comparison.rows.iter().find(|row| row.metric.name == "shared_tests");
    match quality {
        None => sentences.push("No arm has a pass rate.".to_owned()),
        Some(row) => {
            let rate = |arm: usize| row.cells[arm].value.map(|value| format::percent(value, row.cells[arm].total.unwrap_or(0)));
            let what = row.metric.label.to_lowercase();
            match &row.winner {
                Winner::Leads { arm, over, .. } => {
                    let rates = rate(*arm).zip(rate(*over)).map_or_else(String::new, |(won, lost)| format!(" ({won} vs {lost})"));
                    let behind = if comparison.arms.len() > 2 { format!(", next {}", names[*over]) } else { String::new() };
                    let price = price(comparison, *arm, *over);
                    sentences.push(format!("{} passes more {what}{rates}{behind}{price}.", names[*arm]));
                }
                Winner::Tie { arms } => {
                    let tied: Vec<String> = arms.iter().map(|arm| names[*arm].clone()).collect();
                    let share = arms.first().and_then(|arm| rate(*arm)).map_or_else(String::new, |rate| format!(" ({rate})"));
                    sentences.push(format!("{} pass the same share of {what}{share}.", listed(&tied)));
                }
                Winner::NotAvailable => sentences.push(format!("No leader on {what}: an arm has no completed run or no value.")),
            }
            sentences.extend(verdicts::sentences(row, names));
        }
    }
    for (index, arm) in comparison.arms.iter().enumerate() {
        if arm.earlier_runs > 0 {
            sentences.push(format!("{}: {} of earlier batches not in this table.", names[index], count_runs(arm.earlier_runs)));
        }
        if !arm.not_completed.is_empty() {
            let parts: Vec<String> = arm.not_completed.iter().map(|(status, count)| format!("{count} {status}")).collect();
            sentences.push(format!(
                "{}: {}{}.",
                names[index],
                parts.join(", "),
                if arm.can_win { "" } else { "; an arm without a completed run wins nothing" }
            ));
        }
        if arm.possibly_cached > 0 {
            let (repeats, are) = (count_runs(arm.possibly_cached), if arm.possibly_cached == 1 { "repeats" } else { "repeat" });
            let what = "an earlier one in every outcome and figure: possibly cached, which would be no repeat";
            sentences.push(format!("{}: {repeats} {are} {what}.", names[index]));
        }
        if arm.excluded_runs > 0 {
            sentences.push(format!("{}: {} left out (outage or interrupted).", names[index], count_runs(arm.excluded_runs)));
        }
    }
    sentences
}

/// `, but costs 2.9× and takes 5.6× as long`: what the leader spends against the other arm.
fn price(comparison: &Comparison, leader: usize, other: usize) -> String {
    let ratio = |name: &str| {
        let row = comparison.rows.iter().find(|row| row.metric.name == name)?;
        let (own, base) = (row.cells[leader].value?, row.cells[other].value?);
        (base > 0.0 && own > 0.0).then_some(own / base)
    };
    let more = |ratio: f64| ratio >= 1.05;
    let less = |ratio: f64| ratio <= 0.95;
    let (cost, time, tokens) = (ratio("cost_usd"), ratio("duration_seconds"), ratio("total_tokens"));
    let clause = |wanted: &dyn Fn(f64) -> bool| {
        let of =
            |ratio: Option<f64>, words: &str| ratio.filter(|ratio| wanted(*ratio)).map(|ratio| words.replace('#', &format::factor(ratio)));
        [of(cost, "costs #"), of(time, "takes # the time"), of(tokens, "uses # the tokens")].into_iter().flatten().collect::<Vec<_>>()
    };
    let (dearer, cheaper) = (clause(&more), clause(&less));
    match (dearer.is_empty(), cheaper.is_empty()) {
        (true, true) => String::new(),
        (false, true) => format!(", but {}", listed(&dearer)),
        (true, false) => format!(", and {}", listed(&cheaper)),
        (false, false) => format!(", but {}; it {}", listed(&dearer), listed(&cheaper)),
    }
}
