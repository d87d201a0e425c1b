//! Accesses of a warp to a tile, by shape: a row, a column, matrices.
//!
//! A pattern is written `[OPERATION:]SHAPE[xWIDTH][:PLACE]`:
//!
//! | shape | lane `l` accesses |
//! |---|---|
//! | `row` | element `l` of a row, continuing in the next row where rows are shorter |
//! | `column` | element `l` of a column, continuing in the next column |
//! | `diagonal` | element `(l, l)`, wrapping around |
//! | `stride` | every `PLACE`-th element of the tile, row by row |
//! | `broadcast` | the first element |
//! | `ldmatrix.x1`, `.x2`, `.x4` | 16 bytes: a row of one of the 8×8 matrices of 16-bit elements; `.x4` has a block of 16 rows and 32 bytes |
//!
//! The operation is `load`, `store` or `atomic`; `ldmatrix` loads, and `stmatrix` stores. A
//! width of `x4` means four neighbouring elements per lane. A place is a row, a column, or for
//! matrices `ROW,COLUMN`; without one, every row or column of the tile is meant.

use std::fmt;
use std::str::FromStr;

use ptx_sim::AccessClass;
use ptx_sim::ir::Space;

use crate::{Access, Invalid, LANES, Layout, Tile};

/// Bytes of a row of a matrix that `ldmatrix` loads.
const MATRIX_ROW_BYTES: u32 = 16;
/// Rows of such a matrix.
const MATRIX_ROWS: u32 = 8;

/// Accesses of a warp to a tile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern {
    /// The operation.
    pub operation: Operation,
    /// The elements.
    pub shape: Shape,
    /// Neighbouring elements per lane.
    pub width: u32,
    /// The row, column or block; `None` means every one.
    pub place: Option<(u32, u32)>,
}

/// The operation of an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// `ld`, or `ldmatrix`.
    Load,
    /// `st`, or `stmatrix`.
    Store,
    /// `red`, `atom`.
    Atomic,
}

/// The elements that the lanes access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// Side by side.
    Row,
    /// One below another.
    Column,
    /// Along the diagonal.
    Diagonal,
    /// This many elements apart.
    Stride(u32),
    /// All lanes the same one.
    Broadcast,
    /// Rows of 1, 2 or 4 matrices.
    Matrices(u32),
}

impl Pattern {
    /// The accesses to a tile in shared memory that starts at address 0: one if a place is
    /// named, else all that are needed to cover the tile.
    ///
    /// # Errors
    ///
    /// The tile does not have the place, the layout does not suit it, or it tears apart what a lane
    /// accesses at once.
    pub fn accesses(&self, tile: &Tile, layout: &Layout) -> Result<Vec<Access>, Invalid> {
        let starts = match self.place {
            Some(place) => vec![self.start_of(tile, place)?],
            None => self.all_starts(tile)?,
        };
        let accesses = starts
            .into_iter()
            .map(|start| self.access(tile, layout, start));
        accesses.collect()
    }

    /// The first element that each lane accesses, at the named place or the
    /// first one.
    ///
    /// # Errors
    ///
    /// As [`accesses`](Self::accesses).
    pub fn elements(&self, tile: &Tile) -> Result<Vec<(u32, u32)>, Invalid> {
        let start = match self.place {
            Some(place) => self.start_of(tile, place)?,
            None => self.all_starts(tile)?.first().copied().unwrap_or_default(),
        };
        let elements = (0..LANES as u32).filter_map(|lane| self.element(tile, start, lane));
        Ok(elements.collect())
    }

    /// Elements that a lane accesses at once.
    pub fn vector(&self, tile: &Tile) -> u32 {
        match self.shape {
            Shape::Matrices(_) => (MATRIX_ROW_BYTES / tile.element_bytes()).max(1),
            _ => self.width,
        }
    }

