//! A suite's verdict for embedding: a small page for an `iframe`, and a card as a picture.

use askama::Template;

use crate::domain::beginning;
use crate::views::{OverviewSuite, SiteContext, SuiteState};

use super::plan::{Plan, SuitePlace};
use super::shell::{Here, Shell, Text};
use super::{SiteFile, leading, state};

/// Maximum number of sentences of the verdict.
const SENTENCES: usize = 2;
/// Maximum letters on a line of the card, and maximum lines.
const LETTERS: usize = 62;
const LINES: usize = 5;
/// Distance of the card's first line from the top. [`LINE`] is the distance between lines.
const FIRST_LINE: usize = 70;
/// Maximum letters of the suite's name and of the site's name on the card.
const LONGEST_NAME: usize = 44;
const LONGEST_SITE: usize = 16;
const LINE: usize = 20;

#[derive(Template)]
#[template(path = "embed.html")]
struct EmbedPage {
    shell: Shell,
    verdict: Verdict,
    href: String,
}

#[derive(Template)]
#[template(path = "card.svg")]
struct Card {
    verdict: Verdict,
    name: Text,
    site: Text,
    colour: &'static str,
    height: usize,
    /// Lines with their distance from the top.
    lines: Vec<(usize, Text)>,
}

#[derive(Clone)]
struct Verdict {
    label: Text,
    word: &'static str,
    class: &'static str,
    shape: &'static str,
    said: Text,
}

/// Returns the path of a suite's page for an `iframe`.
pub(super) fn path(place: &SuitePlace) -> String {
    format!("embed/{}.html", place.segment)
}

pub(super) fn files(
    context: &SiteContext,
    plan: &Plan,
    suite: &OverviewSuite,
    place: &SuitePlace,
) -> [SiteFile; 2] {
    let of = SuiteState::of(suite);
    let (_, sentences) = leading::verdict(suite);
    let said = sentences
        .iter()
        .take(SENTENCES)
        .map(String::as_str)
        .collect::<Vec<&str>>()
        .join(" ");
    let verdict = Verdict {
        label: Text::new(&place.label),
        word: state::word(of),
        class: state::class(of),
        shape: state::shape(of),
        said: Text::new(&said),
    };
    let lines: Vec<Text> = wrapped(&verdict.said.to_string())
        .into_iter()
        .map(Text::from)
        .collect();
    let card = Card {
        name: Text::from(beginning(&place.label, LONGEST_NAME)),
        site: Text::from(beginning(&context.title, LONGEST_SITE)),
        colour: state::colour(of),
        height: FIRST_LINE + LINE * lines.len(),
        lines: (FIRST_LINE..).step_by(LINE).zip(lines).collect(),
        verdict: verdict.clone(),
    };
    let path = path(place);
    let title = format!("{} · verdict · {}", place.label, context.title);
    let shell = Shell::new(
        context,
        &plan.assets,
        &path,
        Here::Below,
        title,
        "The verdict on one suite.",
    );
    let page = EmbedPage {
        href: format!("{}{}", shell.root, place.path()),
        shell,
        verdict,
    };
    [
        SiteFile::page(format!("embed/{}.svg", place.segment), &card),
        SiteFile::page(path, &page),
    ]
}

/// Breaks a text into lines, between words if possible.
fn wrapped(text: &str) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let mut letters: Vec<char> = word.chars().collect();
        loop {
            let line = lines.last_mut().expect("it begins with one");
            let used = line.chars().count();
            let gap = usize::from(used > 0);
            if used + gap + letters.len() <= LETTERS {
                line.push_str(&" ".repeat(gap));
                line.extend(&letters);
                break;
            }
            if used > 0 {
                lines.push(String::new());
            } else {
                line.extend(letters.drain(..LETTERS));
            }
        }
    }
    if lines.len() > LINES {
        lines.truncate(LINES);
        lines[LINES - 1].push_str(" …");
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_break_between_words_and_within_long_ones() {
        assert_eq!(wrapped("one two"), ["one two"]);
        let long = "x".repeat(LETTERS + 3);
        assert_eq!(
            wrapped(&format!("a {long} b")),
            ["a".to_owned(), "x".repeat(LETTERS), "xxx b".to_owned()]
        );
        let many = wrapped(&"word ".repeat(200));
        assert!(
            many.len() == LINES && many[LINES - 1].ends_with('…'),
            "{many:?}"
        );
    }
}
