//! The README's claims: each names what proves it, and its figures are those of the page it links to.

use std::path::Path;

use regex::Regex;

use crate::links::read;
use crate::support::Project;

/// The entries of the README's lists that claim something, with what proves them.
fn claims(text: &str) -> Vec<(String, String)> {
    let claim = Regex::new(r"(?ms)^- (\*\*.*?)<!-- proved by: (\S+) -->").expect("a pattern");
    claim
        .captures_iter(text)
        .map(|found| (found[1].to_owned(), found[2].to_owned()))
        .collect()
}

/// Whether a file, or a test in a file (`FILE::TEST`), exists.
fn is_there(proof: &str) -> bool {
    let (file, test) = proof.split_once("::").unwrap_or((proof, ""));
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
    path.is_file() && (test.is_empty() || read(file).contains(&format!("fn {test}(")))
}

#[test]
fn readme_claims_have_a_proof_that_exists() {
    let claims = claims(&read("README.md"));
    assert_eq!(claims.len(), 7, "{claims:#?}");
    for (claim, proof) in claims {
        assert!(!claim.contains("\n- "), "a claim without a proof: {claim}");
        assert!(is_there(&proof), "{proof}, which proves: {claim}");
    }
    assert!(!is_there("tests/it/nowhere.rs") && !is_there("tests/it/readme.rs::nowhere"));
}

#[test]
fn readme_figures_stand_on_the_page_that_is_linked() {
    let figure = Regex::new(r"\d[\d.]*(%| s\b)").expect("a pattern");
    let link = Regex::new(r"\]\(([^)#]+\.md)").expect("a pattern");
    let mut figures = 0;
    for (claim, _) in claims(&read("README.md")) {
        let page = link.captures(&claim).map(|found| read(&found[1]));
        for found in figure.find_iter(&claim) {
            let page = page
                .as_ref()
                .unwrap_or_else(|| panic!("no page for {claim}"));
            assert!(
                page.contains(found.as_str()),
                "{} of: {claim}",
                found.as_str()
            );
            figures += 1;
        }
    }
    assert_eq!(figures, 6);
}

/// Our own forms are none of other tools.
#[test]
fn readme_counts_the_formats_that_are_read() {
    let help = Project::new().run(["import", "--help"]).stdout;
    let values = help.split("Possible values:").nth(1).unwrap_or_default();
    let formats = values
        .lines()
        .map(str::trim)
        .skip_while(|line| line.is_empty())
        .take_while(|line| line.starts_with("- "))
        .filter(|line| {
            !["- table:", "- rubric:", "- bundle:", "- export:"]
                .iter()
                .any(|own| line.starts_with(own))
        })
        .count();
    for page in ["README.md", "CHANGELOG.md"] {
        assert!(
            read(page).contains(&format!(" {formats} formats")),
            "{page}: {formats}"
        );
    }
}
