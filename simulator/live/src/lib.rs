//! The simulator for pages of the book: a question in JSON, an answer in JSON.
//!
//! Compiled to WebAssembly, it runs in the reader's browser (pages call it by `abi`).
//! Compiled for the host, it makes what pages show before anything is changed, and what they
//! show without WebAssembly. Both are the same code: a test compares their answers
//! byte for byte.
//!
//! - [`launch`]: any kernel of a PTX text, on buffers from the question;
//! - [`tile`]: a tile in shared memory, laid out and read as the reader chooses;
//! - [`stride`]: reads of global memory some elements apart;
//! - [`show`]: the answers to the last two, as parts of a page.
//!
//! Left out: PTX, which comes with the question; for the last two, from the crate `playground`.

#[cfg(target_family = "wasm")]
pub mod abi;
mod common;
pub mod launch;
pub mod show;
pub mod stride;
pub mod tile;

use serde::{Deserialize, Serialize};

/// A question.
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

/// An answer.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
enum Answer {
    Launch(launch::Answer),
    Tile(tile::Answer),
    Stride(stride::Answer),
    /// Why there is no answer.
    Error(String),
}

/// Answers a question, both in JSON. If there is no answer, the result is
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
