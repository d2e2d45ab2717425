//! Finds the columns that tell the runs of a table apart.

use super::super::path_part::PathPart;
use super::draft::{Draft, constant, list, quoted};
use super::look::{Look, Question};
use super::summary::{Column, Kind, fraction, is_time};
use super::words::{Role, is_benchmark, is_model, is_numbered, own_name, words_of};

/// Maximum number of values in a column that names approaches.
pub(super) const MOST_APPROACHES: usize = 60;

/// Columns that tell runs apart.
pub(super) struct Arms<'l> {
    pub approach: Vec<&'l Column>,
    pub model: Option<&'l Column>,
    pub suite: Option<&'l Column>,
}

impl<'l> Arms<'l> {
    pub fn of(look: &'l Look<'_>, used: &[&Column]) -> Result<Self, Question> {
        let is_free = |column: &Column| {
            !column.is_among(used) && column.may_name() && column.kind != Kind::Outcomes
        };
        let is_name = |column: &Column| {
            is_free(column)
                && column.kind == Kind::Text
                && column.values.len() <= MOST_APPROACHES.max(look.rows.len() / 3)
        };
        // There may be more models than approaches, if the title says what they are.
        let is_titled_model = |column: &Column| {
            is_free(column) && column.kind == Kind::Text && column.clarity(Role::Model) >= 2
        };
        let model = match look.hinted(look.hints.model.as_ref(), "--model COLUMN")? {
            Some(column) => Some(column),
            None => look
                .best(Role::Model, 1, |column| {
                    is_name(column)
                        || is_titled_model(column)
                        || (is_free(column) && column.values.keys().all(|text| is_model(text)))
                })
                .first()
                .copied(),
        };
        // Columns with typical names of models, whatever their title.
        let are_models = |column: &&Column| {
            is_name(column)
                && column.roles.iter().all(|(_, clarity)| *clarity < 2)
                && column.values.keys().filter(|text| is_model(text)).count() * 10
                    >= column.values.len() * 6
        };
        let is_titled = look
            .best(Role::Approach, 2, is_name)
            .into_iter()
            .any(|column| are_models(&column));
        let model = model.or_else(|| {
            if is_titled {
                None
            } else {
                look.summary.columns.iter().find(are_models)
            }
        });
        let is_other = |column: &Column| model.is_none_or(|model| model.name != column.name);
        let given = look.hinted(look.hints.suite.as_ref(), "--suite COLUMN")?;
        let suite = given.or_else(|| {
            look.best(Role::Suite, 2, |column| is_name(column) && is_other(column))
                .first()
                .copied()
        });
        // A column with a title for tasks whose values are names of benchmarks.
        let are_benchmarks = |column: &Column| {
            is_name(column)
                && is_other(column)
                && column.values.len() <= MOST_APPROACHES
                && column
                    .values
                    .keys()
                    .filter(|text| is_benchmark(text))
                    .count()
                    * 3
                    >= column.values.len()
        };
        let is_item = |column: &Column| {
            look.hints
                .item
                .as_ref()
                .is_some_and(|item| *item == column.name)
        };
        let suite = suite.or_else(|| {
            look.best(Role::Item, 2, |column| {
                are_benchmarks(column) && !is_item(column)
            })
            .first()
            .copied()
        });
        // A file or a folder for each benchmark.
        let is_suite = |column: &&Column| column.values.keys().all(|name| is_benchmark(name));
        let suite = suite.or_else(|| places(look).into_iter().find(is_suite));
        let approach = match look.hinted(look.hints.approach.as_ref(), "--approach COLUMN")? {
            Some(column) => vec![column],
            None => {
                let clear = look.best(Role::Approach, 2, |column| {
                    is_name(column) && is_other(column)
                });
                let clear = if clear.is_empty() && model.is_none() {
                    look.best(Role::Approach, 1, |column| is_name(column))
                } else {
                    clear
                };
                let mut kept: Vec<&Column> = Vec::new();
                for column in clear {
                    // Skip a column that the others determine, such as an agent's version.
                    let is_decided = !kept.is_empty() && look.decides(&kept, column);
                    if !is_decided {
                        kept.push(column);
                    }
                }
                if kept.is_empty() && model.is_none() {
                    kept.extend(keys_of_figures(look, is_name).or_else(|| versions(look, is_free)));
                }
                kept
            }
        };
        let mut arms = Self {
            approach,
            model,
            suite,
        };
        if arms.approach.is_empty() && arms.model.is_none() {
            arms.approach.extend(arms.by_place(look)?);
        }
        Ok(arms)
    }

