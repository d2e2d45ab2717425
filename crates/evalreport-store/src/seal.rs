//! Seals: digests in a record of the files beside it and of the record itself, which reveal later changes.
//!
//! A seal is the last field of a header, or of the line of a later judgement. It has the length and digest of each file at that time, so
//! that later appended lines leave it valid. Its own last field is the digest of all text before that digest.
//!
//! ```text
//! {"format":…,"cost_usd":0.5,"seal":{"items":{"bytes":812,"sha256":…},"output":{"files":2,"sha256":…},"sha256":…}}
//! ```
//!
//! An import may add a field after the seal, in the same form, about the bundle that brought the record. It leaves the seal valid. Anybody
//! who can write these files can seal them again: a seal reveals edits, and a [`super::signature`] reveals forgers.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::domain::{Carried, to_hex};
use crate::files;

use super::presence;

/// The sealed files of a run's folder. Files of lines are sealed up to their current length.
pub(super) const ITEMS_FILE: &str = "items.jsonl";
pub(super) const SCORES_FILE: &str = "scores.jsonl";
pub(super) const TRANSCRIPT_FILE: &str = "transcript.jsonl";
pub(super) const OUTPUT_FOLDER: &str = "output";

/// The first bytes of a file: their number and digest.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FilePrefix {
    pub bytes: u64,
    pub sha256: String,
}

/// The files below a folder. The digest covers one line `<sha256>  <path>` per file, ordered by path, in the format of `sha256sum`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FolderDigest {
    pub files: u64,
    pub sha256: String,
}

/// The files beside a record when it was written. An empty file counts as missing.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Seal {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub items: Option<FilePrefix>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scores: Option<FilePrefix>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transcript: Option<FilePrefix>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<FolderDigest>,
}

/// The state of a record's seal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum SealState {
    /// Written by hand, or by an early release without seals.
    None,
    /// The text differs from the sealed one.
    Changed,
    Whole(SealedRecord),
}

/// A record as it was sealed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SealedRecord {
    pub seal: Seal,
    /// The sealed text, without additions of an import.
    pub text: String,
}

impl SealedRecord {
    /// Returns the digest of the sealed text.
    pub fn digest(&self) -> String {
        sha256_hex(self.text.as_bytes())
    }
}

impl Seal {
    /// Adds the seal as the last field of a record, which is one line of JSON.
    pub fn seal_record(&self, json: &str) -> String {
        append_digested_field(json, "seal", self)
    }

    /// Seals the files of a run's folder, which need not exist.
    pub fn from_folder(folder: &Path) -> io::Result<Self> {
        Ok(Self {
            items: FilePrefix::from_file(&folder.join(ITEMS_FILE))?,
            scores: FilePrefix::from_file(&folder.join(SCORES_FILE))?,
            transcript: FilePrefix::from_file(&folder.join(TRANSCRIPT_FILE))?,
            output: FolderDigest::from_folder(&folder.join(OUTPUT_FOLDER))?,
        })
    }
}

impl SealState {
    /// Parses and checks the seal in the text of a record.
    pub fn parse(text: &str) -> Self {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct SealTail {
            seal: Seal,
            carried: Option<Carried>,
        }
        let text = text.trim_end_matches('\n');
        // Inside a JSON string the quotation mark would be escaped.
        let Some(place) = text.rfind(",\"seal\":{") else {
            return if has_seal(text) {
                Self::Changed
            } else {
                Self::None
            };
        };
        let whole = || {
            let tail: SealTail = serde_json::from_str(&format!("{{{}", &text[place + 1..])).ok()?;
            // Rebuild the sealed text: a seal has only one possible form.
            let sealed = SealedRecord {
                text: tail.seal.seal_record(&format!("{}}}", &text[..place])),
                seal: tail.seal,
            };
            (with_carried(&sealed.text, tail.carried.as_ref()) == text).then_some(sealed)
        };
        whole().map_or(Self::Changed, Self::Whole)
    }
}

