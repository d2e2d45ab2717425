//! Node packages and Vite frontends.

use super::folder::{ListedFolder, format_names, has_extension, shown_folder};
use super::package::{NodePackage, PackageManager};
use super::part::{DetectionResult, ProjectPart, outer_part};
use crate::Readiness;
use crate::shell::quote_path;
use crate::{Listing, Stack};

/// Matches output of a server that is up. A start script that ends by itself need not print it.
const SERVER_LINE: &str = r"(?i)\b(listening|ready|started)\b|running (at|on)|https?://(localhost|127\.0\.0\.1|0\.0\.0\.0|\[::1?\])";
const VITE_LINE: &str = r"(?i)\bready in\b|local:\s+https?://";
const SERVER_SECONDS: u64 = 30;
const MAX_ENTRIES: usize = 5;

pub(super) fn find_part(folder: &ListedFolder, parts: &[ProjectPart]) -> DetectionResult {
    if !folder.has_file("package.json") {
        return DetectionResult::Nothing;
    }
    let place = shown_folder(folder.path);
    let has_company = parts.iter().any(|part| part.folder == folder.path);
    let package = match NodePackage::parse(folder.file_text("package.json").unwrap_or_default()) {
        Ok(package) => package,
        Err(error) => {
            let reason = format!("`package.json` in {place} is broken ({error})");
            if has_company {
                return DetectionResult::Note(reason);
            }
            let mut part = ProjectPart::new(folder.path, Stack::Node);
            part.add_reason(reason);
            // This command fails and prints the position of the syntax error.
            part.syntax_check = Some(
                "node -e \"JSON.parse(require('fs').readFileSync('package.json', 'utf8'))\""
                    .to_owned(),
            );
            return DetectionResult::Part(Box::new(part));
        }
    };
    if has_company && package.is_for_tools() {
        return DetectionResult::Note(format!(
            "`package.json` in {place} is there for tools alone"
        ));
    }
    if let Some(outer) = outer_part(parts, folder.path, &[Stack::Node, Stack::ViteFrontend])
        && covers_members(folder.listing, &outer.folder, outer)
    {
        return DetectionResult::Note(format!(
            "{place} is a workspace member that the scripts in {} cover",
            shown_folder(&outer.folder)
        ));
    }
    let part = build_part(folder, &package);
    let has_any = [
        &part.primary_test,
        &part.smoke_test,
        &part.build,
        &part.lint,
        &part.syntax_check,
    ]
    .into_iter()
    .any(Option::is_some);
    if !has_any
        && (package.has_workspaces || folder.has_file("pnpm-workspace.yaml"))
        && folder
            .list_files()
            .any(|file| file.ends_with("/package.json"))
    {
        return DetectionResult::Note(format!(
            "`package.json` in {place} only holds workspaces together"
        ));
    }
    DetectionResult::Part(Box::new(part))
}

/// Detects a package from JavaScript files without a manifest.
pub(super) fn detect_bare(folder: &ListedFolder) -> Option<ProjectPart> {
    let entry = folder
        .file_names()
        .find(|name| has_extension(name, &["js", "mjs", "cjs"]))?;
    let mut part = ProjectPart::new(folder.path, Stack::Node);
    part.add_reason(format!("`{entry}`, without a package.json"));
    part.syntax_check = syntax_command(folder, &[]);
    Some(part)
}

/// Test runner that can run a package's tests file by file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NodeTestRunner {
    Vitest,
    Jest,
    Node,
    Bun,
}

/// Returns the runner and the package manager of the package in `folder`. The runner is `None` if the tests cannot be run file by file.
pub(crate) fn find_runner(
    listing: &Listing,
    folder: &str,
) -> (Option<NodeTestRunner>, PackageManager) {
    let folder = ListedFolder {
        listing,
        path: folder,
    };
    let package = folder
        .file_text("package.json")
        .and_then(|text| NodePackage::parse(text).ok());
    let (manager, _) = PackageManager::from_folder(&folder, package.as_ref());
    let Some(package) = package else {
        return (None, manager);
    };
    let says = |program: &str| {
        package.script_line("test").is_some_and(|line| {
            line.split_whitespace()
                .any(|found| found.trim_start_matches("./node_modules/.bin/") == program)
        })
    };
    let runs_node = package
        .script_line("test")
        .is_none_or(|line| line.contains("node --test") || line.contains("node:test"));
    let runner = if says("vitest") || package.depends_on("vitest") {
        Some(NodeTestRunner::Vitest)
    } else if says("jest") || package.depends_on("jest") {
        Some(NodeTestRunner::Jest)
    } else if says("bun")
        || (manager == PackageManager::Bun && package.script_line("test").is_none())
    {
        Some(NodeTestRunner::Bun)
    } else {
        runs_node.then_some(NodeTestRunner::Node)
    };
    (runner, manager)
}

