//! Secrets in foreign texts: every such text is searched here before it becomes a page or a data file.
//!
//! With `--redact`, matches of the patterns are removed and different names stay different. Without it, texts stay unchanged and the places
//! of matches are reported. A secret itself is never kept, printed or written.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use serde_json::Value;
use sha2::{Digest, Sha256};
use tracing::warn;

use crate::domain::{
    Acceptance, Filter, ItemOutcome, MatchCounts, OwnPattern, Redacted, Redactor, Run, RunId,
    Secrets, Untrusted, escape_invisible, is_known_secret, to_hex,
};
use crate::render::{format, json};
use crate::views::{Policy, SiteOptions};
use crate::warehouse::{DisplayNames, NameKind, RedactedWarehouse, RunRow, Warehouse};

use super::build_cache::SecretMatches;
use super::error::PublishError;
use super::stored::{self, JOURNAL_FILES, NamedStores};

/// What happens to matches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SecretPolicy {
    TakenOut,
    Named,
}

/// The kind of page that a text is on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum ScannedPage {
    /// Names are on many pages, and each is counted once.
    Names,
    Runs,
    Items,
    Transcripts,
}

/// The file and field of a text, for a message.
struct TextSource<'a> {
    page: ScannedPage,
    file: &'a str,
    field: &'a str,
}

pub(super) struct SecretScan {
    redactor: Redactor,
    /// Fingerprint of the known secrets.
    secrets: String,
    /// Users' names found in paths of home folders, if they are redacted.
    users: BTreeSet<String>,
    found: SecretPolicy,
    counts: BTreeMap<String, BTreeMap<ScannedPage, u64>>,
    /// Patterns found, by file and field.
    places: SecretMatches,
    names: RedactedNames,
    /// Results for names that have few values but are in millions of rows.
    known: BTreeMap<String, Option<String>>,
}

/// Maximum number of places that a message lists.
const MAX_LISTED_MATCHES: usize = 10;

/// Content of `redactions.json`.
#[derive(Serialize)]
struct RedactionReport<'a> {
    /// Number of redactions, by pattern and kind of page.
    redacted: &'a BTreeMap<String, BTreeMap<ScannedPage, u64>>,
}

