//! Proof that each rule can fail: small sources that break it, and small sources that look similar and do not.

use std::collections::BTreeSet;

use super::check;
use super::rules::RULES;
use super::scan::Source;
use super::table::LayerTable;

/// The real root, whose table the snippets are held against.
const ROOT: &str = include_str!("../../../src/lib.rs");

/// Returns the real root and an empty file for each module of its table.
fn empty_house() -> Vec<Source> {
    let table = LayerTable::parse(ROOT).expect("the real table is sound");
    let modules = table
        .rows
        .keys()
        .map(|module| source(&format!("src/{module}/mod.rs"), ""));
    std::iter::once(source("src/lib.rs", ROOT))
        .chain(modules)
        .collect()
}

/// Returns the rules that break when the files are laid over an otherwise empty house with the real layer table.
fn broken(files: &[(&str, &str)]) -> BTreeSet<&'static str> {
    let mut sources = empty_house();
    sources.retain(|empty| !files.iter().any(|(path, _)| *path == empty.path));
    let (templates, code): (Vec<_>, Vec<_>) = files
        .iter()
        .partition(|(path, _)| path.starts_with("templates/"));
    sources.extend(code.iter().map(|(path, text)| source(path, text)));
    let templates: Vec<Source> = templates
        .iter()
        .map(|(path, text)| source(path, text))
        .collect();
    check(&sources, &templates)
        .into_iter()
        .map(|violation| violation.rule)
        .collect()
}

fn source(path: &str, text: &str) -> Source {
    Source {
        path: path.to_owned(),
        text: text.to_owned(),
    }
}

#[track_caller]
fn breaks(rule: &str, path: &str, text: &str) {
    let found = broken(&[(path, text)]);
    assert!(
        found.contains(rule),
        "`{rule}` does not see this in {path}: {text}\nfound: {found:?}"
    );
}

#[track_caller]
fn keeps(path: &str, text: &str) {
    let found = broken(&[(path, text)]);
    assert!(found.is_empty(), "{path}: {text}\nwrongly found: {found:?}");
}

