//! Twenty ways by which an approach leaves something running behind it: none outlives its run.

use std::fs;
use std::path::Path;
use std::time::Duration;

use super::Code;

/// Appends to a file as long as it runs: `beat NAME`, in shell and in Python.
const BEATS: &str = r#"
cat > beat.sh <<'END'
while :; do echo x >> "$1"; sleep 0.02; done
END
cat > beat.py <<'END'
import os, signal, sys, time
for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
    signal.signal(number, signal.SIG_IGN)
while True:
    open(sys.argv[1], "a").write("x")
    time.sleep(0.02)
END
B=$PWD/beat.sh P=$PWD/beat.py
"#;

/// A name and a line of shell that starts `beat` on `$OUT/NAME`.
const WAYS: [(&str, &str); 20] = [
    ("background", "sh $B $OUT/background &"),
    ("closed", "sh $B $OUT/closed >/dev/null 2>&1 </dev/null &"),
    ("nohup", "nohup sh $B $OUT/nohup >/dev/null 2>&1 &"),
    ("session", "setsid sh $B $OUT/session >/dev/null 2>&1 &"),
    ("forked-session", "setsid --fork sh $B $OUT/forked-session >/dev/null 2>&1"),
    ("empty-environment", "env -i PATH=$PATH setsid sh $B $OUT/empty-environment >/dev/null 2>&1 &"),
    ("empty-forked", "env -i PATH=$PATH setsid --fork sh $B $OUT/empty-forked >/dev/null 2>&1"),
    ("double-fork", "(setsid sh -c \"(sh $B $OUT/double-fork) &\" >/dev/null 2>&1 &)"),
    ("triple-fork", "(env -i PATH=$PATH setsid sh -c \"(setsid sh -c '(sh $B $OUT/triple-fork) &' &)\" >/dev/null 2>&1 &)"),
    ("other-mark", "env EVAL_PROCESS=0123456789abcdef0123456789abcdef setsid --fork sh $B $OUT/other-mark >/dev/null 2>&1"),
    ("without-mark", "env -u EVAL_PROCESS setsid --fork sh $B $OUT/without-mark >/dev/null 2>&1"),
    ("deaf", "python3 $P $OUT/deaf >/dev/null 2>&1 &"),
    ("deaf-session", "setsid --fork python3 $P $OUT/deaf-session >/dev/null 2>&1"),
    ("own-group", "set -m; sh $B $OUT/own-group >/dev/null 2>&1 & set +m"),
    ("renamed", "cp \"$(command -v sh)\" ./kworker; env -i PATH=$PATH setsid --fork ./kworker $B $OUT/renamed >/dev/null 2>&1"),
    (
        "deleted",
        "cp \"$(command -v sh)\" ./gone; env -i PATH=$PATH setsid --fork ./gone $B $OUT/deleted >/dev/null 2>&1; sleep 0.1; rm gone",
    ),
    ("elsewhere", "cd /; env -i PATH=$PATH setsid --fork sh $B $OUT/elsewhere >/dev/null 2>&1; cd - >/dev/null"),
    ("holds-the-output", "setsid --fork sh $B $OUT/holds-the-output"),
    ("watchdog", "env -i PATH=$PATH setsid --fork sh -c \"while :; do sh $B $OUT/watchdog; done\" >/dev/null 2>&1"),
    (
        "python-daemon",
        "python3 -c \"import os,sys; os.fork() and os._exit(0); os.setsid(); os.fork() and os._exit(0); os.closerange(0, 100); \
         os.execve('/bin/sh', ['sh', '$B', '$OUT/python-daemon'], {'PATH': os.environ['PATH']})\"",
    ),
];

fn size(path: &Path) -> u64 {
    fs::metadata(path).map_or(0, |metadata| metadata.len())
}

#[test]
#[cfg(target_os = "linux")]
fn nothing_that_a_run_started_lives_after_it() {
    needs!("python3");
    let out = tempfile::tempdir().expect("a folder");
    let ways: Vec<&str> = WAYS.iter().map(|(_, line)| *line).collect();
    let script = format!("OUT={}\n{BEATS}\n{}\nsleep 0.5\n", out.path().display(), ways.join("\n"));
    let code = Code::new("tests:\n  shared:\n    - \"true\"\n", &script);
    code.command(&[], &[]);
    let beats: Vec<u64> = WAYS.iter().map(|(name, _)| size(&out.path().join(name))).collect();
    std::thread::sleep(Duration::from_millis(400));
    for ((name, _), before) in WAYS.iter().zip(beats) {
        let now = size(&out.path().join(name));
        assert!(now > 0, "{name} never ran");
        assert_eq!(now, before, "{name} still runs");
    }
}

/// What one run leaves behind cannot reach the workspace of the next, which is honest.
#[test]
#[cfg(target_os = "linux")]
fn a_daemon_does_not_poison_the_next_run() {
    let scratch = tempfile::tempdir().expect("a folder");
    let poison = format!(
        "env -i PATH=$PATH setsid --fork sh -c 'while :; do for f in {}/evalreport-*/workspace/made; do [ -e $f ] && echo bad > $f; done; done' \
         >/dev/null 2>&1\necho good > made\n",
        scratch.path().display()
    );
    let code = Code { scratch, ..Code::new("tests:\n  shared:\n    - 'grep -q good \"$EVAL_WORKSPACE/made\"'\n", &poison) };
    let honest = "command: [sh, \"{root}/b.sh\"]";
    code.project.file("b.sh", "echo good > made\nsleep 0.3\n").file(
        "evalreport.yaml",
        format!("version: 1\napproaches:\n  - {{id: a, command: [sh, \"{{root}}/a.sh\"]}}\n  - {{id: b, {honest}}}\n"),
    );
    code.started(&["s", "--approach", "a", "--approach", "b"], &["--runs", "2"], &[]);
    let passed = code.project.run(["list", "--runs", "--format", "csv"]);
    let of_b: Vec<String> = passed.rows().iter().filter(|row| row["approach"] == "b").map(|row| row["passed"].clone()).collect();
    assert_eq!(of_b, ["1", "1"], "{}", passed.stdout);
}
