//! The only module that names polars.
