//! Token prices of models, each valid from a date.

use chrono::NaiveDate;

use super::Usage;

#[derive(Clone, Debug, PartialEq)]
pub struct Price {
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
pub struct PriceTable(Vec<Price>);

impl PriceTable {
    pub fn new(prices: &[Price]) -> Self {
        Self(prices.to_vec())
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn iter(&self) -> impl Iterator<Item = &Price> {
        self.0.iter()
    }

    /// Returns the cost of the tokens in US dollars, using the first of `models` with a price on that day. Returns `None` rather than too
    /// low a cost: if input or output is unknown, if cached tokens have no price, or if a tier might apply to several requests of which
    /// only the total is known.
    pub fn usd(&self, day: NaiveDate, models: &[&str], usage: &Usage, requests: Option<u64>) -> Option<f64> {
        models.iter().find_map(|model| self.price_of(day, model)).and_then(|price| price_tokens(price, usage, requests))
    }

    /// Returns the model's newest price valid on the day. A price without a date is the oldest.
    fn price_of(&self, day: NaiveDate, model: &str) -> Option<&Price> {
        let valid = |price: &&Price| price.model == model && price.date.is_none_or(|date| date <= day);
        self.0.iter().filter(valid).max_by_key(|price| price.date)
    }
}

fn price_tokens(price: &Price, usage: &Usage, requests: Option<u64>) -> Option<f64> {
    let tokens = usage.input_total()?;
    let tier = price.tiers.iter().filter(|tier| tokens > tier.above_input_tokens).max_by_key(|tier| tier.above_input_tokens);
    let rates = match (tier, requests) {
        (None, _) => &price.usd_per_million,
        (Some(tier), Some(1)) => &tier.usd_per_million,
        (Some(_), _) => return None,
    };
    let usd = [
        Some(usage.input? as f64 * rates.input),
        Some(usage.output? as f64 * rates.output),
        price_cache(usage.cache_read, rates, |rates| rates.cache_read),
        price_cache(usage.cache_write, rates, |rates| rates.cache_write),
    ]
    .into_iter()
    .sum::<Option<f64>>()?;
    Some(usd / 1e6)
}

/// Returns the cost of cached tokens. Zero tokens cost nothing, even without a price.
fn price_cache(tokens: Option<u64>, rates: &TokenPrices, rate: fn(&TokenPrices) -> Option<f64>) -> Option<f64> {
    match tokens {
        None | Some(0) => Some(0.0),
        Some(tokens) => rate(rates).map(|rate| tokens as f64 * rate),
    }
}
