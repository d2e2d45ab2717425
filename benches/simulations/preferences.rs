//! Whether intervals of strengths hold, and how often votes order arms that are equal.

use evalreport::stats::{
    BradleyTerry, FitOptions, PairVote, Strength, Ties, VoteOutcome, bradley_terry,
};

use super::Table;
use super::world::{World, shares};

/// Votes of made-up voters on made-up prompts.
#[derive(Clone, Copy)]
struct Case {
    arms: usize,
    votes: usize,
    voters: usize,
    prompts: usize,
    /// Standard deviation of arms' strengths, of a voter's taste for an arm, and of an arm's luck with a prompt, in log odds.
    spread: f64,
    taste: f64,
    luck: f64,
    ties: f64,
}

const CASES: [(&str, Case); 9] = {
    let case = Case {
        arms: 6,
        votes: 600,
        voters: 60,
        prompts: 60,
        spread: 0.0,
        taste: 0.0,
        luck: 0.0,
        ties: 0.0,
    };
    [
        (
            "independent votes, unequal arms",
            Case {
                spread: 1.0,
                ..case
            },
        ),
        (
            "100 of them",
            Case {
                votes: 100,
                spread: 0.7,
                ..case
            },
        ),
        (
            "30 arms",
            Case {
                arms: 30,
                votes: 6_000,
                spread: 1.0,
                ..case
            },
        ),
        ("equal arms, 30% ties", Case { ties: 0.3, ..case }),
        (
            "voters with tastes",
            Case {
                taste: 1.0,
                ties: 0.2,
                ..case
            },
        ),
        (
            "12 such voters",
            Case {
                voters: 12,
                taste: 1.0,
                ties: 0.2,
                ..case
            },
        ),
        (
            "prompts that suit some arms",
            Case {
                luck: 1.0,
                ties: 0.2,
                ..case
            },
        ),
        (
            "both",
            Case {
                taste: 1.0,
                luck: 1.0,
                ties: 0.2,
                ..case
            },
        ),
        (
            "both, 12 voters and 15 prompts",
            Case {
                voters: 12,
                prompts: 15,
                taste: 1.0,
                luck: 1.0,
                ties: 0.2,
                ..case
            },
        ),
    ]
};

struct Made {
    strengths: Vec<f64>,
    votes: Vec<PairVote>,
    units: [Vec<u32>; 2],
}

fn made(world: &mut World, case: Case) -> Made {
    let of = |world: &mut World, count: usize, spread: f64| {
        (0..count)
            .map(|_| spread * world.normal())
            .collect::<Vec<f64>>()
    };
    let mut strengths = of(world, case.arms, case.spread);
    let mean = strengths.iter().sum::<f64>() / case.arms as f64;
    for strength in &mut strengths {
        *strength -= mean;
    }
    let tastes: Vec<Vec<f64>> = (0..case.voters)
        .map(|_| of(world, case.arms, case.taste))
        .collect();
    let lucks: Vec<Vec<f64>> = (0..case.prompts)
        .map(|_| of(world, case.arms, case.luck))
        .collect();
    let (mut votes, mut units) = (Vec::new(), [Vec::new(), Vec::new()]);
    for _ in 0..case.votes {
        let first = world.below(case.arms);
        let second = (first + 1 + world.below(case.arms - 1)) % case.arms;
        let (person, prompt) = (world.below(case.voters), world.below(case.prompts));
        let of = |arm: usize| strengths[arm] + tastes[person][arm] + lucks[prompt][arm];
        let result = if world.happens(case.ties) {
            VoteOutcome::Tie
        } else if world.happens(1.0 / (1.0 + (of(second) - of(first)).exp())) {
            VoteOutcome::First
        } else {
            VoteOutcome::Second
        };
        votes.push(PairVote {
            first,
            second,
            voted: result,
        });
        for (codes, code) in units.iter_mut().zip([person, prompt]) {
            codes.push(u32::try_from(code).expect("few units"));
        }
    }
    Made {
        strengths,
        votes,
        units,
    }
}

/// Returns whether the interval of the first arm holds, and whether no pair is ordered wrongly.
fn holds(found: &BradleyTerry, strengths: &[f64]) -> [Option<bool>; 2] {
    let interval = match found.strengths[0] {
        Strength::Finite(effect) => effect.interval,
        _ => None,
    };
    let is_right = |(better, worse): (usize, usize)| {
        !found.beats[better][worse] || strengths[better] > strengths[worse]
    };
    let pairs =
        (0..strengths.len()).flat_map(|one| (0..strengths.len()).map(move |other| (one, other)));
    [
        interval.map(|interval| interval.low <= strengths[0] && strengths[0] <= interval.high),
        Some(pairs.into_iter().all(is_right)),
    ]
}

pub fn coverage() -> Table {
    let mut table = Table::new(
        "Intervals of strengths that hold, and boards without a wrongly ordered pair, where 95% should be",
        &[
            "votes",
            "interval: votes as units",
            "voters",
            "voters and prompts",
            "order: votes as units",
            "voters",
            "voters and prompts",
        ],
    );
    for (name, case) in CASES {
        let got = shares(2_000, |world| {
            let made = made(world, case);
            let of = |units: &[Vec<u32>]| {
                let fitting = FitOptions {
                    ties: Ties::HalfWins,
                    covariates: &[],
                    units,
                    confidence: 0.95,
                };
                bradley_terry(case.arms, &made.votes, &fitting)
                    .map_or([None; 2], |found| holds(&found, &made.strengths))
            };
            let [none, one, two] = [of(&[]), of(&made.units[..1]), of(&made.units)];
            [none[0], one[0], two[0], none[1], one[1], two[1]]
        });
        table.row(&[name.to_owned()], &got);
    }
    table
}
