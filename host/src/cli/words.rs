//! What people type before a command of this program: messages name it so.

/// `cargo xtask`, where that started this program, else the program's own name.
pub fn command_words() -> String {
    let words = std::env::var("LOCKSTEP_COMMAND").unwrap_or_default();
    if words.is_empty() {
        "lockstep".to_owned()
    } else {
        words
    }
}
