//! Keeps keys out of messages, results and pages. A program may print its environment, and a service may quote the key that it rejects.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use aho_corasick::{AhoCorasick, MatchKind};
use base64::Engine;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use serde_json::Value;

/// Minimum length of a redacted value. Shorter ones would match ordinary text.
const LEAST_LENGTH: usize = 8;
/// Words in a variable's name, separated by underscores, that mark it as secret.
const NAME_WORDS: [&str; 16] = [
    "AUTH",
    "BEARER",
    "COOKIE",
    "CREDENTIAL",
    "CREDENTIALS",
    "DSN",
    "JWT",
    "KEY",
    "PASSWD",
    "PAT",
    "PRIVATE",
    "PWD",
    "SK",
    "TOKENS",
    "WEBHOOK",
    "KEYS",
];
/// Suffixes of words that mark a variable as secret, as in `PGPASSWORD` and `GHTOKEN`.
const WORD_ENDS: [&str; 5] = ["PASSWORD", "PASSPHRASE", "TOKEN", "SECRET", "APIKEY"];
/// Variables of the shell that hold folders, not secrets.
const NO_SECRETS: [&str; 2] = ["PWD", "OLDPWD"];
/// Prefixes of keys of well-known services.
const KEY_BEGINNINGS: [&str; 22] = [
    "sk-",
    "sk_live_",
    "sk_test_",
    "rk_live_",
    "ghp_",
    "gho_",
    "ghs_",
    "ghu_",
    "github_pat_",
    "glpat-",
    "xoxb-",
    "xoxp-",
    "xoxa-",
    "xapp-",
    "hf_",
    "AKIA",
    "ASIA",
    "AIza",
    "npm_",
    "pypi-",
    "eyJ",
    "-----BEGIN",
];
/// URLs that are secrets themselves.
const SECRET_ADDRESSES: [&str; 4] =
    ["hooks.slack.com/", "discord.com/api/webhooks/", "discordapp.com/api/webhooks/", ".webhook.office.com/"];

/// Returns whether a variable with this name holds a secret.
fn is_secret_name(name: &str) -> bool {
    let upper = name.to_uppercase();
    let is_word = |word: &str| NAME_WORDS.contains(&word) || WORD_ENDS.iter().any(|end| word.ends_with(end));
    !NO_SECRETS.contains(&upper.as_str()) && upper.split(['_', '-', '.']).any(is_word)
}

/// Returns whether a variable holds a secret, judged by its name or value.
pub fn is_secret(name: &str, value: &str) -> bool {
    is_secret_name(name) || looks_like_a_key(value) || password_of(value).is_some()
}

fn looks_like_a_key(value: &str) -> bool {
    let value = value.trim();
    value.len() >= 2 * LEAST_LENGTH
        && (KEY_BEGINNINGS.iter().any(|beginning| value.starts_with(beginning))
            || SECRET_ADDRESSES.iter().any(|address| value.contains(address)))
}

/// Returns the password in a URL such as `postgres://user:password@host/db`.
fn password_of(value: &str) -> Option<&str> {
    let (_, rest) = value.split_once("://")?;
    let authority = rest.split(['/', '?', '#']).next()?;
    // A password may contain an `@`.
    let (credentials, _) = authority.rsplit_once('@')?;
    let (_, password) = credentials.split_once(':')?;
    (!password.is_empty()).then_some(password)
}

/// Secrets in all forms in which they may appear, and their removal from text.
#[derive(Clone, Default)]
pub struct Secrets {
    /// Each form with the name of its variable. Longer forms come first.
    forms: Vec<(String, String)>,
    /// Finds all forms in one pass. `None` if there are no secrets.
    finder: Option<Arc<AhoCorasick>>,
}

