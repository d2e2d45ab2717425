//! Maven and Gradle.

use super::folder::{ListedFolder, shown_folder};
use super::part::{DetectionResult, ProjectPart, outer_part};
use crate::Stack;

const GRADLE_FILES: [&str; 4] = [
    "build.gradle",
    "build.gradle.kts",
    "settings.gradle",
    "settings.gradle.kts",
];

pub(super) fn find_part(folder: &ListedFolder, parts: &[ProjectPart]) -> DetectionResult {
    let (maven, gradle) = (
        folder.first_existing(&["pom.xml"]),
        folder.first_existing(&GRADLE_FILES),
    );
    let Some(manifest) = maven.or(gradle) else {
        return DetectionResult::Nothing;
    };
    if let Some(outer) = outer_part(parts, folder.path, &[Stack::Java]) {
        return DetectionResult::Note(format!(
            "{} is a module of the project in {}",
            shown_folder(folder.path),
            shown_folder(&outer.folder)
        ));
    }
    let mut part = ProjectPart::new(folder.path, Stack::Java);
    let is_maven = match (maven, gradle) {
        (Some(_), Some(gradle)) => {
            let is_maven = folder.has_file("mvnw") || !folder.has_file("gradlew");
            let (first, why) = match (
                is_maven,
                folder.has_file("mvnw") != folder.has_file("gradlew"),
            ) {
                (true, true) => ("Maven", "it has the wrapper"),
                (true, false) => ("Maven", "it goes first"),
                (false, _) => ("Gradle", "it has the wrapper"),
            };
            part.add_reason(format!("`pom.xml` and `{gradle}`: {first}, because {why}"));
            is_maven
        }
        (Some(_) | None, None) | (None, Some(_)) => {
            part.add_reason(format!("`{manifest}`"));
            maven.is_some()
        }
    };
    let (wrapper, plain) = if is_maven {
        ("mvnw", "mvn -B")
    } else {
        ("gradlew", "gradle")
    };
    let program = if folder.has_file(wrapper) {
        part.add_reason(format!("`{wrapper}` is the project's own wrapper"));
        if is_maven { "./mvnw -B" } else { "./gradlew" }
    } else {
        plain
    };
    part.primary_test = Some(format!("{program} test"));
    part.build = Some(if is_maven {
        format!("{program} -DskipTests package")
    } else {
        format!("{program} assemble")
    });
    part.syntax_check = Some(if is_maven {
        format!("{program} compile")
    } else {
        format!("{program} classes")
    });
    DetectionResult::Part(Box::new(part))
}

/// Returns the program that builds a part, which may be a wrapper script.
pub(crate) fn build_program(part: &ProjectPart) -> Option<&str> {
    part.primary_test.as_deref()?.strip_suffix(" test")
}
