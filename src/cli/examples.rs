//! Two examples for the help of each command. A test runs them all.

/// A command line, and what it does.
type Example = (&'static str, &'static str);

#[rustfmt::skip]
const EXAMPLES: [(&str, [Example; 2]); 25] = [
    ("init", [
        ("evalreport init my-evals", "a project that works at once, in a new folder"),
        ("evalreport init nightly && cd nightly && evalreport list", "the same, and a look at it"),
    ]),
    ("run", [
        ("evalreport run hello --approach complete,sketch --runs 3", "two approaches, three runs each"),
        ("evalreport run warmup --agent random-choice,longest-choice --until decided --max-runs 20", "until there is a winner"),
    ]),
    ("eval", [
        ("evalreport eval questions/warmup.yaml --agent longest-choice", "one file of questions"),
        ("evalreport eval questions/warmup.yaml --fail-under 10", "exit code 1 below 10%"),
    ]),
    ("verify", [
        ("evalreport verify --goal 'Greet several people' --dry-run", "which checks fit this goal"),
        ("evalreport verify checkout --goal 'Greet several people' --profile fast", "run the fast ones in a checkout"),
    ]),
    ("list", [
        ("evalreport list", "suites, agents and approaches"),
        ("evalreport list --runs --suite hello", "the runs of a suite, with their ids"),
    ]),
    ("show", [
        ("evalreport show last", "the newest run"),
        ("evalreport show --suite hello --approach sketch --items failed", "the failures of an approach"),
    ]),
    ("judge", [
        ("evalreport judge --suite hello --judge longest-choice --dry-run", "which runs would be judged"),
        ("evalreport judge last --judge longest-choice --votes 3", "the newest run again, by three votes"),
    ]),
    ("compare", [
        ("evalreport compare hello --explain", "the arms of a suite, with intervals and methods"),
        ("evalreport compare last", "the arms of the newest batch"),
    ]),
    ("leaderboard", [
        ("evalreport leaderboard", "a board for each suite"),
        ("evalreport leaderboard answers.csv", "a board of a table, without importing it"),
    ]),
    ("audit", [
        ("evalreport audit hello", "how much of a suite's order is established"),
        ("evalreport audit --claims leaderboard.csv --fail-on impossible", "whether a table of published figures can be true"),
    ]),
    ("noise", [
        ("evalreport noise hello", "the sources of a suite's noise, and items that do not help"),
        ("evalreport noise --format json", "all suites, for a program"),
    ]),
    ("fit", [
        ("evalreport fit abilities --matrix scores.csv", "arms that were asked different items, on one scale"),
        ("evalreport fit preferences votes.csv", "a board of votes on pairs of models"),
    ]),
    ("history", [
        ("evalreport history hello", "trends and flaky items of a suite"),
        ("evalreport history --nights 7 --format json", "the newest seven days, for a program"),
    ]),
    ("gate", [
        ("evalreport gate hello --baseline last:7 --max-drop 5pp", "the newest batch against the seven before"),
        ("evalreport gate --baseline main.bundle --no-new-failures --junit gate.xml", "against a bundle, for CI"),
    ]),
    ("build", [
        ("evalreport build", "the site, into site/index.html"),
        ("evalreport build --single-file report.html --redact", "one file to mail, without keys and names"),
    ]),
    ("serve", [
        ("evalreport serve --port 0", "the site on any free port"),
        ("evalreport serve logs --out site", "with other tools' results, into a folder"),
    ]),
    ("import", [
        ("evalreport import logs", "every result file in a folder"),
        ("evalreport import answers.csv --yes", "a table, as its columns are understood"),
    ]),
    ("record", [
        ("echo '{\"end\": {}}' | evalreport record --suite quiz --approach mine", "a run of your own harness, here without outcomes"),
        ("evalreport record --suite quiz --approach mine --model opus < outcomes.jsonl", "a line for each outcome"),
    ]),
    ("retract", [
        ("evalreport retract --suite hello --reason 'the tests were wrong'", "hide runs; nothing is deleted"),
        ("evalreport retract --suite hello --undo", "show them again"),
    ]),
    ("sql", [
        ("evalreport sql 'SELECT suite, approach, pass_rate FROM arms'", "the board as a table"),
        ("evalreport sql 'SELECT item, count(*) FROM items GROUP BY item' --format csv", "how many outcomes each item has"),
    ]),
    ("export", [
        ("evalreport export bundle main.bundle", "every record, for import or as a baseline"),
        ("evalreport export parquet tables", "tables for pandas, polars or DuckDB"),
    ]),
    ("doctor", [
        ("evalreport doctor --verify", "damage, and later edits"),
        ("evalreport doctor --system", "how far runs are isolated here"),
    ]),
    ("cache", [
        ("evalreport cache", "its parts, with size and last use"),
        ("evalreport cache clear --older-than 720h", "delete parts that nobody used for 30 days"),
    ]),
    ("completions", [
        ("evalreport completions bash > evalreport.bash", "for `source evalreport.bash`"),
        ("evalreport completions man > evalreport.1", "for `man ./evalreport.1`"),
    ]),
    ("help", [
        ("evalreport help suites", "a page of the documentation"),
        ("evalreport help gate", "the options of a command"),
    ]),
];

/// Adds the examples to the help of each command.
pub(super) fn add_examples(command: clap::Command) -> clap::Command {
    EXAMPLES.iter().fold(command, |command, (name, examples)| {
        command.mut_subcommand(*name, |command| {
            let mut text = String::from("Examples:\n");
            for (line, purpose) in examples {
                text.push_str(&format!("  # {purpose}\n  {line}\n"));
            }
            if let Some(after) = command.get_after_help() {
                text.push_str(&format!("\n{after}"));
            }
            command.after_help(text)
        })
    })
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;
    use crate::cli::arguments::Arguments;

    #[test]
    fn every_command_has_examples_that_parse() {
        let command = Arguments::command();
        let named: Vec<&str> = command
            .get_subcommands()
            .filter(|command| !command.is_hide_set())
            .map(clap::Command::get_name)
            .collect();
        assert_eq!(named, EXAMPLES.map(|(name, _)| name));
        assert!(EXAMPLES.iter().all(|(name, examples)| {
            examples
                .iter()
                .all(|(line, _)| line.contains(&format!("evalreport {name}")))
        }));
        add_examples(command).debug_assert();
    }
}
