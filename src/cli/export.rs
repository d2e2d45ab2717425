//! stub
use super::arguments::Export;
use super::failure::Failure;
use super::settings::Settings;
pub(super) fn run(_: &Settings, _: &Export) -> Result<u8, Failure> {
    Err(Failure::new("later"))
}
