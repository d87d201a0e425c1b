//! A sector map as text: a line for each 128 bytes, a character for each word of 4.

use crate::SectorMap;

/// Lines of memory that are shown.
const MOST_LINES: usize = 8;

impl SectorMap {
    /// The map in text; it takes 48 columns.
    pub fn text(&self) -> String {
        let mut text = self.summary();
        text.push('\n');
        for line in self.lines.iter().take(MOST_LINES) {
            text.push_str(&format!("{:>10} ", format!("+{}", line.offset)));
            for sector in 0..4 {
                text.push(' ');
                for word in 8 * sector..8 * sector + 8 {
                    text.push(match (line.used_of_word(word), line.is_moved(sector)) {
                        (4, _) => '█',
                        (0, true) => '░',
                        (0, false) => '·',
                        _ => '▒',
                    });
                }
            }
            text.push('\n');
        }
        if self.lines.len() > MOST_LINES {
            let more = self.lines.len() - MOST_LINES;
            text.push_str(&format!("         … {more} more lines of 128 bytes\n"));
        }
        if !self.lines.is_empty() {
            text.push_str("           █ used  ▒ in part  ░ moved, not used  · not moved\n");
        }
        text
    }
}
