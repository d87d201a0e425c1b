//! The line that is typed.

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use crate::keys::Asked;

/// A line that is being typed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prompt {
    /// What is asked for.
    pub asked: Asked,
    /// The text so far.
    pub text: String,
    /// Where the next character goes, in characters.
    pub at: usize,
    /// Which of the earlier lines it is, counted from the last.
    recalled: usize,
}

/// What a key makes of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Typed {
    /// It goes on.
    GoesOn,
    /// It is complete.
    Done,
    /// It is given up.
    GivenUp,
}

impl Prompt {
    /// Begins a line with a text.
    pub fn new(asked: Asked, text: String) -> Self {
        let at = text.chars().count();
        Self {
            asked,
            text,
            at,
            recalled: 0,
        }
    }

    /// What is before the text.
    pub fn label(&self) -> &'static str {
        match self.asked {
            Asked::Command => ":",
            Asked::LastWrite => "last write of ",
            Asked::Time => "go to time ",
            Asked::Expression => "lanes of ",
            Asked::Breakpoint => "break at ",
        }
    }

    /// Takes a key. `earlier` are the lines of the same kind, the last one last.
    pub fn key(&mut self, key: KeyEvent, earlier: &[String]) -> Typed {
        let has_control = key.modifiers.contains(KeyModifiers::CONTROL);
        match key.code {
            KeyCode::Enter => return Typed::Done,
            KeyCode::Esc => return Typed::GivenUp,
            KeyCode::Char('c' | 'g') if has_control => return Typed::GivenUp,
            KeyCode::Backspace if self.text.is_empty() => return Typed::GivenUp,
            KeyCode::Char('u') if has_control => self.set(String::new()),
            KeyCode::Char('a') if has_control => self.at = 0,
            KeyCode::Char('e') if has_control => self.at = self.len(),
            KeyCode::Char('w') if has_control => self.remove_word(),
            KeyCode::Char(c) if !has_control => {
                self.text.insert(self.byte(self.at), c);
                self.at += 1;
            }
            KeyCode::Backspace if self.at > 0 => {
                self.at -= 1;
                self.text.remove(self.byte(self.at));
            }
            KeyCode::Delete if self.at < self.len() => {
                self.text.remove(self.byte(self.at));
            }
            KeyCode::Left => self.at = self.at.saturating_sub(1),
            KeyCode::Right => self.at = (self.at + 1).min(self.len()),
            KeyCode::Home => self.at = 0,
            KeyCode::End => self.at = self.len(),
            KeyCode::Up => self.recall(self.recalled + 1, earlier),
            KeyCode::Down => self.recall(self.recalled.saturating_sub(1), earlier),
            _ => {}
        }
        Typed::GoesOn
    }

    fn recall(&mut self, n: usize, earlier: &[String]) {
        if n > earlier.len() {
            return;
        }
        self.recalled = n;
        self.set(match n {
            0 => String::new(),
            n => earlier[earlier.len() - n].clone(),
        });
    }

    fn set(&mut self, text: String) {
        self.text = text;
        self.at = self.len();
    }

    fn len(&self) -> usize {
        self.text.chars().count()
    }

    /// Where a character begins, in bytes.
    fn byte(&self, at: usize) -> usize {
        let mut all = self.text.char_indices();
        all.nth(at).map_or(self.text.len(), |(byte, _)| byte)
    }

    fn remove_word(&mut self) {
        let end = self.byte(self.at);
        let before = self.text[..end].trim_end();
        let start = before.rfind(' ').map_or(0, |space| space + 1);
        let n_removed = self.text[start..end].chars().count();
        self.text.replace_range(start..end, "");
        self.at -= n_removed;
    }
}
