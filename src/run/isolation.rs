//! Isolation: what approaches, and the programs they wrote, may access on this machine.
//!
//! All may read the system, and write to the run's own folder and the system's temporary folder. None may read results, other runs, the
//! configuration, or places where people keep keys. Agents may access their programs' own folders in the home folder, but no suite: the
//! tests are hidden from them. Their code may read the suite's files except those that test commands name; only the tests may read these.
//!
//! If the system enforces nothing, or the user wants no isolation, touched files are detected afterwards ([`super::tampering`]).

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::agent::{Environment, own_folders};
use crate::config::AgentKind;
use crate::files;
use crate::process::{Confinement, Grants, Network, Places, Support, all_but, has_spaces, support};

use super::workspace::{PhaseFolders, Workspace};

/// Places below the home folder where people and programs keep keys.
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

/// Folders below the home folder where agents' programs keep sign-in, settings and sessions by default.
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

/// Shared folders that programs may write to.
const SHARED: [&str; 2] = ["/tmp", "/var/tmp"];

/// Devices: a program is given the few that it needs ([`Confinement`]), and none of the rest.
const DEVICES: &str = "/dev";

/// Paths that are hidden from programs or protected.
#[derive(Clone, Debug, Default)]
pub struct Kept {
    /// Hidden from all: stores, caches, the configuration, workspaces.
    pub from_all: Vec<PathBuf>,
    /// Hidden from all except a suite's tests: suites.
    pub from_untested: Vec<PathBuf>,
    /// Readable but never writable, wherever it is: the repository.
    pub unchanged: Vec<PathBuf>,
}

