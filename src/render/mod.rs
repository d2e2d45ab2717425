//! Views into bytes.
