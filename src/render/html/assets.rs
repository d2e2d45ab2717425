//! The stylesheet, the script and the icon, named by their content; and the program that checks the site's numbers.

use rust_embed::{EmbeddedFile, RustEmbed};

use serde::Serialize;

use super::SiteFile;
use super::slug::hex;

#[derive(RustEmbed)]
#[folder = "static/"]
struct Static;

/// Where the assets stand, relative to the site's root.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Assets {
    pub css: String,
    pub js: String,
    pub icon: String,
    pub suite_css: String,
    pub suite_js: String,
}

impl Assets {
    pub fn names() -> Self {
        let name = |stem: &str, extension: &str| {
            let file = file(&format!("{stem}.{extension}"));
            format!("a/{stem}.{}.{extension}", hex(&file.metadata.sha256_hash(), 12))
        };
        Self {
            css: name("site", "css"),
            js: name("site", "js"),
            icon: name("icon", "svg"),
            suite_css: name("suite", "css"),
            suite_js: name("suite", "js"),
        }
    }

    pub fn files(&self) -> impl Iterator<Item = SiteFile> + use<> {
        let of = |path: &str, name: &str| SiteFile { path: path.to_owned(), bytes: file(name).data.into_owned() };
        let verify = of(VERIFY, VERIFY);
        let own = [of(&self.suite_css, "suite.css"), of(&self.suite_js, "suite.js")];
        [of(&self.css, "site.css"), of(&self.js, "site.js"), of(&self.icon, "icon.svg"), verify].into_iter().chain(own)
    }
}

/// The style sheets and the scripts of all pages, each kind as one text: a single file has pages of every kind.
pub(super) fn all_texts() -> [String; 2] {
    [["site.css", "suite.css"], ["site.js", "suite.js"]].map(|names| names.map(text).join("\n"))
}

/// Returns an asset's text.
fn text(name: &str) -> String {
    String::from_utf8_lossy(&file(name).data).into_owned()
}

/// Stands where a reader looks first, under its own name.
const VERIFY: &str = "verify_site.py";

fn file(name: &str) -> EmbeddedFile {
    Static::get(name).expect("static/ is compiled in with these files")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn assets_keep_their_budget_and_call_nobody() {
        for (name, most) in [("site.css", 25_000), ("site.js", 25_000), ("icon.svg", 1_000), ("suite.css", 16_000), ("suite.js", 6_000)] {
            let bytes = file(name).data.into_owned();
            assert!(bytes.len() <= most, "{name} has {} bytes", bytes.len());
            let text = String::from_utf8_lossy(&bytes).replace("http://www.w3.org/2000/svg", "");
            for forbidden in ["http:", "https:", "url(", "innerHTML", "eval(", "@import", "fetch("] {
                assert!(!text.contains(forbidden), "{name} has {forbidden}");
            }
        }
    }
}
