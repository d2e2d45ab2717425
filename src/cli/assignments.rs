//! Options of the form `NAME=VALUE`.

use std::collections::BTreeMap;

use crate::domain::visible;

use super::failure::Failure;

/// Reads every use of an option such as `--set`. `form` shows its syntax, such as `--set FIELD=VALUE`.
pub(super) fn assignments(
    option: &str,
    given: &[String],
    form: &str,
) -> Result<BTreeMap<String, String>, Failure> {
    given
        .iter()
        .map(|one| assignment(option, one, form))
        .collect()
}

/// Reads a single use of such an option.
pub(super) fn assignment(option: &str, one: &str, form: &str) -> Result<(String, String), Failure> {
    let (name, value) = one.split_once('=').ok_or_else(|| {
        Failure::new(format!("{option} `{}` has no `=`", visible(one)))
            .with_hint(format!("write {form}"))
    })?;
    Ok((name.to_owned(), value.to_owned()))
}
