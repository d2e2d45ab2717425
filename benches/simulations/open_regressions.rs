//! Regressions that stay open: how often a night is red though nothing changed, while an unrepaired regression is open, and after a repair.
//!
//! Each arm of a store is a world. The program's own gate judges it on every night, against `last:7`.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use evalreport::domain::{Filter, PASS_RATE};
use evalreport::stats::Ruling;
use evalreport::views::{Arm, Ask, Baseline, GateRule, Grouping, Policy, gate, held_groups};
use evalreport::warehouse::{Options, Progress, Warehouse};
use serde_json::json;

use super::Table;
use super::world::{Share, World, nth};

/// Nights before anything changes: a full baseline.
const BEFORE: usize = 7;
const LAST: usize = 7;
/// Arms of each store.
const WORLDS: usize = 200;

/// How an arm's nights come about.
#[derive(Clone, Copy)]
struct Arms {
    kind: &'static str,
    items: usize,
    /// Runs of each night.
    runs: usize,
    /// Share of the items that pass now and then, with chances from 10 to 90 %; of the rest, nine of ten always pass.
    flaky: f64,
    /// Standard deviation of what moves a whole night.
    nightly: f64,
    /// The allowed drop.
    limit: f64,
}

/// What happens to an arm: items break for good after the baseline's nights, and may be repaired.
#[derive(Clone, Copy)]
struct Course {
    /// Share of the items that always pass and break.
    broken: f64,
    nights: usize,
    /// Nights after which they are repaired.
    repaired: Option<usize>,
}

impl Arms {
    /// Writes the arm's nights into a store.
    fn write(self, store: &Path, arm: usize, course: Course, world: &mut World) {
        let chance = |world: &mut World| {
            if world.happens(self.flaky) { 0.1 + 0.8 * world.uniform() } else { f64::from(u8::from(world.happens(0.9))) }
        };
        let chances: Vec<f64> = (0..self.items).map(|_| chance(world)).collect();
        // A share of the items, those that passed most; at least one of them.
        let mut order: Vec<usize> = (0..self.items).collect();
        order.sort_by(|one, other| chances[*other].total_cmp(&chances[*one]));
        let count = if course.broken > 0.0 { ((course.broken * self.items as f64).round() as usize).max(1) } else { 0 };
        let broken = &order[..count];
        for night in 0..BEFORE + course.nights {
            let is_broken = night >= BEFORE && course.repaired.is_none_or(|repaired| night < BEFORE + repaired);
            let off = self.nightly * world.normal();
            for run in 0..self.runs {
                let id = format!("{arm:04}-{night:02}-{run}");
                let header = json!({"id": id, "suite": "quiz", "approach": format!("arm-{arm:04}"), "model": "m",
                    "batch_id": format!("night-{night:02}"), "timestamp": format!("2026-01-{:02}T02:{run:02}:00Z", night + 1)});
                let mut lines = String::new();
                for (item, chance) in chances.iter().enumerate() {
                    let chance = if is_broken && broken.contains(&item) { 0.0 } else { *chance };
                    let status =
                        if world.happens(chance + if (0.01..0.99).contains(&chance) { off } else { 0.0 }) { "pass" } else { "fail" };
                    let line = json!({"item": format!("i{item:03}"), "kind": self.kind, "evaluator": "e", "attempt": 1, "revision": 0,
                        "status": status});
                    lines.push_str(&format!("{line}\n"));
                }
                fs::create_dir_all(store.join(&id)).expect("a folder");
                fs::write(store.join(&id).join("items.jsonl"), lines).expect("room");
                fs::write(store.join(format!("{id}.json")), header.to_string()).expect("room");
            }
        }
    }

