//! Chooses the transcripts that a site shows, within its size limit.

use std::collections::{BTreeMap, BTreeSet};
use std::str::FromStr;

use serde::Serialize;
use sha2::{Digest, Sha256};

use crate::domain::{Filter, ItemStatus, Published, RunStatus, hex};
use crate::render::{format, html::MOST_BESIDE};
use crate::views::{
    ItemPage, ItemTranscript, RunTranscripts, TranscriptPart, TranscriptReader, without_middle,
};
use crate::warehouse::{RunRow, Warehouse};

use super::error::PublishError;
use super::stored::Stores;
use super::tally::Tally;
use super::texts::{Page, Texts};

/// Selection of transcripts. A run that is a single piece of work has one transcript.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Choice {
    /// Items that did not pass, items on which runs disagree, and some that passed.
    #[default]
    Usual,
    All,
    Failing,
    Disagreeing,
    None,
    /// The usual selection, with another size limit for the site, in bytes.
    Budget(u64),
}

/// Number of a run's passing items whose transcripts are shown. They are drawn by a digest of run and item.
const DRAWN: usize = 20;
/// Maximum bytes of a transcript's beginning and end.
const HEAD: usize = 24 << 10;
const TAIL: usize = 40 << 10;
/// Maximum bytes of text on all pages together.
const SITE: u64 = 200 << 20;
/// Maximum bytes of a text that is repeated instead of linked to its first copy.
const SHORT: u64 = 2 << 10;
/// Bytes of text after which a new page begins.
const PAGE: usize = 120 << 10;
/// Bytes of markup around one transcript, and around one of its parts.
const AROUND: usize = 900;
/// Bytes of another arm's outcome beside a transcript.
const OTHER_ARM: usize = 200;
const AROUND_PART: usize = 250;

/// Choices and totals for the whole site.
pub(super) struct Transcripts {
    choice: Choice,
    left: u64,
    /// Items, by suite, that passed in some runs and not in others.
    disagreeing: BTreeMap<String, BTreeSet<String>>,
    /// Address from the site's root of the suite's first copy, by digest.
    published: BTreeMap<String, String>,
    /// Totals of the current suite. `all` has those of finished suites.
    suite: Tally,
    all: Tally,
}

impl FromStr for Choice {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "usual" => Ok(Self::Usual),
            "all" => Ok(Self::All),
            "failing" => Ok(Self::Failing),
            "disagreeing" => Ok(Self::Disagreeing),
            "none" => Ok(Self::None),
            other => other
                .strip_prefix("budget:")
                .and_then(bytes)
                .map(Self::Budget)
                .ok_or_else(|| "write usual, all, failing, disagreeing, none, or budget:SIZE, for example budget:50MB".to_owned()),
        }
    }
}

/// Parses a size such as `500`, `64KB`, `50MB`, `2GB`. Units are powers of 1024.
fn bytes(text: &str) -> Option<u64> {
    let digits = text.trim_end_matches(|character: char| character.is_ascii_alphabetic());
    let unit = match text[digits.len()..].to_ascii_uppercase().as_str() {
        "" | "B" => 1,
        "K" | "KB" => 1 << 10,
        "M" | "MB" => 1 << 20,
        "G" | "GB" => 1 << 30,
        _ => return None,
    };
    digits.parse::<u64>().ok()?.checked_mul(unit)
}

impl Transcripts {
    pub fn new(warehouse: &Warehouse, filter: &Filter, choice: Choice) -> Self {
        let needed = matches!(
            choice,
            Choice::Usual | Choice::Disagreeing | Choice::Budget(_)
        );
        let disagreeing = if needed {
            disagreements(warehouse, filter)
        } else {
            BTreeMap::new()
        };
        let left = if let Choice::Budget(bytes) = choice {
            bytes
        } else {
            SITE
        };
        Self {
            choice,
            left,
            disagreeing,
            published: BTreeMap::new(),
            suite: Tally::default(),
            all: Tally::default(),
        }
    }

    /// Says whether the next suite would show the same transcripts as at the last build: there was room then, and there is now.
    pub fn would_repeat(&self, tally: &Tally) -> bool {
        !tally.was_short && self.left >= tally.spent + (HEAD + TAIL) as u64
    }

    /// Counts a suite with the totals of the last build.
    pub fn repeat(&mut self, tally: &Tally) {
        self.left -= tally.spent.min(self.left);
        self.all.add(tally);
    }

