//! Swift packages.

use super::folder::ListedFolder;
use super::part::{DetectionResult, ProjectPart};
use crate::Stack;

pub(super) fn find_part(folder: &ListedFolder, _: &[ProjectPart]) -> DetectionResult {
    if !folder.has_file("Package.swift") {
        return DetectionResult::Nothing;
    }
    let mut part = ProjectPart::new(folder.path, Stack::Swift);
    part.add_reason("`Package.swift`");
    part.primary_test = Some("swift test".to_owned());
    part.build = Some("swift build".to_owned());
    if let Some(settings) = folder.first_existing(&[".swiftlint.yml", ".swiftlint.yaml"]) {
        part.lint = Some("swiftlint lint --strict".to_owned());
        part.add_reason(format!("`{settings}` configures SwiftLint"));
    }
    DetectionResult::Part(Box::new(part))
}
