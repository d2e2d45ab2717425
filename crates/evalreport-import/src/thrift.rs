//! Walks structures in Thrift's compact protocol, as Parquet files have them, without allocating what they state: each field must have the
//! type that the format gives it, and each list and text must fit into the bytes that are left.
//!
//! Encoding: <https://github.com/apache/thrift/blob/master/doc/specs/thrift-compact-protocol.md>.

/// Types of fields, by their number in the encoding.
const BOOL_TRUE: u8 = 1;
const BOOL_FALSE: u8 = 2;
const BYTE: u8 = 3;
const I16: u8 = 4;
const I32: u8 = 5;
const I64: u8 = 6;
const DOUBLE: u8 = 7;
const BINARY: u8 = 8;
const LIST: u8 = 9;
const SET: u8 = 10;
const STRUCT: u8 = 12;
const UUID: u8 = 13;

/// Deepest nesting of structures. Those of Parquet have seven levels.
const MAX_DEPTH: usize = 32;

/// What the format says about a value.
#[derive(Clone, Copy)]
pub(super) enum ThriftType {
    Flag,
    /// A whole number of this type.
    Whole(u8),
    Text,
    List(&'static ThriftType),
    /// Fields by number.
    Struct(&'static [(i16, ThriftType)]),
    /// Of a field that is skipped: any value without booleans in lists, whose length two readers of the encoding disagree about.
    Any,
}

pub(super) const I16_TYPE: ThriftType = ThriftType::Whole(I16);
pub(super) const I32_TYPE: ThriftType = ThriftType::Whole(I32);
pub(super) const I64_TYPE: ThriftType = ThriftType::Whole(I64);

/// What a walk comes across.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum ThriftValue<'b> {
    /// A further element of a list begins.
    Element,
    Flag(bool),
    Number(i64),
    Text(&'b [u8]),
}

/// A place in the bytes.
pub(super) struct ThriftWalker<'b, 'f> {
    rest: &'b [u8],
    /// Numbers of the fields around, from the outermost on.
    path: Vec<i16>,
    /// Receives the path with what is found there.
    found: &'f mut dyn FnMut(&[i16], ThriftValue<'b>),
}

/// Walks one structure, and returns the bytes behind it. If they are not one, or cut off, returns `None`.
pub(super) fn walk_struct<'b>(
    bytes: &'b [u8],
    fields: &'static [(i16, ThriftType)],
    found: &mut dyn FnMut(&[i16], ThriftValue<'b>),
) -> Option<&'b [u8]> {
    let mut walk = ThriftWalker {
        rest: bytes,
        path: Vec::new(),
        found,
    };
    walk.read_struct(Some(fields))?;
    Some(walk.rest)
}