impl SecretScan {
    /// Searches the warehouse's texts, and the names by which the command line and the configuration select them, and changes both. Pages
    /// made from the warehouse afterwards have only searched texts of runs.
    pub fn scan_warehouse<'w>(
        stores: &NamedStores<'_>,
        own: (&[OwnPattern], &Secrets),
        found: SecretPolicy,
        warehouse: &'w mut Warehouse,
        selected: (&mut Filter, &mut Policy, &mut SiteOptions),
    ) -> Result<(Self, RedactedWarehouse<'w>), PublishError> {
        let (filter, policy, options) = selected;
        let mut texts = Self::scan_names(stores, own, warehouse, filter, found)?;
        texts.refuse_known_secrets()?;
        let warehouse = texts.redact_warehouse(stores, warehouse, filter, policy, options);
        texts.refuse_known_secrets()?;
        Ok((texts, warehouse))
    }

    /// Searches the names. Users' names are also redacted outside of paths, so this first reads all other texts for home folders.
    fn scan_names(
        stores: &NamedStores<'_>,
        (own, secrets): (&[OwnPattern], &Secrets),
        warehouse: &Warehouse,
        filter: &Filter,
        found: SecretPolicy,
    ) -> Result<Self, PublishError> {
        let mut texts = Self {
            redactor: Redactor::new(own, secrets),
            secrets: to_hex(&Sha256::digest(format!("{:?}", secrets.forms_by_name()))),
            users: BTreeSet::new(),
            found,
            counts: BTreeMap::new(),
            places: BTreeMap::new(),
            names: BTreeMap::new(),
            known: BTreeMap::new(),
        };
        if found == SecretPolicy::TakenOut {
            let mut users = texts.find_users(stores, warehouse, filter)?;
            // A suite's, approach's or model's own name is not a user's name, even if a home folder has it.
            let own = |run: &Run| [run.suite.clone(), run.approach.clone(), run.model.clone()];
            let own: BTreeSet<String> = warehouse
                .runs()
                .iter()
                .flat_map(|row| own(&row.run))
                .collect();
            users.retain(|user| !own.contains(user));
            texts.redactor = texts.redactor.with_users(&users);
            texts.users = users;
        }
        let mut values: BTreeMap<&'static str, BTreeMap<String, String>> = BTreeMap::new();
        for row in warehouse.select_runs(filter) {
            let file = stores.name_run_file(&row.run.id);
            texts.check_run_id(&row.run.id, &file)?;
            for_each_name(&row.run, &mut |kind, name| {
                values
                    .entry(kind)
                    .or_default()
                    .entry(name.to_owned())
                    .or_insert_with(|| file.clone());
            });
        }
        // Results that are published with the site have names of their own.
        for run in warehouse.stored_runs(filter) {
            for_each_name(&run, &mut |kind, name| {
                values
                    .entry(kind)
                    .or_default()
                    .entry(name.to_owned())
                    .or_insert_with(|| stores.name_run_file(&run.id));
            });
        }
        for name in warehouse.aliases().item.keys() {
            values
                .entry(ITEM)
                .or_default()
                .entry(name.clone())
                .or_insert_with(|| "the configuration".to_owned());
        }
        warehouse.for_each_name(&mut |kind, name, file| {
            let names = values.entry(name_kind_field(kind)).or_default();
            if !names.contains_key(name) {
                names.insert(name.to_owned(), escape_invisible(file));
            }
        });
        for (kind, names) in &values {
            texts.scan_name_kind(kind, names);
        }
        Ok(texts)
    }

    /// Decides under which names things are shown. Two different names stay different.
    fn scan_name_kind(&mut self, kind: &'static str, names: &BTreeMap<String, String>) {
        let mut taken: BTreeSet<String> = names.keys().cloned().collect();
        let mut instead = BTreeMap::new();
        for (name, file) in names {
            let Some(base) = self.scan_text(
                &TextSource {
                    page: ScannedPage::Names,
                    file,
                    field: kind,
                },
                name,
            ) else {
                continue;
            };
            let mut shown = base.clone();
            let mut number = 2;
            while !taken.insert(shown.clone()) {
                shown = format!("{base} {number}");
                number += 1;
            }
            instead.insert(name.clone(), shown);
        }
        if self.found == SecretPolicy::TakenOut && !instead.is_empty() {
            self.names.insert(kind, instead);
        }
    }

    /// Checks a run's id. It names files and pages, so it cannot be replaced.
    fn check_run_id(&mut self, id: &RunId, file: &str) -> Result<(), PublishError> {
        let found = self.scan_text(
            &TextSource {
                page: ScannedPage::Names,
                file,
                field: "id",
            },
            id.as_str(),
        );
        if self.found == SecretPolicy::TakenOut && found.is_some() {
            return Err(PublishError::new(format!(
                "the id of the run in {file} looks like a secret, and ids are addresses of pages"
            ))
            .with_hint("retract the run, or give its file another name"));
        }
        Ok(())
    }

    fn find_users(
        &self,
        stores: &NamedStores<'_>,
        warehouse: &Warehouse,
        filter: &Filter,
    ) -> Result<BTreeSet<String>, PublishError> {
        let mut users = BTreeSet::new();
        for row in warehouse.select_runs(filter) {
            for_each_name(&row.run, &mut |_, name| {
                self.redactor.learn_users(name, &mut users);
            });
            Run::clone(&row.run)
                .visit_texts(&mut |_, text| self.redactor.learn_users(text, &mut users));
            let store = stores.score_store_of(warehouse, &row.run.id)?;
            for score in stored::read_evaluator_scores(store.as_ref(), warehouse, &row.run.id) {
                for text in score.not_evaluated.iter().chain(&score.reasoning) {
                    self.redactor.learn_users(text, &mut users);
                }
                score.details.iter().for_each(|details| {
                    for_each_string(details, &mut |text| {
                        self.redactor.learn_users(text, &mut users);
                    });
                });
            }
            if warehouse.is_external(&row.run.id) && stored::has_details(warehouse, row) {
                for (_, mut details) in
                    stores.read_detailed_imports(warehouse, std::slice::from_ref(&row.run))?
                {
                    details.visit_texts(&mut |_, text| self.redactor.learn_users(text, &mut users));
                }
            }
            let Some(store) = store else { continue };
            let judged = stores.read_import_judgements(warehouse, &row.run.id)?;
            for (_, mut details) in store
                .read_detailed_items(&row.run.id)?
                .unwrap_or_default()
                .into_iter()
                .chain(judged)
            {
                details.visit_texts(&mut |_, text| self.redactor.learn_users(text, &mut users));
            }
            for line in store.read_transcript(&row.run.id)? {
                for_each_string(&line.entry, &mut |text| {
                    self.redactor.learn_users(text, &mut users);
                });
            }
        }
        warehouse.for_each_name(&mut |_, name, _| self.redactor.learn_users(name, &mut users));
        Ok(users)
    }

    fn redact_warehouse<'w>(
        &mut self,
        stores: &NamedStores<'_>,
        warehouse: &'w mut Warehouse,
        filter: &mut Filter,
        policy: &mut Policy,
        options: &mut SiteOptions,
    ) -> RedactedWarehouse<'w> {
        let selected: BTreeSet<RunId> = warehouse
            .select_runs(filter)
            .map(|row| row.run.id.clone())
            .collect();
        let shown = self.outcome_names();
        // The shown names were decided one by one, so that different names stay different.
        let shown = self.redactor.redact_value(shown, &mut |_, _| false);
        let texts = std::cell::RefCell::new(&mut *self);
        let run = |run: &Run| {
            selected
                .contains(&run.id)
                .then(|| texts.borrow_mut().redact_run(stores, run))
        };
        let accepted = |one: &Acceptance| texts.borrow_mut().redact_acceptance(one);
        let warehouse = warehouse.show_redacted(shown, (run, accepted));
        if self.found == SecretPolicy::Named {
            return warehouse;
        }
        let named = |kind: &str, name: &mut String| apply_redacted_name(&self.names, kind, name);
        let rename = |kind: &str, names: &mut Vec<String>| {
            for name in names {
                named(kind, name);
            }
        };
        rename("suite", &mut filter.suites);
        rename("approach", &mut filter.approaches);
        rename("model", &mut filter.models);
        if let Some(batch) = &mut filter.batch {
            named("batch_id", batch);
        }
        // The selection by tags is already made above.
        if !filter.tags.is_empty() {
            filter.tags.clear();
            filter.ids = selected.iter().map(ToString::to_string).collect();
        }
        if let Some(suite) = &mut options.default_suite {
            named("suite", suite);
        }
        if let Some(approach) = &mut options.baseline {
            named("approach", approach);
        }
        for exclusion in &mut policy.exclusions {
            named(ITEM, &mut exclusion.item);
            if let Some(suite) = &mut exclusion.suite {
                named("suite", suite);
            }
        }
        let renamed = |kind: &str, mut name: String| {
            named(kind, &mut name);
            name
        };
        policy.designs = std::mem::take(&mut policy.designs)
            .into_iter()
            .map(|(suite, design)| (renamed("suite", suite), design))
            .collect();
        policy.metrics = std::mem::take(&mut policy.metrics)
            .into_iter()
            .map(|(name, set)| (renamed(EVALUATOR, name), set))
            .collect();
        let primary = std::mem::take(&mut policy.primary).into_iter();
        policy.primary = primary
            .map(|(suite, metric)| (renamed("suite", suite), renamed(EVALUATOR, metric)))
            .collect();
        warehouse
    }

    /// Says whether matches are redacted.
    pub fn is_redacting(&self) -> bool {
        self.found == SecretPolicy::TakenOut
    }

    /// Redacts a text without counting: texts on pages are counted there.
    pub fn redact_uncounted(&self, text: &mut String) {
        if let Some((shorter, _)) = self.redactor.redact_text(text) {
            *text = shorter;
        }
    }

    /// Gives a run its shown names.
    pub fn rename_run(&self, run: &mut Run) {
        apply_redacted_names(run, &self.names);
    }

    /// Returns the names under which outcomes are shown, where they differ from the warehouse's before.
    pub fn outcome_names(&self) -> DisplayNames {
        let names = |kind| self.names.get(kind).cloned().unwrap_or_default();
        DisplayNames {
            items: names(ITEM),
            evaluators: names(EVALUATOR),
            clusters: names(CLUSTER),
        }
    }

    pub fn rename_suite(&self, suite: &mut String) {
        apply_redacted_name(&self.names, "suite", suite);
    }

    pub fn rename_metric(&self, metric: &mut String) {
        apply_redacted_name(&self.names, EVALUATOR, metric);
    }

    fn redact_run(&mut self, stores: &NamedStores<'_>, run: &Run) -> Redacted<Run> {
        let file = stores.name_run_file(&run.id);
        let mut run = run.clone();
        apply_redacted_names(&mut run, &self.names);
        self.redact_value(ScannedPage::Runs, &file, run)
    }

    fn redact_acceptance(&mut self, one: &Acceptance) -> Redacted<Acceptance> {
        let mut one = one.clone();
        self.rename_acceptance(&mut one);
        self.redact_value(ScannedPage::Runs, ACCEPTANCES_FILE, one)
    }

    /// Gives an acceptance the names under which its runs are shown.
    pub fn rename_acceptance(&self, one: &mut Acceptance) {
        apply_redacted_name(&self.names, "suite", &mut one.suite);
        apply_redacted_name(&self.names, "approach", &mut one.approach);
        apply_redacted_name(&self.names, "model", &mut one.model);
        one.batches
            .iter_mut()
            .for_each(|batch| apply_redacted_name(&self.names, "batch_id", batch));
        if let Some(version) = &mut one.suite_version {
            apply_redacted_name(&self.names, "suite_version", version);
        }
    }

    /// Returns an error if a secret of this process's environment was found and redaction is off.
    pub fn refuse_known_secrets(&self) -> Result<(), PublishError> {
        if self.found == SecretPolicy::TakenOut {
            return Ok(());
        }
        let known = self.places.iter().flat_map(|((file, field), found)| {
            found.iter().map(move |pattern| (file, field, pattern))
        });
        let known: Vec<String> = known
            .filter(|(_, _, pattern)| is_known_secret(pattern))
            .map(|(file, field, pattern)| {
                format!("{file}: `{}` holds {pattern}", escape_invisible(field))
            })
            .collect();
        match known.first() {
            None => Ok(()),
            Some(first) => {
                let more = if known.len() > 1 {
                    format!(", and {} more do", known.len() - 1)
                } else {
                    String::new()
                };
                Err(PublishError::new(format!("{first}{more}; a secret is not published"))
                    .with_hint("change the key, for it is in the results; then retract the runs, or build with --redact"))
            }
        }
    }

    /// Searches the texts of a run's page, its items or transcripts. `file` is their source.
    pub fn redact_value<T: Untrusted>(
        &mut self,
        page: ScannedPage,
        file: &str,
        value: T,
    ) -> Redacted<T> {
        let Self {
            redactor,
            found,
            counts,
            places,
            ..
        } = self;
        redactor.redact_value(value, &mut |field, seen| {
            // Redact known secrets in any case: not even a build that will be refused holds one.
            let is_known = seen.keys().any(|pattern| is_known_secret(pattern));
            record_matches(counts, places, &TextSource { page, file, field }, seen);
            *found == SecretPolicy::TakenOut || is_known
        })
    }

    /// Searches outcomes under their shown names. Of a category's matches each is counted once: it is in many lines.
    pub fn redact_outcomes(
        &mut self,
        file: &str,
        outcomes: Vec<ItemOutcome>,
    ) -> Redacted<Vec<ItemOutcome>> {
        let Self {
            redactor,
            found,
            counts,
            places,
            known,
            ..
        } = self;
        let mut outcomes = outcomes;
        outcomes.visit_texts(&mut |field, text| {
            if !known.contains_key(text.as_str()) {
                let shown = redactor.redact_text(text).map(|(shorter, seen)| {
                    let is_known = seen.keys().any(|pattern| is_known_secret(pattern));
                    record_matches(
                        counts,
                        places,
                        &TextSource {
                            page: ScannedPage::Names,
                            file,
                            field,
                        },
                        seen,
                    );
                    (*found == SecretPolicy::TakenOut || is_known).then_some(shorter)
                });
                known.insert(text.clone(), shown.flatten());
            }
            if let Some(Some(shown)) = known.get(text.as_str()) {
                text.clone_from(shown);
            }
        });
        // What is left was looked through just now.
        redactor.redact_value(outcomes, &mut |_, _| false)
    }

    fn scan_text(&mut self, place: &TextSource, text: &str) -> Option<String> {
        let (shorter, counts) = self.redactor.redact_text(text)?;
        record_matches(&mut self.counts, &mut self.places, place, counts);
        Some(shorter)
    }

    /// Returns everything besides the project's own patterns that affects texts. Equal rules change texts alike.
    pub fn stamp_rules(&self) -> impl Serialize + '_ {
        (self.found, &self.names, &self.users, &self.secrets)
    }

    /// Says whether every text must be read again because redactions are counted.
    pub fn counts_redactions(&self) -> bool {
        self.found == SecretPolicy::TakenOut
    }

    /// Returns the matches in the journals of a run.
    pub fn matches_of_run(&self, stores: &NamedStores<'_>, row: &RunRow) -> SecretMatches {
        let files: BTreeSet<String> = JOURNAL_FILES
            .map(|name| stores.name_journal_file(&row.run.id, name))
            .into();
        // Looks up a range per file: scanning all places for each run would take quadratic time.
        let of_file = |file: String| {
            let places = self.places.range((file.clone(), String::new())..);
            places
                .take_while(move |((of, _), _)| *of == file)
                .map(|(place, found)| (place.clone(), found.clone()))
        };
        files.into_iter().flat_map(of_file).collect()
    }

    /// Adds matches that the last build found in texts that are not read again.
    pub fn repeat_matches(&mut self, places: &SecretMatches) {
        for (place, found) in places {
            self.places
                .entry(place.clone())
                .or_default()
                .extend(found.iter().cloned());
        }
    }

    /// Returns the report to publish beside the pages: counts, and nothing of the redacted texts. `None` if redaction is off.
    pub fn redaction_report(&self) -> Option<Vec<u8>> {
        let report = RedactionReport {
            redacted: &self.counts,
        };
        (self.found == SecretPolicy::TakenOut)
            .then(|| json::write_document("redactions", report).into_bytes())
    }

    /// Returns messages for the terminal: the redactions, or the places of matches.
    pub fn terminal_notes(&self) -> Vec<String> {
        match self.found {
            SecretPolicy::TakenOut => {
                let word = |page: &ScannedPage| match page {
                    ScannedPage::Names => "names",
                    ScannedPage::Runs => "runs",
                    ScannedPage::Items => "items",
                    ScannedPage::Transcripts => "transcripts",
                };
                let line = |(pattern, pages): (&String, &BTreeMap<ScannedPage, u64>)| {
                    let pages: Vec<String> = pages
                        .iter()
                        .map(|(page, count)| format!("{count} in {}", word(page)))
                        .collect();
                    format!("  {pattern}: {}", pages.join(", "))
                };
                let lines: Vec<String> = self.counts.iter().map(line).collect();
                vec![if lines.is_empty() {
                    "nothing found to redact".to_owned()
                } else {
                    format!("redacted\n{}", lines.join("\n"))
                }]
            }
            SecretPolicy::Named => {
                let mut notes = Vec::new();
                for ((file, field), patterns) in self.places.iter().take(MAX_LISTED_MATCHES) {
                    let patterns: Vec<&str> = patterns.iter().map(String::as_str).collect();
                    let patterns = patterns.join(", ");
                    warn!(file, field, patterns, "looks like a secret");
                    notes.push(format!(
                        "warning: {file}: `{}` holds what looks like: {patterns}",
                        escape_invisible(field)
                    ));
                }
                if self.places.len() > MAX_LISTED_MATCHES {
                    let more = (self.places.len() - MAX_LISTED_MATCHES) as u64;
                    notes.push(format!(
                        "warning: and so do {} more",
                        format::format_count(more, "field")
                    ));
                }
                if !self.places.is_empty() {
                    notes
                        .push("  hint: build with --redact to leave it out of the site".to_owned());
                }
                notes
            }
        }
    }
}

