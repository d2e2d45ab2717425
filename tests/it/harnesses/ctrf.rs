//! CTRF, the common test report format.

use serde_json::json;

use super::{imported, one, project, quirks, stored, told};

#[test]
fn every_status_has_its_place() {
    let project = project("ctrf", "statuses.json");
    let (source, runs) = imported(&project, "ctrf");
    let run = &runs[0];
    assert_eq!(
        [&run["suite"], &run["approach"], &run["model"]],
        [&json!("nightly"), &json!("oneshot"), &json!("m1")]
    );
    assert_eq!(
        (&run["timestamp"], &run["duration_seconds"], &run["git_rev"]),
        (
            &json!("2026-02-03T10:20:32.500Z"),
            &json!(2.5),
            &json!("abc1234")
        )
    );
    assert_eq!(
        told(&project),
        [
            one("S > T > a", 1, "pass"),
            one("old style > b", 1, "fail"),
            one("c", 1, "skipped"),
            one("d", 1, "skipped"),
            one("e", 1, "limit"),
            one("f", 1, "not_evaluated"),
        ]
    );
    let items = stored(&project);
    assert_eq!(
        (
            &items[0]["duration_seconds"],
            &items[0]["cost_usd"],
            &items[0]["input_tokens"]
        ),
        (&json!(0.25), &json!(0.5), &json!(10))
    );
    assert_eq!(items[1]["reason"], "wrong");
    assert_eq!(
        [&source["stated_checked"], &source["stated_agree"]],
        [&json!(6), &json!(6)],
        "{source}"
    );
}

#[test]
fn what_was_tried_again_has_one_outcome() {
    let project = project("ctrf", "retries.json");
    let (source, runs) = imported(&project, "ctrf");
    assert_eq!(
        told(&project),
        [
            one("flaky", 1, "pass"),
            one("only earlier ones", 1, "fail"),
            one("unrecorded", 1, "pass")
        ]
    );
    assert_eq!(
        stored(&project)[0]["reason"],
        "passed on attempt 3; attempt 1: away; attempt 2: fail"
    );
    assert_eq!(
        (
            &runs[0]["passed"],
            &runs[0]["total"],
            &runs[0]["tags"]["flaky"]
        ),
        (&json!(2), &json!(3), &json!("2"))
    );
    assert!(
        quirks(&source).contains("the results of their first attempts are missing"),
        "{source}"
    );
    assert_eq!(
        [&source["stated_checked"], &source["stated_agree"]],
        [&json!(7), &json!(7)],
        "{source}"
    );
}

#[test]
fn seconds_are_told_from_milliseconds() {
    let project = project("ctrf", "float-seconds.json");
    let (source, runs) = imported(&project, "ctrf");
    assert_eq!(
        (&runs[0]["duration_seconds"], &runs[0]["timestamp"]),
        (&json!(2.5), &json!("2026-02-03T10:20:32.750Z"))
    );
    assert_eq!(stored(&project)[0]["duration_seconds"], 0.75);
    assert_eq!(
        told(&project)[1],
        one("b", 1, "error"),
        "`raw_status` says more than `other`"
    );
    assert!(quirks(&source).contains("times are in seconds"), "{source}");
}

#[test]
fn counts_that_do_not_add_up_are_named() {
    let said =
        project("ctrf", "counts-that-do-not-add-up.json").run(["import", "out", "--dry-run"]);
    insta::assert_snapshot!(said.answer());
}

#[test]
fn tests_of_one_name_in_several_files_are_several_tests() {
    let project = project("ctrf", "same-name-in-two-files.json");
    imported(&project, "ctrf");
    assert_eq!(
        told(&project),
        [
            one("x.ts::n", 1, "pass"),
            one("y.ts::n", 1, "fail"),
            one("m", 1, "pass")
        ]
    );
}
