//! Tables with a row for each outcome.

use super::super::notation::{Currency, Decimal};
use super::draft::{Draft, constant, file_stem, list, quoted};
use super::look::{Look, Question};
use super::summary::{Column, Kind, currency_in_name, read_number, unit_in_name};
use super::verdict::{is_plain, status_name, verdict};
use super::words::{Role, is_model, is_numbered, own_name, words_of};

/// Values of a column that may name approaches.
const MOST_APPROACHES: usize = 60;

/// How an item is known to have passed.
pub(super) enum Judged<'l> {
    By(&'l Column),
    Equal(&'l Column, &'l Column),
    Score(&'l Column),
}

/// Finds what says how items came out.
pub(super) fn judged<'l>(look: &'l Look<'_>) -> Result<Option<Judged<'l>>, Question> {
    let hint = |name: &Option<String>, option: &str| match name {
        None => Ok(None),
        Some(name) => look.named(name).map(Some).ok_or_else(|| Question::new(format!("there is no column `{name}`"), option.to_owned())),
    };
    if let Some(column) = hint(&look.hints.passed, "--passed COLUMN")? {
        return Ok(Some(Judged::By(column)));
    }
    if let Some(column) = hint(&look.hints.score, "--score COLUMN")? {
        return Ok(Some(Judged::Score(column)));
    }
    let may_judge = |column: &Column| column.is_outcomes() || is_nearly_outcomes(column, look);
    let clear = look.best(Role::Passed, 2, may_judge);
    let found = if clear.is_empty() { look.best(Role::Passed, 1, Column::is_outcomes) } else { clear };
    if let Some(column) = one_of(look, &found)? {
        return Ok(Some(Judged::By(column)));
    }
    if let Some((expected, given)) = compared(look) {
        let is_same = |row: &&&Vec<Option<String>>| look.text(row, expected).is_some() && look.text(row, expected) == look.text(row, given);
        let same = look.rows.iter().filter(is_same).count();
        const LONGEST_ANSWER: usize = 40;
        if same > 0 && expected.longest.max(given.longest) <= LONGEST_ANSWER {
            return Ok(Some(Judged::Equal(expected, given)));
        }
    }
    let plain: Vec<&Column> = look.summary.columns.iter().filter(|column| column.is_outcomes() && column.values.keys().any(|text| is_plain(text))).collect();
    if plain.len() == 1 {
        return Ok(Some(Judged::By(plain[0])));
    }
    let scores = look.best(Role::Score, 1, |column| column.numbers().is_some());
    Ok(scores.first().map(|column| Judged::Score(column)))
}

/// Says whether the column is clearly about outcomes, and has words beside those that are known.
fn is_nearly_outcomes(column: &Column, look: &Look<'_>) -> bool {
    const MOST_WORDS: usize = 12;
    let is_known = |text: &&String| verdict(text).is_some() || look.hints.values.contains_key(*text);
    let known: usize = column.values.iter().filter(|(text, _)| is_known(text)).map(|(_, count)| count).sum();
    column.kind == Kind::Text && column.values.len() <= MOST_WORDS && known * 2 > column.filled
}

/// Several columns that say the same are as good as one.
fn one_of<'l>(look: &Look<'_>, found: &[&'l Column]) -> Result<Option<&'l Column>, Question> {
    let [first, rest @ ..] = found else { return Ok(None) };
    for other in rest {
        let says = |row: &Vec<Option<String>>, column: &Column| row[column.place].as_deref().and_then(verdict).and_then(status_name) == Some("pass");
        if look.rows.iter().any(|row| says(row, first) != says(row, other)) {
            let names: Vec<String> = found.iter().map(|column| format!("`{}`", column.name)).collect();
            let text = format!("{} may each say whether an item passed, and they differ", names.join(" and "));
            return Err(Question::new(text, format!("--passed {}", shell(&first.name))));
        }
    }
    Ok(Some(first))
}

/// The right answer, and the one that was given.
fn compared<'l>(look: &'l Look<'_>) -> Option<(&'l Column, &'l Column)> {
    let may = |column: &Column| column.may_name() || column.numbers().is_some();
    let expected = look.best(Role::Expected, 2, |column| may(column) && column.clarity(Role::Answer) == 0);
    let given = look.best(Role::Answer, 2, |column| may(column) && column.clarity(Role::Expected) == 0);
    let either = look.best(Role::Answer, 2, |column| may(column) && column.clarity(Role::Expected) > 0);
    match (expected.first(), given.first(), either.first()) {
        (Some(expected), Some(given), _) | (Some(expected), None, Some(given)) | (None, Some(given), Some(expected)) => Some((expected, given)),
        _ => None,
    }
}

/// What tells runs apart.
pub(super) struct Arms<'l> {
    pub approach: Vec<&'l Column>,
    pub model: Option<&'l Column>,
    pub suite: Option<&'l Column>,
}

