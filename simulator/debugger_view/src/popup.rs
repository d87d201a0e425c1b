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
    /// How many lines it had when it was last drawn.
    pub n_rows: usize,
    /// How many of them were shown.
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
            n_rows: 0,
            height: 1,
        }
    }

    /// Its lines for a width: what does not fit goes on in the next.
    pub fn wrapped(&self, width: usize) -> Vec<String> {
        self.lines
            .iter()
            .flat_map(|line| wrap(line, width))
            .collect()
    }

    /// Scrolls by lines.
    pub fn scroll(&mut self, n: isize) {
        let most = self.n_rows.saturating_sub(self.height);
        self.first = self.first.saturating_add_signed(n).min(most);
    }

    /// Scrolls by what is shown at once.
    pub fn page(&mut self, n: isize) {
        self.scroll(n * self.height.max(2).saturating_sub(1) as isize);
    }
}

/// A line in pieces of a width, at its spaces if it has some; all but the first are indented a
/// little further.
fn wrap(line: &str, width: usize) -> Vec<String> {
    let width = width.max(8);
    let n_indent = line.chars().take_while(|c| *c == ' ').count() + 2;
    let indent = " ".repeat(n_indent.min(width / 2));
    let mut pieces = Vec::new();
    let mut rest: Vec<char> = line.chars().collect();
    while rest.len() > width {
        let start = rest.iter().position(|c| *c != ' ').unwrap_or(0);
        let space = rest[..=width].iter().rposition(|c| *c == ' ');
        let at = space.filter(|&at| at > start).unwrap_or(width);
        pieces.push(rest[..at].iter().collect::<String>().trim_end().to_owned());
        let text: String = rest[at..].iter().collect();
        rest = format!("{indent}{}", text.trim_start()).chars().collect();
    }
    pieces.push(rest.into_iter().collect());
    pieces
}

#[cfg(test)]
mod tests {
    use super::wrap;

    #[test]
    fn lines_break_at_spaces() {
        assert_eq!(wrap("short", 10), ["short"]);
        assert_eq!(wrap("one two three", 9), ["one two", "  three"]);
        assert_eq!(wrap("  one two three", 9), ["  one two", "    three"]);
        assert_eq!(wrap("abcdefghijklm", 8), ["abcdefgh", "  ijklm"]);
        assert_eq!(wrap("", 8), [""]);
        // Nothing is lost, and nothing goes on for ever.
        let text = "          deep and-a-word-that-does-not-fit-at-all x";
        let joined: String = wrap(text, 8).concat();
        let letters = |text: &str| text.replace(' ', "");
        assert_eq!(letters(&joined), letters(text));
    }
}
