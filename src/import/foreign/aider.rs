//! aider: not read yet.

use crate::domain::Problem;

use super::super::rows::Stop;
use super::Claim;
use super::peek::Peek;
use super::sink::Sink;
use super::source::ForeignSource;

pub(super) fn claim(_peek: &Peek) -> Option<Claim> {
    None
}

pub(super) fn read(source: &ForeignSource, _sink: &mut Sink<'_>) -> Result<(), Stop> {
    Err(Problem::in_file(&source.shown, "is of a format that is not read yet").into())
}
