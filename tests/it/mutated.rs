//! Importers of known formats on files that are broken in every way: whatever a file holds, reading it ends, and says what is wrong.
//!
//! Every fixture of `tests/fixtures/import` is mutated; `EVALREPORT_MUTATIONS` says how often each (20 otherwise), and `EVALREPORT_MUTATED`
//! names further files, with `:` between them.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use evalreport::import::{Destination, GivenNames, Mode, import_foreign};
use evalreport::results::Store;

/// What tends to break readers, put in at some place.
const PIECES: [&[u8]; 16] = [
    b"null",
    b"-1",
    b"1e999",
    b"NaN",
    b"18446744073709551616",
    b"\"\"",
    b"{}",
    b"[]",
    b"[[[[",
    b"}",
    b"\"",
    b"\\u0000",
    b"\xff\xfe",
    b"\n",
    b"9999-99-99",
    b"../../x",
];

/// A sequence of numbers that is the same in every run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from((self.0 >> 33) % bound.max(1) as u64).expect("below a size")
    }
}

fn mutated(bytes: &[u8], numbers: &mut Numbers) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    for _ in 0..=numbers.below(4) {
        let place = numbers.below(bytes.len());
        let length = numbers.below(32).min(bytes.len() - place);
        match numbers.below(6) {
            0 => bytes[place] ^= 1 << numbers.below(8),
            1 => bytes.truncate(place.max(1)),
            2 => drop(bytes.drain(place..place + length)),
            3 => drop(bytes.splice(place..place + length, PIECES[numbers.below(PIECES.len())].iter().copied())),
            4 => {
                let piece = bytes[place..place + length].to_vec();
                let to = numbers.below(bytes.len());
                drop(bytes.splice(to..to, piece));
            }
            _ => {
                // A value of another type.
                let text = String::from_utf8_lossy(&bytes).into_owned();
                let values: Vec<usize> = text.match_indices(": ").map(|(place, _)| place + 2).collect();
                if let Some(start) = values.get(numbers.below(values.len())) {
                    let end = text[*start..].find([',', '}', ']', '\n']).map_or(text.len(), |end| start + end);
                    bytes = [&text.as_bytes()[..*start], PIECES[numbers.below(PIECES.len())], &text.as_bytes()[end..]].concat();
                }
            }
        }
        if bytes.is_empty() {
            bytes.push(b' ');
        }
    }
    bytes
}

fn files() -> Vec<PathBuf> {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/import");
    let named = std::env::var_os("EVALREPORT_MUTATED").map(|paths| std::env::split_paths(&paths).collect::<Vec<_>>()).unwrap_or_default();
    let roots = std::iter::once(fixtures).chain(named);
    let below = |root: PathBuf| walkdir::WalkDir::new(root).sort_by_file_name().into_iter().filter_map(Result::ok);
    roots.flat_map(below).filter(|entry| entry.file_type().is_file()).map(walkdir::DirEntry::into_path).collect()
}

#[test]
fn no_file_breaks_an_importer() {
    let times: usize = std::env::var("EVALREPORT_MUTATIONS").ok().and_then(|times| times.parse().ok()).unwrap_or(20);
    let folder = tempfile::tempdir().expect("a temporary folder");
    let store = Store::at(folder.path().join("results"));
    let mut numbers = Numbers(7);
    for file in files() {
        let bytes = std::fs::read(&file).expect("readable");
        // Some formats go by their folders and names.
        let name = file.file_name().expect("a name");
        let place = folder.path().join("in").join(file.parent().and_then(Path::file_name).expect("a folder"));
        std::fs::create_dir_all(&place).expect("writable");
        let path = place.join(name);
        for time in 0..times {
            let broken = if time == 0 { bytes.clone() } else { mutated(&bytes, &mut numbers) };
            std::fs::write(&path, &broken).expect("writable");
            let start = Instant::now();
            let report = import_foreign(
                Destination::Store(&store, &BTreeSet::new()),
                &[&path],
                None,
                &GivenNames::default(),
                Mode::DryRun,
                &mut |_| {},
            )
            .expect("nothing is written");
            assert!(start.elapsed() < Duration::from_secs(10), "{} takes too long", file.display());
            for source in &report.sources {
                assert!(source.problems.iter().all(|problem| !problem.message.is_empty()), "{}", file.display());
                assert!(source.rows_accepted + source.rows_refused() <= source.rows_read, "{}", file.display());
            }
        }
        std::fs::remove_file(&path).expect("writable");
    }
}
