//! Verdicts foreseen from chosen questions: how often they are those of all questions, what they cost, and how many are false.

use std::collections::BTreeMap;
use std::path::Path;

use evalreport::stats::{DIFFICULTY_GROUPS, Foreseen, Foresight, ItemGroup, block_size, difficulty_group, mcnemar, next_items};
use rayon::prelude::*;

use super::Table;
use super::rule::ALPHA;
use super::world::{Share, World, nth};

const WORLDS: u32 = 4_000;
/// Earlier arms whose outcomes group the questions.
const EARLIER: u64 = 5;

/// One question: its group, and whether each arm passes it.
#[derive(Clone, Copy)]
struct Question {
    group: usize,
    first: bool,
    second: bool,
}

/// The result of asking a pair.
struct Asked {
    foreseen: Foreseen,
    /// The test of all questions.
    whole: Foreseen,
    /// Share of the questions that were asked.
    share: f64,
}

/// Asks in blocks, as `run --until decided` does, or looks after every question.
fn ask(questions: &[Question], rule: &Foresight, looks_after_each: bool, world: &mut World) -> Asked {
    let mut waiting: Vec<Vec<&Question>> = vec![Vec::new(); DIFFICULTY_GROUPS];
    for question in questions {
        waiting[question.group].push(question);
    }
    for group in &mut waiting {
        for place in (1..group.len()).rev() {
            group.swap(place, world.below(place + 1));
        }
    }
    let items = questions.len() as u64;
    let mut groups: Vec<ItemGroup> = waiting.iter().map(|group| ItemGroup { left: group.len() as u64, ..ItemGroup::default() }).collect();
    let mut asked = 0u64;
    let foreseen = loop {
        if let Some(verdict) = rule.verdict(&groups) {
            break verdict;
        }
        let size = if looks_after_each && asked > 0 { 1 } else { block_size(asked, items) };
        for (place, count) in next_items(&groups, size).into_iter().enumerate() {
            for question in (0..count).filter_map(|_| waiting[place].pop()) {
                groups[place].left -= 1;
                asked += 1;
                match (question.first, question.second) {
                    (true, false) => groups[place].won += 1,
                    (false, true) => groups[place].lost += 1,
                    _ => groups[place].same += 1,
                }
            }
        }
    };
    let count = |of: fn(&Question) -> bool| questions.iter().filter(|question| of(question)).count() as u64;
    let (won, lost) = (count(|question| question.first && !question.second), count(|question| question.second && !question.first));
    let whole = match (mcnemar(won, lost).exact <= ALPHA, won > lost) {
        (false, _) => Foreseen::NoWinner,
        (true, true) => Foreseen::FirstWins,
        (true, false) => Foreseen::SecondWins,
    };
    Asked { foreseen, whole, share: asked as f64 / items as f64 }
}

/// How two arms of equal or different ability differ by question.
#[derive(Clone, Copy)]
enum Kind {
    /// The first arm is better by this much on the logit scale.
    Shift(f64),
    /// The first arm is better on cleared questions and worse on hard ones.
    ByDifficulty,
    /// Each arm is better on half of the questions, which nothing tells apart.
    ByTopic,
}

fn questions(count: u64, kind: Kind, world: &mut World) -> Vec<Question> {
    let passes = |ease: f64, world: &mut World| world.happens(1.0 / (1.0 + (-ease).exp()));
    (0..count)
        .map(|_| {
            let ease = 1.5 * world.normal();
            let cleared = (0..EARLIER).filter(|_| passes(ease, world)).count() as u64;
            let better = match kind {
                Kind::Shift(by) => by,
                Kind::ByDifficulty => ease.signum(),
                Kind::ByTopic => {
                    if world.happens(0.5) {
                        1.5
                    } else {
                        -1.5
                    }
                }
            };
            Question {
                group: difficulty_group(cleared, EARLIER),
                first: passes(ease + better / 2.0, world),
                second: passes(ease - better / 2.0, world),
            }
        })
        .collect()
}

