//! .NET solutions and projects.

use super::folder::{ListedFolder, has_extension, shown_folder};
use super::part::{DetectionResult, ProjectPart, outer_part};
use crate::Stack;

/// Endings of solutions, and of projects in C#, F# and Visual Basic.
pub(crate) const SOLUTION_ENDINGS: [&str; 2] = ["sln", "slnx"];
pub(crate) const PROJECT_ENDINGS: [&str; 3] = ["csproj", "fsproj", "vbproj"];

pub(super) fn find_part(folder: &ListedFolder, parts: &[ProjectPart]) -> DetectionResult {
    let named = |endings: &[&str]| {
        let mut names: Vec<&str> = folder
            .file_names()
            .filter(|name| has_extension(name, endings))
            .collect();
        names.sort_unstable();
        names
    };
    let (solutions, projects) = (named(&SOLUTION_ENDINGS), named(&PROJECT_ENDINGS));
    let (manifest, is_ambiguous) = match (solutions.as_slice(), projects.as_slice()) {
        ([solution, more @ ..], _) => (*solution, !more.is_empty()),
        ([], [project, more @ ..]) => (*project, !more.is_empty()),
        ([], []) => return DetectionResult::Nothing,
    };
    if let Some(outer) = outer_part(parts, folder.path, &[Stack::Dotnet]) {
        return DetectionResult::Note(format!(
            "{} is a project of the solution in {}",
            shown_folder(folder.path),
            shown_folder(&outer.folder)
        ));
    }
    let mut part = ProjectPart::new(folder.path, Stack::Dotnet);
    part.add_reason(format!("`{manifest}`"));
    // With several, `dotnet` asks for a name.
    let of = if is_ambiguous || !solutions.is_empty() && !projects.is_empty() {
        part.add_reason(format!(
            "several solutions or projects: `{manifest}` goes first"
        ));
        format!(" '{manifest}'")
    } else {
        String::new()
    };
    part.primary_test = Some(format!("dotnet test{of}"));
    part.build = Some(format!("dotnet build{of}"));
    if folder.has_file(".editorconfig") {
        part.lint = Some(format!("dotnet format{of} --verify-no-changes"));
        part.add_reason("`.editorconfig` configures the format");
    }
    DetectionResult::Part(Box::new(part))
}
