//! What a site must not say: every foreign text goes through here before it becomes a page or a data file.
//!
//! With `--redact` texts come back without what the patterns find, and names stay apart from each other. Without, nothing is changed and
//! the places are named. A secret itself is never kept, printed or written.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use serde_json::Value;
use sha2::{Digest, Sha256};
use tracing::warn;

use crate::domain::{Counts, Filter, Foreign, OwnPattern, Published, Redactor, Run, RunId, Secrets, hex, is_known_secret, visible};
use crate::render::{format, json};
use crate::views::{ItemRow, Policy, SiteOptions};
use crate::warehouse::{LookedThrough, RunRow, Warehouse};

use super::error::PublishError;
use super::memory::Places;
use super::stored::{self, JOURNALS, Stores};

/// What becomes of what is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Found {
    TakenOut,
    Named,
}

/// The kind of page that a text is on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Page {
    /// Names stand on many pages, and are counted once each.
    Names,
    Runs,
    Items,
    Transcripts,
}

/// Whose text it is, for a message: the file and the field.
struct Place<'a> {
    page: Page,
    file: &'a str,
    field: &'a str,
}

pub(super) struct Texts {
    redactor: Redactor,
    /// Stands for the secrets that are known.
    secrets: String,
    /// What home folders tell of users, where that is taken out.
    users: BTreeSet<String>,
    found: Found,
    counts: BTreeMap<String, BTreeMap<Page, u64>>,
    /// By file and field: the patterns found there.
    places: Places,
    names: Names,
    /// Names of few values that stand in millions of rows.
    known: BTreeMap<String, Option<String>>,
}

/// More places than this say less.
const MAX_PLACES: usize = 10;

/// What `redactions.json` says.
#[derive(Serialize)]
struct Report<'a> {
    /// What was taken out, by pattern and kind of page.
    redacted: &'a BTreeMap<String, BTreeMap<Page, u64>>,
}

