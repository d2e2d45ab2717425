//! The site's settings.

use crate::document::{Fields, quote_text};
use crate::domain::OwnPattern;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SiteConfig {
    pub title: Option<String>,
    /// The site's address, for links that must be absolute. Has no trailing slash.
    pub base_url: Option<String>,
    /// The suite that the overview shows first.
    pub default_suite: Option<String>,
    /// The approach that all others are compared with.
    pub baseline: Option<String>,
    /// Whether pages ask search engines not to index them.
    pub noindex: bool,
    /// Patterns that `--redact` removes in addition to the built-in ones.
    pub redact: Vec<OwnPattern>,
}

pub(super) fn read_section(fields: &mut Fields) -> SiteConfig {
    let Some(mut fields) = fields.fields("site") else {
        return SiteConfig::default();
    };
    let site = SiteConfig {
        title: fields.text("title"),
        base_url: read_base_url(&mut fields),
        default_suite: fields.text("default_suite"),
        baseline: fields.text("baseline"),
        noindex: fields.boolean("noindex").unwrap_or_default(),
        redact: fields.read_each("redact", read_pattern),
    };
    fields.finish();
    site
}

fn read_pattern(mut fields: Fields) -> Option<OwnPattern> {
    let (name, pattern) = (
        fields.required_text("name"),
        fields.required_text("pattern"),
    );
    let parsed = name.zip(pattern).and_then(|(name, pattern)| {
        let parsed = OwnPattern::parse(&name, &pattern);
        if let Err(reason) = &parsed {
            let message = format!(
                "{} is no pattern to redact by: {reason}",
                quote_text(&fields.path_of("pattern"))
            );
            fields.reject("pattern", message, None);
        }
        parsed.ok()
    });
    fields.finish();
    parsed
}

/// Reads an address to which the pages' paths can be appended.
fn read_base_url(fields: &mut Fields) -> Option<String> {
    let url = read_url(fields, "base_url")?;
    if url.contains(['?', '#']) {
        let message = format!(
            "`site.base_url` must be the address of a folder, not {}",
            quote_text(&url)
        );
        fields.reject(
            "base_url",
            message,
            Some("leave out what begins with ? or #".to_owned()),
        );
        return None;
    }
    Some(url)
}

/// Reads an absolute web address, without trailing slashes.
pub(super) fn read_url(fields: &mut Fields, key: &str) -> Option<String> {
    let text = fields.text(key)?;
    if !is_web_address(&text) {
        let message = format!(
            "{} must be a web address, not {}",
            quote_text(&fields.path_of(key)),
            quote_text(&text)
        );
        fields.reject(
            key,
            message,
            Some("write it with https:// or http:// in front".to_owned()),
        );
        return None;
    }
    Some(text.trim_end_matches('/').to_owned())
}

/// Returns the address of a folder without trailing slashes, or `None` if the text is no such address.
pub fn folder_address(text: &str) -> Option<&str> {
    (is_web_address(text) && !text.contains(['?', '#'])).then(|| text.trim_end_matches('/'))
}

fn is_web_address(text: &str) -> bool {
    let host = text
        .strip_prefix("https://")
        .or_else(|| text.strip_prefix("http://"));
    host.is_some_and(|host| !host.is_empty() && !host.starts_with('/'))
        && !text.contains(|character: char| {
            character.is_whitespace()
                || character.is_control()
                || matches!(character, '"' | '<' | '>' | '`')
        })
}
