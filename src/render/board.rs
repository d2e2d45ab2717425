//! A suite's board as a table, with one function per column. The leaderboard, the bill and the pages choose from these columns.

use std::collections::BTreeSet;

use crate::domain::{Direction, Evaluator, Metric, Unit, score_label};
use crate::views::{Arm, Entry, Estimate, Figure, Front, Method, Money, SuiteBoard};

use super::cell::{Cell, Datum};
use super::table::{Column, Seen, Table};
use super::{details, format, since, verdicts, words};

pub const COST_FRONT: &str = "Pass rate and cost";
pub const DURATION_FRONT: &str = "Pass rate and duration";

/// A board and those of its arms that have a row.
struct Columns<'a> {
    board: &'a SuiteBoard,
    entries: Vec<&'a Entry>,
    has_leaders: bool,
}

/// A column with one cell per arm.
type Filled = (Column, Vec<Cell>);

/// Lays out one suite's board, with notes on its methods and limits.
pub fn table(board: &SuiteBoard) -> Table {
    Table {
        notes: notes(board),
        instead: front_notes(board),
        ..arms_table(board)
    }
}

/// Lays out one suite's board without notes.
pub(super) fn arms_table(board: &SuiteBoard) -> Table {
    let of = Columns::of(board, &board.entries);
    let mut table = Table::of("board").titled(format!(
        "Leaderboard: {}",
        words::group_name(
            &board.suite,
            board.suite_version.as_deref(),
            board.source.as_deref()
        )
    ));
    fill(
        &mut table,
        [
            of.arm(),
            of.place(),
            of.rank(),
            of.approach(),
            of.model(),
            of.primary(),
            of.n(),
            of.missing(),
            of.passed(),
            of.first_in_resamples(),
            of.letters(),
            of.runs(),
            of.cost(),
            of.cost_per_solved(),
            of.cost_front(),
            of.tokens(),
            of.duration(),
            of.slowest(),
            of.duration_front(),
            of.verification(),
        ],
    );
    fill(&mut table, of.all_nights());
    fill(&mut table, of.pass_rate());
    fill(&mut table, of.scores());
    fill(&mut table, [of.newest(), of.not_counted()]);
    table
}

/// Returns all columns that a board can have, for a board without arms.
pub fn columns() -> Vec<Column> {
    arms_table(&SuiteBoard::empty(Metric::pass_rate())).columns
}

/// Lays out the cost of the given arms, and what a solved item costs with each.
pub fn costs<'a>(
    board: &'a SuiteBoard,
    entries: impl IntoIterator<Item = &'a Entry>,
    spent: Option<&Money>,
) -> Table {
    let of = Columns::of(board, entries);
    let mut table = Table::of("costs").titled(format!(
        "Cost: {}",
        words::group_name(&board.suite, board.suite_version.as_deref(), None)
    ));
    let columns = [
        of.arm(),
        of.place(),
        of.approach(),
        of.model(),
        of.cost(),
        of.runs_with_cost(),
        of.cost_per_solved(),
        of.primary(),
        of.cost_front(),
    ];
    fill(
        &mut table,
        columns.map(|(column, cells)| {
            (
                Column {
                    rank: column.rank.min(1),
                    ..column
                },
                cells,
            )
        }),
    );
    table.notes.push(match spent {
        Some(spent) => format!(
            "All runs: {}, known of {}.",
            words::money(spent),
            words::runs_with_cost(spent)
        ),
        None => "The cost of these runs is unknown.".to_owned(),
    });
    table
}

fn fill(table: &mut Table, columns: impl IntoIterator<Item = Filled>) {
    for (column, cells) in columns {
        table.column(column, cells);
    }
}

impl<'a> Columns<'a> {
    fn of(board: &'a SuiteBoard, entries: impl IntoIterator<Item = &'a Entry>) -> Self {
        Self {
            board,
            entries: entries.into_iter().collect(),
            has_leaders: has_leaders(board),
        }
    }

    /// Says whether the arm is in the leading group, if there is one.
    fn leads(&self, entry: &Entry) -> bool {
        self.has_leaders
            && entry
                .standing
                .as_ref()
                .is_some_and(|standing| standing.is_leading)
    }

