//! What the first process of a confined program is told: the program, and the rules for it.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;

/// The rules of a confinement.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ConfinementRules {
    pub read_folders: Vec<PathBuf>,
    pub read_files: Vec<PathBuf>,
    pub written_folders: Vec<PathBuf>,
    pub written_files: Vec<PathBuf>,
    /// What the program finds at the system's temporary folders, if it gets namespaces of its own. `None` leaves them as they are.
    pub temporary: Option<PathBuf>,
    /// The only TCP ports allowed. `None` allows all.
    pub ports: Option<Vec<u16>>,
    /// Whether the program gets namespaces of its own.
    pub is_apart: bool,
    /// Whether it gets a network of its own.
    pub has_network: bool,
    /// Whether the processes of the program may not reach into each other: trace them, or change their memory or settings.
    pub are_kept_apart: bool,
}

/// A program to start, and its rules.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StartOrder {
    pub rules: ConfinementRules,
    pub words: Vec<OsString>,
    pub folder: PathBuf,
    /// All variables of the program.
    pub variables: Vec<(OsString, OsString)>,
}

impl StartOrder {
    /// Writes the order as parts that begin with a letter and end with a zero byte, which neither paths nor arguments can hold.
    pub fn to_bytes(&self) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        let mut add = |letter: u8, text: &OsStr| -> io::Result<()> {
            if text.as_bytes().contains(&0) {
                return Err(io::Error::new(
                    io::ErrorKind::InvalidInput,
                    "nul byte found in provided data",
                ));
            }
            bytes.push(letter);
            bytes.extend_from_slice(text.as_bytes());
            bytes.push(0);
            Ok(())
        };
        let rules = &self.rules;
        let lists = [
            (b'r', &rules.read_folders),
            (b'R', &rules.read_files),
            (b'w', &rules.written_folders),
            (b'W', &rules.written_files),
        ];
        for (letter, paths) in lists {
            paths
                .iter()
                .try_for_each(|path| add(letter, path.as_os_str()))?;
        }
        if let Some(ports) = &rules.ports {
            add(b'P', OsStr::new(""))?;
            ports
                .iter()
                .try_for_each(|port| add(b'p', OsStr::new(&port.to_string())))?;
        }
        if let Some(temporary) = &rules.temporary {
            add(b't', temporary.as_os_str())?;
        }
        for (letter, is_so) in [
            (b'n', rules.is_apart),
            (b'N', rules.has_network),
            (b'k', rules.are_kept_apart),
        ] {
            if is_so {
                add(letter, OsStr::new(""))?;
            }
        }
        self.words.iter().try_for_each(|word| add(b'a', word))?;
        add(b'f', self.folder.as_os_str())?;
        for (name, value) in &self.variables {
            add(b'v', name)?;
            add(b'V', value)?;
        }
        Ok(bytes)
    }

    /// Reads an order. Returns `None` if it was not written by [`Self::to_bytes`].
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let mut order = Self::default();
        let parts = bytes.strip_suffix(&[0])?.split(|byte| *byte == 0);
        for part in parts {
            let (letter, text) = part.split_first()?;
            let text = OsString::from_vec(text.to_vec());
            let path = || PathBuf::from(&text);
            let rules = &mut order.rules;
            match letter {
                b'r' => rules.read_folders.push(path()),
                b'R' => rules.read_files.push(path()),
                b'w' => rules.written_folders.push(path()),
                b'W' => rules.written_files.push(path()),
                b't' => rules.temporary = Some(path()),
                b'P' => rules.ports = Some(Vec::new()),
                b'p' => rules.ports.as_mut()?.push(text.to_str()?.parse().ok()?),
                b'n' => rules.is_apart = true,
                b'N' => rules.has_network = true,
                b'k' => rules.are_kept_apart = true,
                b'a' => order.words.push(text),
                b'f' => order.folder = path(),
                b'v' => order.variables.push((text, OsString::new())),
                b'V' => order.variables.last_mut()?.1 = text,
                _ => return None,
            }
        }
        Some(order)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_order_is_read_as_it_was_written() {
        let path = |text: &str| PathBuf::from(text);
        let odd = PathBuf::from(OsString::from_vec(b"/odd \xff\n".to_vec()));
        let rules = ConfinementRules {
            read_folders: vec![path("/usr"), odd.clone()],
            read_files: vec![path("/etc/passwd")],
            written_folders: vec![path("/tmp/a")],
            written_files: vec![odd],
            temporary: Some(path("/tmp/a/tmp")),
            ports: Some(vec![1, 65535]),
            is_apart: true,
            has_network: true,
            are_kept_apart: true,
        };
        let variables = vec![("LD_PRELOAD".into(), "".into()), ("A".into(), "b=c".into())];
        let order = StartOrder {
            rules,
            words: vec!["sh".into(), "-c".into(), "".into()],
            folder: path("/tmp/a"),
            variables,
        };
        assert_eq!(
            StartOrder::from_bytes(&order.to_bytes().expect("no zero byte")),
            Some(order)
        );
        let none = StartOrder {
            rules: ConfinementRules {
                ports: Some(Vec::new()),
                ..ConfinementRules::default()
            },
            words: vec!["x".into()],
            ..StartOrder::default()
        };
        assert_eq!(
            StartOrder::from_bytes(&none.to_bytes().expect("no zero byte")),
            Some(none)
        );
        assert!(
            StartOrder {
                words: vec!["a\0b".into()],
                ..StartOrder::default()
            }
            .to_bytes()
            .is_err()
        );
        for wrong in [&b""[..], b"x", b"?\0", b"pmany\0", b"V\0", b"\0"] {
            assert_eq!(StartOrder::from_bytes(wrong), None, "{wrong:?}");
        }
    }
}