/// Rule, file, code that breaks it.
const VIOLATIONS: &[(&str, &str, &str)] = &[
    ("layer table", "src/domain/a.rs", "use crate::views::Page;"),
    (
        "layer table",
        "src/domain/a.rs",
        "use crate::{domain::Run, cli as shell};",
    ),
    (
        "layer table",
        "src/domain/a.rs",
        "fn f() -> u8 { crate::stats::mean() }",
    ),
    (
        "layer table",
        "src/domain/a.rs",
        "fn f(x: super::super::stats::Mean) {}",
    ),
    (
        "layer table",
        "src/stats/mod.rs",
        "mod deep { mod deeper { fn f() { super::super::super::domain::run() } } }",
    ),
    ("layer table", "src/stats/mod.rs", "use super::domain;"),
    (
        "layer table",
        "src/stats/mod.rs",
        "use crate as house; fn f() { house::domain::run() }",
    ),
    (
        "layer table",
        "src/stats/mod.rs",
        "use super::*; fn f() { domain::run() }",
    ),
    (
        "layer table",
        "src/render/a.rs",
        "fn f() { let x = vec![crate::warehouse::open()]; }",
    ),
    (
        "layer table",
        "src/render/a.rs",
        "macro_rules! m { () => { $crate::warehouse::open() } }",
    ),
    (
        "layer table",
        "src/render/a.rs",
        "fn f() { format!(\"{}\", g!({ use crate::{warehouse as w}; w::open() })); }",
    ),
    (
        "layer table",
        "src/render/a.rs",
        "fn f() { evalreport::results::save() }",
    ),
    (
        "layer table",
        "src/domain/a.rs",
        "#[serde(with = \"crate::results::time\")] struct S;",
    ),
    (
        "layer table",
        "src/domain/a.rs",
        "impl crate::views::Show for S {}",
    ),
    (
        "layer table",
        "src/domain/a.rs",
        "pub(in crate::views) struct S;",
    ),
    (
        "layer table",
        "src/views/a.rs",
        "#[cfg(test)] mod tests { use crate::cli::run; }",
    ),
    ("layer table", "src/util/mod.rs", "fn f() {}"),
    (
        "layer table",
        "src/import/a.rs",
        "type W = crate::warehouse::Store;",
    ),
    ("1: polars", "src/views/a.rs", "use polars::prelude::*;"),
    ("1: polars", "src/views/a.rs", "use ::polars as p;"),
    (
        "1: polars",
        "src/views/a.rs",
        "fn f() -> polars::frame::DataFrame { todo() }",
    ),
    ("1: polars", "src/views/a.rs", "use r#polars as r#ref;"),
    ("1: polars", "src/views/a.rs", "extern crate polars_core;"),
    (
        "1: polars",
        "src/cli/a.rs",
        "fn f() { m!(x => polars::lit(1)); }",
    ),
    (
        "1: polars",
        "src/views/a.rs",
        "#[cfg(test)] mod tests { use polars::df; }",
    ),
    (
        "1: polars",
        "src/cli/a.rs",
        "use sqlparser::parser::Parser;",
    ),
    (
        "1: columns",
        "src/views/a.rs",
        "fn f() { g(col(\"suite\")); }",
    ),
    (
        "1: columns",
        "src/views/a.rs",
        "fn f() { vec![crate::warehouse::col(\"suite\")]; }",
    ),
    (
        "1: columns",
        "src/cli/a.rs",
        "fn f() { query(\"SELECT suite FROM runs\") }",
    ),
    (
        "1: columns",
        "src/cli/a.rs",
        "fn f() { format!(\"select * from items where {x}\") }",
    ),
    (
        "2: rendering only renders",
        "src/render/a.rs",
        "fn f(x: &mut Vec<u8>) { x.sort_by(|a, b| b.cmp(a)) }",
    ),
    (
        "2: rendering only renders",
        "src/render/a.rs",
        "fn f(x: &mut Vec<u8>) { x.sort_by_key(|a| a.score) }",
    ),
    (
        "2: rendering only renders",
        "src/render/a.rs",
        "fn f(x: &mut Vec<u8>) { x.sort_unstable() }",
    ),
    (
        "2: rendering only renders",
        "src/render/a.rs",
        "fn f() { x.iter().max_by(f64::total_cmp) }",
    ),
    (
        "2: rendering only renders",
        "src/render/a.rs",
        "fn f() { m!(a.partial_cmp(b)) }",
    ),
    (
        "2: rendering only renders",
        "src/render/a.rs",
        "use std::time::Duration;",
    ),
    (
        "2: rendering only renders",
        "src/render/a.rs",
        "use statrs::distribution::Normal;",
    ),
    (
        "2: rendering only renders",
        "templates/a.html",
        "<p>\n{% for x in y.sort_by(z) %}{% endfor %}",
    ),
    (
        "3: writing",
        "src/import/a.rs",
        "use std::fs::File; fn f() { File::create(p); }",
    ),
    (
        "3: writing",
        "src/import/a.rs",
        "use std::fs::File as Disk; fn f() { Disk::create_new(p); }",
    ),
    (
        "3: writing",
        "src/import/a.rs",
        "use std::{fs::{self, read}, io}; fn f() { fs::write(p, b) }",
    ),
    (
        "3: writing",
        "src/import/a.rs",
        "use std::fs::*; fn f() { remove_file(p) }",
    ),
    (
        "3: writing",
        "src/import/a.rs",
        "use std as s; fn f() { s::fs::rename(a, b) }",
    ),
    (
        "3: writing",
        "src/import/a.rs",
        "type Disk = std::fs::File; fn f() { Disk::options() }",
    ),
    (
        "3: writing",
        "src/import/a.rs",
        "fn f() { <std::fs::File>::create(p) }",
    ),
    (
        "3: writing",
        "src/import/a.rs",
        "fn f() { use std::fs; vec![fs::create_dir_all(p)]; }",
    ),
    (
        "3: writing",
        "src/import/a.rs",
        "use std::fs::File; mod inner { use super::*; fn f() { File::create(p) } }",
    ),
    (
        "3: opening",
        "src/import/a.rs",
        "use std::fs::File; fn f() { File::open(p) }",
    ),
    (
        "3: opening",
        "src/config/a.rs",
        "use std::fs; fn f() { fs::read_to_string(p) }",
    ),
    (
        "3: temporary files",
        "src/import/a.rs",
        "use tempfile::NamedTempFile;",
    ),
    (
        "3: writing",
        "src/config/a.rs",
        "fn f() { let make = std::fs::OpenOptions::new; }",
    ),
    (
        "3: writing",
        "src/import/a.rs",
        "fn f() { csv::Writer::from_path(p) }",
    ),
    (
        "3: pure layers touch no file",
        "src/render/a.rs",
        "fn f() { std::fs::read(p) }",
    ),
    (
        "3: pure layers touch no file",
        "src/views/a.rs",
        "use std::{fs as disk};",
    ),
    (
        "3: pure layers touch no file",
        "src/domain/a.rs",
        "fn f(p: &Path) -> bool { p.exists() }",
    ),
    (
        "3: pure layers touch no file",
        "src/stats/a.rs",
        "fn f(p: &Path) { assert!(p.is_file()); }",
    ),
    (
        "3: pure layers touch no file",
        "src/document/a.rs",
        "use std::path::Path; fn f() { ps.filter(Path::exists) }",
    ),
    (
        "3: pure layers touch no file",
        "src/document/a.rs",
        "fn f() { walkdir::WalkDir::new(p) }",
    ),
    (
        "3: pure layers touch no file",
        "templates/a.html",
        "{{ std::fs::read(name) }}",
    ),
    (
        "4: printing",
        "src/results/a.rs",
        "fn f() { println!(\"x\") }",
    ),
    (
        "4: printing",
        "src/results/a.rs",
        "fn f() { std::eprintln!(\"x\") }",
    ),
    (
        "4: printing",
        "src/results/a.rs",
        "macro_rules! say { () => { print!(\"x\") } }",
    ),
    (
        "4: printing",
        "src/results/a.rs",
        "use std::println as say; fn f() { say!(\"x\") }",
    ),
    (
        "4: printing",
        "src/results/a.rs",
        "use std::io; fn f() { io::stderr() }",
    ),
    (
        "4: printing",
        "src/import/a.rs",
        "use indicatif::ProgressBar;",
    ),
    (
        "4: terminal",
        "src/render/a.rs",
        "use std::io::IsTerminal as _;",
    ),
    (
        "4: terminal",
        "src/render/a.rs",
        "fn f() { x.is_terminal() }",
    ),
    (
        "4: process",
        "src/results/a.rs",
        "use std::process; fn f() { process::exit(1) }",
    ),
    (
        "4: process",
        "src/results/a.rs",
        "use std::process::exit as leave;",
    ),
    (
        "4: environment",
        "src/config/a.rs",
        "fn f() { std::env::var(\"HOME\") }",
    ),
    (
        "4: environment",
        "src/config/a.rs",
        "use std::env::{self}; fn f() { env::current_dir() }",
    ),
    (
        "4: clock",
        "src/results/a.rs",
        "use chrono::Utc; fn f() { Utc::now() }",
    ),
    (
        "4: clock",
        "src/results/a.rs",
        "use chrono::prelude::*; fn f() { Local::now() }",
    ),
    (
        "4: clock",
        "src/views/a.rs",
        "use chrono::offset::Utc as Zone; fn f() { <Zone>::now() }",
    ),
    (
        "4: clock",
        "src/process/a.rs",
        "fn f() { std::time::SystemTime::now() }",
    ),
    (
        "4: clock",
        "src/warehouse/a.rs",
        "use std::time::*; fn f() { x.unwrap_or_else(SystemTime::now) }",
    ),
    (
        "4: clock",
        "src/results/a.rs",
        "fn f() { uuid::Uuid::now_v7() }",
    ),
    (
        "4: stopwatch",
        "src/warehouse/a.rs",
        "fn f() { let start = std::time::Instant::now(); }",
    ),
    (
        "4: stopwatch",
        "src/warehouse/a.rs",
        "fn f() { file.modified().elapsed() }",
    ),
    (
        "4: events",
        "src/views/a.rs",
        "use tracing::info; fn f() { info!(\"x\") }",
    ),
    (
        "4: events",
        "src/render/a.rs",
        "fn f() { tracing::debug!(n = 1, \"x\") }",
    ),
    (
        "4: listening",
        "src/warehouse/a.rs",
        "use tracing_subscriber::prelude::*;",
    ),
    (
        "4: listening",
        "src/import/a.rs",
        "fn f() { tracing::subscriber::set_global_default(s) }",
    ),
    ("5: chance", "src/stats/a.rs", "fn f() { rand::rng() }"),
    (
        "5: chance",
        "src/domain/a.rs",
        "use uuid::Uuid; fn f() { Uuid::new_v4() }",
    ),
    (
        "5: hash order",
        "src/views/a.rs",
        "use std::collections::HashMap;",
    ),
    (
        "5: hash order",
        "src/stats/a.rs",
        "use std::collections as c; fn f() { c::HashSet::new() }",
    ),
    (
        "5: hash order",
        "src/render/a.rs",
        "use hashbrown::HashMap;",
    ),
    ("10: programs", "src/cli/a.rs", "use std::process::Command;"),
    (
        "10: programs",
        "src/cli/a.rs",
        "use std::process::*; fn f() { Command::new(\"git\") }",
    ),
    (
        "10: programs",
        "src/main.rs",
        "fn main() { std::process::Command::new(\"git\"); }",
    ),
    (
        "10: programs",
        "src/agent/a.rs",
        "use std::process::{Child, Stdio};",
    ),
    (
        "10: programs",
        "src/results/a.rs",
        "fn f() { rustix::process::kill_process_group(p, s) }",
    ),
    (
        "10: ports",
        "src/cli/a.rs",
        "fn f() { std::net::TcpListener::bind(a) }",
    ),
    ("10: sockets", "src/cli/a.rs", "use std::net::TcpStream;"),
    ("10: sockets", "src/run/a.rs", "use std::net::TcpStream;"),
    ("10: sockets", "src/cli/a.rs", "fn f() { m![ureq::get(u)] }"),
    (
        "source in sight",
        "src/cli/a.rs",
        "#[path = \"../elsewhere.rs\"] mod b;",
    ),
    (
        "source in sight",
        "src/cli/a.rs",
        "include!(\"../elsewhere.rs\");",
    ),
    ("parse", "src/cli/a.rs", "fn {"),
];

