//! A suite's verdict for embedding: a small page for an `iframe`, and a card as a picture.

use askama::Template;

use crate::domain::shorten_to;
use crate::views::{OverviewSuite, SiteContext, SuiteState};

use super::routes::{SiteRoutes, SuiteRoutes};
use super::shell::{NavigationEntry, PageShell, Text};
use super::{SiteFile, state, top_pair};

/// Maximum number of sentences of the verdict.
const MAX_SENTENCES: usize = 2;
/// Maximum letters on a line of the card, and maximum lines.
const MAX_LINE_LETTERS: usize = 62;
const MAX_LINES: usize = 5;
/// Distance of the card's first line from the top. [`LINE_HEIGHT`] is the distance between lines.
const FIRST_LINE_Y: usize = 70;
/// Maximum letters of the suite's name and of the site's name on the card.
const MAX_NAME: usize = 44;
const MAX_SITE: usize = 16;
const LINE_HEIGHT: usize = 20;

#[derive(Template)]
#[template(path = "embed.html")]
struct EmbedPage {
    shell: PageShell,
    verdict: EmbeddedVerdict,
    href: String,
}

#[derive(Template)]
#[template(path = "card.svg")]
struct VerdictCard {
    verdict: EmbeddedVerdict,
    name: Text,
    site: Text,
    colour: &'static str,
    height: usize,
    /// Lines with their distance from the top.
    lines: Vec<(usize, Text)>,
}

#[derive(Clone)]
struct EmbeddedVerdict {
    label: Text,
    word: &'static str,
    class: &'static str,
    shape: &'static str,
    said: Text,
}

/// Returns the path of a suite's page for an `iframe`.
pub(super) fn page_path(place: &SuiteRoutes) -> String {
    format!("embed/{}.html", place.segment)
}

pub(super) fn render_files(
    context: &SiteContext,
    plan: &SiteRoutes,
    suite: &OverviewSuite,
    place: &SuiteRoutes,
) -> [SiteFile; 2] {
    let of = SuiteState::from_suite(suite);
    let (_, sentences) = top_pair::describe_verdict(suite);
    let said = sentences
        .iter()
        .take(MAX_SENTENCES)
        .map(String::as_str)
        .collect::<Vec<&str>>()
        .join(" ");
    let verdict = EmbeddedVerdict {
        label: Text::new(&place.label),
        word: state::display_word(of),
        class: state::css_class(of),
        shape: state::svg_shape(of),
        said: Text::new(&said),
    };
    let lines: Vec<Text> = wrap_text(&verdict.said.to_string())
        .into_iter()
        .map(Text::from)
        .collect();
    let card = VerdictCard {
        name: Text::from(shorten_to(&place.label, MAX_NAME)),
        site: Text::from(shorten_to(&context.title, MAX_SITE)),
        colour: state::hex_colour(of),
        height: FIRST_LINE_Y + LINE_HEIGHT * lines.len(),
        lines: (FIRST_LINE_Y..).step_by(LINE_HEIGHT).zip(lines).collect(),
        verdict: verdict.clone(),
    };
    let path = page_path(place);
    let title = format!("{} · verdict · {}", place.label, context.title);
    let shell = PageShell::new(
        context,
        &plan.assets,
        &path,
        NavigationEntry::Below,
        title,
        "The verdict on one suite.",
    );
    let page = EmbedPage {
        href: format!("{}{}", shell.root, place.path()),
        shell,
        verdict,
    };
    [
        SiteFile::from_template(format!("embed/{}.svg", place.segment), &card),
        SiteFile::from_template(path, &page),
    ]
}

/// Breaks a text into lines, between words if possible.
fn wrap_text(text: &str) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let mut letters: Vec<char> = word.chars().collect();
        loop {
            let line = lines.last_mut().expect("it begins with one");
            let used = line.chars().count();
            let gap = usize::from(used > 0);
            if used + gap + letters.len() <= MAX_LINE_LETTERS {
                line.push_str(&" ".repeat(gap));
                line.extend(&letters);
                break;
            }
            if used > 0 {
                lines.push(String::new());
            } else {
                line.extend(letters.drain(..MAX_LINE_LETTERS));
            }
        }
    }
    if lines.len() > MAX_LINES {
        lines.truncate(MAX_LINES);
        lines[MAX_LINES - 1].push_str(" …");
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_break_between_words_and_within_long_ones() {
        assert_eq!(wrap_text("one two"), ["one two"]);
        let long = "x".repeat(MAX_LINE_LETTERS + 3);
        assert_eq!(
            wrap_text(&format!("a {long} b")),
            [
                "a".to_owned(),
                "x".repeat(MAX_LINE_LETTERS),
                "xxx b".to_owned()
            ]
        );
        let many = wrap_text(&"word ".repeat(200));
        assert!(
            many.len() == MAX_LINES && many[MAX_LINES - 1].ends_with('…'),
            "{many:?}"
        );
    }
}
