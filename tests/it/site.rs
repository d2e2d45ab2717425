//! The site: complete, closed, the same twice, and right in a real browser.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use crate::browser::Browser;
use crate::kept;
use crate::programs::Start as _;
use crate::support::{Project, result};

const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; \
     require-trusted-types-for 'script'; trusted-types evshard";

/// Builds a site from a store into a folder.
fn build(results: &Path, out: &Path, more: &[&str], environment: &[(&str, &str)]) {
    let cache = tempfile::tempdir().expect("a temporary folder");
    let output = Command::new(env!("CARGO_BIN_EXE_evalreport"))
        .args(["build", "--results"])
        .arg(results)
        .arg("--out")
        .arg(out)
        .arg("--cache")
        .arg(cache.path())
        .args(more)
        .current_dir(cache.path())
        .envs(environment.iter().copied())
        .finish();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

fn shipped_results() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("results")
}

/// Every file of a folder by its relative path.
fn files(root: &Path) -> BTreeMap<String, Vec<u8>> {
    walkdir::WalkDir::new(root)
        .into_iter()
        .map(|entry| entry.expect("a readable folder"))
        .filter(|entry| entry.file_type().is_file())
        .map(|entry| {
            let path = entry
                .path()
                .strip_prefix(root)
                .expect("below the root")
                .to_string_lossy()
                .into_owned();
            (path, fs::read(entry.path()).expect("a readable file"))
        })
        .collect()
}

fn is_page(path: &str) -> bool {
    Path::new(path)
        .extension()
        .is_some_and(|extension| extension == "html")
}

fn pages(files: &BTreeMap<String, Vec<u8>>) -> impl Iterator<Item = (&str, &str)> {
    files
        .iter()
        .filter(|(path, _)| is_page(path))
        .map(|(path, bytes)| {
            (
                path.as_str(),
                std::str::from_utf8(bytes).expect("pages are UTF-8"),
            )
        })
}

/// Returns the values of an attribute in a page.
fn attributes<'a>(page: &'a str, name: &str) -> Vec<&'a str> {
    let start = format!(" {name}=\"");
    page.match_indices(&start)
        .map(|(place, found)| {
            page[place + found.len()..]
                .split('"')
                .next()
                .unwrap_or_default()
        })
        .collect()
}

#[test]
fn shipped_site_is_closed_and_whole() {
    let files = files(&kept::shipped().path("site"));
    let ids: BTreeMap<&str, BTreeSet<&str>> = pages(&files)
        .map(|(path, page)| (path, attributes(page, "id").into_iter().collect()))
        .collect();
    let mut titles = BTreeSet::new();
    let mut links = 0;
    for (path, page) in pages(&files) {
        assert!(
            page.len() <= 150 * 1024,
            "{path} is {} bytes long",
            page.len()
        );
        let charset = page
            .find("<meta charset=\"utf-8\">")
            .unwrap_or_else(|| panic!("{path} has no charset"));
        let policy = format!("<meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}\">");
        let place = page
            .find(&policy)
            .unwrap_or_else(|| panic!("{path} has not the policy"));
        assert!(
            page[charset + 22..place].trim().is_empty(),
            "{path}: the policy comes first after the charset"
        );
        assert_eq!(attributes(page, "style"), Vec::<&str>::new(), "{path}");
        for handler in [
            "onclick", "onload", "onerror", "onchange", "oninput", "onsubmit",
        ] {
            assert_eq!(attributes(page, handler), Vec::<&str>::new(), "{path}");
        }
        assert!(page.contains("<html lang=\"en\""), "{path}");
        assert_eq!(page.matches("<h1").count(), 1, "{path}");
        let title = page
            .split("<title>")
            .nth(1)
            .and_then(|rest| rest.split("</title>").next())
            .unwrap_or_default();
        assert!(
            !title.is_empty() && titles.insert(title),
            "{path}: title `{title}` is empty or there twice"
        );
        for source in attributes(page, "src") {
            assert!(!source.contains("//"), "{path} loads {source}");
        }
        for link in attributes(page, "href") {
            if link.starts_with("https://") || link.starts_with("http://") {
                let anchor = &page[..page.find(link).expect("just found")];
                let tag = &page[anchor.rfind('<').expect("an element")..];
                assert!(
                    tag.starts_with("<a ")
                        && tag[..tag.find('>').expect("an end")].contains("noopener"),
                    "{path}: {link}"
                );
                continue;
            }
            links += 1;
            let (target, fragment) = link
                .split_once('#')
                .map_or((link, None), |(target, fragment)| (target, Some(fragment)));
            // What a page is asked is no part of its name.
            let target = resolve(path, target.split('?').next().unwrap_or_default());
            assert!(
                files.contains_key(&target),
                "{path} links to {link}, which is {target}"
            );
            if let Some(fragment) = fragment.filter(|_| is_page(&target)) {
                assert!(
                    ids[target.as_str()].contains(fragment),
                    "{path} links to {link}: no such place"
                );
            }
        }
    }
    assert!(links > 500, "only {links} links were checked");
    for (path, bytes) in &files {
        assert!(
            !String::from_utf8_lossy(bytes).contains(env!("CARGO_MANIFEST_DIR")),
            "{path} tells where the repository is"
        );
    }
}