    /// The starts of the accesses that cover the whole tile.
    fn all_starts(&self, tile: &Tile) -> Result<Vec<(u32, u32)>, Invalid> {
        self.check(tile)?;
        let (rows, columns) = (tile.rows(), tile.columns());
        let per_access = LANES as u32 * self.width;
        let step = |end: u32, step: u32| (0..end).step_by(step as usize);
        Ok(match self.shape {
            Shape::Row => step(tile.n_elements(), per_access)
                .map(|first| (first / columns, first % columns))
                .collect(),
            Shape::Column => step(columns / self.width * rows, LANES as u32)
                .map(|first| (first % rows, first / rows * self.width))
                .collect(),
            Shape::Diagonal | Shape::Stride(_) | Shape::Broadcast => vec![(0, 0)],
            Shape::Matrices(n) => {
                let (n_rows, n_columns) = self.block(tile, n);
                step(rows - rows % n_rows, n_rows)
                    .flat_map(|r| {
                        step(columns - columns % n_columns, n_columns).map(move |c| (r, c))
                    })
                    .collect()
            }
        })
    }

    /// The start of the access at a named place.
    fn start_of(&self, tile: &Tile, (row, column): (u32, u32)) -> Result<(u32, u32), Invalid> {
        self.check(tile)?;
        let (last_row, last_column) = match self.shape {
            Shape::Matrices(n) => {
                let (n_rows, n_columns) = self.block(tile, n);
                (row + n_rows - 1, column + n_columns - 1)
            }
            Shape::Column => (row, column + self.width - 1),
            _ => (row, column),
        };
        if tile.has(last_row, last_column) {
            return Ok((row, column));
        }
        Err(Invalid::because(format!(
            "`{self}` does not fit in a tile of {}×{} elements",
            tile.rows(),
            tile.columns()
        )))
    }

    /// Rows and columns of the block that matrices make up.
    fn block(&self, tile: &Tile, n: u32) -> (u32, u32) {
        let vector = self.vector(tile);
        match n {
            1 => (MATRIX_ROWS, vector),
            2 => (2 * MATRIX_ROWS, vector),
            _ => (2 * MATRIX_ROWS, 2 * vector),
        }
    }

    /// Checks that the tile has room for one such access.
    fn check(&self, tile: &Tile) -> Result<(), Invalid> {
        let bytes = self.vector(tile) * tile.element_bytes();
        if bytes > 16 || !bytes.is_power_of_two() {
            return Err(Invalid::because(format!(
                "`{self}` means {bytes} bytes per lane: an instruction has 1, 2, 4, 8 or 16"
            )));
        }
        if !tile.columns().is_multiple_of(self.vector(tile)) {
            return Err(Invalid::because(format!(
                "`{self}`: rows of {} elements are not a multiple of the {} that a lane accesses",
                tile.columns(),
                self.vector(tile)
            )));
        }
        if let Shape::Stride(n) = self.shape {
            let last = 31 * u64::from(n) + u64::from(self.vector(tile)) - 1;
            let n_elements = u64::from(tile.rows()) * u64::from(tile.columns());
            if last >= n_elements {
                return Err(Invalid::because(format!(
                    "`{self}`: a warp's last lane accesses element {last}; the tile has {n_elements}"
                )));
            }
        }
        if let Shape::Matrices(n) = self.shape {
            if tile.element_bytes() > 2 {
                return Err(Invalid::because(format!(
                    "`{self}` loads matrices of 16-bit elements, or pairs of bytes; the tile's have \
                     {} bytes",
                    tile.element_bytes()
                )));
            }
            let (rows, columns) = self.block(tile, n);
            if rows > tile.rows() || columns > tile.columns() {
                return Err(Invalid::because(format!(
                    "`{self}` needs {rows} rows and {columns} columns; the tile has {} and {}",
                    tile.rows(),
                    tile.columns()
                )));
            }
        }
        Ok(())
    }

