//! What every page of a site must hold, in real browsers: on a large store whose every text is hostile, and on the shipped results.

pub mod axe;
mod fixture;
mod hands;
mod twins;
mod walk;
mod web;

pub use fixture::HOSTILE;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::json;

use crate::browser::{Browser, LIBERATION, NOTO};
use crate::firefox::Firefox;
use crate::kept;
use crate::support::Project;

/// Of each kind of page so many are looked at: the longest and the one whose name comes last.
const OF_A_KIND: usize = 2;
const MAX_NODES: u64 = 8_000;

/// Pages to look at, by kind.
type Kinds = BTreeMap<String, Vec<String>>;

/// The fixture with its site.
fn built() -> (Project, Kinds) {
    with_pages(kept::project("project", fixture::fill, &[]))
}

/// Both sites: their roots, and what to look at.
fn sites() -> [(PathBuf, Kinds); 2] {
    [built(), with_pages(kept::shipped())].map(|(project, kinds)| (root(&project), kinds))
}

fn with_pages(project: Project) -> (Project, Kinds) {
    let kinds = chosen_pages(&project);
    (project, kinds)
}

fn chosen_pages(project: &Project) -> Kinds {
    let mut kinds: BTreeMap<String, Vec<(u64, String)>> = BTreeMap::new();
    for path in project.files("site") {
        let page = path
            .strip_prefix("site/")
            .expect("below the site")
            .to_owned();
        if Path::new(&page)
            .extension()
            .is_some_and(|extension| extension == "html")
        {
            let bytes = fs::metadata(project.path(&path))
                .expect("just listed")
                .len();
            kinds.entry(kind(&page)).or_default().push((bytes, page));
        }
    }
    let chosen = kinds.into_iter().map(|(kind, mut pages)| {
        let last = pages
            .iter()
            .max_by(|left, right| left.1.cmp(&right.1))
            .map(|(_, page)| page.clone());
        pages.sort_unstable();
        let longest = pages.pop().map(|(_, page)| page);
        let chosen: BTreeSet<String> = last.into_iter().chain(longest).collect();
        (kind, chosen.into_iter().take(OF_A_KIND).collect())
    });
    chosen.collect()
}

/// The address without what is named by the data: pages of one template have one kind.
fn kind(page: &str) -> String {
    let parts: Vec<&str> = page.split('/').collect();
    let (file, folders) = parts.split_last().expect("a path has a part");
    let file = match folders {
        _ if file.contains("--") => "pair.html".to_owned(),
        // Named by the data: an arm, a suite, a part of the names.
        ["arms" | "embed" | "search"] if *file != "index.html" => "named.html".to_owned(),
        // In whatever order the items are listed.
        [.., "items"] if *file != "index.html" => "list.html".to_owned(),
        _ => file.replace(|character: char| character.is_ascii_digit(), ""),
    };
    let folders = folders
        .iter()
        .enumerate()
        .map(|(depth, folder)| if depth == 1 { "*" } else { folder });
    folders.chain([file.as_str()]).collect::<Vec<_>>().join("/")
}

fn root(project: &Project) -> PathBuf {
    project.path("site").canonicalize().expect("just built")
}

fn pages(sites: &[(PathBuf, Kinds)]) -> impl Iterator<Item = (&Path, &String)> {
    sites.iter().flat_map(|(root, kinds)| {
        kinds
            .values()
            .flatten()
            .map(move |page| (root.as_path(), page))
    })
}

fn file_url(root: &Path, page: &str) -> String {
    format!("file://{}/{page}", root.display())
}

/// What a page loaded that is not the site's own.
const ASKS_OTHERS: &str = "return performance.getEntriesByType('resource').map(entry => entry.name).filter(name => !name.startsWith(BASE))";

/// Tries to run a script as an injected text would.
const INJECT: &str = "for (const way of [
        () => { const one = document.createElement('script'); one.textContent = 'window.injected=1'; document.body.append(one); },
        () => { const one = document.createElement('div'); one.innerHTML = '<img src=x onerror=window.injected=1>'; document.body.append(one); },
        () => { const one = document.createElement('a'); one.setAttribute('onclick', 'window.injected=1'); document.body.append(one); one.click(); },
    ]) { try { way(); } catch (refused) { /* As it should be. */ } }
    return new Promise(done => setTimeout(() => done(typeof window.injected), 50));";

#[test]
fn every_kind_of_page_holds_in_chromium() {
    needs!("chromium", "chromedriver", "axe-core");
    holds_in_chromium(
        &Browser::start(),
        1280,
        &[axe::Rules::All, axe::Rules::ContrastInTheDark],
    );
}

#[test]
fn every_kind_of_page_holds_in_a_narrow_chromium() {
    needs!("chromium", "chromedriver", "axe-core", LIBERATION.name);
    holds_in_chromium(
        &Browser::start_in(LIBERATION),
        320,
        // Colours do not depend on the width.
        &[axe::Rules::All],
    );
}

