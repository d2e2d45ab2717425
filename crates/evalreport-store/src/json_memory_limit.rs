//! A limit on the memory that the values of a JSON text may take.
//!
//! A text of only `[0,0,…` or `[{},{},…` takes fifty times its size when parsed. Texts are foreign, so allocations are added up during
//! parsing, by the sizes of the parsed types. A text that takes more than its length explains is refused. Skipped values cost nothing.

use std::cell::Cell;
use std::fmt;

use serde::de::{
    Deserialize, DeserializeSeed, Deserializer, EnumAccess, Error, MapAccess, SeqAccess, Visitor,
};

/// Memory that every text may take, however short; then additional bytes per byte of text. The caller also holds the text and builds values
/// from it.
const FREE_BYTES: usize = 40 << 20;
const TIMES_READ: usize = 4;
/// Overhead of an allocation, and of text, whose size is rounded up.
const TEXT_COST: usize = 32;
/// Initial capacity of a list; then of a map.
const FIRST_ELEMENTS: usize = 4;
const FIRST_ENTRIES: usize = 8;
/// A growing list exists twice for a moment.
const TIMES_GROWING: usize = 2;

/// The error message of a text that takes too much.
pub const TOO_MUCH_MEMORY: &str = "holds more values than are read of JSON so short";

/// The memory account of one text.
#[derive(Default)]
pub struct JsonMemoryAccount {
    read: Cell<usize>,
    spent: Cell<usize>,
}

impl JsonMemoryAccount {
    pub fn for_text(bytes: usize) -> Self {
        Self {
            read: Cell::new(bytes),
            spent: Cell::new(0),
        }
    }

    /// Records that more of the text was read.
    pub fn add_read_bytes(&self, bytes: usize) {
        self.read.set(self.read.get().saturating_add(bytes));
    }

    /// Calls `read` and frees its allocations at the end.
    pub fn with_freed_memory<T>(&self, read: impl FnOnce() -> T) -> T {
        let before = self.spent.get();
        let done = read();
        self.spent.set(before);
        done
    }

    /// Wraps a deserializer, so that its values are counted on this account.
    pub fn limit_deserializer<D>(&self, deserializer: D) -> MemoryLimited<'_, D> {
        MemoryLimited {
            inner: deserializer,
            heap: self,
        }
    }

    fn spend_bytes<E: Error>(&self, bytes: usize) -> Result<(), E> {
        let spent = self.spent.get().saturating_add(bytes);
        self.spent.set(spent);
        if spent > FREE_BYTES.saturating_add(self.read.get().saturating_mul(TIMES_READ)) {
            Err(E::custom(TOO_MUCH_MEMORY))
        } else {
            Ok(())
        }
    }
}

/// Parses one value, like the function of `serde_json` with the same name.
pub fn from_slice<'de, T: Deserialize<'de>>(text: &'de [u8]) -> serde_json::Result<T> {
    let heap = JsonMemoryAccount::for_text(text.len());
    let mut reader = serde_json::Deserializer::from_slice(text);
    let value = T::deserialize(heap.limit_deserializer(&mut reader))?;
    reader.end()?;
    Ok(value)
}

/// Returns whether a text was refused because of its memory.
pub fn is_memory_refusal(error: &serde_json::Error) -> bool {
    error.to_string().starts_with(TOO_MUCH_MEMORY)
}

/// A deserializer, visitor, seed, list or map whose values are counted on an account.
pub struct MemoryLimited<'h, T> {
    inner: T,
    heap: &'h JsonMemoryAccount,
}

macro_rules! deserialize_bounded {
    ($($name:ident)*) => {
        $(
            fn $name<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
                self.inner.$name(MemoryLimited { inner: visitor, heap: self.heap })
            }
        )*
    };
}

impl<'de, D: Deserializer<'de>> Deserializer<'de> for MemoryLimited<'_, D> {
    type Error = D::Error;

    deserialize_bounded! {
        deserialize_any deserialize_bool deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64 deserialize_i128 deserialize_u8
        deserialize_u16 deserialize_u32 deserialize_u64 deserialize_u128 deserialize_f32 deserialize_f64 deserialize_char deserialize_str
        deserialize_string deserialize_bytes deserialize_byte_buf deserialize_option deserialize_unit deserialize_seq deserialize_map
    }

