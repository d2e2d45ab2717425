//! Python projects: how to test, start and lint them.

use std::collections::BTreeSet;

use regex::Regex;
use toml_edit::{Document, Item, TableLike};

use super::folder::{Folder, has_extension, is_aside, names, shown_folder};
use super::part::{Found, Part, around};
use crate::verify::Readiness;
use crate::verify::Stack;
use crate::verify::listing::{folder_of, is_requirements, name_of};
use crate::verify::shell::word;

const MANIFESTS: [&str; 6] = [
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
const SERVERS: [&str; 8] = [
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

pub(super) fn find(folder: &Folder, parts: &[Part]) -> Found {
    let manifests: Vec<&str> = MANIFESTS
        .into_iter()
        .filter(|name| folder.has(name))
        .chain(requirements(folder))
        .collect();
    if manifests.is_empty() {
        return Found::Nothing;
    }
    let place = shown_folder(folder.path);
    let project = Project::read(folder);
    let first = sources(folder).next();
    let describes = project.is_described || folder.has("setup.py") || folder.has("Pipfile");
    if first.is_none() && !describes {
        return Found::Note(format!(
            "{} in {place}, but no Python file",
            names(manifests.into_iter())
        ));
    }
    if let Some(outer) = around(parts, folder.path, &[Stack::Python])
        && outer.primary_test.is_some()
    {
        return Found::Note(format!(
            "the tests in {place} belong to those in {}",
            shown_folder(&outer.folder)
        ));
    }
    let mut part = Part::new(folder.path, Stack::Python);
    part.because(names(manifests.into_iter()));
    part.reasons.extend(project.broken.clone());
    fill(&mut part, folder, &project);
    Found::Part(Box::new(part))
}

/// Detects a part from Python files without a manifest.
pub(super) fn bare(folder: &Folder) -> Option<Part> {
    let first = sources(folder).next()?;
    let mut part = Part::new(folder.path, Stack::Python);
    part.because(format!(
        "Python files such as {}, without a manifest",
        names([first].into_iter())
    ));
    fill(&mut part, folder, &Project::read(folder));
    Some(part)
}

/// Says whether pytest would collect the file as a test file.
pub(in crate::verify) fn is_test_file(path: &str) -> bool {
    let name = name_of(path);
    has_extension(name, &["py"]) && (name.starts_with("test_") || name.ends_with("_test.py"))
}

/// The content of a project's manifests.
struct Project {
    dependencies: BTreeSet<String>,
    pyproject: Option<Document<String>>,
    /// Why the project uses pytest; `None` if it does not.
    pytest: Option<String>,
    /// Whether the manifest describes a project, not only settings of tools.
    is_described: bool,
    broken: Option<String>,
}

impl Project {
    fn read(folder: &Folder) -> Self {
        let (pyproject, broken) = match folder
            .text("pyproject.toml")
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
        let mut dependencies = dependencies(folder);
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
            folder.text(file).is_some_and(|text| {
                text.lines()
                    .any(|line| line.trim_end() == format!("[{section}]"))
            })
        };
        let pytest = if tool("pytest").is_some() {
            Some("`pyproject.toml` configures pytest".to_owned())
        } else if folder.has("pytest.ini") {
            Some("`pytest.ini`".to_owned())
        } else if section("tox.ini", "pytest") || section("setup.cfg", "tool:pytest") {
            Some("`tox.ini` or `setup.cfg` configures pytest".to_owned())
        } else if let Some(name) = dependencies
            .iter()
            .find(|name| *name == "pytest" || name.starts_with("pytest-"))
        {
            Some(format!("depends on {name}"))
        } else {
            sources(folder)
                .find(|file| name_of(file) == "conftest.py")
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

fn fill(part: &mut Part, folder: &Folder, project: &Project) {
    let tests: Vec<&str> = folder
        .files()
        .filter(|file| is_test_file(file) && !file.contains("fixtures/"))
        .collect();
    let has_sources = sources(folder).next().is_some();
    let why = match (&project.pytest, tests.first()) {
        (Some(why), _) => Some(why.clone()),
        (None, Some(_)) => Some(format!("tests are there: {}", names(tests.iter().copied()))),
        (None, None) if folder.has("pyproject.toml") && has_sources => Some(
            "no tests seen; pytest is what a `pyproject.toml` project is tested with".to_owned(),
        ),
        (None, None) => None,
    };
    if let Some(why) = why {
        part.because(why);
        part.primary_test = Some(if needs_root_on_path(folder, project, &tests) {
            part.because(
                "started as a module, so that tests in a folder find the modules at the root",
            );
            "python -m pytest".to_owned()
        } else {
            "pytest".to_owned()
        });
    }
    smoke(part, folder, project);
    part.lint = lint(folder, project);
    part.syntax_check =
        has_sources.then(|| "python -m compileall -q -x '(venv|node_modules)/' .".to_owned());
}

fn smoke(part: &mut Part, folder: &Folder, project: &Project) {
    if folder.has("manage.py") {
        part.smoke_test = Some("python manage.py check".to_owned());
        part.because("`manage.py` is Django's");
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
    .find(|file| folder.has(file));
    let package = folder
        .files()
        .filter(|file| name_of(file) == "__main__.py" && !is_aside(folder_of(file)))
        .map(folder_of)
        .next();
    let (command, file) = match (main, package) {
        (Some(file), _) => (format!("python {file}"), file),
        (None, Some(package)) => {
            let (source, package) = package
                .strip_prefix("src/")
                .map_or(("", package), |package| ("src", package));
            let Some(module) = word(&package.replace('/', ".")) else {
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
    part.because(format!("`{file}` starts it"));
    part.smoke_test = Some(command);
    // A module that only defines its application ends at once, which shows that it was read without an error.
    part.server = Some(match SERVERS.iter().find(|name| project.depends_on(name)) {
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
    });
}

fn lint(folder: &Folder, project: &Project) -> Option<String> {
    if project.has_tool("ruff")
        || project.depends_on("ruff")
        || folder.first_of(&["ruff.toml", ".ruff.toml"]).is_some()
    {
        return Some("ruff check .".to_owned());
    }
    if folder.has(".flake8") || project.depends_on("flake8") {
        return Some("flake8".to_owned());
    }
    (project.has_tool("mypy") || project.depends_on("mypy") || folder.has("mypy.ini"))
        .then(|| "mypy .".to_owned())
}

/// Says whether tests would not find the modules at the root: pytest adds a test's own folder to the import path, not the root.
fn needs_root_on_path(folder: &Folder, project: &Project, tests: &[&str]) -> bool {
    let has_modules = folder
        .names()
        .any(|name| has_extension(name, &["py"]) && !["setup.py", "conftest.py"].contains(&name))
        || folder.files().any(|file| {
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
        !folder_of(test).is_empty() && !folder.has(&format!("{}/__init__.py", folder_of(test)))
    };
    has_modules && !folder.has("conftest.py") && !is_set && tests.iter().any(is_outside)
}

fn sources<'l>(folder: &Folder<'l>) -> impl Iterator<Item = &'l str> + use<'l> {
    folder.files().filter(|file| has_extension(file, &["py"]))
}

fn requirements<'l>(folder: &Folder<'l>) -> impl Iterator<Item = &'l str> + use<'l> {
    folder.files().filter(|file| {
        is_requirements(file) && (!file.contains('/') || folder_of(file) == "requirements")
    })
}

/// Returns the names of dependencies outside `pyproject.toml`: in requirements files, `setup.cfg`, `setup.py` and `Pipfile`.
fn dependencies(folder: &Folder) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for file in requirements(folder) {
        found.extend(
            folder
                .text(file)
                .unwrap_or_default()
                .lines()
                .filter_map(package_name),
        );
    }
    found.extend(
        folder
            .text("setup.cfg")
            .unwrap_or_default()
            .lines()
            .filter(|line| line.starts_with([' ', '\t']))
            .filter_map(package_name),
    );
    if let Some(text) = folder.text("setup.py")
        && let Ok(quoted) = Regex::new(r#"["']([A-Za-z0-9][A-Za-z0-9._-]*)[^"'\n]{0,60}["']"#)
    {
        found.extend(
            quoted
                .captures_iter(text)
                .filter_map(|captures| package_name(captures.get(1)?.as_str())),
        );
    }
    if let Some(pipfile) = folder
        .text("Pipfile")
        .and_then(|text| Document::parse(text).ok())
    {
        for table in ["packages", "dev-packages"] {
            found.extend(keys(pipfile.get(table)));
        }
    }
    found
}

fn pyproject_dependencies(document: &Document<String>) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let project = document.get("project");
    found.extend(listed(
        project.and_then(|project| project.get("dependencies")),
    ));
    let tool = |name: &str| document.get("tool").and_then(|tool| tool.get(name));
    let groups = [
        project.and_then(|project| project.get("optional-dependencies")),
        document.get("dependency-groups"),
        tool("pdm").and_then(|pdm| pdm.get("dev-dependencies")),
    ];
    for group in groups.into_iter().flatten().filter_map(Item::as_table_like) {
        found.extend(group.iter().flat_map(|(_, item)| listed(Some(item))));
    }
    found.extend(listed(tool("uv").and_then(|uv| uv.get("dev-dependencies"))));
    if let Some(poetry) = tool("poetry") {
        found.extend(keys(poetry.get("dependencies")));
        found.extend(keys(poetry.get("dev-dependencies")));
        let groups = poetry.get("group").and_then(Item::as_table_like);
        found.extend(
            groups
                .into_iter()
                .flat_map(TableLike::iter)
                .flat_map(|(_, group)| keys(group.get("dependencies"))),
        );
    }
    found
}

fn listed(item: Option<&Item>) -> Vec<String> {
    let array = item.and_then(Item::as_array);
    array
        .into_iter()
        .flatten()
        .filter_map(|value| package_name(value.as_str()?))
        .collect()
}

fn keys(item: Option<&Item>) -> Vec<String> {
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
