//! Go modules.

use super::folder::Folder;
use super::part::{Found, Part};
use crate::verify::Stack;

pub(super) fn find(folder: &Folder, _: &[Part]) -> Found {
    if !folder.has("go.mod") {
        return Found::Nothing;
    }
    let mut part = Part::new(folder.path, Stack::Go);
    part.because("`go.mod`");
    part.primary_test = Some("go test ./...".to_owned());
    part.build = Some("go build ./...".to_owned());
    part.syntax_check = Some("go vet ./...".to_owned());
    if let Some(settings) = folder.first_of(&[
        ".golangci.yml",
        ".golangci.yaml",
        ".golangci.toml",
        ".golangci.json",
    ]) {
        part.lint = Some("golangci-lint run".to_owned());
        part.because(format!("`{settings}` configures golangci-lint"));
    }
    Found::Part(Box::new(part))
}
