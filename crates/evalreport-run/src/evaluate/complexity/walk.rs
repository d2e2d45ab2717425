//! Counts one file by walking its syntax tree.

use std::ops::ControlFlow;

use tree_sitter::{Node, ParseOptions, ParseState, Parser, Point, Tree};

use super::counts::CodeElementCounts;
use super::language::{CodeLanguage, NodeRole};

/// Maximum number of the parser's progress reports: four times as many as ordinary code of the largest size needs. The limit is a count,
/// not a time, so that the same file is measured or excluded on every machine.
const MAX_STEPS: u64 = 20_000;

/// Counts the code elements of a text, or returns the reason why they cannot be counted.
pub fn count_elements(
    language: CodeLanguage,
    text: &str,
) -> Result<CodeElementCounts, &'static str> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let tree = parse_tree(language, text, MAX_STEPS).ok_or("too hard to parse")?;
    let mut counts = CodeElementCounts {
        is_broken: tree.root_node().has_error(),
        ..CodeElementCounts::default()
    };
    let mut is_code: Vec<bool> = vec![false; text.lines().count() + 1];
    let mut cursor = tree.walk();
    loop {
        let node = cursor.node();
        let role = language.count_node(node, cursor.field_name(), text, &mut counts);
        let goes_in = match role {
            NodeRole::Comment => false,
            NodeRole::Lines => {
                mark_code_lines(node, &mut is_code);
                false
            }
            // Every line of a multi-line string is code, even if the grammar does not split the string into parts.
            NodeRole::Code => {
                if node.child_count() == 0 || node.kind().contains("string") {
                    mark_code_lines(node, &mut is_code);
                }
                true
            }
        };
        if goes_in && cursor.goto_first_child() {
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                counts.lines = text
                    .lines()
                    .zip(&is_code)
                    .filter(|(line, is_code)| **is_code && !line.trim().is_empty())
                    .count() as u64;
                return Ok(counts);
            }
        }
    }
}

/// Marks the lines that a node covers as code.
fn mark_code_lines(node: Node, is_code: &mut [bool]) {
    let (start, end) = (node.start_position(), node.end_position());
    if node.start_byte() == node.end_byte() {
        // The parser inserted a missing node, which has no text.
        return;
    }
    let last = if end.column == 0 {
        end.row.saturating_sub(1)
    } else {
        end.row
    };
    for row in start.row..=last {
        if let Some(row) = is_code.get_mut(row) {
            *row = true;
        }
    }
}

fn parse_tree(language: CodeLanguage, text: &str, most_steps: u64) -> Option<Tree> {
    let mut parser = Parser::new();
    parser.set_language(&language.grammar()).ok()?;
    let mut steps = 0_u64;
    let mut progress = |_: &ParseState| {
        steps += 1;
        if steps > most_steps {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    };
    let bytes = text.as_bytes();
    let options = ParseOptions::new().progress_callback(&mut progress);
    parser.parse_with_options(
        &mut |offset: usize, _: Point| bytes.get(offset..).unwrap_or_default(),
        None,
        Some(options),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_parser_that_does_not_end_is_ended() {
        let text = "x = f(1)\n".repeat(10_000);
        assert!(parse_tree(CodeLanguage::Python, &text, 100).is_none());
        assert!(parse_tree(CodeLanguage::Python, &text, MAX_STEPS).is_some());
    }
}
