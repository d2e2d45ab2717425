//! What approaches, and the programs that they wrote, may reach of this machine.
//!
//! Everybody reads the system and writes to the run's own folder and the system's temporary folder. Nobody reads results, other runs, the
//! configuration or the places where people keep keys. Agents may keep what their makers' programs keep in the home folder, and read no
//! suite: its tests are not for them. What they wrote reads of the suite what no test command names; only the tests read the tests.
//!
//! Where the system enforces nothing, or the user wants nothing enforced, whatever a run touched is noticed afterwards
//! ([`super::tampering`]).

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::agent::{Environment, own_folders};
use crate::config::AgentKind;
use crate::files;
use crate::process::{Confinement, Grants, Network, Places, Support, all_but, support};

use super::workspace::Workspace;

/// Where people and programs keep keys, below the home folder.
const KEYS: [&str; 28] = [
    ".aws",
    ".azure",
    ".bash_history",
    ".cargo/credentials",
    ".cargo/credentials.toml",
    ".config/gcloud",
    ".config/gh",
    ".config/hub",
    ".config/op",
    ".docker",
    ".env",
    ".git-credentials",
    ".gnupg",
    ".kaggle",
    ".kube",
    ".local/share/keyrings",
    ".mozilla",
    ".netrc",
    ".oci",
    ".password-store",
    ".pgpass",
    ".pypirc",
    ".ssh",
    ".terraform.d",
    ".vault-token",
    ".zsh_history",
    ".config/google-chrome",
    ".config/chromium",
];

/// Where agents' own programs keep their sign-in, settings and sessions, below the home folder, unless variables say otherwise.
const AGENTS: [&str; 22] = [
    ".aider",
    ".amp",
    ".claude",
    ".claude.json",
    ".codeium",
    ".codex",
    ".config/amp",
    ".config/claude",
    ".config/goose",
    ".config/opencode",
    ".continue",
    ".copilot",
    ".cursor",
    ".factory",
    ".gemini",
    ".kimi",
    ".local/share/goose",
    ".local/share/opencode",
    ".local/state/opencode",
    ".openhands",
    ".qwen",
    ".ralph",
];

/// Where programs write that no run owns.
const SHARED: [&str; 4] = ["/dev", "/proc", "/tmp", "/var/tmp"];

/// What is kept from programs.
#[derive(Clone, Debug, Default)]
pub struct Kept {
    /// From everybody: stores, caches, the configuration, workspaces.
    pub from_all: Vec<PathBuf>,
    /// From all but a suite's tests: suites.
    pub from_untested: Vec<PathBuf>,
    /// What may be read and not changed, wherever it lies: the repository.
    pub unchanged: Vec<PathBuf>,
}

/// The bounds that all runs of a plan share.
#[derive(Debug)]
pub struct Isolation {
    support: Support,
    /// The user did not say otherwise.
    is_wanted: bool,
    home: Option<PathBuf>,
    agent_reads: Places,
    agent_writes: Places,
    work_reads: Places,
    test_reads: Places,
    shared_writes: Places,
}

impl Isolation {
    pub fn new(is_wanted: bool, kept: &Kept, environment: &Environment) -> Self {
        let support = if is_wanted { support() } else { Support::default() };
        let home = environment.variable("HOME").map(PathBuf::from).filter(|home| home.is_absolute() && home.components().count() > 1);
        let mut isolation = Self {
            support,
            is_wanted,
            home,
            agent_reads: Places::default(),
            agent_writes: Places::default(),
            work_reads: Places::default(),
            test_reads: Places::default(),
            shared_writes: Places::default(),
        };
        if !support.files {
            return isolation;
        }
        let below_home = |names: &[&str]| -> Vec<PathBuf> {
            isolation.home.iter().flat_map(|home| names.iter().map(move |name| home.join(name))).collect()
        };
        let moved = AgentKind::ALL.into_iter().flat_map(|kind| own_folders(kind, environment));
        let (keys, agents) = (below_home(&KEYS), below_home(&AGENTS).into_iter().chain(moved).collect());
        let tokens = isolation.home.iter().map(|home| home.join(".npmrc")).filter(|path| names_a_token(path)).collect();
        let set = |parts: &[&Vec<PathBuf>]| -> BTreeSet<PathBuf> {
            // What cannot be looked up is hidden by its name; what is not there needs not be.
            let place = |path: &PathBuf| files::if_there(path.canonicalize()).unwrap_or_else(|_| Some(path.clone()));
            parts.iter().flat_map(|part| part.iter()).filter_map(place).collect()
        };
        let top = Path::new("/");
        let from_agents = set(&[&kept.from_all, &kept.from_untested, &keys, &tokens]);
        let from_work = set(&[&kept.from_all, &kept.from_untested, &keys, &tokens, &agents]);
        let from_tests = set(&[&kept.from_all, &keys, &tokens, &agents]);
        isolation.agent_reads = Places::of(all_but(top, &from_agents));
        isolation.work_reads = Places::of(all_but(top, &from_work));
        isolation.test_reads = Places::of(all_but(top, &from_tests));
        let from_writers = set(&[&kept.from_all, &kept.from_untested, &kept.unchanged, &keys, &tokens, &agents]);
        let shared = SHARED.iter().filter_map(|path| Path::new(path).canonicalize().ok());
        isolation.shared_writes = Places::of(shared.flat_map(|path| all_but(&path, &from_writers)));
        isolation.agent_writes = Places::of(agents);
        isolation
    }

