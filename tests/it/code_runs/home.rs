//! The home folder of confined programs: everything that people and programs keep there is out of reach, whatever the home folder is, and
//! what a run needs of it works.

use std::fs;
use std::path::Path;

use super::*;

/// Where people and programs keep keys, histories and other things of theirs.
const SECRETS: [&str; 64] = [
    ".age/key.txt",
    ".aws/credentials",
    ".azure/accessTokens.json",
    ".bash_history",
    ".boto",
    ".cache/huggingface/token",
    ".cargo/credentials.toml",
    ".claude.json",
    ".claude/.credentials.json",
    ".claude/history.jsonl",
    ".claude/settings.json",
    ".codex/auth.json",
    ".codex/config.toml",
    ".composer/auth.json",
    ".config/BraveSoftware/x",
    ".config/Code/User/globalStorage/state.vscdb",
    ".config/chromium/Default/Cookies",
    ".config/doctl/config.yaml",
    ".config/gcloud/credentials.db",
    ".config/gh/hosts.yml",
    ".config/git/credentials",
    ".config/github-copilot/hosts.json",
    ".config/heroku/x",
    ".config/hub",
    ".config/huggingface/token",
    ".config/ngrok/ngrok.yml",
    ".config/opencode/opencode.json",
    ".config/rclone/rclone.conf",
    ".config/sops/age/keys.txt",
    ".config/stripe/config.toml",
    ".config/wandb/settings",
    ".databrickscfg",
    ".docker/config.json",
    ".env",
    ".fly/config.yml",
    ".gem/credentials",
    ".gemini/oauth_creds.json",
    ".git-credentials",
    ".gnupg/private-keys-v1.d/x.key",
    ".gradle/gradle.properties",
    ".kube/config",
    ".local/share/fish/fish_history",
    ".local/share/keyrings/login.keyring",
    ".local/share/opencode/auth.json",
    ".m2/settings.xml",
    ".modal.toml",
    ".mozilla/firefox/p/logins.json",
    ".my.cnf",
    ".netrc",
    ".node_repl_history",
    ".nuget/NuGet/NuGet.Config",
    ".password-store/x.gpg",
    ".pgpass",
    ".psql_history",
    ".pypirc",
    ".python_history",
    ".s3cfg",
    ".snowflake/config.toml",
    ".ssh/id_ed25519",
    ".terraform.d/credentials.tfrc.json",
    ".thunderbird/p/logins.json",
    ".vault-token",
    ".wrangler/config/default.toml",
    "Documents/letter.txt",
];

/// Says of each secret whether it can be read, by its real path and by `~`, and tries to leave something in the home folder.
const PROBE: &str = r#"
while read name; do
  for place in "$REAL" "$HOME"; do
    if cat "$place/$name" > /dev/null 2>&1; then echo "$name" >> seen.txt; fi
    if (echo x >> "$place/$name") 2>/dev/null && grep -q x "$REAL/$name"; then echo "$name" >> written.txt; fi
  done
done < "$LIST"
for path in .bashrc .config/evil .local/bin/evil .claude/settings.local.json; do
  (mkdir -p "$(dirname "$REAL/$path")" && echo evil >> "$REAL/$path") 2>/dev/null && echo "$path" >> written.txt
done
env | grep -E '^(SSH_AUTH_SOCK|DBUS_SESSION_BUS_ADDRESS|GPG_AGENT_INFO|XDG_RUNTIME_DIR|WAYLAND_DISPLAY|DISPLAY|KRB5CCNAME|DOCKER_HOST|XAUTHORITY)=' >> seen.txt
echo "$HOME" > home.txt
touch seen.txt written.txt
"#;

const VARIABLES: [(&str, &str); 9] = [
    ("SSH_AUTH_SOCK", "/tmp/agent.1"),
    ("DBUS_SESSION_BUS_ADDRESS", "unix:path=/run/user/0/bus"),
    ("GPG_AGENT_INFO", "/x:1:1"),
    ("XDG_RUNTIME_DIR", "/run/user/0"),
    ("WAYLAND_DISPLAY", "wayland-0"),
    ("DISPLAY", ":0"),
    ("KRB5CCNAME", "FILE:/tmp/krb5cc_0"),
    ("DOCKER_HOST", "unix:///var/run/docker.sock"),
    ("XAUTHORITY", "/tmp/x"),
];

