//! How much code an agent wrote: files and lines by language.
//!
//! Files that tools bring or make are excluded: version control, dependencies, caches, build output (by folder name; Python environments by
//! their `pyvenv.cfg`) and lock files, which can have more lines than the program. Symbolic links are neither followed nor counted.

use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Path, PathBuf};

use walkdir::{DirEntry, WalkDir};

use crate::files;

/// Larger files are counted as files, but not their lines: nobody wrote them by hand.
const MAX_FILE_BYTES: u64 = 8 << 20;
/// Number of bytes at the start of a file that decide whether it is text.
const PROBE_BYTES: usize = 8 << 10;
const MAX_FILES: u64 = 200_000;
const MAX_DEPTH: usize = 100;

/// Files and lines of one language, or of all languages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CodeAmount {
    pub files: u64,
    pub lines: u64,
}

/// How much code there is below a folder.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CodeMetrics {
    pub files: u64,
    pub lines: u64,
    /// Text files by language; `Other` if the file name does not show the language. Does not include the files in `without_lines`.
    pub by_language: BTreeMap<String, CodeAmount>,
    /// Files whose lines were not counted: not text, too large or unreadable.
    pub without_lines: u64,
    /// Whether the walk hit a limit or could not read some folder.
    pub is_partial: bool,
}

/// The files below a folder.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CodeFileList {
    /// Paths relative to the root, sorted by name.
    pub files: Vec<PathBuf>,
    /// Whether the walk hit a limit or could not list something.
    pub is_partial: bool,
}

/// Lists the files that [`measure_code`] looks at.
pub fn list_files(root: &Path) -> CodeFileList {
    let mut listed = CodeFileList::default();
    for entry in walk_folder(root)
        .into_iter()
        .filter_entry(|entry| entry.depth() == 0 || !is_excluded(entry))
    {
        match entry {
            Ok(entry) if !entry.file_type().is_file() => {}
            Ok(_) if listed.files.len() as u64 >= MAX_FILES => {
                listed.is_partial = true;
                break;
            }
            Ok(entry) => listed
                .files
                .extend(entry.path().strip_prefix(root).ok().map(Path::to_owned)),
            Err(_) => listed.is_partial = true,
        }
    }
    listed
}

fn walk_folder(root: &Path) -> WalkDir {
    WalkDir::new(root)
        .follow_links(false)
        .follow_root_links(true)
        .max_depth(MAX_DEPTH)
        .sort_by_file_name()
}

/// Measures the files below `root` for which `is_counted` returns true. It gets paths relative to `root`.
pub fn measure_code(root: &Path, is_counted: impl Fn(&Path) -> bool) -> CodeMetrics {
    let mut metrics = CodeMetrics::default();
    for entry in walk_folder(root)
        .into_iter()
        .filter_entry(|entry| entry.depth() == 0 || !is_excluded(entry))
    {
        let Ok(entry) = entry else {
            metrics.is_partial = true;
            continue;
        };
        let path = entry.path();
        if !entry.file_type().is_file() || !path.strip_prefix(root).is_ok_and(&is_counted) {
            continue;
        }
        if metrics.files >= MAX_FILES {
            metrics.is_partial = true;
            break;
        }
        metrics.files += 1;
        let Some(lines) = count_file_lines(path) else {
            metrics.without_lines += 1;
            continue;
        };
        metrics.lines += lines;
        let amount = metrics
            .by_language
            .entry(detect_language(path).to_owned())
            .or_default();
        amount.files += 1;
        amount.lines += lines;
    }
    metrics
}

/// Returns the number of lines of a text file, counting a last line without a line end. `None` if the file is not text, too large or
/// unreadable.
fn count_file_lines(path: &Path) -> Option<u64> {
    let file = files::open(path).ok()?;
    let mut bytes = Vec::new();
    // Reading one byte beyond the limit shows that the file is too large, whatever size the file system reported.
    file.take(MAX_FILE_BYTES + 1).read_to_end(&mut bytes).ok()?;
    let is_text = !bytes[..bytes.len().min(PROBE_BYTES)].contains(&0);
    (is_text && bytes.len() as u64 <= MAX_FILE_BYTES).then(|| count_lines(&bytes))
}

fn count_lines(bytes: &[u8]) -> u64 {
    let ended = memchr::memchr_iter(b'\n', bytes).count() as u64;
    ended + u64::from(bytes.last().is_some_and(|last| *last != b'\n'))
}

fn is_excluded(entry: &DirEntry) -> bool {
    let Some(name) = entry.file_name().to_str() else {
        return false;
    };
    if name == ".git" {
        // In a git worktree, `.git` is a file.
        return true;
    }
    if entry.file_type().is_dir() {
        return EXCLUDED_FOLDERS.binary_search(&name).is_ok()
            || name.ends_with(".egg-info")
            || entry.path().join("pyvenv.cfg").is_file();
    }
    LOCK_FILES.binary_search(&name).is_ok()
}

