//! Turns what an agent left behind into outcomes and figures. Pure over bytes, but for [`code`], which walks a folder.

pub mod code;
pub mod test_report;
