//! Reads `package.json` and finds the package manager.

use serde_json::{Map, Value};

use super::folder::ListedFolder;
use crate::listing::parent_of;

/// The relevant content of a `package.json`.
pub(super) struct NodePackage {
    pub scripts: Vec<(String, String)>,
    pub dependencies: Vec<String>,
    /// Files that start the package: `main` and `bin`.
    pub entries: Vec<String>,
    pub has_workspaces: bool,
    manager: Option<String>,
}

impl NodePackage {
    /// Reads a manifest. Values of an unexpected type count as absent; a text that is not a JSON object is an error.
    pub fn parse(text: &str) -> Result<Self, String> {
        let value: Value = serde_json::from_str(text)
            .map_err(|error| format!("line {}, column {}", error.line(), error.column()))?;
        let Value::Object(map) = value else {
            return Err("not an object".to_owned());
        };
        let object = |key: &str| map.get(key).and_then(Value::as_object);
        let scripts = object("scripts").into_iter().flatten();
        let dependencies = ["dependencies", "devDependencies", "optionalDependencies"]
            .into_iter()
            .filter_map(object);
        Ok(Self {
            scripts: scripts
                .filter_map(|(name, line)| Some((name.clone(), line.as_str()?.to_owned())))
                .collect(),
            dependencies: dependencies.flat_map(Map::keys).cloned().collect(),
            entries: entry_files(&map),
            has_workspaces: map.contains_key("workspaces"),
            manager: map
                .get("packageManager")
                .and_then(Value::as_str)
                .map(str::to_owned),
        })
    }

    pub fn script_line(&self, name: &str) -> Option<&str> {
        self.scripts
            .iter()
            .find(|(found, _)| found == name)
            .map(|(_, line)| line.as_str())
    }

    /// Returns the first of the names that is a script.
    pub fn first_script<'n>(&self, names: &[&'n str]) -> Option<&'n str> {
        names
            .iter()
            .copied()
            .find(|name| self.script_line(name).is_some())
    }

    pub fn depends_on(&self, name: &str) -> bool {
        self.dependencies
            .iter()
            .any(|dependency| dependency == name)
    }

    /// Says whether the package exists only to install tools for documentation, formatting or committing.
    pub fn is_for_tools(&self) -> bool {
        const TOOL_PACKAGES: [&str; 17] = [
            "@mermaid-js/mermaid-cli",
            "cspell",
            "docsify-cli",
            "gitbook-cli",
            "honkit",
            "husky",
            "jsdoc",
            "lint-staged",
            "markdown-link-check",
            "markdownlint-cli",
            "markdownlint-cli2",
            "prettier",
            "semantic-release",
            "textlint",
            "typedoc",
            "vitepress",
            "vuepress",
        ];
        const TOOL_FAMILIES: [&str; 6] = [
            "@commitlint/",
            "@docusaurus/",
            "@semantic-release/",
            "@vuepress/",
            "remark-",
            "textlint-",
        ];
        let is_tool = |name: &String| {
            TOOL_PACKAGES.contains(&name.as_str())
                || TOOL_FAMILIES.iter().any(|family| name.starts_with(family))
        };
        let runs_only_tools = !self.dependencies.is_empty() || self.scripts.is_empty();
        runs_only_tools
            && self.dependencies.iter().all(is_tool)
            && self.entries.is_empty()
            && !self.has_workspaces
    }
}

fn entry_files(map: &Map<String, Value>) -> Vec<String> {
    let main = map.get("main").into_iter();
    let bin = match map.get("bin") {
        Some(Value::Object(bin)) => bin.values().collect(),
        Some(one) => vec![one],
        None => Vec::new(),
    };
    let path = |value: &Value| Some(value.as_str()?.trim_start_matches("./").to_owned());
    main.chain(bin).filter_map(path).collect()
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PackageManager {
    Npm,
    Pnpm,
    Yarn,
    Bun,
}

impl PackageManager {
    /// Order of preference if there are several lock files. npm is last, because a stray `npm install` leaves a `package-lock.json` behind.
    pub const PREFERENCE_ORDER: [Self; 4] = [Self::Pnpm, Self::Yarn, Self::Bun, Self::Npm];

    pub fn name(self) -> &'static str {
        match self {
            Self::Npm => "npm",
            Self::Pnpm => "pnpm",
            Self::Yarn => "yarn",
            Self::Bun => "bun",
        }
    }

    fn lock_files(self) -> &'static [&'static str] {
        match self {
            Self::Npm => &["package-lock.json", "npm-shrinkwrap.json"],
            Self::Pnpm => &["pnpm-lock.yaml"],
            Self::Yarn => &["yarn.lock"],
            Self::Bun => &["bun.lock", "bun.lockb"],
        }
    }

    /// Returns the command that runs a script.
    pub fn run_command(self, script: &str) -> String {
        match (self, script) {
            (Self::Npm | Self::Pnpm | Self::Yarn, "test") => format!("{} test", self.name()),
            (Self::Npm | Self::Pnpm | Self::Yarn | Self::Bun, _) => {
                format!("{} run {script}", self.name())
            }
        }
    }

    /// Returns the command that runs a script with further arguments.
    pub fn run_command_with(self, script: &str, arguments: &str) -> String {
        match self {
            Self::Npm => format!("{} -- {arguments}", self.run_command(script)),
            Self::Pnpm | Self::Yarn | Self::Bun => {
                format!("{} {arguments}", self.run_command(script))
            }
        }
    }

    /// Returns the command that runs a program installed in the project. The command never downloads the program.
    pub fn exec_command(self, line: &str) -> String {
        match self {
            Self::Npm => format!("npx --no-install {line}"),
            Self::Pnpm => format!("pnpm exec {line}"),
            Self::Yarn => format!("yarn run {line}"),
            Self::Bun => format!("bunx --no-install {line}"),
        }
    }

    /// Returns the package manager and the reason: the manager in the manifest, else that of the lock file in this folder or in the nearest
    /// outer folder.
    pub(super) fn from_folder(
        folder: &ListedFolder,
        package: Option<&NodePackage>,
    ) -> (Self, String) {
        if let Some(said) = package.and_then(|package| package.manager.as_deref()) {
            let name = said.split('@').next().unwrap_or(said);
            if let Some(manager) = Self::PREFERENCE_ORDER
                .into_iter()
                .find(|manager| manager.name() == name)
            {
                return (manager, format!("`packageManager` says {}", manager.name()));
            }
        }
        let mut path = folder.path;
        loop {
            let here = ListedFolder {
                listing: folder.listing,
                path,
            };
            let locks: Vec<(Self, &str)> = Self::PREFERENCE_ORDER
                .into_iter()
                .filter_map(|manager| Some((manager, here.first_existing(manager.lock_files())?)))
                .collect();
            match locks.as_slice() {
                [] if path.is_empty() => return (Self::Npm, "no lock file, so npm".to_owned()),
                [] => path = parent_of(path),
                [(manager, lock)] => {
                    return (*manager, format!("`{lock}` is {}'s", manager.name()));
                }
                [(manager, lock), others @ ..] => {
                    let others: Vec<String> =
                        others.iter().map(|(_, lock)| format!("`{lock}`")).collect();
                    let order: Vec<&str> =
                        Self::PREFERENCE_ORDER.into_iter().map(Self::name).collect();
                    let (others, order) = (others.join(" and "), order.join(", "));
                    return (
                        *manager,
                        format!(
                            "`{lock}` and {others} disagree: {} goes first (order: {order})",
                            manager.name()
                        ),
                    );
                }
            }
        }
    }
}
