//! Boards of votes, as tables and sentences.

use crate::views::{Bound, Preferences, PreferredArm, StyleEffect, Ties, VoteUnit};

use super::cell::{Cell, Datum};
use super::format;
use super::table::{Column, Table};
use super::words::{self, count_of};

/// Lays out a board of votes, and its styles if there are any.
pub fn tables(board: &Preferences) -> Vec<Table> {
    let mut tables = vec![places(board)];
    if !board.styles.is_empty() {
        tables.push(styles(board));
    }
    tables
}

fn places(board: &Preferences) -> Table {
    let size = format!(
        "{}, {} tied",
        count_of(board.votes, "votes"),
        format::integer(board.ties)
    );
    let mut table =
        Table::of("preferences").titled(format!("{}: strengths by votes ({size})", board.votes_of));
    let each =
        |cell: &dyn Fn(&PreferredArm) -> Cell| board.places.iter().map(cell).collect::<Vec<Cell>>();
    table.column(
        Column::number("Place").keys(["place"]),
        (1..).take(board.places.len()).map(Cell::count),
    );
    table.column(
        Column::words("Arm").keys(["arm"]),
        each(&|place| Cell::words(place.arm.as_str())),
    );
    table.column(
        Column::number("Votes").keys(["votes"]),
        each(&|place| Cell::count(place.votes)),
    );
    let rate = |place: &PreferredArm| {
        Cell::number(
            format::percent_number(place.win_rate, place.votes),
            place.win_rate,
        )
    };
    table.column(
        Column::number("Won %").over("ties half").keys(["win_rate"]),
        each(&rate),
    );
    let strength = |place: &PreferredArm| match place.points {
        Some(points) => {
            let ends = points
                .low
                .zip(points.high)
                .map(|(low, high)| [whole(low), whole(high)]);
            let mut cell = Cell::shown(whole(points.value)).data([
                points.value.into(),
                points.low.into(),
                points.high.into(),
            ]);
            cell.ends = ends;
            cell
        }
        None => Cell::unknown(words::bound(place.bound)),
    };
    let keys = ["points", "low", "high"];
    table.column(
        Column::number("Strength").over("points, 95%").keys(keys),
        each(&strength),
    );
    let rank = |place: &PreferredArm| {
        Cell::shown(words::rank(place.rank)).data([
            Datum::from(place.rank.best as u64),
            Datum::from(place.rank.worst as u64),
        ])
    };
    table.column(
        Column::number("Rank")
            .over("95% for all at once")
            .keys(["best", "worst"]),
        each(&rank),
    );
    table.column(
        Column::words("Over the next").keys(["beats_next"]),
        each(&|place| Cell::words(words::over_the_next(place.beats_next))),
    );
    table.column(
        Column::number("Elo")
            .over("in the file's order")
            .keys(["elo"])
            .rank(2),
        each(&|place| Cell::number(format::fixed(place.elo, 0), place.elo)),
    );
    table.column(
        Column::data(["bound"]),
        each(&|place| Cell::figures([Datum::name(place.bound)])),
    );
    table.notes = notes(board);
    table
}

/// Formats points with their sign, except for zero.
fn whole(points: f64) -> String {
    if points.abs() < 0.5 {
        "0".to_owned()
    } else {
        format::signed(points, 0)
    }
}

