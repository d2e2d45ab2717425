//! The runs that a command is about: those of the stores, of an engine, and of the files that it names.

use std::path::{Path, PathBuf};

use crate::domain::Filter;
use crate::views::Policy;
use crate::warehouse::Warehouse;

use super::failure::CommandFailure;
use super::file_arms::FileOptions;
use super::options::{Engine, Judging, OfFiles, Selection, SuiteOptions};
use super::settings::Settings;
use super::{ad_hoc_import, engine, policy, selection};

/// What a command asks for.
#[derive(Clone, Copy)]
pub(super) struct RunQuery<'a> {
    /// Suites, and paths to other tools' results.
    pub names: &'a [String],
    pub of_files: &'a OfFiles,
    pub selection: &'a Selection,
    /// None if the command asks no engine.
    pub engine: Option<&'a Engine>,
    /// None if the command tests nothing.
    pub judging: Option<&'a Judging>,
    /// May be a file too.
    pub baseline: Option<&'a str>,
    /// Whether the command compares arms, so that files of the same arms and items are arms.
    pub compares: bool,
}

impl SuiteOptions {
    /// Returns what these options ask for.
    pub fn query(&self) -> RunQuery<'_> {
        RunQuery::new(&self.suites, &self.of_files, &self.selection)
    }
}

/// What was asked for, with names and paths told apart. Files are not read yet.
pub(super) struct NamedRuns {
    /// The command's settings, with what the engine answered.
    pub settings: Settings,
    pub names: Vec<String>,
    pub paths: Vec<PathBuf>,
    /// The selection, without the names.
    pub filter: Filter,
    pub files: FileOptions,
}

/// The runs, with what is needed to answer about them.
pub(super) struct QueriedRuns {
    /// The command's settings, with the sources of the runs.
    pub settings: Settings,
    pub warehouse: Warehouse,
    /// Selects at least one run.
    pub filter: Filter,
    pub policy: Policy,
}

impl<'a> RunQuery<'a> {
    /// Returns a query of stored runs and files, which neither compares nor tests.
    pub fn new(names: &'a [String], of_files: &'a OfFiles, selection: &'a Selection) -> Self {
        Self {
            names,
            of_files,
            selection,
            engine: None,
            judging: None,
            baseline: None,
            compares: false,
        }
    }

    /// Asks the engine, if there is one, and tells names from paths. Fails if a path is not there, or if an option is for files and none is
    /// named.
    pub fn resolve_names(&self, settings: &Settings) -> Result<NamedRuns, CommandFailure> {
        let mut filter = self.selection.to_filter()?;
        let settings = match self.engine {
            Some(asked) => {
                engine::with_engine(settings, asked, &[self.names, &self.selection.suite])?
            }
            None => settings.clone(),
        };
        let (names, paths) = ad_hoc_import::split_names_and_paths(&settings, self.names)?;
        let has_files =
            !paths.is_empty() || self.baseline.is_some_and(|what| Path::new(what).exists());
        let files = FileOptions::from_arguments(self.of_files, &mut filter, has_files)?;
        Ok(NamedRuns {
            settings,
            names,
            paths,
            filter,
            files: if self.compares {
                files.for_comparison()
            } else {
                files
            },
        })
    }

    /// Opens the runs; the names are suites. Fails if one is unknown or no run is selected.
    pub fn open(&self, settings: &Settings) -> Result<QueriedRuns, CommandFailure> {
        let NamedRuns {
            settings,
            names,
            paths,
            mut filter,
            files,
        } = self.resolve_names(settings)?;
        let (settings, stores) = ad_hoc_import::with_stores(&settings, &paths, &files)?;
        if names.is_empty() && filter.suites.is_empty() && !stores.is_empty() {
            // Files that are named are the selection.
            filter
                .ids
                .extend(ad_hoc_import::ids_of_stores(&settings, &stores)?);
        }
        filter.suites.extend(names);
        let policy =
            policy::policy_with_options(&settings, self.judging.unwrap_or(&Judging::default()))?;
        let warehouse = settings.open_suites(&filter.suites)?;
        let filter = selection::resolve_filter(&warehouse, filter)?;
        Ok(QueriedRuns {
            settings,
            warehouse,
            filter,
            policy,
        })
    }
}
