//! The environment of agents, passed in as values: variables, the project's folder, the day, the retry rules.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use super::rate_limit::RateLimiters;
use crate::domain::{Secrets, is_secret};
use crate::process::Confinement;

/// Variables that lead to services which act for the user: agents of keys, buses, displays, terminals, editors, container engines. No
/// confined program gets them.
pub const SERVICE_VARIABLES: [&str; 34] = [
    "AT_SPI_BUS_ADDRESS",
    "BUILDKIT_HOST",
    "CONTAINERD_ADDRESS",
    "CONTAINER_HOST",
    "DBUS_SESSION_BUS_ADDRESS",
    "DBUS_STARTER_ADDRESS",
    "DBUS_SYSTEM_BUS_ADDRESS",
    "DISPLAY",
    "DOCKER_CONFIG",
    "DOCKER_CONTEXT",
    "DOCKER_HOST",
    "EMACS_SERVER_FILE",
    "GIT_ASKPASS",
    "GNOME_KEYRING_CONTROL",
    "GPG_AGENT_INFO",
    "GPG_TTY",
    "I3SOCK",
    "KITTY_LISTEN_ON",
    "KRB5CCNAME",
    "KUBECONFIG",
    "NVIM",
    "NVIM_LISTEN_ADDRESS",
    "PULSE_SERVER",
    "SESSION_MANAGER",
    "SSH_AGENT_PID",
    "SSH_ASKPASS",
    "SSH_AUTH_SOCK",
    "SUDO_ASKPASS",
    "SWAYSOCK",
    "TMUX",
    "VSCODE_IPC_HOOK_CLI",
    "WAYLAND_DISPLAY",
    "XAUTHORITY",
    "XDG_RUNTIME_DIR",
];

/// The environment in which agents are built. The variables hold keys, so `Debug` shows only their names.
#[derive(Clone)]
pub struct AgentEnvironment {
    /// The variables of the process: keys, proxies, `SSL_CERT_FILE`, `TMPDIR`.
    pub variables: BTreeMap<String, String>,
    /// Names of the variables that the configuration declares as keys, for any agent.
    pub keys: BTreeSet<String>,
    /// The folder of `evalreport.yaml`: programs start in it, and relative paths begin there.
    pub root: PathBuf,
    pub retries: RetryPolicy,
    /// Time between asking a program to end and killing it.
    pub grace: Duration,
    /// What programs may access on this machine. `None` means no restriction.
    pub confinement: Option<Arc<Confinement>>,
    /// Variables set for programs, in addition to those of this process, or removed (`None`).
    pub given: BTreeMap<OsString, Option<OsString>>,
    /// Versions of programs, shared by all agents built from this environment or a clone of it.
    pub versions: ProgramVersions,
    pub rate_limiters: RateLimiters,
}

/// Versions of programs, by the first word of the command. Each program is asked once.
#[derive(Clone, Debug, Default)]
pub struct ProgramVersions(Arc<Mutex<BTreeMap<String, VersionCell>>>);

/// The version that a program reports; empty until it is asked.
type VersionCell = Arc<OnceLock<Option<String>>>;

impl ProgramVersions {
    /// Returns the version of a program. Calls `ask` if the version is not yet known; `None` if the program reports none.
    pub(super) fn get_or_ask(
        &self,
        program: &str,
        ask: impl FnOnce() -> Option<String>,
    ) -> Option<String> {
        let version = Arc::clone(
            self.0
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .entry(program.to_owned())
                .or_default(),
        );
        // The lock is released here, so callers for other programs do not wait.
        version.get_or_init(ask).clone()
    }
}

impl Default for AgentEnvironment {
    fn default() -> Self {
        let grace = Duration::from_secs(5);
        Self {
            variables: BTreeMap::new(),
            keys: BTreeSet::new(),
            root: PathBuf::new(),
            retries: RetryPolicy::default(),
            grace,
            confinement: None,
            given: BTreeMap::new(),
            versions: ProgramVersions::default(),
            rate_limiters: RateLimiters::default(),
        }
    }
}

/// How HTTP requests are repeated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RetryPolicy {
    /// Maximum tries per prompt, including the first.
    pub attempts: u32,
    /// The first pause. Each further pause may be twice as long.
    pub first_pause: Duration,
    /// Longest pause that we choose ourselves. A service may ask for a longer one.
    pub longest_pause: Duration,
}

impl Default for RetryPolicy {
    fn default() -> Self {
        Self {
            attempts: 5,
            first_pause: Duration::from_secs(1),
            longest_pause: Duration::from_mins(1),
        }
    }
}

impl AgentEnvironment {
    /// Returns a variable's value. An empty variable counts as unset.
    pub fn variable(&self, name: &str) -> Option<&str> {
        self.variables
            .get(name)
            .map(|value| value.trim())
            .filter(|value| !value.is_empty())
    }

    /// Returns all secrets, including the variable `named`.
    pub fn collect_secrets(&self, named: Option<&str>) -> Secrets {
        Secrets::from_variables(
            &self.variables,
            &self
                .keys
                .iter()
                .cloned()
                .chain(named.map(str::to_owned))
                .collect(),
        )
    }

    /// Returns the names of the variables that hold secrets. No program gets them unless they are granted.
    pub fn secret_names(&self) -> impl Iterator<Item = &String> {
        self.variables
            .iter()
            .filter(|(name, value)| self.keys.contains(*name) || is_secret(name, value))
            .map(|(name, _)| name)
    }

    /// Returns the secrets withheld from a program. `granted` lists variable names; an entry may be a prefix followed by `*`.
    pub fn withheld_secrets<'a>(
        &'a self,
        granted: &'a [String],
    ) -> impl Iterator<Item = &'a String> {
        let is_granted = |name: &String| {
            granted.iter().any(|grant| {
                grant
                    .strip_suffix('*')
                    .map_or(grant == name, |begin| name.starts_with(begin))
            })
        };
        self.secret_names().filter(move |name| !is_granted(name))
    }

    /// Returns the variables to set (`Some`) and to remove (`None`) for a program with these grants.
    pub fn variables_for_program(
        &self,
        granted: &[String],
    ) -> BTreeMap<OsString, Option<OsString>> {
        let withheld = self
            .withheld_secrets(granted)
            .map(|name| (OsString::from(name), None));
        // A confined program could otherwise ask a service of the user, which is not confined.
        let services = SERVICE_VARIABLES
            .iter()
            .filter(|_| self.confinement.is_some())
            .map(|name| (OsString::from(name), None));
        withheld
            .chain(services)
            .chain(
                self.given
                    .iter()
                    .map(|(name, value)| (name.clone(), value.clone())),
            )
            .collect()
    }
}

impl fmt::Debug for AgentEnvironment {
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
            .field("rate_limiters", &self.rate_limiters)
            .finish()
    }
}
