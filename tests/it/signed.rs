//! Bundles that say who made them: what is sealed is carried as it is, what was changed on the way is refused, and a signature is checked
//! before anything is read.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use evalreport::domain::{Run, RunId};
use evalreport::results::Store;
use serde_json::Value;
use ssh_key::private::Ed25519Keypair;
use ssh_key::{LineEnding, PrivateKey};

use crate::programs::Start as _;
use crate::support::{Project, question};

/// A store of one sealed run with everything, and the keys of two people.
fn published() -> Project {
    let project = Project::new();
    project.items(
        "one",
        &[question("q1", 1, "pass"), question("q2", 1, "fail")],
    );
    project
        .file(
            "results/one/transcript.jsonl",
            "{\"entry\": {\"role\": \"user\"}}\n",
        )
        .file("results/one/output/src/a.py", "print()\n");
    let run = Run::new(RunId::parse("one").expect("an id"), "quiz", "a", "m1");
    Store::new(project.path("results"))
        .save_run(&run)
        .expect("room");
    for (name, seed) in [("nightly", 1), ("other", 2)] {
        let key = PrivateKey::from(Ed25519Keypair::from_seed(&[seed; 32]));
        project.file(name, key.to_openssh(LineEnding::LF).expect("a key"));
        private(&project, name);
        let public = key.public_key().to_openssh().expect("a key");
        project.file(&format!("{name}.pub"), &public).file(
            &format!("{name}.signers"),
            format!("# us\n{name}@example.org {public}\n"),
        );
    }
    project
}

/// As `ssh-keygen` wants its keys.
fn private(project: &Project, name: &str) {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        fs::set_permissions(project.path(name), fs::Permissions::from_mode(0o600)).expect("ours");
    }
    let _ = (project, name);
}

fn export(project: &Project, arguments: &[&str]) {
    let output = project.run(["export", "bundle"].iter().chain(arguments).copied());
    assert_eq!(output.code, 0, "{}", output.stderr);
}

#[track_caller]
fn refused(project: &Project, arguments: &[&str], words: &str) {
    let output = project.run(
        ["import", "--results", "away"]
            .iter()
            .chain(arguments)
            .copied(),
    );
    assert_eq!(output.code, 2, "{}{}", output.stdout, output.stderr);
    assert!(
        [&output.stdout, &output.stderr]
            .iter()
            .any(|text| text.contains(words)),
        "{words}: {}{}",
        output.stdout,
        output.stderr
    );
    assert!(
        !project.path("away/one.json").exists(),
        "{words}: nothing is stored"
    );
}

#[test]
fn who_signed_is_stored_and_shown_and_not_handed_on() {
    let project = published();
    export(&project, &["a.bundle", "--sign-key", "nightly"]);
    let import = project.run([
        "import",
        "a.bundle",
        "--signed-by",
        "nightly.signers",
        "--results",
        "away",
    ]);
    assert_eq!(import.code, 0, "{}", import.stderr);
    assert!(
        import
            .stderr
            .contains("a.bundle: signed by nightly@example.org (SHA256:"),
        "{}",
        import.stderr
    );

    let header: Value = serde_json::from_str(&project.read("away/one.json")).expect("JSON");
    assert_eq!(
        header["carried"]["signed_by"]["name"],
        "nightly@example.org"
    );
    let show = project.run(["show", "one", "--results", "away"]);
    assert!(
        show.answer().contains("nightly@example.org"),
        "{}",
        show.stdout
    );
    assert_eq!(
        project
            .run(["build", "--out", "site", "--results", "away"])
            .code,
        0
    );
    let pages = project.files("site").into_iter().filter(|file| {
        Path::new(file)
            .extension()
            .is_some_and(|found| found == "html")
    });
    let naming: Vec<String> = pages
        .filter(|page| project.read(page).contains("nightly@example.org"))
        .collect();
    assert!(naming.iter().any(|page| page.contains("one")), "{naming:?}");
    let doctor = project.run(["doctor", "--verify", "--results", "away"]);
    assert!(
        doctor.answer().ends_with("away: 1 run sealed\n"),
        "{}",
        doctor.stdout
    );
    let claim = project
        .read("away/one.json")
        .replace("nightly@", "mallory@");
    project.file("away/one.json", claim);
    assert_eq!(
        project
            .run(["doctor", "--verify", "--results", "away"])
            .code,
        1,
        "also who signed is under a digest"
    );

    // Whoever takes it from there knows nothing of the first signature, and what was sealed is the same to the byte.
    let first = project.read("results/one.json");
    for from in ["results", "away"] {
        project.file(
            "away/one.json",
            project
                .read("away/one.json")
                .replace("mallory@", "nightly@"),
        );
        let bundle = format!("{from}.jsonl");
        export(&project, &[&bundle, "--results", from]);
        let output = project.run(["import", &bundle, "--results", &format!("{from}-again")]);
        assert_eq!(output.code, 0, "{}", output.stderr);
        assert_eq!(project.read(&format!("{from}-again/one.json")), first);
    }
}

