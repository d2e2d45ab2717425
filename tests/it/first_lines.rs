//! What a reader sees first of a comparison, by the number of arms and the width of the terminal.

use unicode_width::UnicodeWidthStr;

use crate::support::Project;

/// Lines that a reader sees without moving.
const FIRST: usize = 10;
const WIDTHS: [&str; 4] = ["80", "100", "120", "200"];

/// A table of answers of so many arms to 60 questions in three topics. Later arms are worse.
fn answers(arms: usize) -> String {
    let mut text = "question,topic,model,passed,cost_usd\n".to_owned();
    for arm in 0..arms {
        for question in 0..60 {
            let hardness = (question * 37 + arm * 11) % 60;
            let passed = hardness < 54_usize.saturating_sub(arm * 40 / arms.max(3));
            text.push_str(&format!(
                "q{question},{},vendor/model-{arm}-instruct-2026,{},0.0{}\n",
                ["algebra", "history", "law"][question % 3],
                u8::from(passed),
                9 - arm % 8
            ));
        }
    }
    text
}

fn first_lines(arms: usize) -> String {
    let project = Project::new();
    project.file("answers.csv", answers(arms));
    let mut seen = Vec::new();
    for width in WIDTHS {
        let output = project.run_in(["compare", "answers.csv"], &[("COLUMNS", width)]);
        assert_eq!(output.code, 0, "{}", output.stderr);
        let most: usize = width.parse().expect("a number");
        for line in output.stdout.lines() {
            assert!(line.width() <= most, "{width}: {line}");
        }
        // No name breaks but at its hyphens, and no figure breaks at all.
        for arm in 0..arms {
            assert!(
                output.stdout.contains(&format!("{arm}-instruct-2026"))
                    || output.stdout.contains(&format!("model-{arm}-")),
                "{width}: model {arm} is not whole in\n{}",
                output.stdout
            );
        }
        for line in output.stdout.lines().filter(|line| line.starts_with('│')) {
            assert_eq!(
                line.matches('[').count(),
                line.matches(']').count(),
                "{width}: an interval breaks: {line}"
            );
        }
        let lines: Vec<&str> = output.stdout.lines().take(FIRST).collect();
        seen.push(format!("{width} columns\n{}", lines.join("\n")));
    }
    seen.join("\n\n")
}

#[test]
fn the_first_lines_of_any_number_of_arms() {
    for arms in [1, 2, 3, 8, 60] {
        insta::assert_snapshot!(format!("first_lines_of_{arms}"), first_lines(arms));
    }
}
