//! A run's transcripts, several per page: each folded, with a rail of its steps, and with the expected answer beside the given one.

use std::collections::BTreeMap;

use askama::Template;

use crate::render::run_title::run_title;
use crate::render::{format, phrases, reasons};
use crate::views::{
    Arm, ItemPage, ItemRow, ItemTranscript, MessageUsage, Overview, OverviewSuite, RunPage,
    RunTranscripts, TranscriptPart,
};

use super::SiteFile;
use super::cut::truncate_text;
use super::grid::{GridCell, GridCellKind};
use super::items::item_href;
use super::other_outcomes::{OtherOutcomes, rows_by_item};
use super::routes::{RunRoutes, SiteRoutes};
use super::runs::Pager;
use super::shell::{Breadcrumb, NavigationEntry, PageShell, Text};

#[derive(Template)]
#[template(path = "transcript.html")]
struct TranscriptHtml {
    shell: PageShell,
    title: Text,
    arm_href: String,
    suite: Text,
    heading: Text,
    /// Which of several pages this is.
    place: String,
    entries: Vec<TranscriptEntry>,
    pager: Option<Pager>,
}

/// One transcript.
struct TranscriptEntry {
    anchor: String,
    name: Text,
    /// Whether it is unfolded, because it is the only one on its page.
    is_open: bool,
    steps: String,
    about: String,
    digest: String,
    same_as: Option<String>,
    outcome: Option<TranscriptOutcome>,
    parts: Vec<TranscriptStep>,
    /// Note on steps that the rail has no room for.
    more: Option<String>,
}

/// The item's outcome, as far as the run has it.
struct TranscriptOutcome {
    class: &'static str,
    mark: &'static str,
    word: Text,
    why: Text,
    expected: Text,
    answered: Text,
    facts: Vec<(&'static str, String)>,
    /// Address of the item's page, which has all arms with their answers.
    href: Option<String>,
    beside: OtherOutcomes,
}

impl TranscriptOutcome {
    /// Formats both answers: `answered Green instead of Blue`. Empty if one is unknown.
    fn format_answers(&self) -> Text {
        if self.expected.is_blank() || self.answered.is_blank() {
            return Text::default();
        }
        let (answered, expected) = (&self.answered, &self.expected);
        Text::from(match self.class {
            "s-pass" => format!("answered {answered}"),
            _ => format!("answered {answered} instead of {expected}"),
        })
    }
}

/// One message, tool call or result.
struct TranscriptStep {
    /// Its number among the steps, and the speaker. `None` for a note of ours.
    step: Option<(usize, Text)>,
    is_on_rail: bool,
    spent: String,
    lines: Vec<Text>,
    /// A tool's long text, folded below its first line.
    fold: Option<FoldedText>,
}

struct FoldedText {
    first: Text,
    more: String,
}

/// Maximum letters of a line. Longer ones are broken, because browsers are slow with a line of a megabyte.
const MAX_LINE: usize = 2_000;
/// Maximum lines and letters of a tool's text that is not folded.
const MAX_UNFOLDED_LINES: usize = 4;
const MAX_UNFOLDED_LETTERS: usize = 400;
/// Maximum letters of a folded text's first line.
const MAX_FIRST_LINE_LETTERS: usize = 120;
/// Maximum number of items named in the heading.
const MAX_NAMED_ITEMS: usize = 3;
/// Maximum number of steps on a rail.
const MAX_STEPS: usize = 150;

/// Context shared by the entries of a page.
struct TranscriptContext<'a> {
    plan: &'a SiteRoutes,
    suite: &'a OverviewSuite,
    arm: &'a Arm,
    place: &'a RunRoutes,
    rows: &'a BTreeMap<&'a str, &'a ItemRow>,
    root: &'a str,
}

