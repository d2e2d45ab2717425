//! Signatures of bundles, in OpenSSH's format, so that `ssh-keygen -Y` can replace either side.
//!
//! The signature of `nightly.bundle` is `nightly.bundle.sig`, in the namespace `evalreport`. A file of allowed signers (`ssh-keygen(1)`)
//! has lines of principals, options and a public key. The only supported option is `namespaces`; a line with any other option allows
//! nobody.

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256, Sha512};
use signature::{Signer as _, Verifier as _};
use ssh_key::public::KeyData;
use ssh_key::{HashAlg, LineEnding, PrivateKey, PublicKey, SshSig};

use crate::domain::{Problem, Signer, escape_invisible};
use crate::files;

use super::{AtomicOutput, StoreError};

/// The namespace of signatures. A signature for another purpose is not valid here.
const NAMESPACE: &str = "evalreport";
/// Maximum file size. Keys and signatures have a few hundred bytes, lists of signers a few thousand.
const MAX_BYTES: u64 = 1 << 20;
const SIGNATURE_ARMOUR: &str = "-----BEGIN SSH SIGNATURE-----";

/// A private key that signs.
pub struct SigningKey(PrivateKey);

/// The accepted signers.
#[derive(Debug)]
pub struct AllowedSigners {
    path: PathBuf,
    lines: Vec<AllowedSigner>,
}

#[derive(Debug)]
struct AllowedSigner {
    principals: String,
    key: KeyData,
    /// Why the line allows nobody.
    refused: Option<String>,
}

/// Returns the path of a file's signature.
pub fn signature_path(file: &Path) -> PathBuf {
    file.with_added_extension("sig")
}

impl SigningKey {
    /// Reads a private key in OpenSSH's format. `file` is the file that it will sign.
    pub fn from_file(path: &Path, file: &Path) -> Result<Self, Problem> {
        let name = escape_invisible(&path.display().to_string());
        let text = read_text(path).map_err(|error| Problem::unread_file(&name, &error))?;
        let by_hand = || {
            let words = |path: &Path| escape_invisible(&path.display().to_string());
            format!(
                "`ssh-keygen -Y sign -n {NAMESPACE} -f {} {}` makes the same file after the export",
                words(path),
                words(file)
            )
        };
        let key = PrivateKey::from_openssh(text.as_bytes()).map_err(|_| {
            Problem::in_file(&name, "is no private key of OpenSSH's")
                .with_hint("`ssh-keygen -t ed25519` makes one")
        })?;
        if key.is_encrypted() {
            return Err(Problem::in_file(
                &name,
                "is a key with a passphrase, which nobody is asked for here",
            )
            .with_hint(by_hand()));
        }
        if key.key_data().ed25519().is_none() {
            return Err(Problem::in_file(&name, "is no Ed25519 key")
                .with_hint("`ssh-keygen -t ed25519` makes one"));
        }
        Ok(Self(key))
    }

    /// Signs a file and writes the signature beside it.
    pub fn sign_file(&self, file: &Path) -> Result<PathBuf, StoreError> {
        let path = signature_path(file);
        let is_other = read_text(&path).map_or_else(
            |error| error.kind() != io::ErrorKind::NotFound,
            |text| !text.starts_with(SIGNATURE_ARMOUR),
        );
        if is_other {
            let error = io::Error::new(
                io::ErrorKind::AlreadyExists,
                "it is there, and is no signature",
            );
            return Err(StoreError::io("cannot write", &path)(error));
        }
        let message = signed_message(file, NAMESPACE, HashAlg::Sha512)
            .map_err(StoreError::io("cannot read", file))?;
        let armoured = self
            .0
            .try_sign(&message)
            .map_err(ssh_key::Error::from)
            .and_then(|signature| {
                SshSig::new(
                    self.0.public_key().key_data().clone(),
                    NAMESPACE,
                    HashAlg::Sha512,
                    signature,
                )?
                .to_pem(LineEnding::LF)
            });
        let text = armoured
            .map_err(|error| StoreError::io("cannot sign", file)(io::Error::other(error)))?;
        let written = AtomicOutput::create(&path).and_then(|mut whole| {
            whole.write_all(text.as_bytes())?;
            whole.commit()
        });
        written.map_err(StoreError::io("cannot write", &path))?;
        Ok(path)
    }
}

