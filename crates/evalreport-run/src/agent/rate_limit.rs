//! Limits of requests and tokens per minute, which all prompts to an agent share.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::config::RateLimit;
use crate::process::StopSignal;

/// How much of a minute's allowance may be used at once: a second's. Services divide a minute's limit alike, so that a burst would be refused.
const BURST_SHARE: f64 = 1.0 / 60.0;
/// Longest wait before the allowance is looked at again, because another prompt may have returned a part of it.
const LONGEST_WAIT: Duration = Duration::from_secs(5);

/// The limiters of agents, by id. Shared by all agents built from one environment or a clone of it.
#[derive(Clone, Debug, Default)]
pub struct RateLimiters(Arc<Mutex<BTreeMap<String, Arc<RateLimiter>>>>);

impl RateLimiters {
    /// Returns the limiter of the agent with this id, or `None` if its configuration sets no limit.
    pub(super) fn of_agent(&self, id: &str, limit: RateLimit) -> Option<Arc<RateLimiter>> {
        if limit == RateLimit::default() {
            return None;
        }
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let limiter = all
            .entry(id.to_owned())
            .or_insert_with(|| Arc::new(RateLimiter::new(limit, Instant::now())));
        Some(Arc::clone(limiter))
    }
}

/// The allowance of one agent.
#[derive(Debug)]
pub struct RateLimiter(Mutex<LimiterState>);

#[derive(Debug)]
struct LimiterState {
    requests: Option<RateBalance>,
    tokens: Option<RateBalance>,
    /// Tokens of all requests so far, and their number. What a request will use is expected to be their mean.
    used: f64,
    settled: f64,
}

/// An allowance that grows evenly with time, up to a second's, and is below zero while more was used than it had.
#[derive(Debug)]
struct RateBalance {
    per_minute: f64,
    balance: f64,
    at: Instant,
}

impl RateBalance {
    fn new(per_minute: u64, now: Instant) -> Self {
        let per_minute = per_minute as f64;
        Self {
            per_minute,
            balance: Self::most(per_minute),
            at: now,
        }
    }

    /// One request at least, or else none would ever be allowed.
    fn most(per_minute: f64) -> f64 {
        (per_minute * BURST_SHARE).max(1.0)
    }

    fn refill(&mut self, now: Instant) {
        let minutes = now.saturating_duration_since(self.at).as_secs_f64() / 60.0;
        self.at = now;
        self.balance = (self.balance + minutes * self.per_minute).min(Self::most(self.per_minute));
    }

    /// Returns the time until the balance is at least `wanted`.
    fn time_until(&self, wanted: f64) -> Duration {
        let minutes = (wanted - self.balance) / self.per_minute;
        Duration::try_from_secs_f64(minutes * 60.0).unwrap_or_default()
    }
}

impl RateLimiter {
    fn new(limit: RateLimit, now: Instant) -> Self {
        let allowance = |per_minute: u64| RateBalance::new(per_minute, now);
        Self(Mutex::new(LimiterState {
            requests: limit.requests_per_minute.map(allowance),
            tokens: limit.tokens_per_minute.map(allowance),
            used: 0.0,
            settled: 0.0,
        }))
    }

    /// Waits until another request is allowed, and takes it from the allowance. Returns the tokens that it is expected to use, for
    /// [`Self::settle`], or `None` if the user stopped the program meanwhile.
    pub(super) fn wait(&self, stop: &StopSignal) -> Option<f64> {
        loop {
            match self.take(Instant::now()) {
                Ok(expected) => return Some(expected),
                Err(wait) => {
                    if !stop.sleep(wait.min(LONGEST_WAIT)) {
                        return None;
                    }
                }
            }
        }
    }

    /// Takes a request from the allowance, with the tokens that it is expected to use. Otherwise returns how long to wait.
    fn take(&self, now: Instant) -> Result<f64, Duration> {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let expected = if state.settled > 0.0 {
            state.used / state.settled
        } else {
            0.0
        };
        let mut wait = Duration::ZERO;
        if let Some(requests) = &mut state.requests {
            requests.refill(now);
            wait = wait.max(requests.time_until(1.0));
        }
        if let Some(tokens) = &mut state.tokens {
            tokens.refill(now);
            // A request may use more than the balance ever is, so it is enough that nothing is owed.
            wait = wait.max(tokens.time_until(0.0));
        }
        if !wait.is_zero() {
            return Err(wait);
        }
        if let Some(requests) = &mut state.requests {
            requests.balance -= 1.0;
        }
        if let Some(tokens) = &mut state.tokens {
            tokens.balance -= expected;
        }
        Ok(expected)
    }