/// Resolves a relative link of a page.
fn resolve(page: &str, target: &str) -> String {
    if target.is_empty() {
        return page.to_owned();
    }
    let mut parts: Vec<&str> = page.split('/').collect();
    parts.pop();
    for part in target.split('/') {
        match part {
            ".." => assert!(
                parts.pop().is_some(),
                "{page} links out of the site: {target}"
            ),
            "." | "" => {}
            part => parts.push(part),
        }
    }
    parts.join("/")
}

#[test]
fn same_results_same_bytes() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let elsewhere = folder.path().join("copied/elsewhere");
    copy(&shipped_results(), &elsewhere);
    build(
        &shipped_results(),
        &folder.path().join("one"),
        &[],
        &[("TZ", "UTC"), ("LANG", "C")],
    );
    build(
        &elsewhere,
        &folder.path().join("two"),
        &[],
        &[
            ("TZ", "Asia/Tokyo"),
            ("LANG", "de_DE.UTF-8"),
            ("RAYON_NUM_THREADS", "1"),
        ],
    );
    let (one, two) = (
        files(&folder.path().join("one")),
        files(&folder.path().join("two")),
    );
    assert_eq!(
        one.keys().collect::<Vec<_>>(),
        two.keys().collect::<Vec<_>>()
    );
    for (path, bytes) in &one {
        assert!(two[path] == *bytes, "{path} differs");
    }
}

/// Whatever a build has to do; more suites only take longer.
const FEW: &[&str] = &[
    "--suite",
    "workflow",
    "--suite",
    "tasktracker",
    "--suite",
    "basics",
];

#[test]
fn a_rebuild_after_a_new_run_equals_a_clean_build() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let results = folder.path().join("results");
    copy(&shipped_results(), &results);
    build(&results, &folder.path().join("grown"), FEW, &[]);
    let run = r#"{"id":"new-run","suite":"workflow","approach":"third","model":"opus","shared_tests_passed":47,"shared_tests_total":48}"#;
    fs::write(results.join("new-run.json"), run).expect("a writable folder");
    build(&results, &folder.path().join("grown"), FEW, &[]);
    build(&results, &folder.path().join("clean"), FEW, &[]);
    let (grown, clean) = (
        files(&folder.path().join("grown")),
        files(&folder.path().join("clean")),
    );
    assert_eq!(
        grown.keys().collect::<Vec<_>>(),
        clean.keys().collect::<Vec<_>>()
    );
    for (path, bytes) in &clean {
        assert!(grown[path] == *bytes, "{path} differs");
    }
}

fn copy(from: &Path, to: &Path) {
    for (path, bytes) in files(from) {
        let place = to.join(path);
        fs::create_dir_all(place.parent().expect("below the root")).expect("a writable folder");
        fs::write(place, bytes).expect("a writable folder");
    }
}

/// Texts that have broken pages before.
const HOSTILE: [&str; 6] = [
    "</script><script>window.pwned=1</script>",
    "<!--<script>window.pwned=1",
    "<img src=x onerror=window.pwned=1>",
    "\\\"><svg onload=window.pwned=1>",
    "javascript:window.pwned=1 \\u202e evil \\u001b]8;;x {{7*7}} \\u2028",
    "../../x",
];

