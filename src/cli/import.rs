//! stub
use super::arguments::Import;
use super::failure::Failure;
use super::settings::Settings;
pub(super) fn run(_: &Settings, _: &Import) -> Result<u8, Failure> {
    Err(Failure::new("later"))
}
