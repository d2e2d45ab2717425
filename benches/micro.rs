//! The hot loops on their own: `cargo bench --bench micro`.

use divan::Bencher;
use divan::counter::BytesCount;
use evalreport::results::ItemLine;
use evalreport::stats::wilson;

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
    bencher.counter(BytesCount::of_str(line)).bench(|| ItemLine::parse(divan::black_box(line.as_bytes())).is_ok());
}

#[divan::bench]
fn wilson_interval(bencher: Bencher) {
    bencher.bench(|| wilson(divan::black_box(41), divan::black_box(48), 0.95));
}
