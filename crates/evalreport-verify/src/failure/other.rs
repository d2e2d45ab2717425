//! Fallback for output that no other parser understands.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use super::parsed_failure::ParsedFailure;
use super::pattern::{LinePattern, line_pattern};

static ERROR_LINE: LazyLock<LinePattern> = LazyLock::new(|| {
    line_pattern(
        "",
        r"(?i)\b(error|errors|failed|failure|fatal|panic|panicked|exception|cannot|denied|not found|undefined|invalid)\b",
    )
});
/// Lines that only repeat that something failed.
static SUMMARY_LINE: LazyLock<LinePattern> = LazyLock::new(|| {
    line_pattern(
        "",
        r"(?i)^(make(\[\d+\])?: \*\*\*|npm (ERR!|error)|error: script |\s*ELIFECYCLE|info Visit)",
    )
});
static FILE_PLACE: LazyLock<LinePattern> = LazyLock::new(|| {
    line_pattern(
        "",
        r"([A-Za-z0-9_@.][\w@./-]*\.[A-Za-z]\w{0,5})(?::\d+|\(\d+|:? line \d+)",
    )
});
const MAX_LINES: usize = 40;
const MAX_LAST_LINES: usize = 15;

/// Makes one failure of the lines that report an error, else of the last lines. The order of the lines does not matter.
pub(super) fn fallback_failure(lines: &[&str]) -> Vec<ParsedFailure> {
    let said: Vec<&str> = lines
        .iter()
        .map(|line| line.trim())
        .filter(|line| !line.is_empty() && !SUMMARY_LINE.is_match(line))
        .collect();
    let telling: Vec<&str> = said
        .iter()
        .filter(|line| ERROR_LINE.is_match(line))
        .take(MAX_LINES)
        .copied()
        .collect();
    let shown = if telling.is_empty() {
        &said[said.len().saturating_sub(MAX_LAST_LINES)..]
    } else {
        telling.as_slice()
    };
    if shown.is_empty() {
        return Vec::new();
    }
    let signs: BTreeSet<String> = shown
        .iter()
        .map(|line| super::signature::mask_variable_parts(line))
        .collect();
    vec![ParsedFailure {
        tool: "output",
        test: None,
        files: shown
            .iter()
            .flat_map(|line| FILE_PLACE.captures_iter(line))
            .map(|captures| captures[1].to_owned())
            .collect(),
        message: signs.into_iter().collect::<Vec<_>>().join(" / "),
        text: shown.join("\n"),
    }]
}
