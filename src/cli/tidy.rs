//! `doctor --tidy`: removes what killed commands left in stores, the cache and the folders for workspaces, unless a process holds it.

use std::collections::BTreeSet;
use std::env;
use std::path::PathBuf;

use crate::files;
use crate::results::Store;

use super::output;
use super::settings::Settings;

pub(super) fn remove_leftovers(settings: &Settings) {
    let stores: usize = settings
        .results
        .iter()
        .map(|folder| Store::new(folder).remove_all_leftovers())
        .sum();
    let cache = files::sweep_tree(&settings.cache, false);
    let usual = super::execute_plan::default_scratch(&settings.agent_environment(PathBuf::new()));
    let workspaces: usize = BTreeSet::from([usual, env::temp_dir()])
        .iter()
        .map(|folder| files::sweep_folders(folder))
        .sum();
    let removed = [
        (stores + cache, "half-written file"),
        (workspaces, "workspace"),
    ];
    let removed: Vec<String> = removed
        .iter()
        .map(|(number, noun)| output::format_count(*number, noun))
        .collect();
    output::print_message(settings, &format!("removed: {}", removed.join(", ")));
}
