//! Single keys typed at a terminal.

use console::{Key, Term};
use std::io::IsTerminal;
use std::sync::mpsc::{Receiver, Sender, channel};

/// Keys that are typed while the program waits for one.
///
/// The terminal leaves its usual mode only while it waits for a key. Ctrl-C works then
/// too, and the mode is restored before a key is handed on.
pub(super) struct Keys {
    /// Requests the next key.
    ask: Sender<()>,
    typed: Receiver<char>,
    is_asked: bool,
}

impl Keys {
    /// Those of this process's terminal; `None` if it does not have one.
    pub fn of_terminal() -> Option<Self> {
        let term = Term::stdout();
        if !std::io::stdin().is_terminal() || !term.is_term() {
            return None;
        }
        let (ask, asked) = channel();
        let (hand_on, typed) = channel();
        std::thread::spawn(move || {
            while asked.recv().is_ok() {
                let key = match term.read_key() {
                    Ok(Key::Char(key)) => key,
                    Ok(Key::Enter) => '\n',
                    Ok(_) => ' ',
                    Err(_) => return,
                };
                if hand_on.send(key).is_err() {
                    return;
                }
            }
        });
        Some(Self {
            ask,
            typed,
            is_asked: false,
        })
    }

    /// A key, if one has been typed since the last look.
    pub fn typed(&mut self) -> Option<char> {
        if !self.is_asked {
            self.is_asked = self.ask.send(()).is_ok();
        }
        let key = self.typed.try_recv().ok()?;
        self.is_asked = false;
        Some(key)
    }
}