/// A store in which every text is hostile.
fn hostile_store(folder: &Path) {
    fs::create_dir_all(folder).expect("a writable folder");
    for (index, text) in HOSTILE.iter().enumerate() {
        let id = format!("run-{index}");
        let run = format!(
            r#"{{"id":"{id}","suite":"{text}","approach":"{text}","model":"m{index}","error":"{text}","tags":{{"{text}":"{text}"}},
            "shared_tests_passed":1,"shared_tests_total":2,"agent":"{text}","batch_id":"{text}",
            "provenance":{{"importer":"table","file":"{text}","sha256":"00","url":"javascript:window.pwned=1"}}}}"#
        );
        fs::write(folder.join(format!("{id}.json")), &run).expect("a writable folder");
        fs::write(
            folder.join(format!("b-{id}.json")),
            run.replace(&id, &format!("b-{id}"))
                .replace(&format!("m{index}"), "other"),
        )
        .expect("a writable folder");
        let item = format!(
            r#"{{"item":"{text}","kind":"question","evaluator":"{text}","attempt":1,"revision":0,"status":"pass","cluster":"{text}"}}"#
        );
        fs::create_dir_all(folder.join(&id)).expect("a writable folder");
        fs::write(folder.join(&id).join("items.jsonl"), item + "\n").expect("a writable folder");
    }
}

/// One page of each kind.
fn page_kinds(files: &BTreeMap<String, Vec<u8>>) -> Vec<&str> {
    let first = |prefix: &str, part: &str| {
        pages(files)
            .map(|(path, _)| path)
            .find(|path| path.starts_with(prefix) && path.contains(part))
    };
    let kinds = [
        first("index.html", ""),
        first("method.html", ""),
        first("cost.html", ""),
        first("glossary.html", ""),
        first("search.html", ""),
        first("search/", ""),
        first("suites/", "history"),
        first("suites/", "cost"),
        first("suites/", "leaderboard"),
        first("suites/", "runs"),
        first("compare/", "/index.html"),
        first("compare/", "/any.html"),
        first("arms/index", ""),
        pages(files)
            .map(|(path, _)| path)
            .find(|path| path.starts_with("arms/") && !path.starts_with("arms/index")),
        first("suites/", ""),
        first("compare/", ""),
        first("runs/index", ""),
        pages(files)
            .map(|(path, _)| path)
            .find(|path| path.starts_with("runs/") && path.ends_with("/index.html")),
        first("runs/", "items-"),
    ];
    kinds.into_iter().flatten().collect()
}

#[test]
fn pages_are_right_in_a_browser() {
    needs!("chromium", "chromedriver");
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (shipped, hostile) = (kept::shipped().path("site"), folder.path().join("hostile"));
    hostile_store(&folder.path().join("results"));
    build(&folder.path().join("results"), &hostile, &[], &[]);
    let browser = Browser::start();
    // Those of the shipped site are opened with all others, kind by kind.
    let files = files(&hostile);
    let kinds = page_kinds(&files);
    assert!(kinds.len() >= 6, "{kinds:?}");
    for page in kinds {
        for (width, dark) in [(1280, false), (320, true)] {
            browser.resize(width, 900);
            browser.prefer_dark(dark);
            browser.open(&hostile.join(page));
            let told = format!("{page} at {width} px");
            assert_eq!(browser.complaints(), Vec::<String>::new(), "{told}");
            let overflow = browser.evaluate("return document.documentElement.scrollWidth - document.documentElement.clientWidth");
            assert_eq!(overflow, 0, "{told} overflows by so many pixels");
            assert_eq!(
                browser.evaluate("return typeof window.pwned"),
                "undefined",
                "{told}"
            );
            let loaded = browser.evaluate(
                "return performance.getEntriesByType('resource').map(entry => entry.name).filter(name => !name.startsWith('file:'))",
            );
            assert_eq!(loaded, serde_json::json!([]), "{told} asks others");
        }
    }
    // The overview says the verdict, sorts by a button, and has its text without scripts as well.
    browser.resize(1280, 900);
    browser.open(&shipped.join("index.html"));
    let text = |browser: &Browser| {
        browser
            .evaluate("return document.querySelector('main').innerText")
            .to_string()
    };
    let with_scripts = text(&browser);
    assert!(
        with_scripts.contains("Measure 2 more runs per arm") && with_scripts.contains("+10.7 pp"),
        "{with_scripts}"
    );
    let sorted = browser.evaluate(
        "const button = document.querySelector('th button'); button.click(); return button.closest('th').getAttribute('aria-sort')",
    );
    assert!(sorted == "ascending" || sorted == "descending", "{sorted}");
    browser.allow_scripts(false);
    browser.open(&shipped.join("index.html"));
    let page = fs::read_to_string(shipped.join("index.html")).expect("just built");
    for number in [
        "gpt-5 (high) 88.0 [83.1, 91.6]",
        "+10.7 pp",
        "pass rate is 10.7 pp higher than oneshot",
    ] {
        assert!(page.contains(number), "{number} needs no script");
    }
}

