//! Random worlds, and the share of them in which something holds.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{RngCore, SeedableRng};
use rayon::prelude::*;

/// All tables start here, so that they are the same every time.
const SEED: u64 = 20_261_121;

/// One world's chances.
pub struct World(ChaCha8Rng);

impl World {
    /// Between 0 and 1, never either.
    pub fn uniform(&mut self) -> f64 {
        ((self.0.next_u64() >> 11) as f64 + 0.5) / (1_u64 << 53) as f64
    }

    /// A whole number below `end`.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the product lies between 0 and `end`"
    )]
    pub fn below(&mut self, end: usize) -> usize {
        (self.uniform() * end as f64) as usize
    }

    pub fn happens(&mut self, chance: f64) -> bool {
        self.uniform() < chance
    }

    /// How many of `n` pass.
    pub fn passed(&mut self, n: u64, chance: f64) -> u64 {
        (0..n).map(|_| u64::from(self.happens(chance))).sum()
    }

    /// Standard normal (Box and Muller 1958).
    pub fn normal(&mut self) -> f64 {
        (-2.0 * self.uniform().ln()).sqrt() * (std::f64::consts::TAU * self.uniform()).cos()
    }

    /// A chance that varies around `mean`: two things that share it agree with the correlation `correlation`, as the tests of one run do
    /// or the arms on one question.
    pub fn chance(&mut self, mean: f64, correlation: f64) -> f64 {
        if correlation <= 0.0 {
            return mean;
        }
        let size = 1.0 / correlation - 1.0;
        let (one, other) = (self.gamma(mean * size), self.gamma((1.0 - mean) * size));
        // Tiny shapes can give two zeros; the chance is then at one of its ends.
        if one + other > 0.0 {
            one / (one + other)
        } else {
            f64::from(u8::from(self.happens(mean)))
        }
    }

    /// Marsaglia and Tsang 2000.
    fn gamma(&mut self, shape: f64) -> f64 {
        if shape < 1.0 {
            let power = self.uniform().powf(1.0 / shape);
            return self.gamma(shape + 1.0) * power;
        }
        let d = shape - 1.0 / 3.0;
        loop {
            let x = self.normal();
            let v = (1.0 + x / (9.0 * d).sqrt()).powi(3);
            if v > 0.0 && self.uniform().ln() < 0.5 * x * x + d - d * v + d * v.ln() {
                return d * v;
            }
        }
    }
}

/// In how many of the worlds that have an answer it is yes.
#[derive(Clone, Copy, Default)]
pub struct Share {
    yes: u32,
    answers: u32,
    worlds: u32,
}

impl Share {
    /// In percent, and in how many worlds there was an answer at all.
    pub fn percent(&self) -> String {
        if self.answers == 0 {
            return "–".to_owned();
        }
        let share = format!(
            "{:.1}",
            100.0 * f64::from(self.yes) / f64::from(self.answers)
        );
        if self.answers == self.worlds {
            share
        } else {
            format!(
                "{share} (of {:.0} %)",
                100.0 * f64::from(self.answers) / f64::from(self.worlds)
            )
        }
    }

    /// In percent, with the standard error of the simulation.
    pub fn with_error(&self) -> String {
        let (answers, share) = (
            f64::from(self.answers),
            f64::from(self.yes) / f64::from(self.answers),
        );
        // Half a world more, so that none or all of them do not look exact.
        let smoothed = (f64::from(self.yes) + 0.5) / (answers + 1.0);
        format!(
            "{:.1} ± {:.1}",
            100.0 * share,
            100.0 * (smoothed * (1.0 - smoothed) / answers).sqrt()
        )
    }

    /// So many of them.
    pub fn of(yes: u64, all: u64) -> Self {
        let [yes, all] =
            [yes, all].map(|count| u32::try_from(count).expect("fewer than four billion"));
        Self {
            yes,
            answers: all,
            worlds: all,
        }
    }

    fn with(self, answer: Option<bool>) -> Self {
        Self {
            yes: self.yes + u32::from(answer == Some(true)),
            answers: self.answers + u32::from(answer.is_some()),
            worlds: self.worlds + 1,
        }
    }

    fn and(self, other: Self) -> Self {
        Self {
            yes: self.yes + other.yes,
            answers: self.answers + other.answers,
            worlds: self.worlds + other.worlds,
        }
    }
}

/// The world of that number, always the same one.
pub fn nth(number: u64) -> World {
    let mut random = ChaCha8Rng::seed_from_u64(SEED);
    random.set_stream(number);
    World(random)
}

/// Asks the same questions in every world.
pub fn shares<const N: usize>(
    worlds: u32,
    ask: impl Fn(&mut World) -> [Option<bool>; N] + Sync,
) -> [Share; N] {
    shares_from(0, worlds, ask)
}

/// Asks in worlds that begin at another number: those before it may be where a method was chosen.
pub fn shares_from<const N: usize>(
    first: u64,
    worlds: u32,
    ask: impl Fn(&mut World) -> [Option<bool>; N] + Sync,
) -> [Share; N] {
    (0..worlds)
        .into_par_iter()
        .fold(
            || [Share::default(); N],
            |shares, number| {
                let answers = ask(&mut nth(first + u64::from(number)));
                std::array::from_fn(|at| shares[at].with(answers[at]))
            },
        )
        .reduce(
            || [Share::default(); N],
            |one, other| std::array::from_fn(|at| one[at].and(other[at])),
        )
}
