//! Isolation: what approaches, and the programs they wrote, may access on this machine.
//!
//! All may read the system, and write to the run's own folder and to temporary folders: their phase's own, if the system can show that in place of
//! the one that all programs share. Nobody reads results, other runs, the
//! configuration, or the home folder except what is named there ([`super::home`]). Agents get what their own program keeps in the home folder, but no
//! suite: the tests are hidden from them. Their code may read the suite's files except those that test commands name; only the tests may read
//! these.
//!
//! If the system enforces nothing, or the user wants no isolation, touched files are detected afterwards ([`super::tampering`]).

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::agent::{Environment, OwnFolder};
use crate::files;
use crate::process::{
    Confinement, Grants, Network, Places, Support, TEMPORARY_FOLDERS, all_but, has_spaces, support,
};

use super::home::{Home, LaidHome};
use super::workspace::{PhaseFolders, Workspace};

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
    home: Home,
    agent_reads: Places,
    work_reads: Places,
    test_reads: Places,
    /// The temporary folders of the machine, if programs cannot have their own in their place.
    shared_writes: Places,
}

impl Isolation {
    pub fn new(is_wanted: bool, kept: &Kept, environment: &Environment) -> Self {
        let support = if is_wanted {
            support()
        } else {
            Support::default()
        };
        let mut isolation = Self {
            support,
            is_wanted,
            home: Home::default(),
            agent_reads: Places::default(),
            work_reads: Places::default(),
            test_reads: Places::default(),
            shared_writes: Places::default(),
        };
        if !support.files {
            return isolation;
        }
        let project = kept.unchanged.first().cloned().unwrap_or_default();
        isolation.home = Home::of(environment, &project);
        let set = |parts: &[&Vec<PathBuf>]| -> BTreeSet<PathBuf> {
            // A path that cannot be resolved is hidden by its name. A missing path need not be hidden.
            let place = |path: &PathBuf| {
                files::if_there(path.canonicalize()).unwrap_or_else(|_| Some(path.clone()))
            };
            parts
                .iter()
                .flat_map(|part| part.iter())
                .filter_map(place)
                .collect()
        };
        let reads = |hidden: &BTreeSet<PathBuf>| {
            let mut all: BTreeSet<PathBuf> =
                hidden.union(isolation.home.hidden()).cloned().collect();
            all.insert(PathBuf::from(DEVICES));
            Places::of(
                all_but(Path::new("/"), &all)
                    .into_iter()
                    .chain(isolation.home.named_but(hidden)),
            )
        };
        let from_tests = set(&[&kept.from_all]);
        let from_work = set(&[&kept.from_all, &kept.from_untested]);
        let (work_reads, test_reads) = (reads(&from_work), reads(&from_tests));
        if !has_spaces() {
            let mut from_writers = set(&[&kept.from_all, &kept.from_untested, &kept.unchanged]);
            from_writers.extend(isolation.home.hidden().iter().cloned());
            let shared = TEMPORARY_FOLDERS
                .iter()
                .filter_map(|path| Path::new(path).canonicalize().ok());
            isolation.shared_writes =
                Places::of(shared.flat_map(|path| all_but(&path, &from_writers)));
        }
        isolation.agent_reads = work_reads.clone();
        isolation.work_reads = work_reads;
        isolation.test_reads = test_reads;
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

    /// Creates a network for a run's server and tests, or returns `None` if the system offers none or nothing is enforced.
    pub fn network(&self) -> Option<Arc<Network>> {
        if self.support.network {
            Network::new().map(Arc::new)
        } else {
            None
        }
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
        let mut writes = vec![
            workspace.folder().to_owned(),
            phase.temporary.clone(),
            phase.caches.clone(),
            phase.reports.clone(),
        ];
        // Only setup may change the virtual environment; tests may not.
        if whom == Whom::Setup {
            writes.push(workspace.venv());
        }
        let (mut home_reads, mut home_writes) = (Vec::new(), Vec::new());
        if let Some(home) = more.home {
            home_reads.extend(home.reads.iter().cloned());
            home_writes.extend(home.writes.iter().cloned().chain([home.folder.clone()]));
        }
        let own_reads = Places::of(
            more.reads
                .iter()
                .cloned()
                .chain(home_reads)
                .chain([workspace.venv(), workspace.runner()]),
        );
        let own_writes = Places::of(more.writes.iter().cloned().chain(home_writes).chain(writes));
        let grants = Grants {
            reads: &[reads, &own_reads],
            writes: &[&self.shared_writes, &own_writes],
            ports: more.ports,
            network: more.network,
            temporary: Some(&phase.temporary),
        };
        Ok(Confinement::new(&grants).map(Arc::new))
    }

    /// Makes a phase's home folder for programs that are to be confined, in which an agent finds `folders` of its own, and all find what is
    /// `granted`. Returns `None` if nothing is enforced, or if `wrap` starts the programs.
    pub fn furnish(
        &self,
        phase: &PhaseFolders,
        wrap: &[String],
        granted: &[PathBuf],
        folders: &[OwnFolder],
    ) -> io::Result<Option<LaidHome>> {
        if !self.is_enforced() || !wrap.is_empty() {
            return Ok(None);
        }
        self.home.lay(&phase.home, granted, folders).map(Some)
    }

    /// Returns what a program in a hidden place needs to start: the installation that it belongs to.
    pub fn around(&self, program: &Path) -> Vec<PathBuf> {
        self.home.around(program)
    }

    /// Returns variables that move temporary files and caches into the folders of a phase. `None` removes a variable.
    pub fn variables(
        &self,
        whom: Whom,
        phase: &PhaseFolders,
        environment: &Environment,
    ) -> Vec<(&'static str, Option<OsString>)> {
        let mut variables = vec![("TMPDIR", Some(phase.temporary.clone().into_os_string()))];
        // Python trusts compiled files. Those of the system and of the virtual environment lie beside their sources, where only their owners
        // write; any other folder of them would be one more place where a program can leave code for the next.
        let compiled = (whom == Whom::Agent && self.is_enforced())
            .then(|| phase.caches.join("pycache").into_os_string());
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
                .below(folder)
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
    /// Its home folder.
    pub home: Option<&'a LaidHome>,
    /// The only ports allowed, if the suite grants no network.
    pub ports: Option<&'a [u16]>,
    /// The run's private network.
    pub network: Option<&'a Arc<Network>>,
}
