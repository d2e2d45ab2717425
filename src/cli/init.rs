//! `init`: files that run at once, to begin from.

use super::arguments::Init;
use super::failure::Failure;
use super::settings::Settings;

pub(super) fn run(_settings: &Settings, _arguments: &Init) -> Result<u8, Failure> {
    Err(Failure::new("not there yet"))
}