impl Secrets {
    /// Collects the variables that look secret by name or value, and those in `named`.
    pub fn of(variables: &BTreeMap<String, String>, named: &BTreeSet<String>) -> Self {
        let mut forms = BTreeSet::new();
        for (name, value) in variables {
            let value = value.trim();
            // The name replaces the secret in lines of JSON, so it must need no escaping.
            let is_plain = name.chars().all(|character| character.is_alphanumeric() || "_-.".contains(character));
            let shown = if is_plain { name.as_str() } else { "secret" };
            let mut add = |text: &str| forms.extend(forms_of(text).into_iter().map(|form| (form, shown.to_owned())));
            if (named.contains(name) || is_secret(name, value)) && value.len() >= LEAST_LENGTH {
                add(value);
            }
            if let Some(password) = password_of(value).filter(|password| password.len() >= LEAST_LENGTH) {
                add(password);
            }
        }
        let mut forms: Vec<(String, String)> = forms.into_iter().collect();
        forms.sort_by(|left, right| right.0.len().cmp(&left.0.len()).then_with(|| left.cmp(right)));
        // One form may contain another.
        let finder = AhoCorasick::builder().match_kind(MatchKind::LeftmostLongest).build(forms.iter().map(|(form, _)| form));
        let finder = (!forms.is_empty()).then(|| Arc::new(finder.expect("an environment is smaller than what a search can hold")));
        Self { forms, finder }
    }

    /// Returns the forms of each secret by the name of its variable.
    pub fn by_name(&self) -> BTreeMap<&str, Vec<&str>> {
        let mut by_name: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for (form, name) in &self.forms {
            by_name.entry(name).or_default().push(form);
        }
        by_name
    }

    pub fn is_empty(&self) -> bool {
        self.forms.is_empty()
    }

    /// Returns `text` with every secret replaced by its variable's name.
    pub fn hide<'a>(&self, text: &'a str) -> Cow<'a, str> {
        match self.hide_bytes(text.as_bytes()) {
            Cow::Borrowed(_) => Cow::Borrowed(text),
            // Replacing text by text keeps valid UTF-8.
            Cow::Owned(bytes) => Cow::Owned(String::from_utf8_lossy(&bytes).into_owned()),
        }
    }

    /// Like [`Self::hide`], for bytes that need not be text.
    pub fn hide_bytes<'a>(&self, bytes: &'a [u8]) -> Cow<'a, [u8]> {
        let mut found = self.found_in(bytes).peekable();
        if found.peek().is_none() {
            return Cow::Borrowed(bytes);
        }
        let mut hidden = Vec::with_capacity(bytes.len());
        let mut end = 0;
        for (place, name) in found {
            hidden.extend_from_slice(&bytes[end..place.start]);
            hidden.extend_from_slice(format!("[{name}]").as_bytes());
            end = place.end;
        }
        hidden.extend_from_slice(&bytes[end..]);
        Cow::Owned(hidden)
    }

    /// Returns the name of the first secret in `bytes`.
    pub fn first_in(&self, bytes: &[u8]) -> Option<&str> {
        self.found_in(bytes).next().map(|(_, name)| name)
    }

    fn found_in<'s, 'b>(&'s self, bytes: &'b [u8]) -> impl Iterator<Item = (Range<usize>, &'s str)> + use<'s, 'b> {
        let found = self.finder.iter().flat_map(move |finder| finder.find_iter(bytes));
        found.map(|found| (found.range(), self.forms[found.pattern()].1.as_str()))
    }

    /// Hides secrets in every text of a JSON value. This also finds secrets that JSON text would escape.
    pub fn hide_in(&self, value: &mut Value) {
        match value {
            Value::String(text) => {
                if let Cow::Owned(hidden) = self.hide(text) {
                    *text = hidden;
                }
            }
            Value::Array(values) => values.iter_mut().for_each(|value| self.hide_in(value)),
            Value::Object(fields) => fields.values_mut().for_each(|value| self.hide_in(value)),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
}

impl fmt::Debug for Secrets {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_list().entries(self.forms.iter().map(|(_, name)| name)).finish()
    }
}

/// Returns the forms of a secret: as it is, in JSON, in a URL, and in base64 at any offset of the encoded text.
fn forms_of(secret: &str) -> BTreeSet<String> {
    let mut forms = BTreeSet::from([secret.to_owned()]);
    let json = serde_json::to_string(secret).unwrap_or_default();
    forms.insert(json.trim_matches('"').to_owned());
    // The characters that stay unescaped in URLs: by the standard, and as browsers write them.
    for stays in ["-_.~", "-_.!~*'()"] {
        let encoded = |byte: u8| match char::from(byte) {
            stayed if byte.is_ascii_alphanumeric() || stays.contains(stayed) => stayed.to_string(),
            _ => format!("%{byte:02X}"),
        };
        forms.insert(secret.bytes().map(encoded).collect());
    }
    for before in 0..3 {
        let encoded = STANDARD_NO_PAD.encode([&vec![0; before], secret.as_bytes()].concat());
        // The characters at both ends depend on the neighbouring bytes.
        let (from, to) = ((before * 8).div_ceil(6), (before + secret.len()) * 8 / 6);
        if let Some(own) = encoded.get(from..to).filter(|own| own.len() >= LEAST_LENGTH) {
            forms.insert(own.to_owned());
            forms.insert(own.replace('+', "-").replace('/', "_"));
        }
    }
    forms.retain(|form| form.len() >= LEAST_LENGTH);
    forms
}

