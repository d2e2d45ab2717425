//! The names of a site from A to Z, and the index that the search loads on first use.

use std::collections::{BTreeMap, BTreeSet};

use askama::Template;
use serde::Serialize;

use crate::domain::{escape_invisible, shorten_to};
use crate::render::run_title::run_title;
use crate::render::{format, phrases};
use crate::views::{ArmPage, Overview};

use super::SiteFile;
use super::answer_index;
use super::items::{criterion_href, item_href};
use super::routes::SiteRoutes;
use super::runs::Pager;
use super::shard::{self, script_literal};
use super::shell::{Breadcrumb, NavigationEntry, PageShell, Text, escaped_length};

/// Maximum bytes of one list on the search page itself, and of all its lists. Others have pages of their own.
const MAX_INLINE: usize = 20_000;
const MAX_INLINE_OF_ALL: usize = 70_000;
/// Maximum bytes of the names on a page, escaped, and maximum names on it.
const MAX_BYTES: usize = 90_000;
const MAX_NAMES: usize = 500;
/// Maximum characters of a name in a list.
const MAX_NAME_LENGTH: usize = 120;
/// Maximum bytes of one part of the index, parts, and names in all of them. Search waits for all parts.
const MAX_OF_A_SHARD: usize = 1_000_000;
const MAX_SHARDS: usize = 4;
const MAX_INDEXED: usize = 50_000;
/// Bytes of an entry without its texts.
const ENTRY_OVERHEAD_BYTES: usize = 90;

#[derive(Template)]
#[template(path = "search.html")]
struct SearchPage {
    shell: PageShell,
    /// Addresses of the index's parts, separated by spaces.
    shards: String,
    note: Option<String>,
    groups: Vec<SearchGroup>,
}

#[derive(Template)]
#[template(path = "names.html")]
struct NamesPage {
    shell: PageShell,
    heading: Text,
    about: String,
    entries: Vec<SearchLink>,
    pager: Option<Pager>,
}

/// Names of one kind.
struct SearchGroup {
    anchor: String,
    heading: Text,
    entries: Vec<SearchLink>,
}

struct SearchLink {
    href: String,
    name: Text,
    about: Text,
}

/// Kind of a name, in the order in which the search lists them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
enum SearchKind {
    Suite,
    Arm,
    Run,
    Criterion,
    Item,
}

/// A name with its address from the site's root.
struct SearchEntry {
    sort: SearchKind,
    name: String,
    href: String,
    about: String,
}

/// One list. Its pages' names begin with `stem`.
struct SearchList {
    heading: String,
    stem: String,
    names: Vec<SearchEntry>,
}

