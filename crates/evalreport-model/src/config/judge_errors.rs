//! How often a judge errs, as tested on items whose truth is known.

use crate::document::{Fields, quote_text};

/// The error rates of a judge, with the numbers of items behind them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct JudgeErrors {
    /// The share of true passes that the judge passes, and their number.
    pub sensitivity: (f64, u32),
    /// The share of true fails that the judge fails, and their number.
    pub specificity: (f64, u32),
}

impl JudgeErrors {
    /// Returns the error rates, or `None` for a judge no better than chance, which nothing can correct.
    pub fn new(sensitivity: (f64, u32), specificity: (f64, u32)) -> Option<Self> {
        (sensitivity.0 + specificity.0 > 1.0).then_some(Self {
            sensitivity,
            specificity,
        })
    }
}

/// Parses a share with the number of items behind it: `0.93/200`.
pub fn parse_share_of(text: &str) -> Option<(f64, u32)> {
    let (share, n) = text.split_once('/')?;
    let (share, n) = (
        share.trim().parse::<f64>().ok()?,
        n.trim().parse::<u32>().ok()?,
    );
    ((0.0..=1.0).contains(&share) && n > 0).then_some((share, n))
}

pub(super) fn read_section(fields: &mut Fields) -> Option<JudgeErrors> {
    let mut fields = fields.fields("judge_errors")?;
    let mut share = |key: &str| {
        let text = fields.required_text(key)?;
        let found = parse_share_of(&text);
        if found.is_none() {
            let message = format!(
                "{} is no share with a number of items: {}",
                quote_text(&fields.path_of(key)),
                quote_text(&text)
            );
            fields.reject(
                key,
                message,
                Some("write 0.93/200 for 93% of 200 items".to_owned()),
            );
        }
        found
    };
    let both = share("sensitivity").zip(share("specificity"));
    let errors = both.map(|(sensitivity, specificity)| JudgeErrors::new(sensitivity, specificity));
    if errors == Some(None) {
        fields.reject(
            "specificity",
            "a judge with these error rates is no better than chance, which nothing can correct",
            None,
        );
    }
    fields.finish();
    errors.flatten()
}
