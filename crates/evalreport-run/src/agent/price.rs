//! The cost of tokens, for agents that do not report it.

use std::collections::BTreeSet;

use chrono::NaiveDate;

use super::reply::{Cost, ReplyMeasurements};
use crate::domain::{ModelPrice, PriceTable, Usage};
use crate::transcript::{ModelRequest, price_requests};

/// The configuration's price table, as of the day of the run.
#[derive(Clone, Debug)]
pub struct Prices {
    table: PriceTable,
    day: NaiveDate,
}

impl Prices {
    pub fn new(prices: &[ModelPrice], day: NaiveDate) -> Self {
        Self {
            table: PriceTable::new(prices),
            day,
        }
    }

    /// Computes the cost of the measured tokens. Requests and models are priced on their own if they are known; the sum is unknown if one
    /// price is unknown.
    pub fn cost_of(&self, measured: &ReplyMeasurements, asked: Option<&str>) -> Cost {
        if !measured.requests.is_empty() {
            let day_of = |request: &ModelRequest| {
                request
                    .time
                    .as_deref()?
                    .get(..10)?
                    .parse::<NaiveDate>()
                    .ok()
            };
            let requests = measured
                .requests
                .iter()
                .map(|request| (request, day_of(request).or(Some(self.day))));
            // The configured name stands for the only model. A helper model has prices of its own.
            let models: BTreeSet<Option<&str>> = measured
                .requests
                .iter()
                .map(|request| request.model.as_deref())
                .collect();
            let asked = asked.filter(|_| models.len() == 1);
            return Cost::from_price_table(price_requests(&self.table, asked, requests).usd);
        }
        if measured.by_model.len() < 2 {
            let models: Vec<&str> = measured.model.as_deref().into_iter().chain(asked).collect();
            return self.price_usage(&models, &measured.usage, measured.steps);
        }
        let usd: Option<f64> = measured
            .by_model
            .iter()
            .map(|(model, usage)| self.price_usage(&[model], usage, None).usd)
            .sum();
        Cost::from_price_table(usd)
    }

    fn price_usage(&self, models: &[&str], usage: &Usage, requests: Option<u64>) -> Cost {
        Cost::from_price_table(self.table.price_usd(self.day, models, usage, requests))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config;
    use crate::domain::CostSource;

    const TABLE: &str = "version: 1\nprices:\n\
        - {model: m, usd_per_million: {input: 100, output: 100}}\n\
        - {model: m, date: 2026-01-01, usd_per_million: {input: 3, output: 15, cache_read: 0.3, cache_write: 3.75}, \
           tiers: [{above_input_tokens: 200000, usd_per_million: {input: 6, output: 22.5}}]}\n\
        - {model: m, date: 2026-06-01, usd_per_million: {input: 1, output: 5}}\n";

    fn prices(day: &str) -> Prices {
        let config = config::parse("c.yaml", TABLE).expect("the table is sound");
        Prices::new(&config.prices, day.parse().expect("it is a date"))
    }

    fn usage(input: u64, cache_write: u64, cache_read: u64, output: u64) -> Usage {
        Usage {
            input: Some(input),
            cache_write: Some(cache_write),
            cache_read: Some(cache_read),
            output: Some(output),
        }
    }

    fn usd(day: &str, usage: &Usage, requests: Option<u64>) -> Option<f64> {
        let cost = prices(day).price_usage(&["m-2026-01", "m"], usage, requests);
        assert_eq!(cost.usd.is_some(), cost.source == CostSource::Priced);
        cost.usd
    }

    #[test]
    fn the_price_of_the_day_counts() {
        let million = usage(1_000_000, 0, 0, 0);
        let small = usage(100_000, 0, 0, 0);
        assert_eq!(usd("2025-12-31", &million, Some(1)), Some(100.0));
        assert_eq!(usd("2026-01-01", &small, Some(1)), Some(0.3));
        assert_eq!(usd("2026-05-31", &small, Some(1)), Some(0.3));
        assert_eq!(usd("2026-06-01", &million, Some(1)), Some(1.0));
    }

    #[test]
    fn cache_reads_and_writes_have_their_own_rates() {
        let cost =
            usd("2026-02-01", &usage(2, 6843, 91983, 400), None).expect("all rates are known");
        assert!(
            (cost - (2.0 * 3.0 + 6843.0 * 3.75 + 91983.0 * 0.3 + 400.0 * 15.0) / 1e6).abs() < 1e-12,
            "{cost}"
        );
        assert_eq!(
            usd("2026-07-01", &usage(2, 0, 5, 400), None),
            None,
            "cache reads have no price there"
        );
    }

    #[test]
    fn a_tier_holds_for_one_request_and_is_unknown_for_several() {
        assert_eq!(
            usd("2026-02-01", &usage(300_000, 0, 0, 0), Some(1)),
            Some(1.8)
        );
        assert_eq!(usd("2026-02-01", &usage(300_000, 0, 0, 0), Some(2)), None);
        assert_eq!(
            usd("2026-02-01", &usage(200_000, 0, 0, 0), Some(2)),
            Some(0.6)
        );
    }

    #[test]
    fn requests_of_several_models_are_priced_apart_and_on_their_day() {
        let request = |model: &str, day: &str| ModelRequest {
            model: Some(model.to_owned()),
            usage: usage(1_000_000, 0, 0, 0),
            time: Some(format!("{day}T10:00:00Z")),
            ..ModelRequest::default()
        };
        let cost = |requests: Vec<ModelRequest>, asked| {
            let usage = requests
                .iter()
                .fold(Usage::default(), |sum, request| sum.plus(&request.usage));
            let measured = ReplyMeasurements {
                usage,
                requests,
                model: Some("m".to_owned()),
                ..ReplyMeasurements::default()
            };
            prices("2026-07-01").cost_of(&measured, asked)
        };
        let both = cost(
            vec![request("m", "2025-01-01"), request("m", "2026-06-02")],
            None,
        );
        assert_eq!((both.usd, both.source), (Some(101.0), CostSource::Priced));
        assert_eq!(
            cost(vec![request("m-dated", "2026-06-02")], Some("m")).usd,
            Some(1.0),
            "the configured name of the only model"
        );
        assert_eq!(
            cost(
                vec![request("m", "2026-06-02"), request("helper", "2026-06-02")],
                Some("m")
            ),
            Cost::default()
        );
        let fast = ModelRequest {
            has_other_price: true,
            ..request("m", "2026-06-02")
        };
        assert_eq!(cost(vec![fast], Some("m")), Cost::default());
    }

    #[test]
    fn what_is_not_known_has_no_price() {
        let none = prices("2026-02-01").price_usage(&["other"], &usage(1, 0, 0, 1), Some(1));
        assert_eq!(none, Cost::default());
        let half = Usage {
            output: None,
            ..usage(1, 0, 0, 1)
        };
        assert_eq!(usd("2026-02-01", &half, Some(1)), None);
        assert_eq!(usd("2026-02-01", &Usage::default(), Some(1)), None);
    }
}
