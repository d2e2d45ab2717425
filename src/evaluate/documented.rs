//! Checks `docs/evaluators.md` against the code: its examples must be readable, and the defaults it shows must be the real defaults.

use std::fs;

use super::{
    CodeQualitySettings, ComplexitySettings, EfficiencySettings, FunctionalSettings, Layer,
};
use crate::config;
use crate::document::Setting;
use crate::domain::{Evaluator, Problem};
use crate::suite;

/// The examples in the order of the page.
fn examples() -> Vec<String> {
    let page = include_str!("../../docs/evaluators.md");
    let blocks = page.split("```yaml\n").skip(1);
    blocks
        .filter_map(|block| block.split("```").next())
        .map(str::to_owned)
        .collect()
}

fn read<T>(
    setting: &Setting,
    evaluator: Evaluator,
    read: impl Fn(&[Layer], &mut Vec<Problem>) -> T,
) -> T {
    let node = setting.node().expect("the example sets something");
    let mut problems = Vec::new();
    let layer = Layer {
        file: "docs/evaluators.md",
        path: format!("evaluators.{}", evaluator.name()),
        node,
    };
    let settings = read(&[layer], &mut problems);
    assert_eq!(problems, []);
    settings
}

#[test]
fn the_defaults_of_the_page_are_those_of_the_code() {
    let config = config::parse("evalreport.yaml", &examples()[0]).expect("a valid configuration");
    let setting = |evaluator| &config.evaluators[&evaluator];
    let of = Evaluator::Efficiency;
    assert_eq!(
        read(setting(of), of, EfficiencySettings::read),
        EfficiencySettings::default()
    );
    let of = Evaluator::Functional;
    assert_eq!(
        read(setting(of), of, FunctionalSettings::read),
        FunctionalSettings::default()
    );
    let of = Evaluator::CodeQuality;
    assert_eq!(
        read(setting(of), of, CodeQualitySettings::read),
        CodeQualitySettings::default()
    );
    let of = Evaluator::Complexity;
    assert_eq!(
        read(setting(of), of, ComplexitySettings::read),
        ComplexitySettings::default()
    );
}

#[test]
fn the_suite_of_the_page_is_one() {
    let root = tempfile::tempdir().expect("a folder");
    let folder = root.path().join("suites/parser");
    fs::create_dir_all(&folder).expect("a folder");
    fs::write(folder.join("requirements.md"), "A parser.\n").expect("a file");
    fs::write(folder.join("suite.yaml"), &examples()[1]).expect("a file");
    let suite = suite::load(root.path(), &folder).expect("a valid suite");
    assert_eq!(
        (suite.static_analysis.len(), suite.coverage_threshold),
        (2, Some(75.0))
    );
    let of = Evaluator::CodeQuality;
    let settings = read(&suite.evaluators[&of], of, CodeQualitySettings::read);
    assert_eq!(
        settings,
        CodeQualitySettings {
            points_per_warning: 1.0,
            ..CodeQualitySettings::default()
        }
    );
}
