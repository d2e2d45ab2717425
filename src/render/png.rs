//! Small pictures of few colours: indexed PNG with eight bits per pixel.
//!
//! Hand-written because, with the compressor that we have anyway, PNG only takes three chunks and a checksum.

use std::io::Write;

use flate2::write::ZlibEncoder;
use flate2::{Compression, Crc};

/// A picture as indices of its colours, row by row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picture {
    pub width: u32,
    pub pixels: Vec<u8>,
    /// Red, green, blue. The first is fully transparent.
    pub colours: Vec<[u8; 3]>,
}

impl Picture {
    pub fn height(&self) -> u32 {
        u32::try_from(self.pixels.len()).unwrap_or(u32::MAX) / self.width.max(1)
    }

    /// Encodes the picture. Equal pictures give equal bytes.
    pub fn png(&self) -> Vec<u8> {
        let mut header = [self.width.to_be_bytes(), self.height().to_be_bytes()].concat();
        // Bit depth 8, palette; the only defined compression and filter methods; not interlaced.
        header.extend([8, 3, 0, 0, 0]);
        let mut encoder = ZlibEncoder::new(Vec::new(), Compression::new(6));
        for row in self.pixels.chunks(self.width.max(1) as usize) {
            // No filter: neighbouring pixels are equal or unrelated.
            encoder.write_all(&[0]).expect("a vector takes everything");
            encoder.write_all(row).expect("a vector takes everything");
        }
        let data = encoder.finish().expect("a vector takes everything");
        let mut bytes = b"\x89PNG\r\n\x1a\n".to_vec();
        for (name, data) in
            [(b"IHDR", header), (b"PLTE", self.colours.concat()), (b"tRNS", vec![0]), (b"IDAT", data), (b"IEND", Vec::new())]
        {
            chunk(&mut bytes, *name, &data);
        }
        bytes
    }
}

fn chunk(bytes: &mut Vec<u8>, name: [u8; 4], data: &[u8]) {
    let mut sum = Crc::new();
    sum.update(&name);
    sum.update(data);
    bytes.extend(u32::try_from(data.len()).unwrap_or(u32::MAX).to_be_bytes());
    bytes.extend(name);
    bytes.extend(data);
    bytes.extend(sum.sum().to_be_bytes());
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;

    #[test]
    fn chunks_and_pixels_are_there() {
        let picture = Picture { width: 3, pixels: vec![0, 1, 2, 2, 1, 0], colours: vec![[255, 255, 255], [0, 0, 0], [1, 2, 3]] };
        let bytes = picture.png();
        assert_eq!(&bytes[..8], b"\x89PNG\r\n\x1a\n");
        let mut rest = &bytes[8..];
        let mut found = Vec::new();
        while !rest.is_empty() {
            let length = u32::from_be_bytes(rest[..4].try_into().expect("four bytes")) as usize;
            let mut sum = Crc::new();
            sum.update(&rest[4..8 + length]);
            assert_eq!(sum.sum().to_be_bytes(), rest[8 + length..12 + length]);
            found.push((rest[4..8].to_vec(), rest[8..8 + length].to_vec()));
            rest = &rest[12 + length..];
        }
        let names: Vec<String> = found.iter().map(|(name, _)| String::from_utf8_lossy(name).into_owned()).collect();
        assert_eq!(names, ["IHDR", "PLTE", "tRNS", "IDAT", "IEND"]);
        assert_eq!(found[0].1, [0, 0, 0, 3, 0, 0, 0, 2, 8, 3, 0, 0, 0]);
        let mut pixels = Vec::new();
        flate2::read::ZlibDecoder::new(found[3].1.as_slice()).read_to_end(&mut pixels).expect("zlib");
        assert_eq!(pixels, [0, 0, 1, 2, 0, 2, 1, 0]);
    }

    #[test]
    fn an_empty_checksum_is_the_known_one() {
        let bytes = Picture { width: 1, pixels: vec![0], colours: vec![[0, 0, 0]] }.png();
        assert_eq!(&bytes[bytes.len() - 12..], b"\0\0\0\0IEND\xaeB`\x82");
    }
}
