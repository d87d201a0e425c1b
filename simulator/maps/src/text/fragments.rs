//! A fragment map as text: `5:2` is element 2 of lane 5.

use crate::FragmentMap;

impl FragmentMap {
    /// The holder of each element; it takes at most 100 columns.
    pub fn text(&self) -> String {
        let mut text = self.summary();
        text.push('\n');
        for row in 0..self.rows {
            text.push_str(&format!("row {row:>2}:"));
            for column in 0..self.columns {
                let holder = self.holder(row, column);
                text.push_str(&format!(
                    "{:>5}",
                    format!("{}:{}", holder.lane, holder.element)
                ));
            }
            text.push('\n');
        }
        text
    }
}
