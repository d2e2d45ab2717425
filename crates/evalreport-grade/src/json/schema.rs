//! JSON Schema, draft 2020-12. Nothing outside of the schema is loaded.

use std::sync::Arc;

use boon::{Compiler, Draft, SchemaIndex, Schemas};

use super::parse::JsonValue;

/// Where the schema is, for references in it.
const ADDRESS: &str = "mem:///schema.json";

/// A compiled schema.
#[derive(Clone)]
pub(crate) struct JsonSchema {
    schemas: Arc<Schemas>,
    index: SchemaIndex,
}

impl JsonSchema {
    /// Compiles a schema.
    ///
    /// # Errors
    ///
    /// Says why it is none.
    pub(crate) fn compile(schema: serde_json::Value) -> Result<Self, String> {
        let mut schemas = Schemas::new();
        let mut compiler = Compiler::new();
        compiler.set_default_draft(Draft::V2020_12);
        compiler.use_loader(Box::new(boon::SchemeUrlLoader::new()));
        compiler
            .add_resource(ADDRESS, schema)
            .map_err(|error| error.to_string())?;
        let index = compiler.compile(ADDRESS, &mut schemas).map_err(|error| {
            format!("{error:#}")
                .split_whitespace()
                .collect::<Vec<_>>()
                .join(" ")
        })?;
        Ok(Self {
            schemas: Arc::new(schemas),
            index,
        })
    }

    pub(crate) fn accepts(&self, value: &JsonValue) -> bool {
        self.schemas.validate(&value.to_serde(), self.index).is_ok()
    }
}

impl std::fmt::Debug for JsonSchema {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("JsonSchema")
    }
}

#[cfg(test)]
mod tests {
    use super::super::parse::parse_whole;
    use super::*;
    use serde_json::json;

    #[test]
    fn a_schema_accepts_or_refuses() {
        let schema = JsonSchema::compile(
            json!({"type": "object", "properties": {"n": {"type": "integer", "minimum": 0}}}),
        )
        .expect("a schema");
        let accepts = |text| schema.accepts(&parse_whole(text, false).expect("JSON").value);
        assert!(accepts("{\"n\": 1.0}"));
        assert!(!accepts("{\"n\": -1}"));
        assert!(!accepts("[]"));
    }

    #[test]
    fn what_is_no_schema_is_refused_and_nothing_is_loaded() {
        assert!(JsonSchema::compile(json!({"type": "thing"})).is_err());
        assert!(JsonSchema::compile(json!({"$ref": "file:///etc/hostname"})).is_err());
        assert!(JsonSchema::compile(json!({"$ref": "https://example.com/a.json"})).is_err());
        assert!(JsonSchema::compile(json!({"pattern": "(?=a)"})).is_err());
    }
}
