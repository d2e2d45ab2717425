//! What no tool can beat: finding the same files, reading their bytes and counting their line breaks, on every core.
//!
//! `cargo bench --bench floor -- FOLDER` prints the seconds for the outcomes and for the small files of `benches/generate.rs`.
#![expect(clippy::print_stdout, reason = "a program for a person and a script")]

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::Instant;

use rayon::prelude::*;

const ROUNDS: usize = 5;

fn main() {
    let folder = std::env::args()
        .skip(1)
        .find(|argument| !argument.starts_with("--"))
        .unwrap_or_else(|| "target/bench-data".to_owned());
    for (name, part) in [("items", "items"), ("small", "small")] {
        let mut seconds: Vec<f64> = (0..ROUNDS)
            .map(|_| read(&Path::new(&folder).join(part)))
            .collect();
        seconds.sort_by(f64::total_cmp);
        println!("{name} {:.4}", seconds[ROUNDS / 2]);
    }
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = walkdir::WalkDir::new(folder)
        .into_iter()
        .map(|entry| entry.expect("a readable folder"));
    entries
        .filter(|entry| entry.file_type().is_file())
        .map(walkdir::DirEntry::into_path)
        .collect()
}

fn read(folder: &Path) -> f64 {
    let start = Instant::now();
    let files = files(folder);
    let lines: usize = files
        .par_iter()
        .with_min_len(16)
        .map_init(
            || vec![0; 1 << 20],
            |buffer, path| {
                let mut file = File::open(path).expect("a readable file");
                let mut lines = 0;
                loop {
                    match file.read(buffer).expect("a readable file") {
                        0 => return lines,
                        length => lines += memchr::memchr_iter(b'\n', &buffer[..length]).count(),
                    }
                }
            },
        )
        .sum();
    assert!(lines > 0 || files.len() > 1, "the files hold lines");
    start.elapsed().as_secs_f64()
}
