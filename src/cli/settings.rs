//! Arguments, environment and configuration, resolved once.

use std::collections::BTreeSet;
use std::env;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use tracing::info;

use crate::agent::AgentEnvironment;
use crate::config::{self, ProjectConfig};
use crate::domain::{NamesByRun, Secrets, shell_word};
use crate::files::{FolderUse, HeldFolder};
use crate::import::versions_digest;
use crate::publish::NamedStores;
use crate::render::terminal::Style;
use crate::results::{AddedRecords, Store};
use crate::warehouse::{
    DisplayNames, EngineAnswer, IMPORTED_PREFIX, LAKE_PREFIX, WarehouseOptions, sweep_cache,
};

use super::display_path::display_path;
use super::failure::CommandFailure;
use super::file_order::FileOrder;
use super::missing::NamedPaths;
use super::options::{Color, Format, Global};

/// Width of a table that is written to a file or a pipe.
const PIPED_WIDTH: usize = 120;
const MIN_WIDTH: usize = 40;
/// Folder beside the results with the cache.
const OWN_FOLDER: &str = ".evalreport";

/// Settings that every command works with.
#[derive(Clone)]
pub(super) struct Settings {
    pub config: ProjectConfig,
    /// The configured names of outcomes.
    pub names: DisplayNames,
    /// The configuration file given by `--config`.
    pub config_path: Option<PathBuf>,
    /// The results folders; only the first is written to. Empty if there are only lakes, see [`Settings::check_writes`].
    pub results: Vec<PathBuf>,
    /// Lakes beside the folders. They are only read.
    pub lakes: Vec<PathBuf>,
    pub cache: PathBuf,
    /// The words of the command line, without the program's name. Empty if a program asked.
    pub typed: Vec<String>,
    /// The paths that the command line names for reading. None if a program asked.
    pub named: NamedPaths,
    /// Names that the command gives to runs of files.
    pub given: NamesByRun,
    /// The files that are arms.
    pub file_arms: FileOrder,
    /// Suites of tables without a suite of their own, by the names that they got from their files.
    pub guessed_suites: BTreeSet<String>,
    /// What engines answered.
    pub answers: Vec<Arc<EngineAnswer>>,
    /// The results folder that is read unless the user names another or an engine.
    pub usual_results: Option<PathBuf>,
    pub format: Format,
    pub style: Style,
    pub quiet: bool,
    pub strict: bool,
    /// Settings that keep no runs apart, by name.
    pub pooled: BTreeSet<String>,
    /// Whether progress bars may be drawn.
    pub interactive: bool,
    pub is_cache_trouble_said: Arc<AtomicBool>,
    pub secrets: Arc<OnceLock<Secrets>>,
    /// What the command adds to the store, for its chain.
    pub added: AddedRecords,
    /// Held from the first use of imported stores in the cache, so that no other command deletes them.
    pub cache_use: Arc<Mutex<Option<FolderUse>>>,
    /// Holds data that could not be written to the cache, until the command ends.
    pub temporary: Arc<OnceLock<HeldFolder>>,
}

/// Locations of the configuration and the results.
pub(super) struct SettingsPaths {
    pub config: Option<PathBuf>,
    /// The results folders; only the first is written to.
    pub results: Vec<PathBuf>,
    pub lakes: Vec<PathBuf>,
}

impl SettingsPaths {
    pub fn from_options(global: &Global) -> Result<Self, CommandFailure> {
        let here = env::current_dir().map_err(|error| {
            CommandFailure::new(format!("the current folder is unknown: {error}"))
        })?;
        let config = global.config.clone().or_else(|| config::find_file(&here));
        let base = config
            .as_deref()
            .and_then(Path::parent)
            .filter(|folder| !folder.as_os_str().is_empty());
        let results = if global.results.is_empty() {
            vec![relative_to(
                &here,
                base.unwrap_or(Path::new("")).join("results"),
            )]
        } else {
            global
                .results
                .iter()
                .filter(|path| lake_folder(path).is_none())
                .cloned()
                .collect()
        };
        Ok(Self {
            config,
            results,
            lakes: global
                .results
                .iter()
                .filter_map(|path| lake_folder(path))
                .collect(),
        })
    }
}

