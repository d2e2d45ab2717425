//! The names of a site from A to Z, and the index that the search loads on first use.

use std::collections::{BTreeMap, BTreeSet};

use askama::Template;
use serde::Serialize;

use crate::domain::{beginning, visible};
use crate::render::run_title::run_title;
use crate::render::{format, words};
use crate::views::{ArmPage, Overview};

use super::SiteFile;
use super::items::{criterion_href, item_href};
use super::plan::Plan;
use super::runs::Pager;
use super::said;
use super::shard::{self, literal};
use super::shell::{Crumb, Here, Shell, Text, escaped_length};

/// Maximum bytes of one list on the search page itself, and of all its lists. Others have pages of their own.
const MOST_INLINE: usize = 20_000;
const MOST_INLINE_OF_ALL: usize = 70_000;
/// Maximum bytes of the names on a page, escaped, and maximum names on it.
const MOST_BYTES: usize = 90_000;
const MOST_NAMES: usize = 500;
/// Maximum characters of a name in a list.
const LONGEST: usize = 120;
/// Maximum bytes of one part of the index, parts, and names in all of them. Search waits for all parts.
const MOST_OF_A_SHARD: usize = 1_000_000;
const MOST_SHARDS: usize = 4;
const MOST_INDEXED: usize = 50_000;
/// Bytes of an entry without its texts.
const FRAME: usize = 90;

#[derive(Template)]
#[template(path = "search.html")]
struct SearchPage {
    shell: Shell,
    /// Addresses of the index's parts, separated by spaces.
    shards: String,
    note: Option<String>,
    groups: Vec<Group>,
}

#[derive(Template)]
#[template(path = "names.html")]
struct NamesPage {
    shell: Shell,
    heading: Text,
    about: String,
    entries: Vec<Link>,
    pager: Option<Pager>,
}

/// Names of one kind.
struct Group {
    anchor: String,
    heading: Text,
    entries: Vec<Link>,
}

struct Link {
    href: String,
    name: Text,
    about: Text,
}

/// Kind of a name, in the order in which the search lists them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
enum Sort {
    Suite,
    Arm,
    Run,
    Criterion,
    Item,
}

/// A name with its address from the site's root.
struct Named {
    sort: Sort,
    name: String,
    href: String,
    about: String,
}

/// One list. Its pages' names begin with `stem`.
struct List {
    heading: String,
    stem: String,
    names: Vec<Named>,
}

