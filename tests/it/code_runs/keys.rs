//! Keys of many kinds, repeated by everything that a run hears, in every form in which programs write text: none is in any byte that is
//! written or published.

use std::fs;
use std::path::Path;

use aho_corasick::AhoCorasick;
use base64::Engine;
use serde_json::{Value, json};

use crate::agents::service::{Act, Service};
use crate::programs::Start as _;
use crate::support::{Output, Project};

use super::Code;

/// By variable: 40 keys of 20 kinds.
fn keys() -> Vec<(String, String)> {
    let kinds: [(&str, &str); 20] = [
        ("OPENAI_API_KEY_#", "sk-proj-canary#aaaaaaaaaaaaaaaaaa"),
        ("ANTHROPIC_API_KEY_#", "sk-ant-canary#bbbbbbbbbbbbbbbb"),
        ("GITHUB_TOKEN_#", "ghp_canary#cccccccccccccccccccccc"),
        ("MY_PAT_#", "github_pat_canary#dddddddddddddd"),
        ("STRIPE_SK_#", "sk_live_canary#eeeeeeeeeeeeee"),
        (
            "SLACK_WEBHOOK_#",
            "https://hooks.slack.com/services/T0/B0/canary#ffff",
        ),
        (
            "DISCORD_#",
            "https://discord.com/api/webhooks/12/canary#gggggg",
        ),
        (
            "DATABASE_URL_#",
            "postgres://app:canary#hhhhhhhh@db.example.org/app",
        ),
        ("REDIS_#", "redis://:canary#iiiiiiii@cache:6379/0"),
        ("PGPASSWORD_#", "canary#jjjj"),
        ("MYSQL_PWD_#", "canary#kkkk p%ss"),
        ("AWS_SECRET_ACCESS_KEY_#", "canary#/llll+mmmm/nnnn"),
        ("AWS_ID_#", "AKIACANARY#OOOOOOOO"),
        ("GOOGLE_#", "AIzaCanary#ppppppppppppppp"),
        ("HF_#", "hf_canary#qqqqqqqqqqqqqqqq"),
        ("GITLAB_#", "glpat-canary#rrrrrrrrrrr"),
        ("NPM_#", "npm_canary#sssssssssssssss"),
        ("SESSION_JWT_#", "eyJcanary#.eyJtttttt.uuuuuuu"),
        (
            "SENTRY_DSN_#",
            "https://canary#vvvvvvv@sentry.example.org/1",
        ),
        ("NAMED_BY_NOBODY_SECRET_#", "canary#\"quoted\\and\tmore"),
    ];
    kinds
        .iter()
        .flat_map(|(name, value)| {
            (1..=2).map(|number| {
                (
                    name.replace('#', &number.to_string()),
                    value.replace('#', &format!("{number}x")),
                )
            })
        })
        .collect()
}

/// Keys whose forms differ: of names that are not plain, of several lines, with letters of all kinds, and within other values.
fn odd_keys() -> Vec<(String, String)> {
    let pem = "-----BEGIN PRIVATE KEY-----\nMIIEcanaryBADANBgkqhkiG9w0BAQEFAASC/KcwggSjAgEAAoIBAQC7VJ+TUt9Us8\n\
        cKjMzEfYyjiWA4R4+M2bS1GB4t7NXp98C3SC6dVMvDuictGeurT8jNbvJZHtCSuY/Ev\nq1w2e3r4t5z6u7i8\n-----END PRIVATE KEY-----";
    let account = format!(
        "{{\"type\": \"service_account\", \"private_key\": {}}}",
        json!(pem.replace("MIIE", "MIIF"))
    );
    [
        ("DB_PASS", "canary-of-the-database"),
        ("SMTP_PASS_2", "canary of a mail server"),
        ("SSHPASS", "canary'with'quotes"),
        ("SECRETS", "canary/with/slashes/in/it"),
        ("HASH_SALT", "canary<&>\"\\$`salt"),
        ("AWS_CREDS", "canary+plus/slash=equals=="),
        ("NOT_OF_ASCII_PASSWORD", "canary-Müßiggang-ÿ-ö"),
        ("NOT_OF_EUROPE_PASSWORD", "canary-пароль-密码-🔑"),
        ("SIGNING_KEY", pem),
        ("ACCOUNT_FILE", account.as_str()),
        (
            "LEDGER_URL",
            "postgres://app:canary%40of%2Fan%20address@db.example.org/app",
        ),
        (
            "BLOBS",
            "DefaultEndpointsProtocol=https;AccountName=a;AccountKey=canaryOfAnAccount/+12==;",
        ),
    ]
    .map(|(name, value)| (name.to_owned(), value.to_owned()))
    .to_vec()
}

