//! Limits for reading: the inflated size of a compressed file, and the size of one record. Also finds hostile names in archives.

use std::cell::Cell;
use std::io::{self, Read};
use std::rc::Rc;

use crate::domain::visible;

use super::rows::MOST_RECORD_BYTES;

/// Maximum inflated size as a multiple of the file's size, plus [`FREE_BYTES`]. Logs of many equal samples reach a hundred.
const MOST_TIMES: u64 = 512;
const FREE_BYTES: u64 = 64 << 20;

/// Returns how many bytes a compressed part of this size may inflate to.
pub(super) fn most_inflated(bytes: u64) -> u64 {
    bytes.saturating_mul(MOST_TIMES).saturating_add(FREE_BYTES)
}

/// Remaining bytes that may be read, shared by several readers.
#[derive(Clone, Debug)]
pub(super) struct Allowance {
    left: Rc<Cell<u64>>,
    of: Of,
}

#[derive(Clone, Copy, Debug)]
enum Of {
    File,
    Record,
}

impl Allowance {
    /// Allows as much as a compressed file of this size may hold.
    pub fn of_file(bytes: u64) -> Self {
        Self { left: Rc::new(Cell::new(most_inflated(bytes))), of: Of::File }
    }

    /// Allows one record, until [`Self::renew`] allows the next.
    pub fn of_record() -> Self {
        Self { left: Rc::new(Cell::new(MOST_RECORD_BYTES)), of: Of::Record }
    }

    pub fn renew(&self) {
        self.left.set(MOST_RECORD_BYTES);
    }

    /// Takes these bytes from the allowance. Returns an error if that is more than is left.
    pub fn spend(&self, bytes: u64) -> io::Result<()> {
        let Some(left) = self.left.get().checked_sub(bytes) else {
            let message = match self.of {
                Of::File => format!("it inflates to more than {MOST_TIMES} times its size"),
                Of::Record => format!("a part of it is longer than {} MiB", MOST_RECORD_BYTES >> 20),
            };
            return Err(io::Error::new(io::ErrorKind::InvalidData, message));
        };
        self.left.set(left);
        Ok(())
    }
}

/// A reader that fails once it has read more than is allowed.
pub(super) struct Bounded<R> {
    reader: R,
    left: Allowance,
}

impl<R> Bounded<R> {
    pub fn new(reader: R, left: &Allowance) -> Self {
        Self { reader, left: left.clone() }
    }
}

impl<R: Read> Read for Bounded<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.reader.read(buffer)?;
        self.left.spend(read as u64)?;
        Ok(read)
    }
}

/// Returns whether a member's name, used as a path, would lead out of the folder of the unpacked archive. Nothing is unpacked here, but
/// such a name is an attack on programs that unpack.
pub(super) fn leads_out(name: &str) -> bool {
    let mut depth = 0usize;
    let is_above = name.split('/').any(|part| match part {
        ".." => {
            let is_above = depth == 0;
            depth = depth.saturating_sub(1);
            is_above
        }
        "" | "." => false,
        _ => {
            depth += 1;
            false
        }
    });
    is_above || name.starts_with('/') || name.contains('\0')
}

/// Returns the message for an archive that is refused because of a member's name.
pub(super) fn leading_out(name: &str) -> String {
    let shown: String = visible(name).chars().take(200).collect();
    format!("has a member whose name leads out of the archive: `{shown}`")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_readers_of_a_file_share_what_it_may_inflate_to() {
        let left = Allowance { left: Rc::new(Cell::new(5)), of: Of::File };
        let read = |text: &'static str| io::read_to_string(Bounded::new(text.as_bytes(), &left));
        assert_eq!(read("abc").expect("three of five"), "abc");
        assert!(read("abc").expect_err("three of two").to_string().contains("512 times"));
        assert_eq!(read("ab").expect("what was refused is not counted"), "ab");
    }

    #[test]
    fn a_record_is_bounded_and_the_next_one_again() {
        let left = Allowance::of_record();
        left.spend(MOST_RECORD_BYTES).expect("just as much");
        assert_eq!(left.spend(1).expect_err("one more").to_string(), "a part of it is longer than 64 MiB");
        left.renew();
        left.spend(1).expect("of the next");
    }

    #[test]
    fn only_names_that_lead_out_are_refused() {
        for name in ["../x", "/etc/passwd", "samples/../../x", "samples/a\0.json", "..", "//x"] {
            assert!(leads_out(name), "{name}");
        }
        for name in ["samples/1_epoch_1.json", "samples/../x", "a..b", "samples/C:\\x", "samples//x", "./x", ""] {
            assert!(!leads_out(name), "{name}");
        }
        assert!(leading_out(&format!("/\u{1b}{}", "x".repeat(70_000))).len() < 300);
    }
}
