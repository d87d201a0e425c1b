//! A bank map as text: a column for each bank, a line for each wavefront.

use crate::BankMap;
use crate::banks::{Cell, PhaseMap};
use crate::lanes_in_words;

/// Wavefronts of a phase that are shown.
const MOST_WAVEFRONTS: u32 = 8;
/// Columns before the banks.
const MARGIN: usize = 6;

impl BankMap {
    /// The map in lines of this many columns: all banks side by side if there is room, else in two
    /// halves. `7` is the lane that a bank serves, `7+` the first of several, `─` the rest of
    /// the bytes that a lane asks for.
    pub fn text(&self, columns: usize) -> String {
        let mut text = self.summary();
        text.push('\n');
        for (i, phase) in self.phases.iter().enumerate() {
            if self.phases.len() > 1 {
                let lanes: Vec<u8> = crate::lanes(phase.lanes).map(|lane| lane as u8).collect();
                let lanes = lanes_in_words(&lanes);
                text.push_str(&format!(
                    "phase {} of {}: lanes {lanes}\n",
                    i + 1,
                    self.phases.len()
                ));
            }
            if columns >= MARGIN + 32 * 3 {
                band(&mut text, phase, 0..32, 3);
            } else {
                let width = if columns >= MARGIN + 16 * 4 { 4 } else { 3 };
                band(&mut text, phase, 0..16, width);
                band(&mut text, phase, 16..32, width);
            }
        }
        if self.is_twice {
            text.push_str("each phase twice: once to read, once to write\n");
        }
        text
    }
}

/// Some of the banks.
fn band(text: &mut String, phase: &PhaseMap, banks: std::ops::Range<u32>, width: usize) {
    let is_there = |cell: &&Cell| cell.bank < banks.end && cell.bank + cell.n_banks > banks.start;
    let cells: Vec<&Cell> = phase.cells.iter().filter(is_there).collect();
    if cells.is_empty() {
        let (first, last) = (banks.start, banks.end - 1);
        text.push_str(&format!("bank {first}–{last}: not accessed\n"));
        return;
    }
    line(
        text,
        "bank",
        banks.clone().map(|bank| bank.to_string()),
        width,
    );
    let n_wavefronts = cells
        .iter()
        .map(|cell| cell.wavefront + 1)
        .max()
        .unwrap_or(0);
    for wavefront in 0..n_wavefronts.min(MOST_WAVEFRONTS) {
        let of_bank = |bank: u32| {
            let holds = |cell: &&&Cell| {
                cell.wavefront == wavefront && (cell.bank..cell.bank + cell.n_banks).contains(&bank)
            };
            match cells.iter().find(holds) {
                None => "·".to_owned(),
                Some(cell) if cell.bank != bank => "─".repeat(width),
                Some(cell) if cell.lanes.len() > 1 => format!("{}+", cell.lanes[0]),
                Some(cell) => cell.lanes[0].to_string(),
            }
        };
        line(
            text,
            &format!("{}", wavefront + 1),
            banks.clone().map(of_bank),
            width,
        );
    }
    if n_wavefronts > MOST_WAVEFRONTS {
        text.push_str(&format!(
            "   … {} more wavefronts\n",
            n_wavefronts - MOST_WAVEFRONTS
        ));
    }
}

fn line(text: &mut String, head: &str, cells: impl Iterator<Item = String>, width: usize) {
    let cells: String = cells.map(|cell| format!("{cell:>width$}")).collect();
    text.push_str(format!("{head:>4}: {cells}").trim_end());
    text.push('\n');
}
