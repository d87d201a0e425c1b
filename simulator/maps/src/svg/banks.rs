//! A bank map as a picture: a column for each bank, a row for each wavefront.

use super::drawing::Drawing;
use crate::banks::{Cell, PhaseMap};
use crate::{BANKS, BankMap, lanes_in_words};

const CELL: (u32, u32) = (24, 20);
const LEFT: u32 = 84;
const HEAD: u32 = 24;

impl BankMap {
    /// The picture, its phases one below another. Each is a group of class `phase`, numbered
    /// from 0 by its attribute `data-phase`.
    pub fn svg(&self) -> String {
        self.draw(0..self.phases.len())
    }

    /// The picture of one phase, from 0; an empty one if there is no phase with that number.
    pub fn svg_of_phase(&self, number: usize) -> String {
        self.draw(number..self.phases.len().min(number + 1))
    }

    fn draw(&self, phases: std::ops::Range<usize>) -> String {
        let mut drawing = Drawing::new();
        drawing.heading("map-head", (4, 16), &self.summary());
        let mut y = HEAD;
        for number in phases {
            drawing.open("phase", number);
            y = self.draw_phase(&mut drawing, number, y) + 12;
            drawing.close();
        }
        drawing.finish("Bank map", &self.summary())
    }

    /// Draws a phase from `top` on; returns its lower end.
    fn draw_phase(&self, drawing: &mut Drawing, number: usize, top: u32) -> u32 {
        let phase = &self.phases[number];
        let mut y = top;
        if self.phases.len() > 1 {
            let lanes: Vec<u8> = crate::lanes(phase.lanes).map(|lane| lane as u8).collect();
            let (number, n) = (number + 1, self.phases.len());
            let lanes = lanes_in_words(&lanes);
            drawing.text(
                "",
                (4, y + 14),
                &format!("phase {number} of {n}: lanes {lanes}"),
            );
            y += 20;
        }
        drawing.text("map-faint map-end", (LEFT - 8, y + 13), "bank");
        for bank in 0..BANKS {
            let at = (LEFT + bank * CELL.0 + CELL.0 / 2, y + 13);
            drawing.text("map-faint map-center", at, &bank.to_string());
        }
        y += 18;
        for wavefront in 0..phase.wavefronts {
            let text = format!("wavefront {}", wavefront + 1);
            drawing.text("map-faint map-end", (LEFT - 8, y + 14), &text);
            self.draw_wavefront(drawing, phase, wavefront, y);
            y += CELL.1;
        }
        y
    }

    fn draw_wavefront(&self, drawing: &mut Drawing, phase: &PhaseMap, wavefront: u32, y: u32) {
        for bank in 0..BANKS {
            drawing.cell("map-none", (LEFT + bank * CELL.0, y), CELL, "");
        }
        for cell in phase
            .cells
            .iter()
            .filter(|cell| cell.wavefront == wavefront)
        {
            let kind = if wavefront == 0 { "lane" } else { "conflict" };
            let width = cell.n_banks.min(BANKS - cell.bank) * CELL.0;
            let x = LEFT + cell.bank * CELL.0;
            let inner = ((x + 1, y + 1), (width - 2, CELL.1 - 2));
            drawing.cell(&format!("map-{kind}"), inner.0, inner.1, &told(cell));
            let text = match cell.lanes.as_slice() {
                [lane] => lane.to_string(),
                [first, ..] => format!("{first}+"),
                [] => String::new(),
            };
            let class = format!("map-center map-on-{kind}");
            drawing.text(&class, (x + width / 2, y + 14), &text);
        }
    }
}

/// A cell in words.
fn told(cell: &Cell) -> String {
    let lanes = lanes_in_words(&cell.lanes);
    let plural = if cell.lanes.len() == 1 {
        "lane"
    } else {
        "lanes"
    };
    let banks = match cell.n_banks {
        1 => format!("bank {}", cell.bank),
        n => format!("banks {}–{}", cell.bank, cell.bank + n - 1),
    };
    format!(
        "{plural} {lanes}: {banks}, byte {} of shared memory, wavefront {}",
        cell.address,
        cell.wavefront + 1
    )
}