impl<'l> Arms<'l> {
    pub fn of(look: &'l Look<'_>, used: &[&Column]) -> Result<Self, Question> {
        let is_free = |column: &Column| !used.iter().any(|other| other.name == column.name) && column.may_name() && column.kind != Kind::Outcomes;
        let hinted = |name: &Option<String>, option: &str| -> Result<Option<&'l Column>, Question> {
            let Some(name) = name else { return Ok(None) };
            look.named(name).map(Some).ok_or_else(|| Question::new(format!("there is no column `{name}`"), option.to_owned()))
        };
        let is_name = |column: &Column| is_free(column) && column.kind == Kind::Text && column.values.len() <= MOST_APPROACHES.max(look.rows.len() / 3);
        let model = match hinted(&look.hints.model, "--model COLUMN")? {
            Some(column) => Some(column),
            None => look.best(Role::Model, 1, |column| is_name(column) || (is_free(column) && column.values.keys().all(|text| is_model(text)))).first().copied(),
        };
        let is_other = |column: &Column| model.is_none_or(|model| model.name != column.name);
        let suite = look.best(Role::Suite, 2, |column| is_name(column) && is_other(column)).first().copied();
        let approach = match hinted(&look.hints.approach, "--approach COLUMN")? {
            Some(column) => vec![column],
            None => {
                let clear = look.best(Role::Approach, 2, |column| is_name(column) && is_other(column));
                let clear = if clear.is_empty() && model.is_none() { look.best(Role::Approach, 1, |column| is_name(column)) } else { clear };
                let mut kept: Vec<&Column> = Vec::new();
                for column in clear {
                    // One that the others decide, such as an agent's version, tells nothing apart.
                    let is_decided = !kept.is_empty() && look.decides(&kept, column);
                    if !is_decided {
                        kept.push(column);
                    }
                }
                kept
            }
        };
        Ok(Self { approach, model, suite })
    }

    pub fn columns(&self) -> Vec<&'l Column> {
        self.approach.iter().copied().chain(self.model).chain(self.suite).collect()
    }

    pub fn names(&self) -> ArmNames {
        let name = |column: &Column| column.name.clone();
        ArmNames { approach: self.approach.iter().map(|column| name(column)).collect(), model: self.model.map(name), suite: self.suite.map(name) }
    }

    /// Writes suite, approach and model. What no column says the file's name does.
    pub fn write(&self, look: &mut Look<'_>, suite: &str, draft: &mut Draft) {
        let set = |key: &str| look.hints.set.get(key).map(|text| constant(text));
        let names = |columns: &[&Column]| match columns {
            [one] => quoted(&one.name),
            several => list(several.iter().map(|column| &column.name)),
        };
        let is_alone = self.approach.is_empty() && self.model.is_none();
        let approach = if is_alone { file_stem() } else { constant("unnamed") };
        let approach = if self.approach.is_empty() { approach } else { names(&self.approach) };
        draft.run.push(("suite", set("suite").unwrap_or_else(|| self.suite.map_or_else(|| constant(suite), |column| quoted(&column.name)))));
        draft.run.push(("approach", set("approach").unwrap_or(approach)));
        draft.run.push(("model", set("model").unwrap_or_else(|| self.model.map_or_else(|| constant("unknown"), |column| quoted(&column.name)))));
        if is_alone && !look.hints.set.contains_key("approach") {
            look.notes.push("no column names an approach or a model: the approach is named by the file".to_owned());
        }
    }
}

