//! A tile of a matrix in memory: rows, columns, and the size of an element.

use crate::Invalid;

/// Maximum number of elements of a tile: more than fit any block's shared memory.
const MOST_ELEMENTS: u32 = 1 << 18;

/// A tile, row by row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tile {
    rows: u32,
    columns: u32,
    element_bytes: u32,
}

impl Tile {
    /// A tile of elements of 1, 2, 4, 8 or 16 bytes.
    ///
    /// # Errors
    ///
    /// It is empty or too large, or the element size is not one of these.
    pub fn new(rows: u32, columns: u32, element_bytes: u32) -> Result<Self, Invalid> {
        if rows == 0 || columns == 0 {
            return Err(Invalid::because(
                "a tile has at least one row and one column",
            ));
        }
        if !matches!(element_bytes, 1 | 2 | 4 | 8 | 16) {
            return Err(Invalid::because(format!(
                "an element has 1, 2, 4, 8 or 16 bytes, not {element_bytes}"
            )));
        }
        match rows.checked_mul(columns) {
            Some(n) if n <= MOST_ELEMENTS => Ok(Self {
                rows,
                columns,
                element_bytes,
            }),
            _ => Err(Invalid::because(format!(
                "a tile of {rows}×{columns} elements is not a tile in shared memory, which has \
                 at most {MOST_ELEMENTS} elements"
            ))),
        }
    }

    /// Its rows.
    pub fn rows(&self) -> u32 {
        self.rows
    }

    /// Its columns.
    pub fn columns(&self) -> u32 {
        self.columns
    }

    /// Bytes of an element.
    pub fn element_bytes(&self) -> u32 {
        self.element_bytes
    }

    /// How many elements it has.
    pub fn n_elements(&self) -> u32 {
        self.rows * self.columns
    }

    /// Whether it has an element `(row, column)`.
    pub fn has(&self, row: u32, column: u32) -> bool {
        row < self.rows && column < self.columns
    }
}

/// The size in bytes of a type's elements by its name in Rust, such as `f32`.
///
/// # Errors
///
/// It is not a type that kernels use.
pub fn element_bytes(name: &str) -> Result<u32, Invalid> {
    Ok(match name {
        "u8" | "i8" | "fp8" | "e4m3" | "e5m2" => 1,
        "u16" | "i16" | "f16" | "bf16" => 2,
        "u32" | "i32" | "f32" | "tf32" | "f16x2" | "bf16x2" => 4,
        "u64" | "i64" | "f64" | "f32x2" => 8,
        "u128" | "i128" | "f32x4" => 16,
        other => {
            return Err(Invalid::because(format!(
                "`{other}` is not a type of elements; some are: u8, f16, bf16, u32, f32, u64, f64, \
                 f32x4"
            )));
        }
    })
}

#[cfg(test)]
mod tests {
    use super::{Tile, element_bytes};

    #[test]
    fn tiles_that_make_no_sense_are_refused() {
        assert!(Tile::new(0, 4, 4).is_err());
        assert!(Tile::new(4, 4, 3).is_err());
        assert!(Tile::new(u32::MAX, u32::MAX, 4).is_err());
        assert_eq!(Tile::new(3, 5, 2).unwrap().n_elements(), 15);
    }

    #[test]
    fn types_have_sizes() {
        assert_eq!(element_bytes("bf16"), Ok(2));
        assert!(element_bytes("float").is_err());
    }
}
