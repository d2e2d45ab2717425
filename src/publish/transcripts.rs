//! Chooses the transcripts that a site shows, within its size limit.

use std::collections::{BTreeMap, BTreeSet};
use std::str::FromStr;

use serde::Serialize;
use sha2::{Digest, Sha256};

use crate::domain::{Filter, ItemStatus, Redacted, RunStatus, to_hex};
use crate::render::{format, html::MAX_BESIDE};
use crate::views::{
    ItemPage, ItemTranscript, RunTranscripts, TranscriptPart, TranscriptReader, without_middle,
};
use crate::warehouse::{RunRow, Warehouse};

use super::error::PublishError;
use super::secret_scan::{ScannedPage, SecretScan};
use super::stored::NamedStores;
use super::tally::TranscriptTally;

/// Selection of transcripts. A run that is a single piece of work has one transcript.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum TranscriptChoice {
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
const DRAWN_PASSING_ITEMS: usize = 20;
/// Maximum bytes of a transcript's beginning and end.
const MAX_HEAD_BYTES: usize = 24 << 10;
const MAX_TAIL_BYTES: usize = 40 << 10;
/// Maximum bytes of text on all pages together.
const MAX_SITE_BYTES: u64 = 200 << 20;
/// Maximum bytes of a text that is repeated instead of linked to its first copy.
const MAX_REPEATED_BYTES: u64 = 2 << 10;
/// Bytes of text after which a new page begins.
const MAX_PAGE_BYTES: usize = 120 << 10;
/// Bytes of markup around one transcript, and around one of its parts.
const TRANSCRIPT_MARKUP_BYTES: usize = 900;
/// Bytes of another arm's outcome beside a transcript.
const OTHER_ARM_BYTES: usize = 200;
const PART_MARKUP_BYTES: usize = 250;

/// Choices and totals for the whole site.
pub(super) struct TranscriptSelection {
    choice: TranscriptChoice,
    left: u64,
    /// Items, by suite, that passed in some runs and not in others.
    disagreeing: BTreeMap<String, BTreeSet<String>>,
    /// Address from the site's root of the suite's first copy, by digest.
    published: BTreeMap<String, String>,
    /// Totals of the current suite. `all` has those of finished suites.
    suite: TranscriptTally,
    all: TranscriptTally,
}

impl FromStr for TranscriptChoice {
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
                .and_then(parse_size)
                .map(Self::Budget)
                .ok_or_else(|| "write usual, all, failing, disagreeing, none, or budget:SIZE, for example budget:50MB".to_owned()),
        }
    }
}