/// Reads a table with a row for each outcome.
pub(super) fn read(look: &mut Look<'_>, suite: &str) -> Result<Draft, Vec<Question>> {
    let mut notes = Vec::new();
    let mut draft = Draft { is_items: true, ..Draft::default() };
    let (arms, used) = {
        let look = &*look;
        let one = |question: Question| vec![question];
        let Some(judged) = judged(look).map_err(one)? else {
            return Err(vec![Question::new("no column says how an item came out", "--passed COLUMN or --score COLUMN")]);
        };
        let mut used: Vec<&Column> = match &judged {
            Judged::By(column) | Judged::Score(column) => vec![column],
            Judged::Equal(expected, given) => vec![expected, given],
        };
        let mut arms = Arms::of(look, &used).map_err(one)?;
        used.extend(arms.columns());
        let mut item = items(look, &used).map_err(one)?;
        if arms.approach.is_empty() && arms.model.is_none() {
            arms.approach.extend(unnamed_arms(look, &used, &item).map_err(one)?);
            used.extend(&arms.approach);
            item.retain(|column| !arms.approach.iter().any(|arm| arm.name == column.name));
        }
        used.extend(&item);

        let repeats = Repeats::of(look, &arms, &mut item, &mut used).map_err(one)?;
        if item.is_empty() {
            notes.push("no column names the items: each row is an item by its number".to_owned());
        }
        let id = match item.as_slice() {
            [] => "{source: row}".to_owned(),
            [one] => quoted(&one.name),
            several => list(several.iter().map(|column| &column.name)),
        };
        draft.item.push(("id", id));
        draft.item.push(("kind", constant(kind_of(&item))));
        let status = match &judged {
            Judged::By(column) => Some(status(look, column).map_err(one)?),
            Judged::Equal(expected, given) => Some(format!("{{equal: {}}}", list([&expected.name, &given.name]))),
            Judged::Score(_) => None,
        };
        draft.item.extend(status.map(|status| ("status", status)));
        if let Some(run) = repeats.run {
            draft.run.push(("identity", list([&run.name])));
        }
        draft.run.extend(repeats.index.map(|column| ("index", quoted(&column.name))));
        draft.item.extend(repeats.attempt.map(|attempt| ("attempt", attempt)));
        measures(look, &judged, &mut used, &mut draft, &mut notes);
        texts(look, &judged, &item, &mut used, &mut draft);
        let used: Vec<String> = used.iter().map(|column| column.name.clone()).collect();
        (arms.names(), used)
    };
    arms.write(look, suite, &mut draft);
    look.notes.extend(notes);
    look.note_unread(&used);
    Ok(draft)
}

/// The columns of the arms by name, when the look is about to change.
pub(super) struct ArmNames {
    approach: Vec<String>,
    model: Option<String>,
    suite: Option<String>,
}

impl ArmNames {
    pub fn write(&self, look: &mut Look<'_>, suite: &str, draft: &mut Draft) {
        let fields = draft.run.split_off(0);
        let columns = look.summary.columns.clone();
        let find = |name: &String| columns.iter().find(|column| column.name == *name);
        let arms = Arms { approach: self.approach.iter().filter_map(find).collect(), model: self.model.as_ref().and_then(find), suite: self.suite.as_ref().and_then(find) };
        arms.write(look, suite, draft);
        draft.run.extend(fields);
    }
}

