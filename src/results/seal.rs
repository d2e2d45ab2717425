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

use crate::domain::{Carried, hex};
use crate::files;

use super::presence;

/// The sealed files of a run's folder. Files of lines are sealed up to their current length.
pub(super) const ITEMS: &str = "items.jsonl";
pub(super) const SCORES: &str = "scores.jsonl";
pub(super) const TRANSCRIPT: &str = "transcript.jsonl";
pub(super) const OUTPUT: &str = "output";

/// The first bytes of a file: their number and digest.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Prefix {
    pub bytes: u64,
    pub sha256: String,
}

/// The files below a folder. The digest covers one line `<sha256>  <path>` per file, ordered by path, in the format of `sha256sum`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Tree {
    pub files: u64,
    pub sha256: String,
}

/// The files beside a record when it was written. An empty file counts as missing.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Seal {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub items: Option<Prefix>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scores: Option<Prefix>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transcript: Option<Prefix>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<Tree>,
}

/// The state of a record's seal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Sealing {
    /// Written by hand, or by an early release without seals.
    None,
    /// The text differs from the sealed one.
    Changed,
    Whole(Sealed),
}

/// A record as it was sealed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Sealed {
    pub seal: Seal,
    /// The sealed text, without additions of an import.
    pub text: String,
}

impl Sealed {
    /// Returns the digest of the sealed text.
    pub fn digest(&self) -> String {
        digest(self.text.as_bytes())
    }
}

impl Seal {
    /// Adds the seal as the last field of a record, which is one line of JSON.
    pub fn close(&self, json: &str) -> String {
        closed(json, "seal", self)
    }

    /// Seals the files of a run's folder, which need not exist.
    pub fn of_folder(folder: &Path) -> io::Result<Self> {
        Ok(Self {
            items: Prefix::of_file(&folder.join(ITEMS))?,
            scores: Prefix::of_file(&folder.join(SCORES))?,
            transcript: Prefix::of_file(&folder.join(TRANSCRIPT))?,
            output: Tree::of(&folder.join(OUTPUT))?,
        })
    }
}

