//! What an agent needs from outside, passed in as values: variables, the project's folder, the day, how to retry.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use crate::domain::{Secrets, is_secret};
use crate::process::Confinement;

/// The surroundings in which agents are built. The variables hold keys, so `Debug` shows their names only.
#[derive(Clone)]
pub struct Environment {
    /// The variables of the process: keys, proxies, `SSL_CERT_FILE`, `TMPDIR`.
    pub variables: BTreeMap<String, String>,
    /// Those that the configuration names as keys, of whatever agent.
    pub keys: BTreeSet<String>,
    /// The folder of `evalreport.yaml`, where programs start and relative paths begin.
    pub root: PathBuf,
    pub retries: Retries,
    /// From asking a program to end until its end is forced.
    pub grace: Duration,
    /// What programs may reach of this machine, and what they are told of it; everything without.
    pub confinement: Option<Arc<Confinement>>,
    /// Set for programs, over what this process has.
    pub given: BTreeMap<OsString, OsString>,
    /// What all agents that are built in these surroundings, or in a copy of them, know of their programs.
    pub versions: Versions,
}

/// Versions of programs, by their first word: each program is asked once.
#[derive(Clone, Debug, Default)]
pub struct Versions(Arc<Mutex<BTreeMap<String, Version>>>);

/// What a program says of its version; empty until it was asked.
type Version = Arc<OnceLock<Option<String>>>;

impl Versions {
    /// The version of a program, for which `ask` asks if nobody has; none where the program said none.
    pub(super) fn of(&self, program: &str, ask: impl FnOnce() -> Option<String>) -> Option<String> {
        let version = Arc::clone(self.0.lock().unwrap_or_else(PoisonError::into_inner).entry(program.to_owned()).or_default());
        // Who asks for another program does not wait.
        version.get_or_init(ask).clone()
    }
}

impl Default for Environment {
    fn default() -> Self {
        let grace = Duration::from_secs(5);
        Self {
            variables: BTreeMap::new(),
            keys: BTreeSet::new(),
            root: PathBuf::new(),
            retries: Retries::default(),
            grace,
            confinement: None,
            given: BTreeMap::new(),
            versions: Versions::default(),
        }
    }
}

/// How HTTP requests are repeated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retries {
    /// Tries of one prompt, the first included.
    pub attempts: u32,
    /// The first pause; each further one may be twice as long.
    pub first_pause: Duration,
    /// No pause of our own choosing is longer; a service may ask for more.
    pub longest_pause: Duration,
}

impl Default for Retries {
    fn default() -> Self {
        Self { attempts: 5, first_pause: Duration::from_secs(1), longest_pause: Duration::from_mins(1) }
    }
}

impl Environment {
    /// Returns a variable's value; set to nothing is not set.
    pub fn variable(&self, name: &str) -> Option<&str> {
        self.variables.get(name).map(|value| value.trim()).filter(|value| !value.is_empty())
    }

    /// Returns all secrets, with those of one more variable.
    pub fn secrets(&self, named: Option<&str>) -> Secrets {
        Secrets::of(&self.variables, &self.keys.iter().cloned().chain(named.map(str::to_owned)).collect())
    }

    /// Returns the names of the variables that hold secrets, which no program gets unless it is granted them.
    pub fn secret_names(&self) -> impl Iterator<Item = &String> {
        self.variables.iter().filter(|(name, value)| self.keys.contains(*name) || is_secret(name, value)).map(|(name, _)| name)
    }

    /// Returns the secrets that a program does not get which is granted these variables: names, or beginnings of names before a `*`.
    pub fn withheld<'a>(&'a self, granted: &'a [String]) -> impl Iterator<Item = &'a String> {
        let is_granted =
            |name: &String| granted.iter().any(|grant| grant.strip_suffix('*').map_or(grant == name, |begin| name.starts_with(begin)));
        self.secret_names().filter(move |name| !is_granted(name))
    }

    /// Returns the variables to set and to remove for such a program.
    pub fn for_program(&self, granted: &[String]) -> BTreeMap<OsString, Option<OsString>> {
        let withheld = self.withheld(granted).map(|name| (OsString::from(name), None));
        withheld.chain(self.given.iter().map(|(name, value)| (name.clone(), Some(value.clone())))).collect()
    }
}

impl fmt::Debug for Environment {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Environment")
            .field("variables", &self.variables.keys().collect::<Vec<_>>())
            .field("keys", &self.keys)
            .field("root", &self.root)
            .field("retries", &self.retries)
            .field("grace", &self.grace)
            .field("confinement", &self.confinement)
            .field("given", &self.given)
            .field("versions", &self.versions)
            .finish()
    }
}
