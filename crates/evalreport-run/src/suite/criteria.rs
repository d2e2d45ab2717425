//! Acceptance criteria, which a judge decides: a flat list or a weighted tree.

use std::collections::BTreeMap;

use super::normalize_answer;
use crate::document::{Fields, Node, Value, ValueForm, quote_text};
use crate::domain::Problem;

/// One criterion. Only leaves are judged; a parent's result follows from its children.
#[derive(Clone, Debug, PartialEq)]
pub struct AcceptanceCriterion {
    /// Trimmed.
    pub criterion: String,
    /// Its weight among its siblings: above 0, and 1 by default.
    pub weight: f64,
    pub children: Vec<AcceptanceCriterion>,
}

impl AcceptanceCriterion {
    /// Returns the judged criteria in file order.
    pub fn collect_leaves<'c>(criteria: &'c [Self]) -> Vec<&'c Self> {
        let leaves_of = |criterion: &'c Self| match criterion.children.as_slice() {
            [] => vec![criterion],
            children => Self::collect_leaves(children),
        };
        criteria.iter().flat_map(leaves_of).collect()
    }
}

/// The key of the file with the criteria.
const CRITERIA_KEY: &str = "acceptance_criteria";

pub(super) fn read_criteria(fields: &mut Fields) -> Vec<AcceptanceCriterion> {
    fields.note_form(CRITERIA_KEY, || {
        let map = Fields::derive_form(|fields| drop(read_map(fields, &mut BTreeMap::new())));
        ValueForm::list_of(ValueForm::OneOf(vec![ValueForm::Filled, map]))
    });
    read_list(fields, CRITERIA_KEY, &mut BTreeMap::new())
}

/// Reads a list of criteria. `lines` maps the leaves' texts seen so far: a judge's reply is matched by text, so each must be unique.
fn read_list(
    fields: &mut Fields,
    key: &str,
    lines: &mut BTreeMap<String, usize>,
) -> Vec<AcceptanceCriterion> {
    fields.note_form(key, || ValueForm::Like(CRITERIA_KEY));
    let items = fields.list(key).unwrap_or_default();
    let path = fields.path_of(key);
    let mut criteria = Vec::new();
    for (index, item) in items.iter().enumerate() {
        criteria.extend(read_one(fields, item, &format!("{path}[{index}]"), lines));
    }
    criteria
}

fn read_map(
    mut fields: Fields,
    lines: &mut BTreeMap<String, usize>,
) -> Option<AcceptanceCriterion> {
    let criterion = fields.required_text("criterion");
    let weight = fields.number("weight").unwrap_or(1.0);
    if weight <= 0.0 {
        fields.reject(
            "weight",
            format!(
                "{} must be above 0, but is `{weight}`",
                quote_text(&fields.path_of("weight"))
            ),
            None,
        );
    }
    let children = read_list(&mut fields, "children", lines);
    fields.finish();
    Some(AcceptanceCriterion {
        criterion: criterion?,
        weight,
        children,
    })
}

fn read_one<'d>(
    fields: &mut Fields<'d, '_>,
    item: &'d Node,
    path: &str,
    lines: &mut BTreeMap<String, usize>,
) -> Option<AcceptanceCriterion> {
    let file = fields.file();
    let criterion = match &item.value {
        Value::Scalar(_) | Value::List(_) => AcceptanceCriterion {
            criterion: fields.text_of(item, path)?,
            weight: 1.0,
            children: Vec::new(),
        },
        Value::Map(_) => {
            let fields = Fields::new(file, item, path, fields.problems())?;
            read_map(fields, lines)?
        }
    };
    let criterion = AcceptanceCriterion {
        criterion: criterion.criterion.trim().to_owned(),
        ..criterion
    };
    let mut reject = |message, hint: &str| {
        let problem = Problem::at_position(file, item.line, item.column, message);
        fields.problems().push(if hint.is_empty() {
            problem
        } else {
            problem.with_hint(hint)
        });
    };
    if criterion.criterion.is_empty() {
        reject(format!("{} is empty", quote_text(path)), "");
    } else if criterion.children.is_empty() {
        match lines.get(&normalize_answer(&criterion.criterion)) {
            Some(first) => {
                reject(
                    format!("duplicate criterion {}", quote_text(&criterion.criterion)),
                    &format!("it is already on line {first}; reword one"),
                );
            }
            None => {
                lines.insert(normalize_answer(&criterion.criterion), item.line);
            }
        }
    }
    Some(criterion)
}
