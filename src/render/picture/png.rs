//! Pixels as PNG (ISO/IEC 15948): eight bits of red, green and blue, without interlacing.

use std::io::Write;

const SIGNATURE: [u8; 8] = *b"\x89PNG\r\n\x1a\n";
/// Depth, colour type, and compression, filter and interlace methods.
const FORMAT: [u8; 5] = [8, 2, 0, 0, 0];
const CHANNELS: usize = 3;
/// Each row begins with its filter: none.
const NO_FILTER: u8 = 0;

/// Encodes rows of red, green and blue.
pub(super) fn encode(width: usize, height: usize, pixels: &[u8]) -> Vec<u8> {
    let side = |length: usize| {
        u32::try_from(length)
            .expect("a picture's side fits into four bytes")
            .to_be_bytes()
    };
    let header: Vec<u8> = [side(width), side(height)]
        .concat()
        .into_iter()
        .chain(FORMAT)
        .collect();
    let rows: Vec<u8> = pixels
        .chunks(width * CHANNELS)
        .flat_map(|row| std::iter::once(NO_FILTER).chain(row.iter().copied()))
        .collect();
    let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::best());
    let compressed = encoder
        .write_all(&rows)
        .and_then(|()| encoder.finish())
        .expect("writing into memory succeeds");
    let mut file = SIGNATURE.to_vec();
    for (kind, data) in [
        (b"IHDR", header.as_slice()),
        (b"IDAT", &compressed),
        (b"IEND", &[]),
    ] {
        write_chunk(&mut file, *kind, data);
    }
    file
}

fn write_chunk(file: &mut Vec<u8>, kind: [u8; 4], data: &[u8]) {
    let mut sum = flate2::Crc::new();
    sum.update(&kind);
    sum.update(data);
    let length = u32::try_from(data.len()).expect("a picture is smaller than four gigabytes");
    file.extend(length.to_be_bytes());
    file.extend(kind);
    file.extend(data);
    file.extend(sum.sum().to_be_bytes());
}

#[cfg(test)]
pub(super) mod tests {
    use std::io::Read;

    use super::*;

    /// Returns the pixels of a file that [`encode`] made.
    pub fn decode(file: &[u8]) -> Vec<u8> {
        let width = u32::from_be_bytes(file[16..20].try_into().expect("four bytes")) as usize;
        let length = u32::from_be_bytes(file[33..37].try_into().expect("four bytes")) as usize;
        assert_eq!(&file[37..41], b"IDAT");
        let mut rows = Vec::new();
        flate2::read::ZlibDecoder::new(&file[41..41 + length])
            .read_to_end(&mut rows)
            .expect("compressed rows");
        rows.chunks(1 + width * CHANNELS)
            .flat_map(|row| row[1..].to_vec())
            .collect()
    }

    #[test]
    fn a_file_has_its_size_and_sums() {
        let pixels = [1, 2, 3, 4, 5, 6];
        let file = encode(2, 1, &pixels);
        assert_eq!(&file[..8], SIGNATURE);
        // The sum of the last chunk is the same in every file.
        assert_eq!(&file[file.len() - 4..], [0xae, 0x42, 0x60, 0x82]);
        assert_eq!(decode(&file), pixels);
    }
}
