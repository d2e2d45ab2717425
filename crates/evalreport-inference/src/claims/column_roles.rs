//! What the title of a column says about its figures.

use crate::domain::split_title;

/// What a column's figures are, by its title.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ColumnRole {
    /// A share, or any figure that might be.
    Rate,
    /// A number of items that passed, or of those that did not.
    Passed,
    Failed,
    /// A number of items.
    Total,
    /// A number of runs behind the figures.
    Runs,
    /// The figure of one of several runs.
    OneRun,
    StandardError,
    /// A standard deviation.
    Deviation,
    /// Half of an interval.
    HalfWidth,
    Low,
    High,
    Rank,
    /// Names the row.
    Name,
    /// Names the row alone, such as the id of a run.
    Id,
    /// Divides the rows: by suite, language, split.
    Group,
    /// Says nothing about results: costs, times, notes, addresses.
    Aside,
    Unknown,
}

#[derive(Clone, Debug)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a fact of its own about the words"
)]
pub(super) struct ColumnTitle {
    pub role: ColumnRole,
    /// The words that are not about the kind of figure.
    pub stem: Vec<String>,
    pub words: Vec<String>,
    pub is_average: bool,
    /// The title says that it is a share.
    pub names_rate: bool,
    /// The title names a figure that is no share of items: a correlation, a loss, F1.
    pub is_no_share: bool,
    /// Level of an interval: `95% CI`.
    pub level: Option<f64>,
    /// Number of runs that the title says the figure is the mean of.
    pub runs: Option<u64>,
    /// Number of items or tasks that the title says: `% resolved (500 instances)`, `Average (56 datasets)`.
    pub items: Option<u64>,
    /// A smaller figure is better.
    pub is_lower_better: bool,
}

#[rustfmt::skip]
mod lists {
    pub const ASIDE_WORDS: [&str; 58] = [
        "cost", "costs", "usd", "price", "dollar", "dollars", "token", "tokens", "second", "seconds", "sec", "secs", "time", "latency", "duration", "minutes", "hours", "ms",
        "date", "url", "urls", "link", "links", "version", "versions", "year", "size", "params", "parameters", "released", "release", "license", "licence", "commit", "hash", "command",
        "notes", "note", "comment", "comments", "source", "paper", "website", "site", "elo", "speed", "context", "logs", "log", "email", "description", "created", "submitted", "timestamp",
        "co2", "temperature", "likes", "downloads",
    ];
    pub const RATE_WORDS: [&str; 30] = [
        "rate", "accuracy", "acc", "percent", "percentage", "pct", "score", "share", "em", "solved", "resolved", "passed", "correct", "success", "precision", "recall", "quote", "ratio",
        "result", "results", "pass", "win", "winrate", "resolve", "solve", "performance", "genauigkeit", "taux", "tasa", "exactitud",
    ];
    pub const PASSED_WORDS: [&str; 18] = [
        "passed", "correct", "solved", "resolved", "pass", "passes", "success", "successes", "succeeded", "successful", "wins", "hits", "right", "completed", "bestanden", "richtig",
        "gelost", "answered",
    ];
    pub const FAILED_WORDS: [&str; 16] = [
        "failed", "fail", "fails", "failures", "wrong", "incorrect", "unsolved", "unresolved", "malformed", "invalid", "errors", "error", "losses", "falsch", "missed", "misses",
    ];
    pub const TOTAL_WORDS: [&str; 24] = [
        "total", "n", "tasks", "items", "questions", "samples", "instances", "cases", "problems", "prompts", "examples", "size", "tests", "exercises", "queries", "denominator", "issues",
        "puzzles", "rows", "anzahl", "aufgaben", "fragen", "gesamt", "documents",
    ];
    pub const PART_WORDS: [&str; 8] = ["datasets", "benchmarks", "suites", "subsets", "types", "categories", "columns", "languages"];
    pub const COUNT_WORDS: [&str; 7] = ["num", "count", "n", "number", "nr", "no", "total"];
    pub const RUN_COUNT_WORDS: [&str; 13] = ["runs", "trials", "seeds", "repeats", "repetitions", "epochs", "replicates", "replications", "reps", "rollouts", "laufe", "wiederholungen", "attempts"];
    pub const ONE_RUN_WORDS: [&str; 9] = ["run", "trial", "seed", "repeat", "repetition", "epoch", "rep", "lauf", "attempt"];
    pub const AVERAGE_WORDS: [&str; 13] = ["average", "avg", "mean", "overall", "global", "macro", "aggregate", "mittelwert", "durchschnitt", "moyenne", "promedio", "media", "ø"];
    pub const LOW_END_WORDS: [&str; 8] = ["low", "lower", "lo", "lb", "lcl", "lcb", "left", "from"];
    pub const HIGH_END_WORDS: [&str; 8] = ["high", "upper", "hi", "ub", "ucl", "ucb", "right", "to"];
    pub const INTERVAL_WORDS: [&str; 10] = ["ci", "interval", "bound", "conf", "confidence", "limit", "95", "90", "99", "ci95"];
    pub const NAME_WORDS: [&str; 32] = [
        "model", "models", "system", "agent", "name", "method", "approach", "team", "submission", "modell", "llm", "harness", "scaffold", "run", "arm", "entry", "org", "organization",
        "format", "edit", "setting", "config", "configuration", "variant", "prompt", "item", "attempt", "trial", "seed", "repeat", "epoch", "shots",
    ];
    pub const ID_WORDS: [&str; 9] = ["id", "dirname", "uuid", "uid", "key", "guid", "hash", "slug", "sha"];
    pub const GROUP_WORDS: [&str; 22] = [
        "suite", "benchmark", "dataset", "task", "subset", "split", "subject", "category", "language", "eval", "evaluation", "domain", "track", "leaderboard", "board", "metric", "scenario",
        "difficulty", "level", "test", "testset", "lang",
    ];
    pub const NO_SHARE_WORDS: [&str; 26] = [
        "corr", "correlation", "spearman", "pearson", "kendall", "kappa", "f1", "bleu", "rouge", "chrf", "meteor", "bertscore", "auc", "auroc", "mcc", "bias", "variance", "loss",
        "perplexity", "ppl", "wer", "cer", "ndcg", "mrr", "brier", "rmse",
    ];
    pub const LOWER_IS_BETTER_WORDS: [&str; 14] = ["error", "errors", "loss", "perplexity", "ppl", "wer", "cer", "latency", "cost", "time", "failed", "failures", "rank", "hallucination"];
}
use lists::{
    ASIDE_WORDS, AVERAGE_WORDS, COUNT_WORDS, FAILED_WORDS, GROUP_WORDS, HIGH_END_WORDS, ID_WORDS,
    INTERVAL_WORDS, LOW_END_WORDS, LOWER_IS_BETTER_WORDS, NAME_WORDS, NO_SHARE_WORDS,
    ONE_RUN_WORDS, PART_WORDS, PASSED_WORDS, RATE_WORDS, RUN_COUNT_WORDS, TOTAL_WORDS,
};