    /// The first element that a lane accesses, if it is active.
    fn element(&self, tile: &Tile, (row, column): (u32, u32), lane: u32) -> Option<(u32, u32)> {
        let (rows, columns) = (tile.rows(), tile.columns());
        let (row, column) = match self.shape {
            Shape::Row => {
                let at = row * columns + column + lane * self.width;
                (at / columns, at % columns)
            }
            Shape::Column => {
                let at = row + lane;
                (at % rows, column + at / rows * self.width)
            }
            Shape::Diagonal => (lane % rows, lane * self.width % columns),
            Shape::Stride(n) => {
                let at = lane.checked_mul(n)?;
                (at / columns, at % columns)
            }
            Shape::Broadcast => (row, column),
            Shape::Matrices(n) => {
                if lane >= MATRIX_ROWS * n {
                    return None;
                }
                let half = lane / (2 * MATRIX_ROWS);
                let of_row = lane % (2 * MATRIX_ROWS);
                (row + of_row, column + half * self.vector(tile))
            }
        };
        tile.has(row, column + self.vector(tile) - 1)
            .then_some((row, column))
    }

    fn access(&self, tile: &Tile, layout: &Layout, start: (u32, u32)) -> Result<Access, Invalid> {
        let (mut mask, mut addresses) = (0, [0; LANES]);
        let vector = self.vector(tile);
        for (lane, address) in addresses.iter_mut().enumerate() {
            let Some((row, column)) = self.element(tile, start, lane as u32) else {
                continue;
            };
            let place = layout.place(tile, row, column)?;
            let is_whole = (1..vector)
                .map(|i| layout.place(tile, row, column + i))
                .zip(place + 1..)
                .all(|(found, expected)| found == Ok(expected));
            if !is_whole || !place.is_multiple_of(vector) {
                return Err(Invalid::because(format!(
                    "`{layout}` tears apart, or leaves unaligned, the {} bytes at ({row}, {column}) \
                     that a lane of `{self}` accesses at once",
                    vector * tile.element_bytes()
                )));
            }
            mask |= 1 << lane;
            *address = u64::from(place * tile.element_bytes());
        }
        let bytes = vector * tile.element_bytes();
        let class = self.class();
        Ok(Access::new(class, Space::Shared, bytes, mask, addresses))
    }

    fn class(&self) -> AccessClass {
        match (self.shape, self.operation) {
            (Shape::Matrices(_), Operation::Store) => AccessClass::StoreMatrix,
            (Shape::Matrices(_), _) => AccessClass::LoadMatrix,
            (_, Operation::Load) => AccessClass::Load,
            (_, Operation::Store) => AccessClass::Store,
            (_, Operation::Atomic) => AccessClass::Reduction,
        }
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.operation, self.shape) {
            (Operation::Store, Shape::Matrices(n)) => write!(f, "stmatrix.x{n}")?,
            (_, Shape::Matrices(n)) => write!(f, "ldmatrix.x{n}")?,
            (Operation::Load, _) => {}
            (Operation::Store, _) => f.write_str("store:")?,
            (Operation::Atomic, _) => f.write_str("atomic:")?,
        }
        f.write_str(match self.shape {
            Shape::Row => "row",
            Shape::Column => "column",
            Shape::Diagonal => "diagonal",
            Shape::Stride(_) => "stride",
            Shape::Broadcast => "broadcast",
            Shape::Matrices(_) => "",
        })?;
        if self.width > 1 {
            write!(f, "x{}", self.width)?;
        }
        match (self.shape, self.place) {
            (Shape::Stride(n), _) => write!(f, ":{n}"),
            (Shape::Matrices(_), Some((row, column))) => write!(f, ":{row},{column}"),
            (Shape::Row, Some((row, _))) => write!(f, ":{row}"),
            (Shape::Column, Some((_, column))) => write!(f, ":{column}"),
            _ => Ok(()),
        }
    }
}

