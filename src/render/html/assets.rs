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
    /// What only pages of a suite load.
    pub suite: Extra,
    /// The command palette, which the script loads when it is opened.
    pub palette: Extra,
    /// What only pages of transcripts load.
    pub transcript: Extra,
    /// What only pages with a map of items load.
    pub map: Extra,
    /// What only pages about one arm or two load; the script compares any two arms.
    pub pair: Extra,
}

/// A sheet and a script that only some pages load.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Extra {
    pub css: String,
    pub js: String,
}

impl Assets {
    pub fn names() -> Self {
        let name = |stem: &str, extension: &str| {
            let file = file(&format!("{stem}.{extension}"));
            format!("a/{stem}.{}.{extension}", hex(&file.metadata.sha256_hash(), 12))
        };
        let extra = |stem: &str| Extra { css: name(stem, "css"), js: name(stem, "js") };
        Self {
            css: name("site", "css"),
            js: name("site", "js"),
            icon: name("icon", "svg"),
            suite: extra("suite"),
            palette: extra("palette"),
            transcript: extra("transcript"),
            map: extra("map"),
            pair: extra("pair"),
        }
    }

    pub fn files(&self) -> impl Iterator<Item = SiteFile> + use<> {
        let of = |path: &str, name: &str| SiteFile { path: path.to_owned(), bytes: file(name).data.into_owned() };
        let verify = of(VERIFY, VERIFY);
        let both = |extra: &Extra, css: &str, js: &str| [of(&extra.css, css), of(&extra.js, js)];
        let extras = [
            both(&self.suite, "suite.css", "suite.js"),
            both(&self.palette, "palette.css", "palette.js"),
            both(&self.transcript, "transcript.css", "transcript.js"),
            both(&self.map, "map.css", "map.js"),
            both(&self.pair, "pair.css", "pair.js"),
        ];
        let all = [of(&self.css, "site.css"), of(&self.js, "site.js"), of(&self.icon, "icon.svg"), verify];
        all.into_iter().chain(extras.into_iter().flatten())
    }
}

/// The style sheets and the scripts of the pages that a single file has, each kind as one text. Pages of any two arms are not among them:
/// they load outcomes from beside them.
pub(super) fn all_texts() -> [String; 2] {
    let (sheets, scripts) = (["site.css", "suite.css", "palette.css", "pair.css"], ["site.js", "suite.js", "palette.js"]);
    [sheets.map(text).join("\n"), scripts.map(text).join("\n")]
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
        let extras = [("palette.css", 3_000), ("palette.js", 14_000), ("transcript.css", 4_000), ("transcript.js", 4_000)];
        let of_suites = [("suite.css", 16_000), ("suite.js", 6_000)];
        let of_maps = [("map.css", 3_000), ("map.js", 5_000)];
        let of_pairs = [("pair.css", 8_000), ("pair.js", 25_500)];
        let on_all = [("site.css", 25_000), ("site.js", 25_000), ("icon.svg", 1_000)];
        for (name, most) in on_all.into_iter().chain(extras).chain(of_maps).chain(of_pairs).chain(of_suites) {
            let bytes = file(name).data.into_owned();
            assert!(bytes.len() <= most, "{name} has {} bytes", bytes.len());
            let text = String::from_utf8_lossy(&bytes).replace("http://www.w3.org/2000/svg", "");
            for forbidden in ["http:", "https:", "url(", "innerHTML", "eval(", "@import", "fetch("] {
                assert!(!text.contains(forbidden), "{name} has {forbidden}");
            }
        }
    }
}
