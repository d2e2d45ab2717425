//! A table of published figures as columns of numbers with their roles.

use std::collections::{BTreeMap, BTreeSet};

use crate::domain::PublishedTable;
use crate::stats::PrintedRate;

use super::column_roles::{ColumnRole, ColumnTitle, parse_title};
use super::figure::{CellFigures, PrintedFigure, parse_cell};
use super::finding::{ClaimFinding, ClaimKind, ClaimPlace, Severity};

/// A column, or the part of its cells that is a figure of its own, such as the `± 3.2` of `61.7 ± 3.2`.
pub(super) struct FigureColumn {
    /// Column of the table.
    pub place: usize,
    pub name: String,
    pub title: ColumnTitle,
    pub role: ColumnRole,
    /// By row.
    pub values: Vec<Option<PrintedFigure>>,
    pub bold: Vec<bool>,
    /// The column whose cells it is a part of.
    pub part_of: Option<usize>,
    /// Whether all values are whole and not negative.
    pub are_whole: bool,
    /// What is 1 on the column's scale: 1 or 100. `None` if the values are no shares.
    pub whole: Option<u64>,
    /// The same for figures that may be negative, such as correlations.
    pub scale: Option<u64>,
}

pub(super) struct FigureTable<'a> {
    pub table: &'a PublishedTable,
    pub titles: Vec<ColumnTitle>,
    pub series: Vec<FigureColumn>,
    /// Rows that are not totals of others.
    pub rows: Vec<usize>,
    /// Columns of text, in their order.
    pub texts: Vec<usize>,
    /// Rows by what divides them, in the order of the first. One group if nothing does.
    pub groups: Vec<(String, Vec<usize>)>,
}

/// Smallest share of the filled cells of a column that must be figures.
const MIN_FIGURES: f64 = 0.6;

impl<'a> FigureTable<'a> {
    pub fn from_table(table: &'a PublishedTable) -> Self {
        let titles: Vec<ColumnTitle> = table.columns.iter().map(|name| parse_title(name)).collect();
        let rows: Vec<usize> = (0..table.rows.len())
            .filter(|row| !is_total_row(table, *row))
            .collect();
        let (mut series, mut texts) = (Vec::new(), Vec::new());
        for (place, title) in titles.iter().enumerate() {
            let cells: Vec<CellFigures> = (0..table.rows.len())
                .map(|row| {
                    cell_text(table, row, place)
                        .map(parse_cell)
                        .unwrap_or_default()
                })
                .collect();
            let filled = rows
                .iter()
                .filter(|row| cell_text(table, **row, place).is_some_and(|text| !is_nothing(text)))
                .count();
            let is_figure = |found: &CellFigures| {
                found.main.is_some()
                    || found.spread.is_some()
                    || found.ends.is_some()
                    || found.counts.is_some()
            };
            let numeric = rows.iter().filter(|row| is_figure(&cells[**row])).count();
            if filled == 0 {
                continue;
            }
            if (numeric as f64) < MIN_FIGURES * filled as f64 {
                texts.push(place);
                continue;
            }
            push_columns(table, place, title, &cells, &rows, &mut series);
            // Numbers may be names, and levels may divide the rows; `test_timeouts` does neither.
            let is_level = title.role == ColumnRole::Group
                && title.words.len() == 1
                && series.last().is_some_and(|own| own.are_whole);
            if matches!(title.role, ColumnRole::Id | ColumnRole::Name) || is_level {
                texts.push(place);
            }
        }
        let groups = group_rows(table, &titles, &texts, &rows);
        Self {
            table,
            titles,
            series,
            rows,
            texts,
            groups,
        }
    }

    /// Takes a row out of what the audit is about.
    pub fn exclude_row(&mut self, row: usize) {
        self.rows.retain(|other| *other != row);
        self.groups
            .iter_mut()
            .for_each(|(_, rows)| rows.retain(|other| *other != row));
    }