fn build_part(folder: &ListedFolder, package: &NodePackage) -> ProjectPart {
    let is_vite_known = package.depends_on("vite")
        || folder
            .file_names()
            .any(|name| name.starts_with("vite.config."));
    let has_page = folder.has_file("index.html");
    let serves = package.first_script(&["dev", "build", "start", "preview", "serve"]);
    let is_frontend = is_vite_known && (serves.is_some() || has_page);
    let mut part = ProjectPart::new(
        folder.path,
        if is_frontend {
            Stack::ViteFrontend
        } else {
            Stack::Node
        },
    );
    part.add_reason("`package.json`");
    let (manager, why) = PackageManager::from_folder(folder, Some(package));
    part.add_reason(why);
    if is_frontend {
        part.add_reason(match serves {
            Some(script) => format!("Vite with script `{script}`"),
            None => "Vite with `index.html`".to_owned(),
        });
    } else if is_vite_known {
        part.add_reason("Vite, but neither a dev or build script nor `index.html`: no frontend");
    }
    if package.scripts.is_empty() {
        part.add_reason("no scripts");
    }
    part.primary_test = test_command(folder, package, manager, &mut part.reasons);
    add_smoke_test(&mut part, package, manager, is_frontend);
    part.build = match package.script_line("build") {
        Some(_) => Some(manager.run_command("build")),
        None => is_frontend.then(|| manager.exec_command("vite build")),
    };
    part.lint = lint_command(folder, package, manager);
    part.syntax_check = match package.first_script(&[
        "typecheck",
        "type-check",
        "check-types",
        "check:types",
        "tsc",
    ]) {
        Some(script) => Some(manager.run_command(script)),
        None if package.depends_on("typescript") && folder.has_file("tsconfig.json") => {
            Some(manager.exec_command("tsc --noEmit"))
        }
        None if is_frontend => None,
        None => syntax_command(folder, &package.entries),
    };
    part
}

fn test_command(
    folder: &ListedFolder,
    package: &NodePackage,
    manager: PackageManager,
    reasons: &mut Vec<String>,
) -> Option<String> {
    for name in ["test", "test:unit", "unit", "tests"] {
        let Some(line) = package.script_line(name) else {
            continue;
        };
        if line.contains("no test specified") {
            reasons.push(format!("script `{name}` is npm's placeholder"));
            continue;
        }
        reasons.push(format!("script `{name}`"));
        let watches = line
            .split_whitespace()
            .any(|word| matches!(word, "--watch" | "--watchAll" | "watch"));
        let is_react_scripts = line.split_whitespace().any(|word| word == "react-scripts");
        return Some(if watches || is_react_scripts {
            reasons.push(format!(
                "script `{name}` would wait for changes, so it is told not to"
            ));
            format!(
                "CI=true {}",
                manager.run_command_with(
                    name,
                    if line.contains("--watchAll") {
                        "--watchAll=false"
                    } else {
                        "--watch=false"
                    }
                )
            )
        } else {
            manager.run_command(name)
        });
    }
    let is_test = |file: &&str| {
        let name = file.rsplit('/').next().unwrap_or(file);
        has_extension(name, &["js", "mjs", "cjs"])
            && (name.contains(".test.") || file.starts_with("test/"))
    };
    if package.depends_on("vitest") {
        reasons.push("depends on vitest, without a test script".to_owned());
        return Some(manager.exec_command("vitest run"));
    }
    if package.depends_on("jest") {
        reasons.push("depends on jest, without a test script".to_owned());
        return Some(manager.exec_command("jest"));
    }
    let first = folder.list_files().find(is_test)?;
    let by = if manager == PackageManager::Bun {
        "bun test"
    } else {
        "node --test"
    };
    reasons.push(format!(
        "tests such as {}, without a script or runner of their own",
        format_names([first].into_iter())
    ));
    Some(by.to_owned())
}

