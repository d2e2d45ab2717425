//! Options of the form `NAME=VALUE`.

use std::collections::BTreeMap;

use crate::domain::escape_invisible;

use super::failure::CommandFailure;

/// Reads every use of an option such as `--set`. `form` shows its syntax, such as `--set FIELD=VALUE`.
pub(super) fn parse_assignments(
    option: &str,
    given: &[String],
    form: &str,
) -> Result<BTreeMap<String, String>, CommandFailure> {
    given
        .iter()
        .map(|one| parse_assignment(option, one, form))
        .collect()
}

/// Reads a single use of such an option.
pub(super) fn parse_assignment(
    option: &str,
    one: &str,
    form: &str,
) -> Result<(String, String), CommandFailure> {
    let (name, value) = one.split_once('=').ok_or_else(|| {
        CommandFailure::new(format!("{option} `{}` has no `=`", escape_invisible(one)))
            .with_hint(format!("write {form}"))
    })?;
    Ok((name.to_owned(), value.to_owned()))
}