/// How high the box of a link is, how wide its words are and where lines break is up to the font.
#[test]
fn every_kind_of_page_holds_in_a_narrow_chromium_with_a_tall_font() {
    needs!("chromium", "chromedriver", "axe-core", NOTO.name);
    holds_in_chromium(&Browser::start_in(NOTO), 320, &[axe::Rules::Size]);
}

fn holds_in_chromium(browser: &Browser, width: u32, rules: &[axe::Rules]) {
    let axe = axe::source().expect("the test needs it");
    let mut found = Vec::new();
    let sites = sites();
    for (root, page) in pages(&sites) {
        browser.resize(width, 900);
        browser.prefer_dark(false);
        browser.open(&root.join(page));
        let mut tell = |what: String| found.push(format!("{page} at {width} px: {what}"));
        browser.complaints().into_iter().for_each(&mut tell);
        let overflow = browser.evaluate(
            "return document.documentElement.scrollWidth - document.documentElement.clientWidth",
        );
        if overflow != 0 {
            tell(format!("{overflow} pixels too wide"));
        }
        let others =
            browser.evaluate(&ASKS_OTHERS.replace("BASE", &json!(file_url(root, "")).to_string()));
        if others != json!([]) {
            tell(format!("asks {others}"));
        }
        if browser.evaluate("return typeof window.pwned") != "undefined" {
            tell("a text of the data ran".to_owned());
        }
        let nodes = browser
            .evaluate("return document.querySelectorAll('*').length")
            .as_u64()
            .unwrap_or(u64::MAX);
        if nodes > MAX_NODES {
            tell(format!("{nodes} nodes"));
        }
        axe::load(browser, &axe);
        for rules in rules {
            // Style sheets alone know what is dark.
            browser.prefer_dark(*rules == axe::Rules::ContrastInTheDark);
            axe::violations(browser, *rules)
                .into_iter()
                .for_each(&mut tell);
        }
        if browser.evaluate(INJECT) != "undefined" {
            found.push(format!("{page}: an injected script ran"));
        }
        browser.complaints();
    }
    for (_, kinds) in &sites {
        assert!(kinds.len() >= 12, "{:?}", kinds.keys());
    }
    assert!(
        found.is_empty(),
        "{} findings:\n{}",
        found.len(),
        found.join("\n")
    );
}

#[test]
fn every_kind_of_page_holds_in_firefox() {
    needs!("firefox-esr", "python3");
    let mut browser = Firefox::start();
    let mut found = Vec::new();
    let sites = sites();
    let servers = sites
        .each_ref()
        .map(|(root, _)| web::Server::below(root, "x/y"));
    let served = sites
        .iter()
        .zip(&servers)
        .flat_map(|((root, kinds), server)| {
            kinds
                .values()
                .flatten()
                .flat_map(move |page| [file_url(root, ""), server.base()].map(|base| (base, page)))
        });
    for (base, page) in served {
        browser.open(&format!("{base}{page}"));
        let mut tell = |what: String| found.push(format!("{page} from {base}: {what}"));
        browser.complaints().into_iter().for_each(&mut tell);
        let others = browser.evaluate(&ASKS_OTHERS.replace("BASE", &json!(base).to_string()));
        if others != json!([]) {
            tell(format!("asks {others}"));
        }
        if browser.evaluate("return typeof window.pwned") != "undefined" {
            tell("a text of the data ran".to_owned());
        }
        if browser.evaluate(INJECT) != "undefined" {
            tell("an injected script ran".to_owned());
        }
        browser.complaints();
    }
    assert!(
        found.is_empty(),
        "{} findings:\n{}",
        found.len(),
        found.join("\n")
    );
}

/// Without scripts a page says all that it says with them, but for the tools that only they can offer.
#[test]
fn nothing_is_missing_without_scripts() {
    needs!("chromium", "chromedriver");
    let browser = Browser::start();
    let words = |allowed: bool, root: &Path, page: &str| {
        browser.allow_scripts(allowed);
        browser.open(&root.join(page));
        // The choice of a theme is the scripts' to show: if it is there, they ran. What others embed has no script.
        if !page.starts_with("embed/") {
            assert_eq!(
                browser.evaluate("return document.getElementById('theme').hidden"),
                !allowed,
                "{page}"
            );
        }
        let main = browser.evaluate(
            "const main = document.querySelector('main').cloneNode(true);
            main.querySelectorAll('.tools, [data-script]').forEach(one => one.remove());
            main.querySelectorAll('details').forEach(one => { one.open = true; });
            // Which columns stand back is a choice.
            main.querySelectorAll('th[hidden], td[hidden]').forEach(one => { one.hidden = false; });
            document.body.replaceChildren(main);
            return main.innerText.replace(/\\s+/g, ' ').trim();",
        );
        main.as_str().expect("a text").to_owned()
    };
    for (root, page) in pages(&sites()) {
        let (with, without) = (words(true, root, page), words(false, root, page));
        assert!(!without.is_empty(), "{page} is empty");
        // Any pair is compared by the script alone; the page says where all pairs stand without it.
        if page.ends_with("/any.html") {
            assert!(
                without.contains("All pairs without JavaScript"),
                "{page}: {without}"
            );
        } else {
            assert_eq!(with, without, "{page}");
        }
    }
}