/// Builds a site with these settings from results of two suites; returns its files and what was said.
fn configured(site: &str) -> (Project, BTreeMap<String, Vec<u8>>, String) {
    let run = |id: &str, suite: &str, approach: &str, passed: u32| {
        result(
            id,
            suite,
            approach,
            serde_json::json!({"shared_tests_passed": passed, "shared_tests_total": 10}),
        )
    };
    let project = Project::with(&[
        run("a1", "alpha", "oneshot", 5),
        run("a2", "alpha", "ralph", 9),
        run("a3", "alpha", "planner", 7),
        run("o1", "omega", "oneshot", 9),
        run("o2", "omega", "ralph", 4),
    ]);
    project.file("evalreport.yaml", format!("version: 1\nsite: {site}\n"));
    let output = project.run(["build"]);
    assert_eq!(output.code, 0, "{}", output.stderr);
    let files = files(&project.path("site"));
    (project, files, output.stderr)
}

fn page<'a>(files: &'a BTreeMap<String, Vec<u8>>, path: &str) -> &'a str {
    std::str::from_utf8(
        files
            .get(path)
            .unwrap_or_else(|| panic!("no {path} among {:?}", files.keys())),
    )
    .expect("a text")
}

#[test]
fn search_engines_are_asked_to_stay_away_only_if_told() {
    let (_, files, _) = configured("{noindex: true}");
    assert!(
        pages(&files).all(|(_, page)| page.contains("<meta name=\"robots\" content=\"noindex\">"))
    );
    assert_eq!(page(&files, "robots.txt"), "User-agent: *\nDisallow: /\n");
    assert!(
        !files.contains_key("sitemap.xml")
            && pages(&files).all(|(_, page)| !page.contains("canonical"))
    );

    let (_, files, _) = configured("{noindex: false}");
    assert!(
        !files.contains_key("robots.txt")
            && pages(&files).all(|(_, page)| !page.contains("noindex"))
    );
}

#[test]
fn an_address_gives_canonical_links_and_a_sitemap_of_every_page() {
    let (_, files, _) = configured("{base_url: 'https://example.org/a&b/'}");
    let sitemap = page(&files, "sitemap.xml");
    let mut listed = 0;
    for (path, page) in pages(&files) {
        let link = format!("<link rel=\"canonical\" href=\"https://example.org/a&#38;b/{path}\">");
        assert_eq!(page.matches(&link).count(), 1, "{path}");
        assert_eq!(page.matches("canonical").count(), 1, "{path}");
        assert_eq!(
            sitemap
                .matches(&format!("<loc>https://example.org/a&#38;b/{path}</loc>"))
                .count(),
            1,
            "{path}: {sitemap}"
        );
        listed += 1;
    }
    assert_eq!(sitemap.matches("<loc>").count(), listed);
    assert!(!files.contains_key("robots.txt"));

    // Taken back, everything is gone again.
    let (project, _, _) = configured("{base_url: 'https://example.org', noindex: true}");
    project.file("evalreport.yaml", "version: 1\n");
    assert_eq!(project.run(["build"]).code, 0);
    let left = self::files(&project.path("site"));
    assert!(!left.contains_key("sitemap.xml") && !left.contains_key("robots.txt"));
}

