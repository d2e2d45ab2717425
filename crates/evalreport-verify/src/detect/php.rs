//! PHP packages of Composer.

use super::folder::ListedFolder;
use super::part::{DetectionResult, ProjectPart};
use crate::Stack;

pub(super) fn find_part(folder: &ListedFolder, _: &[ProjectPart]) -> DetectionResult {
    let Some(manifest) = folder.file_text("composer.json") else {
        return DetectionResult::Nothing;
    };
    let mut part = ProjectPart::new(folder.path, Stack::Php);
    part.add_reason("`composer.json`");
    let script = |names: &[&'static str]| find_script(manifest, names);
    part.primary_test = if let Some(name) = script(&["test", "tests", "phpunit", "pest"]) {
        part.add_reason(format!("its script `{name}`"));
        Some(format!("composer run-script {name}"))
    } else if folder.has_file("tests/Pest.php") {
        part.add_reason("`tests/Pest.php`");
        Some("vendor/bin/pest".to_owned())
    } else {
        folder
            .first_existing(&["phpunit.xml", "phpunit.xml.dist", "phpunit.dist.xml"])
            .map(|settings| {
                part.add_reason(format!("`{settings}` configures PHPUnit"));
                "vendor/bin/phpunit".to_owned()
            })
    };
    part.lint = if let Some(name) = script(&["lint", "analyse", "phpstan", "cs"]) {
        Some(format!("composer run-script {name}"))
    } else {
        folder
            .first_existing(&["phpstan.neon", "phpstan.neon.dist", "phpstan.dist.neon"])
            .map(|settings| {
                part.add_reason(format!("`{settings}` configures PHPStan"));
                "vendor/bin/phpstan analyse --no-progress".to_owned()
            })
    };
    part.syntax_check = Some("composer validate --no-check-publish".to_owned());
    DetectionResult::Part(Box::new(part))
}

/// Returns the first of the names that is a script of a `composer.json`. A script is a line or a list of lines.
fn find_script(manifest: &str, names: &[&'static str]) -> Option<&'static str> {
    let manifest: serde_json::Value = serde_json::from_str(manifest).ok()?;
    let scripts = manifest.get("scripts")?.as_object()?;
    names
        .iter()
        .copied()
        .find(|name| scripts.get(*name).is_some_and(|script| !script.is_null()))
}
