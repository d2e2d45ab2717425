//! What a board establishes, as tables and sentences.

use crate::views::{
    Audit, AuditedData, Fact, InvarianceDrift, Order, RankRange, RecordedFact, Splitting,
    StandardCard,
};

use super::cell::{Datum, TableCell};
use super::phrases::{self, count_with_noun};
use super::table::{ColumnVisibility, ReportTable, TableColumn};
use super::{format, item_table};

/// Lays out the places of a board, with what is established in notes below, and the card of the Leaderboard Reporting Standard.
pub fn place_and_standard_tables(audit: &Audit) -> [ReportTable; 2] {
    [places_table(audit), standard_table(audit)]
}

fn places_table(audit: &Audit) -> ReportTable {
    let kind = match audit.data {
        AuditedData::Passes => "passes",
        AuditedData::Rates => "pass rates",
        AuditedData::Scores => "scores",
    };
    let size = format!(
        "{}, {}",
        count_with_noun(audit.systems, "systems"),
        count_with_noun(audit.items, "items")
    );
    let mut table = ReportTable::for_rows("audit").with_title(format!(
        "{}: how much of the order is established ({size}, {kind})",
        audit.board
    ));
    let each = |cell: &dyn Fn(usize) -> TableCell| {
        (0..audit.places.len())
            .map(cell)
            .collect::<Vec<TableCell>>()
    };
    let place = |at: usize| &audit.places[at];
    table.add_filled_column(
        TableColumn::number("Place").keys(["place"]),
        each(&|at| TableCell::count(at as u64 + 1)),
    );
    table.add_filled_column(
        TableColumn::words("System").keys(["system"]),
        each(&|at| TableCell::words(place(at).system.as_str())),
    );
    let mean = |at: usize| match audit.data {
        AuditedData::Passes | AuditedData::Rates => TableCell::number(
            format::percent_number(place(at).mean, audit.items),
            place(at).mean,
        ),
        AuditedData::Scores => {
            TableCell::number(format::fixed_decimals(place(at).mean, 4), place(at).mean)
        }
    };
    let label = if audit.data == AuditedData::Scores {
        "Mean score"
    } else {
        "Pass rate %"
    };
    table.add_filled_column(TableColumn::number(label).keys(["mean"]), each(&mean));
    let range = |range: Option<RankRange>| match range {
        Some(range) => TableCell::for_people(phrases::rank_range(range)).with_data([
            Datum::from(range.best as u64),
            Datum::from(range.worst as u64),
        ]),
        None => TableCell::unknown("none"),
    };
    table.add_filled_column(
        TableColumn::number("Rank")
            .over("95% for all at once")
            .keys(["best", "worst"]),
        each(&|at| range(place(at).rank)),
    );
    table.add_filled_column(
        TableColumn::number("Tier").keys(["tier"]).rank(1),
        each(&|at| TableCell::count_or_blank(place(at).tier)),
    );
    let next = |at: usize| match place(at).beats_next {
        Some(true) => TableCell::words("established"),
        Some(false) => TableCell::words("open"),
        None => TableCell::words(""),
    };
    table.add_filled_column(
        TableColumn::words("Over the next").keys(["beats_next"]),
        each(&next),
    );
    let published = |at: usize| range(place(at).standard_rank);
    table.add_filled_column(
        TableColumn::number("Rank by the standard")
            .keys(["standard_best", "standard_worst"])
            .visible_in(ColumnVisibility::Data),
        each(&published),
    );
    table.notes = place_notes(audit);
    table
}

/// Says how many systems could be first: the words of a badge.
pub fn possible_first_places(audit: &Audit) -> String {
    let said = match &audit.established {
        Some(order) if order.could_be_first == 1 => "first place is established".to_owned(),
        Some(order) => format!(
            "{} of {} could be first",
            format::format_integer(order.could_be_first),
            format::format_integer(audit.systems)
        ),
        None => "nothing is established".to_owned(),
    };
    if audit.judged_by.is_some() {
        format!("{said}, by an unchecked judge")
    } else {
        said
    }
}

/// Names a fact that a board's runs may record.
pub fn fact_name(fact: Fact) -> &'static str {
    match fact {
        Fact::Date => "date",
        Fact::ModelVersion => "version of the model",
        Fact::Harness => "harness",
        Fact::HarnessVersion => "version of the harness",
        Fact::SuiteVersion => "version of the suite",
        Fact::CodeRevision => "revision of the code",
        Fact::Seed => "seed",
        Fact::Contamination => "statement on contamination",
    }
}

