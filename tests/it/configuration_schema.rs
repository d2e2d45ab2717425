//! The JSON Schema of `evalreport.yaml` takes what the program takes, and refuses what it refuses for its form.

use std::fs;
use std::path::Path;

use evalreport::config;
use evalreport::document::{self, Node, ScalarKind};
use evalreport::verify::Overrides;
use serde_json::{Map, Value, json};

use crate::schema::validate;
use crate::support::Project;

pub fn read(path: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path))
        .expect("the file is in the repository")
}

fn value(node: &Node) -> Value {
    match &node.value {
        document::Value::List(items) => items.iter().map(value).collect(),
        document::Value::Map(entries) => entries
            .iter()
            .map(|(key, node)| (key.text.clone(), value(node)))
            .collect::<Map<_, _>>()
            .into(),
        document::Value::Scalar(scalar) => match scalar.kind {
            ScalarKind::Text => json!(scalar.text),
            ScalarKind::Null => Value::Null,
            ScalarKind::Bool(boolean) => json!(boolean),
            ScalarKind::Integer(integer) => json!(integer),
            ScalarKind::Float(number) => json!(number),
        },
    }
}

pub fn parsed(yaml: &str) -> Value {
    value(
        &document::parse("evalreport.yaml", yaml)
            .unwrap_or_else(|problems| panic!("{problems:?}\n{yaml}")),
    )
}

/// Returns the program's complaints.
fn refusals(configuration: &Value) -> Vec<String> {
    let mut problems = Vec::new();
    match config::parse("evalreport.json", &configuration.to_string()) {
        Ok(config) => {
            // Another reader checks this map.
            if let Some(node) = &config.verification {
                Overrides::from_node("evalreport.json", "verification", node, &mut problems);
            }
        }
        Err(found) => problems = found,
    }
    problems.iter().map(ToString::to_string).collect()
}

fn complete_example() -> Value {
    let text = read("docs/look-up/configuration.md");
    let block = text
        .split("## A complete example\n\n```yaml\n")
        .nth(1)
        .and_then(|rest| rest.split("```").next())
        .expect("the example");
    parsed(block)
}

#[test]
fn the_program_prints_the_schema() {
    let project = Project::new();
    for name in ["schemas/configuration", "docs/schemas/configuration.json"] {
        assert_eq!(
            project.run(["help", name]).answer(),
            read("docs/schemas/configuration.json"),
            "{name}"
        );
    }
    let schema: Value =
        serde_json::from_str(&read("docs/schemas/configuration.json")).expect("JSON");
    assert!(schema["$id"].as_str().is_some_and(
        |id| id.starts_with("https://") && id.ends_with("/docs/schemas/configuration.json")
    ));
    let overview = project.run(["help"]);
    for entry in
        fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/schemas")).expect("a folder")
    {
        let name = entry
            .expect("an entry")
            .file_name()
            .to_string_lossy()
            .replace(".json", "");
        assert!(
            overview.answer().contains(&format!("\n  schemas/{name}\n")),
            "{name}"
        );
    }
    assert!(
        project
            .run(["help", "schemas/configuratoin"])
            .refusal()
            .contains("did you mean `evalreport help schemas/configuration`?")
    );
}

/// Those of this repository, that of `init`, and every block of the documentation that is one.
#[test]
fn every_configuration_here_is_valid() {
    let mut texts: Vec<String> = ["evalreport.yaml", "src/cli/init/evalreport.yaml"]
        .map(read)
        .into();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let pages = walkdir::WalkDir::new(folder.join("docs"))
        .into_iter()
        .filter_map(Result::ok)
        .map(walkdir::DirEntry::into_path);
    for page in pages
        .chain([folder.join("README.md")])
        .filter(|path| path.extension().is_some_and(|extension| extension == "md"))
    {
        let page = fs::read_to_string(page).expect("a page");
        let blocks = page
            .split("\n```yaml\n")
            .skip(1)
            .filter_map(|rest| rest.split("\n```").next());
        texts.extend(
            blocks
                .filter(|block| block.contains("version: 1"))
                .map(str::to_owned),
        );
    }
    let mut count = 0;
    for text in texts {
        let Ok(node) = document::parse("evalreport.yaml", &text) else {
            continue;
        };
        if config::parse("evalreport.yaml", &text).is_ok() {
            count += 1;
            assert_eq!(validate("configuration", &value(&node)), Ok(()), "{text}");
        }
    }
    assert!(count >= 4, "{count}");
}

