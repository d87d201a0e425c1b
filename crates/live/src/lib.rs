//! The simulator for pages of the book: a question in JSON, an answer in JSON.
//!
//! Compiled to WebAssembly it runs in the reader's browser ([`abi`] is how a page calls it),
//! compiled for the host it makes what pages show before anything is changed, and what they
//! show where there is no WebAssembly. Both are the same code: a test compares their answers
//! byte for byte.
//!
//! - [`launch`]: any kernel of a PTX text, on buffers that the question holds.
//!
//! Left out: PTX. The question brings it.

#[cfg(target_family = "wasm")]
pub mod abi;
pub mod launch;

use serde::{Deserialize, Serialize};

/// What can be asked.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Question {
    /// To run a kernel.
    Launch(launch::Question),
}

/// What is answered.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
enum Answer {
    Launch(launch::Answer),
    /// Why there is no answer.
    Error(String),
}

/// Answers a question, both in JSON. What cannot be answered is
/// `{"error": "why"}`.
pub fn answer(question: &str) -> String {
    let answer = match serde_json::from_str(question) {
        Ok(Question::Launch(question)) => launch::answer(&question).map(Answer::Launch),
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