impl Settings {
    pub fn new(global: &Global) -> Result<Self, CommandFailure> {
        let SettingsPaths {
            config: config_path,
            results,
            lakes,
        } = SettingsPaths::from_options(global)?;
        let config = match &config_path {
            Some(path) => {
                info!(file = %path.display(), "configuration");
                load_config(path)?
            }
            None => {
                info!("no configuration file");
                ProjectConfig::default()
            }
        };
        // The cache is beside the results; a lake may be for others to write.
        let beside = results
            .first()
            .or(config_path.as_ref())
            .and_then(|path| path.parent());
        let own = beside
            .filter(|parent| !parent.as_os_str().is_empty())
            .unwrap_or(Path::new(""))
            .join(OWN_FOLDER);
        let is_project =
            config_path.is_some() || results.iter().any(|folder| folder.exists()) || own.exists();
        let cache = global.cache.clone().unwrap_or_else(|| {
            // Whoever only looks at a file gets no folder beside it.
            let of_user = if is_project { None } else { user_cache() };
            of_user.unwrap_or_else(|| own.join("cache"))
        });
        for folder in &results {
            info!(folder = %folder.display(), exists = folder.is_dir(), "store");
        }
        for lake in &lakes {
            info!(folder = %lake.display(), exists = lake.is_dir(), "lake");
        }
        info!(folder = %cache.display(), exists = cache.is_dir(), "cache");
        Ok(Self {
            names: DisplayNames::from_aliases(&config.aliases),
            config,
            config_path: global.config.clone(),
            usual_results: results
                .first()
                .filter(|_| global.results.is_empty())
                .cloned(),
            results,
            lakes,
            cache,
            typed: global.typed.clone(),
            named: NamedPaths::default(),
            given: NamesByRun::default(),
            file_arms: FileOrder::default(),
            guessed_suites: BTreeSet::new(),
            answers: Vec::new(),
            format: global.format,
            style: terminal_style(global),
            quiet: global.quiet,
            strict: global.strict,
            pooled: global.pool.iter().cloned().collect(),
            interactive: std::io::stderr().is_terminal() && !global.quiet && !global.verbose,
            is_cache_trouble_said: Arc::default(),
            secrets: Arc::default(),
            added: AddedRecords::default(),
            cache_use: Arc::default(),
            temporary: Arc::default(),
        })
    }

    /// Returns these settings with another results folder and its own cache.
    pub fn with_results(&self, results: PathBuf) -> Self {
        let cache = results.join("../.evalreport/cache");
        Self {
            cache,
            results: vec![results],
            lakes: Vec::new(),
            cache_use: Arc::default(),
            added: AddedRecords::default(),
            ..self.clone()
        }
    }

    /// Returns these settings with another results folder, if one is named.
    pub fn with_other_results(&self, results: Option<PathBuf>) -> Self {
        results.map_or_else(|| self.clone(), |results| self.with_results(results))
    }

    /// Returns the absolute folder that the configuration's paths are relative to: the configuration's folder or, without one, the current
    /// folder.
    pub fn project_root(&self) -> Result<PathBuf, CommandFailure> {
        let here = env::current_dir().map_err(|error| {
            CommandFailure::new(format!("the current folder is unknown: {error}"))
        })?;
        Ok(here.join(&self.config.folder))
    }

    /// Returns the path of the configuration file, if there is one.
    pub fn config_file(&self) -> Option<PathBuf> {
        let name = Path::new(&self.config.file).file_name()?;
        Some(self.config.folder.join(name))
    }