/// One part of the index, in the script's format.
#[derive(Serialize)]
struct SearchShard<'a> {
    groups: Vec<(SearchKind, String, &'a str)>,
    names: Vec<(usize, String, &'a str)>,
}

/// Values that the index stores once for many names: kind, context, and folder of the addresses.
type SharedEntryValues<'a> = (SearchKind, &'a str, &'a str);

pub(super) fn render_pages(overview: &Overview, plan: &SiteRoutes) -> Vec<SiteFile> {
    let lists = collect_lists(overview, plan);
    let (mut files, indexed) = build_shards(&lists);
    let shards: Vec<String> = files.iter().map(|file| file.path.clone()).collect();
    files.push(answer_index::parts_file(plan, &shards));
    let path = "search.html";
    let title = format!("Search · {}", overview.context.title);
    let about = "Suites, arms, runs, criteria and items from A to Z.";
    let shell = PageShell::new(
        &overview.context,
        &plan.assets,
        path,
        NavigationEntry::Search,
        title,
        about,
    );
    let all: usize = lists.iter().map(|list| list.names.len()).sum();
    let note = (all > indexed).then(|| {
        format!(
            "The search knows {} of {} names: suites, arms and runs first. The lists have all.",
            format::format_integer(indexed as u64),
            format::format_integer(all as u64)
        )
    });
    let (mut groups, mut inline) = (Vec::new(), 0);
    for (number, list) in (1..).zip(&lists).filter(|(_, list)| !list.names.is_empty()) {
        let heading = Text::from(format!(
            "{}: {}",
            list.heading,
            format::format_integer(list.names.len() as u64)
        ));
        let anchor = format!("names-{number}");
        let length = list.names.iter().map(entry_bytes).sum::<usize>();
        if length <= MAX_INLINE && inline + length <= MAX_INLINE_OF_ALL {
            inline += length;
            groups.push(SearchGroup {
                anchor,
                heading,
                entries: list.names.iter().map(|name| link_entry(name, "")).collect(),
            });
        } else {
            let parts = split_into_pages(&list.names);
            groups.push(SearchGroup {
                anchor,
                heading,
                entries: (1..)
                    .zip(&parts)
                    .map(|(page, part)| link_range(list, page, part))
                    .collect(),
            });
            files.extend(render_list_pages(overview, plan, list, &parts));
        }
    }
    files.push(SiteFile::from_template(
        path.to_owned(),
        &SearchPage {
            shell,
            shards: shards.join(" "),
            note,
            groups,
        },
    ));
    files
}

/// Collects all names, each list from A to Z.
fn collect_lists(overview: &Overview, plan: &SiteRoutes) -> Vec<SearchList> {
    let list = |heading: &str, stem: &str, names: Vec<SearchEntry>| {
        let order = |name: &SearchEntry| {
            (
                name.name.to_lowercase(),
                name.name.clone(),
                name.about.clone(),
                name.href.clone(),
            )
        };
        let names: BTreeMap<_, SearchEntry> =
            names.into_iter().map(|name| (order(&name), name)).collect();
        SearchList {
            heading: heading.to_owned(),
            stem: stem.to_owned(),
            names: names.into_values().collect(),
        }
    };
    let arm = |page: ArmPage<'_>| {
        let about = match page.suites.as_slice() {
            [only] => plan.suites[only.place].label.clone(),
            several => phrases::count_with_noun(several.len() as u64, "suites"),
        };
        SearchEntry {
            sort: SearchKind::Arm,
            name: phrases::arm_over_suites(&page.suite_names(), page.arm),
            href: plan.arm_href("", page.arm),
            about,
        }
    };
    let arms = overview.arm_pages().into_iter().map(arm).collect();
    let mut suites = Vec::new();
    let mut of_suites = Vec::new();
    for (suite, place) in overview.suites.iter().zip(&plan.suites) {
        let of_suite = |sort, name: &str, href: String| SearchEntry {
            sort,
            name: name.to_owned(),
            href,
            about: place.label.clone(),
        };
        suites.push(SearchEntry {
            about: String::new(),
            ..of_suite(SearchKind::Suite, &place.label, place.path())
        });
        let criteria = suite.criterion_keys.iter().filter_map(|key| {
            let href = criterion_href(place, "", &key.criterion, &key.evaluator)?;
            Some(of_suite(SearchKind::Criterion, &key.criterion, href))
        });
        of_suites.push(list(
            &format!("Criteria of {}", place.label),
            &format!("{}-criteria", place.segment),
            criteria.collect(),
        ));
        let with_place = suite.items.items.iter().filter_map(|item| {
            let href = item_href(place, "", &item.item, Some(&item.kind))?;
            Some(of_suite(SearchKind::Item, &item.item, href))
        });
        of_suites.push(list(
            &format!("Items of {}", place.label),
            &format!("{}-items", place.segment),
            with_place.collect(),
        ));
    }
    let run = |run: &&crate::views::RunLine| {
        let place = plan.runs.get(&run.id)?;
        let about = format!(
            "{} on {}",
            run_title(&run.arm, place.turn),
            plan.suites[place.suite].label
        );
        Some(SearchEntry {
            sort: SearchKind::Run,
            name: run.id.clone(),
            href: plan.run_path(&run.id)?,
            about,
        })
    };
    let runs = overview.runs_by_name().iter().filter_map(run).collect();
    // A suite's segment never begins with a dot, so these stems collide with no suite.
    let mut lists = vec![
        list("Suites", "all-suites", suites),
        list("Arms", "all-arms", arms),
        list("Runs", "all-runs", runs),
    ];
    lists.extend(of_suites);
    lists
}

/// Returns the bytes of an entry in a page.
fn entry_bytes(name: &SearchEntry) -> usize {
    escaped_length(&truncate_name(&name.name))
        + escaped_length(&truncate_name(&name.about))
        + escaped_length(&name.href)
        + ENTRY_OVERHEAD_BYTES
}

/// Splits a list into parts that each fit on a page.
fn split_into_pages(names: &[SearchEntry]) -> Vec<&[SearchEntry]> {
    let (mut parts, mut start, mut bytes) = (Vec::new(), 0, 0);
    for (place, name) in names.iter().enumerate() {
        let length = entry_bytes(name);
        if place > start && (bytes + length > MAX_BYTES || place - start == MAX_NAMES) {
            parts.push(&names[start..place]);
            (start, bytes) = (place, 0);
        }
        bytes += length;
    }
    parts.push(&names[start..]);
    parts
}

