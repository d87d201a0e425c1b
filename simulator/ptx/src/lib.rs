#![doc = include_str!("../README.md")]
//!
//! ## The source
//!
//! In reading order:
//!
//! - [`suggest`], [`excerpt`]: "did you mean …?", and errors that quote the text;
//! - [`lexer`]: text to tokens;
//! - [`outline`]: the top-level items of a file, for cutting something out;
//! - [`part`]: where a part of an instruction is, for messages;
//! - [`ir`]: a module as it is read;
//! - [`parse`]: tokens to a module.

pub mod excerpt;
pub mod ir;
pub mod lexer;
pub mod parse;
pub mod outline;
pub mod part;
pub mod suggest;
