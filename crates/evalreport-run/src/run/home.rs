//! The home folder of confined programs: a new folder for each phase of a run, with links to what they may read of the real one.
//!
//! Nothing in the real home folder can be read except what is named here: toolchains, found by `PATH`, by their variables and at their usual
//! places, and what the approach's own agent keeps there. The agent sees its settings as copies, and its sign-in as a link to the real file,
//! because programs renew their tokens. Its sessions and history stay out of sight. So whatever it changes or leaves there ends with the run.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::agent::{AgentEnvironment, OwnFolder, OwnPlace};
use crate::files;
use crate::process::paths_except;

use super::home_places::{
    LOOKED_FOR, MOVING_VARIABLES, OF_PROGRAMS, OF_SERVICES, OF_THE_SYSTEM, SETTINGS_FILES,
    SHARED_BY_MANY, SIGN_IN, STATE_ENDINGS, STATE_ENTRIES, TOOLCHAIN_PLACES, TOOLCHAIN_VARIABLES,
};
use super::workspace;

/// A larger file of settings is linked, not copied.
const MAX_COPIED: u64 = 1 << 20;
/// The largest state file that is copied, such as `.claude.json`.
const MAX_STATE: u64 = 64 << 20;
/// How deep in the system's settings files are looked for that only root may read.
const MAX_CLOSED_DEPTH: usize = 3;

/// The home folder, as confined programs may see it.
#[derive(Clone, Debug, Default)]
pub struct ConfinedHome {
    /// The user's, without links.
    place: Option<PathBuf>,
    hidden: BTreeSet<PathBuf>,
    /// What all may read nevertheless.
    named: BTreeSet<PathBuf>,
}

/// A home folder that was made for a phase of a run.
#[derive(Debug, Default)]
pub struct PhaseHome {
    pub folder: PathBuf,
    /// Real places that its links lead to.
    pub reads: Vec<PathBuf>,
    /// Real files that its program renews.
    pub writes: Vec<PathBuf>,
    /// Variables that lead a program there.
    variables: Vec<(&'static str, PathBuf)>,
    signed: Vec<TokenFile>,
}

/// A file with tokens.
#[derive(Debug)]
struct TokenFile {
    link: PathBuf,
    real: PathBuf,
    before: Vec<u8>,
}

impl ConfinedHome {
    /// Finds the home folder, and what is to be read there and in the folders `covered`, which are as hidden. `project` may be below one of
    /// them, or be the home folder.
    pub fn from_environment(
        environment: &AgentEnvironment,
        project: &Path,
        covered: &[PathBuf],
    ) -> Self {
        let own = environment
            .variable("HOME")
            .map(PathBuf::from)
            .filter(|home| home.is_absolute());
        let place = own
            .and_then(|home| home.canonicalize().ok())
            .or_else(of_user);
        let mut home = Self {
            hidden: find_hidden_places(place.as_deref())
                .into_iter()
                .chain(covered.iter().cloned())
                .collect(),
            place,
            named: BTreeSet::new(),
        };
        home.named = home.find_toolchains(environment);
        let project = canonical_path(project);
        let is_of_much = home.place.as_deref() == Some(&project)
            || project.parent() == Some(Path::new("/home"))
            || covered.contains(&project);
        if is_of_much && home.is_hidden(&project) {
            // The project is a home folder: then everything that is not hidden by its name is the project.
            home.named
                .extend(list_entries(&project).filter(|path| !is_dotted(path)));
        } else if home.is_hidden(&project) {
            // The home folder may be in the project.
            home.named.extend(paths_except(&project, &home.hidden));
        }
        home
    }

    /// Returns the places of which nothing can be read.
    pub fn hidden_places(&self) -> &BTreeSet<PathBuf> {
        &self.hidden
    }

    /// Returns a path below the user's home folder.
    pub fn path_below(&self, path: &str) -> Option<PathBuf> {
        self.place.as_ref().map(|place| place.join(path))
    }

    /// Returns what may be read in hidden places, without the paths `hidden`.
    pub fn readable_except(&self, hidden: &BTreeSet<PathBuf>) -> Vec<PathBuf> {
        self.named
            .iter()
            .filter(|path| !hidden.iter().any(|hidden| path.starts_with(hidden)))
            .flat_map(|path| paths_except(path, hidden))
            .collect()
    }