#[test]
fn the_default_suite_comes_first() {
    let order = |files: &BTreeMap<String, Vec<u8>>| {
        let overview = page(files, "index.html").to_owned();
        overview.find("<bdi>alpha</bdi>").expect("alpha")
            < overview.find("<bdi>omega</bdi>").expect("omega")
    };
    let (_, files, said) = configured("{default_suite: alpha}");
    assert!(order(&files) && !said.contains("warning"), "{said}");
    let (_, swapped, said) = configured("{default_suite: omega}");
    assert!(!order(&swapped) && !said.contains("warning"), "{said}");
    assert_eq!(
        files.keys().collect::<Vec<_>>(),
        swapped.keys().collect::<Vec<_>>(),
        "addresses stay"
    );

    let (project, files, said) = configured("{default_suite: omgea}");
    assert!(order(&files));
    let warning = "warning: `site.default_suite` in the configuration: no suite `omgea`\n  hint: did you mean `omega`?\n";
    assert!(said.contains(warning), "{said}");
    assert_eq!(project.run(["build", "--quiet"]).stderr, "");
}

#[test]
fn a_suite_of_two_nights_has_a_history_and_one_of_a_single_night_none() {
    let run = |id: &str, suite: &str, approach: &str, day: u32, passed: u32| {
        let more = serde_json::json!({
            "shared_tests_passed": passed, "shared_tests_total": 10, "cost_usd": 0.5, "timestamp": format!("2026-01-0{day}T03:00:00Z"),
        });
        result(id, suite, approach, more)
    };
    let project = Project::with(&[
        run("n1", "nightly", "ralph", 1, 5),
        run("n2", "nightly", "ralph", 2, 9),
        run("n3", "nightly", "oneshot", 2, 4),
        run("s1", "single", "ralph", 1, 5),
        run("s2", "single", "oneshot", 2, 6),
    ]);
    assert_eq!(project.run(["build"]).code, 0);
    let files = files(&project.path("site"));
    let history = page(&files, "suites/nightly/history.html");
    assert!(
        history.contains("<desc id=\"arm-1-chart-d\">ralph over 2 nights: 50%"),
        "{history}"
    );
    assert!(history.contains("1 arm has fewer than two nights with a pass rate."));
    assert!(
        page(&files, "suites/nightly/index.html")
            .contains("href=\"../../suites/nightly/history.html\"")
    );
    assert!(
        page(&files, "data/history/nightly.csv").lines().count() == 4
            && files.contains_key("data/history/nightly.json")
    );
    assert!(
        !files.contains_key("suites/single/history.html")
            && !page(&files, "suites/single/index.html").contains("history.html")
    );
    let cost = page(&files, "cost.html");
    assert!(
        cost.contains("$1.50") && cost.contains("$1.00") && cost.contains("3 of 3"),
        "{cost}"
    );
}

/// The approaches of each pair page of a suite, in the order of the page.
fn pair_pages(files: &BTreeMap<String, Vec<u8>>, suite: &str) -> Vec<[String; 2]> {
    let folder = format!("compare/{suite}/");
    let pairs = files.keys().filter_map(|path| {
        path.strip_prefix(&folder)?
            .strip_suffix(".html")?
            .split_once("--")
    });
    let approach = |arm: &str| arm.split('-').next().unwrap_or_default().to_owned();
    pairs
        .map(|(first, second)| [approach(first), approach(second)])
        .collect()
}

