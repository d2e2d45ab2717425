//! The page that compares any two arms of a suite, with the data it loads: all outcomes as bits, and the items' names.
//!
//! The first part has all outcomes of the first arm, then of the second, and so on. If every arm tried every item at most once, an outcome
//! is two bits, the first outcome in the lowest bits of its byte: 0 is absent, 1 failed, 2 passed, 3 not counted. Otherwise an outcome is
//! two numbers of `width` bits, lower byte first: passed and counted; an outcome that does not count has 1 and 0. The second part has the
//! items' names and addresses, which are larger than everything else, and the third their answers, both by item and not by column.

use std::collections::BTreeMap;

use askama::Template;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::Serialize;

use crate::domain::{escape_invisible, shorten_to};
use crate::render::{format, phrases, verdicts};
use crate::views::{
    Arm, KnownPair, OverviewSuite, PairCell, PairEvidence, PairMethod, PairTable, PairVerdict,
    Scale, SiteContext, SuiteState,
};

use super::items::item_href_at;
use super::routes::tone_class;
use super::routes::{SiteRoutes, SuiteRoutes};
use super::shell::{NavigationEntry, PageShell, Text};
use super::state::state_sign;
use super::suite_tabs::suite_bar;
use super::{SiteFile, shard};

/// Maximum characters of an answer or a reason, and maximum bytes of a suite's answers and reasons.
const MAX_TEXT: usize = 240;
const MAX_TEXT_BYTES: usize = 2 << 20;
/// Bytes beside the texts of one arm.
const ANSWER_OVERHEAD_BYTES: usize = 12;
/// Maximum number of outcomes that a browser is asked to load: four megabytes of encoded bits.
const MAX_OUTCOMES: usize = 12_000_000;
/// Maximum number of items: a browser loads their names, too.
const MAX_ITEMS: usize = 50_000;
/// Maximum number of pairs whose figures the browser cannot make: one megabyte.
const MAX_FIGURES: usize = 20_000;

#[derive(Template)]
#[template(path = "any_pair.html")]
struct AnyPairPage {
    shell: PageShell,
    suite: Text,
    /// Addresses of the parts, separated by spaces.
    parts: String,
    /// Relative addresses of the folders of items and of arms.
    items: String,
    arms: String,
    outcomes: String,
}

