//! Reads files that HAL publishes encrypted, so that crawlers do not learn the answers of its benchmarks: a zip whose members are JSON
//! objects with a salt and a token. The password is the public one in HAL's own program.
//!
//! The token is a [Fernet](https://github.com/fernet/spec/blob/master/Spec.md) token, encoded twice in Base64. PBKDF2 derives its key from
//! the password.

use std::collections::BTreeMap;
use std::num::NonZeroU32;

use aes::cipher::generic_array::GenericArray;
use aes::cipher::{BlockDecryptMut, KeyIvInit};
use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE};
use ring::{hmac, pbkdf2};
use serde::Deserialize;

use crate::domain::Problem;

use super::super::super::rows::ReadStop;
use super::super::json_reader::read_value;
use super::super::source::{ForeignFile, ZipMembers};

/// Ending of the names of encrypted members.
pub(super) const ENCRYPTED_SUFFIX: &str = ".encrypted";
/// Published with HAL. It keeps out crawlers only.
const PASSWORD: &[u8] = b"hal1234";
const KEY_ITERATIONS: NonZeroU32 = NonZeroU32::new(480_000).expect("it is not zero");
/// Number of keys that may be derived for each MB of an archive, and for smaller ones. Each takes a tenth to a quarter of a second, by design;
/// an upload of HAL has one.
const KEYS_PER_MEGABYTE: u64 = 4;
/// First byte of a token. Before its text come this version, its time and the first block that the cipher needs.
const TOKEN_VERSION: u8 = 0x80;
const HEADER_BYTES: usize = 25;
const BLOCK_BYTES: usize = 16;
const MAC_BYTES: usize = 32;
const KEY_BYTES: usize = 32;
const NO_TOKEN: &str = "holds no token";

#[derive(Default, Deserialize)]
#[serde(default)]
struct EncryptedMember {
    encrypted_data: String,
    salt: String,
}

/// Returns the encrypted members of an archive, sorted by name.
pub(super) fn encrypted_members(archive: &ZipMembers<'_>) -> Vec<String> {
    let mut members: Vec<String> = archive
        .member_names()
        .into_iter()
        .filter(|name| name.ends_with(ENCRYPTED_SUFFIX))
        .collect();
    members.sort_unstable();
    members
}

/// The key of each salt of an archive, derived once.
pub(super) struct DerivedKeys {
    by_salt: BTreeMap<Vec<u8>, [u8; KEY_BYTES]>,
    password: &'static [u8],
    iterations: NonZeroU32,
    most: usize,
}

impl DerivedKeys {
    pub fn for_archive(archive: &ZipMembers<'_>) -> Self {
        let megabytes = (archive.bytes / 1_000_000).max(1);
        let most =
            usize::try_from(megabytes.saturating_mul(KEYS_PER_MEGABYTE)).unwrap_or(usize::MAX);
        Self {
            by_salt: BTreeMap::new(),
            password: PASSWORD,
            iterations: KEY_ITERATIONS,
            most,
        }
    }

    /// Returns the key of a salt, or `None` if the archive has more salts than it may have.
    fn key_of_salt(&mut self, salt: Vec<u8>) -> Option<[u8; KEY_BYTES]> {
        if let Some(key) = self.by_salt.get(&salt) {
            return Some(*key);
        }
        if self.by_salt.len() >= self.most {
            return None;
        }
        let mut key = [0; KEY_BYTES];
        pbkdf2::derive(
            pbkdf2::PBKDF2_HMAC_SHA256,
            self.iterations,
            &salt,
            self.password,
            &mut key,
        );
        self.by_salt.insert(salt, key);
        Some(key)
    }
}

