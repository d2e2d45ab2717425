//! Attributes of XML elements.

use quick_xml::events::BytesStart;

/// Returns the value of an attribute with its references resolved.
pub fn read_attribute(start: &BytesStart<'_>, name: &str) -> Option<String> {
    let found = start
        .attributes()
        .with_checks(false)
        .flatten()
        .find(|attribute| attribute.key.as_ref() == name.as_bytes())?;
    Some(resolve_references(&String::from_utf8_lossy(&found.value)))
}

/// Returns the text with its references resolved, or unchanged if one is unknown.
pub fn resolve_references(text: &str) -> String {
    quick_xml::escape::unescape(text).map_or_else(|_| text.to_owned(), std::borrow::Cow::into_owned)
}