/// Reads a title.
pub(super) fn parse_title(name: &str) -> ColumnTitle {
    let mut words = split_title(name);
    let marks = [
        ('%', "percent"),
        ('±', "±"),
        ('#', "#"),
        ('σ', "sd"),
        ('Ø', "ø"),
        ('∅', "ø"),
    ];
    words.extend(
        marks
            .iter()
            .filter(|(mark, _)| name.contains(*mark))
            .map(|(_, word)| (*word).to_owned()),
    );
    let has = |list: &[&str]| words.iter().any(|word| list.contains(&word.as_str()));
    let is_only =
        |list: &[&str]| !words.is_empty() && words.iter().all(|word| list.contains(&word.as_str()));
    let numbers: Vec<f64> = words
        .iter()
        .filter_map(|word| word.trim_start_matches("ci").parse().ok())
        .collect();
    let has_interval = has(&INTERVAL_WORDS) || words.iter().any(|word| word.starts_with("ci"));
    // A value around the rows of a list names all of them.
    let role = if name.starts_with("$.") && !name.ends_with('}') {
        ColumnRole::Group
    } else {
        role_of_words(&words, has_interval, &has, &is_only)
    };
    let items = reported_items(&words);
    // A column of totals does not state one, and a mean over tasks does not divide the rows.
    let is_figure = (role == ColumnRole::Total && items.is_some())
        || (role == ColumnRole::Group && has(&AVERAGE_WORDS) && !name.starts_with("$."));
    let role = if is_figure { ColumnRole::Unknown } else { role };
    let level = (has_interval
        || matches!(
            role,
            ColumnRole::Low | ColumnRole::High | ColumnRole::HalfWidth
        ))
    .then(|| {
        numbers
            .iter()
            .copied()
            .find(|number| [80.0, 90.0, 95.0, 99.0].contains(number))
    })
    .flatten()
    .map(|number| number / 100.0);
    let before = |place: usize| words.get(place.checked_sub(1)?)?.parse().ok();
    let runs = words
        .iter()
        .position(|word| RUN_COUNT_WORDS.contains(&word.as_str()))
        .and_then(before)
        .or_else(|| runs_in_mean(name, &words));
    let about = |word: &&String| {
        let word = word.as_str();
        let lists: [&[&str]; 9] = [
            &RATE_WORDS,
            &PASSED_WORDS,
            &FAILED_WORDS,
            &TOTAL_WORDS,
            &COUNT_WORDS,
            &AVERAGE_WORDS,
            &INTERVAL_WORDS,
            &LOW_END_WORDS,
            &HIGH_END_WORDS,
        ];
        !lists.iter().any(|list| list.contains(&word))
            && !matches!(
                word,
                "stderr"
                    | "se"
                    | "sem"
                    | "std"
                    | "sd"
                    | "stdev"
                    | "standard"
                    | "error"
                    | "ci"
                    | "of"
                    | "the"
                    | "with"
                    | "cases"
                    | "±"
                    | "%"
            )
    };
    let stem = words.iter().filter(about).cloned().collect();
    ColumnTitle {
        role,
        stem,
        is_average: has(&AVERAGE_WORDS),
        names_rate: has(&RATE_WORDS),
        is_no_share: has(&NO_SHARE_WORDS),
        level,
        runs,
        items,
        is_lower_better: has(&LOWER_IS_BETTER_WORDS),
        words,
    }
}

