//! A text over everything else, which scrolls.

/// The text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Popup {
    /// What it is.
    pub title: String,
    /// Its lines.
    pub lines: Vec<String>,
    /// The first line shown.
    pub first: usize,
    /// How many lines were shown when it was last drawn.
    pub height: usize,
}

impl Popup {
    /// With a text.
    pub fn new(title: &str, text: &str) -> Self {
        Self {
            title: title.to_owned(),
            lines: text
                .lines()
                .map(|line| line.replace('\t', "    "))
                .collect(),
            first: 0,
            height: 1,
        }
    }

    /// Scrolls by lines.
    pub fn scroll(&mut self, n: isize) {
        let most = self.lines.len().saturating_sub(self.height);
        self.first = self.first.saturating_add_signed(n).min(most);
    }

    /// Scrolls by what is shown at once.
    pub fn page(&mut self, n: isize) {
        self.scroll(n * self.height.max(2).saturating_sub(1) as isize);
    }
}
