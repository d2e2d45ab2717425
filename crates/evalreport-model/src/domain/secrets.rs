//! Keeps keys out of messages, results and pages. A program may print its environment, and a service may quote the key that it rejects.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use aho_corasick::{AhoCorasick, MatchKind};
use serde_json::Value;

use super::secret_forms::{
    JoinedText, MIN_LENGTH, encode_wide, forms_of, joined_forms, wide_forms_of,
};

/// Words in a variable's name, separated by underscores, that mark it as secret.
const NAME_WORDS: [&str; 32] = [
    "AUTH",
    "AUTHORIZATION",
    "BEARER",
    "CONNSTR",
    "COOKIE",
    "COOKIES",
    "CRED",
    "CREDENTIAL",
    "CREDENTIALS",
    "CREDS",
    "DSN",
    "JWT",
    "KEY",
    "KEYS",
    "MNEMONIC",
    "PASSCODE",
    "PASSKEY",
    "PASSWD",
    "PASSWORDS",
    "PAT",
    "PIN",
    "PRIVATE",
    "PW",
    "PWD",
    "SALT",
    "SALTS",
    "SECRETS",
    "SK",
    "TOKENS",
    "TOTP",
    "UNSEAL",
    "WEBHOOK",
];
/// Suffixes of words that mark a variable as secret, as in `PGPASSWORD` and `GHTOKEN`.
const WORD_ENDS: [&str; 16] = [
    "ACCESSKEY",
    "ACCOUNTKEY",
    "APIKEY",
    "AUTHKEY",
    "CREDENTIALS",
    "PASSCODE",
    "PASSPHRASE",
    "PASSWD",
    "PASSWORD",
    "PRIVATEKEY",
    "PWD",
    "SECRET",
    "SECRETKEY",
    "SECRETS",
    "SIGNINGKEY",
    "TOKEN",
];
/// Words that mark a variable as secret if they are beside each other.
const WORD_PAIRS: [(&str, &str); 4] = [
    ("ACCESS", "CODE"),
    ("CONNECTION", "STRING"),
    ("OTP", "SEED"),
    ("SEED", "PHRASE"),
];
/// End of words such as `SSHPASS`.
const PASS_SUFFIX: &str = "PASS";
/// Words that end in [`PASS_SUFFIX`] and have nothing to do with passwords.
const OTHER_PASSES: [&str; 9] = [
    "BYPASS",
    "COMPASS",
    "ENCOMPASS",
    "MULTIPASS",
    "OVERPASS",
    "SURPASS",
    "TRESPASS",
    "UNDERPASS",
    "WORKPASS",
];
/// Words after `PASS` that make it a result of tests, as in `MIN_PASS_RATE`.
const AFTER_PASSING: [&str; 14] = [
    "AT",
    "COUNT",
    "CRITERIA",
    "FAIL",
    "LIMIT",
    "NUMBER",
    "ONLY",
    "OR",
    "PERCENT",
    "RATE",
    "RATES",
    "RATIO",
    "THRESHOLD",
    "THROUGH",
];
/// Variables of the shell that hold folders, not secrets.
const NO_SECRETS: [&str; 2] = ["PWD", "OLDPWD"];
/// Names of parameters in addresses and connection strings that are secret there alone.
const SECRET_PARAMETERS: [&str; 4] = ["SIG", "SIGNATURE", "SHAREDACCESSSIGNATURE", "CODE"];
/// Prefixes of keys of well-known services.
const KEY_BEGINNINGS: [&str; 38] = [
    "sk-",
    "sk_live_",
    "sk_test_",
    "rk_live_",
    "whsec_",
    "ghp_",
    "gho_",
    "ghs_",
    "ghu_",
    "ghr_",
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
    "ya29.",
    "npm_",
    "pypi-",
    "dop_v1_",
    "shpat_",
    "SG.",
    "gsk_",
    "xai-",
    "pplx-",
    "nvapi-",
    "tskey-",
    "figd_",
    "lin_api_",
    "sntrys_",
    "ATATT",
    "AGE-SECRET-KEY-",
    "eyJ",
    "-----BEGIN",
];
/// URLs that are secrets themselves.
const SECRET_ADDRESSES: [&str; 4] = [
    "hooks.slack.com/",
    "discord.com/api/webhooks/",
    "discordapp.com/api/webhooks/",
    ".webhook.office.com/",
];

