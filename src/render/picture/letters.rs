//! Letters as small pictures: of DejaVu Sans in the sizes that cards need. `docs/licenses/dejavu-fonts.txt` has its licence.
//!
//! The file is compressed by zlib. Each face has the number of its letters and its size (`u16`), then each letter's code (`u32`), left and top
//! from the pen (`i16`), width, height and advance in sixteenths of a pixel (`u16`), and its pixels row by row, one byte from 0 to 15. Numbers are little-endian.

use std::collections::BTreeMap;
use std::io::Read;
use std::sync::OnceLock;

const FILE: &[u8] = include_bytes!("letters.bin");
/// The value of a pixel that a letter covers whole.
pub(super) const FULL: f64 = 15.0;
/// Shown for letters that the file lacks.
const REPLACEMENT: char = '\u{25a0}';

/// A font in one size, in the order of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Face {
    Title,
    Body,
    Bold,
    Small,
}

/// A letter's pixels and its place beside the pen.
pub(super) struct Glyph {
    pub left: i16,
    pub top: i16,
    width: usize,
    /// Distance to the next letter, in pixels.
    pub advance: f64,
    pixels: Vec<u8>,
}

struct FaceLetters {
    size: u16,
    glyphs: BTreeMap<char, Glyph>,
}

impl Face {
    pub fn size(self) -> u16 {
        self.letters().size
    }

    pub fn is_bold(self) -> bool {
        matches!(self, Self::Title | Self::Bold)
    }

    /// Returns a text's width in pixels.
    pub fn width_of(self, text: &str) -> f64 {
        text.chars().map(|letter| glyph(self, letter).advance).sum()
    }

    fn letters(self) -> &'static FaceLetters {
        static FACES: OnceLock<Vec<FaceLetters>> = OnceLock::new();
        &FACES.get_or_init(read_faces)[self as usize]
    }
}

impl Glyph {
    pub fn rows(&self) -> impl Iterator<Item = &[u8]> {
        self.pixels.chunks(self.width.max(1))
    }
}

pub(super) fn glyph(face: Face, letter: char) -> &'static Glyph {
    let glyphs = &face.letters().glyphs;
    glyphs
        .get(&letter)
        .or_else(|| glyphs.get(&REPLACEMENT))
        .expect("the file has the sign for letters that it lacks")
}

fn read_faces() -> Vec<FaceLetters> {
    let mut bytes = Vec::new();
    flate2::read::ZlibDecoder::new(FILE)
        .read_to_end(&mut bytes)
        .expect("the program's own file is whole");
    let mut left = bytes.as_slice();
    let mut faces = Vec::new();
    while !left.is_empty() {
        faces.push(read_face(&mut left));
    }
    faces
}

fn read_face(left: &mut &[u8]) -> FaceLetters {
    let count = read_u16(left);
    let size = read_u16(left);
    let glyphs = (0..count)
        .map(|_| {
            let code = u32::from_le_bytes(take(left));
            let place = [
                i16::from_le_bytes(take(left)),
                i16::from_le_bytes(take(left)),
            ];
            let (width, height) = (usize::from(read_u16(left)), usize::from(read_u16(left)));
            let advance = f64::from(read_u16(left)) / 16.0;
            let (pixels, rest) = left.split_at(width * height);
            *left = rest;
            let glyph = Glyph {
                left: place[0],
                top: place[1],
                width,
                advance,
                pixels: pixels.to_vec(),
            };
            (char::from_u32(code).unwrap_or(REPLACEMENT), glyph)
        })
        .collect();
    FaceLetters { size, glyphs }
}

fn read_u16(left: &mut &[u8]) -> u16 {
    u16::from_le_bytes(take(left))
}

fn take<const N: usize>(left: &mut &[u8]) -> [u8; N] {
    let (first, rest) = left
        .split_first_chunk::<N>()
        .expect("the program's own file is whole");
    *left = rest;
    *first
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_face_has_letters_and_widths() {
        for (face, size) in [
            (Face::Title, 46),
            (Face::Body, 28),
            (Face::Bold, 28),
            (Face::Small, 20),
        ] {
            assert_eq!(face.size(), size);
            assert!(face.width_of("mmm") > 3.0 * face.width_of("i"));
            // A letter that the file lacks is as wide as its sign.
            assert!((face.width_of("\u{4e00}") - face.width_of("\u{25a0}")).abs() < 1e-9);
        }
    }
}