/// Writes each key in each form: as a file, as the name of a file, in a transcript, in what it says, and as the reason of its failure.
const LEAK_FORMS: &str = r#"
cp "$0.py" key_forms.py
cat > leak.py <<'END'
import json, os, sys
from key_forms import forms
os.makedirs("kept/names", exist_ok=True)
keys = [value for value in os.environ.values() if "canary" in value.lower()]
everything = b""
for number, key in enumerate(keys):
    for name, form, _ in forms(key):
        everything += b"it is " + form + b" and no more\n"
        text = form.decode("utf-8", "replace")
        print(json.dumps({"type": "assistant", "message": {"content": [{"type": "text", "text": "it is " + text}, {"type": "tool_use", "id": "t", "name": "Bash", "input": {text: json.dumps({"inner": text})}}]}}))
        print("said " + text)
    for place in ["kept/names/" + key, "kept/names/x." + key + ".txt"]:
        try:
            os.makedirs(os.path.dirname(place), exist_ok=True)
            open(place, "w").write("named")
        except OSError:
            pass
open("kept/all.txt", "wb").write(everything)
open("kept/all.bin", "wb").write(b"\xff\xfe" + everything)
sys.stderr.buffer.write(everything)
END
python3 leak.py
rm -rf key_forms.py leak.py __pycache__
exit 3
"#;

#[test]
fn no_form_of_a_key_is_in_any_byte_that_is_written() {
    needs!("python3");
    let keys: Vec<(String, String)> = odd_keys()
        .into_iter()
        .chain(keys().into_iter().step_by(2))
        .collect();
    let environment: Vec<(&str, &str)> = keys
        .iter()
        .map(|(name, value)| (name.as_str(), value.as_str()))
        .collect();
    let code = Code::new(
        "tests:\n  shared:\n    - \"cat kept/all.txt; ls -R kept; exit 1\"\ntimeout: 120s\n",
        LEAK_FORMS,
    )
    .config("{id: a, env: [\"*\"], command: [sh, \"{root}/a.sh\"]}");
    let project = &code.project;
    project.file("a.sh.py", include_str!("key_forms.py"));
    let output = code.command(&["--log", "log.jsonl", "--verbose"], &environment);
    let mut said = vec![output];
    for command in [
        &["build", "--out", "site"][..],
        &["export", "bundle", "all.jsonl"],
        &["export", "json", "all.json"],
        &["export", "csv", "all"],
        &["export", "junit", "all.xml"],
        &["leaderboard", "--format", "json"],
        &["list"],
        &["doctor", "--verify"],
    ] {
        let done = project.run_in(command.iter().copied(), &environment);
        assert!(done.code < 2, "{command:?}: {}", done.stderr);
        said.push(done);
    }
    let texts = written(project, &said.iter().collect::<Vec<_>>());
    let hidden = |file: &str| {
        texts
            .iter()
            .any(|(path, bytes)| path.ends_with(file) && memmem(bytes, b"[SIGNING_KEY]"))
    };
    assert!(
        hidden("output/kept/all.txt") && hidden("transcript.jsonl"),
        "{:?}",
        texts.iter().map(|(file, _)| file).collect::<Vec<_>>()
    );
    assert!(
        texts
            .iter()
            .any(|(file, _)| file.contains("kept/names/[DB_PASS]")),
        "names of files"
    );

    let mut python = std::process::Command::new("python3");
    python
        .arg(project.path("a.sh.py"))
        .env_clear()
        .env("PATH", std::env::var("PATH").unwrap_or_default())
        .envs(environment);
    let needles = python.finish();
    let needles: Value = serde_json::from_slice(&needles.stdout).expect("JSON");
    assert!(
        needles["forms"].as_u64().is_some_and(|forms| forms >= 60),
        "{}",
        needles["forms"]
    );
    let mut wanted: Vec<(String, Vec<u8>)> = Vec::new();
    for needle in needles["needles"].as_array().expect("a list") {
        let name = needle[0].as_str().expect("a name");
        let digits = needle[1].as_str().expect("digits");
        let bytes: Vec<u8> = (0..digits.len())
            .step_by(2)
            .map(|place| u8::from_str_radix(&digits[place..place + 2], 16).expect("hex"))
            .collect();
        // What is stored is JSON, and what is in it may be JSON again.
        let mut text = String::from_utf8(bytes.clone()).unwrap_or_default();
        for _ in 0..2 {
            let escaped = json!(text).to_string();
            text = escaped[1..escaped.len() - 1].to_owned();
            wanted.push((format!("{name} in JSON"), text.clone().into_bytes()));
        }
        wanted.push((name.to_owned(), bytes));
    }
    wanted.retain(|(_, needle)| needle.len() >= 8);
    let finder = AhoCorasick::new(wanted.iter().map(|(_, needle)| needle)).expect("few needles");
    let names = texts
        .iter()
        .map(|(file, _)| (format!("the name {file}"), file.as_bytes()));
    let all = texts
        .iter()
        .map(|(file, bytes)| (file.clone(), bytes.as_slice()))
        .chain(names);
    let found: std::collections::BTreeSet<String> = all
        .flat_map(|(file, bytes)| {
            let found = finder
                .find_iter(bytes)
                .map(|found| &wanted[found.pattern().as_usize()]);
            found
                .map(|(name, needle)| {
                    format!("{file}: {name}: {}", String::from_utf8_lossy(needle))
                })
                .collect::<Vec<_>>()
        })
        .collect();
    assert!(
        found.is_empty(),
        "{} in all: {:#?}",
        found.len(),
        found.iter().take(60).collect::<Vec<_>>()
    );
}

