//! Python projects: how to test, start and lint them.

use std::collections::BTreeSet;

use regex::Regex;
use toml_edit::{Document, Item, TableLike};

use super::folder::{ListedFolder, format_names, has_extension, is_aside, shown_folder};
use super::part::{DetectionResult, ProjectPart, outer_part};
use crate::Readiness;
use crate::Stack;
use crate::listing::{file_name_of, is_requirements, parent_of};
use crate::shell::quote_path;

const PYTHON_MANIFESTS: [&str; 6] = [
    "pyproject.toml",
    "setup.py",
    "setup.cfg",
    "Pipfile",
    "tox.ini",
    "pytest.ini",
];
/// Time in seconds after which a silent program that has not ended counts as up.
const ALIVE_SECONDS: u64 = 10;
const SERVER_SECONDS: u64 = 30;
const SERVER_PACKAGES: [&str; 8] = [
    "aiohttp",
    "bottle",
    "fastapi",
    "flask",
    "sanic",
    "starlette",
    "tornado",
    "uvicorn",
];
const SERVER_LINE: &str = r"(?i)running on|application startup complete|starting development server|you can now view|serving at|listening";

pub(super) fn find_part(folder: &ListedFolder, parts: &[ProjectPart]) -> DetectionResult {
    let manifests: Vec<&str> = PYTHON_MANIFESTS
        .into_iter()
        .filter(|name| folder.has_file(name))
        .chain(requirements_files(folder))
        .collect();
    if manifests.is_empty() {
        return DetectionResult::Nothing;
    }
    let place = shown_folder(folder.path);
    let project = PythonProject::from_folder(folder);
    let first = source_files(folder).next();
    let describes =
        project.is_described || folder.has_file("setup.py") || folder.has_file("Pipfile");
    if first.is_none() && !describes {
        return DetectionResult::Note(format!(
            "{} in {place}, but no Python file",
            format_names(manifests.into_iter())
        ));
    }
    if let Some(outer) = outer_part(parts, folder.path, &[Stack::Python])
        && outer.primary_test.is_some()
    {
        return DetectionResult::Note(format!(
            "the tests in {place} belong to those in {}",
            shown_folder(&outer.folder)
        ));
    }
    let mut part = ProjectPart::new(folder.path, Stack::Python);
    part.add_reason(format_names(manifests.into_iter()));
    part.reasons.extend(project.broken.clone());
    fill_commands(&mut part, folder, &project);
    DetectionResult::Part(Box::new(part))
}

/// Detects a part from Python files without a manifest.
pub(super) fn detect_bare(folder: &ListedFolder) -> Option<ProjectPart> {
    let first = source_files(folder).next()?;
    let mut part = ProjectPart::new(folder.path, Stack::Python);
    part.add_reason(format!(
        "Python files such as {}, without a manifest",
        format_names([first].into_iter())
    ));
    fill_commands(&mut part, folder, &PythonProject::from_folder(folder));
    Some(part)
}

/// Says whether pytest would collect the file as a test file.
pub(crate) fn is_test_file(path: &str) -> bool {
    let name = file_name_of(path);
    has_extension(name, &["py"]) && (name.starts_with("test_") || name.ends_with("_test.py"))
}

/// The content of a project's manifests.
struct PythonProject {
    dependencies: BTreeSet<String>,
    pyproject: Option<Document<String>>,
    /// Why the project uses pytest; `None` if it does not.
    pytest: Option<String>,
    /// Whether the manifest describes a project, not only settings of tools.
    is_described: bool,
    broken: Option<String>,
}

impl PythonProject {
    fn from_folder(folder: &ListedFolder) -> Self {
        let (pyproject, broken) = match folder
            .file_text("pyproject.toml")
            .map(|text| Document::parse(text.to_owned()))
        {
            Some(Ok(document)) => (Some(document), None),
            Some(Err(_)) => (
                None,
                Some("`pyproject.toml` is broken: it cannot be read as TOML".to_owned()),
            ),
            None => (None, None),
        };
        let tool = |name: &str| pyproject.as_ref()?.get("tool")?.get(name);
        let mut dependencies = list_dependencies(folder);
        dependencies.extend(
            pyproject
                .as_ref()
                .map(pyproject_dependencies)
                .unwrap_or_default(),
        );
        let is_described = pyproject.as_ref().is_some_and(|document| {
            document.get("project").is_some() || document.get("build-system").is_some()
        }) || tool("poetry").is_some();
        let section = |file: &str, section: &str| {
            folder.file_text(file).is_some_and(|text| {
                text.lines()
                    .any(|line| line.trim_end() == format!("[{section}]"))
            })
        };
        let pytest = if tool("pytest").is_some() {
            Some("`pyproject.toml` configures pytest".to_owned())
        } else if folder.has_file("pytest.ini") {
            Some("`pytest.ini`".to_owned())
        } else if section("tox.ini", "pytest") || section("setup.cfg", "tool:pytest") {
            Some("`tox.ini` or `setup.cfg` configures pytest".to_owned())
        } else if let Some(name) = dependencies
            .iter()
            .find(|name| *name == "pytest" || name.starts_with("pytest-"))
        {
            Some(format!("depends on {name}"))
        } else {
            source_files(folder)
                .find(|file| file_name_of(file) == "conftest.py")
                .map(|file| format!("`{file}`"))
        };
        Self {
            dependencies,
            pyproject,
            pytest,
            is_described,
            broken,
        }
    }

