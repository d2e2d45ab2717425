//! Keys must not reach a message, a log or a result, whoever repeats them: a program may print its environment, and a service may quote
//! the key it refuses.

use std::borrow::Cow;
use std::fmt;

use serde_json::Value;

use super::environment::Environment;

/// Shorter values are no keys, and taking them out would garble ordinary text.
const LEAST_LENGTH: usize = 8;
/// Words of a variable's name, between underscores, that say it holds a secret.
const NAME_WORDS: [&str; 8] = ["KEY", "APIKEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD", "CREDENTIAL", "CREDENTIALS"];

/// Says whether a variable of that name holds a secret.
pub fn is_secret_name(name: &str) -> bool {
    name.to_uppercase().split('_').any(|word| NAME_WORDS.contains(&word))
}

/// The secrets of an environment, and how to take them out of text.
#[derive(Clone, Default)]
pub struct Secrets {
    /// Value and the name of its variable; longer values first, since one may hold another.
    values: Vec<(String, String)>,
}

impl Secrets {
    /// Gathers the variables whose names speak of secrets, the one that is `named` whatever its name, and the passwords of proxies.
    pub fn of(environment: &Environment, named: Option<&str>) -> Self {
        let mut values = Vec::new();
        for (name, value) in &environment.variables {
            let upper = name.to_uppercase();
            let value = value.trim();
            let is_secret = named == Some(name.as_str()) || is_secret_name(name);
            if is_secret && value.len() >= LEAST_LENGTH {
                values.push((value.to_owned(), name.clone()));
            } else if upper.ends_with("_PROXY")
                && let Some((credentials, _)) = value.rsplit_once('@')
                && let Some((_, password)) = credentials.rsplit_once(':')
                && password.len() >= LEAST_LENGTH
            {
                values.push((password.to_owned(), name.clone()));
            }
        }
        values.sort_by(|left, right| right.0.len().cmp(&left.0.len()).then_with(|| left.cmp(right)));
        Self { values }
    }

    /// Returns `text` with every secret replaced by the name of its variable.
    pub fn hide<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let mut shown = Cow::Borrowed(text);
        for (value, name) in &self.values {
            if shown.contains(value.as_str()) {
                shown = Cow::Owned(shown.replace(value.as_str(), &format!("[{name}]")));
            }
        }
        shown
    }

    /// Hides secrets in every text of a value, which finds those that JSON wrote with escapes too.
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
        formatter.debug_list().entries(self.values.iter().map(|(_, name)| name)).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn environment(variables: &[(&str, &str)]) -> Environment {
        let variables = variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        Environment { variables, ..Environment::default() }
    }

    #[test]
    fn secrets_are_hidden_wherever_they_stand() {
        let environment = environment(&[
            ("OPENAI_API_KEY", "sk-abcdefgh"),
            ("LONGER_TOKEN", "sk-abcdefgh-and-more"),
            ("SHORT_KEY", "abc"),
            ("ODD", "hunter2hunter2"),
            ("TOKENIZERS", "parallel-mode"),
            ("HTTPS_PROXY", "http://user:proxy-pass@host:3128"),
            ("HOME", "/home/somebody"),
        ]);
        let secrets = Secrets::of(&environment, Some("ODD"));
        assert_eq!(secrets.hide("sk-abcdefgh-and-more sk-abcdefgh abc"), "[LONGER_TOKEN] [OPENAI_API_KEY] abc");
        assert_eq!(
            secrets.hide("hunter2hunter2 at parallel-mode /home/somebody, proxy-pass"),
            "[ODD] at parallel-mode /home/somebody, [HTTPS_PROXY]"
        );
        let mut value: Value = serde_json::from_str("{\"a\": [{\"b\": \"x s\\u006b-abcdefgh\"}]}").expect("it is JSON");
        secrets.hide_in(&mut value);
        assert_eq!(value["a"][0]["b"], "x [OPENAI_API_KEY]");
        assert!(!format!("{secrets:?} {environment:?}").contains("abcdefgh"));
    }
}
