//! Overview, suites and comparisons as one self-contained file.
//!
//! The file is assembled from the site's pages. Each becomes a section, links among them become links within the file, and links to other
//! pages – runs, items – become plain text. Its content security policy names the digests of its only stylesheet and its only script.

use std::collections::BTreeMap;

use askama::Template;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};

use crate::domain::Redacted;
use crate::views::Overview;

use super::routes::SiteRoutes;
use super::shell::Text;
use super::site_file::{ANY_PAIR_FILE, PAGE_EXTENSION, SiteFile};
use super::{assets, site_files};

#[derive(Template)]
#[template(path = "single.html")]
struct SingleFilePage {
    title: Text,
    description: Text,
    noindex: bool,
    version: Text,
    style_digest: String,
    script_digest: String,
    style: &'static str,
    pages: &'static str,
    script: &'static str,
}

/// The heading of an overview without runs.
const NO_RUNS_HEADING: &str = "<h1>No results yet</h1>";
/// Placeholders between the parts of the frame. No text contains them, because control characters are made visible.
const STYLE_PLACEHOLDER: &str = "\u{1}style";
const PAGES_PLACEHOLDER: &str = "\u{1}pages";
const SCRIPT_PLACEHOLDER: &str = "\u{1}script";

/// Makes the file. `results` is the element that holds the results, or empty.
pub fn single_file(overview: &Redacted<Overview>, plan: &SiteRoutes, results: &str) -> Vec<u8> {
    // The search loads its index from separate files, and the page for any two arms their outcomes.
    let is_loading = |path: &str| path.starts_with("search") || path.ends_with(ANY_PAIR_FILE);
    let is_left_out = |path: &str| {
        path.starts_with("runs/")
            || path.starts_with("embed/")
            || is_loading(path)
            || super::items::is_item_page(path)
    };
    let is_in = |file: &SiteFile| file.path.ends_with(PAGE_EXTENSION) && !is_left_out(&file.path);
    let pages: Vec<SiteFile> = site_files(overview, plan).filter(is_in).collect();
    let numbers: BTreeMap<&str, usize> = pages
        .iter()
        .map(|page| page.path.as_str())
        .zip(1..)
        .collect();
    let sections: String = (1..)
        .zip(&pages)
        .map(|(number, page)| page_section(page, number, &numbers))
        .collect();
    let [style, script] = assets::single_file_texts();
    let context = &overview.context;
    let frame = SingleFilePage {
        title: Text::new(&context.title),
        description: Text::new(
            "Leaderboards and comparisons of AI agent evaluations, with intervals and costs.",
        ),
        noindex: context.noindex,
        version: Text::new(&context.version),
        style_digest: policy_digest(&style),
        script_digest: policy_digest(&script),
        style: STYLE_PLACEHOLDER,
        pages: PAGES_PLACEHOLDER,
        script: SCRIPT_PLACEHOLDER,
    };
    let frame = frame
        .render()
        .expect("a template of text writes into memory");
    let (head, rest) = frame
        .split_once(STYLE_PLACEHOLDER)
        .expect("the template has a place for the style");
    let (middle, rest) = rest
        .split_once(PAGES_PLACEHOLDER)
        .expect("the template has a place for the pages");
    let (tail, end) = rest
        .split_once(SCRIPT_PLACEHOLDER)
        .expect("the template has a place for the script");
    let (before, after) = end.split_once("</body>").expect("the template has a body");
    [
        head, &style, middle, &sections, tail, &script, before, results, "</body>", after,
    ]
    .concat()
    .into_bytes()
}

/// Returns whether bytes are a page of [`single_file`] that shows runs.
pub fn shows_runs(bytes: &[u8]) -> bool {
    let text = String::from_utf8_lossy(bytes);
    text.contains("<section id=\"p1\">") && !text.contains(NO_RUNS_HEADING)
}

/// Returns the SHA-256 in the form of a content security policy.
fn policy_digest(text: &str) -> String {
    STANDARD.encode(Sha256::digest(text.as_bytes()))
}

/// Returns the main part of a page, with unique ids and its headings one level lower.
fn page_section(page: &SiteFile, number: usize, numbers: &BTreeMap<&str, usize>) -> String {
    let html = String::from_utf8_lossy(&page.bytes);
    let main = html
        .split_once("<main id=\"main\">")
        .and_then(|(_, rest)| rest.split_once("</main>"))
        .map_or("", |(main, _)| main);
    // The links between a suite's pages are above the main part.
    let bar = html
        .split_once("<nav class=\"bar\"")
        .and_then(|(_, rest)| rest.split_once("</nav>"));
    let bar = bar.map_or_else(String::new, |(bar, _)| {
        format!("<nav class=\"bar\"{bar}</nav>")
    });
    let mut shown = format!("<section id=\"p{number}\">\n");
    let whole = format!("{bar}{main}");
    let mut rest = whole.as_str();
    // Text is escaped, so each `<` begins a tag, and attributes are quoted.
    while let Some(start) = rest.find('<') {
        shown.push_str(&rest[..start]);
        let end = tag_end(&rest[start..]).map_or(rest.len(), |length| start + length);
        shown.push_str(&rewrite_tag(&rest[start..end], &page.path, number, numbers));
        rest = &rest[end..];
    }
    shown.push_str(rest);
    shown.push_str("<p class=\"small\"><a href=\"#p1\">Back to the overview</a></p>\n</section>\n");
    shown
}

