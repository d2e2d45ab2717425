//! Builds commands that run only the tests of some files.

use std::collections::{BTreeMap, BTreeSet};

use super::detect::{
    NodeTestRunner, ProjectPart, build_program, find_package, find_runner, has_extension,
    is_python_test,
};
use super::listing::{file_name_of, join_path, parent_of, path_below};
use super::shell::{quote_path, quote_paths};
use super::{Listing, Stack};

/// Maximum number of files. For more files, running the whole suite is simpler than listing them.
const MAX_FILES: usize = 50;

/// A command that runs the tests of some files, and a description of those tests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TargetedTests {
    pub command: String,
    pub what: String,
}

/// Returns the command that runs the tests of the files, given by paths relative to the root. `None` if their tests cannot be run
/// separately.
pub(super) fn targeted_command(
    part: &ProjectPart,
    listing: &Listing,
    subjects: &[String],
) -> Option<TargetedTests> {
    let files: Vec<&str> = subjects
        .iter()
        .filter_map(|file| path_below(&part.folder, file))
        .collect();
    if files.is_empty() || files.len() > MAX_FILES {
        return None;
    }
    let here = PartFiles {
        part,
        listing,
        files,
    };
    match part.stack {
        Stack::Python => here.python_command(),
        Stack::Rust => here.rust_command(),
        Stack::Go => here.go_command(),
        Stack::Node | Stack::ViteFrontend => here.node_command(),
        Stack::Java => here.java_command(),
        Stack::Swift | Stack::Dotnet | Stack::Php | Stack::Ruby | Stack::Mixed | Stack::Unknown => {
            None
        }
    }
}

struct PartFiles<'a> {
    part: &'a ProjectPart,
    listing: &'a Listing,
    /// Paths relative to the part's folder.
    files: Vec<&'a str>,
}