#[test]
fn what_the_program_refuses_for_its_form_the_schema_refuses() {
    let cases = [
        ("{}", "`version` is missing"),
        ("version: 2", "version `2` is not supported"),
        ("version: '1'", "must be a whole number"),
        ("[version]", "must be a map of keys"),
        ("version: 1\nagnets: []", "unknown key `agnets`"),
        ("version: 1\nadapters: {}", "unknown key `adapters`"),
        ("version: 1\nagents: {id: a}", "must be a list"),
        (
            "version: 1\nagents: [{type: claude}]",
            "`agents[0].id` is missing",
        ),
        (
            "version: 1\nagents: [{id: a}]",
            "`agents[0].type` is missing",
        ),
        (
            "version: 1\nagents: [{id: a, type: clod}]",
            "must be one of",
        ),
        (
            "version: 1\nagents: [{id: a, type: claude, model: 4.1}]",
            "must be text",
        ),
        (
            "version: 1\nagents: [{id: a, type: claude, api_key: secret}]",
            "must not be in a file",
        ),
        (
            "version: 1\nagents: [{id: a, type: claude, timeout: 90}]",
            "needs a unit",
        ),
        (
            "version: 1\nagents: [{id: a, type: claude, timeout: soon}]",
            "must be a duration",
        ),
        (
            "version: 1\nagents: [{id: a, type: claude, max_steps: -1}]",
            "must not be negative",
        ),
        (
            "version: 1\nagents: [{id: a, type: claude, env: KEY}]",
            "must be a list",
        ),
        (
            "version: 1\napproaches: [{id: a, command: [sh, 1]}]",
            "must be text",
        ),
        (
            "version: 1\ntasks: [{id: t, type: question_eval}]",
            "`tasks[0].questions_file` is missing",
        ),
        (
            "version: 1\ntasks: [{id: t, questions_file: q.yaml}]",
            "`tasks[0].type` is missing",
        ),
        (
            "version: 1\ntasks: [{id: t, type: cucumber_eval, questions_file: q.yaml}]",
            "which question evaluation replaced",
        ),
        (
            "version: 1\ntasks: [{id: t, type: question_eval, questions_file: q, budget: {max_secs: 3}}]",
            "unknown key `tasks[0].budget.max_secs`",
        ),
        ("version: 1\njudge: {votes: 3}", "`judge.agent` is missing"),
        (
            "version: 1\njudge: {agent: a, strict: yes}",
            "must be true or false",
        ),
        (
            "version: 1\nmetrics: {f1: {unit: parsecs}}",
            "must be one of",
        ),
        (
            "version: 1\nmetrics: {f1: {colour: red}}",
            "unknown key `metrics.f1.colour`",
        ),
        (
            "version: 1\nevaluators: {beauty: true}",
            "unknown evaluator",
        ),
        (
            "version: 1\nevaluators: {complexity: high}",
            "must be true, false or a map",
        ),
        ("version: 1\ndesigns: {s: sometimes}", "must be one of"),
        (
            "version: 1\nprices: [{model: m}]",
            "`prices[0].usd_per_million` is missing",
        ),
        (
            "version: 1\nprices: [{model: m, usd_per_million: {input: 1}}]",
            "`prices[0].usd_per_million.output` is missing",
        ),
        (
            "version: 1\ngate: [{metric: pass_rate, max_drop: [2pp]}]",
            "must be a number",
        ),
        ("version: 1\nsite: {noindex: no}", "must be true or false"),
        ("version: 1\naliases: {suite: {a: 1}}", "must be text"),
    ];
    for (text, complaint) in cases {
        let configuration = parsed(text);
        let refused = refusals(&configuration);
        assert!(
            refused.iter().any(|message| message.contains(complaint)),
            "{text}: {refused:?}"
        );
        assert!(
            validate("configuration", &configuration).is_err(),
            "the schema takes {text}"
        );
    }
    // The map of verification has its own reader.
    for (text, is_valid) in [
        ("{profile: smoke, lint: false, timeouts: {build: 5m}}", true),
        ("{lint: true}", false),
        ("{lnit: false}", false),
    ] {
        let configuration = parsed(&format!("version: 1\nverification: {text}"));
        assert_eq!(
            validate("configuration", &configuration).is_ok(),
            is_valid,
            "{text}"
        );
    }
}

