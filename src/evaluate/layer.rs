//! One place where settings of an evaluator are written.

use crate::document::Node;

/// A map of settings: the configuration's, or the suite's, which goes over it key by key.
#[derive(Clone, Debug)]
pub struct Layer<'a> {
    /// The file as messages name it.
    pub file: &'a str,
    /// Where in the file, such as `evaluators.efficiency`.
    pub path: String,
    pub node: &'a Node,
}
