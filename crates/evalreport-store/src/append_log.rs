//! Append-only files of lines (journals, scores, tombstones), and repair of half lines left by a crash or a full disk.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead, BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use crate::domain::RunId;
use crate::files;

use super::seal::FilePrefix;
use super::{StoreError, durable, presence};

/// How often a locked file is tried again, and the time between.
const LOCK_TRIES: u32 = 10;
const LOCK_PAUSE: Duration = Duration::from_millis(20);

/// An append-only file of lines.
#[derive(Debug)]
pub(super) struct AppendLog {
    pub(super) path: PathBuf,
    file: File,
    /// Length up to which every line is whole.
    length: u64,
}

impl AppendLog {
    pub(super) fn open(path: PathBuf) -> Result<Self, StoreError> {
        let file = files::open_with_options(
            OpenOptions::new()
                .read(true)
                .write(true)
                .create(true)
                .truncate(false),
            &path,
        )
        .map_err(StoreError::io("cannot open", &path))?;
        let length = file
            .metadata()
            .map_err(StoreError::io("cannot read", &path))?
            .len();
        Ok(Self { path, file, length })
    }

    /// Locks the file for this process while it is open.
    pub(super) fn lock_for_run(&self, run: &RunId) -> Result<(), StoreError> {
        let in_flight = || {
            let folder = self.path.parent().unwrap_or(&self.path);
            StoreError::InFlight {
                id: run.to_string(),
                path: folder.to_owned(),
            }
        };
        match self.try_lock_patiently() {
            // Another file may have been put in its place between opening and locking.
            Ok(()) => match self.is_current() {
                Ok(true) => Ok(()),
                Ok(false) => Err(in_flight()),
                Err(error) => Err(StoreError::io("cannot read", &self.path)(error)),
            },
            Err(fs::TryLockError::WouldBlock) => Err(in_flight()),
            Err(fs::TryLockError::Error(error)) => {
                Err(StoreError::io("cannot lock", &self.path)(error))
            }
        }
    }

    /// Tries to lock the file, again for a moment if it is locked: a program that another thread is just starting holds all files of this
    /// process until it begins (fork(2), execve(2)).
    fn try_lock_patiently(&self) -> Result<(), fs::TryLockError> {
        for _ in 0..LOCK_TRIES {
            match self.file.try_lock() {
                Err(fs::TryLockError::WouldBlock) => thread::sleep(LOCK_PAUSE),
                tried => return tried,
            }
        }
        self.file.try_lock()
    }

    /// Waits for the lock, for callers that write one line and close the file.
    pub(super) fn wait_for_lock(&mut self) -> Result<(), StoreError> {
        self.file
            .lock()
            .map_err(StoreError::io("cannot lock", &self.path))?;
        // Another process may have written meanwhile.
        self.length = self
            .file
            .metadata()
            .map_err(StoreError::io("cannot read", &self.path))?
            .len();
        Ok(())
    }

    pub(super) fn append(&mut self, bytes: &[u8]) -> Result<(), StoreError> {
        match self
            .file
            .seek(SeekFrom::Start(self.length))
            .and_then(|_| self.file.write_all(bytes))
        {
            Ok(()) => {
                self.length += bytes.len() as u64;
                Ok(())
            }
            Err(error) => {
                // A full disk may have written a part of the line.
                let _ = self.file.set_len(self.length);
                Err(StoreError::io("cannot append to", &self.path)(error))
            }
        }
    }

    pub(super) fn truncate_to(&mut self, length: u64) -> Result<(), StoreError> {
        self.file
            .set_len(length)
            .map_err(StoreError::io("cannot shorten", &self.path))?;
        self.length = length;
        Ok(())
    }

    /// Ends the last line with a line break. A whole line without one gets it; a half line is dropped.
    pub(super) fn end_last_line(
        &mut self,
        is_whole: impl Fn(&[u8]) -> bool,
    ) -> Result<(), StoreError> {
        let before = self.length;
        let mut ends = [0];
        if before == 0 {
            return Ok(());
        }
        let mut file = &self.file;
        file.seek(SeekFrom::Start(before - 1))
            .and_then(|_| file.read_exact(&mut ends))
            .map_err(StoreError::io("cannot read", &self.path))?;
        if ends == *b"\n" {
            return Ok(());
        }
        if self.read_lines()?.last().is_some_and(|line| is_whole(line)) {
            self.append(b"\n")
        } else {
            self.drop_cut_line()
        }
    }

    pub(super) fn drop_cut_line(&mut self) -> Result<(), StoreError> {
        let mut position = self.length;
        let mut block = vec![0; 64 << 10];
        while position > 0 {
            let start = position.saturating_sub(block.len() as u64);
            let part = &mut block[..usize::try_from(position - start).unwrap_or(0)];
            let mut read = || -> io::Result<()> {
                let mut file = &self.file;
                file.seek(SeekFrom::Start(start))?;
                file.read_exact(part)
            };
            read().map_err(StoreError::io("cannot read", &self.path))?;
            if let Some(end) = memchr::memrchr(b'\n', part) {
                let whole = start + end as u64 + 1;
                return if whole < self.length {
                    self.truncate_to(whole)
                } else {
                    Ok(())
                };
            }
            position = start;
        }
        if self.length > 0 {
            self.truncate_to(0)
        } else {
            Ok(())
        }
    }