    pub fn finding_at(
        &self,
        kind: ClaimKind,
        severity: Severity,
        rows: &[usize],
        place: usize,
        possible: Vec<String>,
        text: String,
    ) -> ClaimFinding {
        let stated = rows
            .first()
            .and_then(|row| cell_text(self.table, *row, place))
            .unwrap_or_default()
            .to_owned();
        ClaimFinding {
            kind,
            severity,
            table: self.table.name.clone(),
            places: rows.iter().map(|row| self.claim_place(*row)).collect(),
            column: self.table.columns[place].clone(),
            stated,
            possible,
            text,
        }
    }

    fn claim_place(&self, row: usize) -> ClaimPlace {
        let found = &self.table.rows[row];
        ClaimPlace {
            row: found.number,
            line: found.line,
            name: self.row_name(row),
        }
    }

    /// Returns the text that names a row best.
    pub fn row_name(&self, row: usize) -> String {
        let order = [
            ColumnRole::Name,
            ColumnRole::Id,
            ColumnRole::Unknown,
            ColumnRole::Group,
        ];
        let has_role = |role: ColumnRole| {
            self.texts
                .iter()
                .filter(move |place| self.titles[**place].role == role && !self.are_marks(**place))
        };
        let mut named = order.iter().flat_map(|role| has_role(*role));
        named
            .find_map(|place| cell_text(self.table, row, *place))
            .map(plain_name)
            .unwrap_or_default()
    }

    /// Returns whether a column has only marks, such as whether a model is open.
    fn are_marks(&self, place: usize) -> bool {
        let mut values = self
            .rows
            .iter()
            .filter_map(|row| cell_text(self.table, *row, place));
        values.all(|text| is_nothing(text) || is_mark(text))
    }

    /// Returns the printed rates of a series, by row, as shares with the digits that were printed.
    pub fn printed_rate(series: &FigureColumn, row: usize) -> Option<PrintedRate> {
        let (printed, whole) = (series.values[row]?, series.whole?);
        let units = u64::try_from(printed.units).ok()?;
        let whole = printed.units_per_one().checked_mul(whole)?;
        (units <= whole).then_some(PrintedRate { units, whole })
    }

    /// Returns whether the figures of a series may be shares of items.
    pub fn may_be_rate(series: &FigureColumn) -> bool {
        let may_be = matches!(
            series.role,
            ColumnRole::Rate | ColumnRole::Unknown | ColumnRole::OneRun | ColumnRole::Group
        );
        let is_share = series.whole.is_some() && !series.title.is_no_share && may_be;
        let has_digits = series
            .values
            .iter()
            .flatten()
            .any(|value| value.decimals > 0 || value.has_percent);
        is_share && (has_digits || series.title.names_rate)
    }

    /// Returns whether a column says the same in each row.
    pub fn is_constant(&self, place: usize) -> bool {
        let mut values = self
            .rows
            .iter()
            .filter_map(|row| cell_text(self.table, *row, place));
        let first = values.next();
        values.all(|value| Some(value) == first)
    }

    /// Returns the number of runs that a figure is said to be the mean of.
    pub fn reported_runs(&self, series: &FigureColumn, row: usize) -> Option<u64> {
        let stated = self
            .series
            .iter()
            .find(|series| series.role == ColumnRole::Runs && series.are_whole)
            .filter(|_| series.role != ColumnRole::OneRun);
        stated
            .and_then(|stated| Self::whole_count(stated, row))
            .or(series.title.runs)
            .filter(|runs| (1..=1000).contains(runs))
    }

    /// Returns the whole number of a series in a row.
    pub fn whole_count(series: &FigureColumn, row: usize) -> Option<u64> {
        series.values[row]?.whole_number()
    }
}

/// Prints a share with the digits and on the scale of a series.
pub(super) fn format_rate(
    rate: PrintedRate,
    series: &FigureColumn,
    printed: PrintedFigure,
) -> String {
    let units = rate.units;
    let scale = rate.whole / series.whole.unwrap_or(1);
    let digits = printed.decimals as usize;
    let percent = if printed.has_percent { "%" } else { "" };
    if digits == 0 {
        format!("{units}{percent}")
    } else {
        format!("{}.{:0digits$}{percent}", units / scale, units % scale)
    }
}