/// Finds the columns that name an item.
fn items<'l>(look: &'l Look<'_>, used: &[&Column]) -> Result<Vec<&'l Column>, Question> {
    if let Some(name) = &look.hints.item {
        return look.named(name).map(|column| vec![column]).ok_or_else(|| Question::new(format!("there is no column `{name}`"), "--item COLUMN"));
    }
    let is_free = |column: &Column| !used.iter().any(|other| other.name == column.name) && column.may_name() && column.filled * 10 >= look.rows.len() * 9;
    let arms: Vec<&Column> = used.iter().filter(|column| look.named(&column.name).is_some()).copied().collect();
    let has_several = look.rows.len() > look.counts(&arms[arms.len().min(1)..]).len();
    for least in [3, 2, 1] {
        let named = look.best(Role::Item, least, is_free);
        // Numbers of rows are no items where the rows of several arms are counted on.
        let mut sound: Vec<&Column> = named.iter().copied().filter(|column| column.values.len() > 1 || look.rows.len() == 1).collect();
        let is_shared = |column: &&Column| column.values.values().any(|count| *count > 1);
        if has_several && sound.iter().any(|column| is_shared(column)) {
            sound.retain(is_shared);
        }
        if let Some(first) = sound.iter().max_by_key(|column| column.values.len()).copied() {
            // A number and a text of the same thing name the same item; the shorter is the better name.
            let same: Vec<&Column> = sound.iter().copied().filter(|column| look.decides(&[column], first) && look.decides(&[first], column)).collect();
            return Ok(vec![same.into_iter().min_by_key(|column| column.longest).unwrap_or(first)]);
        }
    }
    let questions = look.best(Role::Question, 1, is_free);
    if let Some(question) = questions.first() {
        return Ok(vec![question]);
    }
    // A column without a telling name, whose values look like those of items.
    let numbered: Vec<&Column> = look
        .summary
        .columns
        .iter()
        .filter(|column| is_free(column) && column.kind == Kind::Text && column.roles.is_empty() && column.values.len() > 1)
        .filter(|column| column.values.keys().filter(|text| is_numbered(text)).count() * 10 >= column.values.len() * 8)
        .collect();
    match numbered.as_slice() {
        [one] => Ok(vec![one]),
        [] => Ok(others(look, is_free)),
        several => {
            let names: Vec<String> = several.iter().map(|column| format!("`{}`", column.name)).collect();
            Err(Question::new(format!("{} may each name the items", names.join(" and ")), format!("--item {}", shell(&several[0].name))))
        }
    }
}

/// The one other text column with most values, where it is far ahead.
fn others<'l>(look: &'l Look<'_>, is_free: impl Fn(&Column) -> bool) -> Vec<&'l Column> {
    let mut texts: Vec<&Column> = look.summary.columns.iter().filter(|column| is_free(column) && column.kind == Kind::Text && column.roles.is_empty()).collect();
    texts.sort_by_key(|column| std::cmp::Reverse(column.values.len()));
    match texts.as_slice() {
        [first, second, ..] if first.values.len() >= second.values.len() * 3 => vec![first],
        [only] => vec![only],
        _ => Vec::new(),
    }
}

/// Finds a column without a telling name that tells arms apart: each of its values has most of the items.
fn unnamed_arms<'l>(look: &'l Look<'_>, used: &[&Column], item: &[&Column]) -> Result<Option<&'l Column>, Question> {
    if item.is_empty() || look.is_unique(item) {
        return Ok(None);
    }
    let is_free = |column: &Column| {
        !used.iter().chain(item).any(|other| other.name == column.name) && matches!(column.kind, Kind::Text) && (2..=MOST_APPROACHES).contains(&column.values.len())
    };
    let is_arm = |column: &&Column| {
        let both: Vec<&Column> = item.iter().copied().chain([*column]).collect();
        is_free(column) && column.clarity(Role::Category) < 2 && column.clarity(Role::Reason) == 0 && column.clarity(Role::Answer) == 0 && !look.decides(item, column) && look.is_unique(&both)
    };
    let found: Vec<&Column> = look.summary.columns.iter().filter(is_arm).collect();
    match found.as_slice() {
        [] => Ok(None),
        [one] => Ok(Some(one)),
        several => {
            let names: Vec<String> = several.iter().map(|column| format!("`{}`", column.name)).collect();
            Err(Question::new(format!("{} may each name the approaches", names.join(" and ")), format!("--approach {}", shell(&several[0].name))))
        }
    }
}

/// How rows of the same item are told apart.
#[derive(Default)]
struct Repeats<'l> {
    run: Option<&'l Column>,
    index: Option<&'l Column>,
    attempt: Option<String>,
}