/// Sorted.
const EXCLUDED_FOLDERS: &[&str] = &[
    ".bundle",
    ".cache",
    ".claude",
    ".codex",
    ".dart_tool",
    ".eggs",
    ".gemini",
    ".gradle",
    ".hg",
    ".hypothesis",
    ".ipynb_checkpoints",
    ".jj",
    ".mypy_cache",
    ".next",
    ".nox",
    ".nuxt",
    ".nyc_output",
    ".opencode",
    ".parcel-cache",
    ".pnpm-store",
    ".pytest_cache",
    ".ralph",
    ".ruff_cache",
    ".svelte-kit",
    ".svn",
    ".terraform",
    ".tox",
    ".turbo",
    ".venv",
    ".vite",
    ".yarn",
    "Pods",
    "__pycache__",
    "_build",
    "bower_components",
    "build",
    "coverage",
    "dist",
    "htmlcov",
    "node_modules",
    "obj",
    "out",
    "site-packages",
    "target",
    "vendor",
    "venv",
];

/// Sorted.
const LOCK_FILES: &[&str] = &[
    ".DS_Store",
    ".coverage",
    "Cargo.lock",
    "Gemfile.lock",
    "Pipfile.lock",
    "bun.lock",
    "bun.lockb",
    "composer.lock",
    "deno.lock",
    "flake.lock",
    "go.sum",
    "mix.lock",
    "npm-shrinkwrap.json",
    "package-lock.json",
    "packages.lock.json",
    "pdm.lock",
    "pnpm-lock.yaml",
    "poetry.lock",
    "pubspec.lock",
    "uv.lock",
    "yarn.lock",
];

