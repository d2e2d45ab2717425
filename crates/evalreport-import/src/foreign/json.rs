//! Parts of JSON as other tools write it, with values of unexpected types.

use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;

use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::Value;

use super::super::counts::count_from_float;

/// Visitor methods that replace numbers, booleans and null by a fixed value.
macro_rules! others_are {
    ($value:expr) => {
        fn visit_bool<E>(self, _: bool) -> Result<Self::Value, E> {
            Ok($value)
        }

        fn visit_i64<E>(self, _: i64) -> Result<Self::Value, E> {
            Ok($value)
        }

        fn visit_u64<E>(self, _: u64) -> Result<Self::Value, E> {
            Ok($value)
        }

        fn visit_f64<E>(self, _: f64) -> Result<Self::Value, E> {
            Ok($value)
        }

        fn visit_unit<E>(self) -> Result<Self::Value, E> {
            Ok($value)
        }
    };
}

/// Visitor methods that replace numbers, booleans, null and text by a fixed value.
macro_rules! values_are {
    ($value:expr) => {
        others_are!($value);

        fn visit_str<E>(self, _: &str) -> Result<Self::Value, E> {
            Ok($value)
        }
    };
}

pub(crate) use {others_are, values_are};

/// An object that is parsed. Any other value is ignored and becomes `None`.
#[derive(Clone, Debug)]
pub(crate) struct Lenient<T>(pub Option<T>);

impl<T> Default for Lenient<T> {
    fn default() -> Self {
        Self(None)
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Lenient<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(LenientVisitor(PhantomData))
    }
}

struct LenientVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for LenientVisitor<T> {
    type Value = Lenient<T>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a JSON value")
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
        T::deserialize(MapAccessDeserializer::new(map)).map(|value| Lenient(Some(value)))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
        while list.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Lenient(None))
    }

    values_are!(Lenient(None));
}

/// An object whose values are objects. Any other value counts as empty.
pub(crate) type ObjectTable<T> = Lenient<BTreeMap<String, Lenient<T>>>;

impl<T> ObjectTable<T> {
    pub fn get(&self, key: &str) -> Option<&T> {
        self.0.as_ref()?.get(key)?.0.as_ref()
    }

    pub fn iter(&self) -> impl Iterator<Item = (&String, &T)> {
        self.0
            .iter()
            .flatten()
            .filter_map(|(key, part)| Some((key, part.0.as_ref()?)))
    }

    pub fn is_empty(&self) -> bool {
        self.iter().next().is_none()
    }
}

/// A list whose elements are objects. Any other value counts as empty.
#[derive(Clone, Debug)]
pub(crate) struct ObjectList<T>(pub Vec<Lenient<T>>);

impl<T> ObjectList<T> {
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.0.iter().filter_map(|part| part.0.as_ref())
    }
}

impl<T> Default for ObjectList<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for ObjectList<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ObjectListVisitor(PhantomData))
    }
}

struct ObjectListVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for ObjectListVisitor<T> {
    type Value = ObjectList<T>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a JSON value")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
        let mut parts = Vec::new();
        while let Some(part) = list.next_element()? {
            parts.push(part);
        }
        Ok(ObjectList(parts))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(ObjectList::default())
    }

    values_are!(ObjectList::default());
}

/// Returns a text unchanged, and numbers and booleans as they are written.
pub(crate) fn to_text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(word) => Some(word.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

/// Returns the text, number or boolean, unless it is blank.
pub(crate) fn to_filled_text(value: &Value) -> Option<String> {
    to_text(value).filter(|text| !text.trim().is_empty())
}

/// Reads a finite number, also from text.
pub(crate) fn to_number(value: &Value) -> Option<f64> {
    let number = match value {
        Value::Number(number) => number.as_f64(),
        Value::String(text) => text.trim().parse().ok(),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    };
    // A negative zero would print as `-0`.
    number
        .filter(|number| number.is_finite())
        .map(|number| number + 0.0)
}

/// Reads an amount, which is not negative.
pub(crate) fn to_amount(value: &Value) -> Option<f64> {
    to_number(value).filter(|number| *number >= 0.0)
}

/// Reads a count, also one written `12.0`.
pub(crate) fn to_count(value: &Value) -> Option<u64> {
    value
        .as_u64()
        .or_else(|| count_from_float(to_number(value)?))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn parts_of_other_types_are_passed_over() {
        #[derive(serde::Deserialize)]
        struct Part {
            a: u8,
        }
        let read: Vec<Lenient<Part>> =
            serde_json::from_value(json!([{"a": 1}, null, [1], "x", 2, -2, 1.5, true]))
                .expect("anything goes");
        assert_eq!(
            read.iter()
                .map(|part| part.0.as_ref().map(|part| part.a))
                .collect::<Vec<_>>(),
            {
                let mut expected = vec![None; 8];
                expected[0] = Some(1);
                expected
            }
        );
    }
}