impl<'l> Repeats<'l> {
    fn of(look: &'l Look<'_>, arms: &Arms<'l>, item: &mut Vec<&'l Column>, used: &mut Vec<&'l Column>) -> Result<Self, Question> {
        let key = |more: &[&'l Column], item: &[&'l Column]| -> Vec<&'l Column> { arms.columns().into_iter().chain(more.iter().copied()).chain(item.iter().copied()).collect() };
        let mut found = Self::default();
        if item.is_empty() {
            return Ok(found);
        }
        let taken: Vec<&str> = used.iter().map(|column| column.name.as_str()).collect();
        let is_free = |column: &Column| !taken.contains(&column.name.as_str());
        if let Some(name) = &look.hints.attempt {
            let column = look.named(name).ok_or_else(|| Question::new(format!("there is no column `{name}`"), "--attempt COLUMN"))?;
            used.push(column);
            found.attempt = Some(counted(column));
            return Ok(found);
        }
        let is_count = |column: &Column| is_free(column) && column.numbers().is_some_and(|numbers| numbers.are_whole && numbers.least >= 0.0);
        let counters = look.best(Role::Attempt, 2, |column| is_count(column) && column.numbers().is_some_and(|numbers| numbers.least <= 1.0 && numbers.most <= 1000.0));
        if let Some(column) = counters.first() {
            used.push(column);
            if look.is_unique(&key(&[column], item)) {
                found.attempt = Some(counted(column));
                return Ok(found);
            }
        }
        if look.is_unique(&key(&[], item)) {
            return Ok(found);
        }
        if let Some(column) = look.best(Role::Seed, 1, |column| is_count(column) && column.numbers().is_some_and(|numbers| numbers.most < 4e9)).first() {
            used.push(column);
            if look.is_unique(&key(&[column], item)) {
                found.index = Some(column);
                return Ok(found);
            }
        }
        let runs = look.best(Role::Run, 2, |column| is_free(column) && column.may_name());
        if let Some(column) = runs.first().filter(|column| arms.columns().iter().all(|arm| look.decides(&[column], arm)) && look.is_unique(&key(&[column], item))) {
            used.push(column);
            found.run = Some(column);
            return Ok(found);
        }
        // Items whose numbers begin anew in each subject.
        let categories = look.best(Role::Category, 2, |column| is_free(column) && column.may_name());
        if let Some(column) = categories.iter().find(|column| look.is_unique(&key(&[column], item))) {
            item.insert(0, column);
            return Ok(found);
        }
        let counts = look.counts(&key(&[], item));
        let most = counts.values().copied().max().unwrap_or(1);
        if counts.values().all(|count| *count == most) {
            found.attempt = Some("{occurrence: true}".to_owned());
            return Ok(found);
        }
        let doubled: usize = counts.values().filter(|count| **count > 1).count();
        if doubled * 20 <= counts.len() {
            // The few are refused, and said to be.
            return Ok(found);
        }
        let text = format!("{doubled} of {} items have several rows, and not all as many", counts.len());
        Err(Question::new(text, "--attempt COLUMN, --item COLUMN or --approach COLUMN"))
    }
}

fn counted(column: &Column) -> String {
    let base = column.numbers().map_or(1.0, |numbers| numbers.least.min(1.0));
    if base >= 1.0 { quoted(&column.name) } else { format!("{{column: {}, base: 0}}", quoted(&column.name)) }
}

/// Tasks have a workspace; what is asked otherwise is a question.
fn kind_of(item: &[&Column]) -> &'static str {
    const TASKS: [&str; 16] = ["task", "instance", "issue", "challenge", "exercise", "ticket", "puzzle", "scenario", "tache", "tarea", "compito", "taak", "aufgabe", "zadanie", "szenario", "problem"];
    let is_task = item.iter().any(|column| words_of(&own_name(&column.name)).iter().any(|word| TASKS.contains(&word.as_str())));
    if is_task { "task" } else { "question" }
}

/// Writes what each word of the column stands for.
pub(super) fn status(look: &Look<'_>, column: &Column) -> Result<String, Question> {
    let mut values = Vec::new();
    let mut unknown = Vec::new();
    for (text, count) in &column.values {
        match (look.hints.values.get(text), verdict(text)) {
            (Some(given), _) => values.push(format!("{}: {}", quoted(text), quoted(given))),
            (None, Some(found)) => values.push(format!("{}: {}", quoted(text), status_name(found).unwrap_or("null"))),
            (None, None) => unknown.push((text, count)),
        }
    }
    if let Some((text, count)) = unknown.first() {
        let question = format!("`{}` has `{text}` in {count} of {} rows, which is neither passed nor failed by itself", column.name, column.filled);
        return Err(Question::new(question, format!("--value {}=fail (or pass, error, limit, infra, skipped, not_evaluated)", shell(text))));
    }
    Ok(format!("{{column: {}, values: {{{}}}}}", quoted(&column.name), values.join(", ")))
}

