//! `doctor --tidy`: what killed commands left goes, in stores, the cache and the temporary folder, unless somebody holds it.

use std::env;

use crate::files;
use crate::results::Store;

use super::output;
use super::settings::Settings;

pub(super) fn run(settings: &Settings) {
    let stores: usize = settings.results.iter().map(|folder| Store::at(folder).tidy()).sum();
    let cache = files::sweep_tree(&settings.cache);
    let workspaces = files::sweep_folders(&env::temp_dir());
    let removed = [(stores + cache, "half-written file"), (workspaces, "workspace")];
    let removed: Vec<String> = removed.iter().map(|(number, noun)| output::count(*number, noun)).collect();
    output::say(settings, &format!("removed: {}", removed.join(", ")));
}
