//! A file that is read in many places, such as an archive's directory.

use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};

/// Large enough for many entries of a directory, small enough that a jump to a small member wastes little.
const BUFFER_BYTES: usize = 64 << 10;

/// A buffered file that keeps its buffer if a seek stays within it.
///
/// The standard library's buffer is discarded by every seek, and reading an archive's directory takes at least one seek per entry.
pub(super) struct BufferedSeekFile {
    buffered: BufReader<File>,
    place: u64,
    bytes: u64,
}

impl BufferedSeekFile {
    pub fn open(file: File) -> io::Result<Self> {
        let bytes = file.metadata()?.len();
        let mut buffered = BufReader::with_capacity(BUFFER_BYTES, file);
        buffered.rewind()?;
        Ok(Self {
            buffered,
            place: 0,
            bytes,
        })
    }
}

impl Read for BufferedSeekFile {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.buffered.read(buffer)?;
        self.place += read as u64;
        Ok(read)
    }
}

impl Seek for BufferedSeekFile {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let place = match to {
            SeekFrom::Start(place) => Some(place),
            SeekFrom::Current(by) => self.place.checked_add_signed(by),
            SeekFrom::End(by) => self.bytes.checked_add_signed(by),
        };
        let place = place.ok_or_else(|| {
            io::Error::new(
                io::ErrorKind::InvalidInput,
                "a place before the beginning of the file",
            )
        })?;
        match place.checked_signed_diff(self.place) {
            Some(by) => self.buffered.seek_relative(by)?,
            None => {
                return Err(io::Error::new(
                    io::ErrorKind::InvalidInput,
                    "a place beyond any file",
                ));
            }
        }
        self.place = place;
        Ok(place)
    }

    fn stream_position(&mut self) -> io::Result<u64> {
        Ok(self.place)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn every_place_holds_what_the_file_has_there() {
        let bytes: Vec<u8> = (0..3 * BUFFER_BYTES)
            .map(|place| u8::try_from(place % 251).expect("below 256"))
            .collect();
        let mut file = tempfile::tempfile().expect("a temporary file");
        file.write_all(&bytes).expect("writable");
        let mut near = BufferedSeekFile::open(file).expect("readable");
        let end = bytes.len();
        let mut byte = [0];
        for place in [
            0,
            5,
            4,
            BUFFER_BYTES + 7,
            BUFFER_BYTES + 1,
            3,
            end - 1,
            end - 2,
            0,
        ] {
            assert_eq!(
                near.seek(SeekFrom::Start(place as u64)).expect("a place"),
                place as u64
            );
            near.read_exact(&mut byte).expect("a byte");
            assert_eq!(
                (byte[0], near.stream_position().expect("a place")),
                (bytes[place], place as u64 + 1),
                "{place}"
            );
        }
        assert_eq!(
            near.seek(SeekFrom::End(-3)).expect("a place"),
            end as u64 - 3
        );
        assert_eq!(
            near.seek(SeekFrom::Current(-4)).expect("a place"),
            end as u64 - 7
        );
        let mut rest = Vec::new();
        near.read_to_end(&mut rest).expect("readable");
        assert_eq!(rest, bytes[end - 7..]);
        assert_eq!(near.read(&mut byte).expect("the end"), 0);
        assert!(
            near.seek(SeekFrom::Current(i64::MIN)).is_err()
                && near.seek(SeekFrom::Start(u64::MAX)).is_err()
        );
    }
}