/// Returns whether a rewritten record still has a seal field.
fn has_seal(text: &str) -> bool {
    #[derive(Deserialize)]
    struct AnySeal {
        seal: Option<IgnoredAny>,
    }
    text.contains("\"seal\"")
        && serde_json::from_str::<AnySeal>(text).is_ok_and(|any| any.seal.is_some())
}

/// Adds an import's information to a record.
pub(super) fn with_carried(text: &str, carried: Option<&Carried>) -> String {
    carried.map_or_else(
        || text.to_owned(),
        |carried| append_digested_field(text, "carried", carried),
    )
}

/// Returns whether a record ends in this information of an import, with the right digest of all text before it.
pub(super) fn ends_with_carried(text: &str, carried: &Carried) -> bool {
    let text = text.trim_end_matches('\n');
    // Inside a JSON string the quotation mark would be escaped.
    let place = text.rfind(",\"carried\":{");
    place.is_some_and(|place| with_carried(&format!("{}}}", &text[..place]), Some(carried)) == text)
}

/// Adds a last field to an object, which ends in the digest of all text before it.
fn append_digested_field(json: &str, key: &str, fields: &impl Serialize) -> String {
    let fields = serde_json::to_string(fields).expect("every key of it is text");
    let mut text = json.strip_suffix('}').unwrap_or(json).to_owned();
    text.push_str(&format!(",\"{key}\":"));
    text.push_str(fields.strip_suffix('}').unwrap_or(&fields));
    text.push_str(if fields == "{}" {
        "\"sha256\":\""
    } else {
        ",\"sha256\":\""
    });
    let sum = sha256_hex(text.as_bytes());
    text.push_str(&sum);
    text.push_str("\"}}");
    text
}

pub(super) fn sha256_hex(bytes: &[u8]) -> String {
    to_hex(&Sha256::digest(bytes))
}

/// The running digest and length of bytes.
#[derive(Clone, Default)]
pub(super) struct RunningDigest {
    hasher: Sha256,
    bytes: u64,
}

impl RunningDigest {
    pub fn add(&mut self, bytes: &[u8]) {
        self.hasher.update(bytes);
        self.bytes += bytes.len() as u64;
    }

    /// Returns `None` if there were no bytes.
    pub fn to_prefix(&self) -> Option<FilePrefix> {
        (self.bytes > 0).then(|| FilePrefix {
            bytes: self.bytes,
            sha256: to_hex(&self.hasher.clone().finalize()),
        })
    }
}

impl FilePrefix {
    /// Digests everything in a reader.
    pub fn from_reader(reader: impl Read) -> io::Result<Option<Self>> {
        digest_prefixes(reader, &BTreeSet::new()).map(|(sum, _)| sum.to_prefix())
    }

    /// Digests a whole file, which need not exist.
    pub fn from_file(path: &Path) -> io::Result<Option<Self>> {
        files::missing_as_none(files::open(path))?.map_or(Ok(None), Self::from_reader)
    }
}

/// Digests a reader, in full and up to each of the given lengths that it reaches.
pub(super) fn digest_prefixes(
    reader: impl Read,
    places: &BTreeSet<u64>,
) -> io::Result<(RunningDigest, BTreeMap<u64, RunningDigest>)> {
    let (mut sum, mut at) = (RunningDigest::default(), BTreeMap::new());
    let mut places = places.iter().copied().peekable();
    files::for_each_block(reader, |mut rest| {
        while let Some(place) = places.next_if(|place| *place <= sum.bytes + rest.len() as u64) {
            let (before, after) =
                rest.split_at(usize::try_from(place.saturating_sub(sum.bytes)).unwrap_or(0));
            sum.add(before);
            at.insert(place, sum.clone());
            rest = after;
        }
        sum.add(rest);
    })?;
    Ok((sum, at))
}