/// Returns whether a variable with this name holds a secret.
fn is_secret_name(name: &str) -> bool {
    let upper = name.to_uppercase();
    if NO_SECRETS.contains(&upper.as_str()) {
        return false;
    }
    let words: Vec<&str> = upper
        .split(|letter: char| !letter.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .collect();
    words.iter().enumerate().any(|(place, word)| {
        let next = words.get(place + 1);
        NAME_WORDS.contains(word)
            || WORD_ENDS.iter().any(|end| word.ends_with(end))
            || WORD_PAIRS
                .iter()
                .any(|(first, second)| first == word && next == Some(second))
            || (word.ends_with(PASS_SUFFIX)
                && !OTHER_PASSES.contains(word)
                && next.is_none_or(|next| !AFTER_PASSING.contains(next)))
    })
}

/// Returns whether a variable holds a secret, judged by its name or value.
pub fn is_secret(name: &str, value: &str) -> bool {
    is_secret_name(name) || looks_like_a_key(value) || !parts_of(value).is_empty()
}

fn looks_like_a_key(value: &str) -> bool {
    let value = value.trim();
    value.len() >= 2 * MIN_LENGTH
        && (KEY_BEGINNINGS
            .iter()
            .any(|beginning| value.starts_with(beginning))
            || SECRET_ADDRESSES
                .iter()
                .any(|address| value.contains(address)))
}

/// Returns the secrets within a value: the password of an address such as `postgres://user:password@host/db`, parameters such as
/// `AccountKey=…;`, and texts under secret names in a JSON document such as a service account.
fn parts_of(value: &str) -> Vec<String> {
    let mut parts = Vec::new();
    if let Some((_, rest)) = value.split_once("://") {
        let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
        // A password may contain an `@`.
        let (user, password) = match authority
            .rsplit_once('@')
            .map(|(login, _)| login.split_once(':').unwrap_or((login, "")))
        {
            Some((user, password)) => (user, password),
            None => ("", ""),
        };
        parts.extend(
            [user]
                .into_iter()
                .filter(|user| looks_like_a_key(user))
                .map(str::to_owned),
        );
        if !password.is_empty() {
            parts.push(password.to_owned());
            parts.extend(percent_decoded(password));
        }
    }
    for parameter in value.split([';', '&', '?', '#']) {
        let Some((name, secret)) = parameter.split_once('=') else {
            continue;
        };
        let name = name.trim();
        let is_name = !name.is_empty()
            && name.len() < 40
            && name
                .chars()
                .all(|letter| letter.is_alphanumeric() || "_-. ".contains(letter));
        // The whole value of a variable such as `A=b` is no list of parameters.
        let is_parameter = value.contains([';', '&', '?', '#']);
        if is_name
            && is_parameter
            && secret.len() >= MIN_LENGTH
            && (is_secret_name(name) || SECRET_PARAMETERS.contains(&name.to_uppercase().as_str()))
        {
            parts.push(secret.to_owned());
            parts.extend(percent_decoded(secret));
        }
    }
    if value.starts_with('{')
        && let Ok(document) = serde_json::from_str::<Value>(value)
    {
        add_secret_texts("", &document, &mut parts);
    }
    parts
}

fn add_secret_texts(name: &str, value: &Value, parts: &mut Vec<String>) {
    match value {
        // `key` alone is a word of every document.
        Value::String(text)
            if (is_secret_name(name) && !["key", "keys"].contains(&name))
                || looks_like_a_key(text) =>
        {
            parts.push(text.trim().to_owned());
        }
        Value::Object(fields) => fields
            .iter()
            .for_each(|(name, value)| add_secret_texts(name, value, parts)),
        Value::Array(values) => values
            .iter()
            .for_each(|value| add_secret_texts(name, value, parts)),
        _ => {}
    }
}

/// Returns a percent-encoded text without its encoding, if it has any.
fn percent_decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((byte, after)) = rest.split_first() {
        let digits = after
            .get(..2)
            .and_then(|digits| std::str::from_utf8(digits).ok());
        match digits
            .filter(|_| *byte == b'%')
            .and_then(|digits| u8::from_str_radix(digits, 16).ok())
        {
            Some(code) => {
                bytes.push(code);
                rest = &after[2..];
            }
            None => {
                bytes.push(*byte);
                rest = after;
            }
        }
    }
    String::from_utf8(bytes)
        .ok()
        .filter(|decoded| decoded != text)
}