impl Sealing {
    /// Parses and checks the seal in the text of a record.
    pub fn of(text: &str) -> Self {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Tail {
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
            let tail: Tail = serde_json::from_str(&format!("{{{}", &text[place + 1..])).ok()?;
            // Rebuild the sealed text: a seal has only one possible form.
            let sealed = Sealed {
                text: tail.seal.close(&format!("{}}}", &text[..place])),
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
    struct Any {
        seal: Option<IgnoredAny>,
    }
    text.contains("\"seal\"")
        && serde_json::from_str::<Any>(text).is_ok_and(|any| any.seal.is_some())
}

/// Adds an import's information to a record.
pub(super) fn with_carried(text: &str, carried: Option<&Carried>) -> String {
    carried.map_or_else(
        || text.to_owned(),
        |carried| closed(text, "carried", carried),
    )
}

/// Returns whether a record ends in this information of an import, with the right digest of all text before it.
pub(super) fn closes(text: &str, carried: &Carried) -> bool {
    let text = text.trim_end_matches('\n');
    // Inside a JSON string the quotation mark would be escaped.
    let place = text.rfind(",\"carried\":{");
    place.is_some_and(|place| with_carried(&format!("{}}}", &text[..place]), Some(carried)) == text)
}

/// Adds a last field to an object, which ends in the digest of all text before it.
fn closed(json: &str, key: &str, fields: &impl Serialize) -> String {
    let fields = serde_json::to_string(fields).expect("every key of it is text");
    let mut text = json.strip_suffix('}').unwrap_or(json).to_owned();
    text.push_str(&format!(",\"{key}\":"));
    text.push_str(fields.strip_suffix('}').unwrap_or(&fields));
    text.push_str(if fields == "{}" {
        "\"sha256\":\""
    } else {
        ",\"sha256\":\""
    });
    let sum = digest(text.as_bytes());
    text.push_str(&sum);
    text.push_str("\"}}");
    text
}

pub(super) fn digest(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

/// The running digest and length of bytes.
#[derive(Clone, Default)]
pub(super) struct Sum {
    hasher: Sha256,
    bytes: u64,
}

impl Sum {
    pub fn add(&mut self, bytes: &[u8]) {
        self.hasher.update(bytes);
        self.bytes += bytes.len() as u64;
    }

    /// Returns `None` if there were no bytes.
    pub fn prefix(&self) -> Option<Prefix> {
        (self.bytes > 0).then(|| Prefix {
            bytes: self.bytes,
            sha256: hex(&self.hasher.clone().finalize()),
        })
    }
}

impl Prefix {
    /// Digests everything in a reader.
    pub fn of(reader: impl Read) -> io::Result<Option<Self>> {
        sums(reader, &BTreeSet::new()).map(|(sum, _)| sum.prefix())
    }

    /// Digests a whole file, which need not exist.
    pub fn of_file(path: &Path) -> io::Result<Option<Self>> {
        files::if_there(files::open(path))?.map_or(Ok(None), Self::of)
    }
}

/// Digests a reader, in full and up to each of the given lengths that it reaches.
pub(super) fn sums(
    reader: impl Read,
    places: &BTreeSet<u64>,
) -> io::Result<(Sum, BTreeMap<u64, Sum>)> {
    let (mut sum, mut at) = (Sum::default(), BTreeMap::new());
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

impl Tree {
    /// Digests the files below a folder, which need not exist. Returns `None` if there are none. Links are not followed.
    pub fn of(folder: &Path) -> io::Result<Option<Self>> {
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
        let mut sum = Sum::default();
        for (name, path) in &files {
            let content = sums(files::open(path)?, &BTreeSet::new())?.0;
            sum.add(hex(&content.hasher.finalize()).as_bytes());
            sum.add(b"  ");
            sum.add(name);
            sum.add(b"\n");
        }
        Ok(sum.prefix().map(|lines| Self {
            files: files.len() as u64,
            sha256: lines.sha256,
        }))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::super::domain::Signer;
    use super::*;

    const RECORD: &str = r#"{"id":"r","tags":{"k":",\"seal\":{"},"cost_usd":0.5}"#;

    fn seal() -> Seal {
        Seal {
            items: Prefix::of(&b"a\nb\n"[..]).expect("memory reads"),
            ..Seal::default()
        }
    }

    #[test]
    fn a_record_says_whether_it_was_changed() {
        for seal in [Seal::default(), seal()] {
            let text = seal.close(RECORD);
            assert_eq!(
                Sealing::of(&format!("{text}\n")),
                Sealing::Whole(Sealed {
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
                assert_eq!(Sealing::of(&changed), Sealing::Changed, "{changed}");
            }
        }
        assert_eq!(Sealing::of(RECORD), Sealing::None);
    }

    #[test]
    fn what_an_import_adds_leaves_the_seal_as_it_was() {
        let Sealing::Whole(sealed) = Sealing::of(&seal().close(RECORD)) else {
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
                without: vec![OUTPUT.to_owned()],
            }),
        );
        assert_eq!(Sealing::of(&text), Sealing::Whole(sealed));
        assert_eq!(
            Sealing::of(&text.replace("nightly", "mallory")),
            Sealing::Changed
        );
    }

    proptest! {
        #[test]
        fn any_byte_that_is_changed_is_found(place in 0usize..400, by in 1u8..255) {
            let mut bytes = seal().close(RECORD).into_bytes();
            let place = place % bytes.len();
            bytes[place] = bytes[place].wrapping_add(by);
            if let Ok(text) = String::from_utf8(bytes) {
                prop_assert!(!matches!(Sealing::of(&text), Sealing::Whole(_)), "{text}");
            }
        }

        #[test]
        fn sums_at_places_are_those_of_what_comes_before(bytes in prop::collection::vec(any::<u8>(), 0..200), places in prop::collection::btree_set(0u64..300, 0..5)) {
            let (all, at) = sums(&bytes[..], &places).expect("memory reads");
            prop_assert_eq!(all.prefix().map_or(0, |all| all.bytes), bytes.len() as u64);
            for place in places.into_iter().filter(|place| *place > 0) {
                let expected = bytes.get(..usize::try_from(place).expect("small")).map(digest);
                prop_assert_eq!(at.get(&place).and_then(Sum::prefix).map(|sum| sum.sha256), expected);
            }
        }
    }
}
