//! The command `lissom`.

fn main() {}