    /// Returns which nights after the baseline's are red, by arm.
    fn red(self, course: Course) -> Vec<Vec<bool>> {
        let folder = tempfile::tempdir().expect("a folder");
        for arm in 0..WORLDS {
            self.write(folder.path(), arm, course, &mut nth(arm as u64));
        }
        let options = Options { stores: vec![folder.path().to_owned()], ..Options::default() };
        let warehouse = Warehouse::open(&options, &Progress::SILENT).expect("the store was just written");
        let rule = GateRule {
            suite: None,
            approach: None,
            ask: Ask::MaxDrop { metric: PASS_RATE.to_owned(), allowed: self.limit },
            is_percent: false,
        };
        let mut red = BTreeMap::<Arm, Vec<bool>>::new();
        for night in BEFORE..BEFORE + course.nights {
            let filter = Filter { batch: Some(format!("night-{night:02}")), ..Filter::default() };
            let groups = held_groups(&warehouse, &filter, &Baseline::Last(LAST), Grouping::NewestBatch);
            for check in gate(&warehouse, &groups, std::slice::from_ref(&rule), &Policy::default()).checks {
                red.entry(check.arm).or_default().push(check.ruling == Ruling::Regression);
            }
        }
        red.into_values().collect()
    }

    fn words(self) -> [String; 4] {
        [
            format!("{} {}s", self.items, self.kind),
            self.runs.to_string(),
            format!("{:.0} %", 100.0 * self.flaky),
            format!("{:.0} pp", 100.0 * self.limit),
        ]
    }
}

const ARMS: [Arms; 7] = [
    Arms { kind: "question", items: 10, runs: 3, flaky: 0.3, nightly: 0.0, limit: 0.05 },
    Arms { kind: "question", items: 40, runs: 1, flaky: 0.3, nightly: 0.0, limit: 0.05 },
    Arms { kind: "question", items: 100, runs: 1, flaky: 0.2, nightly: 0.0, limit: 0.05 },
    Arms { kind: "question", items: 100, runs: 1, flaky: 0.4, nightly: 0.05, limit: 0.02 },
    Arms { kind: "question", items: 100, runs: 1, flaky: 0.4, nightly: 0.0, limit: 0.0 },
    Arms { kind: "test", items: 5, runs: 3, flaky: 0.2, nightly: 0.0, limit: 0.05 },
    Arms { kind: "test", items: 10, runs: 3, flaky: 0.3, nightly: 0.0, limit: 0.05 },
];
const HEADS: [&str; 4] = ["suite", "runs a night", "of them flaky", "limit"];

fn share(answers: impl Iterator<Item = bool>) -> String {
    let (mut yes, mut all) = (0, 0);
    for answer in answers {
        yes += u64::from(answer);
        all += 1;
    }
    if all == 0 { "none".to_owned() } else { Share::of(yes, all).with_error() }
}

/// The standard error counts nights as independent; nights of one arm are not, so it is a little too small.
pub fn tables() -> [Table; 2] {
    let mut false_red = Table::new(
        "Nothing changed in ten nights after a baseline of seven: nights that are red, in % (± standard error of the simulation)",
        &[&HEADS[..], &["red nights", "arms ever red"]].concat(),
    );
    for arms in ARMS {
        let red = arms.red(Course { broken: 0.0, nights: 10, repaired: None });
        let found = [share(red.iter().flatten().copied()), share(red.iter().map(|nights| nights.contains(&true)))];
        false_red.rows.push(arms.words().into_iter().chain(found).collect());
    }
    let mut open = Table::new(
        "Items broke after a baseline of seven nights: of nights from the first red one on, the red ones; and green nights after a repair on \
         the sixth night, in % (± standard error of the simulation)",
        &[
            &HEADS[..],
            &[
                "broken",
                "red on the first night",
                "red ever",
                "red while unrepaired",
                "green on the night of the repair",
                "a night later",
                "three later",
            ],
        ]
        .concat(),
    );
    for arms in ARMS {
        for broken in [0.2, 0.4] {
            let red = arms.red(Course { broken, nights: 14, repaired: None });
            let since = |nights: &Vec<bool>| nights.iter().position(|red| *red).map(|first| nights[first..].to_vec());
            let repaired = arms.red(Course { broken, nights: 9, repaired: Some(5) });
            let was_red: Vec<&Vec<bool>> = repaired.iter().filter(|nights| nights[4]).collect();
            let green = |later: usize| share(was_red.iter().map(|nights| !nights[5 + later]));
            let found = [
                format!("{:.0} %", 100.0 * broken),
                share(red.iter().map(|nights| nights[0])),
                share(red.iter().map(|nights| nights.contains(&true))),
                share(red.iter().filter_map(since).flatten()),
                green(0),
                green(1),
                green(3),
            ];
            open.rows.push(arms.words().into_iter().chain(found).collect());
        }
    }
    [false_red, open]
}