    fn deserialize_unit_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        self.inner.deserialize_unit_struct(
            name,
            MemoryLimited {
                inner: visitor,
                heap: self.heap,
            },
        )
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        self.inner.deserialize_newtype_struct(
            name,
            MemoryLimited {
                inner: visitor,
                heap: self.heap,
            },
        )
    }

    fn deserialize_tuple<V: Visitor<'de>>(
        self,
        length: usize,
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        self.inner.deserialize_tuple(
            length,
            MemoryLimited {
                inner: visitor,
                heap: self.heap,
            },
        )
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        length: usize,
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        self.inner.deserialize_tuple_struct(
            name,
            length,
            MemoryLimited {
                inner: visitor,
                heap: self.heap,
            },
        )
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        self.inner.deserialize_struct(
            name,
            fields,
            MemoryLimited {
                inner: visitor,
                heap: self.heap,
            },
        )
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        self.inner.deserialize_enum(
            name,
            variants,
            MemoryLimited {
                inner: visitor,
                heap: self.heap,
            },
        )
    }

    /// Field names are not kept.
    fn deserialize_identifier<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
        self.inner.deserialize_identifier(visitor)
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
        self.inner.deserialize_ignored_any(visitor)
    }

    fn is_human_readable(&self) -> bool {
        self.inner.is_human_readable()
    }
}

macro_rules! visit_small {
    ($($name:ident $type:ty,)*) => {
        $(
            fn $name<E: Error>(self, value: $type) -> Result<V::Value, E> {
                self.inner.$name(value)
            }
        )*
    };
}

/// Text and bytes are allocated at their length.
macro_rules! visit_long {
    ($($name:ident $type:ty,)*) => {
        $(
            fn $name<E: Error>(self, value: $type) -> Result<V::Value, E> {
                if !value.is_empty() {
                    self.heap.spend_bytes(TEXT_COST + value.len())?;
                }
                self.inner.$name(value)
            }
        )*
    };
}

impl<'de, V: Visitor<'de>> Visitor<'de> for MemoryLimited<'_, V> {
    type Value = V::Value;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.expecting(formatter)
    }

    visit_small! {
        visit_bool bool, visit_i8 i8, visit_i16 i16, visit_i32 i32, visit_i64 i64, visit_i128 i128, visit_u8 u8, visit_u16 u16,
        visit_u32 u32, visit_u64 u64, visit_u128 u128, visit_f32 f32, visit_f64 f64, visit_char char,
    }

    visit_long! {
        visit_str &str, visit_borrowed_str &'de str, visit_string String, visit_bytes &[u8], visit_borrowed_bytes &'de [u8],
        visit_byte_buf Vec<u8>,
    }

    fn visit_none<E: Error>(self) -> Result<V::Value, E> {
        self.inner.visit_none()
    }

    fn visit_unit<E: Error>(self) -> Result<V::Value, E> {
        self.inner.visit_unit()
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<V::Value, D::Error> {
        self.inner
            .visit_some(self.heap.limit_deserializer(deserializer))
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(
        self,
        deserializer: D,
    ) -> Result<V::Value, D::Error> {
        self.inner
            .visit_newtype_struct(self.heap.limit_deserializer(deserializer))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<V::Value, A::Error> {
        self.inner.visit_seq(LimitedAccess {
            inner: list,
            heap: self.heap,
            count: 0,
            key_bytes: 0,
        })
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<V::Value, A::Error> {
        self.inner.visit_map(LimitedAccess {
            inner: map,
            heap: self.heap,
            count: 0,
            key_bytes: 0,
        })
    }

    /// Our enums contain no more than a word.
    fn visit_enum<A: EnumAccess<'de>>(self, variant: A) -> Result<V::Value, A::Error> {
        self.inner.visit_enum(variant)
    }
}

impl<'de, S: DeserializeSeed<'de>> DeserializeSeed<'de> for MemoryLimited<'_, S> {
    type Value = S::Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<S::Value, D::Error> {
        self.inner
            .deserialize(self.heap.limit_deserializer(deserializer))
    }
}

/// A list or a map during parsing.
struct LimitedAccess<'h, A> {
    inner: A,
    heap: &'h JsonMemoryAccount,
    count: usize,
    /// Size of the last key: kept keys are texts; keys of struct fields are numbers.
    key_bytes: usize,
}

impl<A> LimitedAccess<'_, A> {
    /// Spends the memory of one more part of this size. The first part allocates room for `first` parts.
    fn spend_element<E: Error>(&mut self, bytes: usize, first: usize) -> Result<(), E> {
        self.count += 1;
        match self.count {
            1 => self.heap.spend_bytes(bytes * first + TEXT_COST),
            count if count > first => self.heap.spend_bytes(bytes * TIMES_GROWING),
            _ => Ok(()),
        }
    }
}

impl<'de, A: SeqAccess<'de>> SeqAccess<'de> for LimitedAccess<'_, A> {
    type Error = A::Error;

