//! Which file of a layer uses which, and where that leads round in a circle.
//!
//! A file uses another when it names something that the other defines, through whatever re-exports. A `mod.rs` that gives on what is
//! below it uses nothing by that, and test code is left out.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::resolve::Resolver;
use super::rules::Violation;
use super::scan::{Facts, Kind, Mention, Segments};

const RULE: &str = "cycle of files";

/// Layers whose files still use each other in circles. `views` is being parted into a room for inference and one for what pages say; its
/// name goes when that is done, and no other is to come.
const EXEMPT: &[&str] = &[];

/// By file: the files of its layer that it uses, with the first line that says so.
type Uses<'a> = BTreeMap<&'a str, BTreeMap<&'a str, usize>>;

/// Holds the files of each layer against the rule that none leads back to itself.
pub fn check_cycles(facts: &Facts, resolver: &Resolver) -> Vec<Violation> {
    let uses = uses(facts, resolver);
    let mut violations = Vec::new();
    let mut seen = BTreeSet::<&str>::new();
    for file in uses.keys().copied() {
        if seen.contains(file) {
            continue;
        }
        let Some(cycle) = shortest_cycle(&uses, file) else {
            continue;
        };
        seen.extend(cycle.iter().copied());
        let line = uses[file][cycle[1]];
        violations.push(Violation::new(file, line, RULE, &cycle.join(" -> ")));
    }
    violations
}

/// Gathers what each file uses of its own layer.
fn uses<'a>(facts: &'a Facts, resolver: &Resolver) -> Uses<'a> {
    let mut uses = Uses::new();
    for mention in facts
        .mentions
        .iter()
        .filter(|mention| !mention.test && matches!(mention.kind, Kind::Path | Kind::Macro))
    {
        let Some(from) = file_of(facts, &mention.module).filter(|file| *file == mention.file)
        else {
            continue;
        };
        for path in resolver
            .reach(mention)
            .iter()
            .filter(|reached| reached.last)
            .map(|reached| &reached.path)
        {
            let Some(to) = definer(facts, mention, path).filter(|to| *to != from) else {
                continue;
            };
            let line = uses
                .entry(from)
                .or_default()
                .entry(to)
                .or_insert(mention.line);
            *line = mention.line.min(*line);
        }
    }
    uses
}

/// Returns the file that defines what a path leads to, if it is of the layer that the path was named in, and this is a use of it.
fn definer<'a>(facts: &'a Facts, mention: &Mention, path: &Segments) -> Option<&'a str> {
    let layer = mention.module.get(1)?;
    if EXEMPT.contains(&layer.as_str()) || path.first()? != "crate" || path.get(1)? != layer {
        return None;
    }
    let length = (1..=path.len())
        .rev()
        .find(|length| facts.modules.contains(&path[..*length]))?;
    let (module, rest) = path.split_at(length);
    // A module's name alone uses nothing; what is named through it does.
    let is_defined = rest.first().is_some_and(|name| {
        facts
            .items
            .get(module)
            .is_some_and(|items| items.contains(name))
    });
    let is_given_on = mention.exported && module.starts_with(&mention.module);
    if is_defined && !is_given_on {
        file_of(facts, module)
    } else {
        None
    }
}

/// Returns the file that holds a module, which may be one within a file.
fn file_of<'a>(facts: &'a Facts, module: &[String]) -> Option<&'a str> {
    (1..=module.len())
        .rev()
        .find_map(|length| facts.files.get(&module[..length]))
        .map(String::as_str)
}

/// Returns the shortest way from a file back to itself, both ends included; none where there is no way.
fn shortest_cycle<'a>(uses: &Uses<'a>, start: &'a str) -> Option<Vec<&'a str>> {
    let mut came_from = BTreeMap::<&str, &str>::new();
    let mut queue = VecDeque::from([start]);
    while let Some(file) = queue.pop_front() {
        for next in uses.get(file).into_iter().flat_map(BTreeMap::keys).copied() {
            if next == start {
                let way_back =
                    std::iter::successors(Some(file), |file| came_from.get(file).copied());
                let mut cycle: Vec<&str> = std::iter::once(start).chain(way_back).collect();
                cycle.reverse();
                return Some(cycle);
            }
            if let Entry::Vacant(place) = came_from.entry(next) {
                place.insert(file);
                queue.push_back(next);
            }
        }
    }
    None
}