/// A header by hand, a lake and a bundle may say anything about a signer. Only what an import into this store checked is shown.
#[test]
fn a_claim_to_be_signed_is_not_shown_as_a_signature() {
    const CLAIM: &str =
        "\"carried\":{\"signed_by\":{\"name\":\"boss@example.org\",\"key\":\"SHA256:forged\"}}";
    let project = published();
    let sealed = project.read("results/one.json");
    let plain = "{\"id\":\"two\",\"suite\":\"s\",\"approach\":\"a\",\"model\":\"m\",\"shared_tests_passed\":1,\"shared_tests_total\":2";
    let digest = format!(
        "{},\"sha256\":\"{}\"}}",
        CLAIM.strip_suffix('}').expect("an object"),
        "0".repeat(64)
    );
    let claims = [
        ("two", format!("{plain},{CLAIM}}}")),
        ("two", format!("{plain},{digest}}}")),
        (
            "two",
            format!("{{{CLAIM},{}", plain.strip_prefix('{').expect("an object")) + "}",
        ),
        (
            "one",
            sealed.replacen(",\"seal\":", &format!(",{CLAIM},\"seal\":"), 1),
        ),
        (
            "one",
            format!(
                "{},{CLAIM}}}\n",
                sealed.trim_end().strip_suffix('}').expect("an object")
            ),
        ),
    ];
    for (run, claim) in claims {
        let project = published();
        project.file(&format!("results/{run}.json"), &claim);
        let nowhere = |what: &str, project: &Project, folder: &str| {
            for path in project.files(folder) {
                let bytes = fs::read(project.path(&path)).expect("just listed");
                assert!(
                    !bytes.windows(7).any(|part| part == b"boss@ex"),
                    "{what} of {claim}: {path}"
                );
            }
        };
        let show = project.run(["show", run]);
        assert!(
            show.stdout.contains(run) && !show.stdout.contains("boss@"),
            "{claim}: {}{}",
            show.stdout,
            show.stderr
        );
        // In place, from another folder, by a cache that knows it, and as a lake.
        for arguments in [
            &["build", "--out", "site"][..],
            &["build", "--out", "site"],
            &["build", "results", "--results", "none", "--out", "other"],
        ] {
            fs::create_dir_all(project.path("none")).expect("a folder");
            let built = project.run(arguments.iter().copied());
            // What was changed after it was sealed is not published at all.
            assert!(
                built.code == 0
                    || arguments.len() > 3
                    || built.stderr.contains("was changed after it was sealed"),
                "{}",
                built.stderr
            );
        }
        nowhere("pages", &project, "site");
        if project.path("other").exists() {
            nowhere("pages of a folder in place", &project, "other");
        }
        let lake = project.run(["export", "lake", "lake"]);
        if lake.code == 0 {
            let show = project.run(["show", run, "--results", "lake:lake"]);
            assert!(!show.stdout.contains("boss@"), "{}", show.stdout);
        }
    }
}

#[test]
fn what_nobody_signed_who_may_is_refused() {
    let project = published();
    export(&project, &["a.bundle"]);
    refused(
        &project,
        &["a.bundle", "--signed-by", "nightly.signers"],
        "a.bundle: has no signature: there is no a.bundle.sig",
    );
    export(&project, &["a.bundle", "--sign-key", "nightly"]);
    refused(
        &project,
        &["a.bundle", "--signed-by", "other.signers"],
        "which is not in other.signers",
    );
    refused(
        &project,
        &["a.bundle", "--signed-by", "nightly.pub"],
        "nightly.pub:1: is no line of an allowed signer",
    );
    let public = project.read("nightly.pub");
    project.file(
        "later.signers",
        format!("a@b valid-before=\"20200101\" {public}\n"),
    );
    refused(
        &project,
        &["a.bundle", "--signed-by", "later.signers"],
        "has the option `valid-before`, which is not understood here",
    );

    let bytes = fs::read(project.path("a.bundle")).expect("there");
    let mut changed = bytes.clone();
    *changed.last_mut().expect("some") ^= 1;
    project.bytes("a.bundle", &changed);
    refused(
        &project,
        &["a.bundle", "--signed-by", "nightly.signers"],
        "a.bundle: is not the file that a.bundle.sig is the signature of",
    );
    project
        .bytes("a.bundle", &bytes)
        .file("a.bundle.sig", "hello");
    refused(
        &project,
        &["a.bundle", "--signed-by", "nightly.signers"],
        "a.bundle.sig: is no signature of OpenSSH's",
    );
    // Nor is it written over.
    let again = project.run(["export", "bundle", "a.bundle", "--sign-key", "nightly"]);
    assert!(
        again.code == 2
            && again
                .stderr
                .contains("a.bundle.sig: it is there, and is no signature"),
        "{}",
        again.stderr
    );
    let key = project.run(["export", "bundle", "b.bundle", "--sign-key", "nightly.pub"]);
    assert!(
        key.code == 2
            && key
                .stderr
                .contains("nightly.pub: is no private key of OpenSSH's"),
        "{}",
        key.stderr
    );
    assert!(!project.path("b.bundle").exists());
}

