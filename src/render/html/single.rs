//! Overview, suites and comparisons as one self-contained file.
//!
//! The file is assembled from the site's pages. Each becomes a section, links among them become links within the file, and links to other
//! pages – runs, items – become plain text. Its content security policy names the digests of its only stylesheet and its only script.

use std::collections::{BTreeMap, BTreeSet};

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
    // A file for a mail: the answers. Arms, items, runs and further pairs are in the whole site.
    let top_pairs: BTreeSet<String> = overview
        .suites
        .iter()
        .zip(&plan.suites)
        .filter_map(|(suite, place)| place.pair_path(suite.top.as_ref()?))
        .collect();
    let is_left_out = |path: &str| {
        ["runs/", "arms/", "embed/"]
            .iter()
            .any(|folder| path.starts_with(folder))
            || (path.starts_with("compare/") && !top_pairs.contains(path))
            || is_loading(path)
            || super::items::is_item_page(path)
    };
    let is_in = |file: &SiteFile| file.path.ends_with(PAGE_EXTENSION) && !is_left_out(&file.path);
    let mut turns: [Vec<SiteFile>; TURNS] = Default::default();
    for page in site_files(overview, plan).filter(is_in) {
        turns[reading_turn(&page.path)].push(page);
    }
    let pages = turns.concat();
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
        title: Text::from(super::overview::headline(overview, plan)),
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

/// Returns when a page is read: the overview and the answer over all suites first, then the suites with their pairs, and explanations last.
fn reading_turn(path: &str) -> usize {
    match path {
        FIRST_PAGE => 0,
        "overall.html" => 1,
        _ if path.starts_with("suites/") || path.starts_with("compare/") => 2,
        "method.html" | "glossary.html" => 4,
        _ => 3,
    }
}

/// Number of turns of [`reading_turn`].
const TURNS: usize = 5;

/// The page that opens the file. Its heading is that of the file.
const FIRST_PAGE: &str = "index.html";

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
    // What a link becomes whose page is not in the file. Links are not nested.
    let mut instead: Option<&str> = None;
    let mut is_drawing = false;
    // Text is escaped, so each `<` begins a tag, and attributes are quoted.
    while let Some(start) = rest.find('<') {
        shown.push_str(&rest[..start]);
        let end = tag_end(&rest[start..]).map_or(rest.len(), |length| start + length);
        let tag = &rest[start..end];
        rest = &rest[end..];
        is_drawing = match tag {
            "</svg>" => false,
            _ => is_drawing || tag.starts_with("<svg"),
        };
        let rewritten = rewrite_tag(tag, &page.path, number, numbers);
        if tag.starts_with("<a ") && !rewritten.contains(" href=\"") {
            let name = if is_drawing { "g" } else { "span" };
            instead = Some(name);
            shown.push_str(&text_tag(&rewritten, name));
        } else if let ("</a>", Some(name)) = (tag, instead) {
            shown.push_str(&format!("</{name}>"));
            instead = None;
        } else {
            shown.push_str(&rewritten);
        }
    }
    shown.push_str(rest);
    if number > 1 {
        shown.push_str("<p class=\"small\"><a href=\"#p1\">Back to the overview</a></p>\n");
    }
    shown.push_str("</section>\n");
    shown
}

/// Returns the tag of text that stands for a link: of its attributes only those that text can have.
fn text_tag(link: &str, name: &str) -> String {
    let mut shown = format!("<{name}");
    let mut parts = link.split('"');
    while let (Some(before), Some(value)) = (parts.next(), parts.next()) {
        let attribute = before
            .trim_end_matches('=')
            .rsplit(' ')
            .next()
            .unwrap_or_default();
        if ["class", "id", "title"].contains(&attribute) {
            shown.push_str(&format!(" {attribute}=\"{value}\""));
        }
    }
    shown.push('>');
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
    // The overview's heading is that of the file.
    let lowered: &[(&str, &str)] = if path == FIRST_PAGE {
        &[]
    } else {
        &[("h3", "h4"), ("h2", "h3"), ("h1", "h2")]
    };
    for (from, to) in lowered {
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
    fn links_to_pages_outside_the_file_become_text() {
        let numbers = BTreeMap::from([("index.html", 1)]);
        let page = SiteFile {
            path: "index.html".to_owned(),
            bytes: b"<main id=\"main\"><h1>A wins</h1><a href=\"runs/r/index.html\" class=\"x\" rel=\"next\">r</a> \
                <a href=\"index.html\">up</a><svg><a href=\"arms/a.html\"><circle></circle></a></svg></main>"
                .to_vec(),
        };
        assert_eq!(
            page_section(&page, 1, &numbers),
            "<section id=\"p1\">\n<h1>A wins</h1><span class=\"x\">r</span> <a href=\"#p1\">up</a>\
             <svg><g><circle></circle></g></svg></section>\n"
        );
        assert!(reading_turn("index.html") < reading_turn("suites/a/index.html"));
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