#[cfg(test)]
mod tests {
    use super::*;

    fn secrets(variables: &[(&str, &str)], named: &[&str]) -> Secrets {
        let variables = variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        Secrets::of(&variables, &named.iter().map(|name| (*name).to_owned()).collect())
    }

    #[test]
    fn secrets_are_hidden_wherever_they_stand() {
        let secrets = secrets(
            &[
                ("OPENAI_API_KEY", "sk-abcdefgh"),
                ("LONGER_TOKEN", "sk-abcdefgh-and-more"),
                ("SHORT_KEY", "abc"),
                ("ODD", "hunter2hunter2"),
                ("TOKENIZERS", "parallel-mode"),
                ("HTTPS_PROXY", "http://user:proxy-pass@host:3128"),
                ("HOME", "/home/somebody"),
            ],
            &["ODD"],
        );
        assert_eq!(secrets.hide("sk-abcdefgh-and-more sk-abcdefgh abc"), "[LONGER_TOKEN] [OPENAI_API_KEY] abc");
        assert_eq!(
            secrets.hide("hunter2hunter2 at parallel-mode /home/somebody, proxy-pass"),
            "[ODD] at parallel-mode /home/somebody, [HTTPS_PROXY]"
        );
        assert_eq!(secrets.hide_bytes(b"\xff sk-abcdefgh \xff sk-abcdefgh"), &b"\xff [OPENAI_API_KEY] \xff [OPENAI_API_KEY]"[..]);
        let mut value: Value = serde_json::from_str("{\"a\": [{\"b\": \"x s\\u006b-abcdefgh\"}]}").expect("it is JSON");
        secrets.hide_in(&mut value);
        assert_eq!(value["a"][0]["b"], "x [OPENAI_API_KEY]");
        assert!(!format!("{secrets:?}").contains("abcdefgh"));
    }

    #[test]
    fn every_form_of_a_secret_is_found() {
        let secret = "p\"ss/w+rd=ü~\\0123456789";
        let secrets = secrets(&[("A_KEY", secret)], &[]);
        for text in [
            secret.to_owned(),
            serde_json::to_string(secret).expect("text"),
            "p%22ss%2Fw%2Brd%3D%C3%BC~%5C0123456789".to_owned(),
            STANDARD_NO_PAD.encode(secret),
            STANDARD_NO_PAD.encode(format!("user:{secret}")),
            STANDARD_NO_PAD.encode(format!("a:{secret}, and more")),
            STANDARD_NO_PAD.encode(format!("ab:{secret}\n")).replace('+', "-").replace('/', "_"),
        ] {
            let hidden = secrets.hide(&format!("before {text} after")).into_owned();
            assert!(hidden.contains("[A_KEY]"), "{text}: {hidden}");
            assert_eq!(secrets.hide(&hidden), hidden, "{text}");
        }
    }

    #[test]
    fn variables_are_known_by_name_or_value() {
        for (name, value) in [
            ("PGPASSWORD", "x"),
            ("MY_PAT", "x"),
            ("STRIPE_SK", "x"),
            ("MYSQL_PWD", "x"),
            ("aws_secret_access_key", "x"),
            ("SENTRY_DSN", "x"),
            ("DATABASE_URL", "postgres://app:hunter2hunter2@db/app"),
            ("ANYTHING", "ghp_0123456789abcdefghij"),
            ("NOTIFY", "https://hooks.slack.com/services/T0/B0/xyz"),
        ] {
            assert!(is_secret(name, value), "{name}");
        }
        for (name, value) in [
            ("PATH", "/bin"),
            ("PWD", "/home/x"),
            ("TOKENIZERS_PARALLELISM", "false"),
            ("KEYBOARD", "us"),
            ("HOMEPAGE", "https://example.org/a@b:c"),
            ("MONKEY", "x"),
        ] {
            assert!(!is_secret(name, value), "{name}");
        }
    }
}