/// The unit and the direction of a score.
pub(super) fn score(column: &Column, metric: &str) -> String {
    const DOWN: [&str; 9] = ["loss", "perplexity", "ppl", "wer", "cer", "mae", "rmse", "error", "distance"];
    let Some(numbers) = column.numbers() else { return quoted(&column.name) };
    let words = words_of(&own_name(&column.name));
    let is_percent = numbers.has_percent || column.name.contains('%') || words.iter().any(|word| matches!(word.as_str(), "percent" | "pct" | "prozent"));
    let unit = if is_percent && numbers.least >= 0.0 && numbers.most <= 100.0 {
        "percent"
    } else if numbers.least >= 0.0 && numbers.most <= 1.0 {
        "fraction"
    } else if numbers.least >= 0.0 && numbers.most <= 100.0 && numbers.most > 10.0 {
        "points"
    } else {
        "number"
    };
    let direction = if words.iter().any(|word| DOWN.contains(&word.as_str())) { "down" } else { "up" };
    format!("{{column: {}, metric: {}, unit: {unit}, direction: {direction}}}", quoted(&column.name), quoted(metric))
}

pub(super) fn metric_of(column: &Column) -> String {
    let words = words_of(&own_name(&column.name));
    let words: Vec<String> = words.into_iter().filter(|word| !matches!(word.as_str(), "percent" | "pct" | "prozent" | "of" | "in")).collect();
    if words.is_empty() { "score".to_owned() } else { words.join("_") }
}

/// Scores, cost, time and tokens of each outcome.
fn measures<'l>(look: &'l Look<'_>, judged: &Judged<'l>, used: &mut Vec<&'l Column>, draft: &mut Draft, notes: &mut Vec<String>) {
    let mut scores: Vec<&Column> = match judged {
        Judged::Score(column) => vec![column],
        Judged::By(_) | Judged::Equal(..) => Vec::new(),
    };
    let is_free = |used: &[&Column], column: &Column| !used.iter().any(|other| other.name == column.name);
    for least in [3, 2, 1] {
        let more = look.best(Role::Score, least, |column| is_free(used, column) && column.numbers().is_some_and(|numbers| !numbers.is_mixed));
        for column in more {
            used.push(column);
            scores.push(column);
        }
    }
    if let [first, rest @ ..] = scores.as_slice() {
        draft.item.push(("score", score(first, &metric_of(first))));
        if !rest.is_empty() {
            let rest: Vec<String> = rest.iter().map(|column| format!("{}: {}", quoted(&metric_of(column)), quoted(&column.name))).collect();
            draft.item.push(("scores", format!("{{{}}}", rest.join(", "))));
        }
    }
    let mut item = Vec::new();
    spent(look, used, &mut item, notes);
    draft.item.extend(item);
    if let Some(column) = look.best(Role::Category, 2, |column| is_free(used, column) && column.may_name() && column.values.len() * 2 <= look.rows.len().max(4)).first() {
        used.push(column);
        draft.item.push(("category", quoted(&column.name)));
    } else if let Some(column) = look.best(Role::Category, 2, |column| draft.item[0].1.starts_with(&format!("[{}", quoted(&column.name)))).first() {
        draft.item.push(("category", quoted(&column.name)));
    }
    let is_time = |column: &Column| is_free(used, column) && matches!(column.kind, Kind::Times(_) | Kind::UnclearTimes);
    if let Some(column) = look.best(Role::Time, 1, is_time).first() {
        used.push(column);
        draft.run.extend(timestamp(column, notes));
    }
}

/// Writes when a run was, if the column says so in one way alone.
pub(super) fn timestamp(column: &Column, notes: &mut Vec<String>) -> Option<(&'static str, String)> {
    match &column.kind {
        Kind::Times(None) => Some(("timestamp", quoted(&column.name))),
        Kind::Times(Some(format)) => Some(("timestamp", format!("{{column: {}, format: {}}}", quoted(&column.name), quoted(format)))),
        _ => {
            notes.push(format!("`{}` is not read: day and month may be either way; in the map, {{column: …, format: \"%d/%m/%Y\"}} reads it", column.name));
            None
        }
    }
}

