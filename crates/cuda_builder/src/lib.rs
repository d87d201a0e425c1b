//! Compiles a kernel crate to PTX with rustc's own nvptx backend.
