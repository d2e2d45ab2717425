//! Opening the stores, with what is said of it, and keeping what was learnt.

use std::sync::atomic::Ordering;
use std::time::Instant;

use tracing::{debug, info};

use crate::domain::visible;
use crate::warehouse::{Options, Warehouse};

use super::failure::Failure;
use super::settings::Settings;
use super::shown::shown;
use super::{output, progress};

impl Settings {
    /// Opens the stores, and says or refuses what could not be read.
    pub fn open(&self) -> Result<Warehouse, Failure> {
        self.check_folders()?;
        let warehouse = self.open_with(&self.options())?;
        output::warnings(self, warehouse.problems())?;
        output::conflicts(self, &warehouse.conflicts())?;
        Ok(warehouse)
    }

    /// Refuses stores that are no folders.
    pub fn check_folders(&self) -> Result<(), Failure> {
        for folder in &self.results {
            if folder.exists() && !folder.is_dir() {
                return Err(Failure::new(format!("{} is not a folder", shown(folder)))
                    .with_hint("--results takes the folder that holds the result files"));
            }
        }
        Ok(())
    }

    /// Opens and keeps quiet about problems, unless they are about what may be shown.
    pub fn open_with(&self, options: &Options) -> Result<Warehouse, Failure> {
        let start = Instant::now();
        let bar = progress::Bar::new(self.interactive);
        let warehouse = bar.watch(|progress| Warehouse::open(options, progress))?;
        info!(
            runs = warehouse.runs().len(),
            retracted = warehouse.hidden().len(),
            unfinished = warehouse.unfinished(),
            problems = warehouse.problems().len(),
            seconds = start.elapsed().as_secs_f64(),
            "results opened"
        );
        Ok(warehouse)
    }

    /// Opens the stores for what must be about all that they hold: `what` is refused where a part could not be read.
    pub fn open_whole(&self, what: &str) -> Result<Warehouse, Failure> {
        self.check_folders()?;
        let warehouse = self.open_with(&self.options())?;
        output::refuse_incomplete(what, warehouse.problems())?;
        output::conflicts(self, &warehouse.conflicts())?;
        Ok(warehouse)
    }

    /// Says, once, that the cache could not be written.
    pub fn say_not_cached(&self, error: &str) {
        info!(folder = %self.cache.display(), %error, "cache not written");
        if !self.is_cache_trouble_said.swap(true, Ordering::Relaxed) {
            let folder = shown(&self.cache);
            output::say(self, &format!("warning: the cache {folder} could not be written: {}", visible(error)));
        }
    }

    /// Ends the work with a warehouse: says or refuses what could not be read any more, and keeps what was learnt for the next command.
    /// Without a cache the next one takes longer, nothing else.
    pub fn keep(&self, warehouse: &mut Warehouse) -> Result<(), Failure> {
        let start = Instant::now();
        if let Err(error) = warehouse.save_cache() {
            self.say_not_cached(&error);
        } else {
            debug!(seconds = start.elapsed().as_secs_f64(), "cache up to date");
        }
        output::warnings(self, &warehouse.late_problems())
    }
}
