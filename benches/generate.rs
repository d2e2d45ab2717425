//! Makes the stores that the benches read: `cargo bench --bench generate -- FOLDER`.
//!
//! `FOLDER/items` holds 5 million outcomes in 250 journals; `FOLDER/small` holds 100 000 result files of about a kilobyte;
//! `FOLDER/pairs` holds 20 arms on the same 12 000 questions.
#![expect(clippy::print_stderr, reason = "a program for a person")]

use std::path::Path;

use evalreport::domain::{CostSource, ItemKind, ItemOutcome, ItemStatus, Run, RunId};
use evalreport::results::{Store, to_json};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{RngCore, SeedableRng};

const RUNS: u32 = 250;
const ITEMS: u32 = 20_000;
const SMALL_FILES: u32 = 100_000;
const PAIRED_ARMS: u32 = 20;
const PAIRED_ITEMS: usize = 12_000;

fn main() {
    let folder = std::env::args()
        .skip(1)
        .find(|argument| !argument.starts_with("--"))
        .unwrap_or_else(|| "target/bench-data".to_owned());
    let folder = Path::new(&folder);
    outcomes(&folder.join("items"));
    small_files(&folder.join("small"));
    pairs(&folder.join("pairs"));
}

/// Twenty arms that differ a little on the same 12,000 questions.
fn pairs(folder: &Path) {
    if folder.exists() {
        return;
    }
    let partial = folder.with_extension("partial");
    let store = Store::new(&partial);
    let mut random = ChaCha8Rng::seed_from_u64(3);
    let mut chance = || f64::from(random.next_u32()) / f64::from(u32::MAX);
    let difficulty: Vec<f64> = (0..PAIRED_ITEMS).map(|_| chance()).collect();
    for arm in 0..PAIRED_ARMS {
        let id = RunId::parse(&format!("01c00000-0000-7000-8000-{arm:012}")).expect("a valid id");
        let mut run = Run::new(id.clone(), "pairs", format!("approach-{arm:02}"), "model");
        let mut lines = String::new();
        for (item, difficulty) in difficulty.iter().enumerate() {
            let passes = 0.7 * difficulty + 0.3 * chance() < 0.5 + 0.01 * f64::from(arm);
            let outcome = ItemOutcome {
                run: id.clone(),
                kind: ItemKind::Question,
                item: format!("question-{item:05}"),
                cluster: None,
                category: None,
                attempt: 1,
                status: if passes {
                    ItemStatus::Pass
                } else {
                    ItemStatus::Fail
                },
                score: None,
                evaluator: "answers".to_owned(),
                revision: 0,
                duration_seconds: None,
                cost_usd: Some(chance() / 100.0),
                input_tokens: None,
                output_tokens: None,
            };
            evalreport::results::write_journal_line(&outcome, &mut lines);
        }
        run.duration_seconds = Some(3600.0 * chance());
        std::fs::create_dir_all(store.run_dir(&id)).expect("a writable folder");
        std::fs::write(store.run_dir(&id).join("items.jsonl"), lines).expect("a writable folder");
        std::fs::write(store.header_path(&id), to_json(&run)).expect("a writable folder");
    }
    std::fs::rename(&partial, folder).expect("a writable folder");
    eprintln!(
        "{}: {PAIRED_ARMS} arms on {PAIRED_ITEMS} questions",
        folder.display()
    );
}

fn outcomes(folder: &Path) {
    if folder.exists() {
        return;
    }
    let partial = folder.with_extension("partial");
    let store = Store::new(&partial);
    let mut random = ChaCha8Rng::seed_from_u64(1);
    for index in 0..RUNS {
        let id = RunId::parse(&format!("01a00000-0000-7000-8000-{index:012}")).expect("a valid id");
        let (approach, model) = (
            format!("approach-{}", index % 10),
            format!("model-{}", index % 5),
        );
        let mut run = Run::new(id.clone(), format!("suite-{}", index % 2), approach, model);
        let mut lines = String::new();
        let (mut passed, mut counted) = (0, 0);
        for item in 0..ITEMS {
            let draw = random.next_u32();
            let status = match draw % 100 {
                0..60 => ItemStatus::Pass,
                60..97 => ItemStatus::Fail,
                97 => ItemStatus::Error,
                98 => ItemStatus::Limit,
                _ => ItemStatus::Infra,
            };
            passed += u64::from(status == ItemStatus::Pass);
            counted += u64::from(status.is_counted());
            let outcome = ItemOutcome {
                run: id.clone(),
                kind: ItemKind::Question,
                item: format!("category-{:02}/question-{item:06}", item % 14),
                cluster: Some(format!("category-{:02}", item % 14)),
                category: None,
                attempt: 1,
                status,
                score: Some(f64::from(u8::from(status == ItemStatus::Pass))),
                evaluator: "answers".to_owned(),
                revision: 0,
                duration_seconds: Some(f64::from(draw % 100_000) / 1000.0),
                cost_usd: Some(f64::from(draw % 9973) / 1e6),
                input_tokens: Some(u64::from(draw % 20_000)),
                output_tokens: Some(u64::from(draw % 3000)),
            };
            evalreport::results::write_journal_line(&outcome, &mut lines);
        }
        (run.shared_tests_passed, run.shared_tests_total) = (Some(passed), Some(counted));
        run.duration_seconds = Some(f64::from(random.next_u32() % 4000));
        run.cost_usd = Some(f64::from(random.next_u32() % 4000) / 100.0);
        run.cost_source = CostSource::Reported;
        std::fs::create_dir_all(store.run_dir(&id)).expect("a writable folder");
        std::fs::write(store.run_dir(&id).join("items.jsonl"), lines).expect("a writable folder");
        std::fs::write(store.header_path(&id), to_json(&run)).expect("a writable folder");
    }
    std::fs::rename(&partial, folder).expect("a writable folder");
    eprintln!("{}: {} outcomes", folder.display(), RUNS * ITEMS);
}

fn small_files(folder: &Path) {
    if folder.exists() {
        return;
    }
    let partial = folder.with_extension("partial");
    std::fs::create_dir_all(&partial).expect("a writable folder");
    let store = Store::new(&partial);
    let mut random = ChaCha8Rng::seed_from_u64(2);
    for index in 0..SMALL_FILES {
        let id = RunId::parse(&format!("01b00000-0000-7000-8000-{index:012}")).expect("a valid id");
        let mut run = Run::new(
            id.clone(),
            format!("suite-{}", index % 8),
            format!("approach-{}", index % 24),
            format!("model-{}", index % 10),
        );
        run.shared_tests_total = Some(48);
        run.shared_tests_passed = Some(u64::from(random.next_u32() % 49));
        run.duration_seconds = Some(f64::from(random.next_u32() % 4000) / 3.0);
        run.cost_usd = Some(f64::from(random.next_u32() % 4000) / 700.0);
        run.cost_source = CostSource::Reported;
        run.total_calls = Some(u64::from(random.next_u32() % 90));
        run.input_tokens = Some(u64::from(random.next_u32() % 9_000_000));
        run.output_tokens = Some(u64::from(random.next_u32() % 90_000));
        run.output_dir = Some(format!("out/{}", "x".repeat(200)));
        run.tags.insert("note".to_owned(), "y".repeat(200));
        std::fs::write(store.header_path(&id), to_json(&run)).expect("a writable folder");
    }
    std::fs::rename(&partial, folder).expect("a writable folder");
    eprintln!("{}: {SMALL_FILES} result files", folder.display());
}