impl FolderDigest {
    /// Digests the files below a folder, which need not exist. Returns `None` if there are none. Links are not followed.
    pub fn from_folder(folder: &Path) -> io::Result<Option<Self>> {
        if !presence::is_folder(folder)? {
            return Ok(None);
        }
        let mut files = Vec::<(Vec<u8>, PathBuf)>::new();
        for entry in walkdir::WalkDir::new(folder) {
            let entry = entry?;
            if entry.file_type().is_file() {
                let relative = entry.path().strip_prefix(folder).unwrap_or(entry.path());
                let parts: Vec<&[u8]> = relative
                    .components()
                    .map(|part| part.as_os_str().as_encoded_bytes())
                    .collect();
                files.push((parts.join(&b'/'), entry.into_path()));
            }
        }
        files.sort_unstable();
        let mut sum = RunningDigest::default();
        for (name, path) in &files {
            let content = digest_prefixes(files::open(path)?, &BTreeSet::new())?.0;
            sum.add(to_hex(&content.hasher.finalize()).as_bytes());
            sum.add(b"  ");
            sum.add(name);
            sum.add(b"\n");
        }
        Ok(sum.to_prefix().map(|lines| Self {
            files: files.len() as u64,
            sha256: lines.sha256,
        }))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::domain::Signer;

    const RECORD: &str = r#"{"id":"r","tags":{"k":",\"seal\":{"},"cost_usd":0.5}"#;

    fn seal() -> Seal {
        Seal {
            items: FilePrefix::from_reader(&b"a\nb\n"[..]).expect("memory reads"),
            ..Seal::default()
        }
    }

    #[test]
    fn a_record_says_whether_it_was_changed() {
        for seal in [Seal::default(), seal()] {
            let text = seal.seal_record(RECORD);
            assert_eq!(
                SealState::parse(&format!("{text}\n")),
                SealState::Whole(SealedRecord {
                    seal: seal.clone(),
                    text: text.clone()
                })
            );
            let parsed: serde_json::Value = serde_json::from_str(&text).expect("JSON");
            assert_eq!(parsed["cost_usd"], 0.5);
            for changed in [
                text.replace("0.5", "0.4"),
                text.replace("\"r\"", "\"s\""),
                format!("{parsed:#}"),
                text.replace(':', ": "),
            ] {
                assert_eq!(SealState::parse(&changed), SealState::Changed, "{changed}");
            }
        }
        assert_eq!(SealState::parse(RECORD), SealState::None);
    }

    #[test]
    fn what_an_import_adds_leaves_the_seal_as_it_was() {
        let SealState::Whole(sealed) = SealState::parse(&seal().seal_record(RECORD)) else {
            panic!("it is whole")
        };
        let signer = Signer {
            name: "\"}}nightly,\"seal\":{".to_owned(),
            key: "SHA256:x".to_owned(),
        };
        let text = with_carried(
            &sealed.text,
            Some(&Carried {
                signed_by: Some(signer),
                without: vec![OUTPUT_FOLDER.to_owned()],
            }),
        );
        assert_eq!(SealState::parse(&text), SealState::Whole(sealed));
        assert_eq!(
            SealState::parse(&text.replace("nightly", "mallory")),
            SealState::Changed
        );
    }

    proptest! {
        #[test]
        fn any_byte_that_is_changed_is_found(place in 0usize..400, by in 1u8..255) {
            let mut bytes = seal().seal_record(RECORD).into_bytes();
            let place = place % bytes.len();
            bytes[place] = bytes[place].wrapping_add(by);
            if let Ok(text) = String::from_utf8(bytes) {
                prop_assert!(!matches!(SealState::parse(&text), SealState::Whole(_)), "{text}");
            }
        }

        #[test]
        fn sums_at_places_are_those_of_what_comes_before(bytes in prop::collection::vec(any::<u8>(), 0..200), places in prop::collection::btree_set(0u64..300, 0..5)) {
            let (all, at) = digest_prefixes(&bytes[..], &places).expect("memory reads");
            prop_assert_eq!(all.to_prefix().map_or(0, |all| all.bytes), bytes.len() as u64);
            for place in places.into_iter().filter(|place| *place > 0) {
                let expected = bytes.get(..usize::try_from(place).expect("small")).map(sha256_hex);
                prop_assert_eq!(at.get(&place).and_then(RunningDigest::to_prefix).map(|sum| sum.sha256), expected);
            }
        }
    }
}
