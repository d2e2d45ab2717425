//! The hot loops on their own: `cargo bench --bench micro`.

use divan::Bencher;
use divan::counter::BytesCount;
use evalreport::results::ItemLine;
use evalreport::stats::{
    OutcomeBitsets, all_pairs, holm_adjustment, mcnemar_each, wilson_score_interval,
};
use evalreport::views::{AuditedBoard, audit_board};

fn main() {
    divan::main();
}

const SHAPED: &str = concat!(
    r#"{"item":"category-03/question-000123","kind":"question","evaluator":"answers","attempt":1,"revision":0,"status":"pass","score":1.0,"#,
    r#""cluster":"category-03","duration_seconds":12.345,"cost_usd":0.001234,"input_tokens":1234,"output_tokens":567}"#
);
/// The same, in an order that only the general parser reads.
const REORDERED: &str = concat!(
    r#"{"kind":"question","item":"category-03/question-000123","evaluator":"answers","attempt":1,"revision":0,"status":"pass","score":1.0,"#,
    r#""cluster":"category-03","duration_seconds":12.345,"cost_usd":0.001234,"input_tokens":1234,"output_tokens":567}"#
);

#[divan::bench(args = [("shape", SHAPED), ("serde", REORDERED)])]
fn item_line(bencher: Bencher, (_, line): (&str, &str)) {
    bencher
        .counter(BytesCount::of_str(line))
        .bench(|| ItemLine::parse(divan::black_box(line.as_bytes())).is_ok());
}

#[divan::bench]
fn wilson_interval(bencher: Bencher) {
    bencher.bench(|| wilson_score_interval(divan::black_box(41), divan::black_box(48), 0.95));
}

/// A board of the shape of ProteinGym: 96 systems, 217 items. It is the largest of those with a published card.
#[divan::bench(sample_count = 20)]
fn audit_of_96_systems_and_217_items(bencher: Bencher) {
    let mut state = 1_u64;
    let mut next = || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as f64 / (1_u64 << 31) as f64
    };
    let scores = (0..96)
        .map(|system| {
            (0..217)
                .map(|_| Some(0.6 * next() + 0.4 * f64::from(system) / 96.0))
                .collect()
        })
        .collect();
    let names = |what: &str, count: usize| (0..count).map(|at| format!("{what} {at}")).collect();
    let board = AuditedBoard {
        name: "board".to_owned(),
        systems: names("system", 96),
        items: names("item", 217),
        scores,
        clusters: None,
        provenance: Vec::new(),
        are_rates: false,
        judged_by: None,
        sha256: None,
    };
    bencher.bench(|| audit_board(divan::black_box(&board)).is_ok());
}

/// Counts, tests and adjusts all pairs of 1,000 arms on 12,000 items.
#[divan::bench(sample_count = 20)]
fn all_pairs_of_1000_arms(bencher: Bencher) {
    let mut state = 1_u64;
    let mut next = || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        state >> 33
    };
    let arms: Vec<OutcomeBitsets> = (0..1000)
        .map(|arm| {
            let row: Vec<Option<bool>> = (0..12_000)
                .map(|_| Some(next() % 2000 < 500 + arm))
                .collect();
            OutcomeBitsets::from_outcomes(row.into_iter())
        })
        .collect();
    bencher.bench(|| {
        let counts = all_pairs(divan::black_box(&arms), |_, _, pairs| {
            (pairs.only_a, pairs.only_b)
        });
        let exact: Vec<f64> = mcnemar_each(counts.into_iter())
            .into_iter()
            .map(|test| test.exact)
            .collect();
        holm_adjustment(&exact)
    });
}
