//! Redacts what must not be published: keys, tokens, passwords, e-mail addresses, and user names in paths of home folders.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Deref;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use regex::{Captures, Match, Regex, RegexBuilder, RegexSet, RegexSetBuilder};
use serde::{Deserialize, Serialize};

use super::Secrets;

/// A project's own redaction pattern, validated when parsed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct OwnPattern {
    name: String,
    pattern: String,
}

/// Maximum size of a compiled pattern. A pattern that needs more is probably a mistake.
const MAX_BYTES: usize = 1 << 20;
const MAX_NAME: usize = 40;

impl OwnPattern {
    /// Accepts a regular expression that cannot match the empty string.
    pub fn parse(name: &str, pattern: &str) -> Result<Self, String> {
        let is_word = |character: char| {
            character.is_alphanumeric() || matches!(character, '-' | '_' | ' ' | '.')
        };
        if name.trim().is_empty() || name.chars().count() > MAX_NAME || !name.chars().all(is_word) {
            return Err(format!(
                "a name has 1 to {MAX_NAME} letters, digits, blanks, `-`, `_` and `.`"
            ));
        }
        let regex = compile_pattern(pattern).map_err(|error| {
            // The last line has the reason. The lines above point at the place in the pattern.
            let text = error.to_string();
            super::escape_invisible(
                text.lines()
                    .last()
                    .unwrap_or_default()
                    .trim_start_matches("error: "),
            )
        })?;
        if regex.is_match("") {
            return Err("it matches nothing at all, so it would match everywhere".to_owned());
        }
        Ok(Self {
            name: name.to_owned(),
            pattern: pattern.to_owned(),
        })
    }
}

fn compile_pattern(pattern: &str) -> Result<Regex, regex::Error> {
    RegexBuilder::new(pattern).size_limit(MAX_BYTES).build()
}

/// A redaction pattern. Removes the first group that matched, or the whole match if the pattern has no group.
struct RedactionPattern {
    name: String,
    source: String,
    /// Compiled on first use: most sites need no pattern.
    regex: OnceCell<Regex>,
    accepts: MatchFilter,
}

/// Removes secrets and personal data from texts.
pub struct Redactor {
    /// Known secrets, which come before all patterns.
    secrets: Secrets,
    patterns: Vec<RedactionPattern>,
    /// All patterns together, to recognise quickly that a text matches none.
    all: RegexSet,
    homes: RedactionPattern,
    users: Option<Regex>,
}

/// A value whose texts have been redacted. Pages accept foreign text in no other form.
///
/// Only [`Redactor::redact_value`] turns other values into this type, so that no page can contain unchecked text.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Redacted<T>(T);

impl<T> Redacted<T> {
    /// Converts the value. The closure receives no unchecked data.
    pub fn map<U>(self, make: impl FnOnce(T) -> U) -> Redacted<U> {
        Redacted(make(self.0))
    }

    /// Combines two checked values.
    pub fn pair_with<U>(self, other: Redacted<U>) -> Redacted<(T, U)> {
        Redacted((self.0, other.0))
    }
}

impl<T, U> Redacted<(T, U)> {
    /// Splits a pair of checked values.
    pub fn split_pair(self) -> (Redacted<T>, Redacted<U>) {
        (Redacted(self.0.0), Redacted(self.0.1))
    }
}

impl<T> Deref for Redacted<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

/// A value with texts from agents, judges, imports or people.
pub trait Untrusted {
    /// Visits each foreign text with the name of its field. Implementations destructure the value, so that a new field does not compile
    /// until it is handled.
    fn visit_texts(&mut self, visit: &mut dyn FnMut(&str, &mut String));
}

/// A text on its own. Its context gives the field's name.
impl Untrusted for String {
    fn visit_texts(&mut self, visit: &mut dyn FnMut(&str, &mut String)) {
        visit("text", self);
    }
}

impl<T: Untrusted> Untrusted for Vec<T> {
    fn visit_texts(&mut self, visit: &mut dyn FnMut(&str, &mut String)) {
        for one in self.iter_mut() {
            one.visit_texts(visit);
        }
    }
}