    /// Finds the files or folders that are the approaches, if no column names any.
    fn by_place(&self, look: &'l Look<'_>) -> Result<Option<&'l Column>, Question> {
        let is_suite = |column: &&Column| self.suite.is_some_and(|suite| suite.name == column.name);
        let found: Vec<&Column> = places(look)
            .into_iter()
            .filter(|column| !is_suite(column))
            .collect();
        match found.as_slice() {
            [] => Ok(None),
            [one] => Ok(Some(one)),
            // A file of its own in each folder, or repeats in each folder.
            [folder, file] if look.decides(&[folder], file) || are_repeats(file) => {
                Ok(Some(folder))
            }
            [folder, .., file] => {
                let text = format!(
                    "{} and {} may each name the approaches",
                    shown(folder),
                    shown(file)
                );
                Err(Question::new(
                    text,
                    format!("--approach {} (or --approach {})", folder.name, file.name),
                ))
            }
        }
    }

    /// Finds the columns that tell apart the files of one arm, or `None` if each arm has one file. Asks if the files may be suites.
    pub fn files(
        &self,
        look: &'l Look<'_>,
        item: &[&'l Column],
    ) -> Result<Vec<&'l Column>, Question> {
        let columns = self.columns();
        let files: Vec<&Column> = places(look)
            .into_iter()
            .filter(|column| !column.is_among(&columns))
            .collect();
        let spans = |column: &&&Column| !look.decides(&columns, column);
        let Some(first) = files.iter().find(spans).copied() else {
            return Ok(Vec::new());
        };
        let own: Vec<&Column> = columns
            .iter()
            .copied()
            .chain(item.iter().copied())
            .collect();
        let in_file: Vec<&Column> = own.iter().copied().chain(files.iter().copied()).collect();
        let are_repeated = !item.is_empty() && !look.is_unique(&own) && look.is_unique(&in_file);
        if are_repeated && !are_repeats(first) && look.hints.attempt.as_ref() != Some(&first.name) {
            let text = format!(
                "{} have rows of the same items: each may be a suite, or a repeat",
                shown(first)
            );
            return Err(Question::new(
                text,
                format!("--suite {0} (or --attempt {0})", first.name),
            ));
        }
        Ok(files)
    }

    /// Returns the columns that name the approach and the model, without the suite.
    pub fn names(&self) -> Vec<&'l Column> {
        self.approach.iter().copied().chain(self.model).collect()
    }

    pub fn columns(&self) -> Vec<&'l Column> {
        self.approach
            .iter()
            .copied()
            .chain(self.model)
            .chain(self.suite)
            .collect()
    }

    /// Writes suite, approach and model. If no column names them, the file's name does.
    pub fn write(&self, look: &Look<'_>, suite: &str, draft: &mut Draft, notes: &mut Vec<String>) {
        let set = |key: &str| look.hints.set.get(key).map(|text| constant(text));
        let names = |columns: &[&Column]| match columns {
            [one] => quoted(&one.name),
            several => list(several.iter().map(|column| &column.name)),
        };
        let is_alone = self.approach.is_empty() && self.model.is_none();
        let approach = if is_alone {
            quoted(&PathPart::File.column())
        } else {
            constant("unnamed")
        };
        let approach = if self.approach.is_empty() {
            approach
        } else {
            names(&self.approach)
        };
        draft.run.push((
            "suite",
            set("suite").unwrap_or_else(|| {
                self.suite
                    .map_or_else(|| constant(suite), |column| quoted(&column.name))
            }),
        ));
        draft
            .run
            .push(("approach", set("approach").unwrap_or(approach)));
        draft.run.push((
            "model",
            set("model").unwrap_or_else(|| {
                self.model
                    .map_or_else(|| constant("unknown"), |column| quoted(&column.name))
            }),
        ));
        let is_place = |column: &Column| PathPart::of_column(&column.name).is_some();
        for column in self.columns().into_iter().filter(|column| is_place(column)) {
            let what = if self.suite.is_some_and(|suite| suite.name == column.name) {
                "suites"
            } else {
                "approaches"
            };
            if column.kind == Kind::Nothing {
                notes.push(format!(
                    "no column names the {what}: they are named by {}",
                    shown(column)
                ));
            }
        }
        if is_alone && !look.hints.set.contains_key("approach") {
            notes.push(
                "no column names an approach or a model: the approach is named by the file"
                    .to_owned(),
            );
        }
    }
}