fn file_name(list: &SearchList, page: u64) -> String {
    format!("{}-{page:04}.html", list.stem)
}

/// Links a part of a list by its first and last name.
fn link_range(list: &SearchList, page: u64, part: &[SearchEntry]) -> SearchLink {
    let ends = [part.first(), part.last()].map(|name| {
        name.map_or_else(String::new, |name| {
            truncate_name(name_or_placeholder(&name.name))
        })
    });
    let name = Text::from(format!("{} … {}", ends[0], ends[1]));
    let count = part.len() as u64;
    SearchLink {
        href: format!("search/{}", file_name(list, page)),
        name,
        about: Text::from(format::format_integer(count)),
    }
}

fn render_list_pages(
    overview: &Overview,
    plan: &SiteRoutes,
    list: &SearchList,
    parts: &[&[SearchEntry]],
) -> Vec<SiteFile> {
    let pages = parts.len() as u64;
    let page = |(number, part): (u64, &&[SearchEntry])| {
        let path = format!("search/{}", file_name(list, number));
        let of = if pages > 1 {
            format!(", page {number} of {pages}")
        } else {
            String::new()
        };
        let heading = format!("{} from A to Z{of}", list.heading);
        let title = format!("{heading} · {}", overview.context.title);
        let shell = PageShell::new(
            &overview.context,
            &plan.assets,
            &path,
            NavigationEntry::Below,
            title,
            heading.clone(),
        );
        let entries = part
            .iter()
            .map(|name| link_entry(name, &shell.root))
            .collect();
        let html = NamesPage {
            heading: Text::from(heading),
            about: format!(
                "{} of {} names.",
                format::format_integer(part.len() as u64),
                format::format_integer(list.names.len() as u64)
            ),
            entries,
            pager: Pager::new(number, pages, |page| file_name(list, page)),
            shell: shell.with_breadcrumbs(vec![Breadcrumb::new("../search.html", "Search")]),
        };
        SiteFile::from_template(path, &html)
    };
    (1..).zip(parts).map(page).collect()
}

fn link_entry(name: &SearchEntry, root: &str) -> SearchLink {
    // A list of items or criteria has its suite in its heading.
    let about = if matches!(name.sort, SearchKind::Criterion | SearchKind::Item) {
        String::new()
    } else {
        truncate_name(&name.about)
    };
    SearchLink {
        href: format!("{root}{}", name.href),
        name: Text::from(truncate_name(name_or_placeholder(&name.name))),
        about: Text::from(about),
    }
}

/// Replaces a blank name: screen readers and pointers need something to find.
fn name_or_placeholder(name: &str) -> &str {
    if name.trim().is_empty() {
        "(no name)"
    } else {
        name
    }
}

fn truncate_name(name: &str) -> String {
    shorten_to(name, MAX_NAME_LENGTH)
}

/// Makes the index as scripts that pass their data to the page, because a page opened from disk can load nothing else. Returns the number
/// of names, too.
fn build_shards(lists: &[SearchList]) -> (Vec<SiteFile>, usize) {
    let (mut files, mut indexed) = (Vec::new(), 0);
    let (mut part, mut bytes) = (Vec::<&SearchEntry>::new(), 0);
    for name in lists.iter().flat_map(|list| &list.names).take(MAX_INDEXED) {
        let length = indexed_bytes(name);
        if bytes + length > MAX_OF_A_SHARD && !part.is_empty() {
            if files.len() + 1 == MAX_SHARDS {
                break;
            }
            files.push(build_shard(files.len(), &part));
            (part, bytes) = (Vec::new(), 0);
        }
        indexed += 1;
        part.push(name);
        bytes += length;
    }
    if !part.is_empty() {
        files.push(build_shard(files.len(), &part));
    }
    (files, indexed)
}

/// Returns the values that names of the same folder share, and the rest of the address.
fn split_address(name: &SearchEntry) -> (SharedEntryValues<'_>, &str) {
    let end = match name.sort {
        // Every run has a folder of its own, so only the folder above is shared.
        SearchKind::Run => name.href.find('/'),
        SearchKind::Suite | SearchKind::Arm | SearchKind::Criterion | SearchKind::Item => {
            name.href.rfind('/')
        }
    };
    let (folder, rest) = name.href.split_at(end.map_or(0, |end| end + 1));
    ((name.sort, &name.about, folder), rest)
}