    /// Ends a suite and returns its totals. The next suite starts without known copies, so that its pages do not depend on other suites.
    pub fn end_suite(&mut self) -> Tally {
        self.published.clear();
        let suite = std::mem::take(&mut self.suite);
        self.all.add(&suite);
        suite
    }

    /// Reads a run's transcripts and takes those to show. `segment` is the run's part of addresses, `arms` the number of arms of its suite.
    pub fn of_run(
        &mut self,
        stores: &Stores<'_>,
        texts: &mut Texts,
        row: &RunRow,
        pages: &[ItemPage],
        segment: &str,
        arms: usize,
    ) -> Result<RunTranscripts, PublishError> {
        let mut run = RunTranscripts::default();
        let id = &row.run.id;
        let Some(store) = stores.of(id)? else {
            return Ok(run);
        };
        // In the order of first appearance; an item's lines need not be adjacent.
        let mut found = Vec::<(Option<String>, TranscriptReader)>::new();
        let mut places = BTreeMap::<Option<String>, usize>::new();
        for line in store.transcript(id)? {
            let item = line.item.map(|item| stores.names.item(&item).to_owned());
            let place = *places.entry(item.clone()).or_insert_with(|| {
                found.push((item, TranscriptReader::default()));
                found.len() - 1
            });
            found[place].1.add(&line.entry);
        }
        let wanted = self.wanted(row, pages, found.iter().map(|(item, _)| item.as_deref()));
        let file = stores.journal_of(id, "transcript.jsonl");
        let around = AROUND + OTHER_ARM * arms.saturating_sub(1).min(MOST_BESIDE);
        let mut page_bytes = 0;
        for (item, said) in found {
            let parts = said.into_parts();
            let size: u64 = parts.iter().map(|part| part.text.len() as u64).sum();
            let is_wanted = wanted.contains(&item);
            let fits = size.min((HEAD + TAIL) as u64) <= self.left;
            self.suite.was_short |= is_wanted && !fits;
            if !is_wanted || !fits {
                run.left_out += 1;
                run.left_out_bytes += size;
                continue;
            }
            let parts = texts.published(Page::Transcripts, &file, parts);
            let bytes = parts.iter().map(|part| part.text.len() as u64).sum();
            let digest = digest(&parts);
            let (parts, left_out) = parts.map(|parts| without_middle(parts, HEAD, TAIL)).apart();
            let kept: usize = parts
                .iter()
                .map(|part| AROUND_PART + escaped_length(&part.text))
                .sum();
            let same_as = self
                .published
                .get(&digest)
                .filter(|_| bytes > SHORT)
                .cloned();
            let kept = around + if same_as.is_some() { 0 } else { kept };
            if run.pages.is_empty() || page_bytes + kept > PAGE {
                run.pages.push(Vec::new());
                page_bytes = 0;
            }
            page_bytes += kept;
            let number = run.pages.len();
            let Some(page) = run.pages.last_mut() else {
                continue;
            };
            let link = format!("t/{number:04}.html#t-{}", page.len() + 1);
            let parts = if same_as.is_some() {
                Published::default()
            } else {
                parts
            };
            let spent = parts.iter().map(|part| part.text.len() as u64).sum::<u64>();
            self.left -= spent.min(self.left);
            self.suite.spent += spent;
            self.published
                .entry(digest.clone())
                .or_insert_with(|| format!("runs/{segment}/{link}"));
            run.links.insert(item.clone().unwrap_or_default(), link);
            run.shown += 1;
            run.cut += u64::from(*left_out > 0);
            page.push(ItemTranscript {
                item,
                digest,
                bytes,
                left_out: *left_out,
                same_as,
                parts,
            });
        }
        self.suite.shown += run.shown;
        self.suite.cut += run.cut;
        self.suite.left_out += run.left_out;
        self.suite.left_out_bytes += run.left_out_bytes;
        Ok(run)
    }

