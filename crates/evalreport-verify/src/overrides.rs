//! A project's own settings for its verification.

use std::collections::BTreeMap;
use std::time::Duration;

use regex::Regex;

use super::{CheckKind, Readiness};
use crate::document::{Fields, Node, Scalar, ScalarKind, Value, ValueForm, duration, quote_text};
use crate::domain::{Problem, Profile};

/// A project's setting for one kind of check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CommandOverride {
    /// The check is not run.
    Off,
    /// This line runs at the root, instead of all detected commands. For [`CheckKind::Targeted`], `{files}` is replaced by the files.
    Line(String),
}

/// Settings that override detection and policy. An absent setting leaves the choice to the policy.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Overrides {
    /// Whether verification is switched off.
    pub is_off: Option<bool>,
    pub profile: Option<Profile>,
    pub commands: BTreeMap<CheckKind, CommandOverride>,
    pub timeouts: BTreeMap<CheckKind, Duration>,
    /// Readiness of the smoke test.
    pub readiness: Option<Readiness>,
    /// Folder for tickets about remaining problems, relative to the file that sets it.
    pub tickets: Option<String>,
}

impl Overrides {
    /// Reads the map at `path` of `file`.
    pub fn from_node(file: &str, path: &str, node: &Node, problems: &mut Vec<Problem>) -> Self {
        Fields::new(file, node, path, problems)
            .map(Self::read_fields)
            .unwrap_or_default()
    }

    /// Returns the form of the map.
    pub fn form() -> ValueForm {
        Fields::derive_form(|fields| drop(Self::read_fields(fields)))
    }

    fn read_fields(mut fields: Fields) -> Self {
        let profiles = Profile::ALL.map(|profile| (profile.name(), profile));
        let overrides = Self {
            is_off: fields.boolean("off"),
            profile: fields.one_of("profile", &profiles),
            commands: COMMAND_KEYS
                .into_iter()
                .filter_map(|(key, kind)| Some((kind, read_command(&mut fields, key, kind)?)))
                .collect(),
            timeouts: read_timeouts(&mut fields),
            readiness: read_readiness(&mut fields),
            tickets: read_tickets(&mut fields),
        };
        fields.finish();
        overrides
    }

    /// Returns these settings, with unset ones taken from `lower`.
    #[must_use]
    pub fn with_fallback(self, lower: Self) -> Self {
        let mut commands = lower.commands;
        commands.extend(self.commands);
        let mut timeouts = lower.timeouts;
        timeouts.extend(self.timeouts);
        Self {
            is_off: self.is_off.or(lower.is_off),
            profile: self.profile.or(lower.profile),
            commands,
            timeouts,
            readiness: self.readiness.or(lower.readiness),
            tickets: self.tickets.or(lower.tickets),
        }
    }
}

/// The keys that set commands.
const COMMAND_KEYS: [(&str, CheckKind); 6] = [
    ("primary_test", CheckKind::Test),
    ("targeted_test", CheckKind::Targeted),
    ("smoke_test", CheckKind::Smoke),
    ("build", CheckKind::Build),
    ("lint", CheckKind::Lint),
    ("syntax_check", CheckKind::Syntax),
];
const USUAL_READY_SECONDS: u64 = 30;

fn read_tickets(fields: &mut Fields) -> Option<String> {
    fields.note_form("tickets", || ValueForm::Filled);
    fields
        .child("tickets")
        .and_then(|_| fields.required_text("tickets"))
}

/// Reads a shell line, or `false` to switch the check off.
fn read_command(fields: &mut Fields, key: &str, kind: CheckKind) -> Option<CommandOverride> {
    fields.note_form(key, || {
        ValueForm::OneOf(vec![ValueForm::False, ValueForm::Filled])
    });
    let node = fields.child(key)?;
    match &node.value {
        Value::Scalar(Scalar {
            kind: ScalarKind::Bool(false),
            ..
        }) => Some(CommandOverride::Off),
        Value::Scalar(Scalar {
            kind: ScalarKind::Bool(true),
            ..
        }) => {
            let message = format!(
                "{} must be a command or false, not true",
                quote_text(&fields.path_of(key))
            );
            fields.reject(
                key,
                message,
                Some("leave it out for what is detected".to_owned()),
            );
            None
        }
        Value::Scalar(_) | Value::List(_) | Value::Map(_) => {
            let line = fields.required_text(key)?;
            if line.contains("{files}") && kind != CheckKind::Targeted {
                let message = format!(
                    "{} cannot have `{{files}}`",
                    quote_text(&fields.path_of(key))
                );
                fields.reject(
                    key,
                    message,
                    Some("only `targeted_test` is about some files".to_owned()),
                );
                return None;
            }
            Some(CommandOverride::Line(line))
        }
    }
}