impl<K, T: Untrusted> Untrusted for BTreeMap<K, T> {
    fn visit_texts(&mut self, visit: &mut dyn FnMut(&str, &mut String)) {
        for one in self.values_mut() {
            one.visit_texts(visit);
        }
    }
}

/// Prefix of the names of patterns for secrets from this process's environment.
const KNOWN_PREFIX: &str = "the value of $";

/// Returns whether a pattern finds a known secret, rather than text that looks like one.
pub fn is_known_secret(pattern: &str) -> bool {
    pattern.starts_with(KNOWN_PREFIX)
}

/// Start of the text that replaces a secret.
const TAKEN_OUT: &str = "[redacted ";

/// Number of matches by pattern.
pub type MatchCounts = BTreeMap<String, u64>;

/// Name of the pattern for user names outside paths.
const USER_NAME: &str = "user-name";
const HOME_PATH: &str = "home-path";

/// Folders and accounts of no particular person. They are not redacted outside paths.
const IMPERSONAL_NAMES: [&str; 24] = [
    "admin", "agent", "app", "build", "builder", "circleci", "default", "dev", "docker",
    "ec2-user", "gitpod", "guest", "jenkins", "node", "public", "root", "runner", "sandbox",
    "shared", "test", "ubuntu", "user", "vscode", "work",
];
/// Shorter names are part of too many words.
const MIN_USER: usize = 3;

fn accept_anything(_: &str) -> bool {
    true
}

fn has_digit(text: &str) -> bool {
    text.bytes().any(|byte| byte.is_ascii_digit())
}

/// Returns whether an e-mail address may belong to somebody. Domains reserved for examples do not.
fn is_real_address(address: &str) -> bool {
    let domain = address
        .rsplit('@')
        .next()
        .unwrap_or_default()
        .to_ascii_lowercase();
    let is_below = |name: &str| {
        domain == name
            || domain
                .strip_suffix(name)
                .is_some_and(|rest| rest.ends_with('.'))
    };
    ![
        "example.com",
        "example.org",
        "example.net",
        "example",
        "test",
        "invalid",
        "localhost",
    ]
    .into_iter()
    .any(is_below)
}

/// Returns whether a JSON web token was ever valid. Tests of expiry print tokens that expire when they are issued (RFC 7519, 4.1).
fn was_ever_valid(token: &str) -> bool {
    #[derive(Deserialize)]
    struct TokenClaims {
        iat: f64,
        exp: f64,
    }
    let claims = token
        .split('.')
        .nth(1)
        .and_then(|part| URL_SAFE_NO_PAD.decode(part).ok());
    claims
        .and_then(|claims| serde_json::from_slice::<TokenClaims>(&claims).ok())
        .is_none_or(|claims| claims.exp > claims.iat)
}

/// Checks whether a match is really to be redacted.
type MatchFilter = fn(&str) -> bool;

/// Name, pattern, and an additional check of the match.
const BUILT_IN: [(&str, &str, MatchFilter); 12] = [
    (
        "private-key",
        r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY( BLOCK)?-----(?s:.*?)(?:-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----|\z)",
        accept_anything,
    ),
    // The rest of a key whose beginning was cut off.
    (
        "private-key",
        r"(?:[A-Za-z0-9+/=]{32,}(?:\s|\\n)*)+-----END [A-Z0-9 ]*PRIVATE KEY-----",
        accept_anything,
    ),
    (
        "url-password",
        r"://[^/\s:@'\x22]*:([^/\s@'\x22]+)@",
        accept_anything,
    ),
    (
        "token",
        r"\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*",
        was_ever_valid,
    ),
    ("api-key", r"\bsk-[A-Za-z0-9_-]{16,}", has_digit),
    (
        "api-key",
        r"\b(?:gh[pousr]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,}|glpat-[A-Za-z0-9_-]{16,}|hf_[A-Za-z0-9]{20,})",
        accept_anything,
    ),
    (
        "api-key",
        r"\b(?:(?:AKIA|ASIA)[0-9A-Z]{16}\b|AIza[0-9A-Za-z_-]{30,}|xox[abeoprs]-[0-9A-Za-z-]{10,})",
        accept_anything,
    ),
    (
        "token",
        r"(?i)\bbearer\s+([A-Za-z0-9._~+/=-]{12,})",
        has_digit,
    ),
    (
        "password",
        r"(?i)(?:password|passwd|passphrase|secret|api_?-?key|access_?-?key|(?:access|auth|refresh)_?-?token)\\?['\x22]?\s*(?:=|:=)\s*\\?['\x22]?([^\s'\x22\\<>,;(){}\[\]&]{4,})",
        was_ever_valid,
    ),
    // A colon may also precede a sentence, so the text must contain a digit.
    (
        "password",
        r"(?i)(?:password|passwd|passphrase|secret|api_?-?key|access_?-?key|(?:access|auth|refresh)_?-?token)\\?['\x22]?\s*:\s*\\?['\x22]?([^\s'\x22\\<>,;(){}\[\]&]{6,})",
        |text| has_digit(text) && was_ever_valid(text),
    ),
    (
        "e-mail",
        r"[A-Za-z0-9][A-Za-z0-9._%+-]*@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)*\.[A-Za-z]{2,24}\b",
        is_real_address,
    ),
    (HOME_PATH, HOME_FOLDERS, accept_anything),
];