/// Writes cost, time and tokens, where their units are known.
pub(super) fn spent<'l>(look: &'l Look<'_>, used: &mut Vec<&'l Column>, fields: &mut Vec<(&'static str, String)>, notes: &mut Vec<String>) {
    let is_amount = |used: &[&Column], column: &Column| !used.iter().any(|other| other.name == column.name) && column.numbers().is_some_and(|numbers| numbers.least >= 0.0);
    let amounts = look.best(Role::Cost, 1, |column| is_amount(used, column) && !column.name.contains('/') && !words_of(&column.name).contains(&"per".to_owned()));
    if let Some(column) = amounts.first() {
        used.push(column);
        cost(column, fields, notes);
    }
    let is_length = |column: &Column| is_amount(used, column) || (column.kind == Kind::Lengths && !used.iter().any(|other| other.name == column.name));
    if let Some(column) = look.best(Role::Duration, 1, is_length).first() {
        used.push(column);
        match (unit_in_name(&column.name), &column.kind) {
            (_, Kind::Lengths) => fields.push(("duration_seconds", format!("{{column: {}, unit: s}}", quoted(&column.name)))),
            (Some("s"), _) => fields.push(("duration_seconds", quoted(&column.name))),
            (Some(unit), _) => fields.push(("duration_seconds", format!("{{column: {}, unit: {unit}}}", quoted(&column.name)))),
            (None, _) => notes.push(format!("`{}` has no unit and is not read; in the map, duration_seconds: {{column: …, unit: ms}} reads it", column.name)),
        }
    }
    for (role, key) in [(Role::InputTokens, "input_tokens"), (Role::OutputTokens, "output_tokens")] {
        if let Some(column) = look.best(role, 2, |column| is_amount(used, column) && column.numbers().is_some_and(|numbers| numbers.are_whole)).first() {
            used.push(column);
            fields.push((key, quoted(&column.name)));
        }
    }
}

fn cost(column: &Column, fields: &mut Vec<(&'static str, String)>, notes: &mut Vec<String>) {
    let currency = column.numbers().and_then(|numbers| numbers.currency).or_else(|| currency_in_name(&column.name));
    let is_english = words_of(&column.name).iter().any(|word| matches!(word.as_str(), "cost" | "costs" | "price" | "spend" | "spent"));
    match currency {
        Some(Currency::Dollar) => fields.push(("cost_usd", quoted(&column.name))),
        Some(Currency::Cent) => fields.push(("cost_usd", format!("{{column: {}, unit: cents}}", quoted(&column.name)))),
        None if is_english => {
            fields.push(("cost_usd", quoted(&column.name)));
            notes.push(format!("`{}` names no currency and is taken as US dollars", column.name));
        }
        _ => notes.push(format!("`{}` is not in US dollars, or does not say so, and is not read; in the map, cost_usd: {{column: …, unit: EUR, multiply: 1.08}} reads it", column.name)),
    }
}

/// Writes the texts that people read beside an outcome.
fn texts<'l>(look: &'l Look<'_>, judged: &Judged<'l>, item: &[&Column], used: &mut Vec<&'l Column>, draft: &mut Draft) {
    let compared = match judged {
        Judged::Equal(expected, given) => Some((*expected, *given)),
        Judged::By(_) | Judged::Score(_) => compared(look),
    };
    for (role, key) in [(Role::Question, "question"), (Role::Answer, "answer"), (Role::Expected, "expected"), (Role::Reason, "reason")] {
        let is_free = |column: &Column| {
            let is_item = item.iter().any(|other| other.name == column.name);
            let is_used = used.iter().any(|other| other.name == column.name);
            (!is_used || (is_item && role == Role::Question && column.longest > 20)) && matches!(column.kind, Kind::Text | Kind::Numbers(_) | Kind::Outcomes)
        };
        let found = match (role, compared) {
            (Role::Answer, Some((_, given))) => Some(given),
            (Role::Expected, Some((expected, _))) => Some(expected),
            _ => look.best(role, 2, is_free).first().copied(),
        };
        if let Some(column) = found {
            used.push(column);
            draft.item.push((key, quoted(&column.name)));
        }
    }
}

/// Writes a text as one word of a command.
pub(super) fn shell(text: &str) -> String {
    let is_plain = text.chars().all(|letter| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-' | '.'));
    if is_plain && !text.is_empty() { text.to_owned() } else { format!("'{}'", text.replace('\'', "'\\''")) }
}

/// Reads a share of whole runs: 68.2 or 0.682.
pub(super) fn is_share(column: &Column, decimal: Option<Decimal>) -> bool {
    column.values.keys().all(|text| read_number(text, decimal).is_some_and(|value| (0.0..=100.0).contains(&value)))
}
