//! axe-core, which finds what people with other senses or tools cannot use.

use std::fs::{self, File};
use std::path::Path;
use std::process::Command;

use crate::browser::Browser;
use crate::needs;
use crate::programs::Start as _;

const VERSION: &str = "4.11.0";
/// Rows of a table come from one template, sections of a list as well. The first stand for all: for hundreds axe needs minutes.
const SHORTENED: &str = "
    document.querySelectorAll('tbody').forEach(body => [...body.rows].slice(20).forEach(row => row.remove()));
    for (let rest = document.querySelectorAll('main > h2')[10]; rest && !rest.matches('nav');) {
        const next = rest.nextElementSibling;
        rest.remove();
        rest = next;
    }";

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Rules {
    All,
    /// How high and wide targets are.
    Size,
    ContrastInTheDark,
}

/// Returns its script, fetched once and kept beside the build; `None` if it cannot be had.
pub fn source() -> Option<String> {
    if !needs::is_met("npm") {
        return None;
    }
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("axe-core-{VERSION}"));
    fs::create_dir_all(&folder).expect("the build's folder can be written");
    let lock = File::create(folder.join("lock")).expect("the build's folder can be written");
    lock.lock().expect("one at a time");
    let script = folder.join("node_modules/axe-core/axe.min.js");
    if !script.exists() {
        let output = Command::new("npm")
            .args([
                "install",
                "--silent",
                "--no-audit",
                "--no-fund",
                "--no-save",
                &format!("axe-core@{VERSION}"),
                "--prefix",
            ])
            .arg(&folder)
            .finish();
        if !output.status.success() {
            eprintln!(
                "axe-core cannot be installed: {}",
                String::from_utf8_lossy(&output.stderr)
            );
            return None;
        }
    }
    Some(fs::read_to_string(script).expect("npm has put it there"))
}

/// Loads it into the page, which is shortened for it.
pub fn load(browser: &Browser, source: &str) {
    browser.evaluate(&format!("{source}; {SHORTENED}"));
}

/// Returns what it finds wrong in the page that it was loaded into, with the first element of each kind of fault.
pub fn violations(browser: &Browser, rules: Rules) -> Vec<String> {
    let rules = match rules {
        Rules::All => "['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']",
        Rules::Size => "{type: 'rule', values: ['target-size']}",
        Rules::ContrastInTheDark => "{type: 'rule', values: ['color-contrast']}",
    };
    let found = browser.evaluate(&format!(
        "return axe.run(document, {{runOnly: {rules}, preload: false}})
            .then(result => result.violations.map(one => one.id + ' x ' + one.nodes.length + ': ' + one.nodes[0].html.slice(0, 200)))",
    ));
    found
        .as_array()
        .expect("a list")
        .iter()
        .map(ToString::to_string)
        .collect()
}