fn place_notes(audit: &Audit) -> Vec<String> {
    let mut notes: Vec<String> = audit.judged_by.iter().map(phrases::judged_by).collect();
    if !audit.left_out.is_empty() {
        let count = audit.left_out.len() as u64;
        notes.push(format!(
            "{} without a score on each item {} left out: {}.",
            count_with_noun(count, "systems"),
            if count == 1 { "is" } else { "are" },
            phrases::first_three(&audit.left_out)
        ));
    }
    match &audit.established {
        Some(order) => notes.extend(established_notes(audit, order)),
        None => notes.push("No two systems differ, so nothing is established.".to_owned()),
    }
    if let Some(found) = &audit.minority {
        let count = found.items.len() as u64;
        let ahead = |by: f64| match audit.data {
            AuditedData::Passes | AuditedData::Rates => {
                format!("{} pp", format::fixed_decimals(100.0 * by, 1))
            }
            AuditedData::Scores => format::fixed_decimals(by, 3),
        };
        notes.push(format!(
            "{} of {} decide the first place: without {} ({}), {} leads. On {} {} is ahead by {}, elsewhere behind by {}.",
            count,
            count_with_noun(audit.items, "items"),
            if count == 1 { "it" } else { "them" },
            phrases::first_three(&found.items.iter().map(|item| item_table::first_line(item)).collect::<Vec<String>>()),
            found.rival,
            if count == 1 { "it" } else { "them" },
            found.leader,
            ahead(found.difference_on_them),
            ahead(-found.difference_elsewhere),
        ));
    }
    if let Some(groups) = &audit.groups {
        let core = format!(
            "Of all pairs, {} have the same order in each of {}.",
            format::format_integer(groups.core_pairs),
            count_with_noun(groups.groups, "clusters")
        );
        notes.push(core);
        if let Some((moved, rival)) = groups.moved_weight.zip(groups.moved_to.as_ref()) {
            let share = format::percent(moved, audit.items);
            notes.push(format!(
                "If {share} of the weight moves between clusters, {rival} is level with the first."
            ));
        }
    }
    notes
}

fn established_notes(audit: &Audit, order: &Order) -> Vec<String> {
    let unit = if audit.clusters.is_some() {
        "clusters"
    } else {
        "items"
    };
    let mut notes = vec![format!(
        "Established, with 95% confidence for all pairs at once: {} of {} and {} of {}.",
        format::format_integer(order.established_neighbours),
        count_with_noun(audit.systems - 1, "neighbours"),
        format::format_integer(order.established_pairs),
        count_with_noun(order.pairs, "pairs"),
    )];
    notes.push(format!(
        "{} of {} could be first, {} could be last; the typical system spans {} of {} places.",
        format::format_integer(order.could_be_first),
        count_with_noun(audit.systems, "systems"),
        format::format_integer(order.could_be_last),
        format::unscaled_number(order.median_width + 1.0),
        format::format_integer(audit.systems),
    ));
    let open = if order.ceiling_bits > 0.0 {
        order.entropy_bits / order.ceiling_bits
    } else {
        0.0
    };
    notes.push(format!(
        "{} of the order is open ({} of {} bits), and {} of the first {} places. It has {}; the largest group without a known order has {}.",
        format::percent(open, audit.items.max(100)),
        format::fixed_decimals(order.entropy_bits, 1),
        format::fixed_decimals(order.ceiling_bits, 1),
        format::percent(if order.top_ceiling_bits > 0.0 { order.top_entropy_bits / order.top_ceiling_bits } else { 0.0 }, 100),
        order.top,
        count_with_noun(order.tiers, "tiers"),
        count_with_noun(order.largest_open_group, "systems"),
    ));
    notes.push(format!(
        "Method: signs of whole {unit} are flipped for all systems together ({}), and the largest statistic of all pairs decides.",
        if order.draws < 2 { "no draw".to_owned() } else { count_with_noun(order.draws, "draws") },
    ));
    if order.critical.is_none() {
        notes.push(format!(
            "So few {unit} cannot establish anything, whatever the scores."
        ));
    }
    if order.violations > 0 || !order.places_inside {
        notes.push("The sets contradict each other or the places: do not publish them.".to_owned());
    }
    notes
}

