//! The columns of an engine's answer, by name and type. Engines differ in the width of texts and integers; nothing else is taken.

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int8Type, Int16Type, Int32Type, Int64Type};
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_schema::DataType;

use super::engine_error::{EngineError, shortened};

/// A batch of the answer to a query.
pub(super) struct Batch<'a> {
    pub batch: &'a RecordBatch,
    /// The query in messages.
    pub query: &'static str,
}

/// A column of texts.
pub(super) struct Texts<'a>(&'a ArrayRef);
/// A column of integers of any width up to 64 bits.
pub(super) struct Integers<'a>(&'a ArrayRef);
/// A column of 64-bit floats.
pub(super) struct Floats<'a>(&'a ArrayRef);

impl<'a> Batch<'a> {
    pub fn len(&self) -> usize {
        self.batch.num_rows()
    }

    pub fn texts(&self, name: &str) -> Result<Texts<'a>, EngineError> {
        let is_text = |of: &DataType| {
            matches!(
                of,
                DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View
            )
        };
        self.column(name, "text", is_text).map(Texts)
    }

    pub fn integers(&self, name: &str) -> Result<Integers<'a>, EngineError> {
        let is_integer = |of: &DataType| {
            matches!(
                of,
                DataType::Int8 | DataType::Int16 | DataType::Int32 | DataType::Int64
            )
        };
        self.column(name, "integers", is_integer).map(Integers)
    }

    pub fn floats(&self, name: &str) -> Result<Floats<'a>, EngineError> {
        self.column(name, "64-bit floats", |of| *of == DataType::Float64)
            .map(Floats)
    }

    fn column(
        &self,
        name: &str,
        wanted: &str,
        fits: impl Fn(&DataType) -> bool,
    ) -> Result<&'a ArrayRef, EngineError> {
        let Some(column) = self.batch.column_by_name(name) else {
            return Err(EngineError::new(format!(
                "{}: the answer has no column `{name}`",
                self.query
            )));
        };
        if !fits(column.data_type()) {
            let has = shortened(&column.data_type().to_string());
            return Err(EngineError::new(format!(
                "{}: column `{name}` is of type {has}, not {wanted}",
                self.query
            )));
        }
        Ok(column)
    }

    /// Returns the value of a column that has one in every row.
    pub fn known<T>(&self, name: &str, value: Option<T>) -> Result<T, EngineError> {
        value.ok_or_else(|| EngineError::new(format!("{}: column `{name}` has a null", self.query)))
    }
}

impl<'a> Texts<'a> {
    pub fn at(&self, row: usize) -> Option<&'a str> {
        if self.0.is_null(row) {
            return None;
        }
        match self.0.data_type() {
            DataType::Utf8 => Some(self.0.as_string::<i32>().value(row)),
            DataType::LargeUtf8 => Some(self.0.as_string::<i64>().value(row)),
            _ => Some(self.0.as_string_view().value(row)),
        }
    }
}

impl Integers<'_> {
    pub fn at(&self, row: usize) -> Option<i64> {
        if self.0.is_null(row) {
            return None;
        }
        Some(match self.0.data_type() {
            DataType::Int8 => self.0.as_primitive::<Int8Type>().value(row).into(),
            DataType::Int16 => self.0.as_primitive::<Int16Type>().value(row).into(),
            DataType::Int32 => self.0.as_primitive::<Int32Type>().value(row).into(),
            _ => self.0.as_primitive::<Int64Type>().value(row),
        })
    }

    /// Returns the values if they are bytes without nulls.
    pub fn bytes(&self) -> Option<&[i8]> {
        let values = self
            .0
            .as_primitive_opt::<Int8Type>()
            .filter(|values| values.null_count() == 0)?;
        Some(values.values())
    }
}

impl Floats<'_> {
    pub fn at(&self, row: usize) -> Option<f64> {
        let values = self.0.as_primitive::<Float64Type>();
        values.is_valid(row).then(|| values.value(row))
    }
}