    /// Replaces the tokens that a request was expected to use by those that it used. `None` if the service did not tell.
    pub(super) fn settle(&self, expected: f64, used: Option<u64>) {
        let Some(used) = used.map(|used| used as f64) else {
            return;
        };
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        state.used += used;
        state.settled += 1.0;
        if let Some(tokens) = &mut state.tokens {
            tokens.balance += expected - used;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn requests(per_minute: u64) -> RateLimit {
        RateLimit {
            requests_per_minute: Some(per_minute),
            tokens_per_minute: None,
        }
    }

    fn tokens_of(per_minute: u64) -> RateLimit {
        RateLimit {
            requests_per_minute: None,
            tokens_per_minute: Some(per_minute),
        }
    }

    /// Sends as fast as the limiter allows for so many seconds, with answers of `tokens` tokens. Returns when each request was sent, in
    /// seconds.
    fn send(limiter: &RateLimiter, start: Instant, seconds: f64, tokens: u64) -> Vec<f64> {
        let mut sent = Vec::new();
        let mut now = start;
        while now.duration_since(start).as_secs_f64() < seconds {
            match limiter.take(now) {
                Ok(expected) => {
                    sent.push(now.duration_since(start).as_secs_f64());
                    limiter.settle(expected, Some(tokens));
                }
                Err(wait) => now += wait.max(Duration::from_nanos(1)),
            }
        }
        sent
    }

    /// The largest number of requests within any minute.
    fn most_in_a_minute(sent: &[f64]) -> usize {
        sent.iter()
            .enumerate()
            .map(|(at, first)| {
                sent[at..]
                    .iter()
                    .take_while(|one| **one < first + 60.0)
                    .count()
            })
            .max()
            .unwrap_or(0)
    }

    #[test]
    fn requests_of_any_minute_keep_to_the_limit() {
        let start = Instant::now();
        for per_minute in [1, 7, 60, 600] {
            let limiter = RateLimiter::new(requests(per_minute), start);
            let sent = send(&limiter, start, 600.0, 1);
            let most = most_in_a_minute(&sent) as f64;
            let limit = per_minute as f64;
            // A second's allowance at once, and one request on the edge.
            assert!(
                most <= limit * (1.0 + BURST_SHARE) + 1.0,
                "{per_minute}: {most}"
            );
            let all = sent.len() as f64;
            assert!(
                (all - 10.0 * limit).abs() <= limit * 0.02 + 1.0,
                "{per_minute}: {all}"
            );
        }
    }

    #[test]
    fn tokens_of_ten_minutes_are_the_limit_though_one_request_is_more_than_a_seconds() {
        let start = Instant::now();
        let limiter = RateLimiter::new(tokens_of(30_000), start);
        let tokens = send(&limiter, start, 600.0, 5_000).len() as f64 * 5_000.0;
        assert!((tokens - 300_000.0).abs() <= 10_000.0, "{tokens}");
    }

    #[test]
    fn requests_in_flight_are_expected_to_use_what_the_others_used() {
        let start = Instant::now();
        let limiter = RateLimiter::new(tokens_of(6_000), start);
        let expected = limiter.take(start).expect("the first is allowed");
        limiter.settle(expected, Some(1_000));
        // 900 tokens are owed, which take nine seconds.
        let wait = limiter.take(start).expect_err("900 are owed");
        assert!((wait.as_secs_f64() - 9.0).abs() < 1e-6, "{wait:?}");
        let later = start + wait;
        assert!(limiter.take(later).is_ok());
        // A second one at the same time waits for the first one's tokens, which are not known yet.
        let wait = limiter.take(later).expect_err("a request is in flight");
        assert!((wait.as_secs_f64() - 10.0).abs() < 1e-6, "{wait:?}");
    }

    #[test]
    fn agents_of_one_id_share_a_limiter_and_others_have_none() {
        let limiters = RateLimiters::default();
        let limit = requests(5);
        let one = limiters.clone().of_agent("a", limit).expect("a limit");
        let again = limiters.of_agent("a", limit).expect("a limit");
        assert!(Arc::ptr_eq(&one, &again));
        assert!(limiters.of_agent("b", RateLimit::default()).is_none());
    }
}