/// Reason why a member cannot be opened.
#[derive(Debug, PartialEq, Eq)]
enum DecryptError {
    /// What is wrong with the member.
    Because(&'static str),
    /// The archive needs more keys than this.
    Keys(usize),
}

/// Returns the bytes of an encrypted member.
pub(super) fn read_member(
    archive: &mut ZipMembers<'_>,
    member: &str,
    keys: &mut DerivedKeys,
) -> Result<Vec<u8>, ReadStop> {
    let label = archive.member_label(member);
    let sealed: EncryptedMember =
        archive.read_member_with(member, |reader| read_value(reader, &label))?;
    let file: &ForeignFile = archive.file;
    decrypt(&sealed, keys).map_err(|closed| match closed {
        DecryptError::Because(why) => file.problem(format!("has a member, {label}, that {why}")),
        DecryptError::Keys(most) => Problem::in_file(
            &file.shown,
            format!("needs more than {most} keys, which takes too long for a file of its size"),
        )
        .with_hint("decrypt it with `hal-decrypt`, and import the JSON files")
        .into(),
    })
}

fn decrypt(sealed: &EncryptedMember, keys: &mut DerivedKeys) -> Result<Vec<u8>, DecryptError> {
    let (salt, mut token) = decode_member(sealed).map_err(DecryptError::Because)?;
    let key = keys
        .key_of_salt(salt)
        .ok_or(DecryptError::Keys(keys.most))?;
    decrypt_token(&mut token, &key).map_err(DecryptError::Because)
}

/// Returns the salt and the token of a member.
fn decode_member(sealed: &EncryptedMember) -> Result<(Vec<u8>, Vec<u8>), &'static str> {
    let salt = STANDARD
        .decode(sealed.salt.trim())
        .map_err(|_| "has a salt that is not Base64")?;
    let token = STANDARD
        .decode(sealed.encrypted_data.trim())
        .map_err(|_| NO_TOKEN)?;
    let token = URL_SAFE.decode(token.trim_ascii()).map_err(|_| NO_TOKEN)?;
    // No key is derived for what is no token.
    if token.len() < HEADER_BYTES + MAC_BYTES || token[0] != TOKEN_VERSION {
        Err(NO_TOKEN)
    } else {
        Ok((salt, token))
    }
}

/// Returns the text of a token.
fn decrypt_token(token: &mut [u8], key: &[u8; KEY_BYTES]) -> Result<Vec<u8>, &'static str> {
    let (signing, encryption) = key.split_at(KEY_BYTES / 2);
    let (signed, mac) = token.split_at(token.len() - MAC_BYTES);
    hmac::verify(&hmac::Key::new(hmac::HMAC_SHA256, signing), signed, mac)
        .map_err(|_| "was encrypted with another password than the published one, or is damaged")?;
    let end = token.len() - MAC_BYTES;
    let (header, text) = token[..end].split_at_mut(HEADER_BYTES);
    let iv = &header[HEADER_BYTES - BLOCK_BYTES..];
    let mut cipher =
        cbc::Decryptor::<aes::Aes128>::new_from_slices(encryption, iv).map_err(|_| NO_TOKEN)?;
    for block in text.chunks_exact_mut(BLOCK_BYTES) {
        cipher.decrypt_block_mut(GenericArray::from_mut_slice(block));
    }
    strip_padding(text)
        .map(<[u8]>::to_vec)
        .ok_or("holds a token that ends in the middle of a block")
}

