//! Isolation: what approaches, and the programs they wrote, may access on this machine.
//!
//! All may read the system, and write to the run's own folder and a temporary folder. Nobody reads results, other runs, the configuration, or
//! the home folder except what is named there ([`super::home`]). Agents get what their own program keeps in the home folder, but no
//! suite: the tests are hidden from them. Their code may read the suite's files except those that test commands name; only the tests may read
//! these.
//!
//! If the system enforces nothing, or the user wants no isolation, touched files are detected afterwards ([`super::tampering`]).

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::agent::{AgentEnvironment, OwnFolder};
use crate::files;
use crate::process::{
    AccessGrants, Confinement, ConfinementSupport, GrantedPaths, Network, TEMPORARY_FOLDERS,
    has_spaces, paths_except, support,
};

use super::home::{ConfinedHome, PhaseHome};
use super::workspace::{PhaseFolders, RunWorkspace};

/// Devices: a program is given the few that it needs ([`Confinement`]), and none of the rest.
const DEVICES_FOLDER: &str = "/dev";

/// Paths that are hidden from programs or protected.
#[derive(Clone, Debug, Default)]
pub struct IsolatedPaths {
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
    support: ConfinementSupport,
    /// Whether the user wants isolation.
    is_wanted: bool,
    home: ConfinedHome,
    agent_reads: GrantedPaths,
    work_reads: GrantedPaths,
    test_reads: GrantedPaths,
    /// The system's temporary folders, unless each program gets one of its own.
    shared_writes: GrantedPaths,
}

impl Isolation {
    pub fn new(is_wanted: bool, kept: &IsolatedPaths, environment: &AgentEnvironment) -> Self {
        let support = if is_wanted {
            support()
        } else {
            ConfinementSupport::default()
        };
        let mut isolation = Self {
            support,
            is_wanted,
            home: ConfinedHome::default(),
            agent_reads: GrantedPaths::default(),
            work_reads: GrantedPaths::default(),
            test_reads: GrantedPaths::default(),
            shared_writes: GrantedPaths::default(),
        };
        if !support.files {
            return isolation;
        }
        let project = kept.unchanged.first().cloned().unwrap_or_default();
        let shared: Vec<PathBuf> = TEMPORARY_FOLDERS
            .iter()
            .filter_map(|path| Path::new(path).canonicalize().ok())
            .collect();
        let (covered, shared) = if has_spaces() {
            (shared, Vec::new())
        } else {
            (Vec::new(), shared)
        };
        isolation.home = ConfinedHome::from_environment(environment, &project, &covered);
        let set = |parts: &[&Vec<PathBuf>]| -> BTreeSet<PathBuf> {
            // A path that cannot be resolved is hidden by its name. A missing path need not be hidden.
            let place = |path: &PathBuf| {
                files::missing_as_none(path.canonicalize()).unwrap_or_else(|_| Some(path.clone()))
            };
            parts
                .iter()
                .flat_map(|part| part.iter())
                .filter_map(place)
                // Workspaces may be made in a temporary folder itself. What is covered is out of sight but for what is named there.
                .filter(|path| !covered.contains(path))
                .collect()
        };
        let reads = |hidden: &BTreeSet<PathBuf>| {
            let mut all: BTreeSet<PathBuf> = hidden
                .union(isolation.home.hidden_places())
                .cloned()
                .collect();
            all.insert(PathBuf::from(DEVICES_FOLDER));
            GrantedPaths::from_paths(
                paths_except(Path::new("/"), &all)
                    .into_iter()
                    .chain(isolation.home.readable_except(hidden)),
            )
        };
        let from_tests = set(&[&kept.from_all]);
        let from_work = set(&[&kept.from_all, &kept.from_untested]);
        let (work_reads, test_reads) = (reads(&from_work), reads(&from_tests));
        let mut from_writers = set(&[&kept.from_all, &kept.from_untested, &kept.unchanged]);
        from_writers.extend(isolation.home.hidden_places().iter().cloned());
        isolation.shared_writes = GrantedPaths::from_paths(
            shared
                .iter()
                .flat_map(|path| paths_except(path, &from_writers)),
        );
        isolation.agent_reads = work_reads.clone();
        isolation.work_reads = work_reads;
        isolation.test_reads = test_reads;
        isolation
    }