/// Says all it knows in every way that is kept: as files, as names, as a transcript, as a reason, plain and encoded.
const LEAK: &str = r#"
cat > leak.py <<'END'
import base64, json, os, urllib.parse
os.makedirs("kept", exist_ok=True)
values = [(k, v) for k, v in os.environ.items() if "canary" in v.lower()]
forms = []
for k, v in values:
    forms += [v, urllib.parse.quote(v, safe=""), json.dumps(v), base64.b64encode(v.encode()).decode(),
              base64.b64encode(("user:" + v).encode()).decode(), base64.urlsafe_b64encode(("ab:" + v).encode()).decode()]
open("kept/all.txt", "w").write("\n".join(forms))
open("kept/all.bin", "wb").write(b"\xff\xfe" + "\0".join(forms).encode())
for text in forms:
    print(json.dumps({"type": "assistant", "message": {"content": [{"type": "text", "text": "it is " + text}]}}))
    print(text)
END
python3 leak.py
python3 leak.py >&2
exit 3
"#;

#[test]
fn no_key_is_in_any_byte_that_is_written() {
    needs!("python3");
    let keys = keys();
    assert_eq!(keys.len(), 40);
    let environment: Vec<(&str, &str)> = keys
        .iter()
        .map(|(name, value)| (name.as_str(), value.as_str()))
        .collect();
    let code = Code::new("tests:\n  shared:\n    - \"env | grep -i canary; cat kept/all.txt >&2; exit 1\"\ntimeout: 60s\n", LEAK)
        .config("{id: a, env: [\"*\"], command: [sh, \"{root}/a.sh\"]}");
    let output = code.command(&["--log", "log.jsonl", "--verbose"], &environment);
    let project = &code.project;
    let build = project.run_in(["build", "--out", "site"], &environment);
    let export = project.run_in(["export", "bundle", "all.jsonl"], &environment);
    assert_eq!(
        (build.code, export.code),
        (0, 0),
        "{}{}",
        build.stderr,
        export.stderr
    );
    let texts = written(project, &[&output, &build, &export]);
    let kept = texts.iter().any(|(file, bytes)| {
        file.ends_with("output/kept/all.txt") && bytes.windows(8).any(|part| part == b"[MY_PAT_")
    });
    assert!(
        kept,
        "the leak was kept, without its keys: {:?}",
        texts.iter().map(|(file, _)| file).collect::<Vec<_>>()
    );
    assert_eq!(leaks(&keys, &texts), Vec::<String>::new());
}