/// The approach probes, and then setup, the program under test and the tests do.
fn probing(home: &Path) -> Code {
    for name in SECRETS {
        fs::create_dir_all(home.join(name).parent().expect("a folder")).expect("ours");
        fs::write(home.join(name), "the secret\n").expect("ours");
    }
    let real = home.canonicalize().expect("there").display().to_string();
    let probe = PROBE.replace("$REAL", &real);
    let phases = "setup: ['sh probe.sh', 'sh -c \"mkdir setup && mv *.txt setup\"']\ntests:\n  shared:\n    \
                  - 'cd \"$TMPDIR\" && sh \"$EVAL_WORKSPACE/probe.sh\" && test ! -s seen.txt && test ! -s written.txt'\n  own:\n    \
                  - 'mkdir own && cd own && sh ../probe.sh && cd .. && test ! -s own/seen.txt && test ! -s own/written.txt'\n";
    let code = Code::new(phases, "");
    let names = SECRETS.join("\\n");
    // Nobody but the approach may read the project's files by their names, so that the list goes with the probe.
    let script = format!(
        "cat > probe.sh <<'END'\nLIST=\"$TMPDIR/list\"\nprintf '{names}\\n' > \"$LIST\"\n{probe}\nEND\nsh probe.sh\nmkdir approach\nmv *.txt approach\n"
    );
    code.project.file("a.sh", script);
    code
}

/// Whoever probes sees nothing, and changes nothing.
#[track_caller]
fn sees_nothing(code: &Code, home: &Path, environment: &[(&str, &str)]) {
    let ran = code.run_with(&[], environment);
    ran.ended("completed", "");
    let file = |name: &str| ran.kept(name).unwrap_or("absent").to_owned();
    assert_eq!(
        (file("approach/seen.txt"), file("approach/written.txt")),
        (String::new(), String::new())
    );
    ran.shared(1, 1);
    assert_eq!(ran.counts("own"), [Some(1), Some(1)]);
    for name in SECRETS {
        assert_eq!(
            fs::read_to_string(home.join(name)).expect("there"),
            "the secret\n",
            "{name}"
        );
    }
    assert!(
        !home.join(".config/evil").exists()
            && !home.join(".local/bin/evil").exists()
            && !home.join(".bashrc").exists()
    );
}

#[test]
#[cfg(target_os = "linux")]
fn nothing_in_the_home_folder_is_readable() {
    needs!(crate::needs::LANDLOCK);
    let home = lasting_folder();
    let code = probing(home.path());
    let set = home.path().display().to_string();
    let environment: Vec<(&str, &str)> = VARIABLES
        .iter()
        .copied()
        .chain([("HOME", set.as_str())])
        .collect();
    sees_nothing(&code, home.path(), &environment);
}

#[test]
#[cfg(target_os = "linux")]
fn a_home_folder_is_found_through_links_and_around_the_project() {
    needs!(crate::needs::LANDLOCK);
    // A link to the home folder.
    let place = lasting_folder();
    let home = place.path().join("home");
    let code = probing(&home);
    std::os::unix::fs::symlink(&home, place.path().join("link")).expect("ours");
    sees_nothing(
        &code,
        &home,
        &[("HOME", &place.path().join("link").display().to_string())],
    );
    // The project is below the home folder, and its helper is read.
    let home = lasting_folder();
    let code = probing(home.path());
    let text = format!(
        ". \"$(dirname \"$0\")/lib.sh\"\n{}",
        code.project.read("a.sh")
    );
    code.project.file("a.sh", text).file("lib.sh", "set -e\n");
    sees_nothing(
        &code.at(home.path().join("work/project")),
        home.path(),
        &[("HOME", &home.path().display().to_string())],
    );
    // The project is the home folder itself.
    let code = probing(&tempfile::tempdir().expect("a folder").path().join("unused"));
    let home = code.project.path("").canonicalize().expect("there");
    let hidden: Vec<&str> = SECRETS
        .into_iter()
        .filter(|name| name.starts_with('.'))
        .collect();
    for name in &hidden {
        fs::create_dir_all(home.join(name).parent().expect("a folder")).expect("ours");
        fs::write(home.join(name), "the secret\n").expect("ours");
    }
    let read = |name: &&str| {
        format!(
            "cat '{}/{name}' && echo '{name}' >> seen.txt\n",
            home.display()
        )
    };
    let listed = hidden.iter().map(read).collect::<Vec<String>>().concat();
    code.project.file(
        "suites/s/suite.yaml",
        "name: s\nrequirements: suites/s/order.md\ntests: {shared: ['true']}\n",
    );
    code.project
        .file(
            "a.sh",
            format!(". \"$(dirname \"$0\")/lib.sh\"\n: > seen.txt\n{listed}true\n"),
        )
        .file("lib.sh", "echo read > lib.txt\n");
    let ran = code.run_with(&[], &[("HOME", &home.display().to_string())]);
    ran.ended("completed", "");
    assert_eq!(
        (ran.kept("seen.txt"), ran.kept("lib.txt")),
        (Some(""), Some("read\n"))
    );
}

