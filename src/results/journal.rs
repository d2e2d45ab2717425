//! A run's item journal while it is being written.
use std::path::Path;
use super::StoreError;
pub struct Journal;
impl Journal { pub(super) fn open(_: &Path) -> Result<Self, StoreError> { Ok(Self) } }
