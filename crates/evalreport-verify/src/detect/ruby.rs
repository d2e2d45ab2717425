//! Ruby projects of Bundler.

use super::folder::{ListedFolder, has_extension};
use super::part::{DetectionResult, ProjectPart};
use crate::Stack;

pub(super) fn find_part(folder: &ListedFolder, _: &[ProjectPart]) -> DetectionResult {
    let Some(manifest) = folder.file_text("Gemfile") else {
        return DetectionResult::Nothing;
    };
    // Projects of other languages have a Gemfile for their documentation or releases.
    let code: Vec<&str> = folder
        .list_files()
        .filter(|file| has_extension(file, &["rb"]))
        .collect();
    if code.is_empty() {
        return DetectionResult::Note("`Gemfile` without a Ruby file is for tools".to_owned());
    }
    let mut part = ProjectPart::new(folder.path, Stack::Ruby);
    part.add_reason("`Gemfile`");
    let has_specs = code.iter().any(|file| file.ends_with("_spec.rb"));
    let has_tests = code
        .iter()
        .any(|file| file.ends_with("_test.rb") || file.starts_with("test/"));
    part.primary_test = if folder.has_file(".rspec") || has_specs {
        part.add_reason("specs of RSpec");
        Some("bundle exec rspec".to_owned())
    } else if folder.has_file("bin/rails") {
        part.add_reason("`bin/rails`");
        Some("bin/rails test".to_owned())
    } else if has_tests && folder.has_file("Rakefile") {
        part.add_reason("tests, and a `Rakefile`");
        Some("bundle exec rake test".to_owned())
    } else if has_tests {
        part.add_reason("tests without a `Rakefile`");
        Some("bundle exec ruby -Itest -e 'Dir[\"./test/**/*_test.rb\"].each { |file| require file }'".to_owned())
    } else {
        None
    };
    if let Some(settings) = folder.first_existing(&[".rubocop.yml"]) {
        part.lint = Some("bundle exec rubocop".to_owned());
        part.add_reason(format!("`{settings}` configures RuboCop"));
    } else if manifest.contains("standard") && folder.has_file(".standard.yml") {
        part.lint = Some("bundle exec standardrb".to_owned());
        part.add_reason("`.standard.yml` configures Standard");
    }
    DetectionResult::Part(Box::new(part))
}
