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

/// A need that is more than a program on the search path.
struct Thing {
    name: &'static str,
    /// Programs without which it cannot be had: if one is missing, that is what is said.
    programs: &'static [&'static str],
    /// Whether it is there. Some things are installed from registries by whoever asks first.
    is_there: fn() -> bool,
}

const fn thing(
    name: &'static str,
    programs: &'static [&'static str],
    is_there: fn() -> bool,
) -> Thing {
    Thing {
        name,
        programs,
        is_there,
    }
}

const THINGS: [Thing; 19] = [
    thing(PYTEST, &["python3"], || {
        crate::suites::installed().is_some()
    }),
    thing("Vite", &["node", "npm"], || {
        crate::verify::frontend::packages().is_some()
    }),
    thing("DuckDB", &["python3"], || crate::export::duckdb().is_some()),
    thing("axe-core", &["npm"], || {
        crate::acceptance::axe::source().is_some()
    }),
    thing(NOTO.name, &[], || NOTO.folder().is_some()),
    thing(LIBERATION.name, &[], || LIBERATION.folder().is_some()),
    thing("strace", &["strace"], || {
        std::process::Command::new("strace")
            .args(["-qq", "-o", "/dev/null", "true"])
            .succeeds()
    }),
    thing("claude", &[], || {
        crate::real_agents::folder_of("claude").is_some()
    }),
    thing("codex", &[], || {
        crate::real_agents::folder_of("codex").is_some()
    }),
    thing("gemini", &[], || {
        crate::real_agents::folder_of("gemini").is_some()
    }),
    thing("opencode", &[], || {
        crate::real_agents::folder_of("opencode").is_some()
    }),
    thing("Inspect AI", &[], || {
        variable("EVALREPORT_INSPECT_PYTHON").is_some()
    }),
    thing("the SDK of MCP", &[], || {
        variable("EVALREPORT_MCP_PYTHON").is_some()
    }),
    thing("promptfoo", &[], || {
        variable("EVALREPORT_PROMPTFOO").is_some()
    }),
    thing("the schema of CTRF", &[], || {
        variable("EVALREPORT_CTRF_SCHEMA").is_some()
    }),
    thing("the schemas of Every Eval Ever", &[], || {
        variable("EVALREPORT_EEE_SCHEMAS").is_some()
    }),
    thing(LANDLOCK, &[], || {
        #[cfg(target_os = "linux")]
        return evalreport::process::support().files
            && evalreport::process::support().network
            && evalreport::process::support().signals;
        #[cfg(not(target_os = "linux"))]
        return false;
    }),
    thing(MOUNTS, &[], crate::resume::disk::can_mount),
    thing(USERS, &["unshare"], || {
        std::process::Command::new("unshare")
            .args(["--user", "--map-root-user", "true"])
            .succeeds()
    }),
];

/// A Python with pytest and Flask.
pub const PYTEST: &str = "pytest and Flask";
pub const LANDLOCK: &str =
    "a kernel that keeps programs from files, ports and signals (Linux 6.12)";
pub const MOUNTS: &str = "the right to mount a file system";
pub const USERS: &str = "the right to make namespaces of users";
/// What nobody can install: a machine has it or not.
const OF_THE_MACHINE: [&str; 3] = [LANDLOCK, MOUNTS, USERS];

/// Whether the needs of a test are met, whose name is that of an item in it. Records the test otherwise.
#[track_caller]
pub fn are_met(item: &str, needs: &[&str]) -> bool {
    let missing = missing(needs.iter().copied());
    if missing.is_empty() {
        return true;
    }
    // `it::module::name::here`.
    let test = item
        .split("::")
        .skip(1)
        .filter(|part| *part != "here" && !part.starts_with('{'))
        .collect::<Vec<_>>()
        .join("::");
    record(&test, &missing);
    false
}

/// Returns what is missing of these needs, each once.
pub fn missing<'a>(needs: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let mut missing = Vec::new();
    for need in needs {
        let found = match THINGS.iter().find(|thing| thing.name == need) {
            None => Vec::from_iter((!is_installed(need)).then_some(need)),
            Some(thing) => {
                let programs: Vec<&str> = thing
                    .programs
                    .iter()
                    .copied()
                    .filter(|program| !is_installed(program))
                    .collect();
                if programs.is_empty() {
                    Vec::from_iter((!(thing.is_there)()).then_some(need))
                } else {
                    programs
                }
            }
        };
        missing.extend(
            found
                .into_iter()
                .filter(|name| !missing.contains(name))
                .collect::<Vec<_>>(),
        );
    }
    missing
}

/// Whether a program is there, or a thing.
pub fn is_met(need: &str) -> bool {
    missing([need]).is_empty()
}

/// Records that a test is not run for want of this, or panics if all tests must run.
#[track_caller]
pub fn record(test: &str, missing: &[&str]) {
    let may_be_missing = missing.iter().all(|need| OF_THE_MACHINE.contains(need));
    let missing = match missing.split_last() {
        Some((last, before)) if !before.is_empty() => format!("{} and {last}", before.join(", ")),
        _ => missing.concat(),
    };
    assert!(
        may_be_missing || variable("EVALREPORT_TESTS_MUST_RUN").is_none(),
        "{test} must run here, and cannot for want of {missing}"
    );
    let folder = not_run::folder();
    fs::create_dir_all(&folder).expect("the build's folder can be written");
    // A file's name may have neither colons nor slashes everywhere.
    fs::write(
        folder.join(test.replace("::", ".").replace('/', "-")),
        &missing,
    )
    .expect("the build's folder can be written");
    eprintln!("not run, for want of {missing}");
}

/// Returns the path in a variable of the environment.
pub fn variable(name: &str) -> Option<PathBuf> {
    std::env::var_os(name)
        .filter(|value| !value.is_empty())
        .map(PathBuf::from)
}

/// Returns the path in a variable of the environment that a test is about: such tests are ignored, and run on request with that variable.
#[track_caller]
pub fn named(name: &str) -> PathBuf {
    variable(name).unwrap_or_else(|| panic!("{name} names nothing"))
}

/// Whether a program is on the search path.
fn is_installed(program: &str) -> bool {
    std::env::var_os("PATH").is_some_and(|path| {
        std::env::split_paths(&path).any(|folder| folder.join(program).is_file())
    })
}

#[test]
fn tests_say_first_what_they_need_and_start_programs_in_one_way() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it");
    let mut faults = Vec::new();
    for entry in walkdir::WalkDir::new(folder)
        .into_iter()
        .map(|entry| entry.expect("a folder"))
    {
        let path = entry.path();
        let name = path
            .strip_prefix(folder)
            .expect("below it")
            .display()
            .to_string();
        // The one that starts them, and this one, which has the words in it.
        if path.extension().is_none_or(|ending| ending != "rs")
            || name == "programs.rs"
            || name == "needs.rs"
        {
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
            if line.trim_start().starts_with("needs!(")
                && !(is_in_test && before.starts_with("fn "))
            {
                faults.push(format!(
                    "{at}: `needs!` is the first line of a test, whose name it records"
                ));
            }
            if [".spawn()", ".output()", ".wait_with_output()"]
                .iter()
                .any(|call| line.contains(call))
            {
                faults.push(format!(
                    "{at}: `start` and `finish` of `programs` start programs, and end them in time"
                ));
            }
            before = line;
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}