/// Returns the columns with names of files and folders that differ, folders first.
pub(super) fn places<'l>(look: &'l Look<'_>) -> Vec<&'l Column> {
    let part = |column: &&Column| match PathPart::of_column(&column.name) {
        Some(PathPart::Folder(level)) => level,
        _ => 0,
    };
    let is_place = |column: &&Column| {
        matches!(
            PathPart::of_column(&column.name),
            Some(PathPart::File | PathPart::Folder(_))
        ) && column.values.len() > 1
    };
    let mut found: Vec<&Column> = look.summary.columns.iter().filter(is_place).collect();
    found.sort_by_key(|column| std::cmp::Reverse(part(column)));
    found
}

/// Returns whether the files or folders are called like repeats or parts: `run1`, `part-0`, `seed 3`, or by a time.
fn are_repeats(column: &Column) -> bool {
    column
        .values
        .keys()
        .all(|name| is_numbered(name) || is_time(name))
}

/// Names the files or folders in a sentence.
fn shown(column: &Column) -> String {
    let what = if PathPart::of_column(&column.name) == Some(PathPart::File) {
        "files"
    } else {
        "folders"
    };
    let names: Vec<String> = column
        .values
        .keys()
        .take(2)
        .map(|name| format!("`{name}`"))
        .collect();
    let more = if column.values.len() > 2 { ", …" } else { "" };
    format!("the {what} {}{more}", names.join(", "))
}

/// Returns the keys of objects with published figures each, such as `{"nova": {"accuracy": 0.7, "n": 20}}`: they name what was evaluated.
fn keys_of_figures<'l>(
    look: &'l Look<'_>,
    is_name: impl Fn(&Column) -> bool,
) -> Option<&'l Column> {
    let has = |role: Role| {
        !look
            .best(role, 2, |column| {
                column.numbers().is_some() || column.is_outcomes()
            })
            .is_empty()
    };
    let has_figures =
        (has(Role::Rate) || has(Role::PassedCount)) && (has(Role::Total) || has(Role::FailedCount));
    let is_key = |column: &&Column| {
        column.name.ends_with("{}")
            && column.roles.iter().all(|(role, _)| *role != Role::Item)
            && is_name(column)
            && column.values.len() == look.rows.len()
            && !column
                .values
                .keys()
                .any(|text| is_numbered(text) || fraction(text).is_some())
    };
    if has_figures {
        look.summary.columns.iter().find(is_key)
    } else {
        None
    }
}

/// Returns the column with versions of the system, if nothing else tells the rows of an item apart.
fn versions<'l>(look: &'l Look<'_>, is_free: impl Fn(&Column) -> bool) -> Option<&'l Column> {
    const VERSIONS: [&str; 10] = [
        "version",
        "system_version",
        "agent_version",
        "app_version",
        "release",
        "build",
        "revision",
        "branch",
        "commit",
        "versione",
    ];
    let is_version = |column: &&Column| {
        let title = words_of(&own_name(&column.name)).join("_");
        let is_name = is_free(column) || column.numbers().is_some();
        VERSIONS.contains(&title.as_str())
            && !column.name.starts_with("$.")
            && is_name
            && column.filled == look.rows.len()
            && (2..=MOST_APPROACHES).contains(&column.values.len())
    };
    let column = look.summary.columns.iter().find(is_version)?;
    // A version that is another one for each item is the item's.
    let items = look.best(Role::Item, 2, |item| {
        item.may_name() && item.name != column.name
    });
    items
        .iter()
        .any(|item| !look.decides(&[item], column))
        .then_some(column)
}