/// The fields of the standard, by their names.
fn standard_table(audit: &Audit) -> ReportTable {
    let standard = &audit.standard;
    let mut table = ReportTable::for_rows("standard").with_title(format!(
        "Leaderboard Reporting Standard, draft {}",
        standard.draft
    ));
    let mut rows: Vec<[String; 3]> = Vec::new();
    let mut add = |field: &str, name: &str, value: String| {
        rows.push([field.to_owned(), name.to_owned(), value]);
    };
    let data = if audit.data == AuditedData::Passes {
        "binary"
    } else {
        "continuous"
    };
    let digest = standard
        .sha256_12
        .as_deref()
        .map_or_else(String::new, |digest| format!(", sha256 {digest}"));
    add(
        "R1",
        "shape",
        format!("{} × {}, {data}{digest}", audit.systems, audit.items),
    );
    if let Some(order) = &standard.order {
        add_order_fields(order, &mut add);
    }
    if let Some(found) = &standard.drift {
        let line = |drift: f64, floor: f64| {
            let exceeds = if drift > InvarianceDrift::MAX_DRIFT_RATIO * floor {
                ": exceeds"
            } else {
                ""
            };
            format!(
                "{} (floor {}){exceeds}",
                format::fixed_decimals(drift, 3),
                format::fixed_decimals(floor, 3)
            )
        };
        add(
            "R7",
            "metric drift, hard to easy items",
            line(found.drift.metric, found.floor.metric),
        );
        add(
            "R7",
            "ordinal drift",
            line(found.drift.ordinal, found.floor.ordinal),
        );
    }
    let top = standard.discordance_top_systems;
    let discordance = format!(
        "{}; {} over the first {top}",
        format::fixed_decimals(standard.discordance, 1),
        format::fixed_decimals(standard.discordance_top, 1)
    );
    add("R8", "discordance", discordance);
    let missing: Vec<&RecordedFact> = audit
        .provenance
        .iter()
        .filter(|fact| fact.is_missing())
        .collect();
    let known = audit.provenance.len() - missing.len();
    add(
        "R9",
        "provenance recorded",
        format!(
            "{known} of {} facts; seed of this card {}",
            audit.provenance.len(),
            standard.seed
        ),
    );
    add_first_place_fields(standard, audit, &mut add);
    table.add_filled_column(
        TableColumn::words("Field").keys(["field"]),
        rows.iter().map(|row| TableCell::words(row[0].as_str())),
    );
    table.add_filled_column(
        TableColumn::words("Name").keys(["name"]),
        rows.iter().map(|row| TableCell::words(row[1].as_str())),
    );
    table.add_filled_column(
        TableColumn::words("Value").keys(["value"]),
        rows.iter().map(|row| TableCell::words(row[2].as_str())),
    );
    table.notes.push(narrow_rank_sets_warning(standard));
    table
        .notes
        .extend(unrecorded_facts_note(&missing, audit.sha256.is_some()));
    table
}

fn add_order_fields(order: &Order, add: &mut impl FnMut(&str, &str, String)) {
    add(
        "R2",
        "median width of rank sets",
        format::unscaled_number(order.median_width),
    );
    add("R2", "could be first", order.could_be_first.to_string());
    if let Some((first, last)) = order.critical.zip(order.critical_last) {
        add(
            "R2",
            "critical value, first and last step",
            format!(
                "{}, {}",
                format::fixed_decimals(first, 3),
                format::fixed_decimals(last, 3)
            ),
        );
    }
    add(
        "R2",
        "places inside their sets",
        if order.places_inside {
            "all".to_owned()
        } else {
            "not all: withheld".to_owned()
        },
    );
    let bits = |own: f64, ceiling: f64| {
        let share = if ceiling > 0.0 {
            format!(", {}", format::percent(own / ceiling, 1000))
        } else {
            String::new()
        };
        format!(
            "{} of {} bits{share}",
            format::fixed_decimals(own, 1),
            format::fixed_decimals(ceiling, 1)
        )
    };
    add(
        "R3",
        "entropy of the order",
        bits(order.entropy_bits, order.ceiling_bits),
    );
    add(
        "R4",
        &format!("entropy of the first {}", order.top),
        bits(order.top_entropy_bits, order.top_ceiling_bits),
    );
    add(
        "R5",
        "established share of ordered pairs",
        format::percent(order.established_share, 1000),
    );
    add(
        "R5",
        "violations of transitivity",
        order.violations.to_string(),
    );
    add("R6", "tiers", order.tiers.to_string());
    add(
        "R6",
        "largest antichain",
        order.largest_open_group.to_string(),
    );
}