/// The limits shared by all runs of a plan.
#[derive(Debug)]
pub struct Isolation {
    support: Support,
    /// Whether the user wants isolation.
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
            // A path that cannot be resolved is hidden by its name. A missing path need not be hidden.
            let place = |path: &PathBuf| files::if_there(path.canonicalize()).unwrap_or_else(|_| Some(path.clone()));
            parts.iter().flat_map(|part| part.iter()).filter_map(place).collect()
        };
        let top = Path::new("/");
        let devices = vec![PathBuf::from(DEVICES)];
        let from_agents = set(&[&kept.from_all, &kept.from_untested, &keys, &tokens, &devices]);
        let from_work = set(&[&kept.from_all, &kept.from_untested, &keys, &tokens, &agents, &devices]);
        let from_tests = set(&[&kept.from_all, &keys, &tokens, &agents, &devices]);
        isolation.agent_reads = Places::of(all_but(top, &from_agents));
        isolation.work_reads = Places::of(all_but(top, &from_work));
        isolation.test_reads = Places::of(all_but(top, &from_tests));
        let from_writers = set(&[&kept.from_all, &kept.from_untested, &kept.unchanged, &keys, &tokens, &agents]);
        let shared = SHARED.iter().filter_map(|path| Path::new(path).canonicalize().ok());
        isolation.shared_writes = Places::of(shared.flat_map(|path| all_but(&path, &from_writers)));
        isolation.agent_writes = Places::of(agents);
        isolation
    }

    /// Describes what is enforced, for the run's record.
    pub fn said(&self, is_wrapped: bool) -> String {
        if is_wrapped {
            return "by wrap".to_owned();
        }
        let parts = [
            (self.support.files, "files"),
            (self.support.network, "network"),
            (self.support.signals, "signals"),
            (self.support.files, "powers"),
            (self.support.files && self.support.calls, "system calls"),
            (self.support.files && has_spaces(), "processes"),
        ];
        let enforced: Vec<&str> = parts.iter().filter(|(is_enforced, _)| *is_enforced).map(|(_, name)| *name).collect();
        match (self.is_wanted, self.support.files) {
            (false, _) => "none: --no-isolation".to_owned(),
            (true, false) => "none: this system has no Landlock of Linux 6.2 or later".to_owned(),
            (true, true) => enforced.join(", "),
        }
    }

    /// Returns whether the system enforces access to files.
    pub fn is_enforced(&self) -> bool {
        self.support.files
    }

    /// Returns whether the system keeps programs from changing other processes.
    pub fn protects_processes(&self) -> bool {
        self.support.files && (self.support.calls || has_spaces())
    }

    /// Creates a network for a run's server and tests, or returns `None` if the system offers none or nothing is enforced.
    pub fn network(&self) -> Option<Arc<Network>> {
        if self.support.network { Network::new().map(Arc::new) } else { None }
    }

    /// Prepares the limits of a program in a run's folder. Returns `None` if nothing is enforced, or if `wrap` starts the program: the
    /// user's own sandbox has its own rules, and may need more rights.
    pub fn confine(
        &self,
        whom: Whom,
        workspace: &Workspace,
        phase: &PhaseFolders,
        more: &More<'_>,
    ) -> io::Result<Option<Arc<Confinement>>> {
        if !self.is_enforced() || !more.wrap.is_empty() {
            return Ok(None);
        }
        let reads = match whom {
            Whom::Agent => &self.agent_reads,
            Whom::Setup | Whom::Work => &self.work_reads,
            Whom::Tests => &self.test_reads,
        };
        let mut writes = vec![workspace.folder().to_owned(), phase.temporary.clone(), phase.caches.clone(), phase.reports.clone()];
        // Only setup may change the virtual environment; tests may not.
        if whom == Whom::Setup {
            writes.push(workspace.venv());
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
            ..Grants::default()
        };
        Ok(Confinement::new(&grants).map(Arc::new))
    }

    /// Returns variables that move temporary files and caches into the folders of a phase. `None` removes a variable.
    pub fn variables(&self, whom: Whom, phase: &PhaseFolders, environment: &Environment) -> Vec<(&'static str, Option<OsString>)> {
        let mut variables = vec![("TMPDIR", Some(phase.temporary.clone().into_os_string()))];
        // Python trusts compiled files. Those of the system and of the virtual environment lie beside their sources, where only their owners
        // write; any other folder of them would be one more place where a program can leave code for the next.
        let compiled = (whom == Whom::Agent && self.is_enforced()).then(|| phase.caches.join("pycache").into_os_string());
        if whom != Whom::Agent || compiled.is_some() {
            variables.push(("PYTHONPYCACHEPREFIX", compiled));
        }
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
        ] {
            variables.push((name, Some(phase.caches.join(folder).into_os_string())));
        }
        // Otherwise Go's module cache is read-only and could not be deleted with the run.
        let flags = [environment.variable("GOFLAGS").unwrap_or_default(), "-modcacherw"].join(" ");
        variables.push(("GOFLAGS", Some(flags.trim().into())));
        // Root, too, cannot give files to others, as GNU tar does for root by default.
        let options = [environment.variable("TAR_OPTIONS").unwrap_or_default(), "--no-same-owner"].join(" ");
        variables.push(("TAR_OPTIONS", Some(options.trim().into())));
        // pip's cache and Rust's toolchains stay in the home folder, where they are only read.
        for (name, folder) in [("PIP_CACHE_DIR", ".cache/pip"), ("RUSTUP_HOME", ".rustup")] {
            if let Some(home) = self.home.as_ref().filter(|home| environment.variable(name).is_none() && home.join(folder).is_dir()) {
                variables.push((name, Some(home.join(folder).into_os_string())));
            }
        }
        variables
    }
}

/// The kind of program to confine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Whom {
    /// The approach.
    Agent,
    /// The suite's setup in the finished workspace.
    Setup,
    /// The approach's code: its server, its own tests.
    Work,
    /// The suite's tests.
    Tests,
}

/// Additional grants of one program.
#[derive(Clone, Copy, Debug, Default)]
pub struct More<'a> {
    /// The words that start it.
    pub wrap: &'a [String],
    pub reads: &'a [PathBuf],
    pub writes: &'a [PathBuf],
    /// The only ports allowed, if the suite grants no network.
    pub ports: Option<&'a [u16]>,
    /// The run's private network.
    pub network: Option<&'a Arc<Network>>,
}

fn names_a_token(npmrc: &Path) -> bool {
    files::read_to_string(npmrc).is_ok_and(|text| text.contains("_auth") || text.contains("_password"))
}
