//! The goal to confirm, and its kind.

use super::Listing;
use super::listing::file_name_of;
use crate::domain::Profile;

/// A goal, with the files that it concerns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VerificationTask {
    pub goal: String,
    pub profile: Profile,
    /// Files that the goal is about, as declared.
    pub files: Vec<String>,
    /// Files that were changed, added or removed since the baseline.
    pub changed: Vec<String>,
}

impl VerificationTask {
    /// Returns the existing files that the task is about: changed, declared, or named in the goal.
    pub(super) fn subject_files(&self, listing: &Listing) -> Vec<String> {
        let known = self
            .changed
            .iter()
            .chain(&self.files)
            .filter(|file| listing.files.contains(*file))
            .cloned();
        let mut subjects: Vec<String> = known.chain(named_files(&self.goal, listing)).collect();
        subjects.sort();
        subjects.dedup();
        subjects
    }
}

/// Kind of a goal, recognised by whole words in its text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TaskKind {
    /// A goal so local that only its own tests can matter.
    Tiny,
    AddTest,
    /// The program does not build, start or find its imports.
    FixBuild,
    Docs,
    Refactor,
    /// A new program that can be started.
    CreateApp,
    /// A change that is visible in a browser.
    Frontend,
    FixError,
    General,
}

impl TaskKind {
    /// The kinds in the order in which their words are tried.
    pub const ALL: [Self; 9] = [
        Self::Tiny,
        Self::AddTest,
        Self::FixBuild,
        Self::Docs,
        Self::Refactor,
        Self::CreateApp,
        Self::Frontend,
        Self::FixError,
        Self::General,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Self::Tiny => "tiny",
            Self::AddTest => "add_test",
            Self::FixBuild => "fix_build",
            Self::Docs => "docs",
            Self::Refactor => "refactor",
            Self::CreateApp => "create_app",
            Self::Frontend => "frontend",
            Self::FixError => "fix_error",
            Self::General => "general",
        }
    }

    /// Returns the kind of a goal: the first kind whose words occur in it.
    pub fn from_goal(goal: &str) -> Self {
        let words = split_words(goal);
        WORDINGS
            .iter()
            .find(|wording| wording.fits_words(&words))
            .map_or(Self::General, |wording| wording.kind)
    }
}

/// Words that identify one kind of goal.
pub(super) struct GoalWording {
    pub kind: TaskKind,
    /// The goal must contain one of these, unless the list is empty.
    pub verbs: &'static [&'static str],
    /// The goal must also contain one of these, unless the list is empty.
    pub nouns: &'static [&'static str],
    pub order: WordOrder,
}

/// Required positions of the verb and the noun.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WordOrder {
    Any,
    /// The noun is the verb's object: a few words after it, in the same clause.
    Object,
}

/// Maximum number of words between a verb and its object.
const FARTHEST_OBJECT: usize = 4;
/// Words that end a clause: a noun after one of them is not the object of a verb before it.
const CLAUSE_ENDS: [&str; 16] = [
    "and", "as", "because", "by", "for", "from", "in", "of", "on", "so", "that", "then", "to",
    "until", "using", "with",
];

/// Words of each kind of goal. The first entry that fits decides.
pub(super) const WORDINGS: [GoalWording; 8] = [
    GoalWording {
        kind: TaskKind::Tiny,
        verbs: &[],
        nouns: &[
            "misspelled",
            "misspelling",
            "spelling",
            "tiny",
            "trivial",
            "typo",
            "typos",
            "whitespace",
            "wording",
        ],
        order: WordOrder::Any,
    },
    GoalWording {
        kind: TaskKind::AddTest,
        verbs: &[
            "add", "cover", "create", "extend", "improve", "increase", "write",
        ],
        nouns: &[
            "coverage",
            "spec",
            "specs",
            "test",
            "testcase",
            "testcases",
            "tests",
            "unittest",
            "unittests",
        ],
        order: WordOrder::Object,
    },
    GoalWording {
        kind: TaskKind::FixBuild,
        verbs: &[
            "broken", "error", "errors", "fail", "failing", "fails", "failure", "failures", "fix",
            "fixes", "repair", "resolve",
        ],
        nouns: &[
            "build",
            "builds",
            "bundle",
            "ci",
            "compilation",
            "compile",
            "compiles",
            "import",
            "imports",
            "module",
            "modules",
            "startup",
        ],
        order: WordOrder::Any,
    },
    GoalWording {
        kind: TaskKind::Docs,
        verbs: &[
            "add",
            "clarify",
            "correct",
            "edit",
            "extend",
            "fix",
            "improve",
            "rewrite",
            "translate",
            "update",
            "write",
        ],
        nouns: &[
            "changelog",
            "docs",
            "docstring",
            "docstrings",
            "documentation",
            "guide",
            "readme",
            "tutorial",
        ],
        order: WordOrder::Object,
    },
    GoalWording {
        kind: TaskKind::Refactor,
        verbs: &[
            "deduplicate",
            "extract",
            "inline",
            "refactor",
            "refactoring",
            "rename",
            "reorganise",
            "reorganize",
            "restructure",
            "simplify",
        ],
        nouns: &[],
        order: WordOrder::Any,
    },
    GoalWording {
        kind: TaskKind::CreateApp,
        verbs: &[
            "build",
            "create",
            "develop",
            "generate",
            "implement",
            "make",
            "scaffold",
            "write",
        ],
        nouns: &[
            "app",
            "application",
            "cli",
            "daemon",
            "game",
            "gui",
            "program",
            "script",
            "server",
            "service",
            "tool",
        ],
        order: WordOrder::Object,
    },
    GoalWording {
        kind: TaskKind::Frontend,
        verbs: &[],
        nouns: &[
            "button",
            "css",
            "dropdown",
            "frontend",
            "html",
            "layout",
            "navbar",
            "stylesheet",
            "stylesheets",
            "tooltip",
            "ui",
            "vite",
        ],
        order: WordOrder::Any,
    },
    GoalWording {
        kind: TaskKind::FixError,
        verbs: &[
            "broken",
            "bug",
            "bugs",
            "crash",
            "crashes",
            "defect",
            "error",
            "errors",
            "exception",
            "failing",
            "fails",
            "failure",
            "fix",
            "fixes",
            "regression",
            "repair",
            "traceback",
        ],
        nouns: &[],
        order: WordOrder::Any,
    },
];