/// Returns the language of a file, judged by its name.
pub fn detect_language(path: &Path) -> &'static str {
    let name = path
        .file_name()
        .and_then(|name| name.to_str())
        .unwrap_or_default();
    match name {
        "Dockerfile" | "Containerfile" => return "Dockerfile",
        "Makefile" | "makefile" | "GNUmakefile" => return "Makefile",
        "CMakeLists.txt" => return "CMake",
        "Gemfile" | "Rakefile" => return "Ruby",
        "go.mod" => return "Go",
        "Justfile" | "justfile" => return "Just",
        _ => {}
    }
    let extension = path
        .extension()
        .and_then(|extension| extension.to_str())
        .unwrap_or_default()
        .to_ascii_lowercase();
    match extension.as_str() {
        "py" | "pyi" | "pyw" => "Python",
        "js" | "mjs" | "cjs" | "jsx" => "JavaScript",
        "ts" | "mts" | "cts" | "tsx" => "TypeScript",
        "vue" => "Vue",
        "svelte" => "Svelte",
        "rs" => "Rust",
        "go" => "Go",
        "java" => "Java",
        "kt" | "kts" => "Kotlin",
        "scala" | "sc" => "Scala",
        "groovy" | "gradle" => "Groovy",
        "clj" | "cljs" | "cljc" | "edn" => "Clojure",
        "rb" | "erb" | "rake" | "gemspec" => "Ruby",
        "php" => "PHP",
        "c" | "h" => "C",
        "cc" | "cpp" | "cxx" | "hh" | "hpp" | "hxx" => "C++",
        "cs" => "C#",
        "fs" | "fsx" => "F#",
        "vb" => "Visual Basic",
        "swift" => "Swift",
        "m" | "mm" => "Objective-C",
        "dart" => "Dart",
        "ex" | "exs" | "eex" | "heex" => "Elixir",
        "erl" | "hrl" => "Erlang",
        "hs" | "lhs" => "Haskell",
        "ml" | "mli" => "OCaml",
        "lua" => "Lua",
        "pl" | "pm" | "t" => "Perl",
        "r" | "rmd" => "R",
        "jl" => "Julia",
        "zig" => "Zig",
        "nim" => "Nim",
        "sh" | "bash" | "zsh" | "fish" => "Shell",
        "ps1" | "psm1" => "PowerShell",
        "bat" | "cmd" => "Batch",
        "sql" => "SQL",
        "html" | "htm" | "xhtml" => "HTML",
        "jinja" | "jinja2" | "j2" | "hbs" | "ejs" | "mustache" => "Template",
        "css" => "CSS",
        "scss" | "sass" | "less" => "Sass and Less",
        "md" | "markdown" | "mdx" | "rst" | "adoc" => "Markup text",
        "txt" => "Plain text",
        "json" | "jsonc" | "json5" | "jsonl" | "ndjson" => "JSON",
        "yaml" | "yml" => "YAML",
        "toml" => "TOML",
        "ini" | "cfg" | "conf" | "properties" | "env" => "Configuration",
        "xml" | "xsd" | "xsl" | "svg" => "XML",
        "csv" | "tsv" => "Table",
        "proto" => "Protocol Buffers",
        "graphql" | "gql" => "GraphQL",
        "tf" | "tfvars" | "hcl" => "HCL",
        "cmake" => "CMake",
        "mk" => "Makefile",
        "nix" => "Nix",
        "ipynb" => "Notebook",
        "feature" => "Gherkin",
        _ => "Other",
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn written(files: &[(&str, &[u8])]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().expect("a folder");
        for (path, bytes) in files {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().expect("it is in the folder")).expect("a folder");
            fs::write(path, bytes).expect("a file");
        }
        folder
    }

    #[test]
    fn lines_are_counted_as_people_do() {
        for (text, lines) in [
            ("", 0),
            ("a", 1),
            ("a\n", 1),
            ("a\nb", 2),
            ("\n\n", 2),
            ("a\r\nb\r\n", 2),
        ] {
            assert_eq!(count_lines(text.as_bytes()), lines, "{text:?}");
        }
    }

    #[test]
    fn languages_are_told_apart_and_what_tools_made_is_left_out() {
        let folder = written(&[
            ("app/main.py", b"a\nb"),
            ("app/__init__.py", b""),
            ("app/logo.png", b"\x89PNG\0\n\n\n"),
            ("web/App.TSX", b"x\n"),
            ("Dockerfile", b"FROM x\n"),
            ("README", b"one\n"),
            (".env.example", b"A=1\n"),
            (".git/config", b"x\n"),
            ("sub/.git", b"gitdir: x\n"),
            ("node_modules/x/index.js", b"x\n"),
            ("web/node_modules/y.js", b"x\n"),
            ("app/__pycache__/main.pyc", b"x\n"),
            ("my-python/pyvenv.cfg", b"x\n"),
            ("my-python/lib/a.py", b"x\n"),
            ("x.egg-info/PKG-INFO", b"x\n"),
            ("package-lock.json", b"{\n}\n"),
            ("build", b"a file of that name counts\n"),
        ]);
        let metrics = measure_code(folder.path(), |_| true);
        let amount = |files, lines| CodeAmount { files, lines };
        let expected: BTreeMap<String, CodeAmount> = [
            ("Python", amount(2, 2)),
            ("TypeScript", amount(1, 1)),
            ("Dockerfile", amount(1, 1)),
            ("Other", amount(3, 3)),
        ]
        .map(|(name, amount)| (name.to_owned(), amount))
        .into();
        assert_eq!(metrics.by_language, expected);
        assert_eq!(
            (
                metrics.files,
                metrics.lines,
                metrics.without_lines,
                metrics.is_partial
            ),
            (8, 7, 1, false)
        );
    }

    #[test]
    fn the_caller_can_leave_files_out_and_a_missing_folder_is_partial() {
        let folder = written(&[("given.py", b"a\n"), ("made.py", b"a\nb\n")]);
        let metrics = measure_code(folder.path(), |path| path != Path::new("given.py"));
        assert_eq!((metrics.files, metrics.lines), (1, 2));
        let missing = measure_code(&folder.path().join("none"), |_| true);
        assert_eq!((missing.files, missing.is_partial), (0, true));
    }

    #[cfg(unix)]
    #[test]
    fn links_are_neither_followed_nor_counted() {
        let outside = written(&[("secret.py", b"a\n")]);
        let folder = written(&[("a.py", b"a\n")]);
        std::os::unix::fs::symlink(outside.path(), folder.path().join("linked")).expect("a link");
        std::os::unix::fs::symlink(outside.path().join("secret.py"), folder.path().join("b.py"))
            .expect("a link");
        std::os::unix::fs::symlink(folder.path(), folder.path().join("circle")).expect("a link");
        let metrics = measure_code(folder.path(), |_| true);
        assert_eq!((metrics.files, metrics.lines), (1, 1));
    }

    #[test]
    fn large_files_have_no_lines() {
        let folder = written(&[(
            "bundle.js",
            &vec![b'\n'; usize::try_from(MAX_FILE_BYTES).expect("it fits") + 1],
        )]);
        let metrics = measure_code(folder.path(), |_| true);
        assert_eq!(
            (metrics.files, metrics.lines, metrics.without_lines),
            (1, 0, 1)
        );
    }

    #[test]
    fn tables_are_sorted() {
        assert!(EXCLUDED_FOLDERS.is_sorted() && LOCK_FILES.is_sorted());
    }
}