    /// Returns the store that is written to.
    pub fn store(&self) -> Store {
        Store::new(&self.results[0])
            .with_secrets(self.secrets().clone())
            .with_added_records(self.added.clone())
    }

    /// Returns a command of ours, of shell words, that reads and writes where this one does.
    pub fn command_here(&self, words: &[&str]) -> String {
        let places = self.location_options();
        let words = words
            .iter()
            .copied()
            .chain(places.iter().map(String::as_str));
        format!("evalreport {}", words.collect::<Vec<&str>>().join(" "))
    }

    /// Returns the options, as shell words, with which another command in the same folder finds the same configuration and results. Leaves
    /// out defaults.
    pub fn location_options(&self) -> Vec<String> {
        let absolute = |path: &Path| std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        let usual = absolute(&self.config.folder.join("results"));
        // Files that the command reads lie in the cache, and another command reads them again.
        let is_named = |path: &&PathBuf| !path.starts_with(self.imported_folder());
        let named: Vec<&PathBuf> = self.results.iter().filter(is_named).collect();
        let is_usual =
            self.lakes.is_empty() && matches!(named.as_slice(), [only] if absolute(only) == usual);
        let results = named
            .into_iter()
            .filter(|_| !is_usual)
            .map(|path| ("--results", display_path(path)));
        let lakes = self
            .lakes
            .iter()
            .map(|path| ("--results", format!("{LAKE_PREFIX}{}", display_path(path))));
        let places = self
            .config_path
            .iter()
            .map(|path| ("--config", display_path(path)))
            .chain(results)
            .chain(lakes);
        places
            .flat_map(|(option, path)| [option.to_owned(), shell_word(&path)])
            .collect()
    }

    /// Returns the secrets that must not be written or published, in every form. They are computed once.
    pub fn secrets(&self) -> &Secrets {
        self.secrets
            .get_or_init(|| self.agent_environment(PathBuf::new()).collect_secrets(None))
    }

    /// Returns what agents need from outside: this process's environment variables, and which of them the configuration names as keys.
    pub fn agent_environment(&self, root: PathBuf) -> AgentEnvironment {
        let variables = env::vars_os().filter_map(|(name, value)| {
            Some((name.into_string().ok()?, value.into_string().ok()?))
        });
        let keys = self
            .config
            .agents
            .iter()
            .filter_map(|agent| agent.api_key_env.clone())
            .collect();
        AgentEnvironment {
            variables: variables.collect(),
            keys,
            root,
            ..AgentEnvironment::default()
        }
    }

    /// Returns a folder that exists until the command ends.
    pub fn temporary_folder(&self) -> Result<&Path, CommandFailure> {
        if self.temporary.get().is_none() {
            let made = HeldFolder::create();
            let made = made.map_err(|error| {
                CommandFailure::new(format!("cannot make a temporary folder: {error}"))
            })?;
            let _ = self.temporary.set(made);
        }
        self.temporary
            .get()
            .map(HeldFolder::path)
            .ok_or_else(|| CommandFailure::new("cannot make a temporary folder"))
    }

    /// Returns the folder of imported stores in the cache. Its name changes whenever an importer reads differently.
    pub fn imported_folder(&self) -> PathBuf {
        self.cache.join(imported_name())
    }

    /// Keeps imported stores in the cache until [`Settings::release_cache`].
    pub fn use_cache(&self) {
        let mut held = self
            .cache_use
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if held.is_none() {
            // A folder that cannot be made is reported when something is written to it.
            let _ = std::fs::create_dir_all(&self.cache);
            *held = FolderUse::begin_use(&self.cache);
        }
    }

    /// Keeps the cache beside the results out of version control.
    pub fn ignore_own_folder(&self) {
        let own = self.cache.parent().filter(|own| own.ends_with(OWN_FOLDER));
        if let Some(own) = own.filter(|own| own.is_dir()) {
            let path = own.join(".gitignore");
            if !path.exists() {
                // A folder that takes no file has no cache either.
                let _ = std::fs::write(path, "*\n");
            }
        }
    }

