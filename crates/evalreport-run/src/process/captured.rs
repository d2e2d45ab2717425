//! Captured output: its beginning and its end, within a size limit.

use std::borrow::Cow;
use std::collections::VecDeque;

/// The raw bytes of an output stream.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CapturedOutput {
    /// All bytes or, if some were dropped, the first and the last half of the limit.
    pub bytes: Vec<u8>,
    /// Number of bytes dropped between the two halves.
    pub dropped: u64,
}

impl CapturedOutput {
    /// Returns the output as text. Invalid UTF-8 becomes replacement characters, and a line in the middle marks dropped bytes.
    pub fn text(&self) -> Cow<'_, str> {
        if self.dropped == 0 {
            return String::from_utf8_lossy(&self.bytes);
        }
        let (head, tail) = self.bytes.split_at(self.bytes.len() / 2);
        let (head, tail) = (String::from_utf8_lossy(head), String::from_utf8_lossy(tail));
        Cow::Owned(format!("{head}\n[{} bytes dropped]\n{tail}", self.dropped))
    }
}

/// Collects an output while it is being read.
pub struct OutputCollector {
    head: Vec<u8>,
    head_limit: usize,
    tail: VecDeque<u8>,
    tail_limit: usize,
    dropped: u64,
    closed: bool,
}

impl OutputCollector {
    pub fn new(limit: u64) -> Self {
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        let head_limit = limit / 2;
        Self {
            head: Vec::new(),
            head_limit,
            tail: VecDeque::new(),
            tail_limit: limit - head_limit,
            dropped: 0,
            closed: false,
        }
    }

    /// Adds bytes. Returns whether the collector is still open.
    pub fn add_bytes(&mut self, bytes: &[u8]) -> bool {
        let (head, rest) = bytes.split_at(bytes.len().min(self.head_limit - self.head.len()));
        self.head.extend_from_slice(head);
        self.tail.extend(rest);
        let over = self.tail.len().saturating_sub(self.tail_limit);
        self.tail.drain(..over);
        self.dropped += over as u64;
        !self.closed
    }

    pub fn captured_so_far(&self) -> CapturedOutput {
        let (front, back) = self.tail.as_slices();
        CapturedOutput {
            bytes: [&self.head, front, back].concat(),
            dropped: self.dropped,
        }
    }

    /// Returns the bytes so far, and closes the collector.
    pub fn close(&mut self) -> CapturedOutput {
        self.closed = true;
        let mut bytes = std::mem::take(&mut self.head);
        let (front, back) = self.tail.as_slices();
        bytes.extend_from_slice(front);
        bytes.extend_from_slice(back);
        self.tail = VecDeque::new();
        // Bytes of a late writer are dropped.
        self.head_limit = 0;
        self.tail_limit = 0;
        CapturedOutput {
            bytes,
            dropped: self.dropped,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn keeps(limit: u64, parts: &[&str], kept: &str, dropped: u64) {
        let mut keep = OutputCollector::new(limit);
        for part in parts {
            assert!(keep.add_bytes(part.as_bytes()));
        }
        let expected = CapturedOutput {
            bytes: kept.as_bytes().to_vec(),
            dropped,
        };
        assert_eq!(keep.captured_so_far(), expected);
        assert_eq!(keep.close(), expected);
        assert!(!keep.add_bytes(b"late"));
        assert_eq!(keep.captured_so_far().bytes, b"");
    }

    #[test]
    fn the_beginning_and_the_end_are_kept() {
        keeps(6, &[], "", 0);
        keeps(6, &["abc"], "abc", 0);
        keeps(6, &["abcdef"], "abcdef", 0);
        keeps(6, &["ab", "cd", "ef"], "abcdef", 0);
        keeps(6, &["abcdefg"], "abcefg", 1);
        keeps(6, &["a", "bcdefgh", "", "ijk"], "abcijk", 5);
        keeps(5, &["abcdefgh"], "abfgh", 3);
        keeps(1, &["ab", "c"], "c", 2);
        keeps(0, &["abc"], "", 3);
    }

    #[test]
    fn text_says_what_was_dropped() {
        let text = |bytes: &[u8], dropped| {
            CapturedOutput {
                bytes: bytes.to_vec(),
                dropped,
            }
            .text()
            .into_owned()
        };
        assert_eq!(text(b"caf\xc3\xa9", 0), "café");
        assert_eq!(text(b"a\xffb", 0), "a\u{fffd}b");
        assert_eq!(text(b"abcxyz", 7), "abc\n[7 bytes dropped]\nxyz");
        assert_eq!(text(b"abxyz", 7), "ab\n[7 bytes dropped]\nxyz");
    }
}