fn read_timeouts(fields: &mut Fields) -> BTreeMap<CheckKind, Duration> {
    let Some(mut inner) = fields.fields("timeouts") else {
        return BTreeMap::new();
    };
    let found = COMMAND_KEYS
        .into_iter()
        .filter_map(|(key, kind)| Some((kind, duration::read_duration(&mut inner, key)?)))
        .collect();
    inner.finish();
    found
}

fn read_readiness(fields: &mut Fields) -> Option<Readiness> {
    let mut inner = fields.fields("ready")?;
    let line = inner.text("line");
    if let Some(Err(_)) = line.as_deref().map(Regex::new) {
        let message = format!(
            "{} is no regular expression: {}",
            quote_text(&inner.path_of("line")),
            quote_text(line.as_deref().unwrap_or_default())
        );
        inner.reject("line", message, None);
    }
    let seconds = inner.unsigned("seconds").unwrap_or(USUAL_READY_SECONDS);
    inner.finish();
    // A project that sets `line` promises that the line will be printed, so ending early is a failure.
    Some(Readiness {
        may_end: line.is_none(),
        line,
        seconds,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::parse;

    fn read(text: &str) -> (Overrides, Vec<String>) {
        let node = parse("a.yaml", text).expect("YAML");
        let mut problems = Vec::new();
        let overrides = Overrides::from_node("a.yaml", "verification", &node, &mut problems);
        (
            overrides,
            problems.iter().map(ToString::to_string).collect(),
        )
    }

    #[test]
    fn every_key_is_read() {
        let (overrides, problems) = read(
            "profile: smoke\nprimary_test: make test\ntargeted_test: pytest {files}\nlint: false\ntimeouts: {primary_test: 5m}\n\
             ready: {line: up, seconds: 5}\ntickets: docs/tickets\noff: false\n",
        );
        assert_eq!(problems, Vec::<String>::new());
        assert_eq!(overrides.profile, Some(Profile::Smoke));
        let line = |text: &str| CommandOverride::Line(text.to_owned());
        let commands = [
            (CheckKind::Test, line("make test")),
            (CheckKind::Targeted, line("pytest {files}")),
            (CheckKind::Lint, CommandOverride::Off),
        ];
        assert_eq!(overrides.commands, BTreeMap::from(commands));
        assert_eq!(
            overrides.timeouts,
            BTreeMap::from([(CheckKind::Test, Duration::from_mins(5))])
        );
        assert_eq!(
            overrides.readiness,
            Some(Readiness {
                line: Some("up".to_owned()),
                seconds: 5,
                may_end: false
            })
        );
        assert_eq!(
            (overrides.tickets.as_deref(), overrides.is_off),
            (Some("docs/tickets"), Some(false))
        );
    }

    #[test]
    fn all_mistakes_are_named_at_once() {
        let (_, problems) = read(
            "profile: quick\nbuild: true\nlint: [a]\nsmoke_test: run {files}\ntimeouts: {tests: 5m}\nready: {line: '('}\ntest: pytest\n",
        );
        let expected = [
            "a.yaml:1:10: `verification.profile` must be one of `strict`, `fast`, `smoke`, `yolo`, not `quick`",
            "a.yaml:4:13: `verification.smoke_test` cannot have `{files}`",
            "a.yaml:2:8: `verification.build` must be a command or false, not true",
            "a.yaml:3:7: `verification.lint` must be text, not a list",
            "a.yaml:5:12: unknown key `verification.timeouts.tests`",
            "a.yaml:6:15: `verification.ready.line` is no regular expression: `(`",
            "a.yaml:7:1: unknown key `verification.test`",
        ];
        assert_eq!(problems, expected);
    }

    #[test]
    fn what_is_left_open_comes_from_below() {
        let (suite, _) = read("lint: false\nprofile: fast\n");
        let (config, _) = read("lint: ruff check\nbuild: make\nprofile: strict\ntickets: t\n");
        let both = suite.with_fallback(config);
        assert_eq!(both.profile, Some(Profile::Fast));
        assert_eq!(both.commands[&CheckKind::Lint], CommandOverride::Off);
        assert_eq!(
            both.commands[&CheckKind::Build],
            CommandOverride::Line("make".to_owned())
        );
        assert_eq!(both.tickets.as_deref(), Some("t"));
    }
}