impl PartFiles<'_> {
    /// Returns the files of the part whose name is one of `names`.
    fn files_named(&self, names: &BTreeSet<String>) -> BTreeSet<String> {
        let inside = self
            .listing
            .files
            .iter()
            .filter_map(|file| path_below(&self.part.folder, file));
        inside
            .filter(|file| names.contains(file_name_of(file)))
            .map(str::to_owned)
            .collect()
    }

    fn python_command(&self) -> Option<TargetedTests> {
        let base = self
            .part
            .primary_test
            .as_deref()
            .filter(|line| ["pytest", "python -m pytest"].contains(line))?;
        if self
            .files
            .iter()
            .any(|file| file_name_of(file) == "conftest.py")
        {
            return None;
        }
        let sources = self
            .files
            .iter()
            .filter(|file| has_extension(file, &["py"]) && !is_python_test(file));
        let modules = sources.map(|file| match file_name_of(file) {
            "__init__.py" | "__main__.py" => file_name_of(parent_of(file)),
            name => name.trim_end_matches(".py"),
        });
        let names = modules
            .filter(|module| !module.is_empty())
            .flat_map(|module| [format!("test_{module}.py"), format!("{module}_test.py")]);
        let mut tests = self.files_named(&names.collect());
        tests.extend(
            self.files
                .iter()
                .filter(|file| is_python_test(file))
                .map(|file| (*file).to_owned()),
        );
        append_files(base, &tests)
    }

    fn rust_command(&self) -> Option<TargetedTests> {
        let mut lines: BTreeMap<String, (BTreeSet<String>, BTreeSet<String>)> = BTreeMap::new();
        let mut what = BTreeSet::new();
        for file in self
            .files
            .iter()
            .filter(|file| has_extension(file, &["rs"]))
        {
            let path = join_path(&self.part.folder, file);
            let (package, folder) = find_package(self.listing, &path)?;
            let inner = path_below(&folder, &path)?;
            let of_package = if folder == self.part.folder {
                String::new()
            } else {
                format!(" -p {}", quote_path(&package)?)
            };
            let (targets, filters) = lines.entry(of_package).or_default();
            if let Some(test) = inner.strip_prefix("tests/") {
                // `tests/name.rs` and `tests/name/main.rs` are test binaries. Any other file below `tests/name/` belongs to that binary.
                let target = test
                    .split('/')
                    .next()
                    .unwrap_or(test)
                    .trim_end_matches(".rs");
                if !is_identifier(target) || target == "common" {
                    return None;
                }
                targets.insert(target.to_owned());
                what.insert(format!("test binary {target}"));
            } else {
                let module = module_path(inner.strip_prefix("src/")?)?;
                what.insert(format!("module {module}"));
                filters.insert(module);
            }
        }
        let list = |names: BTreeSet<String>| names.into_iter().collect::<Vec<_>>();
        let mut commands = Vec::new();
        for (package, (targets, filters)) in lines {
            if !targets.is_empty() {
                commands.push(format!(
                    "cargo test{package} --test {}",
                    list(targets).join(" --test ")
                ));
            }
            if !filters.is_empty() {
                commands.push(format!(
                    "cargo test{package} -- {}",
                    list(filters).join(" ")
                ));
            }
        }
        (!commands.is_empty()).then(|| TargetedTests {
            command: commands.join(" && "),
            what: list(what).join(", "),
        })
    }

    fn go_command(&self) -> Option<TargetedTests> {
        let sources = self
            .files
            .iter()
            .filter(|file| has_extension(file, &["go"]));
        let folders: BTreeSet<&str> = sources.map(|file| parent_of(file)).collect();
        // The root package is `.`. Other packages get `./` to distinguish them from those of the standard library.
        let packages: Vec<String> = folders
            .iter()
            .map(|folder| {
                if folder.is_empty() {
                    ".".to_owned()
                } else {
                    format!("./{folder}")
                }
            })
            .collect();
        let list = quote_paths(packages.iter().map(String::as_str));
        (!list.is_empty()).then(|| TargetedTests {
            command: format!("go test {list}"),
            what: packages.join(", "),
        })
    }

    fn node_command(&self) -> Option<TargetedTests> {
        const SOURCE_ENDINGS: [&str; 8] = ["js", "mjs", "cjs", "jsx", "ts", "tsx", "mts", "vue"];
        let sources: BTreeSet<String> = self
            .files
            .iter()
            .filter(|file| has_extension(file, &SOURCE_ENDINGS))
            .map(|file| (*file).to_owned())
            .collect();
        if sources.is_empty() {
            return None;
        }
        let (runner, manager) = find_runner(self.listing, &self.part.folder);
        match runner? {
            NodeTestRunner::Vitest => {
                append_files(&manager.exec_command("vitest related --run"), &sources)
            }
            NodeTestRunner::Jest => {
                append_files(&manager.exec_command("jest --findRelatedTests"), &sources)
            }
            NodeTestRunner::Node => append_files("node --test", &self.node_tests(&sources)),
            NodeTestRunner::Bun => append_files("bun test", &self.node_tests(&sources)),
        }
    }

    fn node_tests(&self, sources: &BTreeSet<String>) -> BTreeSet<String> {
        let is_test = |file: &str| {
            file_name_of(file).contains(".test.")
                || file_name_of(file).contains(".spec.")
                || file.starts_with("test/")
        };
        let split = |file: &str| {
            file_name_of(file)
                .rsplit_once('.')
                .map(|(stem, ending)| (stem.to_owned(), ending.to_owned()))
        };
        let names = sources
            .iter()
            .filter(|file| !is_test(file))
            .filter_map(|file| split(file));
        let names = names
            .flat_map(|(stem, ending)| {
                [
                    format!("{stem}.test.{ending}"),
                    format!("{stem}.spec.{ending}"),
                ]
            })
            .collect();
        let mut tests = self.files_named(&names);
        tests.extend(sources.iter().filter(|file| is_test(file)).cloned());
        tests
    }

    fn java_command(&self) -> Option<TargetedTests> {
        let program = build_program(self.part)?;
        let stems = self
            .files
            .iter()
            .filter(|file| has_extension(file, &["java", "kt"]))
            .filter_map(|file| file_name_of(file).rsplit_once('.'));
        let names = stems.flat_map(|(stem, ending)| {
            let is_test = stem.ends_with("Test") || stem.ends_with("Tests");
            if is_test {
                vec![format!("{stem}.{ending}")]
            } else {
                vec![
                    format!("{stem}Test.{ending}"),
                    format!("{stem}Tests.{ending}"),
                ]
            }
        });
        let tests = self.files_named(&names.collect());
        let classes: BTreeSet<&str> = tests
            .iter()
            .filter_map(|file| file_name_of(file).rsplit_once('.'))
            .map(|(stem, _)| stem)
            .collect();
        if classes.is_empty() || !classes.iter().all(|class| is_identifier(class)) {
            return None;
        }
        let classes: Vec<&str> = classes.into_iter().collect();
        let command = if program.contains("mvn") {
            format!("{program} test -Dtest={}", classes.join(","))
        } else {
            format!("{program} test --tests {}", classes.join(" --tests "))
        };
        Some(TargetedTests {
            command,
            what: classes.join(", "),
        })
    }
}

fn append_files(base: &str, files: &BTreeSet<String>) -> Option<TargetedTests> {
    let list = quote_paths(files.iter().map(String::as_str));
    (!list.is_empty()).then(|| TargetedTests {
        command: format!("{base} {list}"),
        what: files.iter().cloned().collect::<Vec<_>>().join(", "),
    })
}

/// Returns the path of a module, given its file relative to `src`. `None` for a crate's root, because its tests are all tests.
fn module_path(file: &str) -> Option<String> {
    let path = file.strip_suffix(".rs")?;
    let path = path.strip_suffix("/mod").unwrap_or(path);
    let parts: Vec<&str> = path.split('/').collect();
    let is_root = ["lib", "main", "mod"].contains(&path) || parts[0] == "bin";
    (!is_root && parts.iter().all(|part| is_identifier(part)))
        .then(|| format!("{}::", parts.join("::")))
}

fn is_identifier(text: &str) -> bool {
    !text.is_empty()
        && !text.starts_with('-')
        && text
            .chars()
            .all(|character| character.is_alphanumeric() || "_-".contains(character))
}
