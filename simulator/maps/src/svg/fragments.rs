//! A fragment map as a picture: each element with its lane, and its number in the lane.

use super::drawing::Drawing;
use crate::FragmentMap;

const CELL: (u32, u32) = (40, 26);
const LEFT: u32 = 56;

impl FragmentMap {
    /// The picture: the lane large, its element small; lane 0 stands out.
    pub fn svg(&self) -> String {
        let mut drawing = Drawing::new();
        drawing.heading("map-head", (4, 16), &self.summary());
        for column in 0..self.columns {
            let at = (LEFT + column * CELL.0 + CELL.0 / 2, 38);
            drawing.text("map-faint map-center", at, &column.to_string());
        }
        for row in 0..self.rows {
            let y = 44 + row * CELL.1;
            drawing.text(
                "map-faint map-end",
                (LEFT - 8, y + 17),
                &format!("row {row}"),
            );
            for column in 0..self.columns {
                let x = LEFT + column * CELL.0;
                let holder = self.holder(row, column);
                let (lane, element) = (holder.lane, holder.element);
                let told = format!("({row}, {column}): element {element} of lane {lane}");
                drawing.cell("map-none", (x, y), CELL, "");
                let (class, on) = match lane {
                    0 => ("map-conflict", "map-on-conflict"),
                    _ if lane / 4 % 2 == 0 => ("map-lane", "map-on-lane"),
                    _ => ("map-none", ""),
                };
                drawing.cell(class, (x + 1, y + 1), (CELL.0 - 2, CELL.1 - 2), &told);
                let class = format!("map-center {on}");
                drawing.text(&class, (x + CELL.0 / 2, y + 13), &lane.to_string());
                let class = format!("map-center map-small {on}");
                drawing.text(&class, (x + CELL.0 / 2, y + 23), &format!("#{element}"));
            }
        }
        drawing.finish("Fragment map", &self.summary())
    }
}
