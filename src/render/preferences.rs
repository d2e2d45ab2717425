//! Boards of votes, as tables and sentences.

use crate::views::{Bound, Preferences, PreferredArm, StyleEffect, Ties, VoteUnit};

use super::cell::{Datum, TableCell};
use super::format;
use super::phrases::{self, count_with_noun};
use super::table::{ReportTable, TableColumn};

/// Lays out a board of votes, and its styles if there are any.
pub fn strength_tables(board: &Preferences) -> Vec<ReportTable> {
    let mut tables = vec![places_table(board)];
    if !board.styles.is_empty() {
        tables.push(styles_table(board));
    }
    tables
}

fn places_table(board: &Preferences) -> ReportTable {
    let size = format!(
        "{}, {} tied",
        count_with_noun(board.votes, "votes"),
        format::format_integer(board.ties)
    );
    let mut table = ReportTable::for_rows("preferences")
        .with_title(format!("{}: strengths by votes ({size})", board.votes_of));
    let each = |cell: &dyn Fn(&PreferredArm) -> TableCell| {
        board.places.iter().map(cell).collect::<Vec<TableCell>>()
    };
    table.add_filled_column(
        TableColumn::number("Place").keys(["place"]),
        (1..).take(board.places.len()).map(TableCell::count),
    );
    table.add_filled_column(
        TableColumn::words("Arm").keys(["arm"]),
        each(&|place| TableCell::words(place.arm.as_str())),
    );
    table.add_filled_column(
        TableColumn::number("Votes").keys(["votes"]),
        each(&|place| TableCell::count(place.votes)),
    );
    let rate = |place: &PreferredArm| {
        TableCell::number(
            format::percent_number(place.win_rate, place.votes),
            place.win_rate,
        )
    };
    table.add_filled_column(
        TableColumn::number("Won %")
            .over("ties half")
            .keys(["win_rate"]),
        each(&rate),
    );
    let strength = |place: &PreferredArm| match place.points {
        Some(points) => {
            let ends = points
                .low
                .zip(points.high)
                .map(|(low, high)| [whole_points(low), whole_points(high)]);
            let mut cell = TableCell::for_people(whole_points(points.value)).with_data([
                points.value.into(),
                points.low.into(),
                points.high.into(),
            ]);
            cell.ends = ends;
            cell
        }
        None => TableCell::unknown(phrases::bound_words(place.bound)),
    };
    let keys = ["points", "low", "high"];
    table.add_filled_column(
        TableColumn::number("Strength")
            .over("points, 95%")
            .keys(keys),
        each(&strength),
    );
    let rank = |place: &PreferredArm| {
        TableCell::for_people(phrases::rank_range(place.rank)).with_data([
            Datum::from(place.rank.best as u64),
            Datum::from(place.rank.worst as u64),
        ])
    };
    table.add_filled_column(
        TableColumn::number("Rank")
            .over("95% for all at once")
            .keys(["best", "worst"]),
        each(&rank),
    );
    table.add_filled_column(
        TableColumn::words("Over the next").keys(["beats_next"]),
        each(&|place| TableCell::words(phrases::lead_over_next_words(place.beats_next))),
    );
    table.add_filled_column(
        TableColumn::number("Elo")
            .over("in the file's order")
            .keys(["elo"])
            .rank(2),
        each(&|place| TableCell::number(format::fixed_decimals(place.elo, 0), place.elo)),
    );
    table.add_filled_column(
        TableColumn::for_programs(["bound"]),
        each(&|place| TableCell::for_programs([Datum::json_name(place.bound)])),
    );
    table.notes = method_notes(board);
    table
}

/// Formats points with their sign, except for zero.
fn whole_points(points: f64) -> String {
    if points.abs() < 0.5 {
        "0".to_owned()
    } else {
        format::signed_number(points, 0)
    }
}

fn method_notes(board: &Preferences) -> Vec<String> {
    let mut notes = Vec::new();
    let arms = board.places.len() as u64;
    notes.push(format!(
        "Established, with 95% confidence for all pairs at once: {} of {}.",
        format::format_integer(board.established_pairs),
        count_with_noun(board.pairs, "pairs"),
    ));
    let ties = match board.ties_are {
        Ties::HalfWins => "a tie is half a win for each",
        Ties::Davidson => "ties are an outcome of their own (Davidson)",
    };
    notes.push(format!(
        "Strength: log odds by the model of Bradley and Terry; {ties}. An arm with 100 points more wins 64% of the votes on the two; the mean \
         of the arms is 0."
    ));
    notes.push(units_note(board));
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
                phrases::first_three(&arms)
            ));
        }
    }
    if board.fitted_votes < board.votes {
        let finite = named(Bound::Finite).len() as u64;
        let fitted = format!(
            "{} of {}",
            format::format_integer(board.fitted_votes),
            count_with_noun(board.votes, "votes")
        );
        notes.push(format!(
            "The fit has {fitted}, on {} of {}.",
            format::format_integer(finite),
            count_with_noun(arms, "arms")
        ));
    }
    if board.unvoted + board.on_itself > 0 {
        notes.push(format!(
            "Left out: {} without a vote, {} on an arm against itself.",
            count_with_noun(board.unvoted, "rows"),
            count_with_noun(board.on_itself, "rows"),
        ));
    }
    notes
}

/// Says which votes depend on each other.
fn units_note(board: &Preferences) -> String {
    let many = |unit: VoteUnit| match unit {
        VoteUnit::Vote => "votes",
        VoteUnit::Voter => "voters",
        VoteUnit::Prompt => "prompts",
    };
    let counted: Vec<String> = board
        .units
        .iter()
        .filter(|units| units.count > 1)
        .map(|units| count_with_noun(units.count, many(units.kind)))
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
        phrases::join_list(&counted)
    )
}

fn styles_table(board: &Preferences) -> ReportTable {
    let mut table = ReportTable::for_rows("styles")
        .with_title(format!("{}: effect of style on votes", board.votes_of));
    let each = |cell: &dyn Fn(&StyleEffect) -> TableCell| {
        board.styles.iter().map(cell).collect::<Vec<TableCell>>()
    };
    table.add_filled_column(
        TableColumn::words("Style").keys(["style"]),
        each(&|style| TableCell::words(style.style.as_str())),
    );
    let odds = |style: &StyleEffect| {
        let ends = style
            .effect
            .interval
            .map(|ends| (ends.low.exp(), ends.high.exp()));
        let mut cell = TableCell::for_people(format::fixed_decimals(style.effect.value.exp(), 2))
            .with_data([
                style.effect.value.exp().into(),
                ends.map(|ends| ends.0).into(),
                ends.map(|ends| ends.1).into(),
            ]);
        cell.ends = ends.map(|(low, high)| {
            [
                format::fixed_decimals(low, 2),
                format::fixed_decimals(high, 2),
            ]
        });
        cell
    };
    table.add_filled_column(
        TableColumn::number("Odds of a vote")
            .over("times, 95%")
            .keys(["odds", "low", "high"]),
        each(&odds),
    );
    table.add_filled_column(
        TableColumn::number("Unit").keys(["unit"]),
        each(&|style| TableCell::number(format::unscaled_number(style.unit), style.unit)),
    );
    table.notes.push(
        "The strengths above are those at equal style. A style is (a − b) / (a + b), and its unit the root mean square. An answer with one unit \
         more has so many times the odds of a vote."
            .to_owned(),
    );
    table
}