pub(super) fn cell_text(table: &PublishedTable, row: usize, place: usize) -> Option<&str> {
    table.rows[row]
        .cells
        .get(place)?
        .as_deref()
        .map(str::trim)
        .filter(|text| !text.is_empty())
}

pub(super) fn is_nothing(text: &str) -> bool {
    matches!(
        text.to_lowercase().as_str(),
        "" | "-"
            | "–"
            | "—"
            | "na"
            | "n/a"
            | "nan"
            | "none"
            | "null"
            | "tbd"
            | "?"
            | "*"
            | "x"
            | "."
            | "/"
    )
}

fn is_mark(text: &str) -> bool {
    matches!(
        text.to_lowercase().as_str(),
        "true"
            | "false"
            | "yes"
            | "no"
            | "✓"
            | "✔"
            | "✔️"
            | "✅"
            | "✗"
            | "✘"
            | "❌"
            | ":white_check_mark:"
            | ":x:"
    )
}

/// Returns a name without the marks of its format: `**[GPT-4](https://…)**` is `GPT-4`.
pub(super) fn plain_name(text: &str) -> String {
    let mut text = text.replace("**", "").replace("__", "").replace('`', "");
    if let Some(rest) = text.trim().strip_prefix('[')
        && let Some((name, _)) = rest.split_once("](")
    {
        text = name.to_owned();
    }
    text.trim().to_owned()
}

fn is_total_row(table: &PublishedTable, row: usize) -> bool {
    let first = table.rows[row]
        .cells
        .iter()
        .flatten()
        .map(|text| plain_name(text).to_lowercase())
        .find(|text| !text.is_empty());
    let words = [
        "total",
        "totals",
        "average",
        "avg",
        "mean",
        "overall",
        "sum",
        "all",
        "macro avg",
        "macro average",
        "gesamt",
        "summe",
        "mittelwert",
        "durchschnitt",
        "moyenne",
        "promedio",
    ];
    first.is_some_and(|first| words.contains(&first.trim_end_matches(':')))
}

fn push_columns(
    table: &PublishedTable,
    place: usize,
    title: &ColumnTitle,
    cells: &[CellFigures],
    rows: &[usize],
    series: &mut Vec<FigureColumn>,
) {
    let name = &table.columns[place];
    let bold: Vec<bool> = cells.iter().map(|found| found.is_bold).collect();
    let add = |series: &mut Vec<FigureColumn>,
               role: ColumnRole,
               part_of: Option<usize>,
               values: Vec<Option<PrintedFigure>>| {
        let values = unify_decimals(values, rows);
        let filled: Vec<PrintedFigure> = rows.iter().filter_map(|row| values[*row]).collect();
        if filled.is_empty() {
            return;
        }
        let are_whole = filled
            .iter()
            .all(|value| value.units >= 0 && value.whole_number().is_some());
        let within = |most: f64| filled.iter().all(|value| value.value().abs() <= most);
        let is_negative = filled.iter().any(|value| value.units < 0);
        let is_percent = filled.iter().any(|value| value.has_percent)
            || title
                .words
                .iter()
                .any(|word| matches!(word.as_str(), "percent" | "pct" | "percentage"));
        let scale = if within(1.0) && !is_percent {
            Some(1)
        } else {
            within(100.0).then_some(100)
        };
        // `resolved` may be a count or a share, and `Rank` a sort of task.
        let role = match role {
            ColumnRole::Passed if !are_whole => ColumnRole::Rate,
            ColumnRole::Rank if !are_whole => ColumnRole::Unknown,
            role => role,
        };
        series.push(FigureColumn {
            place,
            name: name.clone(),
            title: title.clone(),
            role,
            values,
            bold: bold.clone(),
            part_of,
            are_whole,
            whole: scale.filter(|_| !is_negative),
            scale,
        });
    };
    let mains = cells.iter().filter(|found| found.main.is_some()).count();
    let whole_number = |number: u64| {
        i64::try_from(number).ok().map(|units| PrintedFigure {
            units,
            decimals: 0,
            has_percent: false,
        })
    };
    if mains > 0 {
        add(
            series,
            title.role,
            None,
            cells.iter().map(|found| found.main).collect(),
        );
    }
    let base = (mains > 0).then_some(place).or(Some(place));
    let spread_role = if matches!(
        title.role,
        ColumnRole::StandardError | ColumnRole::Deviation
    ) {
        title.role
    } else {
        ColumnRole::HalfWidth
    };
    add(
        series,
        spread_role,
        base,
        cells.iter().map(|found| found.spread).collect(),
    );
    add(
        series,
        ColumnRole::Low,
        base,
        cells
            .iter()
            .map(|found| found.ends.map(|(low, _)| low))
            .collect(),
    );
    add(
        series,
        ColumnRole::High,
        base,
        cells
            .iter()
            .map(|found| found.ends.map(|(_, high)| high))
            .collect(),
    );
    add(
        series,
        ColumnRole::Passed,
        base,
        cells
            .iter()
            .map(|found| whole_number(found.counts?.0))
            .collect(),
    );
    add(
        series,
        ColumnRole::Total,
        base,
        cells
            .iter()
            .map(|found| whole_number(found.counts?.1))
            .collect(),
    );
}

