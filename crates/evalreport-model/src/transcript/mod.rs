//! Usage reported in the transcripts of coding agents: tokens by model, and tools. Each is counted once, even if the transcript repeats it.
//!
//! Transcripts come from agents run here, which print them, and from sessions of users, which are stored in files.

mod claude;
mod codex;
mod usage;

pub use claude::{ClaudeMessage, ClaudeMessages, is_model_message};
pub use codex::{CodexTotal, CodexTranscript, is_retry_notice, split_event};
pub use usage::{as_amount, as_count, find_cost, find_count, find_usage};

use std::collections::BTreeSet;

use chrono::NaiveDate;

use crate::domain::{PriceTable, Usage};

/// The usage of one request to a model.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ModelRequest {
    /// The model's name as the agent reports it, if at all.
    pub model: Option<String>,
    pub usage: Usage,
    /// Of the tokens written to the cache, those that it keeps for an hour.
    pub long_writes: u64,
    /// The time as written in the transcript.
    pub time: Option<String>,
    /// The request was billed at other prices than the table's, such as those of a fast mode.
    pub has_other_price: bool,
}

/// The cost of requests by a price table.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RequestBill {
    /// In US dollars. `None` if a price is unknown.
    pub usd: Option<f64>,
    /// Models of requests without a price.
    pub unknown: BTreeSet<String>,
}

/// Prices each request that took tokens, by its own model, or else by the `asked` one, and at the prices of its day.
pub fn price_requests<'r>(
    prices: &PriceTable,
    asked: Option<&str>,
    requests: impl Iterator<Item = (&'r ModelRequest, Option<NaiveDate>)>,
) -> RequestBill {
    let mut bill = RequestBill {
        usd: Some(0.0),
        ..RequestBill::default()
    };
    for (request, day) in
        requests.filter(|(request, _)| request.usage.total().is_some_and(|tokens| tokens > 0))
    {
        if request.has_other_price {
            bill.usd = None;
            continue;
        }
        let models: Vec<&str> = request.model.as_deref().into_iter().chain(asked).collect();
        let usd = day.and_then(|day| {
            prices.price_usd_by_lifetime(day, &models, &request.usage, request.long_writes, Some(1))
        });
        if usd.is_none() {
            bill.unknown.insert(
                request
                    .model
                    .clone()
                    .unwrap_or_else(|| "unknown".to_owned()),
            );
        }
        bill.usd = bill.usd.zip(usd).map(|(sum, usd)| sum + usd);
    }
    bill
}
