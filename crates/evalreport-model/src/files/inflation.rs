//! Limits for reading: the inflated size of a compressed file, and the size of one record.

use std::cell::Cell;
use std::io::{self, Read};
use std::rc::Rc;

/// Maximum inflated size as a multiple of the file's size, plus [`FREE_BYTES`]. Logs of many equal samples reach a hundred.
const MAX_TIMES: u64 = 512;
const FREE_BYTES: u64 = 64 << 20;

/// Returns how many bytes a compressed part of this size may inflate to.
pub fn max_inflated_bytes(bytes: u64) -> u64 {
    bytes.saturating_mul(MAX_TIMES).saturating_add(FREE_BYTES)
}

/// Remaining bytes that may be read, shared by several readers.
#[derive(Clone, Debug)]
pub struct ReadAllowance {
    left: Rc<Cell<u64>>,
    whole: u64,
    of: AllowanceScope,
}

#[derive(Clone, Copy, Debug)]
enum AllowanceScope {
    File,
    Record,
}

impl ReadAllowance {
    /// Allows as much as a compressed file of this size may hold.
    pub fn of_file(bytes: u64) -> Self {
        Self::new(max_inflated_bytes(bytes), AllowanceScope::File)
    }

    /// Allows one record of so many bytes, until [`Self::renew`] allows the next.
    pub fn of_record(bytes: u64) -> Self {
        Self::new(bytes, AllowanceScope::Record)
    }

    fn new(whole: u64, of: AllowanceScope) -> Self {
        Self {
            left: Rc::new(Cell::new(whole)),
            whole,
            of,
        }
    }

    pub fn renew(&self) {
        self.left.set(self.whole);
    }

    /// Takes these bytes from the allowance. Returns an error if that is more than is left.
    pub fn spend(&self, bytes: u64) -> io::Result<()> {
        let Some(left) = self.left.get().checked_sub(bytes) else {
            let message = match self.of {
                AllowanceScope::File => {
                    format!("it inflates to more than {MAX_TIMES} times its size")
                }
                AllowanceScope::Record => {
                    format!("a part of it is longer than {} MiB", self.whole >> 20)
                }
            };
            return Err(io::Error::new(io::ErrorKind::InvalidData, message));
        };
        self.left.set(left);
        Ok(())
    }
}

/// A reader that fails once it has read more than is allowed.
pub struct BoundedReader<R> {
    reader: R,
    left: ReadAllowance,
}

impl<R> BoundedReader<R> {
    pub fn new(reader: R, left: &ReadAllowance) -> Self {
        Self {
            reader,
            left: left.clone(),
        }
    }
}

impl<R: Read> Read for BoundedReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.reader.read(buffer)?;
        self.left.spend(read as u64)?;
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_readers_of_a_file_share_what_it_may_inflate_to() {
        let left = ReadAllowance::new(5, AllowanceScope::File);
        let read =
            |text: &'static str| io::read_to_string(BoundedReader::new(text.as_bytes(), &left));
        assert_eq!(read("abc").expect("three of five"), "abc");
        assert!(
            read("abc")
                .expect_err("three of two")
                .to_string()
                .contains("512 times")
        );
        assert_eq!(read("ab").expect("what was refused is not counted"), "ab");
    }

    #[test]
    fn a_record_is_bounded_and_the_next_one_again() {
        let left = ReadAllowance::of_record(64 << 20);
        left.spend(64 << 20).expect("just as much");
        assert_eq!(
            left.spend(1).expect_err("one more").to_string(),
            "a part of it is longer than 64 MiB"
        );
        left.renew();
        left.spend(1).expect("of the next");
    }
}
