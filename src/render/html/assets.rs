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
}

impl Assets {
    pub fn names() -> Self {
        let name = |stem: &str, extension: &str| {
            let file = file(&format!("{stem}.{extension}"));
            format!("a/{stem}.{}.{extension}", hex(&file.metadata.sha256_hash(), 12))
        };
        Self { css: name("site", "css"), js: name("site", "js"), icon: name("icon", "svg") }
    }

    pub fn files(&self) -> impl Iterator<Item = SiteFile> + use<> {
        let of = |path: &str, name: &str| SiteFile { path: path.to_owned(), bytes: file(name).data.into_owned() };
        let verify = of(VERIFY, VERIFY);
        [of(&self.css, "site.css"), of(&self.js, "site.js"), of(&self.icon, "icon.svg"), verify].into_iter()
    }
}

/// Returns an asset's text.
pub(super) fn text(name: &str) -> String {
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
        for (name, most) in [("site.css", 25_000), ("site.js", 25_000), ("icon.svg", 1_000)] {
            let bytes = file(name).data.into_owned();
            assert!(bytes.len() <= most, "{name} has {} bytes", bytes.len());
            let text = String::from_utf8_lossy(&bytes).replace("http://www.w3.org/2000/svg", "");
            for forbidden in ["http:", "https:", "url(", "innerHTML", "eval(", "@import", "fetch("] {
                assert!(!text.contains(forbidden), "{name} has {forbidden}");
            }
        }
    }
}