    fn next_element_seed<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, A::Error> {
        let element = self.inner.next_element_seed(MemoryLimited {
            inner: seed,
            heap: self.heap,
        })?;
        if element.is_some() {
            self.spend_element(size_of::<S::Value>(), FIRST_ELEMENTS)?;
        }
        Ok(element)
    }

    fn size_hint(&self) -> Option<usize> {
        self.inner.size_hint()
    }
}

impl<'de, A: MapAccess<'de>> MapAccess<'de> for LimitedAccess<'_, A> {
    type Error = A::Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, A::Error> {
        self.key_bytes = size_of::<K::Value>();
        self.inner.next_key_seed(MemoryLimited {
            inner: seed,
            heap: self.heap,
        })
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, A::Error> {
        let value = self.inner.next_value_seed(MemoryLimited {
            inner: seed,
            heap: self.heap,
        })?;
        if self.key_bytes >= size_of::<String>() {
            self.spend_element(self.key_bytes + size_of::<S::Value>(), FIRST_ENTRIES)?;
        }
        Ok(value)
    }

    fn size_hint(&self) -> Option<usize> {
        self.inner.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde::Deserialize;
    use serde::de::IgnoredAny;
    use serde_json::{Value, json};

    use super::*;

    #[derive(Debug, Deserialize, PartialEq)]
    struct Part {
        name: Option<String>,
        numbers: Vec<u8>,
    }

    fn is_refused<T: for<'de> Deserialize<'de>>(text: &str) -> bool {
        from_slice::<T>(text.as_bytes()).is_err_and(|error| is_memory_refusal(&error))
    }

    fn list(element: &str, mebibytes: usize) -> String {
        format!(
            "[{}{element}]",
            format!("{element},").repeat((mebibytes << 20) / (element.len() + 1))
        )
    }

    #[test]
    fn values_are_what_they_are() {
        let value = json!({"a": [1, -2, 3.5, "x", null, true, {"b": {}}], "": []});
        assert_eq!(
            from_slice::<Value>(value.to_string().as_bytes()).expect("JSON"),
            value
        );
        let part = Part {
            name: Some("n".to_owned()),
            numbers: vec![1, 2],
        };
        assert_eq!(
            from_slice::<Part>(br#"{"numbers": [1, 2], "name": "n", "other": [[]]}"#)
                .expect("a part"),
            part
        );
        assert!(
            from_slice::<Value>(b"1 2").is_err()
                && from_slice::<Part>(b"{\"numbers\": 1}").is_err()
        );
    }

    #[test]
    fn texts_of_nothing_but_small_values_are_refused() {
        for element in ["0", "[]", "[0]", "{}", "\"\"", "{\"a\":0}", "[[[[0]]]]"] {
            assert!(is_refused::<Value>(&list(element, 8)), "{element}");
        }
        assert!(is_refused::<Vec<Option<Part>>>(&list("null", 8)));
        let keys: Vec<String> = (0..1 << 20).map(|key| format!("\"{key:x}\":0")).collect();
        assert!(is_refused::<BTreeMap<String, Value>>(&format!(
            "{{{}}}",
            keys.join(",")
        )));
    }

    #[test]
    fn what_is_passed_over_costs_nothing() {
        assert!(from_slice::<IgnoredAny>(list("0", 8).as_bytes()).is_ok());
        assert!(
            from_slice::<Part>(
                format!("{{\"numbers\": [], \"other\": {}}}", list("0", 8)).as_bytes()
            )
            .is_ok()
        );
    }

    #[test]
    fn texts_of_real_length_are_read() {
        assert!(
            from_slice::<Value>(list(&format!("\"{}\"", "a".repeat(200)), 8).as_bytes()).is_ok()
        );
        assert!(from_slice::<Value>(list("-0.12345678901234567", 2).as_bytes()).is_ok());
        assert!(from_slice::<Value>(format!("\"{}\"", "a".repeat(64 << 20)).as_bytes()).is_ok());
    }

    #[test]
    fn what_is_freed_can_be_spent_again() {
        let heap = JsonMemoryAccount::for_text(0);
        for _ in 0..3 {
            heap.with_freed_memory(|| heap.spend_bytes::<serde_json::Error>(FREE_BYTES))
                .expect("as much as there is");
        }
        assert!(
            heap.spend_bytes::<serde_json::Error>(FREE_BYTES + 1)
                .is_err()
        );
        heap.add_read_bytes(FREE_BYTES);
        assert!(heap.spend_bytes::<serde_json::Error>(FREE_BYTES).is_ok());
    }
}
