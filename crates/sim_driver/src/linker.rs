//! Linking: PTX texts that are given one by one.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// A link in the making.
#[derive(Default)]
pub struct Linking(Mutex<State>);

/// What has been given so far.
#[derive(Default)]
pub struct State {
    /// Names and texts.
    pub texts: Vec<(String, String)>,
    /// What was made of them; the client has its address.
    pub image: Option<Vec<u8>>,
    /// Where the client wants to read what went wrong.
    pub logs: Option<crate::api::module::Logs>,
}

impl Linking {
    /// What has been given so far.
    pub fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
