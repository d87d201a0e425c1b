//! The time that calls wait for ranks that do not come.

use std::sync::OnceLock;
use std::time::Duration;

/// The environment variable that says it, in seconds; 0 for any time.
pub const NAME: &str = "LOCKSTEP_NCCL_TIMEOUT";
const USUAL: u64 = 20;
const MOST: u64 = 3600;

/// How long calls wait; `None` for any time.
pub fn patience() -> Option<Duration> {
    static PATIENCE: OnceLock<Option<Duration>> = OnceLock::new();
    *PATIENCE.get_or_init(|| {
        let text = std::env::var(NAME).ok();
        let seconds = text.as_deref().map_or(Some(USUAL), parsed);
        let seconds = seconds.unwrap_or_else(|| {
            eprintln!("lockstep: {NAME}: a number of seconds from 0 to {MOST} is expected; it is {USUAL} here");
            USUAL
        });
        (seconds > 0).then(|| Duration::from_secs(seconds))
    })
}

fn parsed(text: &str) -> Option<u64> {
    text.parse().ok().filter(|&seconds| seconds <= MOST)
}