    /// Describes what is enforced, for the run's record.
    pub fn describe_limits(&self, is_wrapped: bool) -> String {
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
        let enforced: Vec<&str> = parts
            .iter()
            .filter(|(is_enforced, _)| *is_enforced)
            .map(|(_, name)| *name)
            .collect();
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

    /// Returns whether the system keeps programs from changing modes, owners and times of what they may not write to.
    pub fn protects_modes(&self) -> bool {
        self.support.files && has_spaces()
    }

    /// Creates a network for a run's server and tests, or returns `None` if the system offers none or nothing is enforced.
    pub fn create_network(&self) -> Option<Arc<Network>> {
        if self.support.network {
            Network::new().map(Arc::new)
        } else {
            None
        }
    }

    /// Prepares the limits of a program in a run's folder. Returns `None` if nothing is enforced, or if `wrap` starts the program: the
    /// user's own sandbox has its own rules, and may need more rights.
    pub fn confine_program(
        &self,
        whom: ProgramKind,
        workspace: &RunWorkspace,
        phase: &PhaseFolders,
        more: &ExtraGrants<'_>,
    ) -> io::Result<Option<Arc<Confinement>>> {
        if !self.is_enforced() || !more.wrap.is_empty() {
            return Ok(None);
        }
        let reads = match whom {
            ProgramKind::Agent => &self.agent_reads,
            ProgramKind::Setup | ProgramKind::Work => &self.work_reads,
            ProgramKind::Tests => &self.test_reads,
        };
        let mut writes = vec![
            workspace.folder().to_owned(),
            phase.temporary.clone(),
            phase.caches.clone(),
            phase.reports.clone(),
        ];
        // Only setup may change the virtual environment; tests may not.
        if whom == ProgramKind::Setup {
            writes.push(workspace.venv_path());
        }
        let (mut home_reads, mut home_writes) = (Vec::new(), Vec::new());
        if let Some(home) = more.home {
            home_reads.extend(home.reads.iter().cloned());
            home_writes.extend(home.writes.iter().cloned().chain([home.folder.clone()]));
        }
        let own_reads =
            GrantedPaths::from_paths(more.reads.iter().cloned().chain(home_reads).chain([
                workspace.mark_path(),
                workspace.venv_path(),
                workspace.runner_path(),
            ]));
        let own_writes =
            GrantedPaths::from_paths(more.writes.iter().cloned().chain(home_writes).chain(writes));
        let grants = AccessGrants {
            reads: &[reads, &own_reads],
            writes: &[&self.shared_writes, &own_writes],
            temporary: &phase.temporary,
            ports: more.ports,
            network: more.network,
            are_kept_apart: whom == ProgramKind::Tests,
        };
        Ok(Confinement::new(&grants).map(Arc::new))
    }

    /// Makes a phase's home folder for programs that are to be confined, in which an agent finds `folders` of its own, and all find what is
    /// `granted`. Returns `None` if nothing is enforced, or if `wrap` starts the programs.
    pub fn create_home(
        &self,
        phase: &PhaseFolders,
        wrap: &[String],
        granted: &[PathBuf],
        folders: &[OwnFolder],
    ) -> io::Result<Option<PhaseHome>> {
        if !self.is_enforced() || !wrap.is_empty() {
            return Ok(None);
        }
        self.home.create_at(&phase.home, granted, folders).map(Some)
    }

    /// Returns what a program in a hidden place needs to start: the installation that it belongs to.
    pub fn installation_around(&self, program: &Path) -> Vec<PathBuf> {
        self.home.installation_around(program)
    }

    /// Returns variables that move temporary files and caches into the folders of a phase. `None` removes a variable.
    pub fn phase_variables(
        &self,
        whom: ProgramKind,
        phase: &PhaseFolders,
        environment: &AgentEnvironment,
    ) -> Vec<(&'static str, Option<OsString>)> {
        let mut variables = vec![("TMPDIR", Some(phase.temporary.clone().into_os_string()))];
        // Python trusts compiled files. Those of the system and of the virtual environment lie beside their sources, where only their owners
        // write; any other folder of them would be one more place where a program can leave code for the next.
        let compiled = (whom == ProgramKind::Agent && self.is_enforced())
            .then(|| phase.caches.join("pycache").into_os_string());
        if whom != ProgramKind::Agent || compiled.is_some() {
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
        let flags = [
            environment.variable("GOFLAGS").unwrap_or_default(),
            "-modcacherw",
        ]
        .join(" ");
        variables.push(("GOFLAGS", Some(flags.trim().into())));
        // Root, too, cannot give files to others, as GNU tar does for root by default.
        let options = [
            environment.variable("TAR_OPTIONS").unwrap_or_default(),
            "--no-same-owner",
        ]
        .join(" ");
        variables.push(("TAR_OPTIONS", Some(options.trim().into())));
        // pip's cache and Rust's toolchains stay in the home folder, where they are only read.
        for (name, folder) in [("PIP_CACHE_DIR", ".cache/pip"), ("RUSTUP_HOME", ".rustup")] {
            if let Some(folder) = self
                .home
                .path_below(folder)
                .filter(|folder| environment.variable(name).is_none() && folder.is_dir())
            {
                variables.push((name, Some(folder.into_os_string())));
            }
        }
        variables
    }
}

/// The kind of program to confine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProgramKind {
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
pub struct ExtraGrants<'a> {
    /// The words that start it.
    pub wrap: &'a [String],
    pub reads: &'a [PathBuf],
    pub writes: &'a [PathBuf],
    /// Its home folder.
    pub home: Option<&'a PhaseHome>,
    /// The only ports allowed, if the suite grants no network.
    pub ports: Option<&'a [u16]>,
    /// The run's private network.
    pub network: Option<&'a Arc<Network>>,
}
