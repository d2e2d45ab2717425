//! Numbers in groups, summarised as frames: the means, deviations and ranges of what runs cost, took and scored.
//!
//! Outcomes have a faster way, the matrix. A number per run has none, and here one query answers for all arms and metrics of a suite at
//! once, whether a store or a lake holds the runs.

use std::collections::BTreeSet;

use polars::prelude::*;

use super::sql_error::SqlError;
use super::threads;

/// Numbers, each of one group. Groups count from 0.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GroupedNumbers {
    groups: Vec<u32>,
    numbers: Vec<f64>,
    /// Groups with a number that is not finite.
    unfit: BTreeSet<usize>,
}

/// What the numbers of one group are together.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GroupSummary {
    pub n: u64,
    pub mean: f64,
    /// Standard deviation with n − 1. `None` for n = 1; exactly 0 if all numbers are equal.
    pub sd: Option<f64>,
    pub min: f64,
    pub max: f64,
}

impl GroupedNumbers {
    pub fn push(&mut self, group: usize, number: f64) {
        if number.is_finite() {
            self.groups.push(super::intern::id_from_len(group));
            self.numbers.push(number);
        } else {
            self.unfit.insert(group);
        }
    }

    /// Returns by group the summary of its numbers. `None` for a group without numbers, or with one that is not finite, and for one whose
    /// summary is not.
    ///
    /// Sums go over the numbers in the order in which they were pushed, with compensation for lost digits, and squares are of distances from
    /// the mean without its rounding: so the result depends neither on the number of threads nor, but for the last digit, on the order.
    pub fn summarise_groups(self, groups: usize) -> Result<Vec<Option<GroupSummary>>, SqlError> {
        let mut found = vec![None; groups];
        if self.numbers.is_empty() {
            return Ok(found);
        }
        threads::check_threads()?;
        let (unfit, numbers) = (self.unfit, to_frame(self.groups, self.numbers)?);
        let frame = threads::run_on_thread(threads::STACK_BYTES, || {
            Ok(summarise_frame(numbers).collect()?)
        })?;
        let group = frame.column("group")?.u32()?;
        let n = frame.column("n")?.cast(&DataType::UInt64)?;
        let n = n.u64()?;
        let number =
            |name: &str| -> PolarsResult<Float64Chunked> { Ok(frame.column(name)?.f64()?.clone()) };
        let (mean, sd, min, max) = (
            number("mean")?,
            number("sd")?,
            number("min")?,
            number("max")?,
        );
        for row in 0..frame.height() {
            let finite =
                |column: &Float64Chunked| column.get(row).filter(|number| number.is_finite());
            let summary = || {
                let n = n.get(row)?;
                let sd = if n > 1 { Some(finite(&sd)?) } else { None };
                Some(GroupSummary {
                    n,
                    mean: finite(&mean)?,
                    sd,
                    min: finite(&min)?,
                    max: finite(&max)?,
                })
            };
            let place = group
                .get(row)
                .map(|group| group as usize)
                .filter(|group| !unfit.contains(group));
            if let Some(place) = place.and_then(|group| found.get_mut(group)) {
                *place = summary();
            }
        }
        Ok(found)
    }
}

fn to_frame(groups: Vec<u32>, numbers: Vec<f64>) -> PolarsResult<LazyFrame> {
    Ok(DataFrame::new(
        numbers.len(),
        vec![
            Column::new("group".into(), groups),
            Column::new("number".into(), numbers),
        ],
    )?
    .lazy())
}

fn summarise_frame(numbers: LazyFrame) -> LazyFrame {
    let number = || col("number");
    let centre = || number().sum() / len().cast(DataType::Float64);
    let n = || col("n").cast(DataType::Float64);
    let spread = (col("squares") - col("rest") * col("rest") / n()) / (n() - lit(1.0));
    let is_constant = || col("min").eq(col("max"));
    numbers
        .group_by([col("group")])
        .agg([
            len().alias("n"),
            number().min().alias("min"),
            number().max().alias("max"),
            centre().alias("centre"),
            (number() - centre()).sum().alias("rest"),
            ((number() - centre()) * (number() - centre()))
                .sum()
                .alias("squares"),
        ])
        .select([
            col("group"),
            col("n"),
            col("min"),
            col("max"),
            // A mean lies between the numbers, and that of equal ones is exact.
            when(col("centre").lt(col("min")).or(is_constant()))
                .then(col("min"))
                .when(col("centre").gt(col("max")))
                .then(col("max"))
                .otherwise(col("centre"))
                .alias("mean"),
            when(is_constant())
                .then(lit(0.0))
                .otherwise(spread.sqrt())
                .alias("sd"),
        ])
}