/// Returns the number of runs of `mean of 3` or `avg@5`.
fn runs_in_mean(name: &str, words: &[String]) -> Option<u64> {
    let place = words
        .iter()
        .position(|word| AVERAGE_WORDS.contains(&word.as_str()))?;
    let next = words.get(place + 1)?;
    let number = if next == "of" {
        words.get(place + 2)?
    } else {
        Some(next).filter(|_| name.contains('@'))?
    };
    // "Mean of 8 tasks" is no mean of runs.
    let is_of_others = words
        .iter()
        .any(|word| TOTAL_WORDS.contains(&word.as_str()) || PART_WORDS.contains(&word.as_str()));
    number
        .parse()
        .ok()
        .filter(|runs| (2..=100).contains(runs) && !is_of_others)
}

/// Returns the number of items or tasks behind a figure: `500 instances`, `12 datasets`, `n = 198`.
fn reported_items(words: &[String]) -> Option<u64> {
    let number = |place: usize| {
        words
            .get(place)?
            .parse::<u64>()
            .ok()
            .filter(|number| *number > 0)
    };
    let is_unit = |word: &String| {
        word != "n" && (TOTAL_WORDS.contains(&word.as_str()) || PART_WORDS.contains(&word.as_str()))
    };
    let named = (1..words.len())
        .find(|place| is_unit(&words[*place]))
        .and_then(|place| number(place - 1));
    named.or_else(|| {
        words
            .iter()
            .position(|word| word == "n")
            .and_then(|place| number(place + 1))
    })
}

