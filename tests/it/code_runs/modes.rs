//! What a program does to modes, owners, times and attributes, and files that are hard to read, keep or remove.

use std::os::unix::fs::{MetadataExt, PermissionsExt};

use super::*;

fn mode(path: &Path) -> u32 {
    fs::symlink_metadata(path)
        .expect("there")
        .permissions()
        .mode()
        & 0o7777
}

/// With namespaces no program changes the modes of what its user owns. Elsewhere they are set back, and the run does not count.
#[test]
#[cfg(target_os = "linux")]
fn modes_of_foreign_files_are_set_back() {
    let home = lasting_folder();
    fs::create_dir(home.path().join(".ssh"))
        .and_then(|()| fs::write(home.path().join(".ssh/id"), "key"))
        .expect("ours");
    fs::set_permissions(
        home.path().join(".ssh/id"),
        fs::Permissions::from_mode(0o600),
    )
    .expect("ours");
    for (who, isolation) in [("approach", true), ("approach", false), ("program", true)] {
        let place = lasting_folder();
        let code = Code::new("setup: ['sh setup.sh']\ntests: {shared: ['true']}\n", "")
            .at(place.path().join("project"));
        let root = code.project.path("").canonicalize().expect("there");
        let home = home.path().canonicalize().expect("there");
        code.project
            .file("results/first.json", "{\"id\":\"first\",\"suite\":\"s\",\"approach\":\"b\",\"model\":\"m\",\"status\":\"completed\"}\n")
            .file("results/first/items.jsonl", "");
        let evil = format!(
            "touch -d 2001-01-01 {0}/suites/s/order.md; chmod 644 {1}/.ssh/id; chmod 000 {0}/results/first.json {0}/results/first/items.jsonl {0}/results/first\n\
             chmod 000 {0}/evalreport.yaml; chmod 500 {0}/results; chmod 777 {0}/suites/s/order.md; true",
            root.display(),
            home.display()
        );
        let (now, later) = if who == "approach" {
            (evil.as_str(), "true")
        } else {
            ("true", evil.as_str())
        };
        code.project.file(
            "a.sh",
            format!("cat > setup.sh <<'END'\n{later}\nEND\n{now}\n"),
        );
        let watched = [
            "results",
            "results/first.json",
            "results/first",
            "results/first/items.jsonl",
            "evalreport.yaml",
            "suites/s/order.md",
        ]
        .map(|path| root.join(path));
        let all = || {
            watched
                .iter()
                .map(|path| mode(path))
                .chain([mode(&home.join(".ssh/id"))])
                .collect::<Vec<_>>()
        };
        let (before, time) = (
            all(),
            fs::metadata(root.join("suites/s/order.md"))
                .expect("there")
                .mtime(),
        );
        let more: &[&str] = if isolation { &[] } else { &["--no-isolation"] };
        code.command(more, &[("HOME", &home.display().to_string())]);
        assert_eq!(all(), before, "{who} {isolation}");
        assert_eq!(
            fs::metadata(root.join("suites/s/order.md"))
                .expect("there")
                .mtime(),
            time
        );
        let ran = code
            .all()
            .into_iter()
            .find(|ran| ran.header["approach"] == "a")
            .expect("it is recorded");
        let is_protected = isolation && has_spaces(&code.project);
        assert_eq!(ran.error().starts_with("tampered: "), !is_protected);
        if is_protected {
            ran.ended("completed", "");
            continue;
        }
        assert!(
            ran.error().starts_with("tampered: ") && ran.error().contains("was changed"),
            "{}",
            ran.error()
        );
        ran.is_untested();
    }
}

/// Whatever is in a workspace, the run ends, what can be kept is kept, and the workspace is removed.
#[test]
#[cfg(target_os = "linux")]
fn a_hostile_workspace_stops_no_batch_and_leaves_nothing() {
    needs!("python3");
    let make = "import os, socket\n\
                open('good.txt', 'w').write('good')\n\
                open('unreadable.txt', 'w').write('x'); os.chmod('unreadable.txt', 0)\n\
                os.makedirs('closed/inner'); open('closed/inner/x', 'w').write('in'); os.chmod('closed/inner', 0); os.chmod('closed', 0)\n\
                open('sparse.bin', 'wb').truncate(1 << 40)\n\
                os.mkfifo('fifo'); os.symlink('/dev/zero', 'zero'); os.symlink('/', 'root'); os.symlink('/etc/passwd', 'passwd'); os.link('good.txt', 'hard.txt')\n\
                socket.socket(socket.AF_UNIX).bind('socket')\n\
                open('new\\nline.txt', 'w').write('x')\n\
                top = os.getcwd(); n = len(top)\n\
                while n < 3800: os.mkdir('p' * 200); os.chdir('p' * 200); n += 201\n\
                open('f' * 200, 'w').write('x'); os.chdir(top)\n\
                for i in range(1500): os.mkdir('d'); os.chdir('d')\n";
    let code = Code::new("tests: {shared: ['true']}\n", "");
    code.project.file(
        "a.sh",
        format!("cat > make.py <<'END'\n{make}END\npython3 make.py\n"),
    );
    // Also checks that the workspace is gone.
    let ran = code.run_with(&[], &[]);
    assert_eq!(ran.status(), "completed", "{}", ran.error());
    ran.shared(1, 1);
    assert_eq!(
        (
            ran.kept("good.txt"),
            ran.kept("hard.txt"),
            ran.kept("closed/inner/x")
        ),
        (Some("good"), Some("good"), Some("in"))
    );
    assert!(
        ran.error().contains("not kept: ")
            && ran.error().contains("sparse.bin (more than 32 MiB in all)"),
        "{}",
        ran.error()
    );
    let is_root = fs::read("/proc/self/status")
        .is_ok_and(|status| String::from_utf8_lossy(&status).contains("\nUid:\t0\t"));
    assert_eq!(
        ran.kept("unreadable.txt").is_some(),
        is_root,
        "only root reads what its owner may not"
    );
    assert!(
        is_root || ran.error().contains("unreadable.txt (Permission denied"),
        "{}",
        ran.error()
    );
    for absent in ["fifo", "zero", "root", "passwd", "socket"] {
        assert_eq!(ran.kept(absent), None, "{absent}");
    }
}

/// Names that are no text are kept, sealed and shown.
#[test]
#[cfg(target_os = "linux")]
fn names_of_any_bytes_are_kept() {
    needs!("python3");
    let code = Code::new("tests: {shared: ['true']}\n", "");
    code.project.file(
        "a.sh",
        "python3 -c \"open(b'bad\\xff\\xfename.txt', 'w').write('x')\"\n",
    );
    code.command(&[], &[]);
    let verified = code.project.run(["doctor", "--verify"]);
    assert_eq!(verified.code, 0, "{}", verified.stdout);
}

/// Each of so many files was synced by itself, which took three minutes.
#[test]
#[cfg(target_os = "linux")]
fn many_files_are_kept_at_once() {
    needs!("python3");
    let code = Code::new("tests: {shared: ['true']}\n", "");
    code.project.file(
        "a.sh",
        "python3 -c \"import os\nfor i in range(20):\n  os.mkdir(f'm{i}')\n  for j in range(1000): open(f'm{i}/{j}.txt', 'w').close()\"\n",
    );
    let begun = std::time::Instant::now();
    code.command(&[], &[]);
    assert_eq!(
        code.project
            .files("results")
            .iter()
            .filter(|file| file.contains("/output/m"))
            .count(),
        20_000
    );
    assert!(begun.elapsed().as_secs() < 120, "{:?}", begun.elapsed());
}
