//! What tests need of this machine besides the program, a shell, git and a C compiler.
//!
//! A test with other needs begins with `needs!("python3")`. If something is missing, the test is not run, and the list at the end of
//! `cargo test` says for want of what (`tests/not_run.rs`). With `EVALREPORT_TESTS_MUST_RUN` such a test fails instead, as in CI.

use std::fs;
use std::path::PathBuf;

use crate::browser::{LIBERATION, NOTO};
use crate::not_run;
use crate::programs::Start as _;

/// Ends the test if something is missing that it needs: the names are those of programs, or of [`THINGS`].
macro_rules! needs {
    ($($need:expr),+ $(,)?) => {{
        fn here() {}
        if !$crate::needs::are_met(std::any::type_name_of_val(&here), &[$($need),+]) {
            return;
        }
    }};
}

/// Needs that are not a program on the search path, and whether they are met. Some are installed from registries by whoever asks first.
const THINGS: [(&str, fn() -> bool); 17] = [
    (PYTEST, || crate::suites::installed().is_some()),
    ("Vite", || crate::verify::frontend::packages().is_some()),
    ("DuckDB", || crate::export::duckdb().is_some()),
    ("axe-core", || crate::acceptance::axe::source().is_some()),
    (NOTO.name, || NOTO.folder().is_some()),
    (LIBERATION.name, || LIBERATION.folder().is_some()),
    ("strace", || is_installed("strace") && std::process::Command::new("strace").args(["-qq", "-o", "/dev/null", "true"]).succeeds()),
    ("claude", || crate::real_agents::folder_of("claude").is_some()),
    ("codex", || crate::real_agents::folder_of("codex").is_some()),
    ("gemini", || crate::real_agents::folder_of("gemini").is_some()),
    ("opencode", || crate::real_agents::folder_of("opencode").is_some()),
    ("Inspect AI", || variable("EVALREPORT_INSPECT_PYTHON").is_some()),
    ("promptfoo", || variable("EVALREPORT_PROMPTFOO").is_some()),
    ("the schema of CTRF", || variable("EVALREPORT_CTRF_SCHEMA").is_some()),
    ("the schemas of Every Eval Ever", || variable("EVALREPORT_EEE_SCHEMAS").is_some()),
    (LANDLOCK, || {
        #[cfg(target_os = "linux")]
        return evalreport::process::support().files && evalreport::process::support().network && evalreport::process::support().signals;
        #[cfg(not(target_os = "linux"))]
        return false;
    }),
    (MOUNTS, || crate::resume::disk::can_mount()),
];

/// A Python with pytest and Flask.
pub const PYTEST: &str = "pytest and Flask";
pub const LANDLOCK: &str = "a kernel that keeps programs from files, ports and signals (Linux 6.12)";
pub const MOUNTS: &str = "the right to mount a file system";
/// What nobody can install: a machine has it or not.
const OF_THE_MACHINE: [&str; 2] = [LANDLOCK, MOUNTS];

/// Whether the needs of a test are met, whose name is that of an item in it. Records the test otherwise.
#[track_caller]
pub fn are_met(item: &str, needs: &[&str]) -> bool {
    let missing: Vec<&str> = needs.iter().copied().filter(|need| !is_met(need)).collect();
    if missing.is_empty() {
        return true;
    }
    // `it::module::name::here`.
    let test = item.split("::").skip(1).filter(|part| *part != "here" && !part.starts_with('{')).collect::<Vec<_>>().join("::");
    record(&test, &missing);
    false
}

/// Whether what a name of a need stands for is there.
pub fn is_met(need: &str) -> bool {
    match THINGS.iter().find(|(name, _)| *name == need) {
        Some((_, is_there)) => is_there(),
        None => is_installed(need),
    }
}

/// Records that a test is not run for want of this, or panics if all tests must run.
#[track_caller]
pub fn record(test: &str, missing: &[&str]) {
    let may_be_missing = missing.iter().all(|need| OF_THE_MACHINE.contains(need));
    let missing = missing.join(" and ");
    assert!(may_be_missing || variable("EVALREPORT_TESTS_MUST_RUN").is_none(), "{test} must run here, and cannot for want of {missing}");
    let folder = not_run::folder();
    fs::create_dir_all(&folder).expect("the build's folder can be written");
    // A file's name may have neither colons nor slashes everywhere.
    fs::write(folder.join(test.replace("::", ".").replace('/', "-")), &missing).expect("the build's folder can be written");
    eprintln!("not run, for want of {missing}");
}

/// Returns the path in a variable of the environment.
pub fn variable(name: &str) -> Option<PathBuf> {
    std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from)
}

/// Returns the path in a variable of the environment that a test is about: such tests are ignored, and run on request with that variable.
#[track_caller]
pub fn named(name: &str) -> PathBuf {
    variable(name).unwrap_or_else(|| panic!("{name} names nothing"))
}

/// Whether a program is on the search path.
fn is_installed(program: &str) -> bool {
    std::env::var_os("PATH").is_some_and(|path| std::env::split_paths(&path).any(|folder| folder.join(program).is_file()))
}

#[test]
fn tests_say_first_what_they_need_and_start_programs_in_one_way() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it");
    let mut faults = Vec::new();
    for entry in walkdir::WalkDir::new(folder).into_iter().map(|entry| entry.expect("a folder")) {
        let path = entry.path();
        let name = path.strip_prefix(folder).expect("below it").display().to_string();
        // The one that starts them, and this one, which has the words in it.
        if path.extension().is_none_or(|ending| ending != "rs") || name == "programs.rs" || name == "needs.rs" {
            continue;
        }
        let text = fs::read_to_string(path).expect("readable");
        let mut is_in_test = false;
        let mut before = "";
        for (number, line) in text.lines().enumerate() {
            let at = format!("{name}:{}", number + 1);
            match line {
                "#[test]" => is_in_test = true,
                "}" => is_in_test = false,
                _ => {}
            }
            if line.trim_start().starts_with("needs!(") && !(is_in_test && before.starts_with("fn ")) {
                faults.push(format!("{at}: `needs!` is the first line of a test, whose name it records"));
            }
            if [".spawn()", ".output()", ".wait_with_output()"].iter().any(|call| line.contains(call)) {
                faults.push(format!("{at}: `start` and `finish` of `programs` start programs, and end them in time"));
            }
            before = line;
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}