impl AllowedSigners {
    pub fn from_file(path: &Path) -> Result<Self, Problem> {
        let name = escape_invisible(&path.display().to_string());
        let text = read_text(path).map_err(|error| Problem::unread_file(&name, &error))?;
        let mut lines = Vec::new();
        for (number, line) in (1..)
            .zip(text.lines())
            .map(|(number, line)| (number, line.trim()))
        {
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            lines.push(AllowedSigner::parse(line).ok_or_else(|| {
                Problem::at_line(&name, number, "is no line of an allowed signer")
                    .with_hint("NAME ssh-ed25519 AAAA…, as in `ssh-keygen(1)`")
            })?);
        }
        Ok(Self {
            path: path.to_owned(),
            lines,
        })
    }

    /// Returns the signer of a file. Fails if no allowed signer signed it.
    pub fn signer_of(&self, file: &Path) -> Result<Signer, Problem> {
        let name = escape_invisible(&file.display().to_string());
        let path = signature_path(file);
        let shown = escape_invisible(&path.display().to_string());
        let text = match read_text(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let hint =
                    "whoever made it signs it with `evalreport export bundle FILE --sign-key KEY`";
                return Err(Problem::in_file(
                    &name,
                    format!("has no signature: there is no {shown}"),
                )
                .with_hint(hint));
            }
            Err(error) => return Err(Problem::unread_file(shown, &error)),
        };
        let signature = SshSig::from_pem(text.trim())
            .map_err(|_| Problem::in_file(&shown, "is no signature of OpenSSH's"))?;
        if signature.namespace() != NAMESPACE {
            let message = format!(
                "is a signature for `{}`, not for `{NAMESPACE}`",
                escape_invisible(signature.namespace())
            );
            return Err(Problem::in_file(&shown, message));
        }
        let key = signature.public_key();
        let print = key.fingerprint(HashAlg::Sha256).to_string();
        let of_key: Vec<&AllowedSigner> =
            self.lines.iter().filter(|line| line.key == *key).collect();
        let Some(allowed) = of_key.iter().find(|line| line.refused.is_none()) else {
            let list = escape_invisible(&self.path.display().to_string());
            let message = match of_key.iter().find_map(|line| line.refused.as_deref()) {
                Some(why) => format!("is signed with the key {print}, whose line in {list} {why}"),
                None => format!("is signed with the key {print}, which is not in {list}"),
            };
            return Err(Problem::in_file(&name, message));
        };
        let message = signed_message(file, NAMESPACE, signature.hash_alg())
            .map_err(|error| Problem::unread_file(&name, &error))?;
        if key.verify(&message, signature.signature()).is_err() {
            return Err(Problem::in_file(
                &name,
                format!("is not the file that {shown} is the signature of"),
            )
            .with_hint("one of the two was changed, or is from another day: fetch both again"));
        }
        Ok(Signer {
            name: allowed.principals.clone(),
            key: print,
        })
    }
}

impl AllowedSigner {
    fn parse(line: &str) -> Option<Self> {
        let (principals, rest) = split_word(line)?;
        let is_kind = |text: &str| {
            ["ssh-", "ecdsa-", "sk-"]
                .iter()
                .any(|kind| text.starts_with(kind))
        };
        let (options, key) = if is_kind(rest) {
            ("", rest)
        } else {
            split_word(rest)?
        };
        let key = PublicKey::from_openssh(key).ok()?;
        Some(Self {
            principals: principals.trim_matches('"').to_owned(),
            key: key.key_data().clone(),
            refused: refusal_reason(options),
        })
    }
}

