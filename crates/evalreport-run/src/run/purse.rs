//! The money that a batch may spend.

use std::sync::{Mutex, PoisonError};

/// What agents have cost so far, and the most that they may cost.
///
/// An attempt starts only if the purse holds the highest cost of an attempt so far, for it and for each that is under way. So a batch exceeds
/// the purse only if an attempt costs more than all before it.
#[derive(Debug)]
pub struct BatchBudget {
    most: f64,
    spent: Mutex<SpendingState>,
}

#[derive(Debug, Default)]
struct SpendingState {
    usd: f64,
    highest: f64,
    /// Number of attempts with an end.
    ended: u64,
    /// Number of attempts under way.
    open: u32,
    is_empty: bool,
    /// Whether an attempt told no cost.
    is_partial: bool,
}

/// Whether another attempt may start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Admission {
    Yes,
    /// Only if attempts under way cost less than they may.
    Wait,
    No,
}

impl BatchBudget {
    /// `earlier` are the costs of the attempts that a resumed batch has made.
    pub fn new(most: f64, earlier: impl IntoIterator<Item = f64>) -> Self {
        let mut spent = SpendingState::default();
        for usd in earlier {
            spent.usd += usd;
            spent.highest = spent.highest.max(usd);
            spent.ended += 1;
        }
        Self {
            most,
            spent: Mutex::new(spent),
        }
    }

    /// Admits an attempt, which the caller must [`settle_attempt`](Self::settle_attempt).
    pub fn admit_attempt(&self) -> Admission {
        self.update_state(|spent| {
            // Sums of cents in binary differ from the purse's in the last digits.
            let holds =
                |attempts: u32| spent.usd + spent.highest * f64::from(attempts) <= self.most + 1e-9;
            let is_known = spent.ended > 0;
            let answer = match spent.open {
                0 if holds(1) && spent.usd < self.most => Admission::Yes,
                0 => Admission::No,
                // The first attempt tells what one costs.
                open if is_known && holds(open + 1) && spent.usd < self.most => Admission::Yes,
                _ => Admission::Wait,
            };
            spent.open += u32::from(answer == Admission::Yes);
            spent.is_empty |= answer == Admission::No;
            answer
        })
    }

    /// Ends an attempt. Returns whether it is the first without a cost.
    pub fn settle_attempt(&self, usd: Option<f64>) -> bool {
        self.update_state(|spent| {
            spent.open = spent.open.saturating_sub(1);
            spent.ended += 1;
            if let Some(usd) = usd {
                spent.usd += usd;
                spent.highest = spent.highest.max(usd);
            }
            usd.is_none() && !std::mem::replace(&mut spent.is_partial, true)
        })
    }

    /// Ends an attempt that was not made.
    pub fn release_attempt(&self) {
        self.update_state(|spent| spent.open = spent.open.saturating_sub(1));
    }

    /// Returns whether an attempt was refused.
    pub fn is_empty(&self) -> bool {
        self.update_state(|spent| spent.is_empty)
    }

    /// Returns what was spent, and the highest cost of an attempt.
    pub fn spent(&self) -> (f64, f64) {
        self.update_state(|spent| (spent.usd, spent.highest))
    }

    fn update_state<T>(&self, change: impl FnOnce(&mut SpendingState) -> T) -> T {
        change(&mut self.spent.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn admit_stops_before_the_purse_is_exceeded() {
        let purse = BatchBudget::new(1.0, []);
        for _ in 0..3 {
            assert_eq!(purse.admit_attempt(), Admission::Yes);
            assert!(!purse.settle_attempt(Some(0.3)));
        }
        assert_eq!(
            (purse.admit_attempt(), purse.is_empty()),
            (Admission::No, true)
        );
        assert_eq!(
            BatchBudget::new(1.0, [0.3, 0.3]).admit_attempt(),
            Admission::Yes
        );
        assert_eq!(
            BatchBudget::new(0.3, [0.1, 0.1]).admit_attempt(),
            Admission::Yes,
            "0.1 three times is 0.3"
        );
        assert_eq!(
            BatchBudget::new(1.0, [0.1, 0.6]).admit_attempt(),
            Admission::No,
            "the next may cost 0.6"
        );
    }

    #[test]
    fn admit_counts_what_is_under_way() {
        let purse = BatchBudget::new(1.0, []);
        assert_eq!(
            (purse.admit_attempt(), purse.admit_attempt()),
            (Admission::Yes, Admission::Wait),
            "nobody knows what one costs"
        );
        purse.settle_attempt(Some(0.4));
        assert_eq!(
            (purse.admit_attempt(), purse.admit_attempt()),
            (Admission::Yes, Admission::Wait)
        );
        purse.settle_attempt(Some(0.1));
        assert_eq!(
            (purse.admit_attempt(), purse.admit_attempt()),
            (Admission::Yes, Admission::Wait)
        );
        purse.release_attempt();
        assert_eq!(purse.admit_attempt(), Admission::Yes);
    }

    #[test]
    fn settle_tells_once_that_a_cost_is_unknown() {
        let purse = BatchBudget::new(1.0, []);
        assert_eq!(purse.admit_attempt(), Admission::Yes);
        assert_eq!(
            [
                purse.settle_attempt(None),
                purse.settle_attempt(None),
                purse.settle_attempt(Some(0.1))
            ],
            [true, false, false]
        );
    }
}