    /// Chooses among the items that have a transcript.
    fn wanted<'a>(
        &self,
        row: &RunRow,
        pages: &[ItemPage],
        items: impl Iterator<Item = Option<&'a str>>,
    ) -> BTreeSet<Option<String>> {
        let disagreeing = self.disagreeing.get(&row.run.suite);
        let disagrees = |item: &str| disagreeing.is_some_and(|items| items.contains(item));
        let is_failure = |status: &str| {
            ItemStatus::from_name(status)
                .is_none_or(|status| status != ItemStatus::Pass && status != ItemStatus::Skipped)
        };
        let rows = || pages.iter().flat_map(|page| &page.rows);
        let failing: BTreeSet<&str> = rows()
            .filter(|row| is_failure(&row.status))
            .map(|row| row.item.as_str())
            .collect();
        let fails = !failing.is_empty() || row.run.status != RunStatus::Completed;
        let splits = || rows().any(|row| disagrees(&row.item));
        let mut wanted = BTreeSet::new();
        let mut passing = Vec::<(String, &str)>::new();
        for item in items {
            let is_wanted = match (self.choice, item) {
                (Choice::None, _) => false,
                (Choice::All, _) | (Choice::Usual | Choice::Budget(_), None) => true,
                (Choice::Failing, None) => fails,
                (Choice::Failing, Some(item)) => failing.contains(item),
                (Choice::Disagreeing, None) => splits(),
                (Choice::Disagreeing, Some(item)) => disagrees(item),
                (Choice::Usual | Choice::Budget(_), Some(item)) => {
                    if !failing.contains(item) && !disagrees(item) {
                        passing.push((
                            hex(&Sha256::digest(format!("{}\n{item}", row.run.id))),
                            item,
                        ));
                    }
                    failing.contains(item) || disagrees(item)
                }
            };
            if is_wanted {
                wanted.insert(item.map(str::to_owned));
            }
        }
        passing.sort();
        wanted.extend(
            passing
                .into_iter()
                .take(DRAWN)
                .map(|(_, item)| Some(item.to_owned())),
        );
        wanted
    }

    /// Summarises the transcripts that are shown and not shown, or returns `None` if there are none.
    pub fn note(&self) -> Option<String> {
        let Tally {
            shown,
            cut,
            left_out,
            left_out_bytes,
            ..
        } = self.all;
        if shown + left_out == 0 {
            return None;
        }
        let mut line = format!("{} shown", format::count(shown, "transcript"));
        if cut > 0 {
            line.push_str(&format!(", {cut} of them without the middle"));
        }
        if left_out > 0 {
            line.push_str(&format!(
                "; {left_out} left out, {}",
                format::count(left_out_bytes, "byte")
            ));
        }
        Some(line)
    }
}

/// Returns, by suite, the items that passed in some runs and not in others.
fn disagreements(warehouse: &Warehouse, filter: &Filter) -> BTreeMap<String, BTreeSet<String>> {
    let rows: Vec<&RunRow> = warehouse.select(filter).collect();
    let of_suite = |suite: &[&RunRow]| {
        let matrix = warehouse.matrix(suite.iter().map(|row| &row.run.id));
        let mut seen = vec![(false, false); matrix.items.len()];
        for row in &matrix.rows {
            for (item, status) in row.outcomes() {
                match status {
                    ItemStatus::Pass => seen[item as usize].0 = true,
                    ItemStatus::Fail | ItemStatus::Error | ItemStatus::Limit => {
                        seen[item as usize].1 = true
                    }
                    ItemStatus::Infra | ItemStatus::Skipped | ItemStatus::NotEvaluated => {}
                }
            }
        }
        let both = matrix
            .items
            .into_iter()
            .zip(seen)
            .filter(|(_, seen)| *seen == (true, true));
        both.map(|(item, _)| item.key.item).collect()
    };
    rows.chunk_by(|left, right| left.run.suite == right.run.suite)
        .map(|suite| (suite[0].run.suite.clone(), of_suite(suite)))
        .collect()
}

fn digest(parts: &[TranscriptPart]) -> String {
    let mut hasher = Sha256::new();
    for TranscriptPart {
        role,
        text,
        spent: _,
    } in parts
    {
        let role = role.as_deref().unwrap_or_default();
        hasher.update(format!("{} {}\n{role}{text}", role.len(), text.len()));
    }
    hex(&hasher.finalize())
}

/// Returns the length of a text in HTML, in bytes.
fn escaped_length(text: &str) -> usize {
    text.len()
        + 4 * text
            .bytes()
            .filter(|byte| matches!(byte, b'<' | b'>' | b'&' | b'"' | b'\''))
            .count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn choices_are_read() {
        assert_eq!("failing".parse(), Ok(Choice::Failing));
        assert_eq!("budget:2mb".parse(), Ok(Choice::Budget(2 << 20)));
        assert_eq!("budget:500".parse(), Ok(Choice::Budget(500)));
        for wrong in [
            "budget:",
            "budget:x",
            "budget:1TB",
            "some",
            "budget:99999999999999GB",
        ] {
            assert!(wrong.parse::<Choice>().is_err(), "{wrong}");
        }
    }
}