fn notes(board: &Preferences) -> Vec<String> {
    let mut notes = Vec::new();
    let arms = board.places.len() as u64;
    notes.push(format!(
        "Established, with 95% confidence for all pairs at once: {} of {}.",
        format::integer(board.established_pairs),
        count_of(board.pairs, "pairs"),
    ));
    let ties = match board.ties_are {
        Ties::HalfWins => "a tie is half a win for each",
        Ties::Davidson => "ties are an outcome of their own (Davidson)",
    };
    notes.push(format!(
        "Strength: log odds by the model of Bradley and Terry; {ties}. An arm with 100 points more wins 64% of the votes on the two; the mean \
         of the arms is 0."
    ));
    notes.push(units(board));
    let named = |wanted: Bound| -> Vec<String> {
        board
            .places
            .iter()
            .filter(|place| place.bound == wanted)
            .map(|place| place.arm.clone())
            .collect()
    };
    for (of, one, many) in [
        (
            Bound::NoUpper,
            "no other won or tied against it, directly or through others",
            "no other won or tied against them, directly or through others",
        ),
        (
            Bound::NoLower,
            "it won and tied no vote against the others",
            "they won and tied no vote against the others",
        ),
        (
            Bound::Unconnected,
            "no chain of votes connects it with the others",
            "no chain of votes connects them with the others",
        ),
    ] {
        let arms = named(of);
        if !arms.is_empty() {
            let reason = if arms.len() == 1 { one } else { many };
            notes.push(format!(
                "No finite strength for {}: {reason}. More votes settle it.",
                words::first_three(&arms)
            ));
        }
    }
    if board.fitted_votes < board.votes {
        let finite = named(Bound::Finite).len() as u64;
        let fitted = format!(
            "{} of {}",
            format::integer(board.fitted_votes),
            count_of(board.votes, "votes")
        );
        notes.push(format!(
            "The fit has {fitted}, on {} of {}.",
            format::integer(finite),
            count_of(arms, "arms")
        ));
    }
    if board.unvoted + board.on_itself > 0 {
        notes.push(format!(
            "Left out: {} without a vote, {} on an arm against itself.",
            count_of(board.unvoted, "rows"),
            count_of(board.on_itself, "rows"),
        ));
    }
    notes
}

/// Says which votes depend on each other.
fn units(board: &Preferences) -> String {
    let many = |unit: VoteUnit| match unit {
        VoteUnit::Vote => "votes",
        VoteUnit::Voter => "voters",
        VoteUnit::Prompt => "prompts",
    };
    let counted: Vec<String> = board
        .units
        .iter()
        .filter(|units| units.count > 1)
        .map(|units| count_of(units.count, many(units.kind)))
        .collect();
    if board.units.iter().any(|units| units.kind == VoteUnit::Vote) {
        return "Intervals: each vote counts as independent, because the file names neither voters nor prompts. If voters voted several times, \
                the intervals are too narrow."
            .to_owned();
    }
    let single = board
        .units
        .iter()
        .filter(|units| units.count == 1)
        .map(|units| match units.kind {
            VoteUnit::Prompt => " All votes are on one prompt, and say nothing of others.",
            VoteUnit::Vote | VoteUnit::Voter => {
                " All votes are by one voter, and say nothing of others."
            }
        });
    let single: String = single.collect();
    if counted.is_empty() {
        return format!("Intervals: each vote counts as independent.{single}");
    }
    format!(
        "Intervals: sandwich errors over {}, whose votes depend on each other.{single}",
        words::listed(&counted)
    )
}

fn styles(board: &Preferences) -> Table {
    let mut table =
        Table::of("styles").titled(format!("{}: effect of style on votes", board.votes_of));
    let each =
        |cell: &dyn Fn(&StyleEffect) -> Cell| board.styles.iter().map(cell).collect::<Vec<Cell>>();
    table.column(
        Column::words("Style").keys(["style"]),
        each(&|style| Cell::words(style.style.as_str())),
    );
    let odds = |style: &StyleEffect| {
        let ends = style
            .effect
            .interval
            .map(|ends| (ends.low.exp(), ends.high.exp()));
        let mut cell = Cell::shown(format::fixed(style.effect.value.exp(), 2)).data([
            style.effect.value.exp().into(),
            ends.map(|ends| ends.0).into(),
            ends.map(|ends| ends.1).into(),
        ]);
        cell.ends = ends.map(|(low, high)| [format::fixed(low, 2), format::fixed(high, 2)]);
        cell
    };
    table.column(
        Column::number("Odds of a vote")
            .over("times, 95%")
            .keys(["odds", "low", "high"]),
        each(&odds),
    );
    table.column(
        Column::number("Unit").keys(["unit"]),
        each(&|style| Cell::number(format::plain(style.unit), style.unit)),
    );
    table.notes.push(
        "The strengths above are those at equal style. A style is (a − b) / (a + b), and its unit the root mean square. An answer with one unit \
         more has so many times the odds of a vote."
            .to_owned(),
    );
    table
}