/// Returns the bytes of a name in the index, with its escapes.
fn indexed_bytes(name: &SearchEntry) -> usize {
    let escaped = |text: &str| script_literal(&script_literal(text)).len();
    let ((sort, about, folder), rest) = split_address(name);
    // Each run has a context of its own.
    let own = if sort == SearchKind::Run {
        escaped(&escape_invisible(about)) + escaped(folder) + 10
    } else {
        0
    };
    escaped(&escape_invisible(&name.name)) + escaped(rest) + 10 + own
}

fn build_shard(number: usize, names: &[&SearchEntry]) -> SiteFile {
    let groups: BTreeSet<SharedEntryValues<'_>> =
        names.iter().map(|name| split_address(name).0).collect();
    let groups: Vec<SharedEntryValues<'_>> = groups.into_iter().collect();
    let names = names
        .iter()
        .map(|name| {
            let (shared, rest) = split_address(name);
            (
                groups.binary_search(&shared).unwrap_or(0),
                escape_invisible(&name.name),
                rest,
            )
        })
        .collect();
    let groups = groups
        .iter()
        .map(|(sort, about, folder)| (*sort, escape_invisible(about), *folder))
        .collect();
    shard::script_file("search", number, &SearchShard { groups, names })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(name: &str) -> SearchEntry {
        SearchEntry {
            sort: SearchKind::Item,
            name: name.to_owned(),
            href: format!("x/{}.html", name.len()),
            about: "s".to_owned(),
        }
    }

    #[test]
    fn a_list_is_split_by_names_and_by_bytes_and_loses_none() {
        let many: Vec<SearchEntry> = (0..1_200)
            .map(|number| name(&format!("item-{number:05}")))
            .collect();
        assert_eq!(
            split_into_pages(&many)
                .iter()
                .map(|part| part.len())
                .collect::<Vec<_>>(),
            [500, 500, 200]
        );
        let heavy: Vec<SearchEntry> = (0..400).map(|_| name(&"<".repeat(300))).collect();
        let parts = split_into_pages(&heavy);
        assert!(parts.len() > 1);
        assert_eq!(parts.iter().map(|part| part.len()).sum::<usize>(), 400);
        assert!(
            parts
                .iter()
                .all(|part| part.iter().map(entry_bytes).sum::<usize>() <= MAX_BYTES)
        );
    }

    #[test]
    fn a_shard_is_one_call_with_nothing_that_ends_a_script() {
        let hostile = name("</script><!--\u{2028}\"\\ __proto__");
        let file = build_shard(3, &[&hostile]);
        let text = String::from_utf8(file.bytes).expect("a text");
        assert_eq!(file.path, "d/search-3.js");
        assert!(
            !text.contains('<') && !text.contains('\u{2028}') && text.is_ascii(),
            "{text}"
        );
        let literal = text
            .strip_prefix("evalreportShard(\"search\",3,JSON.parse(")
            .and_then(|rest| rest.strip_suffix("));\n"))
            .expect("a call");
        let json: String = serde_json::from_str(literal).expect("a string");
        let value: serde_json::Value = serde_json::from_str(&json).expect("JSON");
        assert_eq!(value["names"][0][1], escape_invisible(&hostile.name));
        assert_eq!(
            (&value["groups"][0][2], &value["names"][0][2]),
            (&"x/".into(), &format!("{}.html", hostile.name.len()).into())
        );
    }

    #[test]
    fn large_indexes_are_a_few_parts_within_their_budget() {
        let lists = |many: usize, long: usize| {
            let names = (0..many)
                .map(|number| name(&format!("{:long$}{number:05}", "")))
                .collect();
            [SearchList {
                heading: String::new(),
                stem: String::new(),
                names,
            }]
        };
        let (files, indexed) = build_shards(&lists(40_000, 30));
        assert!(
            files.len() > 1 && indexed == 40_000,
            "{} parts of {indexed} names",
            files.len()
        );
        let (many, some) = build_shards(&lists(50_000, 300));
        assert_eq!(many.len(), MAX_SHARDS);
        assert!(some > 10_000 && some < 50_000, "{some}");
        assert!(
            files
                .iter()
                .chain(&many)
                .all(|file| file.bytes.len() <= MAX_OF_A_SHARD + 1_000)
        );
    }
}