#[test]
fn every_violation_is_seen() {
    for (rule, path, text) in VIOLATIONS {
        breaks(rule, path, text);
    }
}

#[test]
fn every_rule_has_a_violation_that_shows_it_can_fail() {
    for rule in RULES {
        assert!(
            VIOLATIONS.iter().any(|(name, ..)| *name == rule.name),
            "no snippet breaks `{}`",
            rule.name
        );
    }
}

#[test]
fn the_same_names_are_fine_where_they_belong() {
    keeps(
        "src/warehouse/a.rs",
        "use tracing::{debug, info}; fn f() { info!(files = list.len(), \"listed\"); debug!(?x) }",
    );
    keeps(
        "src/warehouse/a.rs",
        "use polars::prelude::*; fn f() { col(\"suite\"); std::fs::write(p, b); }",
    );
    keeps(
        "src/results/a.rs",
        "use std::fs::{self, File}; fn f() { File::create(p); fs::rename(a, b); }",
    );
    keeps(
        "src/import/a.rs",
        "use crate::{document, domain::Run, files, results}; use std::fs::File; fn f() -> File { files::open(p) }",
    );
    keeps(
        "src/cli/a.rs",
        "use crate::views; fn f() { println!(\"{}\", chrono::Utc::now()); std::env::var(\"X\"); std::process::exit(1) }",
    );
    keeps(
        "src/main.rs",
        "use std::process::ExitCode; fn main() -> ExitCode { evalreport::cli::run() }",
    );
    keeps(
        "src/process/a.rs",
        "use std::process::Command; use std::net::TcpListener; use rustix::process::Signal; fn f() { Command::new(p); std::time::Instant::now().elapsed() }",
    );
    keeps(
        "src/views/a.rs",
        "fn f(rows: &mut Vec<Row>) { rows.sort_by(|a, b| a.score.total_cmp(&b.score)) }",
    );
    keeps(
        "src/render/a.rs",
        "use crate::domain::{self, Run}; use super::b; fn f(a: &A) { a.exists; b::go(a); std::env::consts::OS; }",
    );
    keeps(
        "templates/a.html",
        "{# sort_by #}{%- for x in rows -%}{{ x.name|upper }}{%~ endfor ~%} { \"a\": 1 }",
    );
}

