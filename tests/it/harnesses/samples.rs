//! Real files of other tools, where they are at hand: `EVALREPORT_FORMATS` names a folder of samples by tool, `EVALREPORT_DATA` one of
//! published data. The counts are those of an independent reading.

use serde_json::{Value, json};

use crate::support::Project;

fn sources(folder: &std::path::Path) -> Vec<Value> {
    let report = Project::new()
        .run([
            "import",
            folder.to_str().expect("text"),
            "--dry-run",
            "--format",
            "json",
        ])
        .json();
    report["sources"].as_array().expect("sources").clone()
}

fn total(sources: &[Value], key: &str) -> u64 {
    sources
        .iter()
        .filter_map(|source| source[key].as_u64())
        .sum()
}

#[test]
#[ignore = "reads samples of other tools: EVALREPORT_FORMATS names their folder"]
fn samples_have_the_counts_of_an_independent_reading() {
    let formats = crate::needs::named("EVALREPORT_FORMATS");
    let lm_eval = sources(&formats.join("lm-eval"));
    assert_eq!(
        (
            lm_eval.len(),
            lm_eval[0]["runs_new"].as_array().map(Vec::len)
        ),
        (1, Some(2)),
        "two tasks"
    );
    assert!(
        lm_eval[0]["foreign"]["quirks"]
            .to_string()
            .contains("10 of 5000 samples"),
        "{lm_eval:?}"
    );
    let helm = sources(&formats.join("helm"));
    let mut items: Vec<_> = helm.iter().map(|source| source["items"].clone()).collect();
    items.sort_by_key(Value::as_u64);
    assert_eq!(items, [json!(5), json!(10), json!(10)], "instances");
    let junit = sources(&formats.join("junit"));
    assert_eq!(
        (
            total(&junit, "items"),
            total(&junit, "stated_agree"),
            total(&junit, "stated_checked")
        ),
        (6, 4, 4),
        "{junit:?}"
    );
    let promptfoo = sources(&formats.join("promptfoo/out.junit.xml"));
    assert_eq!(
        (
            total(&promptfoo, "items"),
            total(&promptfoo, "stated_agree")
        ),
        (24, 4),
        "{promptfoo:?}"
    );
    let ctrf = sources(&formats.join("ctrf"));
    let tests: Vec<_> = ctrf
        .iter()
        .map(|source| source["foreign"]["stated"][0]["recomputed"].clone())
        .collect();
    assert_eq!(
        tests,
        [json!(3.0), json!(1.0), json!(1.0), json!(2.0), json!(2.0)],
        "tests of the five reports by name"
    );
    assert_eq!(
        total(&ctrf, "stated_checked"),
        total(&ctrf, "stated_agree"),
        "{ctrf:?}"
    );
    let every = sources(&formats.join("every_eval_ever"));
    assert_eq!((every.len(), total(&every, "items")), (1, 1), "{every:?}");
}

#[test]
#[ignore = "reads published data: EVALREPORT_DATA names their folder"]
fn what_harnesses_published_is_reproduced_or_said_to_be_cut_off() {
    let data = crate::needs::named("EVALREPORT_DATA");
    let of = |name: &str| sources(&data.join("mixed_harness").join(name));
    let helm = of("helm");
    assert_eq!(
        (
            helm.len(),
            total(&helm, "stated_checked"),
            total(&helm, "stated_agree")
        ),
        (3, 121, 121)
    );
    let lm_eval = of("lm_eval");
    assert_eq!(
        (total(&lm_eval, "stated_checked"), total(&lm_eval, "items")),
        (0, 0),
        "10 of 5000 samples say nothing of all"
    );
    let (mut same, mut cut) = (0, 0);
    for source in of("inspect") {
        // Two more logs are cut off so far that no sample has a value.
        let is_cut = ["cyse2", "intercode"].iter().any(|name| {
            source["file"]
                .as_str()
                .is_some_and(|file| file.contains(name))
        });
        for figure in source["foreign"]["stated"].as_array().into_iter().flatten() {
            let name = figure["figure"].as_str().unwrap_or_default();
            if name.ends_with("/accuracy") || name.ends_with("/mean") {
                same += u32::from(figure["agrees"] == true);
                cut += u32::from(is_cut && figure.get("recomputed").is_none_or(Value::is_null));
                assert_ne!(figure["agrees"], false, "{figure}");
            }
        }
    }
    eprintln!(
        "mixed_harness: {} of 127 reproduced, {cut} of logs that are cut off are not recomputable",
        121 + same
    );
    assert_eq!((same, cut), (3, 3));
}