const ITEM: &str = "item";
/// Evaluators of outcomes, and metrics: a criterion's evaluator is the metric of its judge.
const EVALUATOR: &str = "evaluator";
const CLUSTER: &str = "cluster";

fn name_kind_field(name: NameKind) -> &'static str {
    match name {
        NameKind::Item => ITEM,
        NameKind::Evaluator => EVALUATOR,
        NameKind::Cluster => CLUSTER,
    }
}

/// Counts matches and records their place, but nothing of the text itself.
fn record_matches(
    counts: &mut BTreeMap<String, BTreeMap<ScannedPage, u64>>,
    places: &mut SecretMatches,
    place: &TextSource,
    found: MatchCounts,
) {
    for (pattern, count) in found {
        places
            .entry((place.file.to_owned(), place.field.to_owned()))
            .or_default()
            .insert(pattern.clone());
        *counts
            .entry(pattern)
            .or_default()
            .entry(place.page)
            .or_default() += count;
    }
}

/// Visits the names by which a run is grouped, which must stay different from each other.
fn for_each_name(run: &Run, visit: &mut dyn FnMut(&'static str, &str)) {
    visit("suite", &run.suite);
    visit("approach", &run.approach);
    visit("model", &run.model);
    run.batch_id.iter().for_each(|name| visit("batch_id", name));
    run.suite_version
        .iter()
        .for_each(|name| visit("suite_version", name));
    run.scores
        .iter()
        .for_each(|score| visit(EVALUATOR, &score.metric));
    run.tags.keys().for_each(|key| visit("tags", key));
}

/// Shown names by kind of name and original name.
type RedactedNames = BTreeMap<&'static str, BTreeMap<String, String>>;

/// The store's file of accepted regressions.
const ACCEPTANCES_FILE: &str = "acceptances.jsonl";

fn apply_redacted_name(names: &RedactedNames, kind: &str, name: &mut String) {
    if let Some(shown) = names.get(kind).and_then(|names| names.get(name.as_str())) {
        name.clone_from(shown);
    }
}

fn apply_redacted_names(run: &mut Run, names: &RedactedNames) {
    let rename = |kind: &str, name: &mut String| apply_redacted_name(names, kind, name);
    rename("suite", &mut run.suite);
    rename("approach", &mut run.approach);
    rename("model", &mut run.model);
    if let Some(name) = &mut run.batch_id {
        rename("batch_id", name);
    }
    if let Some(name) = &mut run.suite_version {
        rename("suite_version", name);
    }
    for score in &mut run.scores {
        rename(EVALUATOR, &mut score.metric);
    }
    if names.contains_key("tags") {
        let renamed = |mut key: String| {
            rename("tags", &mut key);
            key
        };
        run.tags = std::mem::take(&mut run.tags)
            .into_iter()
            .map(|(key, value)| (renamed(key), value))
            .collect();
    }
}

fn for_each_string(value: &Value, visit: &mut dyn FnMut(&str)) {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
        Value::String(text) => visit(text),
        Value::Array(values) => values
            .iter()
            .for_each(|value| for_each_string(value, visit)),
        Value::Object(fields) => fields.iter().for_each(|(key, value)| {
            visit(key);
            for_each_string(value, visit);
        }),
    }
}