/// Programs of toolchains in the home folder work, from any phase, and so do `HOME` unset and `HOME` of the system.
#[test]
#[cfg(target_os = "linux")]
fn what_a_run_needs_of_the_home_folder_works() {
    needs!(crate::needs::LANDLOCK, "python3");
    let home = tempfile::tempdir().expect("a folder");
    let tools = Project::at(home.path().to_owned());
    let script = "#!/bin/sh\nexec sh \"$(dirname \"$(readlink -f \"$0\")\")/../lib/say.sh\"\n";
    for place in [
        "opt/tool/bin/one",
        ".local/share/uv/tools/two/bin/two",
        ".tool/bin/three",
    ] {
        let folder = Path::new(place)
            .parent()
            .and_then(Path::parent)
            .expect("above");
        tools.file(place, script).file(
            &format!("{}/lib/say.sh", folder.display()),
            format!("echo {place}\n"),
        );
        assert!(
            std::process::Command::new("chmod")
                .arg("+x")
                .arg(home.path().join(place))
                .status()
                .expect("chmod")
                .success()
        );
    }
    tools.file(".local/bin/x", "").file(
        ".gitconfig",
        "[user]\n\tname = me\n\temail = me@example.org\n",
    );
    std::os::unix::fs::symlink(
        home.path().join(".local/share/uv/tools/two/bin/two"),
        home.path().join(".local/bin/two"),
    )
    .expect("ours");
    let set = home.path().display().to_string();
    let path = format!(
        "{set}/opt/tool/bin:{set}/.local/bin:{set}/.tool/bin:{}",
        std::env::var("PATH").unwrap_or_default()
    );
    let all = "one && two && three && git config --global user.name && ls ~/.local/bin/two";
    let suite = format!("setup: ['{all}']\ntests: {{shared: ['{all}'], own: ['{all}']}}\n");
    let code = Code::new(&suite, &format!("set -e\n{all}\n"));
    let ran = code.run_with(&[], &[("HOME", &set), ("PATH", &path)]);
    ran.ended("completed", "");
    ran.shared(1, 1);
    assert_eq!(ran.counts("own"), [Some(1), Some(1)]);
    for home in ["", "/", "/tmp", "relative", "/nowhere/at/all"] {
        let code = Code::new(
            "language: python\ntests: {shared: ['python -c \"import os; os.listdir(os.path.expanduser(chr(126)))\"']}\n",
            "cd && touch mine && cd - > /dev/null && git init --quiet . && python3 -c 'import json'\n",
        );
        let ran = code.run_with(&[], &[("HOME", home)]);
        ran.ended("completed", "");
        ran.shared(1, 1);
    }
}