#[test]
fn words_in_comments_strings_and_lookalikes_are_no_violation() {
    keeps(
        "src/domain/a.rs",
        "//! See [`crate::views`]; polars.\n/// `std::fs::write`\nfn f() -> &'static str { \"polars::prelude\" }",
    );
    keeps(
        "src/results/a.rs",
        "mod env { pub fn var() {} } fn f() { env::var(); self::env::var(); }",
    );
    keeps(
        "src/results/a.rs",
        "fn println() {} fn f() { println(); Clock::now(); this.exit(); }",
    );
    keeps(
        "src/render/a.rs",
        "fn f(sort_by: &str) -> S { let s = g!(sort_by); S { sort_by } }",
    );
    keeps(
        "src/stats/a.rs",
        "struct Path; fn f(views: u8) -> u8 { let domain = views; domain }",
    );
    keeps(
        "src/views/a.rs",
        "#[derive(Debug)] struct S { col: u8 } fn f(s: &S) -> bool { s.col != 1 && log(\"select one from the runs\") }",
    );
}

#[test]
fn test_code_may_do_io_but_keeps_the_layers() {
    let io = "use std::fs; fn f() { fs::write(p, b); println!(\"x\"); std::env::temp_dir(); }";
    keeps(
        "src/views/a.rs",
        &format!("#[cfg(test)] mod tests {{ {io} }}"),
    );
    keeps(
        "src/views/a.rs",
        &format!("#[cfg(all(test, unix))] mod tests {{ {io} }}"),
    );
    keeps(
        "src/views/a.rs",
        "#[cfg(test)] fn f() { std::fs::read(p); }",
    );
    breaks(
        "4: printing",
        "src/views/a.rs",
        &format!("#[cfg(not(test))] mod tests {{ {io} }}"),
    );
    breaks(
        "4: printing",
        "src/views/a.rs",
        &format!("#[cfg(any(test, unix))] mod tests {{ {io} }}"),
    );
    // A test module in a file of its own.
    let apart = [
        ("src/views/mod.rs", "#[cfg(test)] mod tests;"),
        ("src/views/tests.rs", io),
    ];
    assert_eq!(broken(&apart), BTreeSet::new());
    assert!(
        !broken(&[
            ("src/views/mod.rs", "mod tests;"),
            ("src/views/tests.rs", io)
        ])
        .is_empty()
    );
}