/// Home folders on Linux, macOS and Windows. The group captures the user's name.
const HOME_FOLDERS: &str = concat!(
    r"(?:/home/|/Users/)([A-Za-z0-9][A-Za-z0-9._-]*)",
    r"|(?i:\b[a-z]:(?:\\{1,4}|/)users(?:\\{1,4}|/))(?:([^\\/:*?\x22<>|\r\n]+)[\\/]|([^\\/:*?\x22<>|\s]+))",
);

impl RedactionPattern {
    fn compiled_regex(&self) -> &Regex {
        let compiled = || {
            compile_pattern(&self.source)
                .expect("own patterns were compiled when they were read, and a test compiles ours")
        };
        self.regex.get_or_init(compiled)
    }
}

impl Redactor {
    /// Known secrets come first, then the project's own patterns, so that both see the original text.
    pub fn new(own: &[OwnPattern], secrets: &Secrets) -> Self {
        let own = own.iter().map(|own| {
            (
                own.name.clone(),
                own.pattern.clone(),
                accept_anything as MatchFilter,
            )
        });
        let built_in = BUILT_IN
            .into_iter()
            .map(|(name, pattern, accepts)| (name.to_owned(), pattern.to_owned(), accepts));
        let patterns: Vec<RedactionPattern> = own
            .chain(built_in)
            .map(|(name, source, accepts)| RedactionPattern {
                name,
                source,
                regex: OnceCell::new(),
                accepts,
            })
            .collect();
        let all = RegexSetBuilder::new(patterns.iter().map(|pattern| &pattern.source))
            .size_limit(MAX_BYTES * (patterns.len() + 1))
            .build()
            .expect("each of the patterns compiles, within its share of the bytes");
        let homes = RedactionPattern {
            name: HOME_PATH.to_owned(),
            source: HOME_FOLDERS.to_owned(),
            regex: OnceCell::new(),
            accepts: accept_anything,
        };
        Self {
            secrets: secrets.clone(),
            patterns,
            all,
            homes,
            users: None,
        }
    }

    /// Adds the user names from all home folder paths in the text to `users`.
    pub fn learn_users(&self, text: &str, users: &mut BTreeSet<String>) {
        for captures in self.homes.compiled_regex().captures_iter(text) {
            let name = part_to_redact(&captures)
                .map(|found| found.as_str().trim_end_matches(['.', '-', '_']))
                .unwrap_or_default();
            if name.len() >= MIN_USER
                && !IMPERSONAL_NAMES.contains(&name.to_ascii_lowercase().as_str())
            {
                users.insert(name.to_owned());
            }
        }
    }

    /// Also redacts these names outside paths.
    #[must_use]
    pub fn with_users(self, users: &BTreeSet<String>) -> Self {
        let names: Vec<String> = users.iter().map(|name| regex::escape(name)).collect();
        let pattern = format!(r"\b(?:{})\b", names.join("|"));
        // The pattern is only too large with an absurd number of users. Even then, paths are redacted.
        let users = if names.is_empty() {
            None
        } else {
            RegexBuilder::new(&pattern)
                .size_limit(64 * MAX_BYTES)
                .build()
                .ok()
        };
        Self { users, ..self }
    }