/// Removes the padding of the last block: `n` bytes of value `n`.
fn strip_padding(text: &[u8]) -> Option<&[u8]> {
    let filling = usize::from(*text.last()?);
    let (text, rest) = text.split_at_checked(text.len().checked_sub(filling)?)?;
    let is_whole = (text.len() + rest.len()).is_multiple_of(BLOCK_BYTES);
    let is_filling = (1..=BLOCK_BYTES).contains(&filling)
        && rest.iter().all(|byte| usize::from(*byte) == filling);
    (is_whole && is_filling).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Made by the Python package `cryptography` with the salt `0123456789abcdef`.
    const SALT: &str = "MDEyMzQ1Njc4OWFiY2RlZg==";
    const TOKEN: &str = "Z0FBQUFBQnJCTUlvOFBRTWUtQW52Wl9UNlhXQi1JQ3lRSDhfVWpVQXYwcFd5SS1fSGJpQy1aTzBWUkkzalIwbTBTYmZmTFFGdjJva3V5RHVLLWZINWJTV05rMGJrTm9nWnc9PQ==";

    fn sealed(token: &str) -> EncryptedMember {
        EncryptedMember {
            encrypted_data: token.to_owned(),
            salt: SALT.to_owned(),
        }
    }

    /// A token made with one iteration, so that many variants can be tried.
    const QUICK: &str = "Z0FBQUFBQnJCTU9DQmFqS2diM0NxNFRESmhCTHVZMDlyRDU2VzR0YnZySWdPbV9VeHpOVXlZalhVWEE5S2NIUHFrakg3ZjdBaHpaOTE1cUUtNUhMbFVOdUJNeXF5blBGa01MQUNSM3hzamJLVUNNaHhrNjVaR1U9";

    fn keys(password: &'static [u8], iterations: NonZeroU32) -> DerivedKeys {
        DerivedKeys {
            by_salt: BTreeMap::new(),
            password,
            iterations,
            most: 2,
        }
    }

    #[test]
    fn a_token_is_opened_with_its_password_alone() {
        assert_eq!(
            decrypt(&sealed(TOKEN), &mut keys(PASSWORD, KEY_ITERATIONS)).as_deref(),
            Ok(b"{\"config\": {}}".as_slice())
        );
        let other = decrypt(&sealed(TOKEN), &mut keys(b"hal1235", KEY_ITERATIONS));
        assert!(
            matches!(other, Err(DecryptError::Because(why)) if why.contains("another password"))
        );
    }

    #[test]
    fn a_key_is_derived_once_for_each_salt_and_not_without_end() {
        let mut keys = keys(b"x", NonZeroU32::MIN);
        for _ in 0..5 {
            assert!(decrypt(&sealed(QUICK), &mut keys).is_ok());
        }
        assert_eq!(keys.by_salt.len(), 1);
        let salted = |salt: &str| EncryptedMember {
            salt: salt.to_owned(),
            ..sealed(QUICK)
        };
        assert!(
            matches!(
                decrypt(&salted("AAAA"), &mut keys),
                Err(DecryptError::Because(_))
            ),
            "another key does not open it"
        );
        assert_eq!(
            decrypt(&salted("BBBB"), &mut keys),
            Err(DecryptError::Keys(2))
        );
        assert!(
            decrypt(&sealed(QUICK), &mut keys).is_ok(),
            "a known salt needs no further key"
        );
    }

    #[test]
    fn what_is_no_token_is_said_to_be_none() {
        for token in ["", "!", "AAAA", &TOKEN[..40]] {
            assert_eq!(
                decrypt(&sealed(token), &mut keys(PASSWORD, NonZeroU32::MIN)),
                Err(DecryptError::Because(NO_TOKEN)),
                "{token}"
            );
        }
        let salt = EncryptedMember {
            salt: "!".to_owned(),
            ..sealed(TOKEN)
        };
        let closed = decrypt(&salt, &mut keys(PASSWORD, NonZeroU32::MIN));
        assert_eq!(
            closed,
            Err(DecryptError::Because("has a salt that is not Base64"))
        );
    }

    #[test]
    fn a_token_that_is_broken_anywhere_is_refused() {
        let open = |token: &str| decrypt(&sealed(token), &mut keys(b"x", NonZeroU32::MIN));
        assert_eq!(
            open(QUICK).as_deref(),
            Ok(b"{\"config\": {\"run_id\": \"r\"}}".as_slice())
        );
        for place in 0..QUICK.len() {
            assert!(open(&QUICK[..place]).is_err(), "cut at {place}");
            let other = if QUICK.as_bytes()[place] == b'A' {
                "B"
            } else {
                "A"
            };
            let broken = format!("{}{other}{}", &QUICK[..place], &QUICK[place + 1..]);
            assert!(
                open(&broken).is_err() || open(&broken) == open(QUICK),
                "another letter at {place}"
            );
        }
    }

    #[test]
    fn only_what_fills_a_block_is_taken_off() {
        let text = |end: &[u8]| [vec![b'x'; 32 - end.len()], end.to_vec()].concat();
        assert_eq!(strip_padding(&text(&[2, 2])).map(<[u8]>::len), Some(30));
        assert_eq!(strip_padding(&text(&[16; 16])).map(<[u8]>::len), Some(16));
        for end in [&[1, 2][..], &[0], &[17; 17], &[3, 3]] {
            assert_eq!(strip_padding(&text(end)), None, "{end:?}");
        }
        assert_eq!((strip_padding(&[]), strip_padding(&[1; 15])), (None, None));
    }
}