#[test]
fn a_re_export_does_not_hide_where_a_name_comes_from() {
    let leak = [
        (
            "src/warehouse/mod.rs",
            "pub use polars::prelude::DataFrame as Table; pub struct Rows;",
        ),
        ("src/views/mod.rs", "use crate::warehouse::Table;"),
    ];
    assert_eq!(broken(&leak), BTreeSet::from(["1: polars"]));
    let disk = [
        ("src/results/mod.rs", "pub mod disk { pub use std::fs::*; }"),
        (
            "src/import/mod.rs",
            "use crate::results::disk; fn f() { disk::write(p, b) }",
        ),
    ];
    assert_eq!(broken(&disk), BTreeSet::from(["3: writing"]));
    // A private glob is not an export, and a lower layer's name given on by a middle one is the middle one's.
    let fine = [
        (
            "src/warehouse/mod.rs",
            "use polars::prelude::*; pub struct Rows;",
        ),
        (
            "src/views/mod.rs",
            "pub use crate::stats::Mean; use crate::warehouse::Rows;",
        ),
        ("src/render/mod.rs", "use crate::views::Mean;"),
    ];
    assert_eq!(broken(&fine), BTreeSet::new());
}

#[test]
fn files_of_a_layer_that_use_each_other_in_a_circle_are_seen() {
    const CYCLE: &str = "cycle of files";
    let two = [
        ("src/verify/a.rs", "use super::b::B; pub struct A;"),
        ("src/verify/b.rs", "pub struct B; fn f() { super::a::A }"),
    ];
    assert_eq!(broken(&two), BTreeSet::from([CYCLE]));
    // Through what the folder's own file gives on, and through a name of another kind.
    let given_on = [
        (
            "src/verify/mod.rs",
            "mod a; mod b; pub use a::A; pub use b::B as C;",
        ),
        ("src/verify/a.rs", "use super::C; pub struct A;"),
        ("src/verify/b.rs", "pub struct B(super::A);"),
    ];
    assert_eq!(broken(&given_on), BTreeSet::from([CYCLE]));
    // What a folder's file defines itself is used like that of any other.
    let of_the_folder = [
        (
            "src/verify/mod.rs",
            "mod a; pub struct M; pub fn f() { a::go() }",
        ),
        ("src/verify/a.rs", "use super::M; pub fn go() {}"),
    ];
    assert_eq!(broken(&of_the_folder), BTreeSet::from([CYCLE]));
    let three = [
        ("src/verify/a.rs", "pub struct A(super::b::B);"),
        ("src/verify/b.rs", "pub struct B(super::c::C);"),
        (
            "src/verify/c.rs",
            "macro_rules! m { () => { $crate::verify::a::A } } pub struct C;",
        ),
    ];
    let mut sources = empty_house();
    sources.extend(three.iter().map(|(path, text)| source(path, text)));
    let found: Vec<String> = check(&sources, &[])
        .iter()
        .map(ToString::to_string)
        .collect();
    let expected = "src/verify/a.rs:1: src/verify/a.rs -> src/verify/b.rs -> src/verify/c.rs -> src/verify/a.rs [cycle of files]";
    assert_eq!(found, [expected]);
}