    /// Checks all texts of a value. `is_taken_out` receives each field with matches, and returns whether to redact it. If not, the
    /// publisher has been told.
    pub fn redact_value<T: Untrusted>(
        &self,
        mut value: T,
        is_taken_out: &mut dyn FnMut(&str, MatchCounts) -> bool,
    ) -> Redacted<T> {
        value.visit_texts(&mut |field, text| {
            if let Some((shorter, counts)) = self.redact_text(text)
                && is_taken_out(field, counts)
            {
                *text = shorter;
            }
        });
        Redacted(value)
    }

    /// Returns the redacted text and the matches by pattern, or `None` if there are none.
    pub fn redact_text(&self, text: &str) -> Option<(String, MatchCounts)> {
        let mut counts = MatchCounts::new();
        let mut current: Option<String> = None;
        if let Some((shorter, found)) = self
            .secrets
            .replaced_in(text, |name| format!("{TAKEN_OUT}{KNOWN_PREFIX}{name}]"))
        {
            counts.extend(
                found
                    .into_iter()
                    .map(|(name, count)| (format!("{KNOWN_PREFIX}{name}"), count)),
            );
            current = Some(shorter);
        }
        let matched: Vec<usize> = self
            .all
            .matches(current.as_deref().unwrap_or(text))
            .into_iter()
            .collect();
        for index in matched {
            let pattern = &self.patterns[index];
            let now = current.as_deref().unwrap_or(text);
            if let Some((shorter, count)) = replace_matches(
                now,
                pattern.compiled_regex(),
                &pattern.name,
                pattern.accepts,
            ) {
                *counts.entry(pattern.name.clone()).or_default() += count;
                current = Some(shorter);
            }
        }
        if let Some(users) = &self.users
            && let Some((shorter, count)) = replace_matches(
                current.as_deref().unwrap_or(text),
                users,
                USER_NAME,
                accept_anything,
            )
        {
            counts.insert(USER_NAME.to_owned(), count);
            current = Some(shorter);
        }
        current.map(|text| (text, counts))
    }
}

/// Returns the part of a match to redact.
fn part_to_redact<'t>(captures: &Captures<'t>) -> Option<Match<'t>> {
    let groups = (1..captures.len()).find_map(|group| captures.get(group));
    groups
        .or_else(|| captures.get(0))
        .filter(|found| !found.is_empty())
}