    /// Returns what the program at this path needs if it is in a hidden place: the installation that it belongs to.
    pub fn installation_around(&self, program: &Path) -> Vec<PathBuf> {
        let mut found = BTreeSet::new();
        // A link in a folder of programs belongs to two installations.
        for path in [
            std::path::absolute(program).ok(),
            program.canonicalize().ok(),
        ]
        .into_iter()
        .flatten()
        {
            self.add_around(&path, &mut found);
        }
        found.into_iter().collect()
    }

    /// Makes a home folder at `at`, unless it is there, for a program with these folders of its own. `granted` are paths that it may also use.
    pub fn create_at(
        &self,
        at: &Path,
        granted: &[PathBuf],
        folders: &[OwnFolder],
    ) -> io::Result<PhaseHome> {
        let mut laid = PhaseHome {
            folder: at.to_owned(),
            ..PhaseHome::default()
        };
        if at.exists() {
            return Ok(laid);
        }
        fs::create_dir(at)?;
        let granted = granted.iter().filter_map(|path| path.canonicalize().ok());
        let shown: BTreeSet<PathBuf> = self.named.iter().cloned().chain(granted).collect();
        let mut linked: BTreeSet<&Path> = BTreeSet::new();
        if let Some(place) = self.place.as_deref() {
            for path in &shown {
                let Ok(below) = path.strip_prefix(place) else {
                    continue;
                };
                // Nothing may be made below a link: it would be made in the real folder.
                if below.as_os_str().is_empty()
                    || below.ancestors().any(|above| linked.contains(above))
                {
                    continue;
                }
                linked.insert(below);
                let link = at.join(below);
                create_parent(&link)?;
                // Where links are not supported nothing is confined.
                let _ = workspace::link(path, &link);
            }
            for name in SETTINGS_FILES {
                let (from, to) = (place.join(name), at.join(name));
                if !Path::new(name)
                    .ancestors()
                    .any(|above| linked.contains(above))
                    && holds_no_secret(&from)
                {
                    create_parent(&to)?;
                    copy_settings(&from, &to)?;
                }
            }
        }
        for folder in folders {
            let target = match folder.at {
                OwnPlace::Home(place) => at.join(place),
                OwnPlace::Variable(name, then) => {
                    let moved = at.join(".moved").join(name);
                    fs::create_dir_all(&moved)?;
                    laid.variables.push((name, moved.clone()));
                    if then.is_empty() {
                        moved
                    } else {
                        moved.join(then)
                    }
                }
            };
            create_parent(&target)?;
            self.copy_own_folder(&folder.path, &target, &mut laid)?;
        }
        Ok(laid)
    }

    fn copy_own_folder(&self, from: &Path, to: &Path, laid: &mut PhaseHome) -> io::Result<()> {
        let Ok(metadata) = fs::metadata(from) else {
            return Ok(());
        };
        if metadata.is_file() {
            // A program's state in one file. It writes all of it at each start.
            if metadata.len() <= MAX_STATE {
                files::missing_as_none(fs::remove_file(to))?;
                copy_settings(from, to)?;
            }
            return Ok(());
        }
        fs::create_dir_all(to)?;
        for path in list_entries(from) {
            let Some(name) = path.file_name() else {
                continue;
            };
            let (Ok(metadata), Ok(real), target) =
                (fs::metadata(&path), path.canonicalize(), to.join(name))
            else {
                continue;
            };
            let name = name.to_string_lossy();
            // A link out of the folder may lead anywhere, but not to all of a hidden place.
            let is_state = STATE_ENTRIES.contains(&&*name)
                || STATE_ENDINGS.iter().any(|ending| name.ends_with(ending));
            if is_state || self.hidden.iter().any(|hidden| hidden.starts_with(&real)) {
                continue;
            }
            if metadata.is_file() && SIGN_IN.contains(&&*name) {
                if workspace::link(&real, &target).is_ok() {
                    let before = files::read(&real).unwrap_or_default();
                    laid.writes.push(real.clone());
                    laid.signed.push(TokenFile {
                        link: target,
                        real,
                        before,
                    });
                }
            } else if metadata.is_file() && metadata.len() <= MAX_COPIED {
                copy_settings(&real, &target)?;
            } else if (metadata.is_file() || metadata.is_dir())
                && workspace::link(&real, &target).is_ok()
            {
                laid.reads.push(real);
            }
        }
        Ok(())
    }