fn add_first_place_fields(
    standard: &StandardCard,
    audit: &Audit,
    add: &mut impl FnMut(&str, &str, String),
) {
    let first = &standard.first_against_second;
    let known = |value: Option<f64>, decimals: usize| {
        value.map_or_else(
            || "not defined".to_owned(),
            |value| format::fixed_decimals(value, decimals),
        )
    };
    add(
        "R10",
        "gap of the first two",
        format!(
            "{}, se {}, t {}",
            format::fixed_decimals(first.gap, 4),
            known(first.standard_error, 4),
            known(first.t, 2)
        ),
    );
    add(
        "R10",
        "kappa",
        format!(
            "{}; median of all pairs {}",
            known(first.kappa, 2),
            known(standard.median_kappa, 2)
        ),
    );
    if let Some(items) = first.effective_items {
        let share = format::percent(items / audit.items as f64, 100);
        let needed = first.needed_items.map_or_else(
            || "no number suffices".to_owned(),
            |items| format!("{} needed", format::fixed_decimals(items, 0)),
        );
        add(
            "R11",
            "effective items of the first two",
            format!("{} ({share}); {needed}", format::fixed_decimals(items, 1)),
        );
    }
    let split = |found: &Splitting| {
        let effective = found.effective_items.map_or_else(String::new, |items| {
            format!("{} effective, ", format::fixed_decimals(items, 1))
        });
        format!(
            "{effective}{} live, {} dead",
            found.live_items, found.dead_items
        )
    };
    if let Some(found) = &standard.splitting {
        add("C1", "items that split pairs", split(found));
    }
    if let Some(found) = &standard.splitting_of_first {
        add(
            "C1",
            "the same among those that could be first",
            split(found),
        );
    }
    if let Some((regrades, (one, other))) = standard
        .regrades
        .zip(standard.only_first.zip(standard.only_second))
    {
        let swaps = regrades.div_ceil(2);
        add(
            "C5",
            "solved by the first only, the second only",
            format!("{one}, {other}"),
        );
        add(
            "C5",
            "re-grades until the second is level",
            format!("{regrades} ({swaps} swapped)"),
        );
    }
}

/// Names the facts that runs do not record. `is_table` says whether the board was a table of scores.
fn unrecorded_facts_note(missing: &[&RecordedFact], is_table: bool) -> Option<String> {
    if missing.is_empty() {
        return None;
    }
    let named = |missing: &&RecordedFact| match missing.recorded {
        0 => fact_name(missing.fact).to_owned(),
        some => format!(
            "{} (recorded by {} of {})",
            fact_name(missing.fact),
            format::format_integer(some),
            count_with_noun(missing.of, "runs")
        ),
    };
    let named: Vec<String> = missing.iter().map(named).collect();
    let hint = if is_table {
        "A table of scores has no place for them; results of runs do."
    } else {
        "A run's tag `contamination` holds that statement."
    };
    let is_asked = is_table
        || missing
            .iter()
            .any(|missing| missing.fact == Fact::Contamination);
    Some(format!(
        "R9, not recorded: {}.{}",
        named.join(", "),
        if is_asked {
            format!(" {hint}")
        } else {
            String::new()
        }
    ))
}

fn narrow_rank_sets_warning(standard: &StandardCard) -> String {
    let ratio = format::fixed_decimals(standard.systems_per_item, 1);
    let shape = if standard.systems_per_item > 1.0 {
        format!("with {ratio} systems for each item these are far too narrow")
    } else {
        format!("with {ratio} systems for each item these may be too narrow")
    };
    format!(
        "The standard's rank sets (R2 to R6) promise 95% and hold less: by their author's simulation 1.3% of boards of 90 systems and 10 items, 54% \
         of 181 and 41. Here, {shape}. The ranks of the first table hold."
    )
}