    fn has_tool(&self, name: &str) -> bool {
        self.pyproject
            .as_ref()
            .and_then(|document| document.get("tool")?.get(name))
            .is_some()
    }

    fn depends_on(&self, name: &str) -> bool {
        self.dependencies.contains(name)
    }
}

fn fill_commands(part: &mut ProjectPart, folder: &ListedFolder, project: &PythonProject) {
    let tests: Vec<&str> = folder
        .list_files()
        .filter(|file| is_test_file(file) && !file.contains("fixtures/"))
        .collect();
    let has_sources = source_files(folder).next().is_some();
    let why = match (&project.pytest, tests.first()) {
        (Some(why), _) => Some(why.clone()),
        (None, Some(_)) => Some(format!(
            "tests are there: {}",
            format_names(tests.iter().copied())
        )),
        (None, None) if folder.has_file("pyproject.toml") && has_sources => Some(
            "no tests seen; pytest is what a `pyproject.toml` project is tested with".to_owned(),
        ),
        (None, None) => None,
    };
    if let Some(why) = why {
        part.add_reason(why);
        part.primary_test = Some(if needs_root_on_path(folder, project, &tests) {
            part.add_reason(
                "started as a module, so that tests in a folder find the modules at the root",
            );
            "python -m pytest".to_owned()
        } else {
            "pytest".to_owned()
        });
    }
    add_smoke_test(part, folder, project);
    part.lint = lint_command(folder, project);
    part.syntax_check =
        has_sources.then(|| "python -m compileall -q -x '(venv|node_modules)/' .".to_owned());
}

fn add_smoke_test(part: &mut ProjectPart, folder: &ListedFolder, project: &PythonProject) {
    if folder.has_file("manage.py") {
        part.smoke_test = Some("python manage.py check".to_owned());
        part.add_reason("`manage.py` is Django's");
        return;
    }
    let main = [
        "app.py",
        "main.py",
        "__main__.py",
        "src/app.py",
        "src/main.py",
    ]
    .into_iter()
    .find(|file| folder.has_file(file));
    let package = folder
        .list_files()
        .filter(|file| file_name_of(file) == "__main__.py" && !is_aside(parent_of(file)))
        .map(parent_of)
        .next();
    let (command, file) = match (main, package) {
        (Some(file), _) => (format!("python {file}"), file),
        (None, Some(package)) => {
            let (source, package) = package
                .strip_prefix("src/")
                .map_or(("", package), |package| ("src", package));
            let Some(module) = quote_path(&package.replace('/', ".")) else {
                return;
            };
            (
                if source.is_empty() {
                    format!("python -m {module}")
                } else {
                    format!("PYTHONPATH=src python -m {module}")
                },
                "__main__.py",
            )
        }
        (None, None) => return,
    };
    part.add_reason(format!("`{file}` starts it"));
    part.smoke_test = Some(command);
    // A module that only defines its application ends at once, which shows that it was read without an error.
    part.server = Some(
        match SERVER_PACKAGES.iter().find(|name| project.depends_on(name)) {
            Some(_) => Readiness {
                line: Some(SERVER_LINE.to_owned()),
                seconds: SERVER_SECONDS,
                may_end: true,
            },
            None => Readiness {
                line: None,
                seconds: ALIVE_SECONDS,
                may_end: true,
            },
        },
    );
}

fn lint_command(folder: &ListedFolder, project: &PythonProject) -> Option<String> {
    if project.has_tool("ruff")
        || project.depends_on("ruff")
        || folder
            .first_existing(&["ruff.toml", ".ruff.toml"])
            .is_some()
    {
        return Some("ruff check .".to_owned());
    }
    if folder.has_file(".flake8") || project.depends_on("flake8") {
        return Some("flake8".to_owned());
    }
    (project.has_tool("mypy") || project.depends_on("mypy") || folder.has_file("mypy.ini"))
        .then(|| "mypy .".to_owned())
}