/// Says whether a complaint is about the form of one value: its key or its type.
fn is_about_form(complaint: &str) -> bool {
    let types = [
        "text",
        "a map",
        "a list",
        "a number",
        "a whole number",
        "a finite number",
        "true or false",
        "true, false or a map",
        "one of",
    ];
    complaint.contains("unknown key")
        || complaint.contains("unknown evaluator")
        || complaint.contains("must not be negative")
        || complaint.contains("must be a duration")
        || types
            .iter()
            .any(|kind| complaint.contains(&format!("must be {kind}")))
}

/// Calls `each` with the configuration in which one place has another value, an unknown key, or one key less.
fn mutations(whole: &Value, each: &mut dyn FnMut(&Value, &str)) {
    let others = [
        Value::Null,
        json!(true),
        json!(7),
        json!(-7),
        json!(2.5),
        json!("word"),
        json!(""),
        json!([]),
        json!([7]),
        json!(["x"]),
        json!({}),
        json!({"zzz": 1}),
    ];
    let mut places = vec![String::new()];
    let mut next = 0;
    while next < places.len() {
        let place = places[next].clone();
        next += 1;
        let below = |key: &str| format!("{place}/{}", key.replace('~', "~0").replace('/', "~1"));
        match whole.pointer(&place).expect("the place is there") {
            Value::Object(entries) => {
                places.extend(entries.keys().map(|key| below(key)));
                let mut changed = whole.clone();
                changed
                    .pointer_mut(&place)
                    .and_then(Value::as_object_mut)
                    .expect("a map")
                    .insert("zzz".to_owned(), json!(1));
                each(&changed, &format!("{place} + zzz"));
                for key in entries.keys() {
                    let mut changed = whole.clone();
                    changed
                        .pointer_mut(&place)
                        .and_then(Value::as_object_mut)
                        .expect("a map")
                        .remove(key);
                    each(&changed, &format!("{place} - {key}"));
                }
            }
            Value::Array(items) => places.extend((0..items.len()).map(|at| below(&at.to_string()))),
            _ => {}
        }
        for other in &others {
            let mut changed = whole.clone();
            *changed.pointer_mut(&place).expect("the place is there") = other.clone();
            each(&changed, &format!("{place} = {other}"));
        }
    }
}

#[test]
fn schema_and_program_agree_about_every_place() {
    let (taken, refused) = agrees_everywhere("configuration", &complete_example(), &refusals);
    assert!(taken > 100 && refused > 400, "{taken} {refused}");
}

/// Checks a file with one other value at each place: the schema refuses what the program refuses for its form, and nothing that it takes.
/// Returns how many changes both take, and how many both refuse.
pub fn agrees_everywhere(
    schema: &str,
    whole: &Value,
    refusals: &dyn Fn(&Value) -> Vec<String>,
) -> (u64, u64) {
    assert_eq!(
        (refusals(whole), validate(schema, whole)),
        (Vec::new(), Ok(()))
    );
    let (mut taken, mut refused) = (0, 0);
    let validator = Validator::of(schema);
    mutations(whole, &mut |changed, what| {
        let complaints = refusals(changed);
        let is_valid = validator.is_valid(changed);
        if complaints.is_empty() {
            taken += 1;
            assert!(
                is_valid,
                "the schema refuses what the program takes: {what}"
            );
        } else if complaints.iter().any(|complaint| is_about_form(complaint)) {
            refused += 1;
            assert!(
                !is_valid,
                "the schema takes what the program refuses: {what}: {complaints:?}"
            );
        }
    });
    (taken, refused)
}

/// The compiled schema.
struct Validator(boon::Schemas, boon::SchemaIndex);

impl Validator {
    fn of(name: &str) -> Self {
        let schema: Value =
            serde_json::from_str(&read(&format!("docs/schemas/{name}.json"))).expect("JSON");
        let mut schemas = boon::Schemas::new();
        let mut compiler = boon::Compiler::new();
        compiler
            .add_resource("file.json", schema)
            .expect("a resource");
        let index = compiler
            .compile("file.json", &mut schemas)
            .expect("a schema");
        Self(schemas, index)
    }

    fn is_valid(&self, value: &Value) -> bool {
        self.0.validate(value, self.1).is_ok()
    }
}
