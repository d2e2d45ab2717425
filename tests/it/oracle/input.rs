//! Reads a vector's input, and writes what the answers have in common.

use std::collections::BTreeMap;

use evalreport::stats::{Interval, Undefined, VerdictQuestion};
use serde_json::{Value, json};

/// The input of one vector. Its author and the reader agree on names, so a missing one is a mistake in either.
pub struct Input<'a>(pub &'a Value);

impl Input<'_> {
    pub fn number(&self, key: &str) -> f64 {
        self.0[key]
            .as_f64()
            .unwrap_or_else(|| panic!("`{key}` is no number in {}", self.0))
    }

    pub fn count(&self, key: &str) -> u64 {
        self.0[key]
            .as_u64()
            .unwrap_or_else(|| panic!("`{key}` is no count in {}", self.0))
    }

    pub fn confidence(&self) -> f64 {
        self.number("conf")
    }

    pub fn values(&self, key: &str) -> Vec<f64> {
        self.list(key)
            .iter()
            .map(|value| {
                value
                    .as_f64()
                    .unwrap_or_else(|| panic!("`{key}` holds {value}"))
            })
            .collect()
    }

    /// A table, row by row.
    pub fn rows(&self, key: &str) -> Vec<Vec<f64>> {
        let row = |row: &Value| {
            row.as_array()?
                .iter()
                .map(Value::as_f64)
                .collect::<Option<Vec<f64>>>()
        };
        self.list(key)
            .iter()
            .map(|of| row(of).unwrap_or_else(|| panic!("`{key}` holds {of}")))
            .collect()
    }

    /// A table in which values may be missing.
    pub fn rows_with_gaps(&self, key: &str) -> Vec<Vec<Option<i64>>> {
        let row = |row: &Value| {
            Some(
                row.as_array()?
                    .iter()
                    .map(Value::as_i64)
                    .collect::<Vec<_>>(),
            )
        };
        self.list(key)
            .iter()
            .map(|of| row(of).unwrap_or_else(|| panic!("`{key}` holds {of}")))
            .collect()
    }

    /// Labels of any kind, as text.
    pub fn labels(&self, key: &str) -> Vec<String> {
        self.list(key).iter().map(ToString::to_string).collect()
    }

    /// Labels as numbers in the order of their first appearance.
    pub fn codes(&self, key: &str) -> Vec<u32> {
        let mut known = BTreeMap::new();
        self.labels(key)
            .into_iter()
            .map(|label| {
                let next = u32::try_from(known.len()).expect("fewer labels than numbers");
                *known.entry(label).or_insert(next)
            })
            .collect()
    }

    pub fn list(&self, key: &str) -> &Vec<Value> {
        self.0[key]
            .as_array()
            .unwrap_or_else(|| panic!("`{key}` is no list in {}", self.0))
    }

    pub fn flag(&self, key: &str) -> bool {
        self.0[key].as_bool().unwrap_or(false)
    }

    pub fn question(&self) -> VerdictQuestion {
        let optional = |key: &str| self.0[key].as_f64();
        VerdictQuestion {
            comparable: self.flag("comparable"),
            n_a: self.count("n_a"),
            n_b: self.count("n_b"),
            difference: optional("diff"),
            interval: optional("lo")
                .zip(optional("hi"))
                .and_then(|(low, high)| Interval::new(low, high)),
            p_adjusted: optional("p_adj"),
            alpha: self.number("alpha"),
            margin: optional("margin"),
            higher_is_better: self.flag("higher_is_better"),
            deterministic: self.flag("deterministic"),
        }
    }
}

/// An answer with the ends of its interval.
pub fn with_ends(interval: Result<Interval, Undefined>, mut rest: Value) -> Value {
    rest["lo"] = json!(interval.map(|interval| interval.low).ok());
    rest["hi"] = json!(interval.map(|interval| interval.high).ok());
    rest
}