    fn find_toolchains(&self, environment: &AgentEnvironment) -> BTreeSet<PathBuf> {
        let mut named = BTreeSet::new();
        let paths = |name: &str| {
            environment
                .variables
                .get(name)
                .into_iter()
                .flat_map(std::env::split_paths)
                .filter(|path| path.is_absolute())
        };
        for folder in paths("PATH") {
            self.add_around(&folder.join("program"), &mut named);
            // Programs are often linked to from a folder of programs, such as ~/.local/bin.
            for path in list_entries(&folder).filter(|path| path.is_symlink()) {
                if let Ok(target) = path.canonicalize()
                    && self.is_hidden(&target)
                {
                    self.add_around(&target, &mut named);
                }
            }
        }
        for path in TOOLCHAIN_VARIABLES.iter().flat_map(|name| paths(name)) {
            self.add_readable(&path, &mut named);
        }
        for cargo in paths("CARGO_HOME") {
            for part in ["bin", "env", "git", "registry"] {
                self.add_readable(&cargo.join(part), &mut named);
            }
        }
        for path in OF_SERVICES {
            self.add_readable(Path::new(path), &mut named);
        }
        let Some(place) = &self.place else {
            return named;
        };
        for path in TOOLCHAIN_PLACES {
            self.add_readable(&place.join(path), &mut named);
        }
        for path in LOOKED_FOR
            .iter()
            .map(|name| place.join(name))
            .filter(|path| holds_no_secret(path))
        {
            self.add_readable(&path, &mut named);
        }
        named
    }

    /// Adds the installation around a program, whose file need not exist.
    fn add_around(&self, program: &Path, named: &mut BTreeSet<PathBuf>) {
        let Some(folder) = program.parent() else {
            return;
        };
        let folder = canonical_path(folder);
        if !self.is_hidden(&folder) {
            return;
        }
        if self.is_of_many(&folder) {
            self.add_readable(program, named);
            return;
        }
        // A package of Node is loaded with all others beside it.
        if let Some(modules) = folder
            .ancestors()
            .filter(|above| is_named(above, "node_modules"))
            .last()
        {
            self.add_readable(modules, named);
            return;
        }
        let is_of_programs = folder
            .file_name()
            .is_some_and(|name| OF_PROGRAMS.iter().any(|of| name == *of));
        let around = folder
            .parent()
            .filter(|around| is_of_programs && self.is_hidden(around) && !self.is_of_many(around));
        match around {
            // Keys and other people's code are beside these.
            Some(around)
                if is_named(around, ".cargo")
                    || (is_named(around, "go") && !around.join("VERSION").exists()) =>
            {
                self.add_readable(&folder, named);
            }
            // A hidden folder holds one toolchain. In others, what is hidden is something else, such as a `.env`.
            Some(around) if self.is_below_dotted(around) => self.add_readable(around, named),
            Some(around) => list_entries(around)
                .filter(|path| !is_dotted(path))
                .for_each(|path| self.add_readable(&path, named)),
            None => self.add_readable(&folder, named),
        }
        if let Some(around) = around {
            self.add_base(around, named);
        }
    }

    /// Adds the Python that a virtual environment was made from.
    fn add_base(&self, environment: &Path, named: &mut BTreeSet<PathBuf>) {
        let Ok(text) = files::read_to_string(environment.join("pyvenv.cfg")) else {
            return;
        };
        self.add_readable(&environment.join("pyvenv.cfg"), named);
        let value = text
            .lines()
            .filter_map(|line| line.split_once('='))
            .find(|(key, _)| key.trim() == "home");
        if let Some((_, programs)) = value {
            let programs = canonical_path(Path::new(programs.trim()));
            if let Some(base) = programs
                .parent()
                .filter(|base| self.is_hidden(base) && !self.is_of_many(base))
            {
                self.add_readable(base, named);
            }
        }
    }

    /// Adds a path that exists in a hidden place, but no whole hidden place.
    fn add_readable(&self, path: &Path, named: &mut BTreeSet<PathBuf>) {
        if let Ok(path) = path.canonicalize()
            && self.is_hidden(&path)
            && !self.is_of_many(&path)
        {
            named.insert(path);
        }
    }