/// A form of a secret.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct SecretForm {
    bytes: Vec<u8>,
    /// Name of the variable.
    name: String,
    /// What takes its place.
    instead: Vec<u8>,
}

/// Secrets in all forms in which they may appear, and their removal from text.
#[derive(Clone, Default)]
pub struct Secrets {
    forms: Vec<SecretForm>,
    /// Finds all forms in one pass. `None` if there are no secrets.
    finder: Option<Arc<AhoCorasick>>,
    /// Forms without line ends, and what finds them in text without line ends.
    joined: Vec<SecretForm>,
    joined_finder: Option<Arc<AhoCorasick>>,
}

impl Secrets {
    /// Collects the variables that look secret by name or value, and those in `named`.
    pub fn from_variables(variables: &BTreeMap<String, String>, named: &BTreeSet<String>) -> Self {
        let (mut forms, mut joined) = (BTreeMap::new(), BTreeMap::new());
        for (name, value) in variables {
            let value = value.trim();
            // The name replaces the secret in lines of JSON, so it must need no escaping.
            let is_plain = name
                .chars()
                .all(|character| character.is_alphanumeric() || "_-.".contains(character));
            let shown = if is_plain { name.as_str() } else { "secret" };
            // A value that two variables have is called by the first of them.
            let mut add = |text: &str| {
                let mut all = forms_of(text);
                for ((form, in_json), bytes) in wide_forms_of(text)
                    .into_iter()
                    .zip([u16::to_le_bytes, u16::to_be_bytes])
                {
                    forms.entry(form).or_insert_with(|| {
                        (shown.to_owned(), encode_wide(&format!("[{shown}]"), bytes))
                    });
                    all.extend(in_json.map(String::into_bytes));
                }
                let called = || (shown.to_owned(), placeholder_of(shown));
                for form in joined_forms(&all) {
                    joined.entry(form).or_insert_with(called);
                }
                for form in all {
                    forms.entry(form).or_insert_with(called);
                }
            };
            if (named.contains(name) || is_secret(name, value)) && value.len() >= MIN_LENGTH {
                add(value);
            }
            for part in parts_of(value)
                .iter()
                .filter(|part| part.len() >= MIN_LENGTH)
            {
                add(part);
            }
        }
        let (forms, finder) = build_finder(forms);
        let (joined, joined_finder) = build_finder(joined);
        Self {
            forms,
            finder,
            joined,
            joined_finder,
        }
    }

