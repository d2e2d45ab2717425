//! Sites that several tests only look at, made once for each build of the program and of these tests.

use std::fs::{self, File};
use std::path::Path;
use std::time::UNIX_EPOCH;

use crate::support::{BINARY, Project};

/// The site of the shipped results in `site`, with all transcripts and by the settings of this repository.
pub fn shipped() -> Project {
    project(
        "shipped",
        |_| {},
        &[
            "--results",
            concat!(env!("CARGO_MANIFEST_DIR"), "/results"),
            "--cache",
            "cache",
        ],
    )
}

/// A project with its site in `site`, kept beside the build.
pub fn project(name: &str, fill: fn(&Project), more: &[&str]) -> Project {
    let tests = std::env::current_exe().expect("this runs");
    let age = [Path::new(BINARY), &tests].map(|program| {
        let changed = fs::metadata(program)
            .and_then(|metadata| metadata.modified())
            .expect("the program is built");
        changed
            .duration_since(UNIX_EPOCH)
            .expect("a time")
            .as_nanos()
    });
    let age = format!("{age:?}");
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("kept");
    fs::create_dir_all(&folder).expect("the build's folder can be written");
    let lock = File::create(folder.join(format!("{name}.lock")))
        .expect("the build's folder can be written");
    lock.lock().expect("one at a time");
    let (project, done) = (
        Project::at(folder.join(name)),
        folder.join(format!("{name}.built")),
    );
    if !fs::read_to_string(&done).is_ok_and(|of| of == age) {
        let _ = fs::remove_dir_all(project.path(""));
        fs::create_dir_all(project.path("")).expect("the build's folder can be written");
        fill(&project);
        let output = project.run(
            ["build", "--transcripts", "all"]
                .iter()
                .chain(more)
                .copied(),
        );
        assert_eq!(output.code, 0, "{}", output.stderr);
        fs::write(&done, age).expect("the build's folder can be written");
    }
    project
}
