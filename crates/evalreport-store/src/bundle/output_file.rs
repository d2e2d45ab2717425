//! An artefact as lines of a bundle: text as text, other content in hexadecimal, long files in parts.

use std::io::{self, Read};
use std::path::{Component, Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::domain::to_hex;
use crate::files;

/// Maximum bytes in one line. A longer file has several consecutive lines with one path.
const MAX_PART_BYTES: u64 = 256 << 10;

/// A file or a part of a file.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct BundledFile {
    /// Below `output/`, with `/` between folders.
    pub path: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    hex: Option<String>,
}

impl BundledFile {
    /// Calls `each` with the parts of a file. Holds at most one part in memory.
    pub fn for_each_part<E: From<io::Error>>(
        path: &str,
        file: &Path,
        mut each: impl FnMut(&Self) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut reader = files::open(file)?;
        for number in 0_u64.. {
            let mut bytes = Vec::new();
            (&mut reader).take(MAX_PART_BYTES).read_to_end(&mut bytes)?;
            // An empty file has one empty part.
            if bytes.is_empty() && number > 0 {
                break;
            }
            let is_last = (bytes.len() as u64) < MAX_PART_BYTES;
            // A part may end inside a character, so only a file of one part is stored as text.
            let text = if number == 0 && is_last {
                String::from_utf8(bytes).map_err(std::string::FromUtf8Error::into_bytes)
            } else {
                Err(bytes)
            };
            let part = match text {
                Ok(text) => Self {
                    path: path.to_owned(),
                    text: Some(text),
                    hex: None,
                },
                Err(bytes) => Self {
                    path: path.to_owned(),
                    text: None,
                    hex: Some(to_hex(&bytes)),
                },
            };
            each(&part)?;
            if is_last {
                break;
            }
        }
        Ok(())
    }

    /// Returns the file's path below a folder. Fails for paths that lead elsewhere.
    pub fn relative_path(&self) -> Result<PathBuf, String> {
        let path = Path::new(&self.path);
        let is_plain = !self.path.is_empty()
            && !self.path.contains(['\\', ':', '\0'])
            && self.path.split('/').all(|part| !part.is_empty())
            && path
                .components()
                .all(|component| matches!(component, Component::Normal(_)));
        if is_plain {
            Ok(path.to_owned())
        } else {
            Err(format!(
                "has a file `{}`, which is no path below a folder",
                crate::domain::escape_invisible(&self.path)
            ))
        }
    }

    pub fn into_bytes(self) -> Result<Vec<u8>, String> {
        match (self.text, self.hex) {
            (Some(text), None) => Ok(text.into_bytes()),
            (None, Some(digits)) => from_hex(&digits)
                .ok_or_else(|| "has a file whose content is not in hexadecimal digits".to_owned()),
            (Some(_), Some(_)) | (None, None) => Err("has a file without one content".to_owned()),
        }
    }
}

fn from_hex(digits: &str) -> Option<Vec<u8>> {
    let value = |digit: u8| {
        char::from(digit)
            .to_digit(16)
            .and_then(|value| u8::try_from(value).ok())
    };
    let pairs = digits.as_bytes().chunks(2);
    pairs
        .map(|pair| {
            if let [high, low] = *pair {
                Some(value(high)? << 4 | value(low)?)
            } else {
                None
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &str) -> BundledFile {
        BundledFile {
            path: path.to_owned(),
            text: Some(String::new()),
            hex: None,
        }
    }

    #[test]
    fn paths_stay_below_their_folder() {
        for good in ["a.py", "src/a b.py", "…/.hidden", ".git/config"] {
            assert_eq!(
                file(good).relative_path(),
                Ok(PathBuf::from(good)),
                "{good}"
            );
        }
        for bad in [
            "",
            ".",
            "..",
            "/etc/passwd",
            "a/../../b",
            "a//b",
            "a/",
            "./a",
            "c:\\x",
            "a\\..\\b",
            "a\0",
            "C:x",
        ] {
            assert!(file(bad).relative_path().is_err(), "{bad}");
        }
    }

    #[test]
    fn every_content_comes_back() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("x");
        let long = vec![b'x'; usize::try_from(MAX_PART_BYTES).expect("it fits") * 2];
        let odd: Vec<u8> = (0..=255).collect();
        for (content, lines) in [
            (&b""[..], 1),
            ("naïve\n\u{1}".as_bytes(), 1),
            (&odd, 1),
            (&long, 2),
            (&[&long[..], b"\xff"].concat(), 3),
        ] {
            std::fs::write(&path, content).expect("writable");
            let (mut read, mut count) = (Vec::new(), 0);
            BundledFile::for_each_part("x", &path, |part| {
                let line = serde_json::to_string(part).expect("text is JSON");
                let again: BundledFile = serde_json::from_str(&line).expect("a part");
                read.extend(again.into_bytes().expect("a content"));
                count += 1;
                Ok::<(), io::Error>(())
            })
            .expect("readable");
            assert_eq!((read.as_slice() == content, count), (true, lines));
        }
        assert_eq!(from_hex("0"), None);
        assert_eq!(from_hex("0g"), None);
        assert_eq!(from_hex("0Ff0"), Some(vec![15, 240]));
    }
}