impl Texts {
    /// Looks through what the warehouse shows and the names by which the command line and the configuration select it, and changes both.
    /// Pages that are made of the warehouse afterwards say nothing of runs that was not looked through.
    pub fn looked_through<'w>(
        stores: &Stores<'_>,
        own: (&[OwnPattern], &Secrets),
        found: Found,
        warehouse: &'w mut Warehouse,
        selected: (&mut Filter, &mut Policy, &mut SiteOptions),
    ) -> Result<(Self, LookedThrough<'w>), PublishError> {
        let (filter, policy, options) = selected;
        let mut texts = Self::of_names(stores, own, warehouse, filter, found)?;
        texts.refuse_known()?;
        let warehouse = texts.apply(stores, warehouse, filter, policy, options);
        texts.refuse_known()?;
        Ok((texts, warehouse))
    }

    /// Looks through the names. To take out users' names where they stand alone, it reads all other texts for home folders first.
    fn of_names(
        stores: &Stores<'_>,
        (own, secrets): (&[OwnPattern], &Secrets),
        warehouse: &Warehouse,
        filter: &Filter,
        found: Found,
    ) -> Result<Self, PublishError> {
        let mut texts = Self {
            redactor: Redactor::new(own, secrets),
            secrets: hex(&Sha256::digest(format!("{:?}", secrets.by_name()))),
            users: BTreeSet::new(),
            found,
            counts: BTreeMap::new(),
            places: BTreeMap::new(),
            names: BTreeMap::new(),
            known: BTreeMap::new(),
        };
        if found == Found::TakenOut {
            let mut users = texts.users(stores, warehouse, filter)?;
            // The project's own word for an approach is not told by somebody's folder.
            let own = |run: &Run| [run.suite.clone(), run.approach.clone(), run.model.clone()];
            let own: BTreeSet<String> = warehouse.runs().iter().flat_map(|row| own(&row.run)).collect();
            users.retain(|user| !own.contains(user));
            texts.redactor = texts.redactor.knowing(&users);
            texts.users = users;
        }
        let mut values: BTreeMap<&'static str, BTreeMap<String, String>> = BTreeMap::new();
        for row in warehouse.select(filter) {
            let file = stores.file_of(&row.run.id);
            texts.check_id(&row.run.id, &file)?;
            each_name(&row.run, &mut |kind, name| {
                values.entry(kind).or_default().entry(name.to_owned()).or_insert_with(|| file.clone());
            });
        }
        // Results that go with the site have their own names.
        for run in warehouse.stored_runs(filter) {
            each_name(&run, &mut |kind, name| {
                values.entry(kind).or_default().entry(name.to_owned()).or_insert_with(|| stores.file_of(&run.id));
            });
        }
        for name in warehouse.aliases().item.keys() {
            values.entry(ITEM).or_default().entry(name.clone()).or_insert_with(|| "the configuration".to_owned());
        }
        for (name, file) in warehouse.item_names() {
            values.entry(ITEM).or_default().entry(name.to_owned()).or_insert_with(|| visible(file));
        }
        for (kind, names) in &values {
            texts.look_through(kind, names);
        }
        Ok(texts)
    }

    /// Decides under which names things are shown: two names stay two names.
    fn look_through(&mut self, kind: &'static str, names: &BTreeMap<String, String>) {
        let mut taken: BTreeSet<String> = names.keys().cloned().collect();
        let mut instead = BTreeMap::new();
        for (name, file) in names {
            let Some(base) = self.found_in(&Place { page: Page::Names, file, field: kind }, name) else { continue };
            let mut shown = base.clone();
            let mut number = 2;
            while !taken.insert(shown.clone()) {
                shown = format!("{base} {number}");
                number += 1;
            }
            instead.insert(name.clone(), shown);
        }
        if self.found == Found::TakenOut && !instead.is_empty() {
            self.names.insert(kind, instead);
        }
    }

    /// A run's id is the name of its files and pages, so it cannot be shown as another.
    fn check_id(&mut self, id: &RunId, file: &str) -> Result<(), PublishError> {
        let found = self.found_in(&Place { page: Page::Names, file, field: "id" }, id.as_str());
        if self.found == Found::TakenOut && found.is_some() {
            return Err(PublishError::new(format!("the id of the run in {file} looks like a secret, and ids are addresses of pages"))
                .with_hint("retract the run, or give its file another name"));
        }
        Ok(())
    }

    fn users(&self, stores: &Stores<'_>, warehouse: &Warehouse, filter: &Filter) -> Result<BTreeSet<String>, PublishError> {
        let mut users = BTreeSet::new();
        for row in warehouse.select(filter) {
            each_name(&row.run, &mut |_, name| self.redactor.learn(name, &mut users));
            Run::clone(&row.run).each_text(&mut |_, text| self.redactor.learn(text, &mut users));
            let Some(store) = stores.beside(warehouse, &row.run.id)? else { continue };
            let judged = stores.judgements_of_import(warehouse, &row.run.id)?;
            for (_, mut details) in store.detailed_items(&row.run.id)?.unwrap_or_default().into_iter().chain(judged) {
                details.each_text(&mut |_, text| self.redactor.learn(text, &mut users));
            }
            for line in store.transcript(&row.run.id)? {
                each_string(&line.entry, &mut |text| self.redactor.learn(text, &mut users));
            }
            for score in stored::evaluators(&store, &row.run.id) {
                for text in score.not_evaluated.iter().chain(&score.reasoning) {
                    self.redactor.learn(text, &mut users);
                }
                score.details.iter().for_each(|details| each_string(details, &mut |text| self.redactor.learn(text, &mut users)));
            }
        }
        for name in warehouse.item_names().keys() {
            self.redactor.learn(name, &mut users);
        }
        Ok(users)
    }

    fn apply<'w>(
        &mut self,
        stores: &Stores<'_>,
        warehouse: &'w mut Warehouse,
        filter: &mut Filter,
        policy: &mut Policy,
        options: &mut SiteOptions,
    ) -> LookedThrough<'w> {
        let selected: BTreeSet<RunId> = warehouse.select(filter).map(|row| row.run.id.clone()).collect();
        let items = self.names.get(ITEM).cloned().unwrap_or_default();
        // What the names are shown as was decided one by one, so that two stay two.
        let items = self.redactor.publish(items, &mut |_, _| false);
        let warehouse = warehouse.show_published(items, |run| selected.contains(&run.id).then(|| self.shown_run(stores, run)));
        if self.found == Found::Named {
            return warehouse;
        }
        let named = |kind: &str, name: &mut String| rename(&self.names, kind, name);
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
        // Which runs have the tags was decided above.
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
        policy.designs = std::mem::take(&mut policy.designs).into_iter().map(|(suite, design)| (renamed("suite", suite), design)).collect();
        policy.metrics = std::mem::take(&mut policy.metrics).into_iter().map(|(name, set)| (renamed("scores.metric", name), set)).collect();
        let primary = std::mem::take(&mut policy.primary).into_iter();
        policy.primary = primary.map(|(suite, metric)| (renamed("suite", suite), renamed("scores.metric", metric))).collect();
        warehouse
    }

    /// Says whether what is found is taken out.
    pub fn takes_out(&self) -> bool {
        self.found == Found::TakenOut
    }

    /// Takes out of a text what is found there. It counts nothing: what is on pages was counted there.
    pub fn take_out(&self, text: &mut String) {
        if let Some((shorter, _)) = self.redactor.redact(text) {
            *text = shorter;
        }
    }

    /// Gives a run the names under which it is shown.
    pub fn rename(&self, run: &mut Run) {
        rename_run(run, &self.names);
    }

    pub fn rename_item(&self, item: &mut String) {
        rename(&self.names, ITEM, item);
    }

    pub fn rename_metric(&self, metric: &mut String) {
        rename(&self.names, "scores.metric", metric);
    }

    fn shown_run(&mut self, stores: &Stores<'_>, run: &Run) -> Published<Run> {
        let file = stores.file_of(&run.id);
        let mut run = run.clone();
        rename_run(&mut run, &self.names);
        self.published(Page::Runs, &file, run)
    }

    /// Refuses to go on where a secret of this process's environment was found and not to be taken out.
    pub fn refuse_known(&self) -> Result<(), PublishError> {
        if self.found == Found::TakenOut {
            return Ok(());
        }
        let known = self.places.iter().flat_map(|((file, field), found)| found.iter().map(move |pattern| (file, field, pattern)));
        let known: Vec<String> = known
            .filter(|(_, _, pattern)| is_known_secret(pattern))
            .map(|(file, field, pattern)| format!("{file}: `{}` holds {pattern}", visible(field)))
            .collect();
        match known.first() {
            None => Ok(()),
            Some(first) => {
                let more = if known.len() > 1 { format!(", and {} more do", known.len() - 1) } else { String::new() };
                Err(PublishError::new(format!("{first}{more}; a secret is not published"))
                    .with_hint("change the key, for it is in the results; then retract the runs, or build with --redact"))
            }
        }
    }

    /// Passes the texts of a run's page, items or transcripts. `file` is the one they came from.
    pub fn published<T: Foreign>(&mut self, page: Page, file: &str, value: T) -> Published<T> {
        let Self { redactor, found, counts, places, .. } = self;
        redactor.publish(value, &mut |field, seen| {
            // Not even for the moment until the build is refused.
            let is_known = seen.keys().any(|pattern| is_known_secret(pattern));
            note(counts, places, &Place { page, file, field }, seen);
            *found == Found::TakenOut || is_known
        })
    }

    /// Passes the names of an outcome that are few; its item has its name already.
    pub fn row(&mut self, file: &str, row: &mut ItemRow) {
        for (field, text) in
            [("evaluator", Some(&mut row.evaluator)), ("cluster", row.cluster.as_mut()), ("category", row.category.as_mut())]
        {
            let Some(text) = text else { continue };
            if !self.known.contains_key(text.as_str()) {
                let found = self.found_in(&Place { page: Page::Names, file, field }, text);
                self.known.insert(text.clone(), found.filter(|_| self.found == Found::TakenOut));
            }
            if let Some(Some(shown)) = self.known.get(text.as_str()) {
                text.clone_from(shown);
            }
        }
    }

    fn found_in(&mut self, place: &Place, text: &str) -> Option<String> {
        let (shorter, counts) = self.redactor.redact(text)?;
        note(&mut self.counts, &mut self.places, place, counts);
        Some(shorter)
    }

    /// Says what texts become here, beside what the project's own patterns say; the same for the same.
    pub fn rules(&self) -> impl Serialize + '_ {
        (self.found, &self.names, &self.users, &self.secrets)
    }

    /// Says whether texts that are not read again would be missed: those that were taken out are counted.
    pub fn counts_all(&self) -> bool {
        self.found == Found::TakenOut
    }

    /// Returns what was found in the journals of a run.
    pub fn found_of(&self, stores: &Stores<'_>, row: &RunRow) -> Places {
        let files: BTreeSet<String> = JOURNALS.map(|name| stores.journal_of(&row.run.id, name)).into();
        // Not all places are gone through for each run: there may be as many of the one as of the other.
        let of_file = |file: String| {
            let places = self.places.range((file.clone(), String::new())..);
            places.take_while(move |((of, _), _)| *of == file).map(|(place, found)| (place.clone(), found.clone()))
        };
        files.into_iter().flat_map(of_file).collect()
    }

    /// Takes what was found when texts were read that are not read again.
    pub fn repeat(&mut self, places: &Places) {
        for (place, found) in places {
            self.places.entry(place.clone()).or_default().extend(found.iter().cloned());
        }
    }

    /// Returns the report to publish beside the pages: counts, and nothing of what was taken out.
    pub fn report(&self) -> Option<Vec<u8>> {
        let report = Report { redacted: &self.counts };
        (self.found == Found::TakenOut).then(|| json::document("redactions", report).into_bytes())
    }

    /// Says for the person at the terminal what was taken out, or where there is something to take out.
    pub fn notes(&self) -> Vec<String> {
        match self.found {
            Found::TakenOut => {
                let word = |page: &Page| match page {
                    Page::Names => "names",
                    Page::Runs => "runs",
                    Page::Items => "items",
                    Page::Transcripts => "transcripts",
                };
                let line = |(pattern, pages): (&String, &BTreeMap<Page, u64>)| {
                    let pages: Vec<String> = pages.iter().map(|(page, count)| format!("{count} in {}", word(page))).collect();
                    format!("  {pattern}: {}", pages.join(", "))
                };
                let lines: Vec<String> = self.counts.iter().map(line).collect();
                vec![if lines.is_empty() { "nothing found to redact".to_owned() } else { format!("redacted\n{}", lines.join("\n")) }]
            }
            Found::Named => {
                let mut notes = Vec::new();
                for ((file, field), patterns) in self.places.iter().take(MAX_PLACES) {
                    let patterns: Vec<&str> = patterns.iter().map(String::as_str).collect();
                    let patterns = patterns.join(", ");
                    warn!(file, field, patterns, "looks like a secret");
                    notes.push(format!("warning: {file}: `{}` holds what looks like: {patterns}", visible(field)));
                }
                if self.places.len() > MAX_PLACES {
                    let more = (self.places.len() - MAX_PLACES) as u64;
                    notes.push(format!("warning: and so do {} more", format::count(more, "field")));
                }
                if !self.places.is_empty() {
                    notes.push("  hint: build with --redact to leave it out of the site".to_owned());
                }
                notes
            }
        }
    }
}

