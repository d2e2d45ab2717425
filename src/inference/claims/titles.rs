//! What the title of a column says about its figures.

use crate::domain::words_of;

/// What a column's figures are, by its title.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
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
pub(super) struct Title {
    pub role: Role,
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
    pub const ASIDE: [&str; 58] = [
        "cost", "costs", "usd", "price", "dollar", "dollars", "token", "tokens", "second", "seconds", "sec", "secs", "time", "latency", "duration", "minutes", "hours", "ms",
        "date", "url", "urls", "link", "links", "version", "versions", "year", "size", "params", "parameters", "released", "release", "license", "licence", "commit", "hash", "command",
        "notes", "note", "comment", "comments", "source", "paper", "website", "site", "elo", "speed", "context", "logs", "log", "email", "description", "created", "submitted", "timestamp",
        "co2", "temperature", "likes", "downloads",
    ];
    pub const RATE: [&str; 30] = [
        "rate", "accuracy", "acc", "percent", "percentage", "pct", "score", "share", "em", "solved", "resolved", "passed", "correct", "success", "precision", "recall", "quote", "ratio",
        "result", "results", "pass", "win", "winrate", "resolve", "solve", "performance", "genauigkeit", "taux", "tasa", "exactitud",
    ];
    pub const PASSED: [&str; 18] = [
        "passed", "correct", "solved", "resolved", "pass", "passes", "success", "successes", "succeeded", "successful", "wins", "hits", "right", "completed", "bestanden", "richtig",
        "gelost", "answered",
    ];
    pub const FAILED: [&str; 16] = [
        "failed", "fail", "fails", "failures", "wrong", "incorrect", "unsolved", "unresolved", "malformed", "invalid", "errors", "error", "losses", "falsch", "missed", "misses",
    ];
    pub const TOTAL: [&str; 24] = [
        "total", "n", "tasks", "items", "questions", "samples", "instances", "cases", "problems", "prompts", "examples", "size", "tests", "exercises", "queries", "denominator", "issues",
        "puzzles", "rows", "anzahl", "aufgaben", "fragen", "gesamt", "documents",
    ];
    pub const PARTS: [&str; 8] = ["datasets", "benchmarks", "suites", "subsets", "types", "categories", "columns", "languages"];
    pub const COUNT: [&str; 7] = ["num", "count", "n", "number", "nr", "no", "total"];
    pub const RUNS: [&str; 13] = ["runs", "trials", "seeds", "repeats", "repetitions", "epochs", "replicates", "replications", "reps", "rollouts", "laufe", "wiederholungen", "attempts"];
    pub const ONE_RUN: [&str; 9] = ["run", "trial", "seed", "repeat", "repetition", "epoch", "rep", "lauf", "attempt"];
    pub const AVERAGE: [&str; 13] = ["average", "avg", "mean", "overall", "global", "macro", "aggregate", "mittelwert", "durchschnitt", "moyenne", "promedio", "media", "ø"];
    pub const LOW: [&str; 8] = ["low", "lower", "lo", "lb", "lcl", "lcb", "left", "from"];
    pub const HIGH: [&str; 8] = ["high", "upper", "hi", "ub", "ucl", "ucb", "right", "to"];
    pub const INTERVAL: [&str; 10] = ["ci", "interval", "bound", "conf", "confidence", "limit", "95", "90", "99", "ci95"];
    pub const NAME: [&str; 32] = [
        "model", "models", "system", "agent", "name", "method", "approach", "team", "submission", "modell", "llm", "harness", "scaffold", "run", "arm", "entry", "org", "organization",
        "format", "edit", "setting", "config", "configuration", "variant", "prompt", "item", "attempt", "trial", "seed", "repeat", "epoch", "shots",
    ];
    pub const ID: [&str; 9] = ["id", "dirname", "uuid", "uid", "key", "guid", "hash", "slug", "sha"];
    pub const GROUP: [&str; 22] = [
        "suite", "benchmark", "dataset", "task", "subset", "split", "subject", "category", "language", "eval", "evaluation", "domain", "track", "leaderboard", "board", "metric", "scenario",
        "difficulty", "level", "test", "testset", "lang",
    ];
    pub const NO_SHARE: [&str; 26] = [
        "corr", "correlation", "spearman", "pearson", "kendall", "kappa", "f1", "bleu", "rouge", "chrf", "meteor", "bertscore", "auc", "auroc", "mcc", "bias", "variance", "loss",
        "perplexity", "ppl", "wer", "cer", "ndcg", "mrr", "brier", "rmse",
    ];
    pub const LOWER: [&str; 14] = ["error", "errors", "loss", "perplexity", "ppl", "wer", "cer", "latency", "cost", "time", "failed", "failures", "rank", "hallucination"];
}
use lists::{
    ASIDE, AVERAGE, COUNT, FAILED, GROUP, HIGH, ID, INTERVAL, LOW, LOWER, NAME, NO_SHARE, ONE_RUN,
    PARTS, PASSED, RATE, RUNS, TOTAL,
};