impl FromStr for Pattern {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        let unknown = || {
            Invalid::because(format!(
                "`{text}` is not an access; these are: row, column, diagonal, stride:N, broadcast, \
                 ldmatrix.x4; with store: or atomic: in front, x4 after the name for four elements \
                 per lane, and :N for the N-th row or column"
            ))
        };
        let (operation, rest) = match text.split_once(':') {
            Some(("load", rest)) => (Operation::Load, rest),
            Some(("store", rest)) => (Operation::Store, rest),
            Some(("atomic", rest)) => (Operation::Atomic, rest),
            _ => (Operation::Load, text),
        };
        let (name, place) = match rest.split_once(':') {
            Some((name, place)) => (name, Some(place)),
            None => (rest, None),
        };
        if let Some(n) = matrices(name) {
            let (n, operation) = n.ok_or_else(unknown)?;
            let place = place
                .map(|place| pair(place).ok_or_else(unknown))
                .transpose()?;
            return Ok(Self {
                operation,
                shape: Shape::Matrices(n),
                width: 1,
                place,
            });
        }
        let (name, width) = match name.rsplit_once('x') {
            Some((name, width)) => (name, width.parse().map_err(|_| unknown())?),
            None => (name, 1),
        };
        let number = place
            .map(|n| n.parse().map_err(|_| unknown()))
            .transpose()?;
        let (shape, place) = match (name, number) {
            ("row", n) => (Shape::Row, n.map(|n| (n, 0))),
            ("column", n) => (Shape::Column, n.map(|n| (0, n))),
            ("diagonal", None) => (Shape::Diagonal, None),
            ("broadcast", None) => (Shape::Broadcast, None),
            ("stride", Some(n)) => (Shape::Stride(n), None),
            _ => return Err(unknown()),
        };
        if width == 0 || width > 16 {
            return Err(unknown());
        }
        Ok(Self {
            operation,
            shape,
            width,
            place,
        })
    }
}

/// The number of matrices of `ldmatrix.x4` and similar, and the operation on them; `None` for
/// other names.
fn matrices(name: &str) -> Option<Option<(u32, Operation)>> {
    let (operation, rest) = match name.strip_prefix("ldmatrix") {
        Some(rest) => (Operation::Load, rest),
        None => (Operation::Store, name.strip_prefix("stmatrix")?),
    };
    Some(match rest {
        "" | ".x4" => Some((4, operation)),
        ".x2" => Some((2, operation)),
        ".x1" => Some((1, operation)),
        _ => None,
    })
}