/// The first part: outcomes and counts of all arms, in the order of the board. Pairs go first and second, first and third, and so on.
#[derive(Serialize)]
struct PairOutcomeData<'a> {
    version: u32,
    suite: String,
    /// Noun for the items: `questions`, `tests`.
    word: &'a str,
    /// By arm: its part of addresses, its name, its page's file, and the class of its colour.
    arms: Vec<(String, String, String, &'static str)>,
    /// Columns of the item matrix.
    columns: usize,
    /// By arm: passed and counted, if no outcomes are known.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    totals: &'a [(u64, u64)],
    /// Bits per number.
    width: u32,
    /// The outcomes as [`pack_outcomes`], arm by arm, in base64.
    bits: String,
    /// By item: its columns. Empty if each column is an item.
    items: &'a [Vec<u32>],
    /// Columns that were asked in different texts, with each arm's number of its text, 0 if unknown. Two arms are compared on a column only
    /// if neither is known to differ.
    texts: &'a [(u32, Vec<u32>)],
    /// By arm: the tool that hashed its texts.
    tools: &'a [u32],
    /// By pair: `m` for McNemar's test, `c` for Fisher's, `o` for other methods, `x` if the two cannot be compared.
    ways: String,
    /// By pair: the verdict on the pass rate, adjusted for all pairs of the suite. See [`verdict_letter`].
    verdicts: String,
    /// By letter: the word, the class and the shape of its state.
    signs: BTreeMap<char, (&'static str, &'static str, &'static str)>,
    /// Reasons why pairs cannot be compared, each once, with the index of its first pair.
    reasons: Vec<(usize, &'static str)>,
    /// By pair of way `o`, in order: the program's figures, because its method takes more than these outcomes.
    figures: Vec<PairFigures>,
    /// The methods of the figures, each once.
    methods: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    margin: Option<f64>,
    z: f64,
    /// The level of the tests.
    alpha: f64,
    /// Pairs with a rendered page: both arms and the file.
    pages: Vec<(usize, usize, String)>,
}

/// Difference, ends of its interval, p-value of this pair alone, and number of the method.
type PairFigures = (Option<f64>, Option<f64>, Option<f64>, Option<f64>, usize);

/// The second part: the name of each item and the address of its page.
#[derive(Serialize)]
struct ItemNameData {
    names: Vec<(String, String)>,
}

/// The third part: the right answers to items, and by item what arms answered and why that was judged as it was.
#[derive(Serialize)]
struct ItemAnswerData {
    expected: Vec<(usize, String)>,
    told: Vec<(usize, Vec<ArmAnswerTexts>)>,
    /// Items beyond these have more to tell.
    is_cut: bool,
}

/// An arm's place, its answer and the reason.
type ArmAnswerTexts = (usize, String, String);

/// Returns the suite's pair table if it is small enough for a browser.
pub(super) fn loadable_table(suite: &OverviewSuite) -> Option<&PairTable> {
    suite.pair_table.as_ref().filter(|table| {
        table.arms.len() * table.columns <= MAX_OUTCOMES && table.columns <= MAX_ITEMS
    })
}

/// Returns the address of the page, for tables whose rows can be ticked.
pub(super) fn page_href(suite: &OverviewSuite, place: &SuiteRoutes, root: &str) -> Option<String> {
    loadable_table(suite).map(|_| format!("{root}{}", place.any_pair_path()))
}

/// Makes the page and its parts. Empty with fewer than three arms.
pub(super) fn render_files(
    context: &SiteContext,
    plan: &SiteRoutes,
    suite: &OverviewSuite,
    place: &SuiteRoutes,
) -> Vec<SiteFile> {
    let Some(table) = loadable_table(suite) else {
        return Vec::new();
    };
    let path = place.any_pair_path();
    let title = format!("Any two arms of {} · {}", place.label, context.title);
    let about = format!("Compare any two arms of {} item by item.", place.label);
    let shell = PageShell::new(
        context,
        &plan.assets,
        &path,
        NavigationEntry::Below,
        title,
        about,
    );
    let bar = suite_bar(suite, place, &shell.root, &place.pairs_path());
    let shell = shell
        .with_suite_bar(bar)
        .with_assets(plan.assets.pair.clone());
    let parts: Vec<SiteFile> = [
        outcomes_file(plan, suite, place, table),
        item_names_file(suite, place),
    ]
    .into_iter()
    .chain(answers_file(suite, place, table))
    .collect();
    let page = AnyPairPage {
        suite: Text::new(&place.label),
        parts: parts
            .iter()
            .map(|file| file.path.as_str())
            .collect::<Vec<&str>>()
            .join(" "),
        items: format!("{}suites/{}/i/", shell.root, place.segment),
        arms: format!("{}arms/", shell.root),
        outcomes: match table.totals.len() {
            0 => format!(
                "{} outcomes",
                format::format_integer((table.arms.len() * table.columns) as u64)
            ),
            arms => format!("the counts of {} arms", format::format_integer(arms as u64)),
        },
        shell,
    };
    [SiteFile::from_template(path, &page)]
        .into_iter()
        .chain(parts)
        .collect()
}

fn outcomes_file(
    plan: &SiteRoutes,
    suite: &OverviewSuite,
    place: &SuiteRoutes,
    table: &PairTable,
) -> SiteFile {
    let (width, bytes) = pack_outcomes(&table.cells);
    let number = |arm: &Arm| table.arms.iter().position(|known| known == arm);
    let page = |pair: &crate::views::Comparison| {
        let [first, second] = pair.arms.as_slice() else {
            return None;
        };
        let path = place.pair_path(pair)?;
        Some((
            number(&first.arm)?,
            number(&second.arm)?,
            path.rsplit('/').next()?.to_owned(),
        ))
    };
    let arm = |arm: &Arm| {
        let path = plan.arms.path(arm);
        (
            plan.arms.segment(arm),
            escape_invisible(&phrases::arm_name(&suite.board.suite, arm)),
            path.trim_start_matches("arms/").to_owned(),
            tone_class(place.arm_colour(arm)),
        )
    };
    let mut reasons: Vec<(usize, &'static str)> = Vec::new();
    for (number, pair) in table.pairs.iter().enumerate() {
        if let PairMethod::NotComparable(reason) = &pair.way {
            let said = verdicts::incomparability_text(*reason);
            if reasons.last().is_none_or(|(_, last)| *last != said) {
                reasons.push((number, said));
            }
        }
    }
    let (figures, methods) = collect_figures(table);
    let way = |pair: &KnownPair| match pair.way {
        PairMethod::Mcnemar => 'm',
        PairMethod::Fisher => 'c',
        PairMethod::Other => 'o',
        PairMethod::NotComparable(_) => 'x',
    };
    let content = PairOutcomeData {
        version: 2,
        suite: escape_invisible(&place.label),
        word: suite.items.word.unwrap_or_else(|| counted_noun(suite)),
        arms: table.arms.iter().map(arm).collect(),
        columns: table.columns,
        totals: &table.totals,
        width,
        bits: STANDARD.encode(&bytes),
        items: &table.items,
        texts: &table.texts,
        tools: &table.tools,
        ways: table.pairs.iter().map(way).collect(),
        verdicts: table
            .pairs
            .iter()
            .map(|pair| verdict_letter(pair.evidence.as_ref()))
            .collect(),
        signs: table
            .pairs
            .iter()
            .map(|pair| {
                (
                    verdict_letter(pair.evidence.as_ref()),
                    verdict_state(pair.evidence.as_ref()),
                )
            })
            .collect(),
        reasons,
        figures,
        methods,
        margin: table.margin,
        z: table.z,
        alpha: table.alpha,
        pages: suite.pairs.iter().filter_map(page).collect(),
    };
    part_file(place, 0, &content)
}

/// Returns the letter of a verdict: `a` and `b` for a winner, `f` and `g` for a fixed result with the first or the second arm ahead, `t` for
/// a tie, `e` for equivalent, `o` for an open pair, `x` if the two cannot be compared, and `n` without a rate.
fn verdict_letter(pair: Option<&PairEvidence>) -> char {
    match pair.map(|pair| (pair, pair.verdict)) {
        Some((_, PairVerdict::AWins)) => 'a',
        Some((_, PairVerdict::BWins)) => 'b',
        Some((pair, PairVerdict::DeterministicDifference { .. }))
            if pair
                .difference
                .is_some_and(|found| found.signed_distance() < 0.0) =>
        {
            'g'
        }
        Some((_, PairVerdict::DeterministicDifference { .. })) => 'f',
        Some((_, PairVerdict::Tie)) => 't',
        Some((_, PairVerdict::Equivalent)) => 'e',
        Some((_, PairVerdict::NotEnoughEvidence { .. })) => 'o',
        Some((_, PairVerdict::NotComparable { .. })) => 'x',
        Some((_, PairVerdict::NoData { .. })) | None => 'n',
    }
}

fn verdict_state(pair: Option<&PairEvidence>) -> (&'static str, &'static str, &'static str) {
    let sign = state_sign(pair.map_or(SuiteState::NothingToCompare, |pair| {
        SuiteState::from_verdict(pair.verdict)
    }));
    (sign.word, sign.class, sign.shape)
}

/// Returns the figures of the pairs whose method takes more than outcomes, and the methods. Empty if there are too many.
fn collect_figures(table: &PairTable) -> (Vec<PairFigures>, Vec<String>) {
    let others: Vec<&KnownPair> = table
        .pairs
        .iter()
        .filter(|pair| pair.way == PairMethod::Other)
        .collect();
    if others.len() > MAX_FIGURES {
        return (Vec::new(), Vec::new());
    }
    let mut methods: Vec<String> = Vec::new();
    let mut figures = |pair: &KnownPair| {
        let evidence = pair.evidence.as_ref();
        let method = evidence.map_or_else(
            || "not measured".to_owned(),
            |pair| {
                format!(
                    "{}; {}",
                    verdicts::units_compared(pair),
                    verdicts::design_and_test(pair)
                )
            },
        );
        let number = methods
            .iter()
            .position(|known| *known == method)
            .unwrap_or_else(|| {
                methods.push(method);
                methods.len() - 1
            });
        let found = evidence
            .and_then(|pair| pair.difference)
            .filter(|found| found.scale == Scale::Share);
        let ends = found.and_then(|found| found.interval);
        let p = evidence.and_then(|pair| pair.p);
        (
            found.map(|found| round_to_ten_digits(found.value)),
            ends.map(|ends| round_to_ten_digits(ends.low)),
            ends.map(|ends| round_to_ten_digits(ends.high)),
            p.map(round_to_ten_digits),
            number,
        )
    };
    let figures = others.into_iter().map(&mut figures).collect();
    (figures, methods)
}

/// Rounds to ten significant digits: more would only take room.
fn round_to_ten_digits(value: f64) -> f64 {
    format!("{value:.9e}").parse().unwrap_or(value)
}

/// Returns the noun for the counts of a suite without outcomes.
fn counted_noun(suite: &OverviewSuite) -> &'static str {
    let of = suite
        .board
        .entries
        .iter()
        .find_map(|entry| entry.primary.as_ref())
        .map(|figure| figure.n_of);
    of.filter(|word| *word != "runs").unwrap_or("items")
}

fn item_names_file(suite: &OverviewSuite, place: &SuiteRoutes) -> SiteFile {
    let name = |(number, item): (usize, &crate::views::ItemLine)| {
        (
            escape_invisible(&item.item),
            item_href_at(place, "", number),
        )
    };
    part_file(
        place,
        1,
        &ItemNameData {
            names: suite.items.items.iter().enumerate().map(name).collect(),
        },
    )
}

/// Nothing where no answers are known.
fn answers_file(suite: &OverviewSuite, place: &SuiteRoutes, table: &PairTable) -> Option<SiteFile> {
    let mut found = ItemAnswerData {
        expected: Vec::new(),
        told: Vec::new(),
        is_cut: false,
    };
    let short = |text: &str| {
        escape_invisible(&shorten_to(
            &text.split_whitespace().collect::<Vec<&str>>().join(" "),
            MAX_TEXT,
        ))
    };
    let mut left = MAX_TEXT_BYTES;
    for (number, item) in suite.items.items.iter().enumerate() {
        let Some(story) = suite.stories.get(&item.item, &item.kind) else {
            continue;
        };
        let told = |(place, arm): (usize, &Arm)| {
            let note = story
                .notes
                .get(arm)?
                .iter()
                .find(|note| note.answer.is_some() || note.reason.is_some())?;
            Some((
                place,
                note.answer.as_deref().map(short).unwrap_or_default(),
                note.reason.as_deref().map(short).unwrap_or_default(),
            ))
        };
        let told: Vec<ArmAnswerTexts> = table.arms.iter().enumerate().filter_map(told).collect();
        let expected = short(&story.expected.join(" or "));
        let size = expected.len()
            + told
                .iter()
                .map(|(_, answer, reason)| answer.len() + reason.len() + ANSWER_OVERHEAD_BYTES)
                .sum::<usize>();
        if told.is_empty() {
            continue;
        }
        let Some(rest) = left.checked_sub(size) else {
            found.is_cut = true;
            break;
        };
        left = rest;
        if !expected.is_empty() {
            found.expected.push((number, expected));
        }
        found.told.push((number, told));
    }
    (!found.told.is_empty()).then(|| part_file(place, 2, &found))
}

fn part_file(place: &SuiteRoutes, number: usize, content: &impl Serialize) -> SiteFile {
    shard::script_file(&format!("pairs-{}", place.segment), number, content)
}

/// Packs outcomes as tightly as possible. Returns the bits per number, and the bytes.
///
/// 2 bits: four outcomes a byte, the first in the lowest bits; 0 is absent, 1 failed, 2 passed, 3 not counted. 8 or 16 bits: two numbers an
/// outcome, passed and counted, the lower byte first; 1 of 0 is not counted, 0 of 0 absent.
fn pack_outcomes(cells: &[Vec<PairCell>]) -> (u32, Vec<u8>) {
    let all = || cells.iter().flatten();
    let most = all().map(|cell| cell.counted).max().unwrap_or(0);
    let counts = |cell: &PairCell| {
        if cell.is_uncounted {
            (1, 0)
        } else {
            (cell.passed, cell.counted)
        }
    };
    match most {
        0..=1 => {
            let code = |cell: &PairCell| match (counts(cell), cell.counted) {
                ((1, 1), _) => 2,
                ((0, 1), _) => 1,
                ((1, 0), _) => 3,
                _ => 0,
            };
            let codes: Vec<u8> = all().map(code).collect();
            let byte = |four: &[u8]| {
                four.iter()
                    .enumerate()
                    .fold(0, |byte, (place, code)| byte | (code << (2 * place)))
            };
            (2, codes.chunks(4).map(byte).collect())
        }
        2..=255 => (
            8,
            all()
                .map(counts)
                .flat_map(|(passed, counted)| {
                    [passed, counted].map(|count| u8::try_from(count).unwrap_or(u8::MAX))
                })
                .collect(),
        ),
        _ => {
            // Counts above 65,535 attempts at an item are capped.
            let number = |count: u32| u16::try_from(count).unwrap_or(u16::MAX).to_le_bytes();
            (
                16,
                all()
                    .map(counts)
                    .flat_map(|(passed, counted)| [number(passed), number(counted)].concat())
                    .collect(),
            )
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cell(passed: u32, counted: u32) -> PairCell {
        PairCell {
            passed,
            counted,
            is_uncounted: false,
        }
    }

    #[test]
    fn four_single_outcomes_take_a_byte() {
        let uncounted = PairCell {
            is_uncounted: true,
            ..PairCell::default()
        };
        let cells = [
            vec![cell(0, 0), cell(0, 1), cell(1, 1), uncounted],
            vec![cell(1, 1)],
        ];
        assert_eq!(pack_outcomes(&cells), (2, vec![0b1110_0100, 0b10]));
        let million = vec![vec![cell(1, 1); 1_000_000]];
        assert!(STANDARD.encode(&pack_outcomes(&million).1).len() <= 334_000);
    }

    #[test]
    fn several_attempts_are_counts() {
        assert_eq!(
            pack_outcomes(&[vec![cell(2, 3), cell(0, 0)]]),
            (8, vec![2, 3, 0, 0])
        );
        assert_eq!(
            pack_outcomes(&[vec![cell(300, 301)]]),
            (16, vec![44, 1, 45, 1])
        );
    }
}
