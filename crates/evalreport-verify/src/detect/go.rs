//! Go modules.

use super::folder::ListedFolder;
use super::part::{DetectionResult, ProjectPart};
use crate::Stack;

pub(super) fn find_part(folder: &ListedFolder, _: &[ProjectPart]) -> DetectionResult {
    if !folder.has_file("go.mod") {
        return DetectionResult::Nothing;
    }
    let mut part = ProjectPart::new(folder.path, Stack::Go);
    part.add_reason("`go.mod`");
    part.primary_test = Some("go test ./...".to_owned());
    part.build = Some("go build ./...".to_owned());
    part.syntax_check = Some("go vet ./...".to_owned());
    if let Some(settings) = folder.first_existing(&[
        ".golangci.yml",
        ".golangci.yaml",
        ".golangci.toml",
        ".golangci.json",
    ]) {
        part.lint = Some("golangci-lint run".to_owned());
        part.add_reason(format!("`{settings}` configures golangci-lint"));
    }
    DetectionResult::Part(Box::new(part))
}