    /// Returns the forms of each secret by the name of its variable.
    pub fn forms_by_name(&self) -> BTreeMap<&str, Vec<&[u8]>> {
        let mut by_name: BTreeMap<&str, Vec<&[u8]>> = BTreeMap::new();
        for form in &self.forms {
            by_name.entry(&form.name).or_default().push(&form.bytes);
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
        let found = self.find_secrets(bytes);
        if found.is_empty() {
            return Cow::Borrowed(bytes);
        }
        let mut hidden = Vec::with_capacity(bytes.len());
        let mut end = 0;
        for (place, form) in found {
            hidden.extend_from_slice(&bytes[end..place.start]);
            hidden.extend_from_slice(&form.instead);
            end = place.end;
        }
        hidden.extend_from_slice(&bytes[end..]);
        Cow::Owned(hidden)
    }

    /// Returns the name of the first secret in `bytes`.
    pub fn first_in(&self, bytes: &[u8]) -> Option<&str> {
        self.find_secrets(bytes)
            .first()
            .map(|(_, form)| form.name.as_str())
    }

    /// Returns `text` with every secret replaced by what `instead` makes of its variable's name, and how often each was there.
    pub fn replaced_in(
        &self,
        text: &str,
        instead: impl Fn(&str) -> String,
    ) -> Option<(String, BTreeMap<&str, u64>)> {
        let found = self.find_secrets(text.as_bytes());
        let mut counts = BTreeMap::new();
        let (mut replaced, mut end) = (Vec::with_capacity(text.len()), 0);
        for (place, form) in &found {
            replaced.extend_from_slice(&text.as_bytes()[end..place.start]);
            replaced.extend_from_slice(instead(&form.name).as_bytes());
            end = place.end;
            *counts.entry(form.name.as_str()).or_default() += 1;
        }
        replaced.extend_from_slice(&text.as_bytes()[end..]);
        (!counts.is_empty()).then(|| (String::from_utf8_lossy(&replaced).into_owned(), counts))
    }

    /// Returns where secrets are, in order and apart from each other.
    fn find_secrets(&self, bytes: &[u8]) -> Vec<(Range<usize>, &SecretForm)> {
        let Some(finder) = &self.finder else {
            return Vec::new();
        };
        let found = finder
            .find_iter(bytes)
            .map(|found| (found.range(), &self.forms[found.pattern()]));
        let mut found: Vec<_> = found
            .filter(|(place, _)| !is_number_of_json(bytes, place))
            .collect();
        // What goes over line ends, or is escaped again and again, is not in the text as it is.
        if let (Some(finder), Some(text)) = (&self.joined_finder, JoinedText::from_bytes(bytes)) {
            let wrapped = finder.find_iter(&text.bytes).map(|wrapped| {
                let start = text.original_place(wrapped.start());
                // The first letter may be escaped, and what is left must not escape what takes its place.
                let start = start
                    - bytes[..start]
                        .iter()
                        .rev()
                        .take_while(|byte| **byte == b'\\')
                        .count();
                (
                    start..text.original_place(wrapped.end() - 1) + 1,
                    &self.joined[wrapped.pattern()],
                )
            });
            found.extend(wrapped.filter(|(place, _)| !is_number_of_json(bytes, place)));
            found.sort_by_key(|(place, _)| (place.start, std::cmp::Reverse(place.end)));
            found.dedup_by(|(next, _), (before, _)| {
                let is_within = next.start < before.end;
                before.end = if is_within {
                    before.end.max(next.end)
                } else {
                    before.end
                };
                is_within
            });
        }
        found
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
        formatter
            .debug_list()
            .entries(self.forms.iter().map(|form| &form.name))
            .finish()
    }
}

fn placeholder_of(name: &str) -> Vec<u8> {
    format!("[{name}]").into_bytes()
}

/// Returns the forms, longer ones first, and what finds them.
fn build_finder(
    forms: BTreeMap<Vec<u8>, (String, Vec<u8>)>,
) -> (Vec<SecretForm>, Option<Arc<AhoCorasick>>) {
    let mut forms: Vec<SecretForm> = forms
        .into_iter()
        .map(|(bytes, (name, instead))| SecretForm {
            bytes,
            name,
            instead,
        })
        .collect();
    forms.sort_by(|left, right| {
        right
            .bytes
            .len()
            .cmp(&left.bytes.len())
            .then_with(|| left.cmp(right))
    });
    // One form may contain another.
    let finder = AhoCorasick::builder()
        .match_kind(MatchKind::LeftmostLongest)
        .build(forms.iter().map(|form| &form.bytes));
    let finder = (!forms.is_empty())
        .then(|| Arc::new(finder.expect("an environment is smaller than what a search can hold")));
    (forms, finder)
}

/// Returns whether digits are a number of a JSON document. A password may have digits only, and a record must stay a document.
fn is_number_of_json(bytes: &[u8], place: &Range<usize>) -> bool {
    let before = place
        .start
        .checked_sub(1)
        .and_then(|before| bytes.get(before));
    bytes[place.clone()].iter().all(u8::is_ascii_digit)
        && matches!(before, Some(b':' | b',' | b'['))
        && matches!(bytes.get(place.end), Some(b',' | b'}' | b']'))
}

#[cfg(test)]
mod tests {
    use base64::Engine;
    use base64::engine::general_purpose::STANDARD_NO_PAD;

