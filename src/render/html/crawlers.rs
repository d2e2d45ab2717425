//! Files for search engines: `robots.txt`, and the sitemap.

use askama::Template;

use crate::views::SiteContext;

use super::shell::Text;
use super::site_file::{PAGE_EXTENSION, SiteFile};

/// Maximum addresses in one sitemap, by its protocol.
const MAX_ADDRESSES: usize = 50_000;

#[derive(Template)]
#[template(path = "sitemap.xml")]
struct Sitemap {
    addresses: Vec<Text>,
}

#[derive(Template)]
#[template(path = "sitemap-index.xml")]
struct SitemapIndex {
    addresses: Vec<Text>,
}

/// Makes the files for search engines. `paths` are all files of the site in order; only pages go into a sitemap.
pub fn crawler_files<'a>(
    context: &SiteContext,
    paths: impl IntoIterator<Item = &'a str>,
) -> Vec<SiteFile> {
    let mut files = Vec::new();
    if context.noindex {
        files.push(SiteFile {
            path: "robots.txt".to_owned(),
            bytes: b"User-agent: *\nDisallow: /\n".to_vec(),
        });
    }
    if let Some(base) = &context.base_url {
        files.extend(render_sitemaps(base, paths, MAX_ADDRESSES));
    }
    files
}

/// Makes one sitemap, or several with an index.
fn render_sitemaps<'a>(
    base: &str,
    paths: impl IntoIterator<Item = &'a str>,
    most: usize,
) -> Vec<SiteFile> {
    let pages: Vec<&str> = paths
        .into_iter()
        .filter(|path| path.ends_with(PAGE_EXTENSION))
        .collect();
    let addresses = |paths: &[&str]| {
        paths
            .iter()
            .map(|path| Text::from(format!("{base}/{path}")))
            .collect()
    };
    let main = "sitemap.xml".to_owned();
    if pages.len() <= most {
        return vec![SiteFile::from_template(
            main,
            &Sitemap {
                addresses: addresses(&pages),
            },
        )];
    }
    let name = |number: usize| format!("sitemap-{number}.xml");
    let parts = (1..).zip(pages.chunks(most)).map(|(number, part)| {
        SiteFile::from_template(
            name(number),
            &Sitemap {
                addresses: addresses(part),
            },
        )
    });
    let mut files: Vec<SiteFile> = parts.collect();
    let names: Vec<&str> = files.iter().map(|file| file.path.as_str()).collect();
    let index = SiteFile::from_template(
        main,
        &SitemapIndex {
            addresses: addresses(&names),
        },
    );
    files.push(index);
    files
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(file: &SiteFile) -> &str {
        std::str::from_utf8(&file.bytes).expect("text")
    }

    #[test]
    fn addresses_are_escaped_and_only_pages_are_listed() {
        let files = render_sitemaps(
            "https://e.org/a&b",
            ["a/site.css", "data/x.json", "index.html"],
            2,
        );
        assert_eq!(files.len(), 1);
        assert_eq!(files[0].path, "sitemap.xml");
        assert!(
            text(&files[0]).contains("<url><loc>https://e.org/a&#38;b/index.html</loc></url>"),
            "{}",
            text(&files[0])
        );
        assert_eq!(text(&files[0]).matches("<loc>").count(), 1);
    }

    #[test]
    fn more_than_one_may_hold_are_split() {
        let files = render_sitemaps("https://e.org", ["1.html", "2.html", "3.html"], 2);
        let paths: Vec<&str> = files.iter().map(|file| file.path.as_str()).collect();
        assert_eq!(paths, ["sitemap-1.xml", "sitemap-2.xml", "sitemap.xml"]);
        assert!(text(&files[1]).contains("<loc>https://e.org/3.html</loc>"));
        assert!(
            text(&files[2]).contains("<sitemap><loc>https://e.org/sitemap-2.xml</loc></sitemap>")
        );
    }
}