/// Gives values the digits that the column prints, if its writer drops zeros at the end: `62` beside `61.7` is `62.0`.
fn unify_decimals(
    mut values: Vec<Option<PrintedFigure>>,
    rows: &[usize],
) -> Vec<Option<PrintedFigure>> {
    const MIN_PADDED_VALUES: usize = 4;
    // Digits that are zero in every row were added by the writer.
    let are_padded = |values: &[Option<PrintedFigure>]| {
        let filled: Vec<PrintedFigure> = rows.iter().filter_map(|row| values[*row]).collect();
        filled.len() >= MIN_PADDED_VALUES
            && filled
                .iter()
                .all(|value| value.decimals > 0 && value.units % 10 == 0)
    };
    while are_padded(&values) && values.iter().flatten().all(|value| value.decimals > 0) {
        values.iter_mut().flatten().for_each(|value| {
            *value = PrintedFigure {
                units: value.units / 10,
                decimals: value.decimals - 1,
                ..*value
            }
        });
    }
    let filled: Vec<PrintedFigure> = rows.iter().filter_map(|row| values[*row]).collect();
    let Some(most) = filled
        .iter()
        .map(|value| value.decimals)
        .max()
        .filter(|most| *most > 0)
    else {
        return values;
    };
    let keeps_zeros = filled
        .iter()
        .any(|value| value.decimals > 0 && value.units % 10 == 0);
    let longest = filled.iter().filter(|value| value.decimals == most).count();
    if !keeps_zeros && longest >= MIN_PADDED_VALUES && longest * 10 >= filled.len() * 7 {
        values
            .iter_mut()
            .flatten()
            .for_each(|value| *value = value.with_decimals(most));
    }
    values
}

/// Divides the rows by a column with few different values, such as the suite.
fn group_rows(
    table: &PublishedTable,
    titles: &[ColumnTitle],
    texts: &[usize],
    rows: &[usize],
) -> Vec<(String, Vec<usize>)> {
    const MIN_ROWS: usize = 3;
    let mut places: Vec<usize> = Vec::new();
    for place in texts
        .iter()
        .copied()
        .filter(|place| titles[*place].role == ColumnRole::Group)
    {
        let values: BTreeSet<&str> = rows
            .iter()
            .filter_map(|row| cell_text(table, *row, place))
            .collect();
        if values.len() > 1
            && values.len() * 2 <= rows.len()
            && rows.len() >= values.len() * MIN_ROWS
        {
            places.push(place);
        }
    }
    if places.is_empty() {
        return vec![(String::new(), rows.to_vec())];
    }
    let (mut order, mut groups): (Vec<String>, BTreeMap<String, Vec<usize>>) =
        (Vec::new(), BTreeMap::new());
    for row in rows {
        let key = places
            .iter()
            .filter_map(|place| cell_text(table, *row, *place))
            .collect::<Vec<_>>()
            .join(" · ");
        if !groups.contains_key(&key) {
            order.push(key.clone());
        }
        groups.entry(key).or_default().push(*row);
    }
    order
        .into_iter()
        .map(|key| (key.clone(), groups.remove(&key).unwrap_or_default()))
        .collect()
}
