//! The Pareto front of quality and price, on the shown numbers.

use schemars::JsonSchema;
use serde::Serialize;

use super::arm::Arm;

/// An arm's position between pass rate and price, as shown.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Front {
    /// No arm is at least as good on both and better on one.
    OnFront,
    /// `by` is at least as good on both and better on one. Of several such arms, the one with the best pass rate.
    Dominated { by: Arm },
}

/// An arm's quality and price.
#[derive(Clone, Copy)]
pub struct QualityAndPrice<'a> {
    pub arm: &'a Arm,
    pub quality: f64,
    /// Cost or time: less is better.
    pub price: f64,
    /// Whether the true price may be higher, so that the arm cannot dominate another.
    pub is_lower_bound: bool,
}

/// Returns the positions of the arms that have both figures; `None` for other arms, and for all if fewer than two have both.
///
/// An arm whose price is a lower bound may be dominated, but is never known to be on the front.
pub fn pareto_positions(trades: &[Option<QualityAndPrice<'_>>]) -> Vec<Option<Front>> {
    if trades.iter().flatten().count() < 2 {
        return vec![None; trades.len()];
    }
    let beats = |other: &QualityAndPrice<'_>, own: &QualityAndPrice<'_>| {
        !other.is_lower_bound
            && other.quality >= own.quality
            && other.price <= own.price
            && (other.quality > own.quality || other.price < own.price)
    };
    let place = |own: &QualityAndPrice<'_>| {
        let better = trades.iter().flatten().filter(|other| beats(other, own));
        let best = better.max_by(|one, other| {
            one.quality
                .total_cmp(&other.quality)
                .then(other.price.total_cmp(&one.price))
                .then(other.arm.cmp(one.arm))
        });
        match best {
            Some(by) => Some(Front::Dominated { by: by.arm.clone() }),
            None if own.is_lower_bound => None,
            None => Some(Front::OnFront),
        }
    };
    trades
        .iter()
        .map(|trade| trade.as_ref().and_then(place))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `trades`: `name quality price`, where a price with `+` is a lower bound. `expected`, in the same order: `*` for the front, a
    /// dominating name, or `?`.
    #[track_caller]
    fn check(trades: &[&str], expected: &[&str]) {
        let arms: Vec<Arm> = trades
            .iter()
            .map(|text| Arm {
                approach: text.split(' ').next().unwrap_or_default().to_owned(),
                model: String::new(),
            })
            .collect();
        let trade = |(text, arm)| {
            let text: &str = text;
            let mut words = text.split(' ').skip(1);
            let quality = words.next()?.parse().ok()?;
            let price = words.next()?;
            Some(QualityAndPrice {
                arm,
                quality,
                price: price.trim_end_matches('+').parse().ok()?,
                is_lower_bound: price.ends_with('+'),
            })
        };
        let trades: Vec<Option<QualityAndPrice<'_>>> =
            trades.iter().copied().zip(&arms).map(trade).collect();
        let found: Vec<String> = pareto_positions(&trades)
            .into_iter()
            .map(|front| match front {
                Some(Front::OnFront) => "*".to_owned(),
                Some(Front::Dominated { by }) => by.approach,
                None => "?".to_owned(),
            })
            .collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn better_and_cheaper_dominates() {
        check(
            &["a 0.9 3", "b 0.5 1", "c 0.7 2", "d 0.6 2.5"],
            &["*", "*", "*", "c"],
        );
        // At least as good on both and better on one.
        check(&["a 0.9 3", "b 0.9 4", "c 0.8 3"], &["*", "a", "a"]);
        // Equal on both: neither dominates the other.
        check(&["a 0.9 3", "b 0.9 3"], &["*", "*"]);
    }

    #[test]
    fn what_is_not_known_dominates_nothing() {
        check(&["a 0.9 1+", "b 0.5 2", "c 0.4 3"], &["?", "*", "b"]);
        check(&["a 0.9 1", "b 0.5 2+", "c 0.5"], &["*", "a", "?"]);
        check(&["a 0.9 1", "b 0.5"], &["?", "?"]);
    }
}
