//! A gate's report as JUnit XML, which build servers show beside tests.

use crate::domain::escape_invisible;
use crate::views::{GateCheck, GateReport, Ruling};

use super::{gate, looked_at, phrases};

/// Writes a test suite per suite and a test case per check. An inconclusive check is skipped, or failed with `fail_inconclusive`.
pub fn write_report(report: &GateReport, fail_inconclusive: bool) -> String {
    let mut text = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    text.push_str(&format!(
        "<testsuites name=\"evalreport gate\"{}>\n",
        count_attributes(&report.checks, fail_inconclusive)
    ));
    for suite in report
        .checks
        .chunk_by(|left, right| left.suite == right.suite)
    {
        text.push_str(&format!(
            "  <testsuite name=\"{}\"{}>\n",
            escape_attribute(&suite[0].suite),
            count_attributes(suite, fail_inconclusive)
        ));
        for check in suite {
            text.push_str(&write_case(check, report.confidence, fail_inconclusive));
        }
        let of_suite = report
            .looked_at
            .iter()
            .filter(|looked| looked.suite == suite[0].suite);
        let looked: Vec<String> = of_suite
            .map(|looked| escape_attribute(&looked_at::summary_line(looked)))
            .collect();
        if !looked.is_empty() {
            text.push_str(&format!(
                "    <system-out>{}</system-out>\n",
                looked.join("\n")
            ));
        }
        text.push_str("  </testsuite>\n");
    }
    text.push_str("</testsuites>\n");
    text
}

fn count_attributes(checks: &[GateCheck], fail_inconclusive: bool) -> String {
    let count = |ruling: Ruling| checks.iter().filter(|check| check.ruling == ruling).count();
    let (regressions, inconclusive) = (count(Ruling::Regression), count(Ruling::Inconclusive));
    let (failures, skipped) = if fail_inconclusive {
        (regressions + inconclusive, 0)
    } else {
        (regressions, inconclusive)
    };
    format!(
        " tests=\"{}\" failures=\"{failures}\" errors=\"0\" skipped=\"{skipped}\"",
        checks.len()
    )
}

fn write_case(check: &GateCheck, confidence: f64, fail_inconclusive: bool) -> String {
    let against = match &check.against {
        Some(against) if *against != check.arm => {
            format!(", against {}", phrases::arm_name(&check.suite, against))
        }
        _ => String::new(),
    };
    let name = format!("{}{against}", gate::describe_rule(check));
    let arm = check
        .arm
        .display_name()
        .map_or_else(String::new, |arm| format!(".{arm}"));
    let class = format!("{}{arm}", check.suite);
    let opened = format!(
        "    <testcase classname=\"{}\" name=\"{}\"",
        escape_attribute(&class),
        escape_attribute(&name)
    );
    let message = escape_attribute(&gate::check_sentence(check, confidence));
    match check.ruling {
        Ruling::Pass => format!("{opened}/>\n"),
        Ruling::Inconclusive if !fail_inconclusive => {
            format!("{opened}>\n      <skipped message=\"{message}\"/>\n    </testcase>\n")
        }
        ruling @ (Ruling::Inconclusive | Ruling::Regression) => {
            format!(
                "{opened}>\n      <failure type=\"{}\" message=\"{message}\"/>\n    </testcase>\n",
                gate::ruling_name(ruling)
            )
        }
    }
}

/// Escapes a text for an attribute: foreign text adds no markup, and characters that XML forbids are replaced.
pub(super) fn escape_attribute(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in escape_invisible(text).chars() {
        match character {
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '&' => escaped.push_str("&amp;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&apos;"),
            // XML forbids these. Control characters are visible signs by now.
            '\u{fffe}' | '\u{ffff}' => escaped.push(char::REPLACEMENT_CHARACTER),
            _ => escaped.push(character),
        }
    }
    escaped
}

/// Escapes a text between tags like [`escape_attribute`], and keeps its lines.
pub(super) fn escape_lines(text: &str) -> String {
    text.lines()
        .map(escape_attribute)
        .collect::<Vec<_>>()
        .join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn foreign_text_makes_no_markup() {
        assert_eq!(
            escape_attribute("<a b=\"c\" d='e'>&\u{1b}\u{ffff}"),
            "&lt;a b=&quot;c&quot; d=&apos;e&apos;&gt;&amp;␛\u{fffd}"
        );
        assert_eq!(escape_lines("a\n\u{0}<b>\r\n"), "a\n␀&lt;b&gt;");
    }
}
