//! A frontend with the real Vite and vitest: its build, its dev server and the tests that are related to a file.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;

use super::projects::stands_then_breaks;
use super::{Checkout, is_running};
use crate::needs;
use crate::programs::Start as _;

/// The newest that run on every node that Debian has.
const PACKAGES: [&str; 2] = ["vite@5.4.21", "vitest@2.1.9"];

const ADDER: &str = "export const add = (left, right) => left + right;\n";
const MAIN: &str = "import { add } from './adder.js';\ndocument.title = String(add(1, 2));\n";
const FILES: [(&str, &str); 9] = [
    (
        "package.json",
        "{\"name\": \"app\", \"version\": \"0.0.0\", \"type\": \"module\", \"devDependencies\": {\"vite\": \"^5.0.0\", \"vitest\": \"^2.0.0\"},\n\
         \"scripts\": {\"dev\": \"vite --host 127.0.0.1\", \"build\": \"vite build\", \"test\": \"vitest run\"}}\n",
    ),
    // The packages are those of other tests too: what Vite keeps for later belongs elsewhere.
    ("vite.config.js", "export default { cacheDir: '.vite' };\n"),
    (".gitignore", "node_modules\n.vite\ndist\n"),
    (
        "index.html",
        "<!doctype html>\n<script type=\"module\" src=\"/src/main.js\"></script>\n",
    ),
    ("src/main.js", MAIN),
    ("src/adder.js", ADDER),
    ("src/other.js", "export const other = () => 1;\n"),
    (
        "src/adder.test.js",
        "import { expect, test } from 'vitest';\nimport { add } from './adder.js';\ntest('adds', () => expect(add(1, 2)).toBe(3));\n",
    ),
    (
        "src/other.test.js",
        "import { expect, test } from 'vitest';\nimport { other } from './other.js';\ntest('stands', () => expect(other()).toBe(3));\n",
    ),
];

/// A checkout with its packages.
fn frontend() -> Checkout {
    let packages = packages().expect("the test needs Vite");
    let checkout = Checkout::new(&FILES);
    std::os::unix::fs::symlink(packages, checkout.app().join("node_modules")).expect("a link");
    checkout
}

/// Vite and vitest, installed once and kept beside the build; `None` if they cannot be had.
pub fn packages() -> Option<PathBuf> {
    if !(needs::is_met("node") && needs::is_met("npm")) {
        return None;
    }
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    fs::create_dir_all(folder).expect("the build's folder");
    let (project, done) = (folder.join("vite"), folder.join("vite.done"));
    let lock = File::create(folder.join("vite.lock")).expect("the build's folder can be written");
    lock.lock().expect("one at a time");
    // A word about which ones are there, so that others are brought when they are wanted.
    let wanted = PACKAGES.join(" ");
    if fs::read_to_string(&done).ok().as_ref() != Some(&wanted) {
        fs::create_dir_all(&project).expect("a folder");
        fs::write(project.join("package.json"), "{\"private\": true}\n").expect("a file");
        let install = [
            "install",
            "--no-audit",
            "--no-fund",
            "--no-save",
            "--loglevel=error",
        ];
        let output = Command::new("npm")
            .args(install)
            .args(PACKAGES)
            .current_dir(&project)
            .finish();
        if !output.status.success() {
            eprintln!(
                "Vite cannot be installed: {}",
                String::from_utf8_lossy(&output.stderr)
            );
            return None;
        }
        fs::write(&done, wanted).expect("a file");
    }
    Some(project.join("node_modules"))
}

#[test]
fn a_build_that_breaks_is_told() {
    needs!("Vite");
    let checkout = frontend();
    checkout.write("src/main.js", &MAIN.replace("adder.js", "gone.js"));
    let goal = "Fix Vite import errors";
    let fast = checkout.verify(goal, "fast");
    fast.ended(1, "not_done", "continue");
    assert_eq!(
        (
            fast.text("stack"),
            fast.text("smokeTest"),
            fast.text("buildCommand")
        ),
        ("vite_frontend", "npm run dev", "npm run build")
    );
    assert_eq!(
        (fast.commands()[0], fast.outcomes()[0]),
        ("npm run build", "failed")
    );
    assert_eq!(
        fast.answer["checks"][0]["baseline"], "passed",
        "{:#}",
        fast.answer
    );
    let failures = &fast.answer["failures"];
    assert_eq!(
        (&failures[0]["scope"], &failures[0]["files"]),
        (&"blocking".into(), &serde_json::json!(["src/main.js"])),
        "{failures:#}"
    );
    // The dev server starts all the same, which is why the build is asked beside it.
    let smoke = checkout.verify(goal, "smoke");
    smoke.ended(1, "not_done", "continue");
    assert_eq!(
        (smoke.commands(), smoke.outcomes()),
        (
            vec!["npm run dev", "npm run build"],
            vec!["passed", "failed"]
        )
    );

    checkout.commit();
    checkout.write("src/main.js", MAIN);
    let mended = checkout.verify(goal, "smoke");
    mended.ended(0, "done_success", "stop");
    assert_eq!(
        (mended.outcomes(), mended.fixed().len()),
        (vec!["passed", "passed"], 1),
        "{:#}",
        mended.answer
    );
}

#[test]
fn a_dev_server_is_up_when_it_says_so() {
    needs!("Vite");
    let checkout = frontend();
    checkout.write("src/main.js", &MAIN.replace("1, 2", "2, 2"));
    // Without the script, Vite is started by its own name.
    checkout.write(
        "package.json",
        &FILES[0]
            .1
            .replace("\"dev\": \"vite --host 127.0.0.1\", ", ""),
    );
    let verified = checkout.verify("Show the other number on the page", "yolo");
    verified.ended(0, "done_success", "stop");
    assert_eq!(
        (verified.commands(), verified.outcomes()),
        (vec!["npx --no-install vite"], vec!["passed"])
    );
    assert!(
        !is_running(&checkout.project.path("").display().to_string()),
        "the server is stopped"
    );
    checkout.write("vite.config.js", "throw new Error('no configuration');\n");
    let broken = checkout.verify("Show the other number on the page", "yolo");
    broken.ended(1, "not_done", "continue");
    assert_eq!(broken.outcomes(), ["failed"]);
}

#[test]
fn vitest() {
    needs!("Vite");
    let checkout = frontend();
    let good = "export const add = (left, right) => right + left;\n";
    let bad = "export const add = (left, right) => right - left;\n";
    let [fast, strict, _] = stands_then_breaks(
        &checkout,
        "Turn the sum around",
        ("src/adder.js", good),
        ("src/adder.js", bad),
    );
    assert_eq!(fast.commands(), ["npm test", "npm run dev"]);
    assert!(
        matches!(fast.scopes().as_slice(), [("out_of_scope", test)] if test.contains("stands")),
        "{:#}",
        fast.answer
    );
    let all = (
        vec!["npm test", "npm run dev", "npm run build"],
        vec!["failed", "passed", "passed"],
    );
    assert_eq!((strict.commands(), strict.outcomes()), all);
    // The tests that lead to the changed file, and no others.
    let targeted = checkout.verify("fix a typo in the sum", "fast");
    targeted.ended(1, "not_done", "continue");
    assert_eq!(
        targeted.commands(),
        [
            "npx --no-install vitest related --run src/adder.js",
            "npm run dev"
        ]
    );
    assert!(
        matches!(targeted.scopes().as_slice(), [("blocking", test)] if test.contains("adds")),
        "{:#}",
        targeted.answer
    );
}