/// Says whether tests would not find the modules at the root: pytest adds a test's own folder to the import path, not the root.
fn needs_root_on_path(folder: &ListedFolder, project: &PythonProject, tests: &[&str]) -> bool {
    let has_modules = folder
        .file_names()
        .any(|name| has_extension(name, &["py"]) && !["setup.py", "conftest.py"].contains(&name))
        || folder.list_files().any(|file| {
            file.ends_with("/__init__.py")
                && file.matches('/').count() == 1
                && !file.starts_with("test")
        });
    let is_set = project.pyproject.as_ref().is_some_and(|document| {
        let options = document
            .get("tool")
            .and_then(|tool| tool.get("pytest"))
            .and_then(|pytest| pytest.get("ini_options"));
        options.is_some_and(|options| options.get("pythonpath").is_some())
    });
    let is_outside = |test: &&str| {
        !parent_of(test).is_empty() && !folder.has_file(&format!("{}/__init__.py", parent_of(test)))
    };
    has_modules && !folder.has_file("conftest.py") && !is_set && tests.iter().any(is_outside)
}

fn source_files<'l>(folder: &ListedFolder<'l>) -> impl Iterator<Item = &'l str> + use<'l> {
    folder
        .list_files()
        .filter(|file| has_extension(file, &["py"]))
}

fn requirements_files<'l>(folder: &ListedFolder<'l>) -> impl Iterator<Item = &'l str> + use<'l> {
    folder.list_files().filter(|file| {
        is_requirements(file) && (!file.contains('/') || parent_of(file) == "requirements")
    })
}

/// Returns the names of dependencies outside `pyproject.toml`: in requirements files, `setup.cfg`, `setup.py` and `Pipfile`.
fn list_dependencies(folder: &ListedFolder) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for file in requirements_files(folder) {
        found.extend(
            folder
                .file_text(file)
                .unwrap_or_default()
                .lines()
                .filter_map(package_name),
        );
    }
    found.extend(
        folder
            .file_text("setup.cfg")
            .unwrap_or_default()
            .lines()
            .filter(|line| line.starts_with([' ', '\t']))
            .filter_map(package_name),
    );
    if let Some(text) = folder.file_text("setup.py")
        && let Ok(quoted) = Regex::new(r#"["']([A-Za-z0-9][A-Za-z0-9._-]*)[^"'\n]{0,60}["']"#)
    {
        found.extend(
            quoted
                .captures_iter(text)
                .filter_map(|captures| package_name(captures.get(1)?.as_str())),
        );
    }
    if let Some(pipfile) = folder
        .file_text("Pipfile")
        .and_then(|text| Document::parse(text).ok())
    {
        for table in ["packages", "dev-packages"] {
            found.extend(table_packages(pipfile.get(table)));
        }
    }
    found
}

fn pyproject_dependencies(document: &Document<String>) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let project = document.get("project");
    found.extend(array_packages(
        project.and_then(|project| project.get("dependencies")),
    ));
    let tool = |name: &str| document.get("tool").and_then(|tool| tool.get(name));
    let groups = [
        project.and_then(|project| project.get("optional-dependencies")),
        document.get("dependency-groups"),
        tool("pdm").and_then(|pdm| pdm.get("dev-dependencies")),
    ];
    for group in groups.into_iter().flatten().filter_map(Item::as_table_like) {
        found.extend(
            group
                .iter()
                .flat_map(|(_, item)| array_packages(Some(item))),
        );
    }
    found.extend(array_packages(
        tool("uv").and_then(|uv| uv.get("dev-dependencies")),
    ));
    if let Some(poetry) = tool("poetry") {
        found.extend(table_packages(poetry.get("dependencies")));
        found.extend(table_packages(poetry.get("dev-dependencies")));
        let groups = poetry.get("group").and_then(Item::as_table_like);
        found.extend(
            groups
                .into_iter()
                .flat_map(TableLike::iter)
                .flat_map(|(_, group)| table_packages(group.get("dependencies"))),
        );
    }
    found
}

fn array_packages(item: Option<&Item>) -> Vec<String> {
    let array = item.and_then(Item::as_array);
    array
        .into_iter()
        .flatten()
        .filter_map(|value| package_name(value.as_str()?))
        .collect()
}

fn table_packages(item: Option<&Item>) -> Vec<String> {
    let table = item.and_then(Item::as_table_like);
    table
        .into_iter()
        .flat_map(TableLike::iter)
        .filter_map(|(key, _)| package_name(key))
        .collect()
}

/// Returns the package name at the start of a requirement such as `Flask[async] >= 2 ; python_version > "3"`, in PyPI's normal form.
fn package_name(requirement: &str) -> Option<String> {
    let requirement = requirement.trim_start();
    let end = requirement
        .find(|character: char| !(character.is_ascii_alphanumeric() || "._-".contains(character)))
        .unwrap_or(requirement.len());
    let name = requirement[..end].to_lowercase().replace(['_', '.'], "-");
    name.starts_with(|character: char| character.is_ascii_alphanumeric())
        .then_some(name)
}
