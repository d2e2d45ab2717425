//! The packages of Cargo.lock against known advisories, where nothing can be downloaded. `cargo deny check` asks the whole database of the day.

use std::collections::BTreeSet;

use semver::{Version, VersionReq};

const ADVISORIES: &str = include_str!("advisories.tsv");
const LOCK: &str = include_str!("../../Cargo.lock");
const DENY: &str = include_str!("../../deny.toml");

fn packages() -> Vec<(&'static str, Version)> {
    let value =
        |line: &'static str, key: &str| line.strip_prefix(key).map(|rest| rest.trim_matches('"'));
    let (mut packages, mut name) = (Vec::new(), "");
    for line in LOCK.lines() {
        name = value(line, "name = ").unwrap_or(name);
        packages.extend(
            value(line, "version = ")
                .and_then(|version| Some((name, Version::parse(version).ok()?))),
        );
    }
    packages
}

/// Requirements apart, of which one must hold.
fn holds(requirements: &str, version: &Version) -> bool {
    let requirements = requirements.split(" | ").filter(|text| !text.is_empty());
    requirements
        .map(|text| VersionReq::parse(text).expect("a requirement"))
        .any(|requirement| requirement.matches(version))
}

fn found(packages: &[(&str, Version)]) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for line in ADVISORIES.lines().filter(|line| !line.starts_with('#')) {
        let [id, package, mended, never] = line.split('\t').collect::<Vec<_>>()[..] else {
            panic!("four fields: {line}")
        };
        let versions = packages.iter().filter(|(name, _)| *name == package);
        found.extend(
            versions
                .filter(|(_, version)| !holds(mended, version) && !holds(never, version))
                .map(|(name, version)| format!("{id} {name} {version}")),
        );
    }
    found
}

#[test]
fn no_package_has_a_known_fault_that_is_not_reasoned_about() {
    let found = found(&packages());
    let unreasoned: Vec<&String> = found
        .iter()
        .filter(|found| !DENY.contains(found.split(' ').next().expect("an id")))
        .collect();
    assert!(
        unreasoned.is_empty(),
        "update these, or say in deny.toml why they cannot be reached: {unreasoned:?}"
    );
}

#[test]
fn an_old_package_is_found() {
    let old = [
        ("bumpalo", "3.2.0"),
        ("h2", "0.3.10"),
        ("quick-xml", "0.39.4"),
    ]
    .map(|(name, version)| (name, Version::parse(version).expect("one")));
    assert!(found(&old).len() >= 4, "{:?}", found(&old));
    assert!(packages().len() > 400);
}
