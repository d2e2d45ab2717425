//! Models that are fitted: strengths from votes, and success over the length of tasks.

use evalreport::stats::{
    self, Effect, FitOptions, PairVote, Strength, Ties, TimedAttempt, VoteOutcome,
};
use serde_json::{Value, json};

use super::input::Input;

/// Returns the library's answer under the names of the vectors. `None` for a method that belongs elsewhere or does not exist.
pub fn compute(method: &str, input: &Input) -> Option<Value> {
    match method {
        "bradley_terry" => Some(of_wins(&input.rows("wins"))),
        "preferences" => Some(of_votes(input)),
        "horizon" => Some(horizon(input)),
        _ => None,
    }
}

fn of_wins(wins: &[Vec<f64>]) -> Value {
    let mut votes = Vec::new();
    for (first, row) in wins.iter().enumerate() {
        for (second, won) in row.iter().enumerate() {
            // A tie is half a win for each of the two.
            let mut left = *won;
            while left >= 1.0 {
                votes.push(PairVote {
                    first,
                    second,
                    voted: VoteOutcome::First,
                });
                left -= 1.0;
            }
            if first < second && won.fract() > 0.0 {
                votes.push(PairVote {
                    first,
                    second,
                    voted: VoteOutcome::Tie,
                });
            }
        }
    }
    let fitting = FitOptions {
        ties: Ties::HalfWins,
        covariates: &[],
        units: &[],
        confidence: 0.95,
    };
    let found = stats::bradley_terry(wins.len(), &votes, &fitting).ok();
    let finite = found.and_then(|found| {
        found
            .strengths
            .iter()
            .map(effect)
            .collect::<Option<Vec<Effect>>>()
    });
    let values: Option<Vec<f64>> = finite
        .as_ref()
        .map(|all| all.iter().map(|effect| effect.value).collect());
    json!({
        "log_strength": values,
        "se": finite.map(|all| all.iter().map(|effect| effect.model_error).collect::<Vec<f64>>()),
        "win_prob_0_1": values.as_ref().map(|values| 1.0 / (1.0 + (values[1] - values[0]).exp())),
        "elo_points": values.map(|values| values.iter().map(|value| value * 400.0 / std::f64::consts::LN_10).collect::<Vec<f64>>()),
    })
}

fn effect(strength: &Strength) -> Option<Effect> {
    if let Strength::Finite(effect) = strength {
        Some(*effect)
    } else {
        None
    }
}

fn of_votes(input: &Input) -> Value {
    let whole = |key: &str| {
        input
            .values(key)
            .into_iter()
            .map(|value| value.to_string().parse::<usize>().expect("a place"))
            .collect::<Vec<_>>()
    };
    let results = input.0["voted"]
        .as_str()
        .expect("a letter for each vote")
        .chars()
        .map(|letter| match letter {
            'f' => VoteOutcome::First,
            's' => VoteOutcome::Second,
            _ => VoteOutcome::Tie,
        });
    let votes: Vec<PairVote> = whole("first")
        .into_iter()
        .zip(whole("second"))
        .zip(results)
        .map(|((first, second), voted)| PairVote {
            first,
            second,
            voted,
        })
        .collect();
    let style = input.rows("style");
    let covariates: Vec<Vec<f64>> = (0..style[0].len())
        .map(|at| style.iter().map(|row| row[at]).collect())
        .collect();
    let units: Vec<Vec<u32>> = input
        .list("units")
        .iter()
        .map(|kind| input.codes(kind.as_str().expect("a name")))
        .collect();
    let ties = if input.0["ties"] == "davidson" {
        Ties::Davidson
    } else {
        Ties::HalfWins
    };
    let fitting = FitOptions {
        ties,
        covariates: &covariates,
        units: &units,
        confidence: 0.95,
    };
    let arms = usize::try_from(input.count("arms")).expect("few arms");
    let found = stats::bradley_terry(arms, &votes, &fitting).expect("strengths");
    let mut all: Vec<Effect> = found
        .strengths
        .iter()
        .map(|strength| effect(strength).expect("finite"))
        .collect();
    all.extend(found.covariates.iter().copied().chain(found.ties));
    let of = |value: &dyn Fn(&Effect) -> f64| all.iter().map(value).collect::<Vec<f64>>();
    json!({
        "values": of(&|effect| effect.value),
        "errors": of(&|effect| effect.standard_error.expect("an error")),
        "model_errors": of(&|effect| effect.model_error),
        "low": of(&|effect| effect.interval.expect("an interval").low),
        "high": of(&|effect| effect.interval.expect("an interval").high),
    })
}

fn horizon(input: &Input) -> Value {
    let (tasks, families, minutes, scores) = (
        input.codes("task"),
        input.codes("family"),
        input.values("minutes"),
        input.values("score"),
    );
    let attempts: Vec<TimedAttempt> = (0..tasks.len())
        .map(|at| TimedAttempt {
            task: tasks[at],
            family: families[at],
            minutes: minutes[at],
            score: scores[at],
        })
        .collect();
    let weights = if input.flag("weighted") {
        stats::task_weights(&attempts)
    } else {
        vec![1.0; attempts.len()]
    };
    let found = stats::success_curve(&attempts, &weights, input.number("penalty")).ok();
    json!({
        "intercept": found.map(|curve| curve.intercept),
        "slope": found.map(|curve| curve.slope),
        "p50": found.and_then(|curve| curve.horizon_minutes(0.5)),
        "p80": found.and_then(|curve| curve.horizon_minutes(0.8)),
    })
}