/// Parses a size such as `500`, `64KB`, `50MB`, `2GB`. Units are powers of 1024.
fn parse_size(text: &str) -> Option<u64> {
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

impl TranscriptSelection {
    pub fn new(warehouse: &Warehouse, filter: &Filter, choice: TranscriptChoice) -> Self {
        let needed = matches!(
            choice,
            TranscriptChoice::Usual | TranscriptChoice::Disagreeing | TranscriptChoice::Budget(_)
        );
        let disagreeing = if needed {
            disagreeing_items(warehouse, filter)
        } else {
            BTreeMap::new()
        };
        let left = if let TranscriptChoice::Budget(bytes) = choice {
            bytes
        } else {
            MAX_SITE_BYTES
        };
        Self {
            choice,
            left,
            disagreeing,
            published: BTreeMap::new(),
            suite: TranscriptTally::default(),
            all: TranscriptTally::default(),
        }
    }

    /// Says whether the next suite would show the same transcripts as at the last build: there was room then, and there is now.
    pub fn would_repeat(&self, tally: &TranscriptTally) -> bool {
        !tally.was_short && self.left >= tally.spent + (MAX_HEAD_BYTES + MAX_TAIL_BYTES) as u64
    }

    /// Counts a suite with the totals of the last build.
    pub fn repeat_suite(&mut self, tally: &TranscriptTally) {
        self.left -= tally.spent.min(self.left);
        self.all.add(tally);
    }

    /// Ends a suite and returns its totals. The next suite starts without known copies, so that its pages do not depend on other suites.
    pub fn end_suite(&mut self) -> TranscriptTally {
        self.published.clear();
        let suite = std::mem::take(&mut self.suite);
        self.all.add(&suite);
        suite
    }

    /// Reads a run's transcripts and takes those to show. `segment` is the run's part of addresses, `arms` the number of arms of its suite.
    pub fn take_run(
        &mut self,
        stores: &NamedStores<'_>,
        texts: &mut SecretScan,
        row: &RunRow,
        pages: &[ItemPage],
        segment: &str,
        arms: usize,
    ) -> Result<RunTranscripts, PublishError> {
        let mut run = RunTranscripts::default();
        let id = &row.run.id;
        let Some(store) = stores.store_of(id)? else {
            return Ok(run);
        };
        // In the order of first appearance; an item's lines need not be adjacent.
        let mut found = Vec::<(Option<String>, TranscriptReader)>::new();
        let mut places = BTreeMap::<Option<String>, usize>::new();
        for line in store.read_transcript(id)? {
            let item = line
                .item
                .map(|item| stores.names.item_name(&item).to_owned());
            let place = *places.entry(item.clone()).or_insert_with(|| {
                found.push((item, TranscriptReader::default()));
                found.len() - 1
            });
            found[place].1.add_entry(&line.entry);
        }
        let wanted = self.choose_items(row, pages, found.iter().map(|(item, _)| item.as_deref()));
        let file = stores.name_journal_file(id, "transcript.jsonl");
        let around =
            TRANSCRIPT_MARKUP_BYTES + OTHER_ARM_BYTES * arms.saturating_sub(1).min(MAX_BESIDE);
        let mut page_bytes = 0;
        for (item, said) in found {
            let parts = said.into_parts();
            let size: u64 = parts.iter().map(|part| part.text.len() as u64).sum();
            let is_wanted = wanted.contains(&item);
            let fits = size.min((MAX_HEAD_BYTES + MAX_TAIL_BYTES) as u64) <= self.left;
            self.suite.was_short |= is_wanted && !fits;
            if !is_wanted || !fits {
                run.left_out += 1;
                run.left_out_bytes += size;
                continue;
            }
            let parts = texts.redact_value(ScannedPage::Transcripts, &file, parts);
            let bytes = parts.iter().map(|part| part.text.len() as u64).sum();
            let digest = digest_parts(&parts);
            let (parts, left_out) = parts
                .map(|parts| without_middle(parts, MAX_HEAD_BYTES, MAX_TAIL_BYTES))
                .split_pair();
            let kept: usize = parts
                .iter()
                .map(|part| PART_MARKUP_BYTES + escaped_length(&part.text))
                .sum();
            let same_as = self
                .published
                .get(&digest)
                .filter(|_| bytes > MAX_REPEATED_BYTES)
                .cloned();
            let kept = around + if same_as.is_some() { 0 } else { kept };
            if run.pages.is_empty() || page_bytes + kept > MAX_PAGE_BYTES {
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
                Redacted::default()
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
    fn choose_items<'a>(
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
                (TranscriptChoice::None, _) => false,
                (TranscriptChoice::All, _)
                | (TranscriptChoice::Usual | TranscriptChoice::Budget(_), None) => true,
                (TranscriptChoice::Failing, None) => fails,
                (TranscriptChoice::Failing, Some(item)) => failing.contains(item),
                (TranscriptChoice::Disagreeing, None) => splits(),
                (TranscriptChoice::Disagreeing, Some(item)) => disagrees(item),
                (TranscriptChoice::Usual | TranscriptChoice::Budget(_), Some(item)) => {
                    if !failing.contains(item) && !disagrees(item) {
                        passing.push((
                            to_hex(&Sha256::digest(format!("{}\n{item}", row.run.id))),
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
                .take(DRAWN_PASSING_ITEMS)
                .map(|(_, item)| Some(item.to_owned())),
        );
        wanted
    }

    /// Summarises the transcripts that are shown and not shown, or returns `None` if there are none.
    pub fn summary_note(&self) -> Option<String> {
        let TranscriptTally {
            shown,
            cut,
            left_out,
            left_out_bytes,
            ..
        } = self.all;
        if shown + left_out == 0 {
            return None;
        }
        let mut line = format!("{} shown", format::format_count(shown, "transcript"));
        if cut > 0 {
            line.push_str(&format!(", {cut} of them without the middle"));
        }
        if left_out > 0 {
            line.push_str(&format!(
                "; {left_out} left out, {}",
                format::format_count(left_out_bytes, "byte")
            ));
        }
        Some(line)
    }
}

/// Returns, by suite, the items that passed in some runs and not in others.
fn disagreeing_items(warehouse: &Warehouse, filter: &Filter) -> BTreeMap<String, BTreeSet<String>> {
    let rows: Vec<&RunRow> = warehouse.select_runs(filter).collect();
    let of_suite = |suite: &[&RunRow]| {
        let matrix = warehouse.outcome_matrix(suite.iter().map(|row| &row.run.id));
        let mut seen = vec![(false, false); matrix.items.len()];
        for row in &matrix.rows {
            for (item, status) in row.outcomes() {
                match status {
                    ItemStatus::Pass => seen[item as usize].0 = true,
                    ItemStatus::Fail | ItemStatus::Error | ItemStatus::Limit => {
                        seen[item as usize].1 = true;
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

fn digest_parts(parts: &[TranscriptPart]) -> String {
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
    to_hex(&hasher.finalize())
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
        assert_eq!("failing".parse(), Ok(TranscriptChoice::Failing));
        assert_eq!("budget:2mb".parse(), Ok(TranscriptChoice::Budget(2 << 20)));
        assert_eq!("budget:500".parse(), Ok(TranscriptChoice::Budget(500)));
        for wrong in [
            "budget:",
            "budget:x",
            "budget:1TB",
            "some",
            "budget:99999999999999GB",
        ] {
            assert!(wrong.parse::<TranscriptChoice>().is_err(), "{wrong}");
        }
    }
}
