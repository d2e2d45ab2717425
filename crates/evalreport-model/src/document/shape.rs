//! The keys that a reader asks for, with the forms of their values: what a JSON Schema for editors is written from.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use serde_json::{Map, Value, json};

/// The form of a value.
#[derive(Clone, Debug)]
pub enum ValueForm {
    /// Anything, because another reader checks it.
    Any,
    Text,
    /// Text that is not blank.
    Filled,
    /// Text that fits a regular expression.
    Pattern(&'static str),
    /// One of these words.
    Word(Vec<String>),
    Integer,
    /// A whole number of at least 0.
    Unsigned,
    Number,
    /// A number of at least 0.
    Amount,
    Boolean,
    /// Exactly this number.
    Exactly(i64),
    /// `false`, where `true` says nothing.
    False,
    List(Box<ValueForm>),
    /// A map of free names.
    Named(Box<ValueForm>),
    /// A map with these names, and with any others if they have a form.
    Known(Vec<(&'static str, ValueForm)>, Option<Box<ValueForm>>),
    Map(KeyForms),
    OneOf(Vec<ValueForm>),
    /// As at this key of the file, for values that hold others of their kind.
    Like(&'static str),
}

impl ValueForm {
    pub fn list_of(form: Self) -> Self {
        Self::List(Box::new(form))
    }

    pub fn map_of(form: Self) -> Self {
        Self::Named(Box::new(form))
    }

    /// Returns the schema of a file for editors. `name` is that of the schema, and `repository`, as `owner/name`, has its address.
    pub fn to_file_schema(
        &self,
        name: &str,
        repository: &str,
        title: &str,
        description: &str,
    ) -> Value {
        let mut schema = self.to_schema();
        schema["$schema"] = "https://json-schema.org/draft/2020-12/schema".into();
        schema["$id"] = format!(
            "https://raw.githubusercontent.com/{}/HEAD/docs/schemas/{name}.json",
            repository.trim()
        )
        .into();
        schema["title"] = title.into();
        schema["description"] = description.into();
        schema
    }

    /// Returns the schema of the value.
    pub fn to_schema(&self) -> Value {
        match self {
            Self::Any => json!(true),
            Self::Text => json!({"type": "string"}),
            Self::Filled => json!({"type": "string", "pattern": "\\S"}),
            Self::Pattern(pattern) => json!({"type": "string", "pattern": pattern}),
            Self::Word(words) => json!({"enum": words}),
            Self::Integer => json!({"type": "integer"}),
            Self::Unsigned => json!({"type": "integer", "minimum": 0}),
            Self::Number => json!({"type": "number"}),
            Self::Amount => json!({"type": "number", "minimum": 0}),
            Self::Boolean => json!({"type": "boolean"}),
            Self::Exactly(number) => json!({"const": number}),
            Self::False => json!({"const": false}),
            Self::List(form) => json!({"type": "array", "items": form.to_schema()}),
            Self::Named(form) => {
                json!({"type": "object", "additionalProperties": form.to_schema()})
            }
            Self::Known(names, others) => {
                let properties: Map<String, Value> = names
                    .iter()
                    .map(|(name, form)| ((*name).to_owned(), form.to_schema()))
                    .collect();
                let others = others
                    .as_ref()
                    .map_or(json!(false), |form| form.to_schema());
                json!({"type": "object", "properties": properties, "additionalProperties": others})
            }
            Self::Map(shape) => shape.to_schema(),
            Self::Like(key) => json!({"$ref": format!("#/properties/{key}")}),
            Self::OneOf(forms) => {
                json!({"anyOf": forms.iter().map(Self::to_schema).collect::<Vec<_>>()})
            }
        }
    }
}

/// The keys of a map, in their order.
#[derive(Clone, Debug, Default)]
pub struct KeyForms(Rc<RefCell<BTreeMap<String, AskedKey>>>);

#[derive(Clone, Debug, Default)]
struct AskedKey {
    /// `None` if the key is only looked at, for example to refuse it.
    form: Option<ValueForm>,
    is_required: bool,
}

impl KeyForms {
    pub(super) fn ask_key(&self, key: &str, form: ValueForm) {
        self.0
            .borrow_mut()
            .entry(key.to_owned())
            .or_default()
            .form
            .get_or_insert(form);
    }

    pub(super) fn require_key(&self, key: &str) {
        self.0
            .borrow_mut()
            .entry(key.to_owned())
            .or_default()
            .is_required = true;
    }

    /// Returns the schema of the map: other keys are refused, and a key without a value is absent.
    pub fn to_schema(&self) -> Value {
        let keys = self.0.borrow();
        let mut properties = Map::new();
        let mut required = Vec::new();
        for (key, asked) in keys.iter() {
            let Some(form) = &asked.form else { continue };
            let schema = form.to_schema();
            let is_any = schema == json!(true);
            properties.insert(
                key.clone(),
                if asked.is_required || is_any {
                    schema
                } else {
                    json!({"anyOf": [schema, {"type": "null"}]})
                },
            );
            if asked.is_required {
                required.push(key.as_str());
            }
        }
        let mut schema =
            json!({"type": "object", "properties": properties, "additionalProperties": false});
        if !required.is_empty() {
            schema["required"] = json!(required);
        }
        schema
    }
}
