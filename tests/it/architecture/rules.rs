//! What may be named where. Each invariant is one entry of [`RULES`]; the layers come from the table.

use std::collections::BTreeSet;
use std::fmt;

use super::resolve::Resolver;
use super::scan::{Facts, Kind, Mention, Segments};
use super::table::LayerTable;

/// One place that breaks a rule.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Violation {
    pub file: String,
    pub line: usize,
    pub rule: &'static str,
    pub message: String,
}

impl Violation {
    pub fn new(file: &str, line: usize, rule: &'static str, message: &str) -> Self {
        Self {
            file: file.to_owned(),
            line,
            rule,
            message: message.to_owned(),
        }
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            formatter,
            "{}:{}: {} [{}]",
            self.file, self.line, self.message, self.rule
        )
    }
}

/// Where a rule's subjects are forbidden.
pub enum Place {
    /// Everywhere but in these top-level modules. `main` is the binary.
    OutsideOf(&'static [&'static str]),
    /// In these top-level modules only.
    Within(&'static [&'static str]),
}

/// What a rule looks for.
pub enum Subject {
    /// The path itself or anything below it, wherever it was imported from.
    Under(&'static str),
    /// A crate, or one of its family: `polars` also means `polars_core`.
    Family(&'static str),
    /// A path of this crate that ends so; for items that their crate re-exports in several places.
    Ends(&'static str, &'static str),
    /// A method or function whose name starts so, whatever it is called on.
    Word(&'static str),
    /// A method that takes no arguments, by its exact name.
    Question(&'static str),
    /// A standard macro by name.
    Macro(&'static str),
    Column,
    Query,
    Detour,
}

pub struct Rule {
    pub name: &'static str,
    pub why: &'static str,
    pub place: Place,
    /// Whether `#[cfg(test)]` code must keep it too.
    pub in_tests: bool,
    pub subjects: &'static [Subject],
    pub except: &'static [&'static str],
}

/// The module that executes programs.
const PROGRAMS: &[&str] = &["process"];
/// Modules that listen: `process` finds a free port for a server among the programs, `serve` shows a site on this machine.
const LISTENERS: &[&str] = &["process", "serve"];
/// Modules that open sockets: to services, to an engine, to the server that a suite's tests talk to, and for a site shown on this machine.
const SOCKETS: &[&str] = &["agent", "engine", "process", "serve"];
/// Modules that measure how long something takes, or wait. A module is listed before it exists; the layer table says which do.
const STOPWATCH: &[&str] = &["cli", "process", "agent", "run", "serve"];
/// Modules that work on values alone.
const PURE: &[&str] = &["domain", "stats", "document", "views", "render"];
const CLI: &[&str] = &["cli"];
const SHELL: &[&str] = &["cli", "main"];

use Subject::{Column, Detour, Ends, Family, Macro, Query, Question, Under, Word};

pub const RULES: &[Rule] = &[
    Rule {
        name: "1: polars",
        why: "only `warehouse` names polars; frames do not leave it",
        place: Place::OutsideOf(&["warehouse"]),
        in_tests: true,
        subjects: &[Family("polars"), Family("sqlparser")],
        except: &[],
    },
    Rule {
        name: "1: columns",
        why: "column names and queries are written in `warehouse` only; ask it with a typed query",
        place: Place::OutsideOf(&["warehouse"]),
        in_tests: false,
        subjects: &[Column, Query],
        except: &[],
    },
    Rule {
        name: "2: rendering only renders",
        why: "`render` neither computes nor orders nor looks anything up; views hand it finished values in their order",
        place: Place::Within(&["render"]),
        in_tests: false,
        subjects: &[
            Word("sort_by"),
            Word("sort_unstable"),
            Word("partial_cmp"),
            Word("total_cmp"),
            Under("std::env"),
            Under("std::process"),
            Under("std::time"),
            Under("statrs"),
            Under("rayon"),
        ],
        except: &["std::env::consts"],
    },
    Rule {
        name: "3: writing",
        why: "only `results` writes to the store, `warehouse` to its cache, `run` to workspaces, `publish` to a site and `cli` to what the user asked for",
        place: Place::OutsideOf(&["results", "warehouse", "run", "publish", "cli", "files"]),
        in_tests: false,
        subjects: &[
            Under("std::fs::write"),
            Under("std::fs::File::create"),
            Under("std::fs::File::create_new"),
            Under("std::fs::File::create_buffered"),
            Under("std::fs::File::options"),
            Under("std::fs::OpenOptions"),
            Under("std::fs::DirBuilder"),
            Under("std::fs::create_dir"),
            Under("std::fs::create_dir_all"),
            Under("std::fs::rename"),
            Under("std::fs::remove_file"),
            Under("std::fs::remove_dir"),
            Under("std::fs::remove_dir_all"),
            Under("std::fs::hard_link"),
            Under("std::fs::soft_link"),
            Under("std::fs::copy"),
            Under("std::fs::set_permissions"),
            Under("std::fs::set_times"),
            Under("std::os::unix::fs::symlink"),
            Under("std::os::unix::fs::chown"),
            Under("std::os::windows::fs::symlink_file"),
            Under("std::os::windows::fs::symlink_dir"),
            Ends("csv", "Writer::from_path"),
        ],
        except: &[],
    },
    Rule {
        name: "3: opening",
        why: "what is read by its path is opened by `files`, which does not wait at a pipe",
        // `process` reads what the system says of programs. What they left in a workspace may be a pipe like anything else.
        place: Place::Within(&[
            "agent",
            "cli",
            "config",
            "evaluate",
            "import",
            "publish",
            "results",
            "run",
            "serve",
            "suite",
            "warehouse",
        ]),
        in_tests: false,
        subjects: &[
            Under("std::fs::File::open"),
            Under("std::fs::File::open_buffered"),
            Under("std::fs::read"),
            Under("std::fs::read_to_string"),
        ],
        except: &[],
    },
    Rule {
        name: "3: temporary files",
        why: "they are for what is written whole or not at all, in `agent` for a prompt that a program wants as a file, and in `run` for workspaces",
        place: Place::OutsideOf(&[
            "files",
            "results",
            "warehouse",
            "agent",
            "run",
            "publish",
            "cli",
        ]),
        in_tests: false,
        subjects: &[Under("tempfile")],
        except: &[],
    },
    Rule {
        name: "3: pure layers touch no file",
        why: "this layer works on values; read in `results`, `import`, `warehouse`, `config` or `cli` and pass the values in",
        place: Place::Within(PURE),
        in_tests: false,
        subjects: &[
            Under("std::fs"),
            Under("std::os"),
            Under("walkdir"),
            Question("exists"),
            Question("try_exists"),
            Question("is_file"),
            Question("is_dir"),
            Question("is_symlink"),
            Question("metadata"),
            Question("symlink_metadata"),
            Question("read_dir"),
            Question("read_link"),
            Question("canonicalize"),
            Ends("std", "Path::exists"),
            Ends("std", "Path::try_exists"),
            Ends("std", "Path::is_file"),
            Ends("std", "Path::is_dir"),
            Ends("std", "Path::read_dir"),
            Ends("std", "Path::metadata"),
            Ends("std", "Path::canonicalize"),
        ],
        except: &[],
    },
    Rule {
        name: "4: printing",
        why: "printing belongs to `cli`; return the value or the problem",
        place: Place::OutsideOf(SHELL),
        in_tests: false,
        subjects: &[
            Macro("print"),
            Macro("println"),
            Macro("eprint"),
            Macro("eprintln"),
            Macro("dbg"),
            Under("std::io::stdout"),
            Under("std::io::stderr"),
            Under("std::io::stdin"),
            Under("std::io::Stdout"),
            Under("std::io::Stderr"),
            Under("std::io::Stdin"),
            Under("indicatif"),
        ],
        except: &[],
    },
    Rule {
        name: "4: terminal",
        why: "what the terminal can do is found out in `cli` and passed in",
        place: Place::OutsideOf(CLI),
        in_tests: false,
        subjects: &[Under("std::io::IsTerminal"), Question("is_terminal")],
        except: &[],
    },
    Rule {
        name: "4: process",
        why: "ending the process is `cli`'s and `main`'s; return an error",
        place: Place::OutsideOf(SHELL),
        in_tests: false,
        subjects: &[
            Under("std::process::exit"),
            Under("std::process::abort"),
            Under("std::process::ExitCode"),
            Under("std::process::Termination"),
            Under("std::process::id"),
        ],
        except: &[],
    },
    Rule {
        name: "4: environment",
        why: "the environment is read in `cli` and passed in as values",
        place: Place::OutsideOf(SHELL),
        in_tests: false,
        subjects: &[Under("std::env")],
        // Constants of the build, and how this system writes a list of folders.
        except: &[
            "std::env::consts",
            "std::env::split_paths",
            "std::env::join_paths",
        ],
    },
    Rule {
        name: "4: clock",
        why: "the time is read in `cli` and passed in as a value; `run` stamps what ended just now",
        // `files` looks how old a temporary file is.
        place: Place::OutsideOf(&["cli", "run", "files"]),
        in_tests: false,
        subjects: &[
            Ends("chrono", "Utc::now"),
            Ends("chrono", "Local::now"),
            Ends("chrono", "Utc::today"),
            Ends("chrono", "Local::today"),
            Ends("std", "SystemTime::now"),
            Ends("uuid", "Uuid::now_v7"),
            Ends("uuid", "Uuid::now_v6"),
            Ends("uuid", "Uuid::now_v1"),
        ],
        except: &[],
    },
    Rule {
        name: "4: stopwatch",
        why: "time is measured where programs run and the network answers, and in `cli`; elsewhere it would make the outcome vary",
        place: Place::OutsideOf(STOPWATCH),
        in_tests: false,
        subjects: &[Ends("std", "Instant::now"), Question("elapsed")],
        except: &[],
    },
    Rule {
        name: "4: events",
        why: "what happened is said where files are read and written; other layers work on values and have nothing to tell",
        place: Place::OutsideOf(&["warehouse", "import", "publish", "cli"]),
        in_tests: false,
        subjects: &[Under("tracing")],
        except: &[],
    },
    Rule {
        name: "4: listening",
        why: "who hears the events is decided in `cli`",
        place: Place::OutsideOf(CLI),
        in_tests: false,
        subjects: &[
            Under("tracing_subscriber"),
            Under("tracing::subscriber"),
            Under("tracing::dispatcher"),
        ],
        except: &[],
    },
    Rule {
        name: "5: chance",
        why: "the same inputs give the same bytes; take a seed",
        // `process` marks what it starts, and the mark is in no output.
        place: Place::OutsideOf(&["results", "process", "cli"]),
        in_tests: false,
        subjects: &[
            Ends("uuid", "Uuid::new_v4"),
            Under("rand::rng"),
            Under("rand::random"),
            Under("rand::thread_rng"),
            Ends("rand", "ThreadRng"),
            Ends("rand", "OsRng"),
            Under("getrandom"),
            Under("fastrand"),
            Ends("std", "RandomState"),
        ],
        except: &[],
    },
    Rule {
        name: "5: hash order",
        why: "a hash map iterates in an order of its own; use a `BTreeMap`, a `BTreeSet` or a sorted `Vec`",
        place: Place::Within(&["views", "render", "stats", "domain"]),
        in_tests: false,
        subjects: &[
            Ends("std", "HashMap"),
            Ends("std", "HashSet"),
            Under("std::collections::hash_map"),
            Under("std::collections::hash_set"),
            Under("hashbrown"),
        ],
        except: &[],
    },
    Rule {
        name: "10: programs",
        why: "only `process` executes programs: it bounds and stops them",
        place: Place::OutsideOf(PROGRAMS),
        in_tests: false,
        subjects: &[
            Under("std::process::Command"),
            Under("std::process::Child"),
            Under("std::process::Stdio"),
            Under("std::os::unix::process"),
            Under("std::os::windows::process"),
            Under("rustix::process"),
            Under("nix"),
            Under("process_wrap"),
            Under("duct"),
        ],
        // Whose files are ours.
        except: &["rustix::process::geteuid"],
    },
    Rule {
        name: "10: ports",
        why: "a free port is found in `process`, and a site is shown by `serve`",
        place: Place::OutsideOf(LISTENERS),
        in_tests: false,
        subjects: &[Under("std::net::TcpListener")],
        except: &[],
    },
    Rule {
        name: "10: sockets",
        why: "only `agent` and `engine` talk to the network, `process` looks whether somebody answers on this machine, and `serve` talks to its browsers",
        place: Place::OutsideOf(SOCKETS),
        in_tests: false,
        subjects: &[
            Under("std::net"),
            Under("std::os::unix::net"),
            Under("reqwest"),
            Under("ureq"),
            Under("hyper"),
            Under("tokio::net"),
            Under("tiny_http"),
            Under("axum"),
            Under("tonic"),
            Under("arrow_flight"),
            Under("socket2"),
            Under("rustix::net"),
        ],
        // Of the rule above.
        except: &["std::net::TcpListener"],
    },
    Rule {
        name: "source in sight",
        why: "modules are found by their name, so that a reader and this test see all code",
        place: Place::OutsideOf(&[]),
        in_tests: true,
        subjects: &[Detour],
        except: &[],
    },
];

/// Holds the modules and their references to each other against the layer table.
pub fn check_layers(table: &LayerTable, facts: &Facts, resolver: &Resolver) -> Vec<Violation> {
    const RULE: &str = "layer table";
    let top_level: BTreeSet<&str> = facts
        .modules
        .iter()
        .filter_map(|module| module.get(1))
        .map(String::as_str)
        .collect();
    let mut violations = Vec::new();
    for module in &top_level {
        if *module != "main" && !table.rows.contains_key(*module) {
            violations.push(Violation::new(
                "src/lib.rs",
                1,
                RULE,
                &format!("module `{module}` has no row in the layer table"),
            ));
        }
    }
    for name in table.rows.keys() {
        if !top_level.contains(name.as_str()) {
            violations.push(Violation::new(
                "src/lib.rs",
                1,
                RULE,
                &format!("the layer table has a row for `{name}`, which is no module"),
            ));
        }
    }
    for mention in &facts.mentions {
        // The root only declares the modules.
        let Some(module) = mention.module.get(1) else {
            continue;
        };
        for reached in resolver
            .reach(mention)
            .iter()
            .filter(|reached| reached.direct)
        {
            let [root, target, ..] = &reached.path[..] else {
                continue;
            };
            if root == "crate"
                && top_level.contains(target.as_str())
                && !table.allows(module, target)
            {
                let message = format!(
                    "`{module}` may not use `{target}`, but names `{}`",
                    reached.path.join("::")
                );
                violations.push(Violation::new(&mention.file, mention.line, RULE, &message));
            }
        }
    }
    violations
}

/// Holds everything that was named against [`RULES`].
pub fn check_invariants(facts: &Facts, resolver: &Resolver) -> Vec<Violation> {
    let mut violations = Vec::new();
    for mention in &facts.mentions {
        let module = mention.module.get(1).map_or("the root", String::as_str);
        let paths: Vec<Segments> = resolver
            .reach(mention)
            .into_iter()
            .map(|reached| reached.path)
            .collect();
        for rule in RULES {
            let forbidden = match rule.place {
                Place::OutsideOf(allowed) => !allowed.contains(&module),
                Place::Within(modules) => modules.contains(&module),
            };
            if !forbidden || (mention.test && !rule.in_tests) {
                continue;
            }
            if let Some(what) = rule
                .subjects
                .iter()
                .find_map(|subject| subject.found(mention, &paths, rule.except))
            {
                let message = format!("`{module}` has `{what}`: {}", rule.why);
                violations.push(Violation::new(
                    &mention.file,
                    mention.line,
                    rule.name,
                    &message,
                ));
            }
        }
    }
    violations
}

impl Subject {
    /// Returns what was found, if the mention is of this subject.
    fn found(&self, mention: &Mention, paths: &[Segments], except: &[&str]) -> Option<String> {
        let written = || mention.segments.join("::");
        let last = mention.segments.last().map_or("", String::as_str);
        let is_path = matches!(mention.kind, Kind::Path | Kind::Macro);
        let find = |matches: &dyn Fn(&Segments) -> bool| {
            let excepted = |path: &Segments| except.iter().any(|start| is_under(path, start));
            paths
                .iter()
                .find(|path| is_path && matches(path) && !excepted(path))
                .map(|path| path.join("::"))
        };
        match self {
            Self::Under(start) => find(&|path| is_under(path, start)),
            Self::Family(name) => find(&|path| {
                let first = path.first().map_or("", String::as_str);
                first == *name
                    || first
                        .strip_prefix(name)
                        .is_some_and(|rest| rest.starts_with('_'))
            }),
            Self::Ends(root, tail) => {
                let tail: Vec<&str> = tail.split("::").collect();
                find(&|path| {
                    // The subject may be followed by more (`HashMap::new`), so the tail may stand anywhere after the crate's name.
                    path.first().is_some_and(|first| first == root)
                        && path
                            .windows(tail.len())
                            .any(|part| part.iter().eq(tail.iter()))
                })
            }
            // A lone name is a variable.
            Self::Word(start) => {
                let called = matches!(mention.kind, Kind::Method { .. })
                    || (is_path && mention.segments.len() > 1);
                (called && last.starts_with(start)).then(|| last.to_owned())
            }
            Self::Question(name) => (mention.kind == Kind::Method { arguments: false }
                && last == *name)
                .then(|| format!(".{name}()")),
            Self::Macro(name) => {
                let found = find(&|path| {
                    path.last().is_some_and(|last| last == name)
                        && (path.len() == 1 || path[0] == "std")
                });
                found
                    .filter(|_| mention.kind == Kind::Macro)
                    .map(|_| format!("{name}!"))
            }
            Self::Column => {
                (mention.kind == Kind::Column).then(|| format!("col(\"{}\")", written()))
            }
            Self::Query => (mention.kind == Kind::Query).then(written),
            Self::Detour => (mention.kind == Kind::Detour).then(written),
        }
    }
}

fn is_under(path: &Segments, start: &str) -> bool {
    let mut parts = path.iter();
    start
        .split("::")
        .all(|part| parts.next().is_some_and(|segment| segment == part))
}
