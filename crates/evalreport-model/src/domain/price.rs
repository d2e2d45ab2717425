//! Token prices of models, each valid from a date.

use chrono::NaiveDate;

use super::Usage;

#[derive(Clone, Debug, PartialEq)]
pub struct ModelPrice {
    pub model: String,
    /// The first day on which the price is valid. `None` means always.
    pub date: Option<NaiveDate>,
    pub usd_per_million: TokenPrices,
    /// Other prices for long requests.
    pub tiers: Vec<PriceTier>,
}

/// Token prices for requests whose input, including cached tokens, exceeds a limit.
#[derive(Clone, Debug, PartialEq)]
pub struct PriceTier {
    pub above_input_tokens: u64,
    pub usd_per_million: TokenPrices,
}

/// US dollars per million tokens of each kind.
#[derive(Clone, Debug, PartialEq)]
pub struct TokenPrices {
    pub input: f64,
    pub output: f64,
    /// `None` means unknown, not free.
    pub cache_read: Option<f64>,
    pub cache_write: Option<f64>,
}

/// The prices in a configuration.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PriceTable(Vec<ModelPrice>);

impl PriceTable {
    pub fn new(prices: &[ModelPrice]) -> Self {
        Self(prices.to_vec())
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn iter(&self) -> impl Iterator<Item = &ModelPrice> {
        self.0.iter()
    }

    /// Returns the cost of the tokens in US dollars, using the first of `models` with a price on that day. Returns `None` rather than too
    /// low a cost: if input or output is unknown, if cached tokens have no price, or if a tier might apply to several requests of which
    /// only the total is known.
    pub fn price_usd(
        &self,
        day: NaiveDate,
        models: &[&str],
        usage: &Usage,
        requests: Option<u64>,
    ) -> Option<f64> {
        self.price_usd_by_lifetime(day, models, usage, 0, requests)
    }

    /// Returns the cost like [`price_usd`](Self::price_usd) if the cache keeps `long_writes` of the written tokens for an hour.
    pub fn price_usd_by_lifetime(
        &self,
        day: NaiveDate,
        models: &[&str],
        usage: &Usage,
        long_writes: u64,
        requests: Option<u64>,
    ) -> Option<f64> {
        models
            .iter()
            .find_map(|model| self.price_of(day, model))
            .and_then(|price| price_tokens(price, usage, long_writes, requests))
    }

    /// Returns the model's newest price valid on the day. A price without a date is the oldest.
    fn price_of(&self, day: NaiveDate, model: &str) -> Option<&ModelPrice> {
        let valid =
            |price: &&ModelPrice| price.model == model && price.date.is_none_or(|date| date <= day);
        self.0.iter().filter(valid).max_by_key(|price| price.date)
    }
}

/// What a token that the cache keeps for an hour costs, in prices of an input token. Only Anthropic has such a cache.
const LONG_WRITE: f64 = 2.0;

fn price_tokens(
    price: &ModelPrice,
    usage: &Usage,
    long_writes: u64,
    requests: Option<u64>,
) -> Option<f64> {
    let tokens = usage.input_total()?;
    let tier = price
        .tiers
        .iter()
        .filter(|tier| tokens > tier.above_input_tokens)
        .max_by_key(|tier| tier.above_input_tokens);
    let rates = match (tier, requests) {
        (None, _) => &price.usd_per_million,
        (Some(tier), Some(1)) => &tier.usd_per_million,
        (Some(_), _) => return None,
    };
    let long_writes = long_writes.min(usage.cache_write.unwrap_or(0));
    let usd = [
        Some(long_writes as f64 * LONG_WRITE * rates.input),
        Some(usage.input? as f64 * rates.input),
        Some(usage.output? as f64 * rates.output),
        price_cache(usage.cache_read, rates, |rates| rates.cache_read),
        price_cache(
            usage.cache_write.map(|tokens| tokens - long_writes),
            rates,
            |rates| rates.cache_write,
        ),
    ]
    .into_iter()
    .sum::<Option<f64>>()?;
    Some(usd / 1e6)
}

/// Returns the cost of cached tokens. Zero tokens cost nothing, even without a price.
fn price_cache(
    tokens: Option<u64>,
    rates: &TokenPrices,
    rate: fn(&TokenPrices) -> Option<f64>,
) -> Option<f64> {
    match tokens {
        None | Some(0) => Some(0.0),
        Some(tokens) => rate(rates).map(|rate| tokens as f64 * rate),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_that_the_cache_keeps_for_an_hour_cost_twice_the_input() {
        let rates = |input, cache_write| TokenPrices {
            input,
            output: 15.0,
            cache_read: Some(0.3),
            cache_write,
        };
        let tiers = vec![PriceTier {
            above_input_tokens: 200_000,
            usd_per_million: rates(6.0, Some(7.5)),
        }];
        let price = |cache_write| ModelPrice {
            model: "m".to_owned(),
            date: None,
            usd_per_million: rates(3.0, cache_write),
            tiers: tiers.clone(),
        };
        let usd = |cache_write, written, long_writes| {
            let usage = Usage {
                input: Some(0),
                output: Some(0),
                cache_write: Some(written),
                ..Usage::default()
            };
            PriceTable::new(&[price(cache_write)]).price_usd_by_lifetime(
                NaiveDate::default(),
                &["m"],
                &usage,
                long_writes,
                Some(1),
            )
        };
        assert_eq!(usd(Some(3.75), 100_000, 0), Some(0.375));
        assert_eq!(usd(Some(3.75), 100_000, 40_000), Some(0.465));
        assert_eq!(
            usd(None, 100_000, 100_000),
            Some(0.6),
            "no other tokens were written"
        );
        assert_eq!(
            usd(Some(3.75), 1_000_000, 2_000_000),
            Some(12.0),
            "by the tier, and no more than were written"
        );
    }
}