#[test]
fn the_baseline_stands_second_and_every_arm_meets_it() {
    let (_, files, _) = configured("{title: x}");
    assert_eq!(
        pair_pages(&files, "alpha"),
        [
            ["planner", "oneshot"],
            ["ralph", "oneshot"],
            ["ralph", "planner"]
        ]
    );
    assert_eq!(pair_pages(&files, "omega"), [["oneshot", "ralph"]]);
    assert!(!page(&files, "suites/alpha/index.html").contains("Compared to"));

    let (_, files, said) = configured("{baseline: planner}");
    assert!(!said.contains("warning"), "{said}");
    assert_eq!(
        pair_pages(&files, "alpha"),
        [["oneshot", "planner"], ["ralph", "planner"]]
    );
    assert_eq!(
        pair_pages(&files, "omega"),
        [["oneshot", "ralph"]],
        "a suite without it is as before"
    );
    assert!(
        page(&files, "suites/alpha/index.html")
            .contains("<dt>Compared to</dt><dd><bdi>planner</bdi></dd>")
    );

    // The leader is the baseline: it stands second all the same, also in the table of newest batches.
    let (_, files, _) = configured("{baseline: oneshot}");
    assert_eq!(pair_pages(&files, "omega"), [["ralph", "oneshot"]]);
    let suite = page(&files, "suites/omega/leaderboard.html");
    let newest = &suite[suite.find("Arms side by side").expect("a table")..];
    assert!(newest.find("ralph").expect("an arm") < newest.find("oneshot").expect("an arm"));
    let path = files
        .keys()
        .find(|path| path.starts_with("compare/omega/") && path.contains("--"))
        .expect("a pair");
    let pair = page(&files, path);
    let heading = pair
        .split("</h1>")
        .nth(1)
        .and_then(|rest| rest.split("</p>").next())
        .expect("both arms below the heading");
    assert!(
        heading.find("ralph").expect("an arm") < heading.find("oneshot").expect("an arm"),
        "{heading}"
    );

    let (_, files, said) = configured("{baseline: oneshto}");
    assert_eq!(pair_pages(&files, "alpha").len(), 3);
    assert!(said.contains("warning: `site.baseline` in the configuration: no approach `oneshto`\n  hint: did you mean `oneshot`?\n"));
}

#[test]
fn a_suites_page_shows_what_sources_state_beside_what_their_counts_give() {
    let stated = |name: &str, value: f64, recomputed: Option<f64>| json!({"name": name, "value": value, "unit": "fraction", "recomputed": recomputed, "rounding": 0.0005});
    let figures = [
        stated("agrees", 0.5, Some(0.5)),
        stated("alone", 0.7, None),
        stated("differs", 0.6, Some(0.5)),
    ];
    let counts = json!({"shared_tests_passed": 1, "shared_tests_total": 2, "stated": figures});
    let project = Project::with(&[
        result("r-1", "s", "a", counts),
        result(
            "r-2",
            "plain",
            "a",
            json!({"shared_tests_passed": 1, "shared_tests_total": 2}),
        ),
    ]);
    assert_eq!(project.run(["build", "--quiet"]).code, 0);
    let page = project.read("site/suites/s/leaderboard.html");
    let table = page
        .split("<table id=\"stated-table\"")
        .nth(1)
        .and_then(|rest| rest.split("</table>").next())
        .expect("the table");
    let rows: Vec<&str> = table.split("<tr>").skip(2).collect();
    let expected = [
        ("differs", "60.0%", "50.0%", "differs beyond rounding"),
        ("alone", "70.0%", "no counts", "nothing to compare with"),
    ];
    for (row, (name, stated, recomputed, said)) in rows.iter().zip(expected) {
        for text in [
            name,
            stated,
            recomputed,
            said,
            "../../runs/r-1/index.html",
            "<bdi>a · m1 · #1</bdi>",
        ] {
            assert!(row.contains(text), "{text}: {row}");
        }
    }
    assert_eq!(rows.len(), 3);
    assert!(
        !project
            .read("site/suites/plain/leaderboard.html")
            .contains("stated-table")
    );
    // Every figure that disagrees is listed, also on a long leaderboard.
    let many: Vec<Value> = (0..40)
        .map(|number| {
            let figures = json!([
                stated("agrees", 0.5, Some(0.5)),
                stated("differs", if number < 5 { 0.6 } else { 0.5 }, Some(0.5))
            ]);
            let counts =
                json!({"shared_tests_passed": 1, "shared_tests_total": 2, "stated": figures});
            result(
                &format!("r-{number}"),
                "many",
                &format!("arm-{number}"),
                counts,
            )
        })
        .collect();
    let project = Project::with(&many);
    assert_eq!(project.run(["build", "--quiet"]).code, 0);
    assert_eq!(
        project
            .read("site/suites/many/leaderboard.html")
            .matches("differs beyond rounding")
            .count(),
        5
    );
}