const ITEM: &str = "item";

/// Keeps what was found, and where, but nothing of the text itself.
fn note(counts: &mut BTreeMap<String, BTreeMap<Page, u64>>, places: &mut Places, place: &Place, found: Counts) {
    for (pattern, count) in found {
        places.entry((place.file.to_owned(), place.field.to_owned())).or_default().insert(pattern.clone());
        *counts.entry(pattern).or_default().entry(place.page).or_default() += count;
    }
}

/// Visits the names by which a run is grouped: two of them must not become one.
fn each_name(run: &Run, visit: &mut dyn FnMut(&'static str, &str)) {
    visit("suite", &run.suite);
    visit("approach", &run.approach);
    visit("model", &run.model);
    run.batch_id.iter().for_each(|name| visit("batch_id", name));
    run.suite_version.iter().for_each(|name| visit("suite_version", name));
    run.scores.iter().for_each(|score| visit("scores.metric", &score.metric));
    run.tags.keys().for_each(|key| visit("tags", key));
}

/// By kind of name: what is shown instead.
type Names = BTreeMap<&'static str, BTreeMap<String, String>>;

fn rename(names: &Names, kind: &str, name: &mut String) {
    if let Some(shown) = names.get(kind).and_then(|names| names.get(name.as_str())) {
        name.clone_from(shown);
    }
}

fn rename_run(run: &mut Run, names: &Names) {
    let rename = |kind: &str, name: &mut String| rename(names, kind, name);
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
        rename("scores.metric", &mut score.metric);
    }
    if names.contains_key("tags") {
        let renamed = |mut key: String| {
            rename("tags", &mut key);
            key
        };
        run.tags = std::mem::take(&mut run.tags).into_iter().map(|(key, value)| (renamed(key), value)).collect();
    }
}

fn each_string(value: &Value, visit: &mut dyn FnMut(&str)) {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
        Value::String(text) => visit(text),
        Value::Array(values) => values.iter().for_each(|value| each_string(value, visit)),
        Value::Object(fields) => fields.iter().for_each(|(key, value)| {
            visit(key);
            each_string(value, visit);
        }),
    }
}