fn replace_matches(
    text: &str,
    regex: &Regex,
    name: &str,
    accepts: MatchFilter,
) -> Option<(String, u64)> {
    let mut shorter = String::new();
    let (mut end, mut count) = (0, 0);
    for captures in regex.captures_iter(text) {
        // A redaction placeholder is not a secret.
        let is_left =
            |found: &Match| !found.as_str().starts_with(TAKEN_OUT) && accepts(found.as_str());
        let Some(found) = part_to_redact(&captures).filter(is_left) else {
            continue;
        };
        shorter.push_str(&text[end..found.start()]);
        shorter.push_str(&format!("{TAKEN_OUT}{name}]"));
        end = found.end();
        count += 1;
    }
    shorter.push_str(&text[end..]);
    (count > 0).then_some((shorter, count))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &str) {
        let found = Redactor::new(&[], &Secrets::default()).redact_text(text);
        assert_eq!(
            found.as_ref().map_or(text, |(text, _)| text),
            expected,
            "{found:?}"
        );
        // A redaction placeholder is not a secret.
        assert_eq!(
            Redactor::new(&[], &Secrets::default()).redact_text(expected),
            None,
            "{expected}"
        );
    }

    #[test]
    fn keys_and_tokens_go() {
        check(
            "key sk-ant-api03-AbCd_0123456789xyz end",
            "key [redacted api-key] end",
        );
        check(
            "x ghp_0123456789abcdefghijABCDEFGHIJ456789.",
            "x [redacted api-key].",
        );
        check("AKIAIOSFODNN7EXAMPLE", "[redacted api-key]");
        check(
            "Authorization: Bearer abc.def-0123456789",
            "Authorization: Bearer [redacted token]",
        );
        check(
            "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmN",
            "[redacted token]",
        );
        check(
            "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NSIsImlhdCI6MTc5NTMzMDEwNiwiZXhwIjoxNzk1MzMzNzA2fQ.dozjgNryP4J3jVmN",
            "[redacted token]",
        );
        let never = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NSIsImlhdCI6MTc5NTMzMDEwNiwiZXhwIjoxNzk1MzMwMTA2fQ.dozjgNryP4J3jVmN";
        check(never, never);
        let told = format!("{{\"access_token\": \"{never}\"}}");
        check(&told, &told);
        check(
            "postgres://me:hunter2@db/x",
            "postgres://me:[redacted url-password]@db/x",
        );
        check(
            "a\n-----BEGIN RSA PRIVATE KEY-----\nMIIE\nabc\n-----END RSA PRIVATE KEY-----\nb",
            "a\n[redacted private-key]\nb",
        );
        check(
            "-----BEGIN PRIVATE KEY-----\nMIIE and the rest was cut",
            "[redacted private-key]",
        );
        let line = "QUJD".repeat(16);
        check(
            &format!("{line}\n{line}\n-----END PRIVATE KEY-----\nb"),
            "[redacted private-key]\nb",
        );
    }

    #[test]
    fn passwords_go_and_sentences_about_them_stay() {
        check("password=hunter2 x", "password=[redacted password] x");
        check(
            r#"{\"api_key\": \"a1b2c3d4\"}"#,
            r#"{\"api_key\": \"[redacted password]\"}"#,
        );
        check(
            "OPENAI_API_KEY='abcd-efgh'",
            "OPENAI_API_KEY='[redacted password]'",
        );
        check(
            "The password: it must be long",
            "The password: it must be long",
        );
        check("def check(password):", "def check(password):");
        check(
            "task-management-of-the-whole-2",
            "task-management-of-the-whole-2",
        );
    }

    #[test]
    fn people_go() {
        check(
            "write to jo.doe@mail.corp.io!",
            "write to [redacted e-mail]!",
        );
        check(
            "user@example.com and bob@sub.example",
            "user@example.com and bob@sub.example",
        );
        check(
            "/home/jdoe/x and /Users/Jane.Roe/y",
            "/home/[redacted home-path]/x and /Users/[redacted home-path]/y",
        );
        check(r"C:\Users\John Doe\x", r"C:\Users\[redacted home-path]\x");
        check(
            r#""c:\\Users\\jd\\x""#,
            r#""c:\\Users\\[redacted home-path]\\x""#,
        );
    }

    #[test]
    fn a_user_is_known_by_the_home_and_nobody_is_nobody() {
        let redactor = Redactor::new(&[], &Secrets::default());
        let mut users = BTreeSet::new();
        redactor.learn_users("/home/jdoe/x /home/runner/y /Users/al/z", &mut users);
        assert_eq!(users, BTreeSet::from(["jdoe".to_owned()]));
        let redactor = redactor.with_users(&users);
        let (text, counts) = redactor.redact_text("by jdoe, not jdoes").expect("found");
        assert_eq!(
            (text.as_str(), counts[USER_NAME]),
            ("by [redacted user-name], not jdoes", 1)
        );
    }

    #[test]
    fn own_patterns_are_checked_and_come_first() {
        let own = OwnPattern::parse("project", "Project (?:Blue|Red)").expect("a pattern");
        let (text, counts) = Redactor::new(&[own], &Secrets::default())
            .redact_text("Project Blue, jo@corp.io")
            .expect("found");
        assert_eq!(text, "[redacted project], [redacted e-mail]");
        assert_eq!(
            counts,
            MatchCounts::from([("e-mail".to_owned(), 1), ("project".to_owned(), 1)])
        );
        for (name, pattern) in [
            ("x", "("),
            ("x", "a*"),
            ("", "a"),
            ("<b>", "a"),
            ("x", "(?:a{1000}){1000}"),
        ] {
            assert!(
                OwnPattern::parse(name, pattern).is_err(),
                "{name} {pattern}"
            );
        }
    }
}