    use super::*;

    fn secrets(variables: &[(&str, &str)], named: &[&str]) -> Secrets {
        let variables = variables
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect();
        Secrets::from_variables(
            &variables,
            &named.iter().map(|name| (*name).to_owned()).collect(),
        )
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
        assert_eq!(
            secrets.hide("sk-abcdefgh-and-more sk-abcdefgh abc"),
            "[LONGER_TOKEN] [OPENAI_API_KEY] abc"
        );
        assert_eq!(
            secrets.hide("hunter2hunter2 at parallel-mode /home/somebody, proxy-pass"),
            "[ODD] at parallel-mode /home/somebody, [HTTPS_PROXY]"
        );
        assert_eq!(
            secrets.hide_bytes(b"\xff sk-abcdefgh \xff sk-abcdefgh"),
            &b"\xff [OPENAI_API_KEY] \xff [OPENAI_API_KEY]"[..]
        );
        let mut value: Value = serde_json::from_str("{\"a\": [{\"b\": \"x s\\u006b-abcdefgh\"}]}")
            .expect("it is JSON");
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
            STANDARD_NO_PAD
                .encode(format!("ab:{secret}\n"))
                .replace('+', "-")
                .replace('/', "_"),
        ] {
            let hidden = secrets.hide(&format!("before {text} after")).into_owned();
            assert!(hidden.contains("[A_KEY]"), "{text}: {hidden}");
            assert_eq!(secrets.hide(&hidden), hidden, "{text}");
        }
    }

    #[test]
    fn what_goes_over_line_ends_is_found() {
        let pem = "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASC/KcwggSj\nAgEAAoIBAQC7VJTUt9Us8cKjMzEfYyjiWA4R4+M2bS1G\nq1w2e3\n-----END PRIVATE KEY-----";
        let secrets = secrets(
            &[("SIGNING_KEY", pem), ("A_TOKEN", "0123456789abcdefghij")],
            &[],
        );
        let nested = |levels: usize| {
            (0..levels).fold(pem.to_owned(), |text, _| {
                serde_json::to_string(&text).expect("text")
            })
        };
        for text in [
            pem.to_owned(),
            pem.replace('\n', "\r\n"),
            pem.replace('\n', "\n    "),
            pem.replace('\n', ""),
            pem.replace('\n', "\\\n  "),
            nested(1),
            nested(2),
            nested(3),
            nested(6),
        ] {
            let hidden = secrets.hide(&text).into_owned();
            assert!(
                hidden.contains("[SIGNING_KEY]")
                    && !hidden.contains("MIIEv")
                    && !hidden.contains("q1w2e3"),
                "{text}: {hidden}"
            );
        }
        assert_eq!(
            secrets.hide("it is 0123456789\n  abcdefghij, and"),
            "it is [A_TOKEN], and"
        );
        assert_eq!(
            secrets.hide("it is 0123456789\\\\nabcdefghij, and"),
            "it is [A_TOKEN], and"
        );
        let encoded = STANDARD_NO_PAD.encode("0123456789abcdefghij");
        let (first, second) = encoded.split_at(11);
        assert!(
            secrets
                .hide(&format!("{first}\n{second}"))
                .starts_with("[A_TOKEN]")
        );
        // A diff of a key has a sign before each line.
        let diff = secrets.hide(&pem.replace('\n', "\n+")).into_owned();
        assert!(!diff.contains("MIIEv") && !diff.contains("AgEAA"), "{diff}");
        assert_eq!(
            secrets.hide("-----BEGIN PRIVATE KEY-----\nof somebody else"),
            "-----BEGIN PRIVATE KEY-----\nof somebody else"
        );
    }

    #[test]
    fn a_record_stays_a_document_whatever_is_taken_out_of_it() {
        let secret = "\"quoted\\ and 'more'\\";
        let secrets = secrets(&[("A_KEY", secret)], &[]);
        let mut text = format!("C:\\{secret}\n{secret}");
        for level in 1..8 {
            text = serde_json::to_string(&text).expect("text");
            let mut hidden = secrets.hide(&text).into_owned();
            for _ in 0..level {
                hidden = serde_json::from_str(&hidden)
                    .unwrap_or_else(|error| panic!("{level}: {hidden}: {error}"));
            }
            assert!(
                hidden.contains("[A_KEY]") && !hidden.contains("quoted"),
                "{level}: {hidden}"
            );
        }
    }