#[test]
fn giving_on_naming_a_module_and_test_code_make_no_circle() {
    let fine = [
        (
            "src/verify/mod.rs",
            "mod a; mod b; pub use a::A; pub use b::B; pub struct M;",
        ),
        (
            "src/verify/a.rs",
            "use super::{M, b}; pub struct A; fn f() { b::B } #[cfg(test)] mod tests { use super::super::C; }",
        ),
        (
            "src/verify/b.rs",
            "use super::M; use super::a; pub struct B; #[cfg(test)] mod tests { use super::super::A; }",
        ),
    ];
    assert_eq!(broken(&fine), BTreeSet::new());
}

#[test]
fn names_that_lead_in_circles_end() {
    keeps(
        "src/cli/a.rs",
        "use self::b as c; use self::c as b; pub use super::*; fn f() { b::x(); unknown(); }",
    );
}

#[test]
fn a_violation_names_its_line() {
    let mut sources = empty_house();
    sources.push(source(
        "src/views/a.rs",
        "\n\nfn f() {\n    g!(\n        std::fs::read(p));\n}\n",
    ));
    let template = source(
        "templates/a.html",
        "<p>\n\n{{ x }}{{ std::fs::read(name) }}\n",
    );
    let found: Vec<String> = check(&sources, &[template])
        .iter()
        .map(ToString::to_string)
        .collect();
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(
        found[0].starts_with("src/views/a.rs:5: `views` has `std::fs::read`"),
        "{found:?}"
    );
    assert!(
        found[1].starts_with("templates/a.html:3: `render` has `std::fs::read`"),
        "{found:?}"
    );
}

#[test]
fn the_table_is_read_and_must_be_sound() {
    let table = |rows: &str| LayerTable::parse(rows).map(|table| table.rows.len());
    assert_eq!(
        table("//! | 0 | [`a`] | x | nothing of ours |\n//! | 1 | [`b`] | y | a |"),
        Ok(2)
    );
    for (rows, message) in [
        ("//! no table", "holds no layer table"),
        ("//! | 0 | a | x | nothing of ours |", "does not link"),
        (
            "//! | 0 | [`a`] | x | everything |\n//! | 0 | [`a`] | x | everything |",
            "two rows",
        ),
        ("//! | 1 | [`a`] | x | b |", "no row"),
        (
            "//! | 1 | [`a`] | x | b |\n//! | 1 | [`b`] | x | nothing of ours |",
            "not lower",
        ),
    ] {
        let error = table(rows).expect_err(rows);
        assert!(error.contains(message), "{rows}: {error}");
    }
}

#[test]
fn modules_and_rows_must_match() {
    let mut without_cli = empty_house();
    without_cli.retain(|source| !source.path.starts_with("src/cli/"));
    without_cli[0].text = ROOT.replace("pub mod cli;", "");
    let found = check(&without_cli, &[]);
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(
        found[0].message.contains("`cli`, which is no module"),
        "{found:?}"
    );
}
