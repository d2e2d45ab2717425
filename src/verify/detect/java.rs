//! Maven and Gradle.

use super::folder::{Folder, shown_folder};
use super::part::{Found, Part, around};
use crate::verify::Stack;

const GRADLE: [&str; 4] = [
    "build.gradle",
    "build.gradle.kts",
    "settings.gradle",
    "settings.gradle.kts",
];

pub(super) fn find(folder: &Folder, parts: &[Part]) -> Found {
    let (maven, gradle) = (folder.first_of(&["pom.xml"]), folder.first_of(&GRADLE));
    let Some(manifest) = maven.or(gradle) else {
        return Found::Nothing;
    };
    if let Some(outer) = around(parts, folder.path, &[Stack::Java]) {
        return Found::Note(format!(
            "{} is a module of the project in {}",
            shown_folder(folder.path),
            shown_folder(&outer.folder)
        ));
    }
    let mut part = Part::new(folder.path, Stack::Java);
    let is_maven = match (maven, gradle) {
        (Some(_), Some(gradle)) => {
            let is_maven = folder.has("mvnw") || !folder.has("gradlew");
            let (first, why) = match (is_maven, folder.has("mvnw") != folder.has("gradlew")) {
                (true, true) => ("Maven", "it has the wrapper"),
                (true, false) => ("Maven", "it goes first"),
                (false, _) => ("Gradle", "it has the wrapper"),
            };
            part.because(format!("`pom.xml` and `{gradle}`: {first}, because {why}"));
            is_maven
        }
        (Some(_) | None, None) | (None, Some(_)) => {
            part.because(format!("`{manifest}`"));
            maven.is_some()
        }
    };
    let (wrapper, plain) = if is_maven {
        ("mvnw", "mvn -B")
    } else {
        ("gradlew", "gradle")
    };
    let program = if folder.has(wrapper) {
        part.because(format!("`{wrapper}` is the project's own wrapper"));
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
    Found::Part(Box::new(part))
}

/// Returns the program that builds a part, which may be a wrapper script.
pub(in crate::verify) fn program_of(part: &Part) -> Option<&str> {
    part.primary_test.as_deref()?.strip_suffix(" test")
}
