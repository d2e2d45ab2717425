//! Accepted regressions, one line each, beside the tombstones. A line is never rewritten.

use std::fs;
use std::io;

use chrono::{DateTime, SecondsFormat, Utc};
use serde::{Deserialize, Serialize};

use crate::domain::{Acceptance, Problem, Problems, escape_invisible};
use crate::files;

use super::append_log::AppendLog;
use super::{Store, StoreError, durable};

#[derive(Serialize, Deserialize)]
struct WireAcceptance {
    suite: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    suite_version: Option<String>,
    approach: String,
    model: String,
    batches: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    since: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    through: Option<String>,
    reason: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    who: Option<String>,
    time: String,
}

const MISSING_ACCEPTANCE_HINT: &str = "without the line, an accepted regression would be open again: mend the line, or delete it if it says nothing";

/// Reads the acceptances of a store, in order of creation.
///
/// Fails if any cannot be read, because gates would answer otherwise. Only a half last line is ignored: the command that wrote it reported
/// that nothing was accepted.
pub fn load_acceptances(store: &Store) -> Result<Vec<Acceptance>, Problems> {
    let path = store.acceptances_path();
    let name = path.display().to_string();
    let bytes = match files::read(&path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => {
            return Err(Problems(vec![
                Problem::unread_file(name, &error).with_hint(MISSING_ACCEPTANCE_HINT),
            ]));
        }
    };
    let (mut accepted, mut problems) = (Vec::new(), Vec::new());
    let lines = (1..)
        .zip(bytes.split_inclusive(|byte| *byte == b'\n'))
        .filter(|(_, line)| !line.trim_ascii().is_empty());
    for (number, line) in lines {
        match parse_acceptance(line) {
            Ok(acceptance) => accepted.push(acceptance),
            Err(_) if !line.ends_with(b"\n") => {}
            Err(message) => problems
                .push(Problem::at_line(&name, number, message).with_hint(MISSING_ACCEPTANCE_HINT)),
        }
    }
    if problems.is_empty() {
        Ok(accepted)
    } else {
        Err(Problems(problems))
    }
}

/// Appends acceptances to a store: all of them, or after an error none that a later read takes for whole.
pub fn append_acceptances(store: &Store, accepted: &[Acceptance]) -> Result<(), StoreError> {
    let mut lines = String::new();
    for one in accepted {
        lines.push_str(&store.secrets().hide(&to_line(one)));
        lines.push('\n');
    }
    fs::create_dir_all(store.root()).map_err(StoreError::io("cannot create", store.root()))?;
    let mut file = AppendLog::open(store.acceptances_path())?;
    file.wait_for_lock()?;
    file.end_last_line(|line| parse_acceptance(line).is_ok())?;
    file.append(lines.as_bytes())?;
    file.sync()?;
    for line in lines.lines() {
        store
            .added_records()
            .note_line(store.root(), &store.acceptances_path(), line.as_bytes());
    }
    durable::sync_folder(store.root()).map_err(StoreError::io("cannot sync", store.root()))
}

/// Returns the acceptance as one line of JSON, without a line break.
pub(super) fn to_line(one: &Acceptance) -> String {
    let text = |time: DateTime<Utc>| time.to_rfc3339_opts(SecondsFormat::AutoSi, true);
    let wire = WireAcceptance {
        suite: one.suite.clone(),
        suite_version: one.suite_version.clone(),
        approach: one.approach.clone(),
        model: one.model.clone(),
        batches: one.batches.clone(),
        since: one.since.map(text),
        through: one.through.map(text),
        reason: one.reason.clone(),
        who: one.who.clone(),
        time: one.time.to_rfc3339_opts(SecondsFormat::Secs, true),
    };
    serde_json::to_string(&wire).expect("an acceptance is JSON: it has no map")
}

pub(super) fn parse_acceptance(line: &[u8]) -> Result<Acceptance, String> {
    let wire: WireAcceptance = serde_json::from_slice(line).map_err(|error| {
        format!(
            "is not an acceptance: {}",
            escape_invisible(&error.to_string())
        )
    })?;
    let time = |key: &str, text: &str| {
        DateTime::parse_from_rfc3339(text)
            .map(|time| time.to_utc())
            .map_err(|error| format!("key `{key}`: {error}"))
    };
    let maybe =
        |key: &str, text: &Option<String>| text.as_deref().map(|text| time(key, text)).transpose();
    if wire.batches.is_empty() {
        return Err("is an acceptance of no batch".to_owned());
    }
    Ok(Acceptance {
        since: maybe("since", &wire.since)?,
        through: maybe("through", &wire.through)?,
        time: time("time", &wire.time)?,
        suite: wire.suite,
        suite_version: wire.suite_version,
        approach: wire.approach,
        model: wire.model,
        batches: wire.batches,
        reason: wire.reason,
        who: wire.who,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn acceptance(reason: &str) -> Acceptance {
        let time = |text: &str| DateTime::parse_from_rfc3339(text).expect("a time").to_utc();
        Acceptance {
            suite: "quiz".to_owned(),
            suite_version: None,
            approach: "a".to_owned(),
            model: "m".to_owned(),
            batches: vec!["night-3".to_owned(), "night-4".to_owned()],
            since: Some(time("2026-03-03T00:00:00.25Z")),
            through: Some(time("2026-03-04T00:00:00Z")),
            reason: reason.to_owned(),
            who: Some("Ada".to_owned()),
            time: time("2026-03-04T08:00:00Z"),
        }
    }

    #[test]
    fn what_was_appended_is_read_in_its_order() {
        let folder = tempfile::tempdir().expect("a folder");
        let store = Store::new(folder.path().join("results"));
        assert_eq!(load_acceptances(&store), Ok(Vec::new()));
        append_acceptances(
            &store,
            &[
                acceptance("slower, but right"),
                acceptance("\u{1b}[2J<b>\n"),
            ],
        )
        .expect("room");
        append_acceptances(&store, &[acceptance("again")]).expect("room");
        let reasons: Vec<String> = load_acceptances(&store)
            .expect("whole lines")
            .into_iter()
            .map(|one| one.reason)
            .collect();
        assert_eq!(reasons, ["slower, but right", "\u{1b}[2J<b>\n", "again"]);
        assert_eq!(
            load_acceptances(&store).expect("whole lines")[0],
            acceptance("slower, but right")
        );
    }

    #[test]
    fn a_half_last_line_is_ignored_and_a_broken_one_is_named() {
        let folder = tempfile::tempdir().expect("a folder");
        let store = Store::new(folder.path());
        append_acceptances(&store, &[acceptance("one")]).expect("room");
        let whole = fs::read_to_string(store.acceptances_path()).expect("written");
        fs::write(store.acceptances_path(), format!("{whole}{}", &whole[..20])).expect("room");
        assert_eq!(load_acceptances(&store).map(|all| all.len()), Ok(1));
        fs::write(store.acceptances_path(), format!("{{}}\n{whole}")).expect("room");
        let problems = load_acceptances(&store).expect_err("the first line says nothing");
        assert_eq!(problems.0[0].line, Some(1));
    }
}
