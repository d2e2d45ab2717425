//! Folders that the programs before this one leave in a project: what lies there, and what to do with it.

use std::path::Path;

/// Returns how to read the results that a predecessor left in the folder `root`. `None` if it left none.
pub(super) fn results_hint(root: &Path) -> Option<&'static str> {
    root.join("evals/results").is_dir().then_some(
        "to read the results in `evals/results`, as `ralph eval` and kotef write them, add --results evals/results",
    )
}

/// Returns where the agents of a predecessor's configuration in the folder `root` go. `None` if there is no such file.
pub(super) fn agents_hint(root: &Path) -> Option<&'static str> {
    [".cogni/config.yml", ".cogni/config.yaml"]
        .iter()
        .any(|file| root.join(file).is_file())
        .then_some(
            "copy the agents of `.cogni/config.yml` to `agents` in evalreport.yaml; `evalreport help import/cogni` lists the fields",
        )
}

/// Returns where the overrides of a predecessor's verification in the folder `root` go. `None` if there is no such file.
pub(super) fn verification_note(root: &Path) -> Option<&'static str> {
    root.join(".sdd/config.json").is_file().then_some(
        "note: `.sdd/config.json` is not read; its overrides go under `verification` in evalreport.yaml (`evalreport help import/kotef`)",
    )
}