    fn each(&self, column: Column, cell: impl Fn(&'a Entry) -> Cell) -> Filled {
        (
            column,
            self.entries.iter().map(|entry| cell(entry)).collect(),
        )
    }

    /// The shortest name that distinguishes the arm from the others.
    fn arm(&self) -> Filled {
        let name = words::names_on(self.board);
        self.each(Column::words("Arm").seen(Seen::Pages), |entry| {
            Cell::words(name(&entry.arm)).bold(self.leads(entry))
        })
    }

    /// Identifies the board, and the arm's position in its order.
    fn place(&self) -> Filled {
        let place = |entry: &Entry| {
            self.board
                .entries
                .iter()
                .position(|known| known.arm == entry.arm)
                .map(|at| at as u64 + 1)
        };
        let board = self.board;
        self.each(
            Column::data(["suite", "suite_version", "source", "primary", "position"]),
            |entry| {
                Cell::figures([
                    board.suite.as_str().into(),
                    board.suite_version.as_deref().into(),
                    board.source.as_deref().into(),
                    board.primary.name.as_str().into(),
                    place(entry).into(),
                ])
            },
        )
    }

    /// Range of possible ranks. Pages show the leading group in bold, and say so.
    fn rank(&self) -> Filled {
        let column = Column::number("Rank")
            .keys(["rank_best", "rank_worst", "is_leading"])
            .field("standing")
            .unit(Unit::Count)
            .better(Direction::Down)
            .about("as a range");
        self.each(column, |entry| {
            let Some(standing) = &entry.standing else {
                return Cell::unknown("–");
            };
            let leads = self.leads(entry);
            let data = [
                standing.rank.best.into(),
                standing.rank.worst.into(),
                standing.is_leading.into(),
            ];
            Cell::shown(words::rank(standing.rank))
                .data(data)
                .bold(leads)
        })
    }

    fn approach(&self) -> Filled {
        let lacks = words::lack_approaches(self.board.entries.iter().map(|entry| &entry.arm));
        let seen = if lacks { Seen::Data } else { Seen::Lines };
        self.each(
            Column::words("Approach")
                .keys(["approach"])
                .field("approach")
                .seen(seen),
            |entry| Cell::words(entry.arm.approach.as_str()),
        )
    }

    fn model(&self) -> Filled {
        let lacks = words::lack_models(self.board.entries.iter().map(|entry| &entry.arm));
        let seen = if lacks { Seen::Data } else { Seen::Lines };
        self.each(
            Column::words("Model")
                .keys(["model"])
                .field("model")
                .seen(seen),
            |entry| Cell::words(entry.arm.model.as_str()),
        )
    }

    /// The deciding figure.
    fn primary(&self) -> Filled {
        let (column, cells) = self.rates(&self.board.primary, |entry| entry.primary.as_ref());
        // A judge's rate that nobody checked says so in its head.
        let over = self
            .board
            .judged_by
            .as_ref()
            .map_or("", words::judged_briefly);
        (column.field("primary").over(over), cells)
    }

    /// The pass rate, or `None` if it is the deciding figure.
    fn pass_rate(&self) -> Option<Filled> {
        let (column, cells) = self.rates(&Metric::pass_rate(), |entry| entry.pass_rate.as_ref());
        (!words::is_pass_rate(&self.board.primary)).then(|| (column.rank(3), cells))
    }

    /// The pass rate over all nights, if the board leaves nights out.
    fn all_nights(&self) -> Option<Filled> {
        if self.entries.iter().all(|entry| entry.all_nights.is_none()) {
            return None;
        }
        let keys = ["", "_ci95_low", "_ci95_high"].map(|end| format!("all_nights_pass_rate{end}"));
        let column = Column::number("All nights % [95% CI]")
            .keys(keys)
            .field("all_nights")
            .unit(Unit::Fraction)
            .rank(2);
        Some(
            self.each(column.about("pass rate, decides nothing"), |entry| {
                let Some(estimate) = &entry.all_nights else {
                    return Cell::unknown("unknown");
                };
                let [low, high] = Datum::ends(estimate.interval);
                Cell::shown(words::figure_with_interval(&Metric::pass_rate(), estimate)).data([
                    estimate.value.into(),
                    low,
                    high,
                ])
            }),
        )
    }

    fn rates(
        &self,
        metric: &Metric,
        estimate: impl Fn(&'a Entry) -> Option<&'a Estimate>,
    ) -> Filled {
        let key = rate_key(metric);
        let keys = ["", "_ci95_low", "_ci95_high", "_method"].map(|end| format!("{key}{end}"));
        let unit = if metric.unit == Unit::Fraction {
            " %"
        } else {
            ""
        };
        let column = Column::number(format!("{}{unit} [95% CI]", words::metric_label(metric)))
            .keys(keys)
            .unit(metric.unit)
            .better(metric.direction);
        self.each(column, |entry| {
            let Some(estimate) = estimate(entry) else {
                return Cell::unknown("unknown");
            };
            let shown = words::figure_with_interval(metric, estimate);
            let [low, high] = Datum::ends(estimate.interval);
            let cell = Cell::shown(if estimate.is_stated() {
                format!("{shown} published")
            } else {
                shown
            });
            cell.data([
                estimate.value.into(),
                low,
                high,
                Datum::name(estimate.method),
            ])
            .bold(self.leads(entry))
        })
    }

    /// Number of units behind the deciding figure. If all arms count the same unit, the head names it.
    fn n(&self) -> Filled {
        let words: BTreeSet<&str> = self
            .entries
            .iter()
            .filter_map(|entry| entry.primary.as_ref())
            .map(|estimate| estimate.n_of)
            .collect();
        let shared = if words.len() == 1 {
            words.first().copied()
        } else {
            None
        };
        self.each(
            Column::number("n")
                .over(shared.unwrap_or_default())
                .keys(["n", "n_of"]),
            |entry| {
                let Some(estimate) = &entry.primary else {
                    return Cell::unknown("unknown");
                };
                let text = if shared.is_some() {
                    format::integer(estimate.n)
                } else {
                    words::count_of(estimate.n, estimate.n_of)
                };
                Cell::shown(text).data([estimate.n.into(), estimate.n_of.into()])
            },
        )
    }

    fn missing(&self) -> Filled {
        let missing = |entry: &Entry| entry.primary.as_ref().map(|estimate| estimate.missing);
        let is_seen = self.entries.iter().any(|entry| missing(entry) > Some(0));
        let column = Column::number("Missing")
            .keys(["missing"])
            .better(Direction::Down)
            .seen(if is_seen {
                Seen::Everywhere
            } else {
                Seen::Data
            });
        self.each(column.rank(1), |entry| {
            missing(entry).map_or_else(|| Cell::unknown("unknown"), Cell::count)
        })
    }

    fn passed(&self) -> Filled {
        self.each(
            Column::number("Passed")
                .keys(["passed", "total"])
                .rank(3)
                .seen(Seen::Lines),
            |entry| {
                let counts = entry
                    .primary
                    .as_ref()
                    .and_then(|rate| rate.passed.zip(rate.total));
                counts.map_or_else(
                    || Cell::unknown(""),
                    |(passed, total)| {
                        Cell::shown(format!(
                            "{}/{}",
                            format::integer(passed),
                            format::integer(total)
                        ))
                        .data([passed.into(), total.into()])
                    },
                )
            },
        )
    }

    /// Share of resamples of the items in which the arm comes first.
    fn first_in_resamples(&self) -> Filled {
        let column = Column::number("First in resamples")
            .keys(["first_in_resamples"])
            .better(Direction::Up)
            .rank(8);
        self.each(column.about("items drawn anew"), |entry| {
            let share = entry
                .standing
                .as_ref()
                .and_then(|standing| standing.first_in_resamples);
            share.map_or_else(
                || Cell::unknown(""),
                |share| Cell::number(words::chance(share), share),
            )
        })
    }

    /// Letters: arms that share a letter do not differ significantly.
    fn letters(&self) -> Filled {
        self.each(
            Column::words("Letters")
                .keys(["letters"])
                .rank(7)
                .about("a shared letter: no significant difference"),
            |entry| {
                Cell::words(
                    entry
                        .standing
                        .as_ref()
                        .and_then(|standing| standing.letters.clone())
                        .unwrap_or_default(),
                )
            },
        )
    }

    fn runs(&self) -> Filled {
        self.each(
            Column::number("Runs")
                .keys(["runs"])
                .field("runs")
                .unit(Unit::Count)
                .rank(2),
            |entry| Cell::count(entry.runs),
        )
    }

    fn cost(&self) -> Filled {
        let column = Column::number("Cost")
            .over("all runs")
            .field("cost")
            .unit(Unit::Usd)
            .keys(["cost_usd", "cost_is_lower_bound"])
            .better(Direction::Down)
            .rank(1);
        self.each(column, |entry| words::money_cell(entry.cost.as_ref()))
    }

    fn runs_with_cost(&self) -> Filled {
        self.each(
            Column::number("Runs with a cost")
                .keys(["runs_with_cost", "runs"])
                .rank(1),
            |entry| {
                entry.cost.as_ref().map_or_else(
                    || Cell::unknown("unknown").data([Datum::Absent, entry.runs.into()]),
                    |money| {
                        Cell::shown(words::runs_with_cost(money))
                            .data([money.coverage.known.into(), money.coverage.runs.into()])
                    },
                )
            },
        )
    }

    fn cost_per_solved(&self) -> Filled {
        let keys = [
            "cost_per_solved_usd",
            "cost_per_solved_ci95_low",
            "cost_per_solved_ci95_high",
        ];
        let column = Column::number("Cost per solved")
            .field("cost_per_solved_usd")
            .unit(Unit::Usd)
            .keys(keys)
            .better(Direction::Down)
            .rank(3);
        self.each(column, |entry| {
            match (
                entry.cost_per_solved_usd,
                entry.pass_rate.as_ref().and_then(|rate| rate.passed),
            ) {
                (Some(usd), _) => {
                    let interval = entry.cost_per_solved_interval.map(|price| price.interval);
                    let [low, high] = Datum::ends(interval);
                    Cell::shown(format::money(usd))
                        .data([usd.into(), low, high])
                        .between(interval, format::money)
                }
                (None, Some(0)) if entry.cost.is_some() => Cell::unknown("none solved"),
                (None, _) => Cell::unknown("unknown"),
            }
        })
    }

    fn cost_front(&self) -> Filled {
        self.front(COST_FRONT, "cost_front", |entry| entry.cost_front.as_ref())
    }

    fn duration_front(&self) -> Filled {
        self.front(DURATION_FRONT, "duration_front", |entry| {
            entry.duration_front.as_ref()
        })
    }

    /// Whether an arm is on the Pareto front of quality and price. CSV has full names.
    fn front(
        &self,
        label: &str,
        key: &'static str,
        front: impl Fn(&Entry) -> Option<&Front>,
    ) -> Filled {
        let name = words::names_on(self.board);
        self.each(
            Column::words(label)
                .keys([key])
                .field(key)
                .rank(8)
                .about("Pareto front"),
            |entry| {
                front(entry).map_or_else(
                    || Cell::unknown(""),
                    |front| {
                        Cell::shown(words::front(front, &name)).data([words::front(front, |arm| {
                            words::arm_name(&self.board.suite, arm)
                        })
                        .into()])
                    },
                )
            },
        )
    }

    fn tokens(&self) -> Filled {
        let column = Column::number("Tokens")
            .over("per run")
            .field("tokens")
            .unit(Unit::Tokens)
            .keys(["tokens_mean"])
            .better(Direction::Down)
            .rank(4);
        self.each(column, |entry| figure(entry.tokens.as_ref(), Unit::Tokens))
    }

    fn duration(&self) -> Filled {
        let keys = [
            "duration_seconds_median",
            "duration_seconds_median_ci95_low",
            "duration_seconds_median_ci95_high",
        ];
        let column = Column::number("Duration")
            .over("median")
            .field("duration")
            .unit(Unit::Seconds)
            .keys(keys)
            .better(Direction::Down)
            .rank(2);
        self.each(column, |entry| {
            let Some(spread) = &entry.duration else {
                return Cell::unknown("unknown");
            };
            let [low, high] = Datum::ends(spread.interval);
            Cell::shown(format::seconds(spread.median))
                .data([spread.median.into(), low, high])
                .between(spread.interval, format::seconds)
        })
    }

    fn slowest(&self) -> Filled {
        let column = Column::number("Duration")
            .over("p90")
            .field("duration")
            .unit(Unit::Seconds)
            .keys(["duration_seconds_p90"])
            .better(Direction::Down)
            .rank(5);
        self.each(column, |entry| match &entry.duration {
            Some(spread) => spread.p90.map_or_else(
                || Cell::unknown("one run"),
                |p90| Cell::number(format::seconds(p90), p90),
            ),
            None => Cell::unknown("unknown"),
        })
    }

    fn verification(&self) -> Filled {
        self.each(
            Column::words("Verification")
                .over("runs")
                .field("verification")
                .rank(4),
            |entry| {
                if entry.verification.is_empty() {
                    Cell::unknown("")
                } else {
                    Cell::shown(words::verification(&entry.verification))
                }
            },
        )
    }

    /// One column for each score that runs have.
    fn scores(&self) -> Vec<Filled> {
        let of_score = |column: &crate::views::ScoreColumn| {
            let about = match column.direction {
                Direction::Up => "higher is better",
                Direction::Down => "lower is better",
                Direction::None => "",
            };
            let head = Column::number(score_label(&column.metric))
                .keys([format!("score_{}", column.metric)])
                .better(column.direction)
                .about(about);
            // If space is short, the column that says most about the result is dropped last.
            let rank = [3, 5]
                .get(Evaluator::place_by_weight(&column.metric))
                .copied()
                .unwrap_or(6);
            self.each(head.rank(rank), |entry| {
                figure(entry.scores.get(&column.metric), column.unit)
            })
        };
        self.board.score_columns.iter().map(of_score).collect()
    }

    fn newest(&self) -> Filled {
        self.each(
            Column::words("Newest run")
                .keys(["newest"])
                .field("newest")
                .better(Direction::Up)
                .seen(Seen::Pages)
                .rank(6),
            |entry| Cell::time(entry.newest),
        )
    }

    fn not_counted(&self) -> Filled {
        let keys = [
            "failed_runs",
            "excluded_runs",
            "crashed_runs",
            "disagreeing_runs",
            "possibly_cached",
        ];
        self.each(
            Column::words("Notes").keys(keys).seen(Seen::Lines).rank(1),
            |entry| {
                let counts = [
                    entry.failed_runs,
                    entry.excluded_runs,
                    entry.crashed_runs,
                    entry.disagreeing_runs,
                    entry.possibly_cached,
                ];
                Cell {
                    is_unknown: counts == [0; 5],
                    ..Cell::shown(words::exclusions(entry).unwrap_or_default())
                        .data(counts.map(Datum::from))
                }
            },
        )
    }
}

/// Formats a mean over runs. If only some runs have the figure, the cell says how many.
fn figure(figure: Option<&Figure>, unit: Unit) -> Cell {
    let Some(figure) = figure else {
        return Cell::unknown("unknown");
    };
    let mean = figure.summary.mean;
    let shown = if unit == Unit::Tokens {
        mean.round()
    } else {
        mean
    };
    let cell = Cell::number(format::value(shown, unit, figure.summary.n), mean);
    if figure.coverage.known < figure.coverage.runs {
        cell.small(format!(
            "{} of {} runs",
            format::integer(figure.coverage.known),
            format::integer(figure.coverage.runs)
        ))
    } else {
        cell
    }
}

/// Returns the name that the deciding figure has in CSV.
pub(super) fn rate_key(metric: &Metric) -> &str {
    if words::is_pass_rate(metric) {
        "pass_rate"
    } else {
        &metric.name
    }
}

/// Says whether some arms are in the leading group and some are not. A group of all arms distinguishes nothing.
pub fn has_leaders(board: &SuiteBoard) -> bool {
    board
        .entries
        .iter()
        .filter_map(|entry| entry.standing.as_ref())
        .any(|standing| !standing.is_leading)
}

/// Returns notes on the methods and limits of the board's numbers.
pub fn notes(board: &SuiteBoard) -> Vec<String> {
    let mut notes: Vec<String> = verdicts::board_sentence(board).into_iter().collect();
    notes.extend(
        board
            .since
            .as_ref()
            .map(|since| since::sentence(&board.suite, since)),
    );
    if board.items > 0 {
        let attempts = if board.attempts > 1 {
            format!(", up to {} attempts at each", board.attempts)
        } else {
            String::new()
        };
        notes.push(format!(
            "{} {}{attempts}.",
            format::integer(board.items),
            words::one_or_many(board.items, "items")
        ));
    }
    notes.extend(board.judged_by.as_ref().map(words::judged_by));
    notes.extend(methods(board));
    notes.extend(unmeasured(board));
    match board.sources.as_slice() {
        [] => {}
        [one] => notes.push(format!("From {one}.")),
        // Nothing is pooled if each arm has one run.
        several if board.entries.iter().all(|entry| entry.runs <= 1) => {
            notes.push(format!(
                "From {} sources: {}.",
                several.len(),
                words::first_three(several)
            ));
        }
        several => notes.push(format!(
            "Runs from {} sources are pooled: {}.",
            several.len(),
            words::first_three(several)
        )),
    }
    notes.extend(verdicts::board_notes(board));
    notes.extend(details::entry_notes(board));
    notes
}

/// Describes how the intervals were computed: one method for all arms, or the arms of each method.
pub fn methods(board: &SuiteBoard) -> Option<String> {
    let name = words::names_on(board);
    let mut methods: Vec<(Method, Vec<String>)> = Vec::new();
    for (entry, estimate) in board
        .entries
        .iter()
        .filter_map(|entry| Some((entry, entry.primary.as_ref()?)))
    {
        match methods
            .iter_mut()
            .find(|(known, _)| words::method(*known) == words::method(estimate.method))
        {
            Some((_, arms)) => arms.push(name(&entry.arm)),
            None => methods.push((estimate.method, vec![name(&entry.arm)])),
        }
    }
    match methods.as_slice() {
        [] => None,
        [(one, _)] => Some(format!("Intervals: {}.", words::method(*one))),
        several => {
            let parts: Vec<String> = several
                .iter()
                .map(|(method, arms)| {
                    format!("{} ({})", words::method(*method), words::first_three(arms))
                })
                .collect();
            Some(format!("Intervals: {}.", parts.join("; ")))
        }
    }
}

/// Names the amounts that no run of the board has, or returns `None`.
pub(super) fn unmeasured(board: &SuiteBoard) -> Option<String> {
    let is_unknown =
        |has: fn(&Entry) -> bool| !board.entries.is_empty() && !board.entries.iter().any(has);
    let unknown: Vec<&str> = [
        ("cost", is_unknown(|entry| entry.cost.is_some())),
        ("tokens", is_unknown(|entry| entry.tokens.is_some())),
        ("duration", is_unknown(|entry| entry.duration.is_some())),
    ]
    .into_iter()
    .filter_map(|(name, is_unknown)| is_unknown.then_some(name))
    .collect();
    (!unknown.is_empty()).then(|| format!("Not measured in any run: {}.", unknown.join(", ")))
}

/// Lists the arms on the Pareto front and the dominated ones, for tables without room for the columns.
fn front_notes(board: &SuiteBoard) -> Vec<(String, String)> {
    let label = words::names_on(board);
    let note = |column: &str, price: &str, front: fn(&Entry) -> Option<&Front>| {
        let (mut best, mut dominated) = (Vec::new(), Vec::new());
        for entry in &board.entries {
            match front(entry) {
                Some(Front::OnFront) => best.push(label(&entry.arm)),
                Some(Front::Dominated { by }) => {
                    dominated.push(format!("{} (by {})", label(&entry.arm), label(by)))
                }
                None => {}
            }
        }
        let rest = if dominated.is_empty() {
            String::new()
        } else {
            format!(
                " Worse and not cheaper: {}.",
                words::first_three(&dominated)
            )
        };
        let note = format!(
            "Pareto front of pass rate and {price}, on the numbers shown: {}.{rest}",
            best.join(", ")
        );
        (!best.is_empty()).then(|| (column.to_owned(), note))
    };
    let cost = note(COST_FRONT, "cost per run", |entry| {
        entry.cost_front.as_ref()
    });
    let duration = note(DURATION_FRONT, "duration", |entry| {
        entry.duration_front.as_ref()
    });
    cost.into_iter().chain(duration).collect()
}

/// Returns the arms of a board, in its order.
pub fn arms(board: &SuiteBoard) -> Vec<Arm> {
    board
        .entries
        .iter()
        .map(|entry| entry.arm.clone())
        .collect()
}
