//! A switch that may have settings of its own.

use super::{Fields, Node, Scalar, ScalarKind, Value, ValueForm, quote_text};
use crate::domain::Problem;

/// Whether something is enabled, and with which settings.
#[derive(Clone, Debug, PartialEq)]
pub enum SwitchSetting {
    Off,
    On,
    /// A map of settings, which the enabled component parses itself.
    With(Node),
}

impl SwitchSetting {
    pub fn is_wanted(&self) -> bool {
        match self {
            Self::Off => false,
            Self::On | Self::With(_) => true,
        }
    }

    /// Returns the map of settings, if there is one.
    pub fn settings_node(&self) -> Option<&Node> {
        match self {
            Self::Off | Self::On => None,
            Self::With(node) => Some(node),
        }
    }

    pub fn accepted_form() -> ValueForm {
        ValueForm::OneOf(vec![ValueForm::Boolean, ValueForm::map_of(ValueForm::Any)])
    }

    /// Reads `true`, `false` or a map at `path`.
    pub fn read_at(fields: &mut Fields, node: &Node, path: &str) -> Option<Self> {
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
                    quote_text(path),
                    node.kind_noun()
                );
                let problem = Problem::at_position(fields.file(), node.line, node.column, message);
                fields.problems().push(problem);
                None
            }
        }
    }
}