pub(super) fn render_pages(
    overview: &Overview,
    plan: &SiteRoutes,
    place: &RunRoutes,
    run: &RunPage,
    items: &[ItemPage],
    transcripts: &RunTranscripts,
) -> Vec<SiteFile> {
    let suite = &plan.suites[place.suite];
    let arm = phrases::arm_name(&run.line.suite, &run.line.arm);
    let run_name = run_title(&run.line.arm, place.turn);
    let (context, rows) = (&overview.context, rows_by_item(items));
    let name = |page: u64| format!("{page:04}.html");
    let pages = transcripts.pages.len() as u64;
    let page = |(number, entries): (u64, &Vec<ItemTranscript>)| {
        let path = format!("runs/{}/t/{}", place.segment, name(number));
        let of = if pages > 1 {
            format!(", page {number} of {pages}")
        } else {
            String::new()
        };
        let title = format!(
            "Transcripts of {run_name} on {}{of} · {}",
            suite.label, context.title
        );
        let description = format!(
            "What {arm} was told, said and did in one run on {}.",
            suite.label
        );
        let shell = PageShell::new(
            context,
            &plan.assets,
            &path,
            NavigationEntry::Below,
            title,
            description,
        )
        .with_assets(plan.assets.transcript.clone());
        let crumbs = vec![
            Breadcrumb::new(
                format!("{}{}", shell.root, suite.path()),
                suite.label.as_str(),
            ),
            Breadcrumb::new("../index.html", run_name.as_str()),
        ];
        let of_suite = &overview.suites[place.suite];
        let given = TranscriptContext {
            plan,
            suite: of_suite,
            arm: &run.line.arm,
            place,
            rows: &rows,
            root: &shell.root,
        };
        let is_alone = entries.len() == 1;
        let entries: Vec<TranscriptEntry> = (1..)
            .zip(entries)
            .map(|(number, entry)| build_entry(number, entry, is_alone, &given))
            .collect();
        let html = TranscriptHtml {
            title: Text::new(&run_name),
            arm_href: plan.arm_href(&shell.root, &run.line.arm),
            suite: Text::new(&suite.label),
            heading: describe_failures(&entries, &arm)
                .unwrap_or_else(|| Text::from(format!("Transcripts{of}"))),
            place: of.trim_start_matches(", ").to_owned(),
            pager: Pager::new(number, pages, name),
            entries,
            shell: shell.with_breadcrumbs(crumbs),
        };
        SiteFile::from_template(path, &html)
    };
    (1..).zip(&transcripts.pages).map(page).collect()
}

/// Describes what went wrong on the page, or that nothing did. `None` without known outcomes.
fn describe_failures(entries: &[TranscriptEntry], arm: &str) -> Option<Text> {
    let known: Vec<(&Text, &TranscriptOutcome)> = entries
        .iter()
        .filter_map(|entry| Some((&entry.name, entry.outcome.as_ref()?)))
        .collect();
    let told = |(name, outcome): &(&Text, &TranscriptOutcome)| {
        let said = outcome.format_answers();
        if said.is_blank() {
            format!("{name}: {arm}: {}", outcome.word)
        } else {
            format!("{name}: {arm} {said}")
        }
    };
    let all = known.len() as u64;
    let wrong: Vec<&(&Text, &TranscriptOutcome)> = known
        .iter()
        .filter(|(_, outcome)| outcome.class != "s-pass")
        .collect();
    let text = match (known.as_slice(), wrong.as_slice()) {
        ([], _) => return None,
        ([only], _) => told(only),
        (_, []) => format!(
            "{arm}: all {} passed",
            phrases::count_with_noun(all, "items")
        ),
        (_, wrong) => {
            let names = wrong
                .iter()
                .take(MAX_NAMED_ITEMS)
                .map(|(name, _)| name.to_string())
                .collect::<Vec<String>>()
                .join(", ");
            let more = if wrong.len() > MAX_NAMED_ITEMS {
                format!(" and {} more", wrong.len() - MAX_NAMED_ITEMS)
            } else {
                String::new()
            };
            format!(
                "{arm}: {} of {} did not pass: {names}{more}",
                format::format_integer(wrong.len() as u64),
                phrases::count_with_noun(all, "items")
            )
        }
    };
    Some(Text::from(text))
}

/// Returns the run page's note on its transcripts, or `None` if there are none.
pub(super) fn availability_note(transcripts: &RunTranscripts) -> Option<String> {
    if transcripts.shown + transcripts.left_out == 0 {
        return None;
    }
    let count = |number: u64, one: &str, many: &str| {
        format!(
            "{} {}",
            format::format_integer(number),
            if number == 1 { one } else { many }
        )
    };
    let mut note = format!(
        "{} shown",
        count(transcripts.shown, "transcript is", "transcripts are")
    );
    if transcripts.cut > 0 {
        note.push_str(&format!(
            ", {} of them without the middle",
            format::format_integer(transcripts.cut)
        ));
    }
    note.push('.');
    if transcripts.left_out > 0 {
        let bytes = count(transcripts.left_out_bytes, "byte", "bytes");
        note.push_str(&format!(
            " {} left out of this site, {bytes}.",
            count(transcripts.left_out, "transcript is", "transcripts are")
        ));
    }
    Some(note)
}

fn build_entry(
    number: u64,
    entry: &ItemTranscript,
    is_open: bool,
    of: &TranscriptContext<'_>,
) -> TranscriptEntry {
    let mut about = format!("{} bytes", format::format_integer(entry.bytes));
    if entry.left_out > 0 {
        about.push_str(&format!(
            ", {} of them left out here",
            format::format_integer(entry.left_out)
        ));
    }
    let mut step = 0;
    let parts: Vec<TranscriptStep> = entry
        .parts
        .iter()
        .map(|said| build_step(said, &mut step))
        .collect();
    let name = entry.item.as_deref().filter(|item| !item.trim().is_empty());
    TranscriptEntry {
        anchor: format!("t-{number}"),
        name: Text::new(name.unwrap_or(if entry.item.is_some() {
            "(no name)"
        } else {
            "The whole run"
        })),
        is_open,
        steps: phrases::count_with_noun(step as u64, "steps"),
        about,
        digest: entry.digest.clone(),
        same_as: entry
            .same_as
            .as_ref()
            .map(|path| format!("{}{path}", of.root)),
        outcome: entry
            .item
            .as_deref()
            .and_then(|item| of.rows.get(item))
            .map(|row| build_outcome(row, of)),
        parts,
        more: step
            .checked_sub(MAX_STEPS)
            .filter(|more| *more > 0)
            .map(|more| format!("and {} more", format::format_integer(more as u64))),
    }
}

