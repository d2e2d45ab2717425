//! Paths of fields: `article.name`, `items[1].price`, `["a key"].b`.

use super::parse::JsonValue;

/// Steps from a value to one in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct JsonPath(Vec<PathStep>);

#[derive(Clone, Debug, PartialEq, Eq)]
enum PathStep {
    Key(String),
    Index(usize),
}

impl JsonPath {
    /// Reads a path. Returns `None` if it is none.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let mut steps = Vec::new();
        let mut rest = text;
        while !rest.is_empty() {
            if let Some(inner) = rest.strip_prefix("[\"") {
                let (key, after) = inner.split_once("\"]")?;
                steps.push(PathStep::Key(key.to_owned()));
                rest = after;
            } else if let Some(inner) = rest.strip_prefix('[') {
                let (index, after) = inner.split_once(']')?;
                steps.push(PathStep::Index(index.parse().ok()?));
                rest = after;
            } else {
                let key = if steps.is_empty() {
                    rest
                } else {
                    rest.strip_prefix('.')?
                };
                let end = key.find(['.', '[']).unwrap_or(key.len());
                if end == 0 {
                    return None;
                }
                steps.push(PathStep::Key(key[..end].to_owned()));
                rest = &key[end..];
            }
        }
        (!steps.is_empty()).then_some(Self(steps))
    }

    /// Returns the value at the path. Lists are not searched.
    pub(crate) fn find<'v>(&self, value: &'v JsonValue) -> Option<&'v JsonValue> {
        self.0
            .iter()
            .try_fold(value, |value, step| match (step, value) {
                (PathStep::Key(key), value) => value.get(key),
                (PathStep::Index(index), JsonValue::List(items)) => items.get(*index),
                (PathStep::Index(_), _) => None,
            })
    }
}

#[cfg(test)]
mod tests {
    use super::super::parse::parse_whole;
    use super::*;

    #[test]
    fn a_path_leads_to_one_value() {
        let value = parse_whole("{\"a\": {\"b\": [1, {\"c d\": 2}]}}", false)
            .expect("JSON")
            .value;
        let found = |path: &str| {
            let found = JsonPath::parse(path)
                .expect("a path")
                .find(&value)?
                .to_serde();
            Some(found.to_string())
        };
        assert_eq!(found("a.b[0]").as_deref(), Some("1"));
        assert_eq!(found("a.b[1][\"c d\"]").as_deref(), Some("2"));
        assert_eq!(found("a.c"), None);
        assert_eq!(found("a.b.c"), None);
        for wrong in ["", ".", "a.", "a..b", "a[x]", "a[1", "a[1]b"] {
            assert_eq!(JsonPath::parse(wrong), None, "{wrong}");
        }
    }
}