fn pair(text: &str) -> Option<(u32, u32)> {
    let (a, b) = text.split_once(',')?;
    Some((a.trim().parse().ok()?, b.trim().parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::Pattern;
    use crate::{Layout, Tile};

    fn pattern(text: &str) -> Pattern {
        text.parse().unwrap()
    }

    /// Bank conflicts of all accesses.
    fn conflicts(tile: (u32, u32, u32), access: &str, layout: &str) -> u32 {
        let tile = Tile::new(tile.0, tile.1, tile.2).unwrap();
        let layout: Layout = layout.parse().unwrap();
        let accesses = pattern(access).accesses(&tile, &layout).unwrap();
        let conflicts = accesses.iter().map(|access| access.shared_cost().conflicts);
        conflicts.sum()
    }

    #[test]
    fn names_are_read_as_they_are_written() {
        let names = "row row:3 rowx4 column store:columnx2:4 atomic:broadcast diagonal stride:32 \
            ldmatrix.x4 ldmatrix.x2:16,8 stmatrix.x1";
        for name in names.split(' ') {
            assert_eq!(pattern(name).to_string(), name);
        }
        assert_eq!(pattern("ldmatrix"), pattern("ldmatrix.x4"));
    }

    #[test]
    fn what_is_no_access_is_told() {
        let wrong =
            " rows row:x rowx rowx0 rowx99 stride diagonal:3 ldmatrix.x3 ldmatrix:1 swap:row";
        // The first is empty.
        for wrong in wrong.split(' ') {
            assert!(wrong.parse::<Pattern>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn what_does_not_fit_is_told() {
        let tile = Tile::new(8, 8, 2).unwrap();
        let fails = |access: &str, tile: &Tile, layout: &str| {
            let layout: Layout = layout.parse().unwrap();
            pattern(access).accesses(tile, &layout).unwrap_err().0
        };
        assert!(fails("ldmatrix.x4", &tile, "plain").contains("16 rows"));
        assert!(fails("row:8", &tile, "plain").contains("does not fit"));
        assert!(fails("stride:3", &tile, "plain").contains("element 93; the tile has 64"));
        pattern("stride:2")
            .accesses(&tile, &Layout::Plain)
            .expect("its last lane accesses element 62");
        assert!(fails("rowx16", &tile, "plain").contains("32 bytes per lane"));
        assert!(fails("columnx4", &tile, "swizzle:1,1,3").contains("tears apart"));
        assert!(fails("ldmatrix.x1", &tile, "pad:1").contains("tears apart"));
        let words = Tile::new(16, 16, 4).unwrap();
        assert!(fails("ldmatrix.x1", &words, "plain").contains("16-bit"));
    }

    /// The catalogue's cases.
    #[test]
    fn known_conflicts() {
        assert_eq!(conflicts((32, 32, 4), "column:0", "plain"), 31);
        assert_eq!(conflicts((32, 32, 4), "column", "plain"), 31 * 32);
        assert_eq!(conflicts((32, 32, 4), "column", "pad:1"), 0);
        assert_eq!(conflicts((32, 32, 4), "column", "swizzle:5,0,5"), 0);
        assert_eq!(conflicts((32, 32, 4), "row", "swizzle:5,0,5"), 0);
        // A tile of 32 rows and 16 columns: 16-way, 2-way by rows, none by lines.
        assert_eq!(conflicts((32, 16, 4), "column:0", "plain"), 15);
        assert_eq!(conflicts((32, 16, 4), "column:0", "swizzle:4,0,4"), 1);
        assert_eq!(conflicts((32, 16, 4), "column:0", "xor"), 0);
        assert_eq!(conflicts((32, 16, 4), "column:0", "xor:4,64"), 1);
        // Tiles of matrices.
        assert_eq!(conflicts((16, 16, 2), "ldmatrix", "plain"), 4);
        assert_eq!(conflicts((16, 16, 2), "ldmatrix", "swizzle:1,3,3"), 0);
        assert_eq!(conflicts((16, 32, 2), "ldmatrix", "plain"), 24);
        assert_eq!(conflicts((16, 32, 2), "ldmatrix", "swizzle:2,3,3"), 0);
        assert_eq!(conflicts((16, 64, 2), "ldmatrix:0,0", "plain"), 28);
        assert_eq!(conflicts((16, 64, 2), "ldmatrix", "plain"), 112);
        assert_eq!(conflicts((16, 64, 2), "ldmatrix", "swizzle:3,3,3"), 0);
    }

    #[test]
    fn all_accesses_together_go_over_the_tile_once() {
        for (access, tile) in [
            ("row", Tile::new(10, 7, 4).unwrap()),
            ("column", Tile::new(10, 7, 4).unwrap()),
            ("rowx4", Tile::new(16, 8, 4).unwrap()),
            ("columnx2", Tile::new(5, 8, 4).unwrap()),
            ("ldmatrix.x4", Tile::new(32, 32, 2).unwrap()),
            ("ldmatrix.x1", Tile::new(16, 16, 2).unwrap()),
        ] {
            let mut seen = vec![0; tile.n_elements() as usize];
            for access in pattern(access).accesses(&tile, &Layout::Plain).unwrap() {
                let elements = access.bytes / tile.element_bytes();
                for lane in crate::lanes(access.mask) {
                    let first = access.addresses[lane] as u32 / tile.element_bytes();
                    for at in first..first + elements {
                        seen[at as usize] += 1;
                    }
                }
            }
            let is_once = seen.iter().all(|&n| n == 1);
            assert!(is_once, "{access} of {tile:?}: {seen:?}");
        }
    }
}
