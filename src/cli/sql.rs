//! stub
use super::arguments::Sql;
use super::failure::Failure;
use super::settings::Settings;
pub(super) fn run(_: &Settings, _: &Sql) -> Result<u8, Failure> {
    Err(Failure::new("later"))
}