    /// Says what is enforced, for the run's record.
    pub fn said(&self, is_wrapped: bool) -> String {
        if is_wrapped {
            return "by wrap".to_owned();
        }
        let parts = [(self.support.files, "files"), (self.support.network, "network"), (self.support.signals, "signals")];
        let enforced: Vec<&str> = parts.iter().filter(|(is_enforced, _)| *is_enforced).map(|(_, name)| *name).collect();
        match (self.is_wanted, self.support.files) {
            (false, _) => "none: --no-isolation".to_owned(),
            (true, false) => "none: this system has no Landlock of Linux 6.2 or later".to_owned(),
            (true, true) => enforced.join(", "),
        }
    }

    /// Says whether the system keeps programs from what is not theirs.
    pub fn is_enforced(&self) -> bool {
        self.support.files
    }

    /// Makes a network for the server of a run and its tests; none where the system gives none, or nothing is enforced.
    pub fn network(&self) -> Option<Arc<Network>> {
        if self.support.network { Network::new().map(Arc::new) } else { None }
    }

    /// Prepares the bounds of a program in a run's folder; none where nothing is enforced, or `wrap` starts it: a sandbox of the user's knows
    /// what it allows, and may need rights of its own.
    pub fn confine(&self, whom: Whom, workspace: &Workspace, more: &More<'_>) -> io::Result<Option<Arc<Confinement>>> {
        if !self.is_enforced() || !more.wrap.is_empty() {
            return Ok(None);
        }
        let reads = match whom {
            Whom::Agent => &self.agent_reads,
            Whom::Setup | Whom::Work => &self.work_reads,
            Whom::Tests => &self.test_reads,
        };
        let mut writes = vec![workspace.folder().to_owned(), workspace.temporary()];
        match whom {
            // What setup installs is installed for good: no test changes it.
            Whom::Setup => writes.push(workspace.venv()),
            Whom::Tests => writes.push(workspace.reports()),
            Whom::Agent | Whom::Work => {}
        }
        let own_reads = Places::of(more.reads.iter().cloned().chain([workspace.venv(), workspace.runner()]));
        let own_writes = Places::of(more.writes.iter().cloned().chain(writes));
        let nothing = Places::default();
        let of_agent = if whom == Whom::Agent { &self.agent_writes } else { &nothing };
        let grants = Grants {
            reads: &[reads, &own_reads],
            writes: &[&self.shared_writes, of_agent, &own_writes],
            ports: more.ports,
            network: more.network,
        };
        Confinement::new(&grants).map(|confinement| confinement.map(Arc::new))
    }

    /// The variables that let programs keep in the run's folder what they would share with other runs.
    pub fn variables(&self, workspace: &Workspace, environment: &Environment) -> Vec<(&'static str, OsString)> {
        let own = workspace.temporary();
        let mut variables = vec![("TMPDIR", own.clone().into_os_string())];
        if !self.is_enforced() {
            return variables;
        }
        for (name, folder) in [
            ("XDG_CACHE_HOME", "cache"),
            ("npm_config_cache", "npm"),
            ("UV_CACHE_DIR", "uv"),
            ("GOCACHE", "go-build"),
            ("GOMODCACHE", "go-mod"),
            ("CARGO_HOME", "cargo"),
            ("PYTHONPYCACHEPREFIX", "pycache"),
        ] {
            variables.push((name, own.join(folder).into_os_string()));
        }
        // Else its folders could not be removed with the run.
        variables.push(("GOFLAGS", [environment.variable("GOFLAGS").unwrap_or_default(), "-modcacherw"].join(" ").trim().into()));
        // What pip has fetched before is read and not changed; so are toolchains.
        for (name, folder) in [("PIP_CACHE_DIR", ".cache/pip"), ("RUSTUP_HOME", ".rustup")] {
            if let Some(home) = self.home.as_ref().filter(|home| environment.variable(name).is_none() && home.join(folder).is_dir()) {
                variables.push((name, home.join(folder).into_os_string()));
            }
        }
        variables
    }
}

/// Whose program it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Whom {
    /// The approach.
    Agent,
    /// The suite's setup, in the finished workspace.
    Setup,
    /// What the approach made: its server, its own tests.
    Work,
    /// The suite's tests of it.
    Tests,
}

/// What one program is given beside what all are given.
#[derive(Clone, Copy, Debug, Default)]
pub struct More<'a> {
    /// What starts it.
    pub wrap: &'a [String],
    pub reads: &'a [PathBuf],
    pub writes: &'a [PathBuf],
    /// The only ports, where the suite grants no network.
    pub ports: Option<&'a [u16]>,
    /// A network of the run's own.
    pub network: Option<&'a Arc<Network>>,
}

fn names_a_token(npmrc: &Path) -> bool {
    files::read_to_string(npmrc).is_ok_and(|text| text.contains("_auth") || text.contains("_password"))
}
