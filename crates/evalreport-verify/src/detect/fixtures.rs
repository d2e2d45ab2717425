//! Listings with the expected result of detection. Each listing has one peculiarity.

use crate::testing::listing;
use crate::{ProjectPart, detect_stacks};

struct Fixture {
    quirk: &'static str,
    files: &'static [(&'static str, &'static str)],
    /// The stack, then a line for each part: folder, stack and the commands for test, smoke, build, lint and syntax, with `-` for a missing
    /// command.
    expected: &'static [&'static str],
    /// A text that the reasons must contain.
    because: &'static str,
}

fn describe_part(part: &ProjectPart) -> String {
    let folder = if part.folder.is_empty() {
        "."
    } else {
        &part.folder
    };
    let commands = [
        &part.primary_test,
        &part.smoke_test,
        &part.build,
        &part.lint,
        &part.syntax_check,
    ];
    let commands: Vec<&str> = commands
        .into_iter()
        .map(|command| command.as_deref().unwrap_or("-"))
        .collect();
    format!("{folder} {}: {}", part.stack.name(), commands.join(" | "))
}

#[test]
fn every_listing_is_known_for_what_it_is() {
    let mut wrong = Vec::new();
    for Fixture {
        quirk,
        files,
        expected,
        because,
    } in FIXTURES
    {
        let detected = detect_stacks(&listing(files));
        let mut found = vec![detected.stack.name().to_owned()];
        found.extend(detected.parts.iter().map(describe_part));
        if found != *expected {
            wrong.push(format!(
                "{quirk}:\n  found    {found:#?}\n  expected {expected:#?}"
            ));
        }
        let reasons: Vec<&String> = detected
            .parts
            .iter()
            .flat_map(|part| &part.reasons)
            .chain(&detected.reasons)
            .collect();
        if !reasons.iter().any(|reason| reason.contains(because)) {
            wrong.push(format!("{quirk}: no reason says {because:?}: {reasons:#?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(FIXTURES.len() >= 60, "{}", FIXTURES.len());
}

#[test]
fn quirks_have_names_of_their_own() {
    let names: std::collections::BTreeSet<&str> =
        FIXTURES.iter().map(|fixture| fixture.quirk).collect();
    assert_eq!(names.len(), FIXTURES.len());
}

const FIXTURES: &[Fixture] = &[
    Fixture {
        quirk: "empty",
        files: &[],
        expected: &["unknown"],
        because: "no manifest",
    },
    Fixture {
        quirk: "only a readme",
        files: &[("README.md", "npm test, pytest, cargo")],
        expected: &["unknown"],
        because: "no manifest",
    },
    Fixture {
        quirk: "names that only contain a manifest's",
        files: &[
            ("my-package.json", "{}"),
            ("Cargo.toml.orig", ""),
            ("go.mod.txt", ""),
            ("vite.configuration", ""),
        ],
        expected: &["unknown"],
        because: "no manifest",
    },
    // Node.
    Fixture {
        quirk: "node with a test script",
        files: &[("package.json", r#"{"scripts": {"test": "mocha"}}"#)],
        expected: &["node", ". node: npm test | - | - | - | -"],
        because: "script `test`",
    },
    Fixture {
        quirk: "node with all scripts",
        files: &[(
            "package.json",
            r#"{"scripts": {"test": "jest", "start": "node x", "build": "y", "lint": "z", "typecheck": "tsc"}}"#,
        )],
        expected: &[
            "node",
            ". node: npm test | npm run start | npm run build | npm run lint | npm run typecheck",
        ],
        because: "script `start` starts it",
    },
    Fixture {
        quirk: "pnpm by its lock file",
        files: &[
            (
                "package.json",
                r#"{"scripts": {"test": "x", "build": "y"}}"#,
            ),
            ("pnpm-lock.yaml", ""),
        ],
        expected: &["node", ". node: pnpm test | - | pnpm run build | - | -"],
        because: "`pnpm-lock.yaml` is pnpm's",
    },
    Fixture {
        quirk: "yarn by its lock file",
        files: &[
            (
                "package.json",
                r#"{"scripts": {"test": "x", "build": "y"}}"#,
            ),
            ("yarn.lock", ""),
        ],
        expected: &["node", ". node: yarn test | - | yarn run build | - | -"],
        because: "`yarn.lock` is yarn's",
    },
    Fixture {
        quirk: "bun by its binary lock file",
        files: &[
            (
                "package.json",
                r#"{"scripts": {"test": "x", "build": "y"}}"#,
            ),
            ("bun.lockb", ""),
        ],
        expected: &["node", ". node: bun run test | - | bun run build | - | -"],
        because: "`bun.lockb` is bun's",
    },
    Fixture {
        quirk: "bun without a test script",
        files: &[
            ("package.json", "{}"),
            ("bun.lock", ""),
            ("src/a.test.js", ""),
        ],
        expected: &["node", ". node: bun test | - | - | - | -"],
        because: "without a script or runner",
    },
    Fixture {
        quirk: "npm by its shrinkwrap",
        files: &[
            ("package.json", r#"{"scripts": {"test": "x"}}"#),
            ("npm-shrinkwrap.json", ""),
        ],
        expected: &["node", ". node: npm test | - | - | - | -"],
        because: "`npm-shrinkwrap.json` is npm's",
    },
    Fixture {
        quirk: "a stray npm lock beside pnpm's",
        files: &[
            ("package.json", r#"{"scripts": {"test": "x"}}"#),
            ("package-lock.json", ""),
            ("pnpm-lock.yaml", ""),
        ],
        expected: &["node", ". node: pnpm test | - | - | - | -"],
        because: "`pnpm-lock.yaml` and `package-lock.json` disagree: pnpm goes first (order: pnpm, yarn, bun, npm)",
    },
    Fixture {
        quirk: "three lock files",
        files: &[
            ("package.json", r#"{"scripts": {"test": "x"}}"#),
            ("package-lock.json", ""),
            ("bun.lock", ""),
            ("yarn.lock", ""),
        ],
        expected: &["node", ". node: yarn test | - | - | - | -"],
        because: "`yarn.lock` and `bun.lock` and `package-lock.json` disagree",
    },
    Fixture {
        quirk: "packageManager beats the lock file",
        files: &[
            (
                "package.json",
                r#"{"packageManager": "yarn@4.1.0", "scripts": {"test": "x"}}"#,
            ),
            ("package-lock.json", ""),
        ],
        expected: &["node", ". node: yarn test | - | - | - | -"],
        because: "`packageManager` says yarn",
    },
    Fixture {
        quirk: "an unknown packageManager",
        files: &[(
            "package.json",
            r#"{"packageManager": "pnpmx@1", "scripts": {"test": "x"}}"#,
        )],
        expected: &["node", ". node: npm test | - | - | - | -"],
        because: "no lock file, so npm",
    },
    Fixture {
        quirk: "package.json without scripts",
        files: &[
            ("package.json", r#"{"name": "x", "main": "lib/x.js"}"#),
            ("lib/x.js", ""),
        ],
        expected: &["node", ". node: - | - | - | - | node --check lib/x.js"],
        because: "no scripts",
    },
    Fixture {
        quirk: "no scripts but node's own tests",
        files: &[("package.json", "{}"), ("index.js", ""), ("test/a.js", "")],
        expected: &[
            "node",
            ". node: node --test | - | - | - | node --check index.js",
        ],
        because: "tests such as `test/a.js`",
    },
    Fixture {
        quirk: "no scripts but vitest",
        files: &[
            ("package.json", r#"{"devDependencies": {"vitest": "1"}}"#),
            ("pnpm-lock.yaml", ""),
        ],
        expected: &["node", ". node: pnpm exec vitest run | - | - | - | -"],
        because: "depends on vitest",
    },
    Fixture {
        quirk: "npm's placeholder test script",
        files: &[(
            "package.json",
            r#"{"scripts": {"test": "echo \"Error: no test specified\" && exit 1"}}"#,
        )],
        expected: &["node", ". node: - | - | - | - | -"],
        because: "npm's placeholder",
    },
    Fixture {
        quirk: "a test script of another name",
        files: &[(
            "package.json",
            r#"{"scripts": {"test:unit": "vitest", "latest": "x"}}"#,
        )],
        expected: &["node", ". node: npm run test:unit | - | - | - | -"],
        because: "script `test:unit`",
    },
    Fixture {
        quirk: "a script that only contains the word test",
        files: &[(
            "package.json",
            r#"{"scripts": {"latest": "x", "contest": "y", "rebuild": "z", "linty": "w"}}"#,
        )],
        expected: &["node", ". node: - | - | - | - | -"],
        because: "`package.json`",
    },
    Fixture {
        quirk: "a test script that watches",
        files: &[(
            "package.json",
            r#"{"scripts": {"test": "jest --watchAll"}}"#,
        )],
        expected: &[
            "node",
            ". node: CI=true npm test -- --watchAll=false | - | - | - | -",
        ],
        because: "would wait for changes",
    },
    Fixture {
        quirk: "react-scripts watches unless told otherwise",
        files: &[
            (
                "package.json",
                r#"{"scripts": {"test": "react-scripts test"}}"#,
            ),
            ("yarn.lock", ""),
        ],
        expected: &[
            "node",
            ". node: CI=true yarn test --watch=false | - | - | - | -",
        ],
        because: "would wait for changes",
    },
    Fixture {
        quirk: "broken JSON",
        files: &[
            ("package.json", "{\"scripts\": {\n  \"test\": \"x\",\n}}"),
            ("index.js", ""),
        ],
        expected: &[
            "node",
            ". node: - | - | - | - | node -e \"JSON.parse(require('fs').readFileSync('package.json', 'utf8'))\"",
        ],
        because: "`package.json` in the root is broken (line 3, column 1)",
    },
    Fixture {
        quirk: "JSON that is a list",
        files: &[("package.json", "[]")],
        expected: &[
            "node",
            ". node: - | - | - | - | node -e \"JSON.parse(require('fs').readFileSync('package.json', 'utf8'))\"",
        ],
        because: "not an object",
    },
    Fixture {
        quirk: "scripts of the wrong type",
        files: &[(
            "package.json",
            r#"{"scripts": {"test": 3, "build": ["x"]}, "dependencies": "none"}"#,
        )],
        expected: &["node", ". node: - | - | - | - | -"],
        because: "no scripts",
    },
    Fixture {
        quirk: "a byte order mark",
        files: &[("package.json", "\u{feff}{\"scripts\": {\"test\": \"x\"}}")],
        expected: &["node", ". node: npm test | - | - | - | -"],
        because: "script `test`",
    },
    Fixture {
        quirk: "TypeScript and eslint without scripts",
        files: &[
            (
                "package.json",
                r#"{"devDependencies": {"typescript": "5", "eslint": "9"}}"#,
            ),
            ("tsconfig.json", "{}"),
            ("eslint.config.js", ""),
        ],
        expected: &[
            "node",
            ". node: - | - | - | npx --no-install eslint . | npx --no-install tsc --noEmit",
        ],
        because: "no scripts",
    },
    Fixture {
        quirk: "JavaScript without a manifest",
        files: &[("server.js", ""), ("index.html", "")],
        expected: &["node", ". node: - | - | - | - | node --check server.js"],
        because: "without a package.json",
    },
    Fixture {
        quirk: "an entry with a hostile name",
        files: &[
            ("package.json", r#"{"main": "a; touch x.js"}"#),
            ("a; touch x.js", ""),
        ],
        expected: &[
            "node",
            ". node: - | - | - | - | node --check 'a; touch x.js'",
        ],
        because: "`package.json`",
    },
    Fixture {
        quirk: "a smoke script of its own",
        files: &[(
            "package.json",
            r#"{"scripts": {"smoke": "x", "start": "y"}}"#,
        )],
        expected: &["node", ". node: - | npm run smoke | - | - | -"],
        because: "script `smoke`",
    },
    Fixture {
        quirk: "dependencies' own manifests",
        files: &[
            ("package.json", r#"{"scripts": {"test": "x"}}"#),
            ("node_modules/a/package.json", "{}"),
            ("vendor/b/Cargo.toml", ""),
        ],
        expected: &["node", ". node: npm test | - | - | - | -"],
        because: "script `test`",
    },
    // Vite.
    Fixture {
        quirk: "Vite with dev and build",
        files: &[(
            "package.json",
            r#"{"scripts": {"dev": "vite", "build": "vite build"}, "devDependencies": {"vite": "5"}}"#,
        )],
        expected: &[
            "vite_frontend",
            ". vite_frontend: - | npm run dev | npm run build | - | -",
        ],
        because: "Vite with script `dev`",
    },
    Fixture {
        quirk: "Vite by its settings alone",
        files: &[
            ("package.json", r#"{"scripts": {"start": "x"}}"#),
            ("vite.config.mts", ""),
        ],
        expected: &[
            "vite_frontend",
            ". vite_frontend: - | npm run start | npx --no-install vite build | - | -",
        ],
        because: "Vite with script `start`",
    },
    Fixture {
        quirk: "Vite without scripts but with a page",
        files: &[
            ("package.json", r#"{"devDependencies": {"vite": "5"}}"#),
            ("index.html", ""),
            ("yarn.lock", ""),
        ],
        expected: &[
            "vite_frontend",
            ". vite_frontend: - | yarn run vite | yarn run vite build | - | -",
        ],
        because: "Vite with `index.html`",
    },
    Fixture {
        quirk: "Vite under a library's tests",
        files: &[(
            "package.json",
            r#"{"scripts": {"test": "vitest"}, "devDependencies": {"vite": "5", "vitest": "1"}}"#,
        )],
        expected: &["node", ". node: npm test | - | - | - | -"],
        because: "no frontend",
    },
    Fixture {
        quirk: "vitest is not Vite",
        files: &[(
            "package.json",
            r#"{"scripts": {"test": "vitest", "build": "tsup"}, "devDependencies": {"vitest": "1"}}"#,
        )],
        expected: &["node", ". node: npm test | - | npm run build | - | -"],
        because: "script `test`",
    },
    Fixture {
        quirk: "Vite with type check and tests",
        files: &[
            (
                "package.json",
                r#"{"scripts": {"dev": "vite", "build": "vite build", "test": "vitest"}, "devDependencies": {"vite": "5", "typescript": "5"}}"#,
            ),
            ("tsconfig.json", "{}"),
            ("pnpm-lock.yaml", ""),
        ],
        expected: &[
            "vite_frontend",
            ". vite_frontend: pnpm test | pnpm run dev | pnpm run build | - | pnpm exec tsc --noEmit",
        ],
        because: "`pnpm-lock.yaml` is pnpm's",
    },
    // Python.
    Fixture {
        quirk: "pyproject and src/main.py",
        files: &[
            ("pyproject.toml", "[project]\nname = \"x\"\n"),
            ("src/main.py", ""),
        ],
        expected: &[
            "python",
            ". python: pytest | python src/main.py | - | - | python -m compileall -q -x '(venv|node_modules)/' .",
        ],
        because: "pytest is what a `pyproject.toml` project is tested with",
    },
    Fixture {
        quirk: "requirements and app.py",
        files: &[("requirements.txt", "requests\n"), ("app.py", "")],
        expected: &[
            "python",
            ". python: - | python app.py | - | - | python -m compileall -q -x '(venv|node_modules)/' .",
        ],
        because: "`app.py` starts it",
    },
    Fixture {
        quirk: "pytest in requirements",
        files: &[
            (
                "requirements-dev.txt",
                "# tools\nPyTest>=7 ; python_version > '3'\nruff\n",
            ),
            ("pkg/__init__.py", ""),
        ],
        expected: &[
            "python",
            ". python: pytest | - | - | ruff check . | python -m compileall -q -x '(venv|node_modules)/' .",
        ],
        because: "depends on pytest",
    },
    Fixture {
        quirk: "a dependency that only contains pytest's name",
        files: &[
            ("requirements.txt", "mypytestlike\npytestify\n"),
            ("lib.py", ""),
        ],
        expected: &[
            "python",
            ". python: - | - | - | - | python -m compileall -q -x '(venv|node_modules)/' .",
        ],
        because: "`requirements.txt`",
    },
    Fixture {
        quirk: "a plugin of pytest",
        files: &[
            (
                "pyproject.toml",
                "[project]\nname='x'\n[project.optional-dependencies]\ndev = ['pytest-asyncio']\n",
            ),
            ("x.py", ""),
        ],
        expected: &[
            "python",
            ". python: pytest | - | - | - | python -m compileall -q -x '(venv|node_modules)/' .",
        ],
        because: "depends on pytest-asyncio",
    },
    Fixture {
        quirk: "requirements in a folder of that name",
        files: &[
            ("requirements/test.txt", "pytest\n"),
            ("lib.py", ""),
            ("conftest.py", ""),
        ],
        expected: &[
            "python",
            ". python: pytest | - | - | - | python -m compileall -q -x '(venv|node_modules)/' .",
        ],
        because: "depends on pytest",
    },
    Fixture {
        quirk: "tests that need the root on the path",
        files: &[
            ("requirements.txt", ""),
            ("calc.py", ""),
            ("tests/test_calc.py", ""),
        ],
        expected: &[
            "python",
            ". python: python -m pytest | - | - | - | python -m compileall -q -x '(venv|node_modules)/' .",
        ],
        because: "started as a module",
    },
    Fixture {
        quirk: "a conftest at the root puts it on the path",
        files: &[
            ("requirements.txt", ""),
            ("calc.py", ""),
            ("conftest.py", ""),
            ("tests/test_calc.py", ""),
        ],
        expected: &[
            "python",
            ". python: pytest | - | - | - | python -m compileall -q -x '(venv|node_modules)/' .",
        ],
        because: "`conftest.py`",
    },
    Fixture {
        quirk: "pytest's own settings of the path",
        files: &[
            (
                "pyproject.toml",
                "[tool.pytest.ini_options]\npythonpath = '.'\n[tool.ruff]\n",
            ),
            ("calc.py", ""),
            ("tests/test_calc.py", ""),
        ],
        expected: &[
            "python",
            ". python: pytest | - | - | ruff check . | python -m compileall -q -x '(venv|node_modules)/' .",
        ],
        because: "configures pytest",
    },
    Fixture {
        quirk: "poetry's groups",
        files: &[
            (
                "pyproject.toml",
                "[tool.poetry.group.dev.dependencies]\npytest = '^8'\nflake8 = '*'\n",
            ),
            ("src/x/__init__.py", ""),
        ],
        expected: &[
            "python",
            ". python: pytest | - | - | flake8 | python -m compileall -q -x '(venv|node_modules)/' .",
        ],
        because: "depends on pytest",
    },
    Fixture {
        quirk: "setup.cfg configures pytest",
        files: &[
            ("setup.cfg", "[metadata]\nname = x\n[tool:pytest]\n"),
            ("setup.py", "from setuptools import setup\n"),
            ("x/__init__.py", ""),
        ],
        expected: &[
            "python",
            ". python: pytest | - | - | - | python -m compileall -q -x '(venv|node_modules)/' .",
        ],
        because: "`tox.ini` or `setup.cfg` configures pytest",
    },
    Fixture {
        quirk: "broken TOML",
        files: &[
            ("pyproject.toml", "[project\nname"),
            ("tests/__init__.py", ""),
            ("tests/test_a.py", ""),
        ],
        expected: &[
            "python",
            ". python: pytest | - | - | - | python -m compileall -q -x '(venv|node_modules)/' .",
        ],
        because: "`pyproject.toml` is broken",
    },
    Fixture {
        quirk: "a server",
        files: &[
            ("requirements.txt", "Flask[async]==3\n"),
            ("app.py", ""),
            ("main.py", ""),
        ],
        expected: &[
            "python",
            ". python: - | python app.py | - | - | python -m compileall -q -x '(venv|node_modules)/' .",
        ],
        because: "`app.py` starts it",
    },
    Fixture {
        quirk: "Django",
        files: &[
            ("requirements.txt", "django\n"),
            ("manage.py", ""),
            ("app/models.py", ""),
        ],
        expected: &[
            "python",
            ". python: - | python manage.py check | - | - | python -m compileall -q -x '(venv|node_modules)/' .",
        ],
        because: "Django's",
    },
    Fixture {
        quirk: "a package that is started as a module",
        files: &[
            ("pyproject.toml", "[build-system]\n"),
            ("src/shop/__init__.py", ""),
            ("src/shop/__main__.py", ""),
        ],
        expected: &[
            "python",
            ". python: pytest | PYTHONPATH=src python -m shop | - | - | python -m compileall -q -x '(venv|node_modules)/' .",
        ],
        because: "`__main__.py` starts it",
    },
    Fixture {
        quirk: "Python files without a manifest",
        files: &[("calc.py", ""), ("test_calc.py", "")],
        expected: &[
            "python",
            ". python: pytest | - | - | - | python -m compileall -q -x '(venv|node_modules)/' .",
        ],
        because: "without a manifest",
    },
    Fixture {
        quirk: "pyproject with settings of tools alone",
        files: &[
            ("pyproject.toml", "[tool.ruff]\nline-length = 100\n"),
            ("package.json", r#"{"scripts": {"test": "x"}}"#),
        ],
        expected: &["node", ". node: npm test | - | - | - | -"],
        because: "but no Python file",
    },
    Fixture {
        quirk: "a new project without any file",
        files: &[("pyproject.toml", "[project]\nname = \"x\"\n")],
        expected: &["python", ". python: - | - | - | - | -"],
        because: "`pyproject.toml`",
    },
    Fixture {
        quirk: "a Python project with a package.json for docs",
        files: &[
            (
                "pyproject.toml",
                "[project]\nname='x'\ndependencies=['pytest']\n",
            ),
            ("x/__init__.py", ""),
            (
                "docs/package.json",
                r#"{"scripts": {"build": "vitepress build"}}"#,
            ),
        ],
        expected: &[
            "python",
            ". python: pytest | - | - | - | python -m compileall -q -x '(venv|node_modules)/' .",
        ],
        because: "left out as documentation, examples or test data: `docs`",
    },
    Fixture {
        quirk: "a Python project with a package.json for commit hooks",
        files: &[
            (
                "pyproject.toml",
                "[project]\nname='x'\ndependencies=['pytest']\n",
            ),
            ("x/__init__.py", ""),
            (
                "package.json",
                r#"{"scripts": {"prepare": "husky"}, "devDependencies": {"husky": "9", "prettier": "3", "@commitlint/cli": "19"}}"#,
            ),
        ],
        expected: &[
            "python",
            ". python: pytest | - | - | - | python -m compileall -q -x '(venv|node_modules)/' .",
        ],
        because: "there for tools alone",
    },
    Fixture {
        quirk: "a Python project with a broken package.json",
        files: &[
            ("requirements.txt", "pytest"),
            ("x.py", ""),
            ("package.json", "{"),
        ],
        expected: &[
            "python",
            ". python: pytest | - | - | - | python -m compileall -q -x '(venv|node_modules)/' .",
        ],
        because: "`package.json` in the root is broken",
    },
    // Go.
    Fixture {
        quirk: "a Go module",
        files: &[("go.mod", "module m\n"), ("main.go", "")],
        expected: &[
            "go",
            ". go: go test ./... | - | go build ./... | - | go vet ./...",
        ],
        because: "`go.mod`",
    },
    Fixture {
        quirk: "a Go module with a linter",
        files: &[
            ("go.mod", "module m\n"),
            (".golangci.yml", ""),
            ("Makefile", "run:\n\tgo run .\nsmoke: run\n"),
        ],
        expected: &[
            "go",
            ". go: go test ./... | make smoke | go build ./... | golangci-lint run | go vet ./...",
        ],
        because: "configures golangci-lint",
    },
    Fixture {
        quirk: "a Go workspace without a module at the root",
        files: &[
            ("go.work", "use ./a\nuse ./b\n"),
            ("a/go.mod", ""),
            ("b/go.mod", ""),
        ],
        expected: &[
            "go",
            "a go: go test ./... | - | go build ./... | - | go vet ./...",
            "b go: go test ./... | - | go build ./... | - | go vet ./...",
        ],
        because: "`go.mod`",
    },
    Fixture {
        quirk: "Go files without a module",
        files: &[("main.go", "")],
        expected: &["unknown"],
        because: "1 `.go` files, but no go.mod",
    },
    // Swift.
    Fixture {
        quirk: "a Swift package with a linter",
        files: &[
            ("Package.swift", ""),
            (".swiftlint.yml", ""),
            ("Sources/m/m.swift", ""),
        ],
        expected: &[
            "swift",
            ". swift: swift test | - | swift build | swiftlint lint --strict | -",
        ],
        because: "configures SwiftLint",
    },
    // .NET.
    Fixture {
        quirk: "a .NET solution, whose projects belong to it",
        files: &[
            ("App.sln", ""),
            ("src/App/App.csproj", ""),
            ("tests/App.Tests/App.Tests.csproj", ""),
            (".editorconfig", ""),
        ],
        expected: &[
            "dotnet",
            ". dotnet: dotnet test | - | dotnet build | dotnet format --verify-no-changes | -",
        ],
        because: "is a project of the solution in the root",
    },
    Fixture {
        quirk: "two .NET projects in one folder",
        files: &[("A.csproj", ""), ("B.fsproj", "")],
        expected: &[
            "dotnet",
            ". dotnet: dotnet test 'A.csproj' | - | dotnet build 'A.csproj' | - | -",
        ],
        because: "`A.csproj` goes first",
    },
    // PHP.
    Fixture {
        quirk: "a PHP package with a test script of several lines",
        files: &[
            (
                "composer.json",
                r#"{"scripts": {"test": ["@lint", "phpunit"]}}"#,
            ),
            ("phpstan.neon", ""),
        ],
        expected: &[
            "php",
            ". php: composer run-script test | - | - | vendor/bin/phpstan analyse --no-progress | composer validate --no-check-publish",
        ],
        because: "its script `test`",
    },
    Fixture {
        quirk: "a PHP package that only configures PHPUnit",
        files: &[
            ("composer.json", "{}"),
            ("phpunit.xml.dist", ""),
            ("vendor/x/composer.json", "{}"),
        ],
        expected: &[
            "php",
            ". php: vendor/bin/phpunit | - | - | - | composer validate --no-check-publish",
        ],
        because: "configures PHPUnit",
    },
    // Ruby.
    Fixture {
        quirk: "a Ruby gem with specs",
        files: &[
            ("Gemfile", ""),
            ("lib/m.rb", ""),
            ("spec/m_spec.rb", ""),
            (".rubocop.yml", ""),
        ],
        expected: &[
            "ruby",
            ". ruby: bundle exec rspec | - | - | bundle exec rubocop | -",
        ],
        because: "specs of RSpec",
    },
    Fixture {
        quirk: "a Ruby project with tests and a Rakefile",
        files: &[
            ("Gemfile", ""),
            ("Rakefile", ""),
            ("lib/m.rb", ""),
            ("test/m_test.rb", ""),
        ],
        expected: &["ruby", ". ruby: bundle exec rake test | - | - | - | -"],
        because: "tests, and a `Rakefile`",
    },
    Fixture {
        quirk: "a Go module with a Gemfile for its documentation",
        files: &[("go.mod", "module m\n"), ("Gemfile", "gem 'jekyll'\n")],
        expected: &[
            "go",
            ". go: go test ./... | - | go build ./... | - | go vet ./...",
        ],
        because: "`Gemfile` without a Ruby file is for tools",
    },
    // Rust.
    Fixture {
        quirk: "a Cargo package",
        files: &[
            ("Cargo.toml", "[package]\nname = \"x\"\n"),
            ("src/lib.rs", ""),
        ],
        expected: &[
            "rust",
            ". rust: cargo test | - | cargo build | cargo clippy --all-targets | cargo check",
        ],
        because: "`Cargo.toml`",
    },
    Fixture {
        quirk: "a Cargo workspace",
        files: &[
            ("Cargo.toml", "[workspace]\nmembers = [\"crates/*\"]\n"),
            ("crates/a/Cargo.toml", "[package]\nname='a'\n"),
            ("crates/b/Cargo.toml", "[package]\nname='b'\n"),
        ],
        expected: &[
            "rust",
            ". rust: cargo test --workspace | - | cargo build --workspace | cargo clippy --workspace --all-targets | cargo check --workspace",
        ],
        because: "`crates/a` is a member of the Cargo workspace in the root",
    },
    Fixture {
        quirk: "a package that its workspace excludes",
        files: &[
            (
                "Cargo.toml",
                "[workspace]\nmembers = [\"a\"]\nexclude = [\"fuzz\"]\n",
            ),
            ("a/Cargo.toml", "[package]\nname='a'\n"),
            ("fuzz/Cargo.toml", "[package]\nname='f'\n"),
        ],
        expected: &[
            "rust",
            ". rust: cargo test --workspace | - | cargo build --workspace | cargo clippy --workspace --all-targets | cargo check --workspace",
            "fuzz rust: cargo test | - | cargo build | cargo clippy --all-targets | cargo check",
        ],
        because: "`[workspace]`",
    },
    Fixture {
        quirk: "a broken Cargo.toml",
        files: &[("Cargo.toml", "[package\n")],
        expected: &[
            "rust",
            ". rust: cargo test | - | cargo build | cargo clippy --all-targets | cargo check",
        ],
        because: "cannot be read as TOML",
    },
    // Java.
    Fixture {
        quirk: "Maven",
        files: &[("pom.xml", "<project/>"), ("core/pom.xml", "<project/>")],
        expected: &[
            "java",
            ". java: mvn -B test | - | mvn -B -DskipTests package | - | mvn -B compile",
        ],
        because: "`core` is a module of the project in the root",
    },
    Fixture {
        quirk: "Maven's wrapper",
        files: &[("pom.xml", ""), ("mvnw", "")],
        expected: &[
            "java",
            ". java: ./mvnw -B test | - | ./mvnw -B -DskipTests package | - | ./mvnw -B compile",
        ],
        because: "`mvnw` is the project's own wrapper",
    },
    Fixture {
        quirk: "Gradle's wrapper, in Kotlin",
        files: &[
            ("build.gradle.kts", ""),
            ("settings.gradle.kts", ""),
            ("gradlew", ""),
            ("app/build.gradle.kts", ""),
        ],
        expected: &[
            "java",
            ". java: ./gradlew test | - | ./gradlew assemble | - | ./gradlew classes",
        ],
        because: "`gradlew` is the project's own wrapper",
    },
    Fixture {
        quirk: "Gradle without wrapper",
        files: &[("build.gradle", "")],
        expected: &[
            "java",
            ". java: gradle test | - | gradle assemble | - | gradle classes",
        ],
        because: "`build.gradle`",
    },
    Fixture {
        quirk: "Maven and Gradle, one with a wrapper",
        files: &[("pom.xml", ""), ("build.gradle", ""), ("gradlew", "")],
        expected: &[
            "java",
            ". java: ./gradlew test | - | ./gradlew assemble | - | ./gradlew classes",
        ],
        because: "`pom.xml` and `build.gradle`: Gradle, because it has the wrapper",
    },
    Fixture {
        quirk: "Maven and Gradle, neither with a wrapper",
        files: &[("pom.xml", ""), ("build.gradle", "")],
        expected: &[
            "java",
            ". java: mvn -B test | - | mvn -B -DskipTests package | - | mvn -B compile",
        ],
        because: "Maven, because it goes first",
    },
    // Make.
    Fixture {
        quirk: "only a Makefile",
        files: &[
            (
                "Makefile",
                "CC := gcc\nall: x\ntest: all\n\t./run\nlint:\n\tx\n",
            ),
            ("x.c", ""),
        ],
        expected: &[
            "unknown",
            ". unknown: make test | - | make all | make lint | -",
        ],
        because: "target `test` of `Makefile`",
    },
    Fixture {
        quirk: "a Makefile whose targets only contain the words",
        files: &[(
            "Makefile",
            "latest:\n\techo\ntest_data = x\nTEST := y\nrebuild:\n\ttest: no\n",
        )],
        expected: &["unknown"],
        because: "no manifest",
    },
    Fixture {
        quirk: "a Makefile that fills what the stack lacks",
        files: &[
            ("requirements.txt", "requests"),
            ("lib.py", ""),
            ("GNUmakefile", "test lint:\n\tx\n"),
        ],
        expected: &[
            "python",
            ". python: make test | - | - | make lint | python -m compileall -q -x '(venv|node_modules)/' .",
        ],
        because: "target `test` of `GNUmakefile`",
    },
    // Several at once.
    Fixture {
        quirk: "frontend and backend",
        files: &[
            (
                "backend/pyproject.toml",
                "[project]\nname='x'\ndependencies=['pytest','fastapi']\n",
            ),
            ("backend/app.py", ""),
            (
                "frontend/package.json",
                r#"{"scripts": {"dev": "vite", "build": "vite build"}, "devDependencies": {"vite": "5"}}"#,
            ),
            ("frontend/pnpm-lock.yaml", ""),
        ],
        expected: &[
            "mixed",
            "backend python: pytest | python app.py | - | - | python -m compileall -q -x '(venv|node_modules)/' .",
            "frontend vite_frontend: - | pnpm run dev | pnpm run build | - | -",
        ],
        because: "several stacks: python in `backend`, vite_frontend in `frontend`",
    },
    Fixture {
        quirk: "two stacks in one folder",
        files: &[
            ("Cargo.toml", "[package]\nname='x'\n"),
            ("package.json", r#"{"scripts": {"test": "x"}}"#),
        ],
        expected: &[
            "mixed",
            ". rust: cargo test | - | cargo build | cargo clippy --all-targets | cargo check",
            ". node: npm test | - | - | - | -",
        ],
        because: "several stacks: rust in the root, node in the root",
    },
    Fixture {
        quirk: "a workspace whose root runs everything",
        files: &[
            (
                "package.json",
                r#"{"workspaces": ["packages/*"], "scripts": {"test": "turbo test"}}"#,
            ),
            ("packages/a/package.json", r#"{"scripts": {"test": "x"}}"#),
        ],
        expected: &["node", ". node: npm test | - | - | - | -"],
        because: "`packages/a` is a workspace member that the scripts in the root cover",
    },
    Fixture {
        quirk: "a workspace whose root runs nothing",
        files: &[
            ("package.json", r#"{"private": true}"#),
            ("pnpm-workspace.yaml", ""),
            ("pnpm-lock.yaml", ""),
            ("packages/a/package.json", r#"{"scripts": {"test": "x"}}"#),
            ("packages/b/package.json", r#"{"scripts": {"build": "x"}}"#),
        ],
        expected: &[
            "node",
            "packages/a node: pnpm test | - | - | - | -",
            "packages/b node: - | - | pnpm run build | - | -",
        ],
        because: "only holds workspaces together",
    },
    Fixture {
        quirk: "a package below another without a workspace",
        files: &[
            ("package.json", r#"{"scripts": {"test": "x"}}"#),
            ("admin/package.json", r#"{"scripts": {"test": "y"}}"#),
            ("admin/yarn.lock", ""),
        ],
        expected: &[
            "node",
            ". node: npm test | - | - | - | -",
            "admin node: yarn test | - | - | - | -",
        ],
        because: "`yarn.lock` is yarn's",
    },
    Fixture {
        quirk: "services in several languages",
        files: &[
            ("services/api/go.mod", "module api\n"),
            ("services/jobs/Cargo.toml", "[package]\nname='jobs'\n"),
            ("services/web/pom.xml", ""),
        ],
        expected: &[
            "mixed",
            "services/api go: go test ./... | - | go build ./... | - | go vet ./...",
            "services/jobs rust: cargo test | - | cargo build | cargo clippy --all-targets | cargo check",
            "services/web java: mvn -B test | - | mvn -B -DskipTests package | - | mvn -B compile",
        ],
        because: "several stacks",
    },
    Fixture {
        quirk: "manifests of test data",
        files: &[
            ("Cargo.toml", "[package]\nname='x'\n"),
            (
                "tests/fixtures/app/package.json",
                r#"{"scripts": {"test": "x"}}"#,
            ),
            ("examples/demo/go.mod", ""),
        ],
        expected: &[
            "rust",
            ". rust: cargo test | - | cargo build | cargo clippy --all-targets | cargo check",
        ],
        because: "left out as documentation, examples or test data: `examples/demo`, `tests/fixtures/app`",
    },
    Fixture {
        quirk: "nothing but an example",
        files: &[("examples/demo/go.mod", "")],
        expected: &[
            "go",
            "examples/demo go: go test ./... | - | go build ./... | - | go vet ./...",
        ],
        because: "`go.mod`",
    },
    Fixture {
        quirk: "the tests of a nested Python package",
        files: &[
            (
                "pyproject.toml",
                "[project]\nname='x'\ndependencies=['pytest']\n",
            ),
            ("x/__init__.py", ""),
            ("plugins/p/pyproject.toml", "[project]\nname='p'\n"),
            ("plugins/p/p.py", ""),
        ],
        expected: &[
            "python",
            ". python: pytest | - | - | - | python -m compileall -q -x '(venv|node_modules)/' .",
        ],
        because: "the tests in `plugins/p` belong to those in the root",
    },
    Fixture {
        quirk: "a virtual environment in the tree",
        files: &[
            ("requirements.txt", "pytest"),
            ("a.py", ""),
            (".venv/lib/x/pyproject.toml", "[project]"),
            ("venv/setup.py", ""),
        ],
        expected: &[
            "python",
            ". python: pytest | - | - | - | python -m compileall -q -x '(venv|node_modules)/' .",
        ],
        because: "depends on pytest",
    },
];
