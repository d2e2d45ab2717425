//! Options of the form `NAME=VALUE`.

use std::collections::BTreeMap;

use crate::domain::visible;

use super::failure::Failure;

/// Reads options such as `--set FIELD=VALUE`.
pub(super) fn assignments(options: &[String], example: &str) -> Result<BTreeMap<String, String>, Failure> {
    let mut set = BTreeMap::new();
    for one in options {
        let (field, value) = one
            .split_once('=')
            .ok_or_else(|| Failure::new(format!("`{}` has no `=`", visible(one))).with_hint(format!("write it such as {example}")))?;
        set.insert(field.to_owned(), value.to_owned());
    }
    Ok(set)
}
