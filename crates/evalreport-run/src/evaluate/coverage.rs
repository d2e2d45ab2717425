//! Test coverage, read from the text that coverage tools print for people.

use super::test_report::OutputText;

/// Returns the total percentage; if several were printed, the last of them.
///
/// Knows the tables of pytest-cov, `cargo llvm-cov`, jest, vitest, nyc and node, and the lines of go and tarpaulin. If go reports only
/// packages, returns their unweighted mean, because go does not say how large they are.
pub fn parse_coverage(outputs: &[OutputText]) -> Option<f64> {
    let lines = || outputs.iter().flat_map(OutputText::lines).map(str::trim);
    let whole = lines().filter_map(|line| {
        parse_total_row(line)
            .or_else(|| parse_all_files_row(line))
            .or_else(|| parse_go_total(line))
            .or_else(|| parse_tarpaulin_line(line))
    });
    whole.last().or_else(|| {
        let packages: Vec<f64> = lines().filter_map(parse_go_package).collect();
        (!packages.is_empty()).then(|| packages.iter().sum::<f64>() / packages.len() as f64)
    })
}

/// `TOTAL   120   12   90%`; llvm-cov's row has percentages of regions, functions and lines, in this order.
fn parse_total_row(line: &str) -> Option<f64> {
    let rest = line
        .strip_prefix("TOTAL")
        .filter(|rest| rest.starts_with(char::is_whitespace))?;
    let percents: Vec<f64> = rest.split_whitespace().filter_map(parse_percent).collect();
    percents.get(2).or(percents.last()).copied()
}

/// `All files | 90 | 80 | 85 | 90.5 |`: the first column counts statements, or lines in node's output.
fn parse_all_files_row(line: &str) -> Option<f64> {
    let line = line.trim_start_matches(['#', 'ℹ', ' ']);
    let (name, rest) = line.split_once('|')?;
    name.trim()
        .eq_ignore_ascii_case("all files")
        .then_some(())?;
    parse_number(rest.split('|').next()?.trim().trim_end_matches('%'))
}

/// `total:   (statements)   90.0%`
fn parse_go_total(line: &str) -> Option<f64> {
    let rest = line.strip_prefix("total:")?.trim_start();
    parse_percent(rest.strip_prefix("(statements)")?.trim())
}

/// `90.00% coverage, 9/10 lines covered`
fn parse_tarpaulin_line(line: &str) -> Option<f64> {
    let (start, rest) = line.split_once("% coverage, ")?;
    rest.ends_with(" lines covered").then_some(())?;
    parse_number(start)
}

/// `ok  example.com/a  0.1s  coverage: 90.0% of statements`, also within the JSON of `go test -json`.
fn parse_go_package(line: &str) -> Option<f64> {
    let (_, rest) = line.split_once("coverage: ")?;
    let (amount, rest) = rest.split_once('%')?;
    rest.starts_with(" of statements").then_some(())?;
    parse_number(amount)
}

fn parse_percent(word: &str) -> Option<f64> {
    parse_number(word.strip_suffix('%')?)
}

fn parse_number(word: &str) -> Option<f64> {
    let is_plain = word
        .bytes()
        .all(|byte| byte.is_ascii_digit() || byte == b'.');
    word.parse()
        .ok()
        .filter(|number| is_plain && (0.0..=100.0).contains(number))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(output: &str, expected: Option<f64>) {
        assert_eq!(
            parse_coverage(&[OutputText::new(output.as_bytes(), &[])]),
            expected,
            "{output}"
        );
    }

    #[test]
    fn the_tables_of_the_tools_are_read() {
        check(
            "Name     Stmts   Miss  Cover\n------\napp.py     10      1    90%\n-----\nTOTAL      10      1    90%\n\n1 passed\n",
            Some(90.0),
        );
        check("TOTAL    10   1   4   1   85.71%\n", Some(85.71));
        check(
            "TOTAL   50  5  90.00%   10  2  80.00%   40  10  75.00%   0  0  -\n",
            Some(75.0),
        );
        check(
            "File      | % Stmts | % Branch |\nAll files |   90.5 |  80 | 85 | 91 |\n",
            Some(90.5),
        );
        check(
            "\u{1b}[33mAll files\u{1b}[0m          |\u{1b}[33m      90 \u{1b}[0m|  80 |\n",
            Some(90.0),
        );
        check("# all files   |  66.67 | 50.00 | 100.00 |\n", Some(66.67));
        check(
            "app.go:3:\tAdd\t100.0%\ntotal:\t(statements)\t88.9%\n",
            Some(88.9),
        );
        check("90.00% coverage, 9/10 lines covered\n", Some(90.0));
    }

    #[test]
    fn packages_of_go_have_a_mean() {
        check(
            "ok  \tx/a\t0.01s\tcoverage: 90.0% of statements\n",
            Some(90.0),
        );
        check(
            "ok x/a 1s coverage: 90.0% of statements\nok x/b 1s coverage: 70.0% of statements\n? x/c [no test files]\n",
            Some(80.0),
        );
        check(
            "{\"Action\":\"output\",\"Output\":\"coverage: 90.0% of statements\\n\"}\n",
            Some(90.0),
        );
        check("ok x 1s coverage: [no statements]\n", None);
    }

    #[test]
    fn the_last_one_counts_and_other_text_does_not() {
        check("TOTAL 1 1 50%\nTOTAL 1 1 60%\n", Some(60.0));
        for other in [
            "",
            "TOTALS 90%",
            "TOTAL",
            "TOTAL 900%",
            "TOTAL -5%",
            "All files | - |",
            "all: 90%",
            "coverage: 90%",
            "TOTAL NaN%",
        ] {
            check(other, None);
        }
    }
}