#[test]
fn no_key_that_a_service_repeats_is_in_any_byte_that_is_written() {
    let keys = keys();
    let environment: Vec<(&str, &str)> = keys
        .iter()
        .map(|(name, value)| (name.as_str(), value.as_str()))
        .collect();
    let said: Vec<String> = keys
        .iter()
        .flat_map(|(_, value)| [value.clone(), base64_whole(value), json!(value).to_string()])
        .collect();
    let said = said.join(" and ");
    let answer = json!({"model": "m", "choices": [{"message": {"content": format!("<answer>a</answer> {said}")}}], "usage": {"prompt_tokens": 1}});
    let acts = [
        (401, said.clone()),
        (400, json!({"error": {"message": said}}).to_string()),
        (200, answer.to_string()),
        (200, said.clone()),
    ];
    for (status, body) in acts {
        let service = Service::start(vec![Act::Answer(status, "", body.into_bytes())]);
        let project = Project::new();
        project
            .file("questions.yaml", "version: 1\nquestions:\n- {id: q, question: Which?, answers: [a, b], correct_answers: [a]}\n")
            .file(
                "evalreport.yaml",
                format!("version: 1\nagents:\n- {{id: http, type: openai, model: m, base_url: \"{}\"}}\n", service.url("/v1")),
            );
        let eval = project.run_in(
            [
                "eval",
                "questions.yaml",
                "--agent",
                "http",
                "--log",
                "log.jsonl",
                "--verbose",
            ],
            &environment,
        );
        let show = project.run_in(["compare", "--format", "json"], &environment);
        let build = project.run_in(["build", "--out", "site"], &environment);
        assert_eq!(build.code, 0, "{}", build.stderr);
        assert!(!service.requests().is_empty(), "{}", eval.stderr);
        assert_eq!(
            leaks(&keys, &written(&project, &[&eval, &show, &build])),
            Vec::<String>::new(),
            "{status}"
        );
    }
}

#[test]
fn no_key_of_what_is_imported_is_stored() {
    let keys = keys();
    let environment: Vec<(&str, &str)> = keys
        .iter()
        .map(|(name, value)| (name.as_str(), value.as_str()))
        .collect();
    let project = Project::new();
    let rows: Vec<Value> = keys
        .iter()
        .enumerate()
        .map(|(number, (_, value))| json!({"task": format!("t{number} {value}"), "ok": "pass", "group": base64_whole(value), "arm": format!("a {value}")}))
        .collect();
    let in_xml = |value: &str| {
        value
            .replace('&', "&amp;")
            .replace('<', "&lt;")
            .replace('"', "&quot;")
    };
    let mut cases = String::new();
    for value in keys.iter().map(|(_, value)| in_xml(value)) {
        cases += &[
            "<testcase classname=\"",
            "\" name=\"",
            "\"><failure message=\"",
            "\">",
            "</failure></testcase>",
        ]
        .join(&value);
    }
    project
        .file("rows.json", Value::from(rows).to_string())
        .file("map.yaml", "format: evalreport/map/1\nname: h\nrows: item\nrun:\n  suite: {constant: s}\n  approach: {constant: a}\n  model: arm\nitem:\n  id: task\n  kind: {constant: test}\n  category: group\n  status: {column: ok, values: {pass: pass}}\n")
        .file("junit.xml", format!("<testsuite name=\"s\" tests=\"40\" failures=\"40\">{cases}</testsuite>"));
    // Those who import do not know yet that they are keys: the bundle has them.
    assert_eq!(
        project
            .run([
                "import",
                "rows.json",
                "--map",
                "map.yaml",
                "--results",
                "before"
            ])
            .code,
        0
    );
    assert_eq!(
        project
            .run(["export", "bundle", "old.bundle", "--results", "before"])
            .code,
        0
    );

    let table = project.run_in(
        [
            "import",
            "rows.json",
            "--map",
            "map.yaml",
            "--log",
            "log.jsonl",
            "--verbose",
        ],
        &environment,
    );
    assert_eq!(table.code, 0, "{}", table.stderr);
    let junit = project.run_in(["import", "junit.xml"], &environment);
    assert_eq!(junit.code, 0, "{}", junit.stderr);
    let bundle = project.run_in(["import", "old.bundle"], &environment);
    assert_eq!(bundle.code, 2, "{}", bundle.stderr);
    assert!(
        bundle.stdout.contains("old.bundle:3: holds the value of $"),
        "{}{}",
        bundle.stdout,
        bundle.stderr
    );
    let doctor = project.run_in(["doctor", "--verify"], &environment);
    assert_eq!(
        doctor.code, 0,
        "what was taken out is under the seal: {}",
        doctor.stdout
    );
    let build = project.run_in(["build", "--out", "site"], &environment);
    assert_eq!(build.code, 0, "{}", build.stderr);
    let texts = written(&project, &[&table, &junit, &bundle, &doctor, &build]);
    assert_eq!(leaks(&keys, &texts), Vec::<String>::new());
}