pub fn made() -> Table {
    let mut table = Table::new(
        "Verdicts foreseen from chosen questions",
        &["pair", "questions", "look", "winner named", "of all questions", "same verdict", "asked"],
    );
    let kinds = [
        ("equal", Kind::Shift(0.0)),
        ("equal; differ by difficulty", Kind::ByDifficulty),
        ("equal; differ by topic", Kind::ByTopic),
        ("better by 0.3", Kind::Shift(0.3)),
        ("better by 0.6", Kind::Shift(0.6)),
        ("better by 1.2", Kind::Shift(1.2)),
    ];
    for (label, kind) in kinds {
        for count in [60, 200, 600, 1_500] {
            for (look, looks_after_each) in [("block", false), ("each", true)] {
                let rule = Foresight::new(count, ALPHA);
                let pair = |number: u32| {
                    let world = &mut nth(u64::from(number));
                    let questions = questions(count, kind, world);
                    ask(&questions, &rule, looks_after_each, world)
                };
                let found: Vec<Asked> = (0..WORLDS).into_par_iter().map(pair).collect();
                let share = |of: &dyn Fn(&Asked) -> bool| count_of(&found, of).with_error();
                table.rows.push(vec![
                    label.to_owned(),
                    count.to_string(),
                    look.to_owned(),
                    share(&|asked| asked.foreseen != Foreseen::NoWinner),
                    share(&|asked| asked.whole != Foreseen::NoWinner),
                    share(&|asked| asked.foreseen == asked.whole),
                    format!("{:.0}", 100.0 * mean_share(found.iter())),
                ]);
            }
        }
    }
    table
}

/// Replays all pairs of systems of a table with the columns system, suite, item and passed (0 or 1), each suite on its own. Of the other
/// systems' outcomes, those of none, three and all group the questions.
pub fn replayed(path: &Path) -> Table {
    let text = std::fs::read_to_string(path).expect("the table can be read");
    let mut suites: BTreeMap<&str, BTreeMap<&str, BTreeMap<&str, bool>>> = BTreeMap::new();
    for line in text.lines().skip(1) {
        let [system, suite, item, passed] = line.split(',').collect::<Vec<_>>()[..] else { panic!("four columns: {line}") };
        suites.entry(suite).or_default().entry(system).or_default().insert(item, passed == "1");
    }
    let mut table = Table::new(
        "Verdicts foreseen on a real matrix",
        &["earlier arms", "pairs", "same verdict", "asked", "with a winner: same, asked", "without: same, asked", "another winner"],
    );
    for earlier in [0, 3, usize::MAX] {
        let mut found: Vec<Asked> = Vec::new();
        for systems in suites.values() {
            let is_everywhere = |item: &&&str| systems.values().all(|outcomes| outcomes.contains_key(**item));
            let items: Vec<&str> = systems.values().next().into_iter().flat_map(BTreeMap::keys).filter(is_everywhere).copied().collect();
            let rule = Foresight::new(items.len() as u64, ALPHA);
            let names: Vec<&str> = systems.keys().copied().collect();
            for (place, first) in names.iter().enumerate() {
                for second in &names[..place] {
                    let mut world = nth(found.len() as u64);
                    let mut others: Vec<&str> = names.iter().copied().filter(|name| name != first && name != second).collect();
                    for place in (1..others.len()).rev() {
                        others.swap(place, world.below(place + 1));
                    }
                    others.truncate(earlier);
                    let question = |item: &&str| Question {
                        group: if others.is_empty() {
                            0
                        } else {
                            difficulty_group(others.iter().filter(|other| systems[**other][*item]).count() as u64, others.len() as u64)
                        },
                        first: systems[*first][*item],
                        second: systems[*second][*item],
                    };
                    found.push(ask(&items.iter().map(question).collect::<Vec<_>>(), &rule, false, &mut world));
                }
            }
        }
        let part = |has_winner: bool| {
            let of: Vec<&Asked> = found.iter().filter(|asked| (asked.whole != Foreseen::NoWinner) == has_winner).collect();
            let same = of.iter().filter(|asked| asked.foreseen == asked.whole).count() as u64;
            format!("{}: {}, {:.0}", of.len(), Share::of(same, of.len() as u64).percent(), 100.0 * mean_share(of.into_iter()))
        };
        let names_another =
            |asked: &Asked| asked.foreseen != asked.whole && asked.foreseen != Foreseen::NoWinner && asked.whole != Foreseen::NoWinner;
        table.rows.push(vec![
            if earlier == usize::MAX { "all others".to_owned() } else { earlier.to_string() },
            found.len().to_string(),
            count_of(&found, &|asked| asked.foreseen == asked.whole).percent(),
            format!("{:.0}", 100.0 * mean_share(found.iter())),
            part(true),
            part(false),
            found.iter().filter(|asked| names_another(asked)).count().to_string(),
        ]);
    }
    table
}

fn count_of(found: &[Asked], of: &dyn Fn(&Asked) -> bool) -> Share {
    Share::of(found.iter().filter(|asked| of(asked)).count() as u64, found.len() as u64)
}

fn mean_share<'a>(found: impl ExactSizeIterator<Item = &'a Asked>) -> f64 {
    let n = found.len() as f64;
    found.map(|asked| asked.share).sum::<f64>() / n
}
