//! Checks `docs/look-up/evaluators.md` against the code: its examples must be readable, and the defaults it shows must be the real defaults.

use std::fs;

use super::{
    CodeQualitySettings, ComplexitySettings, EfficiencySettings, FunctionalSettings, SettingsLayer,
};
use crate::config;
use crate::document::SwitchSetting;
use crate::domain::{Evaluator, Problem};
use crate::suite;

/// The examples in the order of the page.
fn read_examples() -> Vec<String> {
    let page = include_str!("../../../../docs/look-up/evaluators.md");
    let blocks = page.split("```yaml\n").skip(1);
    blocks
        .filter_map(|block| block.split("```").next())
        .map(str::to_owned)
        .collect()
}

fn read_setting<T>(
    setting: &SwitchSetting,
    evaluator: Evaluator,
    read: impl Fn(&[SettingsLayer], &mut Vec<Problem>) -> T,
) -> T {
    let node = setting.settings_node().expect("the example sets something");
    let mut problems = Vec::new();
    let layer = SettingsLayer {
        file: "docs/look-up/evaluators.md",
        path: format!("evaluators.{}", evaluator.name()),
        node,
    };
    let settings = read(&[layer], &mut problems);
    assert_eq!(problems, []);
    settings
}

#[test]
fn the_defaults_of_the_page_are_those_of_the_code() {
    let config =
        config::parse("evalreport.yaml", &read_examples()[0]).expect("a valid configuration");
    let setting = |evaluator| &config.evaluators[&evaluator];
    let of = Evaluator::Efficiency;
    assert_eq!(
        read_setting(setting(of), of, EfficiencySettings::from_layers),
        EfficiencySettings::default()
    );
    let of = Evaluator::Functional;
    assert_eq!(
        read_setting(setting(of), of, FunctionalSettings::from_layers),
        FunctionalSettings::default()
    );
    let of = Evaluator::CodeQuality;
    assert_eq!(
        read_setting(setting(of), of, CodeQualitySettings::from_layers),
        CodeQualitySettings::default()
    );
    let of = Evaluator::Complexity;
    assert_eq!(
        read_setting(setting(of), of, ComplexitySettings::from_layers),
        ComplexitySettings::default()
    );
}

#[test]
fn the_suite_of_the_page_is_one() {
    let root = tempfile::tempdir().expect("a folder");
    let folder = root.path().join("suites/parser");
    fs::create_dir_all(&folder).expect("a folder");
    fs::write(folder.join("requirements.md"), "A parser.\n").expect("a file");
    fs::write(folder.join("suite.yaml"), &read_examples()[1]).expect("a file");
    let suite = suite::load_suite(root.path(), &folder).expect("a valid suite");
    assert_eq!(
        (suite.static_analysis.len(), suite.coverage_threshold),
        (2, Some(75.0))
    );
    let of = Evaluator::CodeQuality;
    let settings = read_setting(&suite.evaluators[&of], of, CodeQualitySettings::from_layers);
    assert_eq!(
        settings,
        CodeQualitySettings {
            points_per_warning: 1.0,
            ..CodeQualitySettings::default()
        }
    );
}