/// Every byte that was written or said.
fn written(project: &Project, said: &[&Output]) -> Vec<(String, Vec<u8>)> {
    let folders = ["results", "site", ".evalreport", "all"]
        .iter()
        .flat_map(|folder| project.files(folder));
    let files = folders
        .chain(["log.jsonl", "all.jsonl", "all.json", "all.xml"].map(str::to_owned))
        .filter(|file| project.path(file).is_file());
    let said = said.iter().map(|said| {
        (
            "the terminal".to_owned(),
            format!("{}{}", said.stdout, said.stderr).into_bytes(),
        )
    });
    files
        .map(|file| (file.clone(), fs::read(project.path(&file)).expect("there")))
        .map(|(file, bytes)| {
            let is_packed = Path::new(&file)
                .extension()
                .is_some_and(|ending| ending == "zst");
            let unpacked = if is_packed {
                zstd::decode_all(bytes.as_slice()).expect("whole")
            } else {
                bytes
            };
            (file, unpacked)
        })
        .chain(said)
        .collect()
}

/// Where keys are in them.
fn leaks(keys: &[(String, String)], texts: &[(String, Vec<u8>)]) -> Vec<String> {
    // What is the same in every form of the keys.
    let needles: Vec<Vec<u8>> = keys
        .iter()
        .flat_map(|(_, value)| [value.clone().into_bytes(), base64(value).into_bytes()])
        .collect();
    let finds = |bytes: &[u8]| {
        needles
            .iter()
            .filter(|needle| memmem(bytes, needle))
            .map(|needle| String::from_utf8_lossy(needle).into_owned())
            .collect::<Vec<_>>()
    };
    texts
        .iter()
        .flat_map(|(file, bytes)| {
            finds(bytes)
                .into_iter()
                .map(move |needle| format!("{file}: {needle}"))
        })
        .collect()
}

/// What the base64 of a key begins with, whatever comes after the key.
fn base64(text: &str) -> String {
    let whole = base64_whole(text);
    whole[..whole.len() - 4].to_owned()
}

fn base64_whole(text: &str) -> String {
    base64::engine::general_purpose::STANDARD.encode(text)
}

fn memmem(bytes: &[u8], needle: &[u8]) -> bool {
    memchr::memmem::find(bytes, needle).is_some()
}

#[test]
fn a_known_secret_is_not_published() {
    let code = Code::new(
        "tests: {shared: [\"true\"]}\n",
        "echo \"$QUIET\" > said.txt; echo \"it is $QUIET\"; exit 3\n",
    );
    let secret = ("QUIET", "an-ordinary-looking-value");
    // When the run was made, nobody knew that it is a key.
    code.command(&[], &[secret]);
    let project = &code.project;
    assert_eq!(project.run(["build", "--out", "before"]).code, 0);
    let known = ("NOW_A_TOKEN", secret.1);
    let refused = project.run_in(["build", "--out", "site"], &[known]);
    assert_eq!(refused.code, 2, "{}", refused.stdout);
    assert!(
        refused
            .stderr
            .contains("holds the value of $NOW_A_TOKEN; a secret is not published"),
        "{}",
        refused.stderr
    );
    let written = project
        .files("site")
        .into_iter()
        .map(|file| fs::read(project.path(&file)).expect("there"));
    assert!(
        written
            .into_iter()
            .all(|bytes| !memmem(&bytes, secret.1.as_bytes()))
    );
    // A site of before is not gone on with.
    let again = project.run_in(["build", "--out", "before"], &[known]);
    assert_eq!(again.code, 2, "{}", again.stdout);
    let taken_out = project.run_in(["build", "--out", "redacted", "--redact"], &[known]);
    assert_eq!(taken_out.code, 0, "{}", taken_out.stderr);
    let redacted = project
        .files("redacted")
        .into_iter()
        .map(|file| fs::read(project.path(&file)).expect("there"));
    assert!(
        redacted
            .into_iter()
            .all(|bytes| !memmem(&bytes, secret.1.as_bytes()))
    );
}