    /// Returns whether a path without links is within a hidden place.
    fn is_hidden(&self, path: &Path) -> bool {
        self.hidden.iter().any(|hidden| path.starts_with(hidden))
    }

    fn is_below_dotted(&self, path: &Path) -> bool {
        let below = self
            .place
            .as_deref()
            .and_then(|place| path.strip_prefix(place).ok())
            .unwrap_or(path);
        below
            .components()
            .any(|part| part.as_os_str().as_encoded_bytes().starts_with(b"."))
    }

    /// Returns whether a path is or holds a whole hidden place, or holds the files of many programs.
    fn is_of_many(&self, path: &Path) -> bool {
        let is_shared = |place: &PathBuf| {
            SHARED_BY_MANY
                .iter()
                .any(|shared| place.join(shared) == path)
        };
        self.place.iter().any(is_shared)
            || self.place.as_deref() == Some(path)
            || self
                .hidden
                .iter()
                .any(|hidden| hidden.starts_with(path) && !is_dotted(hidden))
    }
}

impl PhaseHome {
    /// Returns the variables that programs get with this home folder, and those that they lose (`None`).
    pub fn environment_changes(&self) -> Vec<(&'static str, Option<OsString>)> {
        let lost = MOVING_VARIABLES.iter().map(|name| (*name, None));
        let moved = self
            .variables
            .iter()
            .map(|(name, folder)| (*name, Some(folder.clone().into_os_string())));
        lost.chain(moved)
            .chain([("HOME", Some(self.folder.clone().into_os_string()))])
            .collect()
    }

    /// Carries renewed tokens back whose file the program has replaced, unless the real file was changed meanwhile.
    pub fn carry_back_tokens(&self) {
        for TokenFile { link, real, before } in &self.signed {
            let is_replaced = fs::symlink_metadata(link)
                .is_ok_and(|now| now.is_file() && now.len() <= MAX_COPIED && now.len() > 0);
            let is_as_before = files::read(real).is_ok_and(|now| now == *before);
            if !is_replaced || !is_as_before {
                continue;
            }
            let write = || -> io::Result<()> {
                let bytes = files::read(link)?;
                if bytes != *before {
                    let mut file =
                        files::create_temporary_in(real.parent().unwrap_or(Path::new("/")))?;
                    fs::set_permissions(file.path(), fs::metadata(real)?.permissions())?;
                    file.write_all(&bytes)?;
                    file.persist(real)?;
                }
                Ok(())
            };
            // Otherwise its user signs in again.
            let _ = write();
        }
    }
}

/// Returns the places of which nothing can be read unless it is named.
fn find_hidden_places(place: Option<&Path>) -> BTreeSet<PathBuf> {
    let mut homes: Vec<PathBuf> = place
        .map(Path::to_owned)
        .into_iter()
        .chain(of_user())
        .collect();
    if is_root() {
        // Permissions do not keep root from other people's.
        homes.extend(["/root", "/home"].map(PathBuf::from));
    }
    let mut hidden = BTreeSet::new();
    if is_root() {
        add_closed_entries(Path::new("/etc"), MAX_CLOSED_DEPTH, &mut hidden);
    }
    for home in homes.iter().filter_map(|home| home.canonicalize().ok()) {
        if is_of_the_system(&home) {
            hidden.extend(list_entries(&home).filter(|path| is_dotted(path)));
        } else {
            hidden.insert(home);
        }
    }
    // In the Windows subsystem for Linux.
    let drives = list_entries(Path::new("/mnt"))
        .filter(|path| path.file_name().is_some_and(|name| name.len() == 1));
    hidden.extend(
        drives
            .map(|drive| drive.join("Users"))
            .filter(|users| users.is_dir()),
    );
    // Sockets and keys of services.
    hidden.extend(Path::new("/run").canonicalize());
    hidden
}

/// Adds what only root may read of a folder: the system's passwords and keys.
#[cfg(unix)]
fn add_closed_entries(folder: &Path, depth: usize, closed: &mut BTreeSet<PathBuf>) {
    use std::os::unix::fs::PermissionsExt as _;
    for path in list_entries(folder) {
        let Ok(metadata) = fs::symlink_metadata(&path) else {
            continue;
        };
        let needed = if metadata.is_dir() { 0o005 } else { 0o004 };
        if metadata.is_symlink() {
            // What it leads to is looked at where it is.
        } else if metadata.permissions().mode() & needed != needed {
            closed.insert(path);
        } else if metadata.is_dir() && depth > 1 {
            add_closed_entries(&path, depth - 1, closed);
        }
    }
}

#[cfg(not(unix))]
fn add_closed_entries(_folder: &Path, _depth: usize, _closed: &mut BTreeSet<PathBuf>) {}

fn is_of_the_system(home: &Path) -> bool {
    // Home folders may be below these.
    let holds_homes = |system: &str| matches!(system, "/opt" | "/run" | "/tmp" | "/var/tmp");
    OF_THE_SYSTEM.iter().any(|system| {
        Path::new(system).starts_with(home) || (!holds_homes(system) && home.starts_with(system))
    })
}

/// Returns the home folder that the system's list of users names.
#[cfg(unix)]
fn of_user() -> Option<PathBuf> {
    let user = rustix::process::geteuid().as_raw().to_string();
    let users = files::read_to_string("/etc/passwd").ok()?;
    let line = users
        .lines()
        .find(|line| line.split(':').nth(2) == Some(&user))?;
    line.split(':')
        .nth(5)
        .map(PathBuf::from)
        .filter(|home| home.is_absolute())?
        .canonicalize()
        .ok()
}

#[cfg(not(unix))]
fn of_user() -> Option<PathBuf> {
    None
}

#[cfg(unix)]
fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

#[cfg(not(unix))]
fn is_root() -> bool {
    false
}

fn canonical_path(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}

fn list_entries(folder: &Path) -> impl Iterator<Item = PathBuf> + use<> {
    fs::read_dir(folder)
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path())
}