/// One part of the index, in the script's format.
#[derive(Serialize)]
struct Shard<'a> {
    groups: Vec<(Sort, String, &'a str)>,
    names: Vec<(usize, String, &'a str)>,
}

/// Values that the index stores once for many names: kind, context, and folder of the addresses.
type Shared<'a> = (Sort, &'a str, &'a str);

pub(super) fn pages(overview: &Overview, plan: &Plan) -> Vec<SiteFile> {
    let lists = lists(overview, plan);
    let (mut files, indexed) = shards(&lists);
    let shards: Vec<String> = files.iter().map(|file| file.path.clone()).collect();
    files.push(said::parts(plan, &shards));
    let path = "search.html";
    let title = format!("Search · {}", overview.context.title);
    let about = "Suites, arms, runs, criteria and items from A to Z.";
    let shell = Shell::new(
        &overview.context,
        &plan.assets,
        path,
        Here::Search,
        title,
        about,
    );
    let all: usize = lists.iter().map(|list| list.names.len()).sum();
    let note = (all > indexed).then(|| {
        format!(
            "The search knows {} of {} names: suites, arms and runs first. The lists have all.",
            format::integer(indexed as u64),
            format::integer(all as u64)
        )
    });
    let (mut groups, mut inline) = (Vec::new(), 0);
    for (number, list) in (1..).zip(&lists).filter(|(_, list)| !list.names.is_empty()) {
        let heading = Text::from(format!(
            "{}: {}",
            list.heading,
            format::integer(list.names.len() as u64)
        ));
        let anchor = format!("names-{number}");
        let length = list.names.iter().map(length).sum::<usize>();
        if length <= MOST_INLINE && inline + length <= MOST_INLINE_OF_ALL {
            inline += length;
            groups.push(Group {
                anchor,
                heading,
                entries: list.names.iter().map(|name| link(name, "")).collect(),
            });
        } else {
            let parts = parts(&list.names);
            groups.push(Group {
                anchor,
                heading,
                entries: (1..)
                    .zip(&parts)
                    .map(|(page, part)| range(list, page, part))
                    .collect(),
            });
            files.extend(names_pages(overview, plan, list, &parts));
        }
    }
    files.push(SiteFile::page(
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
fn lists(overview: &Overview, plan: &Plan) -> Vec<List> {
    let list = |heading: &str, stem: &str, names: Vec<Named>| {
        let order = |name: &Named| {
            (
                name.name.to_lowercase(),
                name.name.clone(),
                name.about.clone(),
                name.href.clone(),
            )
        };
        let names: BTreeMap<_, Named> =
            names.into_iter().map(|name| (order(&name), name)).collect();
        List {
            heading: heading.to_owned(),
            stem: stem.to_owned(),
            names: names.into_values().collect(),
        }
    };
    let arm = |page: ArmPage<'_>| {
        let about = match page.suites.as_slice() {
            [only] => plan.suites[only.place].label.clone(),
            several => words::count_of(several.len() as u64, "suites"),
        };
        Named {
            sort: Sort::Arm,
            name: words::arm_over(&page.suite_names(), page.arm),
            href: plan.arm_href("", page.arm),
            about,
        }
    };
    let arms = overview.arm_pages().into_iter().map(arm).collect();
    let mut suites = Vec::new();
    let mut of_suites = Vec::new();
    for (suite, place) in overview.suites.iter().zip(&plan.suites) {
        let of_suite = |sort, name: &str, href: String| Named {
            sort,
            name: name.to_owned(),
            href,
            about: place.label.clone(),
        };
        suites.push(Named {
            about: String::new(),
            ..of_suite(Sort::Suite, &place.label, place.path())
        });
        let criteria = suite.criterion_keys.iter().filter_map(|key| {
            let href = criterion_href(place, "", &key.criterion, &key.evaluator)?;
            Some(of_suite(Sort::Criterion, &key.criterion, href))
        });
        of_suites.push(list(
            &format!("Criteria of {}", place.label),
            &format!("{}-criteria", place.segment),
            criteria.collect(),
        ));
        let with_place = suite.items.items.iter().filter_map(|item| {
            let href = item_href(place, "", &item.item, Some(&item.kind))?;
            Some(of_suite(Sort::Item, &item.item, href))
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
        Some(Named {
            sort: Sort::Run,
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
fn length(name: &Named) -> usize {
    escaped_length(&shown(&name.name))
        + escaped_length(&shown(&name.about))
        + escaped_length(&name.href)
        + FRAME
}

/// Splits a list into parts that each fit on a page.
fn parts(names: &[Named]) -> Vec<&[Named]> {
    let (mut parts, mut start, mut bytes) = (Vec::new(), 0, 0);
    for (place, name) in names.iter().enumerate() {
        let length = length(name);
        if place > start && (bytes + length > MOST_BYTES || place - start == MOST_NAMES) {
            parts.push(&names[start..place]);
            (start, bytes) = (place, 0);
        }
        bytes += length;
    }
    parts.push(&names[start..]);
    parts
}

fn file_name(list: &List, page: u64) -> String {
    format!("{}-{page:04}.html", list.stem)
}

/// Links a part of a list by its first and last name.
fn range(list: &List, page: u64, part: &[Named]) -> Link {
    let ends = [part.first(), part.last()]
        .map(|name| name.map_or_else(String::new, |name| shown(named(&name.name))));
    let name = Text::from(format!("{} … {}", ends[0], ends[1]));
    let count = part.len() as u64;
    Link {
        href: format!("search/{}", file_name(list, page)),
        name,
        about: Text::from(format::integer(count)),
    }
}

fn names_pages(overview: &Overview, plan: &Plan, list: &List, parts: &[&[Named]]) -> Vec<SiteFile> {
    let pages = parts.len() as u64;
    let page = |(number, part): (u64, &&[Named])| {
        let path = format!("search/{}", file_name(list, number));
        let of = if pages > 1 {
            format!(", page {number} of {pages}")
        } else {
            String::new()
        };
        let heading = format!("{} from A to Z{of}", list.heading);
        let title = format!("{heading} · {}", overview.context.title);
        let shell = Shell::new(
            &overview.context,
            &plan.assets,
            &path,
            Here::Below,
            title,
            heading.clone(),
        );
        let entries = part.iter().map(|name| link(name, &shell.root)).collect();
        let html = NamesPage {
            heading: Text::from(heading),
            about: format!(
                "{} of {} names.",
                format::integer(part.len() as u64),
                format::integer(list.names.len() as u64)
            ),
            entries,
            pager: Pager::new(number, pages, |page| file_name(list, page)),
            shell: shell.crumbs(vec![Crumb::new("../search.html", "Search")]),
        };
        SiteFile::page(path, &html)
    };
    (1..).zip(parts).map(page).collect()
}

fn link(name: &Named, root: &str) -> Link {
    // A list of items or criteria has its suite in its heading.
    let about = if matches!(name.sort, Sort::Criterion | Sort::Item) {
        String::new()
    } else {
        shown(&name.about)
    };
    Link {
        href: format!("{root}{}", name.href),
        name: Text::from(shown(named(&name.name))),
        about: Text::from(about),
    }
}

/// Replaces a blank name: screen readers and pointers need something to find.
fn named(name: &str) -> &str {
    if name.trim().is_empty() {
        "(no name)"
    } else {
        name
    }
}

fn shown(name: &str) -> String {
    beginning(name, LONGEST)
}

/// Makes the index as scripts that pass their data to the page, because a page opened from disk can load nothing else. Returns the number
/// of names, too.
fn shards(lists: &[List]) -> (Vec<SiteFile>, usize) {
    let (mut files, mut indexed) = (Vec::new(), 0);
    let (mut part, mut bytes) = (Vec::<&Named>::new(), 0);
    for name in lists.iter().flat_map(|list| &list.names).take(MOST_INDEXED) {
        let length = row_length(name);
        if bytes + length > MOST_OF_A_SHARD && !part.is_empty() {
            if files.len() + 1 == MOST_SHARDS {
                break;
            }
            files.push(shard(files.len(), &part));
            (part, bytes) = (Vec::new(), 0);
        }
        indexed += 1;
        part.push(name);
        bytes += length;
    }
    if !part.is_empty() {
        files.push(shard(files.len(), &part));
    }
    (files, indexed)
}

/// Returns the values that names of the same folder share, and the rest of the address.
fn split(name: &Named) -> (Shared<'_>, &str) {
    let end = match name.sort {
        // Every run has a folder of its own, so only the folder above is shared.
        Sort::Run => name.href.find('/'),
        Sort::Suite | Sort::Arm | Sort::Criterion | Sort::Item => name.href.rfind('/'),
    };
    let (folder, rest) = name.href.split_at(end.map_or(0, |end| end + 1));
    ((name.sort, &name.about, folder), rest)
}

/// Returns the bytes of a name in the index, with its escapes.
fn row_length(name: &Named) -> usize {
    let escaped = |text: &str| literal(&literal(text)).len();
    let ((sort, about, folder), rest) = split(name);
    // Each run has a context of its own.
    let own = if sort == Sort::Run {
        escaped(&visible(about)) + escaped(folder) + 10
    } else {
        0
    };
    escaped(&visible(&name.name)) + escaped(rest) + 10 + own
}

fn shard(number: usize, names: &[&Named]) -> SiteFile {
    let groups: BTreeSet<Shared<'_>> = names.iter().map(|name| split(name).0).collect();
    let groups: Vec<Shared<'_>> = groups.into_iter().collect();
    let names = names
        .iter()
        .map(|name| {
            let (shared, rest) = split(name);
            (
                groups.binary_search(&shared).unwrap_or(0),
                visible(&name.name),
                rest,
            )
        })
        .collect();
    let groups = groups
        .iter()
        .map(|(sort, about, folder)| (*sort, visible(about), *folder))
        .collect();
    shard::file("search", number, &Shard { groups, names })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(name: &str) -> Named {
        Named {
            sort: Sort::Item,
            name: name.to_owned(),
            href: format!("x/{}.html", name.len()),
            about: "s".to_owned(),
        }
    }

    #[test]
    fn a_list_is_split_by_names_and_by_bytes_and_loses_none() {
        let many: Vec<Named> = (0..1_200)
            .map(|number| name(&format!("item-{number:05}")))
            .collect();
        assert_eq!(
            parts(&many)
                .iter()
                .map(|part| part.len())
                .collect::<Vec<_>>(),
            [500, 500, 200]
        );
        let heavy: Vec<Named> = (0..400).map(|_| name(&"<".repeat(300))).collect();
        let parts = parts(&heavy);
        assert!(parts.len() > 1);
        assert_eq!(parts.iter().map(|part| part.len()).sum::<usize>(), 400);
        assert!(
            parts
                .iter()
                .all(|part| part.iter().map(length).sum::<usize>() <= MOST_BYTES)
        );
    }

    #[test]
    fn a_shard_is_one_call_with_nothing_that_ends_a_script() {
        let hostile = name("</script><!--\u{2028}\"\\ __proto__");
        let file = shard(3, &[&hostile]);
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
        assert_eq!(value["names"][0][1], visible(&hostile.name));
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
            [List {
                heading: String::new(),
                stem: String::new(),
                names,
            }]
        };
        let (files, indexed) = shards(&lists(40_000, 30));
        assert!(
            files.len() > 1 && indexed == 40_000,
            "{} parts of {indexed} names",
            files.len()
        );
        let (many, some) = shards(&lists(50_000, 300));
        assert_eq!(many.len(), MOST_SHARDS);
        assert!(some > 10_000 && some < 50_000, "{some}");
        assert!(
            files
                .iter()
                .chain(&many)
                .all(|file| file.bytes.len() <= MOST_OF_A_SHARD + 1_000)
        );
    }
}