/// An agent's program reads its own folder and changes copies; a shell reads none, whatever it would start.
#[test]
#[cfg(target_os = "linux")]
fn only_an_agents_own_program_has_its_folder() {
    needs!(crate::needs::LANDLOCK);
    let agent = "#!/bin/sh\ncd \"$HOME\" || exit 1\nfor f in .claude/.credentials.json .claude/settings.json .claude.json .claude/skills/s/SKILL.md \
                 .claude/projects/p.jsonl .codex/auth.json .codex/config.toml; do if [ -r \"$f\" ] && cat \"$f\" > /dev/null 2>&1; then echo $f; fi; done \
                 > \"$OLDPWD/read.txt\"\necho new > .claude/.credentials.json\necho hooks > .claude/settings.json\necho mcp > .claude.json\n\
                 mkdir -p .claude/projects && echo session > .claude/projects/new.jsonl\n(echo evil > .claude/skills/s/SKILL.md) 2>/dev/null\n\
                 (echo evil > REAL/.claude/settings.json) 2>/dev/null\n(rm -f REAL/.claude/settings.json) 2>/dev/null\ntrue\n";
    let home = tempfile::tempdir().expect("a folder");
    let real = home
        .path()
        .canonicalize()
        .expect("there")
        .display()
        .to_string();
    let own = Project::at(home.path().to_owned());
    let reset = || {
        for name in [
            ".claude/.credentials.json",
            ".claude/settings.json",
            ".claude.json",
            ".claude/skills/s/SKILL.md",
            ".claude/projects/p.jsonl",
        ] {
            own.file(name, "old\n");
        }
        own.file(".codex/auth.json", "old\n")
            .file(".codex/config.toml", "old\n");
    };
    let run = |program: &str, approach: &str| {
        reset();
        let code = Code::new("tests: {shared: ['true']}\n", "").config(approach);
        let path = super::program(&code.project, program, &agent.replace("REAL", &real));
        let ran = code.run_with(&[], &[("HOME", &real), ("PATH", &path)]);
        ran.ended("completed", "");
        ran.kept("read.txt")
            .unwrap_or("nothing was made")
            .to_owned()
    };
    let kept = |name: &str| own.read(name);
    let claude = ".claude/.credentials.json\n.claude/settings.json\n.claude.json\n.claude/skills/s/SKILL.md\n";
    for line in ["[claude, -p]", "[env, A=b, claude]"] {
        assert_eq!(
            run("claude", &format!("{{id: a, command: {line}}}")),
            claude,
            "{line}"
        );
        let now = [
            ".claude/.credentials.json",
            ".claude/settings.json",
            ".claude.json",
            ".claude/skills/s/SKILL.md",
        ]
        .map(kept);
        assert_eq!(
            now,
            ["new\n", "old\n", "old\n", "old\n"],
            "tokens are renewed, and nothing else is changed"
        );
        assert!(!home.path().join(".claude/projects/new.jsonl").exists());
    }
    assert_eq!(
        run("codex", "{id: a, command: [codex, exec]}"),
        ".codex/auth.json\n.codex/config.toml\n"
    );
    for (program, line) in [("claude", "[sh, -c, claude]"), ("other", "[other]")] {
        assert_eq!(
            run(program, &format!("{{id: a, command: {line}}}")),
            "",
            "{line}"
        );
        assert_eq!(
            [".claude/.credentials.json", ".claude/settings.json"].map(kept),
            ["old\n", "old\n"],
            "{line}"
        );
    }
}

/// What the configuration names is read, by the approach and by its code.
#[test]
#[cfg(target_os = "linux")]
fn a_configured_place_is_readable() {
    needs!(crate::needs::LANDLOCK);
    let home = tempfile::tempdir().expect("a folder");
    Project::at(home.path().to_owned())
        .file("data/words.txt", "words\n")
        .file("data/more/x.txt", "x\n")
        .file("other.txt", "o\n");
    let set = home
        .path()
        .canonicalize()
        .expect("there")
        .display()
        .to_string();
    let line = format!(
        "cat {set}/data/words.txt {set}/data/more/x.txt && ! cat {set}/other.txt && ! touch {set}/data/new"
    );
    let code = Code::new(
        &format!("setup: ['{line}']\ntests: {{shared: ['{line}'], own: ['{line}']}}\n"),
        &format!("{line}\n"),
    )
    .config("{id: a, reads: [~/data], command: [sh, \"{root}/a.sh\"]}");
    let ran = code.run_with(&[], &[("HOME", &set)]);
    ran.ended("completed", "");
    ran.shared(1, 1);
    assert_eq!(ran.counts("own"), [Some(1), Some(1)]);
}