fn build_outcome(row: &ItemRow, of: &TranscriptContext<'_>) -> TranscriptOutcome {
    let (class, mark) = match GridCell::item_status(&row.status).kind {
        GridCellKind::Status(class, mark) => (class, mark),
        _ => ("s-open", "–"),
    };
    let tokens = row.input_tokens.zip(row.output_tokens);
    let facts = [
        ("Time", row.duration_seconds.map(format::duration)),
        ("Cost", row.cost_usd.map(format::money)),
        (
            "Tokens",
            tokens.map(|(read, written)| {
                format!(
                    "{} in, {} out",
                    format::format_integer(read),
                    format::format_integer(written)
                )
            }),
        ),
        ("Steps", row.steps.map(format::format_integer)),
    ];
    TranscriptOutcome {
        class,
        mark,
        word: Text::from(row.status.replace('_', " ")),
        why: row.reason.as_deref().map_or_else(Text::default, |reason| {
            Text::from(truncate_text(&reasons::reason_with_meaning(reason)))
        }),
        expected: Text::from(truncate_text(&row.expected.join(" or "))),
        answered: row
            .answer
            .as_deref()
            .map_or_else(Text::default, |answer| Text::from(truncate_text(answer))),
        facts: facts
            .into_iter()
            .filter_map(|(label, text)| Some((label, text?)))
            .collect(),
        href: item_href(
            &of.plan.suites[of.place.suite],
            of.root,
            &row.item,
            Some(&row.kind),
        ),
        beside: OtherOutcomes::for_item(of.suite, &of.plan.suites[of.place.suite], of.arm, row),
    }
}

fn build_step(part: &TranscriptPart, steps: &mut usize) -> TranscriptStep {
    let lines: Vec<Text> = part
        .text
        .lines()
        .flat_map(break_line)
        .map(Text::new)
        .collect();
    let is_long = lines.len() > MAX_UNFOLDED_LINES || part.text.len() > MAX_UNFOLDED_LETTERS;
    let first = part
        .text
        .lines()
        .map(str::trim)
        .find(|line| !matches!(*line, "" | "{" | "["))
        .unwrap_or_default();
    let fold = (part.is_of_tool() && is_long).then(|| FoldedText {
        first: Text::from(crate::domain::shorten_to(first, MAX_FIRST_LINE_LETTERS)),
        more: phrases::count_with_noun(lines.len() as u64, "lines"),
    });
    let step = part.role.as_deref().map(|role| {
        *steps += 1;
        (*steps, Text::new(role))
    });
    TranscriptStep {
        is_on_rail: step.is_some() && *steps <= MAX_STEPS,
        step,
        spent: part.spent.map_or_else(String::new, format_usage),
        lines,
        fold,
    }
}

/// Formats tokens and cost: `212 tokens · $0.004`.
fn format_usage(spent: MessageUsage) -> String {
    let tokens = spent
        .output_tokens
        .map(|tokens| phrases::count_with_noun(tokens, "tokens"));
    [tokens, spent.cost_usd.map(format::money)]
        .into_iter()
        .flatten()
        .collect::<Vec<String>>()
        .join(" · ")
}

fn break_line(line: &str) -> impl Iterator<Item = &str> {
    let mut rest = Some(line);
    std::iter::from_fn(move || {
        let line = rest.take()?;
        match line.char_indices().nth(MAX_LINE) {
            Some((end, _)) => {
                rest = Some(&line[end..]);
                Some(&line[..end])
            }
            None => Some(line),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lines_are_broken_between_characters() {
        assert_eq!(break_line("").collect::<Vec<_>>(), [""]);
        let line = "é".repeat(MAX_LINE + 1);
        let lines: Vec<&str> = break_line(&line).collect();
        assert_eq!((lines.len(), lines[1]), (2, "é"));
    }

    #[test]
    fn only_long_texts_of_tools_are_folded() {
        let fold = |role: &str, text: &str| {
            let said = TranscriptPart {
                role: Some(role.to_owned()),
                text: text.to_owned(),
                spent: None,
            };
            build_step(&said, &mut 0)
                .fold
                .map(|fold| (fold.first.to_string(), fold.more))
        };
        let long = "{\n  \"path\": \"a.py\",\n  \"from\": 1,\n  \"to\": 2\n}";
        let folded = Some(("\"path\": \"a.py\",".to_owned(), "5 lines".to_owned()));
        assert_eq!(fold("assistant, tool call: Read", long), folded);
        assert_eq!(
            [fold("assistant", long), fold("tool result", "a.py")],
            [None, None]
        );
    }
}
