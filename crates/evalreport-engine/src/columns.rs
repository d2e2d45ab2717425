//! The columns of an engine's answer, by name and type. Engines differ in the width of texts and integers; nothing else is taken.

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int8Type, Int16Type, Int32Type, Int64Type};
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_schema::DataType;

use super::engine_error::{EngineError, shorten_message};

/// A batch of the answer to a query.
pub(super) struct AnswerBatch<'a> {
    pub batch: &'a RecordBatch,
    /// The query in messages.
    pub query: &'static str,
}

/// A column of texts.
pub(super) struct TextColumn<'a>(&'a ArrayRef);
/// A column of integers of any width up to 64 bits.
pub(super) struct IntegerColumn<'a>(&'a ArrayRef);
/// A column of 64-bit floats.
pub(super) struct FloatColumn<'a>(&'a ArrayRef);

impl<'a> AnswerBatch<'a> {
    pub fn len(&self) -> usize {
        self.batch.num_rows()
    }

    pub fn text_column(&self, name: &str) -> Result<TextColumn<'a>, EngineError> {
        let is_text = |of: &DataType| {
            matches!(
                of,
                DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View
            )
        };
        self.typed_column(name, "text", is_text).map(TextColumn)
    }

    pub fn integer_column(&self, name: &str) -> Result<IntegerColumn<'a>, EngineError> {
        let is_integer = |of: &DataType| {
            matches!(
                of,
                DataType::Int8 | DataType::Int16 | DataType::Int32 | DataType::Int64
            )
        };
        self.typed_column(name, "integers", is_integer)
            .map(IntegerColumn)
    }

    pub fn float_column(&self, name: &str) -> Result<FloatColumn<'a>, EngineError> {
        self.typed_column(name, "64-bit floats", |of| *of == DataType::Float64)
            .map(FloatColumn)
    }

    fn typed_column(
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
            let has = shorten_message(&column.data_type().to_string());
            return Err(EngineError::new(format!(
                "{}: column `{name}` is of type {has}, not {wanted}",
                self.query
            )));
        }
        Ok(column)
    }

    /// Returns the value of a column that has one in every row.
    pub fn require_value<T>(&self, name: &str, value: Option<T>) -> Result<T, EngineError> {
        value.ok_or_else(|| EngineError::new(format!("{}: column `{name}` has a null", self.query)))
    }
}

impl<'a> TextColumn<'a> {
    pub fn value_at(&self, row: usize) -> Option<&'a str> {
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

impl IntegerColumn<'_> {
    pub fn value_at(&self, row: usize) -> Option<i64> {
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
    pub fn as_i8_slice(&self) -> Option<&[i8]> {
        let values = self
            .0
            .as_primitive_opt::<Int8Type>()
            .filter(|values| values.null_count() == 0)?;
        Some(values.values())
    }
}

impl FloatColumn<'_> {
    pub fn value_at(&self, row: usize) -> Option<f64> {
        let values = self.0.as_primitive::<Float64Type>();
        values.is_valid(row).then(|| values.value(row))
    }
}
