//! The languages whose complexity is measured, and the roles of the nodes in their grammars.

use std::path::Path;

use tree_sitter::{Language, Node};

use super::counts::CodeElementCounts;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CodeLanguage {
    Python,
    JavaScript,
    TypeScript,
    /// TypeScript with JSX elements.
    Tsx,
    Rust,
}

/// How a node of a syntax tree is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NodeRole {
    /// Not code: neither the node nor its children count.
    Comment,
    /// Code whose children do not count, only its lines: types, attributes, module names.
    Lines,
    Code,
}

impl CodeLanguage {
    /// Returns the language of a file, judged by its name. `None` if the language is not measured.
    pub fn from_path(path: &Path) -> Option<Self> {
        let extension = path.extension()?.to_str()?.to_ascii_lowercase();
        match extension.as_str() {
            "py" | "pyw" => Some(Self::Python),
            "js" | "mjs" | "cjs" | "jsx" => Some(Self::JavaScript),
            "ts" | "mts" | "cts" => Some(Self::TypeScript),
            "tsx" => Some(Self::Tsx),
            "rs" => Some(Self::Rust),
            _ => None,
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            Self::Python => "Python",
            Self::JavaScript => "JavaScript",
            Self::TypeScript | Self::Tsx => "TypeScript",
            Self::Rust => "Rust",
        }
    }

    pub fn all_names() -> &'static str {
        "Python, JavaScript, TypeScript or Rust"
    }

    pub fn grammar(self) -> Language {
        match self {
            Self::Python => tree_sitter_python::LANGUAGE.into(),
            Self::JavaScript => tree_sitter_javascript::LANGUAGE.into(),
            Self::TypeScript => tree_sitter_typescript::LANGUAGE_TYPESCRIPT.into(),
            Self::Tsx => tree_sitter_typescript::LANGUAGE_TSX.into(),
            Self::Rust => tree_sitter_rust::LANGUAGE.into(),
        }
    }

    /// Counts one node without its children, and returns its role. `field` is the node's field name in its parent.
    pub fn count_node(
        self,
        node: Node,
        field: Option<&str>,
        text: &str,
        counts: &mut CodeElementCounts,
    ) -> NodeRole {
        match self {
            Self::Python => count_python_node(node, text, counts),
            Self::JavaScript | Self::TypeScript | Self::Tsx => {
                count_javascript_node(node, field, counts)
            }
            Self::Rust => count_rust_node(node, text, counts),
        }
    }
}

fn count_python_node(node: Node, text: &str, counts: &mut CodeElementCounts) -> NodeRole {
    match node.kind() {
        "comment" => return NodeRole::Comment,
        // A string that is a statement of its own is a documentation string.
        "expression_statement" if is_documentation(node) => return NodeRole::Comment,
        "integer" | "float" | "string" | "true" | "false" | "none" => counts.constants += 1,
        "call" => counts.calls += 1,
        "if_statement"
        | "elif_clause"
        | "conditional_expression"
        | "if_clause"
        | "except_clause" => counts.conditions += 1,
        "case_clause" if !is_wildcard(first_named_child(node), text) => counts.conditions += 1,
        "for_statement" | "while_statement" | "for_in_clause" => counts.loops += 1,
        // A type annotation alone assigns no value.
        "assignment" if node.child_by_field_name("right").is_some() => counts.assignments += 1,
        "augmented_assignment" | "named_expression" => counts.assignments += 1,
        _ => {}
    }
    NodeRole::Code
}

fn is_documentation(statement: Node) -> bool {
    statement.named_child_count() == 1
        && first_named_child(statement)
            .is_some_and(|child| matches!(child.kind(), "string" | "concatenated_string"))
}

fn count_javascript_node(
    node: Node,
    field: Option<&str>,
    counts: &mut CodeElementCounts,
) -> NodeRole {
    let has_value = || node.child_by_field_name("value").is_some();
    match node.kind() {
        "comment" | "html_comment" | "hash_bang_line" => return NodeRole::Comment,
        "literal_type" | "template_literal_type" => return NodeRole::Lines,
        // The name of an imported module.
        "string" if field == Some("source") => return NodeRole::Lines,
        "number" | "string" | "template_string" | "regex" | "true" | "false" | "null"
        | "undefined"
            if node.is_named() =>
        {
            counts.constants += 1;
        }
        "call_expression" | "new_expression" => counts.calls += 1,
        "if_statement" | "ternary_expression" | "switch_case" | "catch_clause" => {
            counts.conditions += 1;
        }
        "for_statement" | "for_in_statement" | "while_statement" | "do_statement" => {
            counts.loops += 1;
        }
        "assignment_expression" | "augmented_assignment_expression" | "update_expression" => {
            counts.assignments += 1;
        }
        "variable_declarator"
        | "field_definition"
        | "public_field_definition"
        | "enum_assignment"
            if has_value() =>
        {
            counts.assignments += 1;
        }
        _ => {}
    }
    NodeRole::Code
}

fn count_rust_node(node: Node, text: &str, counts: &mut CodeElementCounts) -> NodeRole {
    let has_value = || node.child_by_field_name("value").is_some();
    match node.kind() {
        "line_comment" | "block_comment" | "shebang" => return NodeRole::Comment,
        "attribute_item" | "inner_attribute_item" => return NodeRole::Lines,
        "integer_literal" | "float_literal" | "string_literal" | "raw_string_literal"
        | "char_literal" | "boolean_literal" => {
            counts.constants += 1;
        }
        "call_expression" | "macro_invocation" => counts.calls += 1,
        "if_expression" => counts.conditions += 1,
        "match_arm" if !is_wildcard(node.child_by_field_name("pattern"), text) => {
            counts.conditions += 1;
        }
        // A match guard.
        "match_pattern" if node.child_by_field_name("condition").is_some() => {
            counts.conditions += 1;
        }
        "for_expression" | "while_expression" | "loop_expression" => counts.loops += 1,
        "let_declaration" if has_value() => {
            counts.assignments += 1;
            if node.child_by_field_name("alternative").is_some() {
                counts.conditions += 1;
            }
        }
        "const_item" | "static_item" if has_value() => counts.assignments += 1,
        "assignment_expression" | "compound_assignment_expr" => counts.assignments += 1,
        _ => {}
    }
    NodeRole::Code
}

fn first_named_child(node: Node) -> Option<Node> {
    node.named_child(0)
}

/// Says whether a pattern matches everything, as `default` does in other languages.
fn is_wildcard(pattern: Option<Node>, text: &str) -> bool {
    pattern
        .and_then(|pattern| text.get(pattern.byte_range()))
        .is_some_and(|pattern| pattern.trim() == "_")
}