impl GoalWording {
    fn fits_words(&self, words: &[String]) -> bool {
        let places = |wanted: &[&str]| -> Vec<usize> {
            words
                .iter()
                .enumerate()
                .filter(|(_, word)| wanted.contains(&word.as_str()))
                .map(|(place, _)| place)
                .collect()
        };
        let (verbs, nouns) = (places(self.verbs), places(self.nouns));
        let has = |wanted: &[&str], found: &[usize]| wanted.is_empty() || !found.is_empty();
        match self.order {
            WordOrder::Any => has(self.verbs, &verbs) && has(self.nouns, &nouns),
            WordOrder::Object => verbs
                .iter()
                .any(|verb| nouns.iter().any(|noun| is_object(words, *verb, *noun))),
        }
    }
}

fn is_object(words: &[String], verb: usize, noun: usize) -> bool {
    verb < noun
        && noun - verb <= FARTHEST_OBJECT + 1
        && !words[verb + 1..noun]
            .iter()
            .any(|word| CLAUSE_ENDS.contains(&word.as_str()))
}

/// Returns the words of a text in lower case. A word is a run of letters and digits.
pub(super) fn split_words(text: &str) -> Vec<String> {
    text.split(|character: char| !character.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .collect()
}

/// Returns the listed files that a text names: by path, or by a name or path ending that only one file has.
fn named_files(text: &str, listing: &Listing) -> Vec<String> {
    let is_edge = |character: char| !(character.is_alphanumeric() || "_-./@+".contains(character));
    let named = |token: &str| -> Option<String> {
        let token = token
            .trim_start_matches(is_edge)
            .trim_end_matches(|end| is_edge(end) || end == '.')
            .trim_start_matches("./");
        if listing.files.contains(token) {
            return Some(token.to_owned());
        }
        if !token.contains('.') {
            return None;
        }
        let mut ending = listing
            .files
            .iter()
            .filter(|file| file_name_of(file) == token || file.ends_with(&format!("/{token}")));
        match (ending.next(), ending.next()) {
            (Some(file), None) => Some(file.clone()),
            (Some(_), Some(_)) | (None, _) => None,
        }
    };
    text.split_whitespace()
        .take(MAX_GOAL_WORDS)
        .filter_map(named)
        .collect()
}

/// Maximum number of words of a goal that are searched for file names. Goals are sentences.
const MAX_GOAL_WORDS: usize = 300;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_words_make_the_kind() {
        let cases = [
            ("fix typo in README.md", TaskKind::Tiny),
            ("Fix Vite import errors", TaskKind::FixBuild),
            ("The build fails on Windows", TaskKind::FixBuild),
            ("fix the CI", TaskKind::FixBuild),
            ("fix the specific rounding of amounts", TaskKind::FixError),
            ("add a new test", TaskKind::AddTest),
            ("Write unit tests for the parser", TaskKind::AddTest),
            ("add a login page and a test", TaskKind::General),
            ("add logging with tests", TaskKind::General),
            ("make the tests pass", TaskKind::General),
            ("contest the latest attestation", TaskKind::General),
            ("create a Python GUI", TaskKind::CreateApp),
            ("create a small command line tool", TaskKind::CreateApp),
            (
                "implement paging as the README describes for the server",
                TaskKind::General,
            ),
            ("update the documentation", TaskKind::Docs),
            ("fix a crash in the docs parser", TaskKind::FixError),
            ("Refactor the store", TaskKind::Refactor),
            ("align the button in the navbar", TaskKind::Frontend),
            ("build a better guide index", TaskKind::General),
            ("", TaskKind::General),
        ];
        for (goal, expected) in cases {
            assert_eq!(TaskKind::from_goal(goal), expected, "{goal:?}");
        }
    }

    #[test]
    fn every_kind_but_the_last_has_its_words_in_the_order_of_the_kinds() {
        let kinds: Vec<TaskKind> = WORDINGS.iter().map(|wording| wording.kind).collect();
        assert_eq!(
            [kinds.as_slice(), &[TaskKind::General]].concat(),
            TaskKind::ALL
        );
    }

    #[test]
    fn a_goal_names_files_by_path_or_by_a_name_that_only_one_has() {
        let files = ["src/app.py", "a/x.js", "b/x.js", "Makefile"].map(str::to_owned);
        let listing = Listing {
            files: files.into_iter().collect(),
            ..Listing::default()
        };
        let named = |goal: &str| named_files(goal, &listing);
        assert_eq!(named("fix `app.py`, please"), ["src/app.py"]);
        assert_eq!(named("see (a/x.js)."), ["a/x.js"]);
        assert_eq!(named("x.js and the app"), Vec::<String>::new());
        assert_eq!(named("edit Makefile"), ["Makefile"]);
    }
}
