//! Stylesheets, scripts and the icon, with digests of their content in their names, and the program that verifies the site's numbers.

use rust_embed::{EmbeddedFile, RustEmbed};

use serde::Serialize;

use super::SiteFile;
use super::slug::hex_prefix;

#[derive(RustEmbed)]
#[folder = "static/"]
struct StaticFiles;

/// Paths of the assets, relative to the site's root.
#[derive(Clone, Debug, Serialize)]
pub(super) struct SiteAssets {
    pub css: String,
    pub js: String,
    pub icon: String,
    /// Assets of a suite's pages only.
    pub suite: PageAssets,
    /// The command palette, which the script loads when it is first opened.
    pub palette: PageAssets,
    /// Assets of transcripts' pages only.
    pub transcript: PageAssets,
    /// Assets of pages with a map of items only.
    pub map: PageAssets,
    /// Assets of pages about one arm or two only. The script compares any two arms.
    pub pair: PageAssets,
}

/// A stylesheet and a script that only some pages load.
#[derive(Clone, Debug, Serialize)]
pub(super) struct PageAssets {
    pub css: String,
    pub js: String,
}

impl SiteAssets {
    pub fn new() -> Self {
        let name = |stem: &str, extension: &str| {
            let file = embedded_file(&format!("{stem}.{extension}"));
            format!(
                "a/{stem}.{}.{extension}",
                hex_prefix(&file.metadata.sha256_hash(), 12)
            )
        };
        let extra = |stem: &str| PageAssets {
            css: name(stem, "css"),
            js: name(stem, "js"),
        };
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
        let of = |path: &str, name: &str| SiteFile {
            path: path.to_owned(),
            bytes: embedded_file(name).data.into_owned(),
        };
        let verify = of(VERIFIER_SCRIPT, VERIFIER_SCRIPT);
        let both =
            |extra: &PageAssets, css: &str, js: &str| [of(&extra.css, css), of(&extra.js, js)];
        let extras = [
            both(&self.suite, "suite.css", "suite.js"),
            both(&self.palette, "palette.css", "palette.js"),
            both(&self.transcript, "transcript.css", "transcript.js"),
            both(&self.map, "map.css", "map.js"),
            both(&self.pair, "pair.css", "pair.js"),
        ];
        let all = [
            of(&self.css, "site.css"),
            of(&self.js, "site.js"),
            of(&self.icon, "icon.svg"),
            verify,
        ];
        all.into_iter().chain(extras.into_iter().flatten())
    }
}

/// Returns the stylesheets and the scripts for a single-file site, each kind as one text. The script for any two arms is missing: it would
/// load outcomes from separate files.
pub(super) fn single_file_texts() -> [String; 2] {
    let (sheets, scripts) = (
        ["site.css", "suite.css", "palette.css", "pair.css"],
        ["site.js", "suite.js", "palette.js"],
    );
    [
        sheets.map(read_text).join("\n"),
        scripts.map(read_text).join("\n"),
    ]
}

/// Returns an asset's text.
fn read_text(name: &str) -> String {
    String::from_utf8_lossy(&embedded_file(name).data).into_owned()
}

/// Keeps its own name at the site's root, where readers look first.
const VERIFIER_SCRIPT: &str = "verify_site.py";

fn embedded_file(name: &str) -> EmbeddedFile {
    StaticFiles::get(name).expect("static/ is compiled in with these files")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn assets_keep_their_budget_and_call_nobody() {
        let extras = [
            ("palette.css", 3_000),
            ("palette.js", 14_000),
            ("transcript.css", 4_000),
            ("transcript.js", 4_000),
        ];
        let of_suites = [("suite.css", 17_500), ("suite.js", 6_000)];
        let of_maps = [("map.css", 4_500), ("map.js", 5_000)];
        let of_pairs = [("pair.css", 9_000), ("pair.js", 36_500)];
        let on_all = [
            ("site.css", 31_500),
            ("site.js", 27_500),
            ("icon.svg", 1_000),
        ];
        for (name, most) in on_all
            .into_iter()
            .chain(extras)
            .chain(of_maps)
            .chain(of_pairs)
            .chain(of_suites)
        {
            let bytes = embedded_file(name).data.into_owned();
            assert!(bytes.len() <= most, "{name} has {} bytes", bytes.len());
            let text = String::from_utf8_lossy(&bytes).replace("http://www.w3.org/2000/svg", "");
            for forbidden in [
                "http:",
                "https:",
                "url(",
                "innerHTML",
                "eval(",
                "@import",
                "fetch(",
            ] {
                assert!(!text.contains(forbidden), "{name} has {forbidden}");
            }
        }
    }
}