/// Returns why a line with these options allows nobody.
fn refusal_reason(options: &str) -> Option<String> {
    let mut rest = options;
    while !rest.is_empty() {
        let mut quoted = false;
        let is_end = |letter: char| {
            quoted ^= letter == '"';
            letter == ',' && !quoted
        };
        let (option, after) = rest
            .find(is_end)
            .map_or((rest, ""), |end| (&rest[..end], &rest[end + 1..]));
        rest = after;
        let (name, value) = option.split_once('=').unwrap_or((option, ""));
        if !name.eq_ignore_ascii_case("namespaces") {
            return Some(format!(
                "has the option `{}`, which is not understood here",
                escape_invisible(name)
            ));
        }
        if !value
            .trim_matches('"')
            .split(',')
            .any(|one| one == NAMESPACE)
        {
            return Some(format!("is not for `{NAMESPACE}`"));
        }
    }
    None
}

/// Splits off the first word. Blanks inside quotation marks belong to it.
fn split_word(text: &str) -> Option<(&str, &str)> {
    let mut quoted = false;
    let end = text.find(|letter: char| {
        quoted ^= letter == '"';
        letter.is_ascii_whitespace() && !quoted
    })?;
    Some((&text[..end], text[end..].trim_start()))
}

/// Returns the signed message: the file's digest and the purpose (OpenSSH's `PROTOCOL.sshsig`).
fn signed_message(file: &Path, namespace: &str, hash: HashAlg) -> io::Result<Vec<u8>> {
    let file = files::open(file)?;
    let (name, sum) = match hash {
        HashAlg::Sha256 => ("sha256", digest_file::<Sha256>(file)?),
        HashAlg::Sha512 => ("sha512", digest_file::<Sha512>(file)?),
        _ => {
            return Err(io::Error::new(
                io::ErrorKind::Unsupported,
                "its signature has a digest of an unknown kind",
            ));
        }
    };
    let mut message = b"SSHSIG".to_vec();
    for part in [namespace.as_bytes(), b"", name.as_bytes(), &sum] {
        message.extend(u32::try_from(part.len()).unwrap_or(u32::MAX).to_be_bytes());
        message.extend(part);
    }
    Ok(message)
}

fn digest_file<D: Digest>(file: File) -> io::Result<Vec<u8>> {
    let mut hasher = D::new();
    files::for_each_block(file, |block| hasher.update(block))?;
    Ok(hasher.finalize().to_vec())
}

fn read_text(path: &Path) -> io::Result<String> {
    let mut text = String::new();
    files::open(path)?
        .take(MAX_BYTES)
        .read_to_string(&mut text)?;
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_with_options_allow_no_more_than_they_say() {
        for (options, why) in [
            ("", None),
            ("namespaces=\"evalreport\"", None),
            ("namespaces=\"git,evalreport\"", None),
            ("namespaces=\"git\"", Some("is not for `evalreport`")),
            (
                "namespaces=\"evalreport\",valid-before=\"20200101\"",
                Some("has the option `valid-before`, which is not understood here"),
            ),
            (
                "cert-authority,namespaces=\"evalreport\"",
                Some("has the option `cert-authority`, which is not understood here"),
            ),
        ] {
            assert_eq!(refusal_reason(options).as_deref(), why, "{options}");
        }
        assert_eq!(split_word("\"a b\" c d"), Some(("\"a b\"", "c d")));
        let key =
            "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAILM+rvN+ot98qgEN796jTiQfZfG1KaT0PtFDJ/XFSqti";
        for line in [
            format!("a@b {key}"),
            format!("a@b  namespaces=\"evalreport\" {key} words"),
        ] {
            let allowed = AllowedSigner::parse(&line).expect("a line");
            assert_eq!(
                (allowed.principals.as_str(), allowed.refused),
                ("a@b", None),
                "{line}"
            );
        }
        for line in ["a@b", key, "a@b ssh-ed25519 AAAA"] {
            assert!(
                AllowedSigner::parse(line)
                    .is_none_or(|allowed| allowed.principals == "ssh-ed25519"),
                "{line}"
            );
        }
    }
}