    /// Ends the use of imported stores in the cache, and deletes superseded ones.
    pub fn release_cache(&self) {
        let held = self
            .cache_use
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        if held.is_some() {
            drop(held);
            sweep_cache(&self.cache, Some(&imported_name()));
        }
    }

    /// Returns the stores, with the configured aliases of names.
    pub fn stores(&self) -> NamedStores<'_> {
        NamedStores {
            folders: &self.results,
            names: &self.names,
        }
    }

    /// Returns the sources that [`Settings::open_warehouse`] reads.
    pub fn source_options(&self) -> WarehouseOptions {
        let is_read = |folder: &&PathBuf| {
            self.answers.is_empty() || self.usual_results.as_ref() != Some(*folder)
        };
        WarehouseOptions {
            stores: self.results.iter().filter(is_read).cloned().collect(),
            lakes: self.lakes.clone(),
            suites: None,
            files: Vec::new(),
            cache: Some(self.cache.clone()),
            aliases: self.config.aliases.clone(),
            answers: self.answers.clone(),
        }
    }

    /// Fails if there is no folder for a command that writes results: a lake is only read.
    pub fn check_writes(&self, command: &str) -> Result<(), CommandFailure> {
        if self.results.is_empty() {
            return Err(CommandFailure::new(format!("`{command}` needs a results folder, and a lake is only read"))
                .with_hint("give the folder too, as in --results results; `evalreport export lake DIR` then publishes what it holds"));
        }
        Ok(())
    }
}

/// Returns the folder of a lake that is named by `lake:DIR`.
pub(super) fn lake_folder(path: &Path) -> Option<PathBuf> {
    path.to_str()?.strip_prefix(LAKE_PREFIX).map(PathBuf::from)
}

/// Returns the folder for this program in the user's cache, or `None` if it cannot be made.
fn user_cache() -> Option<PathBuf> {
    let absolute = |name: &str| {
        env::var_os(name)
            .map(PathBuf::from)
            .filter(|folder| folder.is_absolute())
    };
    let base = absolute("XDG_CACHE_HOME")
        .or_else(|| absolute("LOCALAPPDATA"))
        .or_else(|| absolute("HOME").map(|home| home.join(".cache")))?;
    let ours = base.join("evalreport/tables");
    std::fs::create_dir_all(&ours).is_ok().then_some(ours)
}

fn imported_name() -> String {
    format!("{IMPORTED_PREFIX}{}", versions_digest())
}

/// Shortens paths below the current folder to relative ones, for display and storage.
fn relative_to(here: &Path, path: PathBuf) -> PathBuf {
    match path.strip_prefix(here) {
        Ok(relative) if !relative.as_os_str().is_empty() => relative.to_owned(),
        _ => path,
    }
}

fn load_config(path: &Path) -> Result<ProjectConfig, CommandFailure> {
    config::load(path).map_err(|problems| CommandFailure::from_document(path, &problems))
}

pub(super) fn terminal_style(global: &Global) -> Style {
    let stdout = std::io::stdout();
    let is_terminal = stdout.is_terminal();
    let asked = env::var("COLUMNS")
        .ok()
        .and_then(|columns| columns.parse::<usize>().ok());
    let measured =
        || terminal_size::terminal_size_of(&stdout).map(|(width, _)| usize::from(width.0));
    let width = asked
        .or_else(|| if is_terminal { measured() } else { None })
        .unwrap_or(PIPED_WIDTH)
        .max(MIN_WIDTH);
    let color = match global.color {
        _ if global.no_color => false,
        Color::Always => true,
        Color::Never => false,
        Color::Auto => is_terminal && env::var_os("NO_COLOR").is_none_or(|value| value.is_empty()),
    };
    Style { width, color }
}
