//! Token prices of models, each valid from a date.

use std::collections::BTreeMap;

use chrono::NaiveDate;

use crate::document::{Fields, quote_text};
use crate::domain::{ModelPrice, PriceTier, TokenPrices};

pub(super) fn read_section(fields: &mut Fields) -> Vec<ModelPrice> {
    let mut lines = BTreeMap::new();
    let mut prices = fields.read_each("prices", |fields| read_price(fields, &mut lines));
    prices.sort_by(|left, right| (&left.model, left.date).cmp(&(&right.model, right.date)));
    prices
}

fn read_price(
    mut fields: Fields,
    lines: &mut BTreeMap<(String, Option<NaiveDate>), usize>,
) -> Option<ModelPrice> {
    let model = fields.required_text("model");
    let date = read_date(&mut fields);
    if fields.child("usd_per_million").is_none() {
        fields.reject_missing("usd_per_million");
    }
    let usd_per_million = fields.fields("usd_per_million").and_then(read_token_prices);
    let tiers = fields.read_each("tiers", read_tier);
    if let Some(model) = &model
        && let Some(first) = lines.insert((model.clone(), date), fields.line_of("model"))
    {
        let message = format!("duplicate price of {}", quote_text(model));
        fields.reject(
            "model",
            message,
            Some(format!(
                "it is already on line {first}; a new price needs a `date` of its own"
            )),
        );
    }
    fields.finish();
    Some(ModelPrice {
        model: model?,
        date,
        usd_per_million: usd_per_million?,
        tiers,
    })
}

fn read_tier(mut fields: Fields) -> Option<PriceTier> {
    for key in ["above_input_tokens", "usd_per_million"] {
        if fields.child(key).is_none() {
            fields.reject_missing(key);
        }
    }
    let above_input_tokens = fields.unsigned("above_input_tokens");
    let usd_per_million = fields.fields("usd_per_million").and_then(read_token_prices);
    fields.finish();
    Some(PriceTier {
        above_input_tokens: above_input_tokens?,
        usd_per_million: usd_per_million?,
    })
}

fn read_token_prices(mut fields: Fields) -> Option<TokenPrices> {
    for key in ["input", "output"] {
        if fields.child(key).is_none() {
            fields.reject_missing(key);
        }
    }
    let (input, output) = (fields.amount("input"), fields.amount("output"));
    let (cache_read, cache_write) = (fields.amount("cache_read"), fields.amount("cache_write"));
    fields.finish();
    Some(TokenPrices {
        input: input?,
        output: output?,
        cache_read,
        cache_write,
    })
}

fn read_date(fields: &mut Fields) -> Option<NaiveDate> {
    let text = fields.text("date")?;
    let date = NaiveDate::parse_from_str(&text, "%Y-%m-%d")
        .ok()
        .filter(|date| date.to_string() == text);
    if date.is_none() {
        let message = format!(
            "{} must be a date, not {}",
            quote_text(&fields.path_of("date")),
            quote_text(&text)
        );
        fields.reject(
            "date",
            message,
            Some("write year, month and day such as 2026-01-31".to_owned()),
        );
    }
    date
}