fn role_of_words(
    words: &[String],
    has_interval: bool,
    has: &dyn Fn(&[&str]) -> bool,
    is_only: &dyn Fn(&[&str]) -> bool,
) -> ColumnRole {
    let is_share = has(&[
        "rate",
        "percent",
        "percentage",
        "pct",
        "accuracy",
        "acc",
        "share",
        "ratio",
    ]);
    if words
        .iter()
        .any(|word| word == "stderr" || word == "sem" || word == "se")
        || (has(&["standard", "std"]) && has(&["error", "err"]))
    {
        return ColumnRole::StandardError;
    }
    if has(&["std", "sd", "stdev", "stddev", "deviation"]) {
        return ColumnRole::Deviation;
    }
    let (low, high) = (has(&LOW_END_WORDS), has(&HIGH_END_WORDS));
    if low != high
        && (has_interval || is_only(&LOW_END_WORDS) || is_only(&HIGH_END_WORDS))
        && words.iter().all(|word| word != "effort")
    {
        return if low {
            ColumnRole::Low
        } else {
            ColumnRole::High
        };
    }
    if has(&[
        "ci",
        "moe",
        "margin",
        "±",
        "halfwidth",
        "interval",
        "ci95",
        "ci90",
    ]) {
        return ColumnRole::HalfWidth;
    }
    if is_only(&["#"])
        || (has(&["rank", "place", "position", "ranking", "rang", "platz"])
            && (words.len() <= 2 || (words[0] == "rank" && words.len() <= 4)))
    {
        return ColumnRole::Rank;
    }
    if has(&RUN_COUNT_WORDS) && !is_share {
        return ColumnRole::Runs;
    }
    let is_numbered = words.last().is_some_and(|word| word.parse::<u64>().is_ok());
    if has(&ONE_RUN_WORDS) && is_numbered && words.len() == 2 {
        return ColumnRole::OneRun;
    }
    if words.iter().any(|word| {
        word.strip_prefix("run")
            .or_else(|| word.strip_prefix("seed"))
            .is_some_and(|rest| rest.parse::<u64>().is_ok())
    }) {
        return ColumnRole::OneRun;
    }
    if has(&["model", "system", "agent"]) && has(&["name", "version", "full"]) {
        return ColumnRole::Name;
    }
    if has(&ASIDE_WORDS) && !is_share {
        return ColumnRole::Aside;
    }
    if has(&ID_WORDS) {
        return ColumnRole::Id;
    }
    if !is_share
        && has(&FAILED_WORDS)
        && (has(&COUNT_WORDS) || words.len() <= 2 || has(&["responses", "outputs"]))
    {
        return ColumnRole::Failed;
    }
    if !is_share
        && has(&PASSED_WORDS)
        && (has(&COUNT_WORDS) || is_only(&PASSED_WORDS) || has(&TOTAL_WORDS))
    {
        return ColumnRole::Passed;
    }
    if !is_share
        && (is_only(&TOTAL_WORDS)
            || (has(&TOTAL_WORDS) && (has(&COUNT_WORDS) || has(&["test"])))
            || (has(&["#"]) && has(&TOTAL_WORDS))
            || is_only(&["count"])
            || is_only(&["sample", "size"]))
    {
        return ColumnRole::Total;
    }
    if is_share || has(&RATE_WORDS) {
        return ColumnRole::Rate;
    }
    if has(&GROUP_WORDS) {
        return ColumnRole::Group;
    }
    if has(&NAME_WORDS) {
        ColumnRole::Name
    } else {
        ColumnRole::Unknown
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn titles_say_what_figures_are() {
        for (name, role) in [
            ("pass_rate_2", ColumnRole::Rate),
            ("pass_num_2", ColumnRole::Passed),
            ("num_with_malformed_responses", ColumnRole::Failed),
            ("test_cases", ColumnRole::Total),
            ("n", ColumnRole::Total),
            ("num_examples", ColumnRole::Total),
            ("# tasks", ColumnRole::Total),
            ("% resolved", ColumnRole::Rate),
            ("resolved", ColumnRole::Passed),
            ("acc_stderr", ColumnRole::StandardError),
            ("Standard error", ColumnRole::StandardError),
            ("std", ColumnRole::Deviation),
            ("95% CI low", ColumnRole::Low),
            ("ci_upper", ColumnRole::High),
            ("CI_high", ColumnRole::High),
            ("upper", ColumnRole::High),
            ("± 95% CI", ColumnRole::HalfWidth),
            ("runs", ColumnRole::Runs),
            ("run_2", ColumnRole::OneRun),
            ("seconds_per_case", ColumnRole::Aside),
            ("total_cost", ColumnRole::Aside),
            ("dirname", ColumnRole::Id),
            ("model", ColumnRole::Name),
            ("benchmark", ColumnRole::Group),
            ("Rank", ColumnRole::Rank),
            ("MMLU", ColumnRole::Unknown),
            ("$.leaderboards[].name", ColumnRole::Group),
            ("Rank (Borda)", ColumnRole::Rank),
            ("Rank (Mean Task)", ColumnRole::Rank),
            ("GPQA (n=198)", ColumnRole::Unknown),
            ("Mean (TaskType)", ColumnRole::Unknown),
        ] {
            assert_eq!(parse_title(name).role, role, "{name}");
        }
        assert_eq!(parse_title("95% CI low").level, Some(0.95));
        assert_eq!(parse_title("Accuracy (mean of 3 runs)").runs, Some(3));
        for (name, runs, items) in [
            ("Accuracy (mean of 3)", Some(3), None),
            ("avg@5", Some(5), None),
            ("Mean of 8 tasks", None, Some(8)),
            ("Average (56 datasets)", None, Some(56)),
            ("% Resolved (500 instances)", None, Some(500)),
            ("GPQA (n=198)", None, Some(198)),
            ("Average 2024", None, None),
            ("n", None, None),
        ] {
            assert_eq!(
                (parse_title(name).runs, parse_title(name).items),
                (runs, items),
                "{name}"
            );
        }
        assert_eq!(
            parse_title("pass_rate_2").stem,
            parse_title("pass_num_2").stem
        );
    }
}
