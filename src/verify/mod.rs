//! Verification: which checks fit a goal and a stack, and what their failures mean.
//!
//! Everything here is pure: a listing of files, a goal and the outcomes of commands go in, decisions with their reasons come out. Who
//! lists files and runs commands is `run`.