impl<'b> ThriftWalker<'b, '_> {
    fn read_byte(&mut self) -> Option<u8> {
        let (byte, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(*byte)
    }

    fn take_bytes(&mut self, length: usize) -> Option<&'b [u8]> {
        let (taken, rest) = self.rest.split_at_checked(length)?;
        self.rest = rest;
        Some(taken)
    }

    /// Reads a number of at most ten bytes.
    fn read_unsigned(&mut self) -> Option<u64> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.read_byte()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Some(value);
            }
        }
        None
    }

    fn read_signed(&mut self) -> Option<i64> {
        let value = self.read_unsigned()?;
        Some((value >> 1).cast_signed() ^ -(value & 1).cast_signed())
    }

    fn read_struct(&mut self, fields: Option<&'static [(i16, ThriftType)]>) -> Option<()> {
        if self.path.len() > MAX_DEPTH {
            return None;
        }
        self.path.push(0);
        loop {
            let head = self.read_byte()?;
            let kind = head & 0xf;
            if kind == 0 {
                break;
            }
            let last = self.path.last_mut()?;
            let number = match head >> 4 {
                0 => None,
                step => Some(last.checked_add(i16::from(step))?),
            };
            let number = match number {
                Some(number) => number,
                None => i16::try_from(self.read_signed()?).ok()?,
            };
            *self.path.last_mut()? = number;
            let known = fields.and_then(|fields| fields.iter().find(|(known, _)| *known == number));
            self.read_value(kind, known.map_or(ThriftType::Any, |(_, shape)| *shape))?;
        }
        self.path.pop();
        Some(())
    }

    fn read_value(&mut self, kind: u8, shape: ThriftType) -> Option<()> {
        match (shape, kind) {
            (ThriftType::Flag | ThriftType::Any, BOOL_TRUE | BOOL_FALSE) => {
                (self.found)(&self.path, ThriftValue::Flag(kind == BOOL_TRUE));
                Some(())
            }
            (ThriftType::Whole(expected), _) if expected == kind => {
                let number = self.read_signed()?;
                (self.found)(&self.path, ThriftValue::Number(number));
                Some(())
            }
            (ThriftType::Text | ThriftType::Any, BINARY) => {
                let length = usize::try_from(self.read_unsigned()?).ok()?;
                let text = self.take_bytes(length)?;
                (self.found)(&self.path, ThriftValue::Text(text));
                Some(())
            }
            (ThriftType::Struct(fields), STRUCT) => self.read_struct(Some(fields)),
            (ThriftType::List(of), LIST) => self.read_list(*of),
            (ThriftType::Any, BYTE) => self.read_byte().map(drop),
            (ThriftType::Any, I16 | I32 | I64) => self.read_unsigned().map(drop),
            (ThriftType::Any, DOUBLE) => self.take_bytes(8).map(drop),
            (ThriftType::Any, UUID) => self.take_bytes(16).map(drop),
            (ThriftType::Any, LIST | SET) => self.read_list(ThriftType::Any),
            (ThriftType::Any, STRUCT) => self.read_struct(None),
            _ => None,
        }
    }

    fn read_list(&mut self, of: ThriftType) -> Option<()> {
        if self.path.len() > MAX_DEPTH {
            return None;
        }
        let head = self.read_byte()?;
        let length = match head >> 4 {
            15 => usize::try_from(self.read_unsigned()?).ok()?,
            length => usize::from(length),
        };
        let kind = head & 0xf;
        // Each element has at least one byte, except booleans to some readers.
        if length > self.rest.len() || (length > 0 && matches!(kind, 0 | BOOL_TRUE | BOOL_FALSE)) {
            return None;
        }
        // A list in a list has no field number of its own.
        self.path.push(0);
        for _ in 0..length {
            (self.found)(&self.path[..self.path.len() - 1], ThriftValue::Element);
            match of {
                ThriftType::Struct(fields) if kind == STRUCT => {
                    self.path.pop();
                    self.read_struct(Some(fields))?;
                    self.path.push(0);
                }
                of => {
                    self.read_value(kind, of)?;
                }
            }
        }
        self.path.pop();
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIELDS: &[(i16, ThriftType)] = &[
        (1, I32_TYPE),
        (2, ThriftType::Text),
        (
            3,
            ThriftType::List(&ThriftType::Struct(&[(1, I64_TYPE), (2, ThriftType::Flag)])),
        ),
        (4, ThriftType::List(&I32_TYPE)),
    ];

    /// The path of a value, and what it is.
    type Value = (Vec<i16>, String);

    fn found(bytes: &[u8]) -> Option<(Vec<Value>, usize)> {
        let mut all = Vec::new();
        let rest = walk_struct(bytes, FIELDS, &mut |path, found| {
            all.push((path.to_vec(), format!("{found:?}")));
        })?;
        Some((all, rest.len()))
    }

    #[test]
    fn every_field_is_found_with_its_path() {
        let bytes = [
            0x15, 5, 0x18, 2, b'h', b'i', 0x19, 0x2c, 0x16, 4, 0x11, 0, 0x16, 1, 0, 0x19, 0x15, 8,
            0, 99,
        ];
        let (all, rest) = found(&bytes).expect("a structure");
        let all: Vec<(&[i16], &str)> = all
            .iter()
            .map(|(path, what)| (path.as_slice(), what.as_str()))
            .collect();
        let expected: [(&[i16], &str); 9] = [
            (&[1], "Number(-3)"),
            (&[2], "Text([104, 105])"),
            (&[3], "Element"),
            (&[3, 1], "Number(2)"),
            (&[3, 2], "Flag(true)"),
            (&[3], "Element"),
            (&[3, 1], "Number(-1)"),
            (&[4], "Element"),
            (&[4, 0], "Number(4)"),
        ];
        assert_eq!((all, rest), (expected.to_vec(), 1));
    }

    #[test]
    fn what_does_not_fit_or_has_another_type_is_refused() {
        for bytes in [
            &[][..],
            &[0x15],
            // Another type than the format says.
            &[0x16, 2, 0],
            &[0x28, 5, 0],
            // A text and a list that are longer than what is left.
            &[0x18, 5, 0, 0],
            &[0x39, 0xfc, 0xff, 0xff, 0xff, 0xff, 7, 0],
            // Booleans without bytes, two billion of them.
            &[0x59, 0xf1, 0xff, 0xff, 0xff, 0xff, 7, 0, 0],
            // A number without an end.
            &[
                0x15, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0,
            ],
        ] {
            assert_eq!(found(bytes), None, "{bytes:?}");
        }
        assert_eq!(
            found(&[&[0x5c; 100][..], &[0; 101]].concat()),
            None,
            "too deep"
        );
        assert!(found(&[&[0x5c; 20][..], &[0; 21]].concat()).is_some());
    }
}
