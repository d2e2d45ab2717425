//! A run's transcripts, some on a page, as plain text in the order it was said.

use askama::Template;

use crate::render::{format, words};
use crate::views::{ItemTranscript, RunPage, RunTranscripts, SiteContext};

use super::SiteFile;
use super::plan::{Plan, RunPlace};
use super::runs::Pager;
use super::shell::{Crumb, Here, Shell, Text};

#[derive(Template)]
#[template(path = "transcript.html")]
struct TranscriptHtml {
    shell: Shell,
    id: Text,
    arm: Text,
    arm_href: String,
    suite: Text,
    heading: String,
    entries: Vec<Entry>,
    pager: Option<Pager>,
}

struct Entry {
    anchor: String,
    name: Text,
    about: String,
    digest: String,
    same_as: Option<String>,
    parts: Vec<Part>,
}

struct Part {
    role: Option<Text>,
    lines: Vec<Text>,
}

/// A line longer than this is broken, so that no browser has to measure a megabyte of one.
const LONGEST_LINE: usize = 2_000;

pub(super) fn pages(context: &SiteContext, plan: &Plan, place: &RunPlace, run: &RunPage, transcripts: &RunTranscripts) -> Vec<SiteFile> {
    let suite = &plan.suites[place.suite];
    let arm = words::arm_name(&run.line.arm);
    let name = |page: u64| format!("{page:04}.html");
    let pages = transcripts.pages.len() as u64;
    let page = |(number, entries): (u64, &Vec<ItemTranscript>)| {
        let path = format!("runs/{}/t/{}", place.segment, name(number));
        let of = if pages > 1 { format!(", page {number} of {pages}") } else { String::new() };
        let title = format!("Transcripts of run {}{of} · {}", run.line.id, context.title);
        let description = format!("What {arm} was told, said and did in one run on {}.", suite.label);
        let shell = Shell::new(context, &plan.assets, &path, Here::Below, title, description);
        let crumbs = vec![
            Crumb::new(format!("{}{}", shell.root, suite.path()), suite.label.as_str()),
            Crumb::new("../index.html", format!("Run {}", run.line.id)),
        ];
        let entries = (1..).zip(entries).map(|(number, entry)| shown(number, entry, &shell.root)).collect();
        let shell = shell.crumbs(crumbs);
        let html = TranscriptHtml {
            id: Text::new(&run.line.id),
            arm: Text::new(&arm),
            arm_href: plan.arm_href(&shell.root, &run.line.arm),
            suite: Text::new(&suite.label),
            heading: format!("Transcripts{of}"),
            pager: Pager::new(number, pages, name),
            entries,
            shell,
        };
        SiteFile::page(path, &html)
    };
    (1..).zip(&transcripts.pages).map(page).collect()
}

/// What the run's page says about its transcripts; nothing where there are none.
pub(super) fn note(transcripts: &RunTranscripts) -> Option<String> {
    if transcripts.shown + transcripts.left_out == 0 {
        return None;
    }
    let count = |number: u64, one: &str, many: &str| format!("{} {}", format::integer(number), if number == 1 { one } else { many });
    let mut note = format!("{} shown", count(transcripts.shown, "transcript is", "transcripts are"));
    if transcripts.cut > 0 {
        note.push_str(&format!(", {} of them without the middle", format::integer(transcripts.cut)));
    }
    note.push('.');
    if transcripts.left_out > 0 {
        let bytes = count(transcripts.left_out_bytes, "byte", "bytes");
        note.push_str(&format!(" {} left out of this site, {bytes}.", count(transcripts.left_out, "transcript is", "transcripts are")));
    }
    Some(note)
}

fn shown(number: u64, entry: &ItemTranscript, root: &str) -> Entry {
    let mut about = format!("{} bytes", format::integer(entry.bytes));
    if entry.left_out > 0 {
        about.push_str(&format!(", {} of them left out here", format::integer(entry.left_out)));
    }
    let part = |part: &crate::views::TranscriptPart| Part {
        role: part.role.as_deref().map(Text::new),
        lines: part.text.lines().flat_map(broken).map(Text::new).collect(),
    };
    let name = entry.item.as_deref().filter(|item| !item.trim().is_empty());
    Entry {
        anchor: format!("t-{number}"),
        name: Text::new(name.unwrap_or(if entry.item.is_some() { "(no name)" } else { "The whole run" })),
        about,
        digest: entry.digest.clone(),
        same_as: entry.same_as.as_ref().map(|path| format!("{root}{path}")),
        parts: entry.parts.iter().map(part).collect(),
    }
}

fn broken(line: &str) -> impl Iterator<Item = &str> {
    let mut rest = Some(line);
    std::iter::from_fn(move || {
        let line = rest.take()?;
        match line.char_indices().nth(LONGEST_LINE) {
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
        assert_eq!(broken("").collect::<Vec<_>>(), [""]);
        let line = "é".repeat(LONGEST_LINE + 1);
        let lines: Vec<&str> = broken(&line).collect();
        assert_eq!((lines.len(), lines[1]), (2, "é"));
    }
}