fn is_dotted(path: &Path) -> bool {
    path.file_name()
        .is_some_and(|name| name.as_encoded_bytes().starts_with(b"."))
}

fn is_named(path: &Path, name: &str) -> bool {
    path.file_name().is_some_and(|own| own == name)
}

fn create_parent(path: &Path) -> io::Result<()> {
    path.parent().map_or(Ok(()), fs::create_dir_all)
}

/// Copies a file that its reader may change. A file that cannot be read is left out.
fn copy_settings(from: &Path, to: &Path) -> io::Result<()> {
    match files::read(from) {
        Ok(bytes) => fs::write(to, bytes),
        Err(_) => Ok(()),
    }
}

/// Returns whether a file of settings exists and seems to hold no key, password or token.
fn holds_no_secret(path: &Path) -> bool {
    let is_short =
        fs::metadata(path).is_ok_and(|metadata| metadata.is_file() && metadata.len() <= MAX_COPIED);
    is_short && files::read_to_string(path).is_ok_and(|text| !holds_secret(&text))
}

fn holds_secret(text: &str) -> bool {
    const SECRET_WORDS: [&str; 7] = [
        "_auth",
        "token",
        "password",
        "passwd",
        "secret",
        "extraheader",
        "apikey",
    ];
    let lower = text.to_lowercase();
    let has_login = |rest: &str| {
        rest.split(['/', '"', '\'', ' ', '\n'])
            .next()
            .is_some_and(|host| host.contains('@'))
    };
    SECRET_WORDS.iter().any(|word| lower.contains(word)) || text.split("://").skip(1).any(has_login)
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    struct TestHome(tempfile::TempDir);

    impl TestHome {
        fn new(files: &[&str]) -> Self {
            let place = Self(tempfile::tempdir().expect("a folder"));
            for file in files {
                create_parent(&place.path_of(file)).expect("ours");
                fs::write(place.path_of(file), "text").expect("ours");
            }
            place
        }

        fn path_of(&self, name: &str) -> PathBuf {
            canonical_path(self.0.path()).join(name)
        }

        fn confined_home(&self, path: &str, more: &[(&str, &str)], project: &str) -> ConfinedHome {
            let home = self.path_of("").display().to_string();
            let filled = |text: &str| text.replace('~', home.trim_end_matches('/'));
            let own = [("HOME", "~"), ("PATH", path)];
            let variables = own
                .iter()
                .chain(more)
                .map(|(name, value)| ((*name).to_owned(), filled(value)));
            ConfinedHome::from_environment(
                &AgentEnvironment {
                    variables: variables.collect(),
                    ..AgentEnvironment::default()
                },
                &self.path_of(project),
                &[],
            )
        }

        /// What is named, relative to the home folder.
        fn named_paths(&self, home: &ConfinedHome) -> String {
            let below = home
                .readable_except(&BTreeSet::new())
                .into_iter()
                .filter_map(|path| path.strip_prefix(self.path_of("")).ok().map(Path::to_owned));
            below
                .map(|path| path.display().to_string())
                .collect::<Vec<_>>()
                .join(" ")
        }
    }

    fn link_at(target: impl AsRef<Path>, at: impl AsRef<Path>) {
        create_parent(at.as_ref()).expect("ours");
        workspace::link(target.as_ref(), at.as_ref()).expect("ours");
    }

    #[test]
    fn nothing_is_readable_but_toolchains_and_the_project() {
        let place = TestHome::new(&[
            ".ssh/id",
            ".cache/huggingface/token",
            ".pypirc",
            ".cargo/credentials.toml",
            ".cargo/bin/cargo",
            ".cargo/registry/x",
            ".rustup/x",
            "work/project/a.py",
            "work/other/b.py",
            ".gitconfig",
        ]);
        let home = place.confined_home("~/.cargo/bin:/usr/bin", &[], "work/project");
        assert_eq!(
            place.named_paths(&home),
            ".cargo/bin .cargo/registry .rustup work/project"
        );
        assert!(home.hidden_places().contains(&place.path_of("")));
    }

    #[test]
    fn a_program_on_the_path_is_readable_with_its_installation() {
        let place = TestHome::new(&[
            ".local/bin/plain",
            ".local/share/claude/versions/2.1/claude",
            ".local/share/keyrings/k",
            "opt/node/bin/node",
            "opt/node/lib/x",
            "opt/node/.env",
            "agents/node_modules/claude/cli.js",
            "agents/secret",
            "venv/bin/pip",
            "venv/lib/x",
            "python/bin/python3.12",
            "python/lib/y",
            "bin/own",
            "notes.txt",
        ]);
        fs::write(
            place.path_of("venv/pyvenv.cfg"),
            format!("home = {}\n", place.path_of("python/bin").display()),
        )
        .expect("ours");
        link_at(
            place.path_of(".local/share/claude/versions/2.1/claude"),
            place.path_of(".local/bin/claude"),
        );
        link_at(
            "../claude/cli.js",
            place.path_of("agents/node_modules/.bin/claude"),
        );
        let home = place.confined_home(
            "~/.local/bin:~/opt/node/bin:~/agents/node_modules/.bin:~/venv/bin:~/bin",
            &[],
            "/srv",
        );
        let named = place.named_paths(&home);
        assert_eq!(
            named,
            ".local/bin .local/share/claude/versions/2.1 agents/node_modules bin opt/node/bin opt/node/lib python venv/bin venv/lib venv/pyvenv.cfg"
        );
    }

    #[test]
    fn variables_name_toolchains_but_never_the_home_folder() {
        let place = TestHome::new(&["jdk/bin/java", ".config/secret", "lib/a.py"]);
        let named = |more: &[(&str, &str)]| {
            place.named_paths(&place.confined_home("/usr/bin", more, "/srv"))
        };
        assert_eq!(
            named(&[("JAVA_HOME", "~/jdk"), ("PYTHONPATH", "~/lib:/usr/lib")]),
            "jdk lib"
        );
        for whole in ["~", "~/.config", "/", "~/.."] {
            assert_eq!(named(&[("JAVA_HOME", whole)]), "", "{whole}");
        }
        assert_eq!(
            place.named_paths(&place.confined_home("~:~/.config:~/../", &[], "/srv")),
            ""
        );
    }

    #[test]
    fn a_project_that_is_the_home_folder_is_what_has_no_dot() {
        let place = TestHome::new(&["agent.py", ".ssh/id", "lib/x.py"]);
        assert_eq!(
            place.named_paths(&place.confined_home("/usr/bin", &[], "")),
            "agent.py lib"
        );
        assert!(
            place
                .confined_home("/usr/bin", &[], "")
                .is_hidden(&place.path_of(".ssh/id"))
        );
    }

    /// As where the system's temporary folder is covered, and the project or a toolchain is in it.
    #[test]
    fn a_covered_folder_shows_the_project_around_a_home_and_toolchains() {
        let place = TestHome::new(&[
            "more/project/x.py",
            "more/project/home/key",
            "more/tool/bin/t",
            "more/socket",
        ]);
        let more = place.path_of("more");
        let home = ConfinedHome::from_environment(
            &AgentEnvironment {
                variables: [
                    ("HOME", more.join("project/home")),
                    ("PATH", more.join("tool/bin")),
                ]
                .map(|(name, path)| (name.to_owned(), path.display().to_string()))
                .into(),
                ..AgentEnvironment::default()
            },
            &more.join("project"),
            std::slice::from_ref(&more),
        );
        assert_eq!(place.named_paths(&home), "more/project/x.py more/tool");
        assert!(home.is_hidden(&more.join("socket")));
    }

    #[test]
    fn a_home_folder_of_the_system_hides_what_begins_with_a_dot() {
        for home in ["/", "/tmp", "/usr", "/usr/sbin", "/var"] {
            assert!(is_of_the_system(Path::new(home)), "{home}");
        }
        for home in [
            "/root",
            "/home/me",
            "/tmp/home",
            "/var/lib/jenkins",
            "/opt/ci",
            "/srv",
        ] {
            assert!(!is_of_the_system(Path::new(home)), "{home}");
        }
    }

    #[test]
    fn an_agent_gets_copies_of_its_settings_and_its_own_sign_in() {
        let place = TestHome::new(&[
            ".claude/.credentials.json",
            ".claude/settings.json",
            ".claude/projects/p/session.jsonl",
            ".claude/skills/s/SKILL.md",
            ".claude/state.db",
            ".claude.json",
            ".codex/auth.json",
            ".volta/bin/node",
        ]);
        let home = place.confined_home("~/.volta/bin", &[], "/srv");
        let own = |path: &'static str| OwnFolder {
            path: place.path_of(path),
            at: OwnPlace::Home(path),
        };
        let at = tempfile::tempdir().expect("a folder");
        let laid = home
            .create_at(
                &at.path().join("home"),
                &[],
                &[own(".claude"), own(".claude.json")],
            )
            .expect("it is laid");
        let of = |name: &str| laid.folder.join(name);
        assert_eq!(laid.writes, [place.path_of(".claude/.credentials.json")]);
        assert_eq!(laid.reads, [place.path_of(".claude/skills")]);
        for copied in [".claude/settings.json", ".claude.json"] {
            fs::write(of(copied), "{\"hooks\": 1}").expect("it is a copy");
            assert_eq!(
                fs::read_to_string(place.path_of(copied)).expect("there"),
                "text"
            );
        }
        for absent in [".claude/projects", ".claude/state.db", ".codex"] {
            assert!(!of(absent).exists(), "{absent}");
        }
        assert!(of(".volta").is_symlink() && of(".claude/skills").is_symlink());
        // Some programs write their tokens into the file, others replace it.
        fs::write(of(".claude/.credentials.json"), "new").expect("through the link");
        assert_eq!(
            fs::read_to_string(place.path_of(".claude/.credentials.json")).expect("there"),
            "new"
        );
        fs::write(place.path_of(".claude/.credentials.json"), "text").expect("as before");
        fs::remove_file(of(".claude/.credentials.json")).expect("a link");
        fs::write(of(".claude/.credentials.json"), "newer").expect("a file");
        laid.carry_back_tokens();
        assert_eq!(
            fs::read_to_string(place.path_of(".claude/.credentials.json")).expect("there"),
            "newer"
        );
    }

    #[test]
    fn settings_with_a_secret_stay_out_of_sight() {
        let place = TestHome::new(&["x"]);
        fs::write(place.path_of(".gitconfig"), "[user]\n\tname = n\n").expect("ours");
        fs::write(
            place.path_of(".npmrc"),
            "//registry.example.org/:_authToken=x\n",
        )
        .expect("ours");
        let at = tempfile::tempdir().expect("a folder");
        let laid = place
            .confined_home("/usr/bin", &[], "/srv")
            .create_at(&at.path().join("home"), &[], &[])
            .expect("it is laid");
        assert!(laid.folder.join(".gitconfig").is_file() && !laid.folder.join(".npmrc").exists());
        assert!(
            holds_secret("index-url = https://me:pw@example.org/simple")
                && holds_secret("https://ghp_x@github.com")
        );
        assert!(!holds_secret(
            "[user]\n\temail = a@example.org\nurl = https://example.org/a@b"
        ));
    }
}
