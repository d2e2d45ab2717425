//! A switch that may have settings of its own.

use super::{Fields, Form, Node, Scalar, ScalarKind, Value, quote};
use crate::domain::Problem;

/// Whether something is enabled, and with which settings.
#[derive(Clone, Debug, PartialEq)]
pub enum Setting {
    Off,
    On,
    /// A map of settings, which the enabled component parses itself.
    With(Node),
}

impl Setting {
    pub fn is_wanted(&self) -> bool {
        match self {
            Self::Off => false,
            Self::On | Self::With(_) => true,
        }
    }

    /// Returns the map of settings, if there is one.
    pub fn node(&self) -> Option<&Node> {
        match self {
            Self::Off | Self::On => None,
            Self::With(node) => Some(node),
        }
    }

    pub fn form() -> Form {
        Form::OneOf(vec![Form::Boolean, Form::named(Form::Any)])
    }

    /// Reads `true`, `false` or a map at `path`.
    pub fn read(fields: &mut Fields, node: &Node, path: &str) -> Option<Self> {
        match &node.value {
            Value::Map(_) => Some(Self::With(node.clone())),
            Value::Scalar(Scalar {
                kind: ScalarKind::Bool(true),
                ..
            }) => Some(Self::On),
            Value::Scalar(Scalar {
                kind: ScalarKind::Bool(false),
                ..
            }) => Some(Self::Off),
            Value::Scalar(_) | Value::List(_) => {
                let message = format!(
                    "{} must be true, false or a map of settings, not {}",
                    quote(path),
                    node.noun()
                );
                let problem = Problem::at(fields.file(), node.line, node.column, message);
                fields.problems().push(problem);
                None
            }
        }
    }
}
