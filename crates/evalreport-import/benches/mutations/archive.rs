//! Archives that are broken or lie: members under hostile names, of other sizes, methods and checksums than their directory says, there
//! twice or not at all. A zip library would refuse to write them, so the bytes are put together here.

use std::io::Write;

use super::broken::{Broken, Numbers, Original, Shape};

pub const STORED: u16 = 0;
pub const DEFLATED: u16 = 8;
pub const ZSTANDARD: u16 = 93;
const NAMES: [&str; 14] = [
    "../../x",
    "/etc/passwd",
    "samples/../../x.json",
    "samples/",
    "samples/\0.json",
    "samples/.json",
    "C:\\x",
    "..\\x",
    "",
    "header.json",
    "summaries.json",
    "_journal/start.json",
    "_journal/summaries/1.json",
    "samples/\u{1b}[2J_epoch_1.json",
];

/// An archive that is whole, member by member.
pub struct Archive {
    members: Vec<(String, Original)>,
}

/// A member as it is written, true or not.
pub struct Member {
    name: Vec<u8>,
    method: u16,
    flags: u16,
    checksum: u32,
    packed: Vec<u8>,
    packed_size: u32,
    size: u32,
    offset: Option<u32>,
}

impl Member {
    pub fn new(name: &str, method: u16, bytes: &[u8]) -> Self {
        let packed = match method {
            DEFLATED => {
                let mut encoder =
                    flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::fast());
                encoder
                    .write_all(bytes)
                    .and_then(|()| encoder.finish())
                    .expect("memory")
            }
            ZSTANDARD => zstd::bulk::compress(bytes, 1).expect("memory"),
            _ => bytes.to_vec(),
        };
        Self::packed(name, method, packed, bytes)
    }

    /// Declares another size than the member has.
    pub fn declaring(mut self, size: u32) -> Self {
        self.size = size;
        self
    }

    /// A member of bytes that are compressed already, into what nobody has checked.
    pub fn of_packed(name: &str, method: u16, packed: Vec<u8>) -> Self {
        Self::packed(name, method, packed, b"")
    }

    fn packed(name: &str, method: u16, packed: Vec<u8>, bytes: &[u8]) -> Self {
        let mut checksum = flate2::Crc::new();
        checksum.update(bytes);
        Self {
            name: name.as_bytes().to_vec(),
            method,
            flags: 0,
            checksum: checksum.sum(),
            packed_size: size(packed.len()),
            packed,
            size: size(bytes.len()),
            offset: None,
        }
    }

    /// Makes the member say something that is not so.
    fn lie(&mut self, numbers: &mut Numbers) {
        let size = [
            0,
            1,
            self.size.wrapping_sub(1),
            self.size.wrapping_add(1),
            u32::MAX,
            u32::MAX - 1,
            1 << 31,
        ][numbers.below(7)];
        match numbers.below(7) {
            0 => self.name = NAMES[numbers.below(NAMES.len())].as_bytes().to_vec(),
            1 => self.name = self.name.repeat(1 + numbers.below(2000)),
            2 => {
                self.method =
                    [STORED, DEFLATED, ZSTANDARD, 9, 12, 14, 99, u16::MAX][numbers.below(8)];
            }
            3 => self.flags = [1, 8, 1 << 6, 1 << 11, 1 << 13, u16::MAX][numbers.below(6)],
            4 => self.size = size,
            5 => self.packed_size = size,
            _ => self.offset = Some(size),
        }
    }
}

fn size(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(u32::MAX)
}

impl Archive {
    pub fn new(members: Vec<(String, Vec<u8>)>) -> Self {
        Self {
            members: members
                .into_iter()
                .map(|(name, bytes)| (name, Original::new(Shape::Json, bytes)))
                .collect(),
        }
    }

    pub fn bytes(&self) -> Vec<u8> {
        let members: Vec<Member> = self
            .members
            .iter()
            .map(|(name, original)| Member::new(name, DEFLATED, original.bytes()))
            .collect();
        written(&members)
    }

    pub fn broken(&self, numbers: &mut Numbers) -> Broken {
        let mut inflated = 0;
        let broken = numbers.below(self.members.len());
        let mut members: Vec<Member> = Vec::new();
        for (place, (name, original)) in self.members.iter().enumerate() {
            let method = [STORED, STORED, STORED, DEFLATED, ZSTANDARD][numbers.below(5)];
            let bytes = if place == broken {
                original.changed(numbers)
            } else {
                original.bytes().to_vec()
            };
            inflated += bytes.len();
            members.push(Member::new(name, method, &bytes));
        }
        match numbers.below(4) {
            0 => {
                let place = numbers.below(members.len());
                members[place].lie(numbers);
            }
            1 => {
                let place = numbers.below(members.len());
                members.remove(place);
            }
            2 => {
                let (name, original) = &self.members[numbers.below(self.members.len())];
                inflated += original.bytes().len();
                members.push(Member::new(name, STORED, original.bytes()));
            }
            _ => {}
        }
        let mut bytes = written(&members);
        if numbers.one_in(8) {
            let place = numbers.below(bytes.len());
            if numbers.one_in(2) {
                bytes[place] ^= 1 << numbers.below(8);
            } else {
                bytes.truncate(place.max(4));
            }
        }
        Broken { bytes, inflated }
    }
}

/// Puts an archive together as its members say it is.
pub fn written(members: &[Member]) -> Vec<u8> {
    let mut bytes: Vec<u8> = Vec::new();
    let mut directory: Vec<u8> = Vec::new();
    for member in members {
        let offset = member.offset.unwrap_or(size(bytes.len()));
        let name_length = u16::try_from(member.name.len()).unwrap_or(u16::MAX);
        let name = &member.name[..usize::from(name_length)];
        let mut common: Vec<u8> = Vec::new();
        for field in [20, member.flags, member.method, 0, 0x21] {
            common.extend(u16::to_le_bytes(field));
        }
        for field in [member.checksum, member.packed_size, member.size] {
            common.extend(field.to_le_bytes());
        }
        common.extend(name_length.to_le_bytes());
        common.extend([0, 0]);
        bytes.extend(b"PK\x03\x04");
        bytes.extend(&common);
        bytes.extend(name);
        bytes.extend(&member.packed);
        directory.extend(b"PK\x01\x02\x14\x00");
        directory.extend(&common);
        directory.extend([0; 10]);
        directory.extend(offset.to_le_bytes());
        directory.extend(name);
    }
    let start = size(bytes.len());
    let count = u16::try_from(members.len())
        .expect("few members")
        .to_le_bytes();
    bytes.extend(&directory);
    bytes.extend(b"PK\x05\x06\0\0\0\0");
    bytes.extend(count);
    bytes.extend(count);
    bytes.extend(size(directory.len()).to_le_bytes());
    bytes.extend(start.to_le_bytes());
    bytes.extend([0, 0]);
    bytes
}