/// Returns the length of a tag: up to the first `>` outside of quotes.
fn tag_end(text: &str) -> Option<usize> {
    let mut is_quoted = false;
    for (place, letter) in text.char_indices() {
        match letter {
            '"' => is_quoted = !is_quoted,
            '>' if !is_quoted => return Some(place + 1),
            _ => {}
        }
    }
    None
}

fn rewrite_tag(tag: &str, path: &str, number: usize, numbers: &BTreeMap<&str, usize>) -> String {
    for (from, to) in [("h3", "h4"), ("h2", "h3"), ("h1", "h2")] {
        for (from, to) in [
            (format!("<{from}"), format!("<{to}")),
            (format!("</{from}"), format!("</{to}")),
        ] {
            if let Some(rest) = tag
                .strip_prefix(&from)
                .filter(|rest| rest.starts_with([' ', '>']))
            {
                return rewrite_attributes(&format!("{to}{rest}"), path, number, numbers);
            }
        }
    }
    rewrite_attributes(tag, path, number, numbers)
}

/// Rewrites the attributes that contain an address or id. Every second part between `"` is a quoted value.
fn rewrite_attributes(
    tag: &str,
    path: &str,
    number: usize,
    numbers: &BTreeMap<&str, usize>,
) -> String {
    let mut shown = String::with_capacity(tag.len());
    let mut parts = tag.split('"').peekable();
    while let Some(before) = parts.next() {
        let Some(value) = parts.next() else {
            shown.push_str(before);
            break;
        };
        let name = before
            .trim_end_matches('=')
            .rsplit(' ')
            .next()
            .unwrap_or_default();
        let prefixed = || {
            value
                .split(' ')
                .map(|id| format!("p{number}-{id}"))
                .collect::<Vec<String>>()
                .join(" ")
        };
        let value = match name {
            "id" | "for" | "headers" | "aria-labelledby" | "aria-describedby" | "aria-controls" => {
                Some(prefixed())
            }
            "href" | "data-any" => rewrite_address(value, path, number, numbers),
            _ => Some(value.replace("url(#", &format!("url(#p{number}-"))),
        };
        match value {
            Some(value) => shown.push_str(&format!("{before}\"{value}\"")),
            // If the target is not in the file, drop the attribute and keep the text.
            None => shown.push_str(
                before
                    .trim_end_matches(format!("{name}=").as_str())
                    .trim_end(),
            ),
        }
    }
    shown
}

/// Returns the link's target within the file, or `None` if the file lacks that page.
fn rewrite_address(
    href: &str,
    path: &str,
    number: usize,
    numbers: &BTreeMap<&str, usize>,
) -> Option<String> {
    if href.starts_with("https://") || href.starts_with("http://") {
        return Some(href.to_owned());
    }
    if let Some(id) = href.strip_prefix('#') {
        return Some(format!("#p{number}-{id}"));
    }
    let (target, id) = href
        .split_once('#')
        .map_or((href, None), |(target, id)| (target, Some(id)));
    let mut folders: Vec<&str> = path.split('/').collect();
    folders.pop();
    for part in target.split('/') {
        match part {
            ".." => drop(folders.pop()),
            part => folders.push(part),
        }
    }
    let number = numbers.get(folders.join("/").as_str())?;
    Some(id.map_or_else(|| format!("#p{number}"), |id| format!("#p{number}-{id}")))
}

/// Says whether a text could end the style or the script early.
#[cfg(test)]
fn ends_early(text: &str) -> bool {
    text.contains("</") || text.contains("<!--")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digests_are_in_base64() {
        assert_eq!(
            policy_digest(""),
            "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="
        );
        assert!(
            assets::single_file_texts()
                .iter()
                .all(|text| !ends_early(text))
        );
    }

    #[test]
    fn ids_and_links_stay_within_the_file() {
        let numbers = BTreeMap::from([("index.html", 1), ("suites/s/index.html", 2)]);
        let check = |given: &str, expected: &str| {
            assert_eq!(
                rewrite_tag(given, "suites/s/index.html", 2, &numbers),
                expected
            );
        };
        check("<h1 id=\"a\">", "<h2 id=\"p2-a\">");
        check("</h2>", "</h3>");
        check("<hr>", "<hr>");
        check(
            "<a class=\"x\" href=\"../../index.html\">",
            "<a class=\"x\" href=\"#p1\">",
        );
        check(
            "<a href=\"../../index.html#suite-1\">",
            "<a href=\"#p1-suite-1\">",
        );
        check("<a href=\"#a\">", "<a href=\"#p2-a\">");
        check(
            "<a href=\"../../runs/r/index.html\" class=\"x\">",
            "<a class=\"x\">",
        );
        check(
            "<a href=\"https://e.org/?a\" rel=\"nofollow\">",
            "<a href=\"https://e.org/?a\" rel=\"nofollow\">",
        );
        check(
            "<div aria-labelledby=\"a b\">",
            "<div aria-labelledby=\"p2-a p2-b\">",
        );
        assert_eq!(tag_end("<a title=\"1 > 0\">x"), Some(17));
    }
}