    pub(super) fn read_lines(&self) -> Result<Vec<Vec<u8>>, StoreError> {
        // Read through the locked file: another handle may be refused if locks are mandatory.
        let read = || -> io::Result<Vec<Vec<u8>>> {
            let mut file = &self.file;
            file.seek(SeekFrom::Start(0))?;
            BufReader::new(file).split(b'\n').collect()
        };
        read().map_err(StoreError::io("cannot read", &self.path))
    }

    /// Returns the last whole line.
    pub(super) fn read_last_line(&self) -> Result<Option<Vec<u8>>, StoreError> {
        const MAX_LAST_LINE_BYTES: u64 = 16 << 10;
        let start = self.length.saturating_sub(MAX_LAST_LINE_BYTES);
        let mut end = Vec::new();
        let mut file = &self.file;
        file.seek(SeekFrom::Start(start))
            .and_then(|_| file.read_to_end(&mut end))
            .map_err(StoreError::io("cannot read", &self.path))?;
        let lines = end.strip_suffix(b"\n").map(|whole| {
            memchr::memrchr(b'\n', whole).map_or(whole, |before| &whole[before + 1..])
        });
        Ok(lines.map(<[u8]>::to_vec))
    }

    /// Returns the file's length and digest, read through the locked file as above.
    pub(super) fn read_prefix(&self) -> Result<Option<FilePrefix>, StoreError> {
        let mut file = &self.file;
        file.seek(SeekFrom::Start(0))
            .and_then(|_| FilePrefix::from_reader(file))
            .map_err(StoreError::io("cannot read", &self.path))
    }

    /// Replaces the file's content, whole or not at all.
    pub(super) fn replace_content(&mut self, bytes: &[u8]) -> Result<(), StoreError> {
        let folder = self.path.parent().unwrap_or(Path::new("."));
        let write = || -> io::Result<File> {
            let mut file = BufWriter::new(files::create_temporary_in(folder)?);
            file.write_all(bytes)?;
            let file = file.into_inner().map_err(io::IntoInnerError::into_error)?;
            file.as_file().sync_all()?;
            // Lock the new file before it gets the name, so that the journal is never without a lock.
            file.as_file().lock()?;
            let file = file.persist(&self.path).map_err(|error| error.error)?;
            durable::sync_folder(folder)?;
            Ok(file)
        };
        let file = write().map_err(StoreError::io("cannot rewrite", &self.path))?;
        self.file = file;
        self.length = bytes.len() as u64;
        Ok(())
    }

    /// Returns whether the open file still has its name. On systems without file identity, an open file cannot lose its name.
    #[cfg(unix)]
    fn is_current(&self) -> io::Result<bool> {
        use std::os::unix::fs::MetadataExt;
        let own = self.file.metadata()?;
        presence::matches_metadata(&self.path, |named| {
            (named.dev(), named.ino()) == (own.dev(), own.ino())
        })
    }

    #[cfg(not(unix))]
    fn is_current(&self) -> io::Result<bool> {
        presence::is_file(&self.path)
    }

    pub(super) fn sync(&self) -> Result<(), StoreError> {
        self.file
            .sync_all()
            .map_err(StoreError::io("cannot sync", &self.path))
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn lock_for_run_waits_for_a_program_that_is_being_started() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let run = RunId::parse("r1").expect("a valid id");
        let path = folder.path().join("items.jsonl");
        let held = AppendLog::open(path.clone()).expect("writable");
        held.lock_for_run(&run).expect("nobody has it");
        let own = AppendLog::open(path).expect("writable");
        assert!(
            matches!(own.lock_for_run(&run), Err(StoreError::InFlight { .. })),
            "another has it all the time"
        );
        let soon = thread::spawn(move || {
            thread::sleep(LOCK_PAUSE * 2);
            drop(held);
        });
        own.lock_for_run(&run).expect("it is free after a moment");
        soon.join().expect("it ends");
    }

    #[test]
    fn a_file_that_cannot_be_looked_at_is_not_in_flight() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let (run, place) = (
            RunId::parse("r1").expect("a valid id"),
            folder.path().join("r1"),
        );
        fs::create_dir(&place).expect("writable");
        let file = AppendLog::open(place.join("items.jsonl")).expect("writable");
        assert!(file.is_current().is_ok_and(|is_current| is_current));
        fs::rename(&place, folder.path().join("r2")).expect("ours");
        assert!(
            matches!(file.lock_for_run(&run), Err(StoreError::InFlight { .. })),
            "another may have taken its place"
        );
        std::os::unix::fs::symlink("r1", &place).expect("a link to itself");
        assert!(
            matches!(file.lock_for_run(&run), Err(StoreError::Io { .. })),
            "the system does not say"
        );
    }
}