/// Reads a title.
pub(super) fn title(name: &str) -> Title {
    let mut words = words_of(name);
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
    let has_interval = has(&INTERVAL) || words.iter().any(|word| word.starts_with("ci"));
    // A value around the rows of a list names all of them.
    let role = if name.starts_with("$.") && !name.ends_with('}') {
        Role::Group
    } else {
        role_of(&words, has_interval, &has, &is_only)
    };
    let items = stated_items(&words);
    // A column of totals does not state one, and a mean over tasks does not divide the rows.
    let is_figure = (role == Role::Total && items.is_some())
        || (role == Role::Group && has(&AVERAGE) && !name.starts_with("$."));
    let role = if is_figure { Role::Unknown } else { role };
    let level = (has_interval || matches!(role, Role::Low | Role::High | Role::HalfWidth))
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
        .position(|word| RUNS.contains(&word.as_str()))
        .and_then(before)
        .or_else(|| mean_of(name, &words));
    let about = |word: &&String| {
        let word = word.as_str();
        let lists: [&[&str]; 9] = [
            &RATE, &PASSED, &FAILED, &TOTAL, &COUNT, &AVERAGE, &INTERVAL, &LOW, &HIGH,
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
    Title {
        role,
        stem,
        is_average: has(&AVERAGE),
        names_rate: has(&RATE),
        is_no_share: has(&NO_SHARE),
        level,
        runs,
        items,
        is_lower_better: has(&LOWER),
        words,
    }
}

/// Returns the number of runs of `mean of 3` or `avg@5`.
fn mean_of(name: &str, words: &[String]) -> Option<u64> {
    let place = words
        .iter()
        .position(|word| AVERAGE.contains(&word.as_str()))?;
    let next = words.get(place + 1)?;
    let number = if next == "of" {
        words.get(place + 2)?
    } else {
        Some(next).filter(|_| name.contains('@'))?
    };
    // "Mean of 8 tasks" is no mean of runs.
    let is_of_others = words
        .iter()
        .any(|word| TOTAL.contains(&word.as_str()) || PARTS.contains(&word.as_str()));
    number
        .parse()
        .ok()
        .filter(|runs| (2..=100).contains(runs) && !is_of_others)
}

/// Returns the number of items or tasks behind a figure: `500 instances`, `12 datasets`, `n = 198`.
fn stated_items(words: &[String]) -> Option<u64> {
    let number = |place: usize| {
        words
            .get(place)?
            .parse::<u64>()
            .ok()
            .filter(|number| *number > 0)
    };
    let is_unit = |word: &String| {
        word != "n" && (TOTAL.contains(&word.as_str()) || PARTS.contains(&word.as_str()))
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

fn role_of(
    words: &[String],
    has_interval: bool,
    has: &dyn Fn(&[&str]) -> bool,
    is_only: &dyn Fn(&[&str]) -> bool,
) -> Role {
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
        return Role::StandardError;
    }
    if has(&["std", "sd", "stdev", "stddev", "deviation"]) {
        return Role::Deviation;
    }
    let (low, high) = (has(&LOW), has(&HIGH));
    if low != high
        && (has_interval || is_only(&LOW) || is_only(&HIGH))
        && words.iter().all(|word| word != "effort")
    {
        return if low { Role::Low } else { Role::High };
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
        return Role::HalfWidth;
    }
    if is_only(&["#"])
        || (has(&["rank", "place", "position", "ranking", "rang", "platz"])
            && (words.len() <= 2 || (words[0] == "rank" && words.len() <= 4)))
    {
        return Role::Rank;
    }
    if has(&RUNS) && !is_share {
        return Role::Runs;
    }
    let is_numbered = words.last().is_some_and(|word| word.parse::<u64>().is_ok());
    if has(&ONE_RUN) && is_numbered && words.len() == 2 {
        return Role::OneRun;
    }
    if words.iter().any(|word| {
        word.strip_prefix("run")
            .or_else(|| word.strip_prefix("seed"))
            .is_some_and(|rest| rest.parse::<u64>().is_ok())
    }) {
        return Role::OneRun;
    }
    if has(&["model", "system", "agent"]) && has(&["name", "version", "full"]) {
        return Role::Name;
    }
    if has(&ASIDE) && !is_share {
        return Role::Aside;
    }
    if has(&ID) {
        return Role::Id;
    }
    if !is_share
        && has(&FAILED)
        && (has(&COUNT) || words.len() <= 2 || has(&["responses", "outputs"]))
    {
        return Role::Failed;
    }
    if !is_share && has(&PASSED) && (has(&COUNT) || is_only(&PASSED) || has(&TOTAL)) {
        return Role::Passed;
    }
    if !is_share
        && (is_only(&TOTAL)
            || (has(&TOTAL) && (has(&COUNT) || has(&["test"])))
            || (has(&["#"]) && has(&TOTAL))
            || is_only(&["count"])
            || is_only(&["sample", "size"]))
    {
        return Role::Total;
    }
    if is_share || has(&RATE) {
        return Role::Rate;
    }
    if has(&GROUP) {
        return Role::Group;
    }
    if has(&NAME) {
        Role::Name
    } else {
        Role::Unknown
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn titles_say_what_figures_are() {
        for (name, role) in [
            ("pass_rate_2", Role::Rate),
            ("pass_num_2", Role::Passed),
            ("num_with_malformed_responses", Role::Failed),
            ("test_cases", Role::Total),
            ("n", Role::Total),
            ("num_examples", Role::Total),
            ("# tasks", Role::Total),
            ("% resolved", Role::Rate),
            ("resolved", Role::Passed),
            ("acc_stderr", Role::StandardError),
            ("Standard error", Role::StandardError),
            ("std", Role::Deviation),
            ("95% CI low", Role::Low),
            ("ci_upper", Role::High),
            ("CI_high", Role::High),
            ("upper", Role::High),
            ("± 95% CI", Role::HalfWidth),
            ("runs", Role::Runs),
            ("run_2", Role::OneRun),
            ("seconds_per_case", Role::Aside),
            ("total_cost", Role::Aside),
            ("dirname", Role::Id),
            ("model", Role::Name),
            ("benchmark", Role::Group),
            ("Rank", Role::Rank),
            ("MMLU", Role::Unknown),
            ("$.leaderboards[].name", Role::Group),
            ("Rank (Borda)", Role::Rank),
            ("Rank (Mean Task)", Role::Rank),
            ("GPQA (n=198)", Role::Unknown),
            ("Mean (TaskType)", Role::Unknown),
        ] {
            assert_eq!(title(name).role, role, "{name}");
        }
        assert_eq!(title("95% CI low").level, Some(0.95));
        assert_eq!(title("Accuracy (mean of 3 runs)").runs, Some(3));
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
                (title(name).runs, title(name).items),
                (runs, items),
                "{name}"
            );
        }
        assert_eq!(title("pass_rate_2").stem, title("pass_num_2").stem);
    }
}
