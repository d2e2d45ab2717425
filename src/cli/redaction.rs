//! What a site must not say: every foreign text goes through here before it becomes a page or a data file.
//!
//! With `--redact` texts come back without what the patterns find, and names stay apart from each other. Without, nothing is changed and
//! the places are named. A secret itself is never kept, printed or written.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use serde_json::Value;
use tracing::warn;

use crate::domain::{Filter, Git, ItemDetails, Provenance, Redactor, Run, RunId, visible};
use crate::render::json;
use crate::views::{EvaluatorScore, ItemRow, Policy, SiteOptions};
use crate::warehouse::{RunRow, Warehouse};

use super::failure::Failure;
use super::settings::{Settings, shown};
use super::site_memory::Places;
use super::{output, show};

/// What becomes of what is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Found {
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
    /// What home folders tell of users, where that is taken out.
    users: BTreeSet<String>,
    found: Found,
    counts: BTreeMap<String, BTreeMap<Page, u64>>,
    /// By file and field: the patterns found there.
    places: Places,
    /// By kind of name: what is shown instead.
    names: BTreeMap<&'static str, BTreeMap<String, String>>,
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
    /// Looks through the names. To take out users' names where they stand alone, it reads all other texts for home folders first.
    pub fn new(settings: &Settings, warehouse: &Warehouse, filter: &Filter, found: Found) -> Result<Self, Failure> {
        let mut texts = Self {
            redactor: Redactor::new(&settings.config.site.redact),
            users: BTreeSet::new(),
            found,
            counts: BTreeMap::new(),
            places: BTreeMap::new(),
            names: BTreeMap::new(),
            known: BTreeMap::new(),
        };
        if found == Found::TakenOut {
            let mut users = texts.users(settings, warehouse, filter)?;
            // The project's own word for an approach is not told by somebody's folder.
            let own = |run: &Run| [run.suite.clone(), run.approach.clone(), run.model.clone()];
            let own: BTreeSet<String> = warehouse.runs().iter().flat_map(|row| own(&row.run)).collect();
            users.retain(|user| !own.contains(user));
            texts.redactor = texts.redactor.knowing(&users);
            texts.users = users;
        }
        let mut values: BTreeMap<&'static str, BTreeMap<String, String>> = BTreeMap::new();
        for row in warehouse.select(filter) {
            let file = file_of(settings, &row.run.id);
            texts.check_id(&row.run.id, &file)?;
            each_name(&row.run, &mut |kind, name| {
                values.entry(kind).or_default().entry(name.to_owned()).or_insert_with(|| file.clone());
            });
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
    fn check_id(&mut self, id: &RunId, file: &str) -> Result<(), Failure> {
        let found = self.found_in(&Place { page: Page::Names, file, field: "id" }, id.as_str());
        if self.found == Found::TakenOut && found.is_some() {
            return Err(Failure::new(format!("the id of the run in {file} looks like a secret, and ids are addresses of pages"))
                .with_hint("retract the run, or give its file another name"));
        }
        Ok(())
    }

    fn users(&self, settings: &Settings, warehouse: &Warehouse, filter: &Filter) -> Result<BTreeSet<String>, Failure> {
        let mut users = BTreeSet::new();
        for row in warehouse.select(filter) {
            each_name(&row.run, &mut |_, name| self.redactor.learn(name, &mut users));
            each_text(&mut Run::clone(&row.run), &mut |_, text| self.redactor.learn(text, &mut users));
            let Some(store) = show::store_of(settings, &row.run.id) else { continue };
            for (_, mut details) in store.detailed_items(&row.run.id)?.unwrap_or_default() {
                each_detail(&mut details, &mut |_, text| self.redactor.learn(text, &mut users));
            }
            for line in store.transcript(&row.run.id)? {
                each_string(&line.entry, &mut |text| self.redactor.learn(text, &mut users));
            }
            for score in show::evaluators(&store, &row.run.id) {
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

    /// Changes what the warehouse shows, and the names by which the command line and the configuration select it.
    pub fn apply(
        &mut self,
        settings: &Settings,
        warehouse: &mut Warehouse,
        filter: &mut Filter,
        policy: &mut Policy,
        options: &mut SiteOptions,
    ) {
        let selected: BTreeSet<RunId> = warehouse.select(filter).map(|row| row.run.id.clone()).collect();
        let items = self.names.get(ITEM).cloned().unwrap_or_default();
        let found = self.found;
        let mut shown = |run: &Run| selected.contains(&run.id).then(|| self.shown_run(settings, run));
        match found {
            Found::TakenOut => warehouse.show_as(items, shown),
            Found::Named => {
                for row in warehouse.runs() {
                    shown(&row.run);
                }
                return;
            }
        }
        let named = |kind: &str, name: &mut String| {
            if let Some(shown) = self.names.get(kind).and_then(|names| names.get(name.as_str())) {
                name.clone_from(shown);
            }
        };
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
    }

    fn shown_run(&mut self, settings: &Settings, run: &Run) -> Run {
        let file = file_of(settings, &run.id);
        let mut run = run.clone();
        rename_run(&mut run, &self.names);
        each_text(&mut run, &mut |field, text| self.text(Page::Runs, &file, field, text));
        run
    }

    /// Passes one text of a run's page, item or transcript.
    pub fn text(&mut self, page: Page, file: &str, field: &str, text: &mut String) {
        if let Some(shorter) = self.found_in(&Place { page, file, field }, text)
            && self.found == Found::TakenOut
        {
            *text = shorter;
        }
    }

    /// Passes what the run's journal says of an item.
    pub fn details(&mut self, file: &str, details: &mut ItemDetails) {
        each_detail(details, &mut |field, text| self.text(Page::Items, file, field, text));
    }

    /// Passes what an evaluator said about a run.
    pub fn score(&mut self, file: &str, score: &mut EvaluatorScore) {
        for (field, text) in [("not_evaluated", &mut score.not_evaluated), ("reasoning", &mut score.reasoning)] {
            if let Some(text) = text {
                self.text(Page::Runs, file, field, text);
            }
        }
        if let Some(details) = &mut score.details {
            each_string_mut(details, &mut |text| self.text(Page::Runs, file, "details", text));
        }
        if let Some(judge) = &mut score.judge {
            self.text(Page::Runs, file, "judge.agent", &mut judge.agent);
            if let Some(model) = &mut judge.model {
                self.text(Page::Runs, file, "judge.model", model);
            }
        }
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
        for (pattern, count) in counts {
            self.places.entry((place.file.to_owned(), place.field.to_owned())).or_default().insert(pattern.clone());
            *self.counts.entry(pattern).or_default().entry(place.page).or_default() += count;
        }
        Some(shorter)
    }

    /// Says what texts become here, beside what the configuration says; the same text for the same.
    pub fn rules(&self) -> String {
        format!("{:?} {:?} {:?}", self.found, self.names, self.users)
    }

    /// Says whether texts that are not read again would be missed: those that were taken out are counted.
    pub fn counts_all(&self) -> bool {
        self.found == Found::TakenOut
    }

    /// Returns what was found in the journals of a run.
    pub fn found_of(&self, settings: &Settings, row: &RunRow) -> Places {
        let files: BTreeSet<String> = JOURNALS.map(|name| journal_of(settings, row, name)).into();
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

    /// Tells the person at the terminal what was taken out, or where there is something to take out.
    pub fn say(&self, settings: &Settings) {
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
                let text = if lines.is_empty() { "nothing found to redact".to_owned() } else { format!("redacted\n{}", lines.join("\n")) };
                output::say(settings, &text);
            }
            Found::Named => {
                for ((file, field), patterns) in self.places.iter().take(MAX_PLACES) {
                    let patterns: Vec<&str> = patterns.iter().map(String::as_str).collect();
                    let patterns = patterns.join(", ");
                    warn!(file, field, patterns, "looks like something that is not to be published");
                    output::say(settings, &format!("warning: {file}: `{}` holds what looks like: {patterns}", visible(field)));
                }
                if self.places.len() > MAX_PLACES {
                    output::say(settings, &format!("warning: and so do {} more", output::count(self.places.len() - MAX_PLACES, "field")));
                }
                if !self.places.is_empty() {
                    output::say(settings, "  hint: build with --redact to leave it out of the site");
                }
            }
        }
    }
}

const ITEM: &str = "item";

/// The file to name in a message about a run.
pub(super) fn file_of(settings: &Settings, id: &RunId) -> String {
    show::store_of(settings, id).map_or_else(|| format!("imported run {id}"), |store| shown(&store.header_path(id)))
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

fn rename_run(run: &mut Run, names: &BTreeMap<&'static str, BTreeMap<String, String>>) {
    let rename = |kind: &str, name: &mut String| {
        if let Some(shown) = names.get(kind).and_then(|names| names.get(name.as_str())) {
            name.clone_from(shown);
        }
    };
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

/// Visits every text of a run that is no name. A field that is new does not compile until it is decided on here.
fn each_text(run: &mut Run, visit: &mut dyn FnMut(&str, &mut String)) {
    let Run {
        id: _,
        suite: _,
        approach: _,
        model: _,
        batch_id: _,
        suite_version: _,
        timestamp: _,
        duration_seconds: _,
        total_calls: _,
        input_tokens: _,
        output_tokens: _,
        total_tokens: _,
        cost_usd: _,
        cost_source: _,
        usage: _,
        shared_tests_passed: _,
        shared_tests_total: _,
        counted: _,
        own_tests_passed: _,
        own_tests_total: _,
        files_generated: _,
        lines_generated: _,
        status: _,
        run_index: _,
        seed: _,
        output_dir,
        error,
        agent,
        tags,
        host,
        tool_version,
        git,
        stated,
        scores,
        verification,
        provenance,
        items_digest: _,
    } = run;
    let named = [("output_dir", output_dir), ("error", error), ("agent", agent), ("host", host), ("tool_version", tool_version)];
    for (field, text) in named {
        if let Some(text) = text {
            visit(field, text);
        }
    }
    for (key, value) in tags {
        visit(&format!("tags.{key}"), value);
    }
    if let Some(Git { rev, branch, dirty: _ }) = git {
        visit("git.rev", rev);
        if let Some(branch) = branch {
            visit("git.branch", branch);
        }
    }
    for figure in stated {
        visit("stated.name", &mut figure.name);
    }
    scores.iter_mut().flat_map(|score| &mut score.evaluator).for_each(|evaluator| visit("scores.evaluator", evaluator));
    if let Some(Provenance { importer, file, sha256: _, map, map_sha256: _, url, content: _, first: _ }) = provenance {
        for (field, text) in [("provenance.importer", Some(importer)), ("provenance.file", Some(file)), ("provenance.map", map.as_mut())] {
            if let Some(text) = text {
                visit(field, text);
            }
        }
        if let Some(url) = url {
            visit("provenance.url", url);
        }
    }
    if let Some(record) = verification {
        each_string_mut(record, &mut |text| visit("verification", text));
    }
}

fn each_detail(details: &mut ItemDetails, visit: &mut dyn FnMut(&str, &mut String)) {
    let ItemDetails {
        reason,
        reply,
        answer,
        expected,
        category,
        tools,
        question,
        usage: _,
        cost_source: _,
        steps: _,
        item_hash: _,
        scores,
    } = details;
    for (field, text) in [("reason", reason), ("reply", reply), ("answer", answer), ("category", category), ("question", question)] {
        if let Some(text) = text {
            visit(field, text);
        }
    }
    for text in expected {
        visit("expected", text);
    }
    let named = |(mut name, calls): (String, u64)| {
        visit("tools", &mut name);
        (name, calls)
    };
    *tools = std::mem::take(tools).into_iter().map(named).collect();
    let named = |(mut name, score): (String, f64)| {
        visit("scores", &mut name);
        (name, score)
    };
    *scores = std::mem::take(scores).into_iter().map(named).collect();
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

fn each_string_mut(value: &mut Value, visit: &mut dyn FnMut(&mut String)) {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
        Value::String(text) => visit(text),
        Value::Array(values) => values.iter_mut().for_each(|value| each_string_mut(value, visit)),
        Value::Object(fields) => {
            let renamed = |(mut key, mut value): (String, Value)| {
                visit(&mut key);
                each_string_mut(&mut value, visit);
                (key, value)
            };
            *fields = std::mem::take(fields).into_iter().map(renamed).collect();
        }
    }
}

/// What a run's folder holds that pages show.
pub(super) const JOURNALS: [&str; 3] = ["items.jsonl", "scores.jsonl", "transcript.jsonl"];

/// The file to name in a message about what a run's folder holds.
pub(super) fn journal_of(settings: &Settings, row: &RunRow, name: &str) -> String {
    let id = &row.run.id;
    show::store_of(settings, id).map_or_else(|| format!("imported run {id}"), |store| shown(&store.run_dir(id).join(name)))
}
