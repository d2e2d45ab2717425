//! A table of published figures as columns of numbers with their roles.

use std::collections::{BTreeMap, BTreeSet};

use crate::domain::ClaimedTable;
use crate::stats::PrintedRate;

use super::figure::{Figures, Printed, figures};
use super::finding::{ClaimFinding, ClaimKind, ClaimPlace, Severity};
use super::titles::{Role, Title, title};

/// A column, or the part of its cells that is a figure of its own, such as the `± 3.2` of `61.7 ± 3.2`.
pub(super) struct Series {
    /// Column of the table.
    pub place: usize,
    pub name: String,
    pub title: Title,
    pub role: Role,
    /// By row.
    pub values: Vec<Option<Printed>>,
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

pub(super) struct Sheet<'a> {
    pub table: &'a ClaimedTable,
    pub titles: Vec<Title>,
    pub series: Vec<Series>,
    /// Rows that are not totals of others.
    pub rows: Vec<usize>,
    /// Columns of text, in their order.
    pub texts: Vec<usize>,
    /// Rows by what divides them, in the order of the first. One group if nothing does.
    pub groups: Vec<(String, Vec<usize>)>,
}

/// Smallest share of the filled cells of a column that must be figures.
const LEAST_FIGURES: f64 = 0.6;

impl<'a> Sheet<'a> {
    pub fn of(table: &'a ClaimedTable) -> Self {
        let titles: Vec<Title> = table.columns.iter().map(|name| title(name)).collect();
        let rows: Vec<usize> = (0..table.rows.len())
            .filter(|row| !is_total_row(table, *row))
            .collect();
        let (mut series, mut texts) = (Vec::new(), Vec::new());
        for (place, title) in titles.iter().enumerate() {
            let cells: Vec<Figures> = (0..table.rows.len())
                .map(|row| cell(table, row, place).map(figures).unwrap_or_default())
                .collect();
            let filled = rows
                .iter()
                .filter(|row| cell(table, **row, place).is_some_and(|text| !is_nothing(text)))
                .count();
            let is_figure = |found: &Figures| {
                found.main.is_some()
                    || found.spread.is_some()
                    || found.ends.is_some()
                    || found.counts.is_some()
            };
            let numeric = rows.iter().filter(|row| is_figure(&cells[**row])).count();
            if filled == 0 {
                continue;
            }
            if (numeric as f64) < LEAST_FIGURES * filled as f64 {
                texts.push(place);
                continue;
            }
            push(table, place, title, &cells, &rows, &mut series);
            // Numbers may be names, and levels may divide the rows; `test_timeouts` does neither.
            let is_level = title.role == Role::Group
                && title.words.len() == 1
                && series.last().is_some_and(|own| own.are_whole);
            if matches!(title.role, Role::Id | Role::Name) || is_level {
                texts.push(place);
            }
        }
        let groups = groups_of(table, &titles, &texts, &rows);
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
    pub fn leave_out(&mut self, row: usize) {
        self.rows.retain(|other| *other != row);
        self.groups
            .iter_mut()
            .for_each(|(_, rows)| rows.retain(|other| *other != row));
    }

    pub fn finding(
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
            .and_then(|row| cell(self.table, *row, place))
            .unwrap_or_default()
            .to_owned();
        ClaimFinding {
            kind,
            severity,
            table: self.table.name.clone(),
            places: rows.iter().map(|row| self.place(*row)).collect(),
            column: self.table.columns[place].clone(),
            stated,
            possible,
            text,
        }
    }

    fn place(&self, row: usize) -> ClaimPlace {
        let found = &self.table.rows[row];
        ClaimPlace {
            row: found.number,
            line: found.line,
            name: self.name_of(row),
        }
    }

    /// Returns the text that names a row best.
    pub fn name_of(&self, row: usize) -> String {
        let order = [Role::Name, Role::Id, Role::Unknown, Role::Group];
        let has_role = |role: Role| {
            self.texts
                .iter()
                .filter(move |place| self.titles[**place].role == role && !self.are_marks(**place))
        };
        let mut named = order.iter().flat_map(|role| has_role(*role));
        named
            .find_map(|place| cell(self.table, row, *place))
            .map(plain_name)
            .unwrap_or_default()
    }

    /// Returns whether a column has only marks, such as whether a model is open.
    fn are_marks(&self, place: usize) -> bool {
        let mut values = self
            .rows
            .iter()
            .filter_map(|row| cell(self.table, *row, place));
        values.all(|text| is_nothing(text) || is_mark(text))
    }

    /// Returns the printed rates of a series, by row, as shares with the digits that were printed.
    pub fn rate(series: &Series, row: usize) -> Option<PrintedRate> {
        let (printed, whole) = (series.values[row]?, series.whole?);
        let units = u64::try_from(printed.units).ok()?;
        let whole = printed.scale().checked_mul(whole)?;
        (units <= whole).then_some(PrintedRate { units, whole })
    }

    /// Returns whether the figures of a series may be shares of items.
    pub fn is_rate(series: &Series) -> bool {
        let may_be = matches!(
            series.role,
            Role::Rate | Role::Unknown | Role::OneRun | Role::Group
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
            .filter_map(|row| cell(self.table, *row, place));
        let first = values.next();
        values.all(|value| Some(value) == first)
    }

    /// Returns the number of runs that a figure is said to be the mean of.
    pub fn runs_of(&self, series: &Series, row: usize) -> Option<u64> {
        let stated = self
            .series
            .iter()
            .find(|series| series.role == Role::Runs && series.are_whole)
            .filter(|_| series.role != Role::OneRun);
        stated
            .and_then(|stated| Self::count(stated, row))
            .or(series.title.runs)
            .filter(|runs| (1..=1000).contains(runs))
    }

    /// Returns the whole number of a series in a row.
    pub fn count(series: &Series, row: usize) -> Option<u64> {
        series.values[row]?.whole()
    }
}

/// Prints a share with the digits and on the scale of a series.
pub(super) fn shown(rate: PrintedRate, series: &Series, printed: Printed) -> String {
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

pub(super) fn cell(table: &ClaimedTable, row: usize, place: usize) -> Option<&str> {
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

fn is_total_row(table: &ClaimedTable, row: usize) -> bool {
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

fn push(
    table: &ClaimedTable,
    place: usize,
    title: &Title,
    cells: &[Figures],
    rows: &[usize],
    series: &mut Vec<Series>,
) {
    let name = &table.columns[place];
    let bold: Vec<bool> = cells.iter().map(|found| found.is_bold).collect();
    let add = |series: &mut Vec<Series>,
               role: Role,
               part_of: Option<usize>,
               values: Vec<Option<Printed>>| {
        let values = alike(values, rows);
        let filled: Vec<Printed> = rows.iter().filter_map(|row| values[*row]).collect();
        if filled.is_empty() {
            return;
        }
        let are_whole = filled
            .iter()
            .all(|value| value.units >= 0 && value.whole().is_some());
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
            Role::Passed if !are_whole => Role::Rate,
            Role::Rank if !are_whole => Role::Unknown,
            role => role,
        };
        series.push(Series {
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
        i64::try_from(number).ok().map(|units| Printed {
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
    let spread_role = if matches!(title.role, Role::StandardError | Role::Deviation) {
        title.role
    } else {
        Role::HalfWidth
    };
    add(
        series,
        spread_role,
        base,
        cells.iter().map(|found| found.spread).collect(),
    );
    add(
        series,
        Role::Low,
        base,
        cells
            .iter()
            .map(|found| found.ends.map(|(low, _)| low))
            .collect(),
    );
    add(
        series,
        Role::High,
        base,
        cells
            .iter()
            .map(|found| found.ends.map(|(_, high)| high))
            .collect(),
    );
    add(
        series,
        Role::Passed,
        base,
        cells
            .iter()
            .map(|found| whole_number(found.counts?.0))
            .collect(),
    );
    add(
        series,
        Role::Total,
        base,
        cells
            .iter()
            .map(|found| whole_number(found.counts?.1))
            .collect(),
    );
}

/// Gives values the digits that the column prints, if its writer drops zeros at the end: `62` beside `61.7` is `62.0`.
fn alike(mut values: Vec<Option<Printed>>, rows: &[usize]) -> Vec<Option<Printed>> {
    const LEAST: usize = 4;
    // Digits that are zero in every row were added by the writer.
    let are_padded = |values: &[Option<Printed>]| {
        let filled: Vec<Printed> = rows.iter().filter_map(|row| values[*row]).collect();
        filled.len() >= LEAST
            && filled
                .iter()
                .all(|value| value.decimals > 0 && value.units % 10 == 0)
    };
    while are_padded(&values) && values.iter().flatten().all(|value| value.decimals > 0) {
        values.iter_mut().flatten().for_each(|value| {
            *value = Printed {
                units: value.units / 10,
                decimals: value.decimals - 1,
                ..*value
            }
        });
    }
    let filled: Vec<Printed> = rows.iter().filter_map(|row| values[*row]).collect();
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
    if !keeps_zeros && longest >= LEAST && longest * 10 >= filled.len() * 7 {
        values
            .iter_mut()
            .flatten()
            .for_each(|value| *value = value.with_decimals(most));
    }
    values
}

/// Divides the rows by a column with few different values, such as the suite.
fn groups_of(
    table: &ClaimedTable,
    titles: &[Title],
    texts: &[usize],
    rows: &[usize],
) -> Vec<(String, Vec<usize>)> {
    const LEAST_ROWS: usize = 3;
    let mut places: Vec<usize> = Vec::new();
    for place in texts
        .iter()
        .copied()
        .filter(|place| titles[*place].role == Role::Group)
    {
        let values: BTreeSet<&str> = rows
            .iter()
            .filter_map(|row| cell(table, *row, place))
            .collect();
        if values.len() > 1
            && values.len() * 2 <= rows.len()
            && rows.len() >= values.len() * LEAST_ROWS
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
            .filter_map(|place| cell(table, *row, *place))
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