#[test]
fn a_bundle_that_was_changed_on_the_way_is_refused() {
    let project = published();
    export(&project, &["a.jsonl"]);
    let whole = project.read("a.jsonl");
    for (from, to, words) in [
        (
            "\"status\":\"fail\"",
            "\"status\":\"pass\"",
            "its outcomes were changed after the run was sealed",
        ),
        (
            "\"model\":\"m1\"",
            "\"model\":\"m2\"",
            "the header of `one` was changed after it was sealed",
        ),
        (
            "\"role\": \"user\"",
            "\"role\": \"none\"",
            "its transcript was changed after the run was sealed",
        ),
        (
            "print()",
            "print(1)",
            "what it made was changed after the run was sealed",
        ),
        (
            ",\"seal\":",
            ",\"carried\":{\"signed_by\":{\"name\":\"n\",\"key\":\"k\"}},\"seal\":",
            "was changed after it was sealed",
        ),
    ] {
        assert!(whole.contains(from), "{whole}");
        project.file("changed.jsonl", whole.replacen(from, to, 1));
        refused(&project, &["changed.jsonl"], words);
    }
    // What was left out is no change, here or further on.
    export(&project, &["slim.bundle", "--slim"]);
    assert_eq!(
        project
            .run(["import", "slim.bundle", "--results", "away"])
            .code,
        0
    );
    let doctor = project.run(["doctor", "--verify", "--results", "away"]);
    assert!(
        doctor.answer().ends_with("away: 1 run sealed\n"),
        "{}",
        doctor.stdout
    );
    export(&project, &["again.bundle", "--results", "away"]);
    assert_eq!(
        project
            .run(["import", "again.bundle", "--results", "further"])
            .code,
        0
    );
    assert_eq!(
        project
            .run(["doctor", "--verify", "--results", "further"])
            .code,
        0
    );
}

#[test]
fn openssh_reads_what_is_signed_here_and_signs_what_is_read_here() {
    needs!("ssh-keygen");
    let project = published();
    let ssh_keygen = |arguments: &[&str]| {
        let mut command = Command::new("ssh-keygen");
        command
            .env("PATH", std::env::var("PATH").unwrap_or_default())
            .args(arguments);
        project.output(&mut command)
    };
    export(&project, &["a.bundle", "--sign-key", "nightly"]);
    let verified = Command::new("ssh-keygen")
        .current_dir(project.path("."))
        .args([
            "-Y",
            "verify",
            "-n",
            "evalreport",
            "-f",
            "nightly.signers",
            "-I",
            "nightly@example.org",
            "-s",
            "a.bundle.sig",
        ])
        .stdin(fs::File::open(project.path("a.bundle")).expect("there"))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .start()
        .finish();
    assert!(
        verified.status.success(),
        "{}",
        String::from_utf8_lossy(&verified.stderr)
    );

    // With a passphrase there is no other way.
    let made = ssh_keygen(&[
        "-q",
        "-t",
        "ed25519",
        "-N",
        "open sesame",
        "-C",
        "",
        "-f",
        "locked",
    ]);
    assert_eq!(made.code, 0, "{}", made.stderr);
    let locked = project.run(["export", "bundle", "b.bundle", "--sign-key", "locked"]);
    assert!(
        locked.code == 2 && locked.stderr.contains("is a key with a passphrase"),
        "{}",
        locked.stderr
    );
    assert!(
        locked
            .stderr
            .contains("ssh-keygen -Y sign -n evalreport -f locked b.bundle"),
        "{}",
        locked.stderr
    );

    for (namespace, code) in [("evalreport", 0), ("git", 2)] {
        fs::remove_file(project.path("a.bundle.sig")).expect("ours");
        let signed = ssh_keygen(&["-Y", "sign", "-n", namespace, "-f", "other", "a.bundle"]);
        assert_eq!(signed.code, 0, "{}", signed.stderr);
        let import = project.run([
            "import",
            "a.bundle",
            "--signed-by",
            "other.signers",
            "--results",
            "away",
        ]);
        assert_eq!(import.code, code, "{namespace}: {}", import.stderr);
    }
}