    #[test]
    fn a_number_of_a_record_stays_a_number() {
        let secrets = secrets(&[("A_PIN_KEY", "1234567890")], &[]);
        let line = "{\"tokens\":1234567890,\"reply\":\"it is 1234567890\"}";
        assert_eq!(
            secrets.hide(line),
            "{\"tokens\":1234567890,\"reply\":\"it is [A_PIN_KEY]\"}"
        );
    }

    #[test]
    fn text_in_utf_16_stays_in_utf_16() {
        let secrets = secrets(&[("A_KEY", "0123456789")], &[]);
        let text = |text: &str| encode_wide(text, u16::to_le_bytes);
        assert_eq!(
            secrets.hide_bytes(&text("it is 0123456789.")),
            text("it is [A_KEY].")
        );
    }

    #[test]
    fn a_part_of_a_value_is_a_secret_of_its_own() {
        let secrets = secrets(
            &[
                ("DATABASE_URL", "postgres://app:p%40ss%2Fword@db/app"),
                ("STORAGE", "AccountName=a;AccountKey=abcdefgh12==;"),
                (
                    "ACCOUNT",
                    "{\"type\": \"service_account\", \"private_key\": \"some-long-key\"}",
                ),
            ],
            &[],
        );
        assert_eq!(
            secrets.hide("p@ss/word p%40ss%2Fword abcdefgh12== some-long-key service_account"),
            "[DATABASE_URL] [DATABASE_URL] [STORAGE] [ACCOUNT] service_account"
        );
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
            ("DB_PASS", "x"),
            ("DB_PW", "x"),
            ("CARD_PIN", "x"),
            ("VAULT_UNSEAL", "x"),
            ("DOOR_ACCESS_CODE", "x"),
            ("OTP_SEED", "x"),
            ("SMTP_PASS", "x"),
            ("DB_PASS_2", "x"),
            ("SSHPASS", "x"),
            ("MYSQLPASS", "x"),
            ("SECRETS", "x"),
            ("APP_SECRETS", "x"),
            ("DBPWD", "x"),
            ("SESSION_COOKIES", "x"),
            ("HASH_SALT", "x"),
            ("AWS_CREDS", "x"),
            ("GOOGLE_CREDENTIALS", "x"),
            ("PROXY_AUTHORIZATION", "x"),
            ("STORAGE_CONNECTION_STRING", "x"),
            ("Passphrase", "x"),
            ("dbPassword", "x"),
            (
                "STORAGE",
                "DefaultEndpointsProtocol=https;AccountName=a;AccountKey=abcdefgh12==;",
            ),
            ("BLOB", "https://a.blob.example/c?sv=2024&sig=abcdefgh%2F12"),
            ("MIRROR", "https://ghp_0123456789abcdefghij@github.com/o/r"),
            (
                "ACCOUNT",
                "{\"type\": \"service_account\", \"private_key\": \"abc\"}",
            ),
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
            ("PASSED", "x"),
            ("TESTS_PASSED", "x"),
            ("PASSENGERS", "x"),
            ("PASSIVE_MODE", "x"),
            ("COMPASS", "x"),
            ("BYPASS", "x"),
            ("PROXY_BYPASS", "x"),
            ("MIN_PASS_RATE", "x"),
            ("PASS_THRESHOLD", "x"),
            ("AUTHOR", "x"),
            ("GIT_AUTHOR_NAME", "x"),
            ("XAUTHORITY", "/home/x/.Xauthority"),
            ("DESALTED", "x"),
            ("SECRETARY", "x"),
            ("RUSTFLAGS", "--cfg a=b;c"),
            ("LS_COLORS", "rs=0:di=01;34:ln=01;36"),
            (
                "PAGE",
                "https://example.org/?page=1234567890&sort=descending",
            ),
        ] {
            assert!(!is_secret(name, value), "{name}");
        }
    }
}