fn add_smoke_test(
    part: &mut ProjectPart,
    package: &NodePackage,
    manager: PackageManager,
    is_frontend: bool,
) {
    const FRAMEWORKS: [&str; 6] = ["@sveltejs/kit", "astro", "gatsby", "next", "nuxt", "vite"];
    let needs_build = FRAMEWORKS.iter().any(|name| package.depends_on(name));
    let candidates: &[&str] = if is_frontend || needs_build {
        &["dev", "start", "serve", "preview"]
    } else {
        &["start", "dev", "serve"]
    };
    if let Some(script) = package.first_script(&["smoke", "smoke-test", "smoke:test", "test:smoke"])
    {
        part.smoke_test = Some(manager.run_command(script));
        part.add_reason(format!("script `{script}`"));
    } else if let Some(script) = package.first_script(candidates) {
        part.smoke_test = Some(manager.run_command(script));
        part.add_reason(format!("script `{script}` starts it"));
        part.server = Some(server_readiness(is_frontend, is_frontend || needs_build));
    } else if is_frontend {
        part.smoke_test = Some(manager.exec_command("vite"));
        part.server = Some(server_readiness(true, true));
    }
}

fn server_readiness(is_vite: bool, is_dev_server: bool) -> Readiness {
    // A frontend's dev server may be any server that embeds Vite, so the general pattern counts too.
    let line = if is_vite {
        format!("{VITE_LINE}|{SERVER_LINE}")
    } else {
        SERVER_LINE.to_owned()
    };
    Readiness {
        line: Some(line),
        seconds: SERVER_SECONDS,
        may_end: !is_dev_server,
    }
}

fn lint_command(
    folder: &ListedFolder,
    package: &NodePackage,
    manager: PackageManager,
) -> Option<String> {
    if let Some(script) = package.first_script(&["lint", "lint:check", "eslint"]) {
        return Some(manager.run_command(script));
    }
    let is_configured = folder.file_names().any(|name| {
        name.starts_with("eslint.config.") || name == ".eslintrc" || name.starts_with(".eslintrc.")
    });
    if package.depends_on("eslint") && is_configured {
        return Some(manager.exec_command("eslint ."));
    }
    (package.depends_on("@biomejs/biome")
        && folder
            .first_existing(&["biome.json", "biome.jsonc"])
            .is_some())
    .then(|| manager.exec_command("biome check"))
}

/// Builds the syntax check. `node --check` reads one file at a time, so each entry gets a command of its own.
fn syntax_command(folder: &ListedFolder, entries: &[String]) -> Option<String> {
    const USUAL_ENTRIES: [&str; 6] = [
        "index.js",
        "server.js",
        "app.js",
        "main.js",
        "src/index.js",
        "src/main.js",
    ];
    let mut files: Vec<&str> = entries
        .iter()
        .map(String::as_str)
        .chain(USUAL_ENTRIES)
        .filter(|file| folder.has_file(file))
        .collect();
    files.extend(folder.file_names().filter(|name| {
        entries.is_empty()
            && has_extension(name, &["js", "mjs", "cjs"])
            && !name.contains(".config.")
    }));
    let mut seen = Vec::new();
    files.retain(|file| {
        let is_new = has_extension(file, &["js", "mjs", "cjs"]) && !seen.contains(file);
        seen.push(*file);
        is_new
    });
    let lines: Vec<String> = files
        .iter()
        .take(MAX_ENTRIES)
        .filter_map(|file| Some(format!("node --check {}", quote_path(file)?)))
        .collect();
    (!lines.is_empty()).then(|| lines.join(" && "))
}

/// Says whether the outer package is a workspace whose own scripts test or build its members.
fn covers_members(listing: &Listing, outer: &str, part: &ProjectPart) -> bool {
    let outer = ListedFolder {
        listing,
        path: outer,
    };
    let is_workspace = outer.has_file("pnpm-workspace.yaml")
        || outer.has_file("lerna.json")
        || outer
            .file_text("package.json")
            .and_then(|text| NodePackage::parse(text).ok())
            .is_some_and(|package| package.has_workspaces);
    is_workspace && (part.primary_test.is_some() || part.build.is_some())
}
