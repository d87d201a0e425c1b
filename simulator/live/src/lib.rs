//! The simulator for pages of the book: a question in JSON, an answer in JSON.
//!
//! Compiled to WebAssembly it runs in the reader's browser ([`abi`] is how a page calls it),
//! compiled for the host it makes what pages show before anything is changed, and what they
//! show where there is no WebAssembly. Both are the same code: a test compares their answers
//! byte for byte.
//!
//! - [`launch`]: any kernel of a PTX text, on buffers that the question holds;
//! - [`tile`]: a tile in shared memory, laid out and read as the reader chooses;
//! - [`stride`]: reads of global memory some elements apart;
//! - [`show`]: the answers to the last two, as parts of a page.
//!
//! Left out: PTX. The question brings it; that of the last two is the crate `playground`'s.

#[cfg(target_family = "wasm")]
pub mod abi;
mod common;
pub mod launch;
pub mod show;
pub mod stride;
pub mod tile;

use serde::{Deserialize, Serialize};

/// What can be asked.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Question {
    /// To run a kernel.
    Launch(launch::Question),
    /// To move a tile through shared memory.
    Tile(tile::Question),
    /// To read global memory.
    Stride(stride::Question),
}

/// What is answered.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
enum Answer {
    Launch(launch::Answer),
    Tile(tile::Answer),
    Stride(stride::Answer),
    /// Why there is no answer.
    Error(String),
}

/// Answers a question, both in JSON. What cannot be answered is
/// `{"error": "why"}`.
pub fn answer(question: &str) -> String {
    let answer = match serde_json::from_str(question) {
        Ok(Question::Launch(question)) => launch::answer(&question).map(Answer::Launch),
        Ok(Question::Tile(question)) => tile::answer(&question).map(Answer::Tile),
        Ok(Question::Stride(question)) => stride::answer(&question).map(Answer::Stride),
        Err(error) => Err(format!("the question is not understood: {error}")),
    };
    let answer = answer.unwrap_or_else(Answer::Error);
    serde_json::to_string(&answer).unwrap_or_else(|error| format!("{{\"error\": \"{error}\"}}"))
}

#[cfg(test)]
mod tests {
    use super::answer;

    #[test]
    fn what_is_not_understood_is_an_error() {
        assert!(answer("{}").starts_with("{\"error\":\"the question is not understood"));
        let no_kernel = r#"{"launch": {"ptx": ".version 7.0", "kernel": "k", "grid": [1, 1, 1],
            "block": [1, 1, 1], "arguments": []}}"#;
        assert!(
            answer(no_kernel).starts_with("{\"error\":"),
            "{}",
            answer(no_kernel)
        );
    }
}
