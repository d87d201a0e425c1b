//! The places of a tile's elements in memory.
//!
//! | name | element `(row, column)` lies at |
//! |---|---|
//! | `plain` | `row · columns + column` |
//! | `pad:N` | the same with rows `N` elements longer |
//! | `swizzle:B,M,S` | the plain place with bits `[M, M+B)` XORed with bits `[M+S, M+S+B)`, in CuTe's notation, counted in elements; `+` composes several, applied from the left |
//! | `xor`, `xor:CHUNK,LINE` | the vector of `CHUNK` bytes with number `c` in line `l` of `LINE` bytes is at `c ^ l` |
//! | `shift`, `shift:CHUNK,LINE` | the same at `c + l`, wrapping around |
//!
//! `xor` and `shift` alone use vectors of one element and lines of 128 bytes, all the banks.

use std::fmt;
use std::str::FromStr;

use crate::{Invalid, LINE_BYTES, Tile};

/// The places of a tile's elements in memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Layout {
    /// Row by row.
    Plain,
    /// Rows this many elements longer.
    Padded(u32),
    /// Permutations of the plain places, one after another.
    Swizzled(Vec<Bits>),
    /// Permuted vectors within a line, by XOR.
    Xor(Chunks),
    /// The same by addition.
    Shift(Chunks),
}

/// Bits `[base, base + bits)` are XORed with those `distance` higher.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bits {
    /// The number of bits: CuTe's B.
    pub bits: u32,
    /// The lowest one: CuTe's M.
    pub base: u32,
    /// CuTe's S.
    pub distance: u32,
}

/// The unit that stays together, and the unit of the pattern, in bytes. Zero stands for the
/// default: an element, and all the banks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Chunks {
    /// Bytes of a vector that stays together.
    pub chunk_bytes: u32,
    /// Bytes of a line, whose vectors change places.
    pub line_bytes: u32,
}

impl Bits {
    /// The new place of an offset.
    pub fn apply(self, offset: u32) -> u32 {
        let mask = ((1 << self.bits) - 1) << self.base;
        offset ^ (offset >> self.distance & mask)
    }

    /// The new place of an offset in a tile.
    fn apply_in(self, tile: &Tile, offset: u32) -> Result<u32, Invalid> {
        let last = tile.n_elements() - 1;
        let lowest = self.base + self.distance;
        if self.bits > 0 && last >> lowest == 0 {
            return Err(Invalid::because(format!(
                "{self} changes nothing here: it XORs bits of an offset from bit {lowest} on, and \
                 none of them is in this tile of {} elements",
                tile.n_elements()
            )));
        }
        Ok(self.apply(offset))
    }

    fn check(self) -> Result<(), Invalid> {
        let sum: u64 = [self.bits, self.base, self.distance]
            .map(u64::from)
            .iter()
            .sum();
        let wrong = if self.distance < self.bits {
            "S must be at least B, or bits are XORed with themselves"
        } else if sum >= 32 {
            "B + M + S must be less than 32, the bits of an offset"
        } else {
            return Ok(());
        };
        Err(Invalid(format!("{self}: {wrong}")))
    }
}

impl Chunks {
    /// Elements of a chunk and of a line of a tile.
    fn in_elements(self, tile: &Tile) -> Result<(u32, u32), Invalid> {
        let element = tile.element_bytes();
        let or = |bytes: u32, usual: u32| if bytes == 0 { usual } else { bytes };
        let chunk = or(self.chunk_bytes, element);
        let line = or(self.line_bytes, LINE_BYTES);
        let row = tile.columns() * element;
        let wrong = if !tile.columns().is_power_of_two() {
            format!(
                "rows of {} elements: XOR and shift need a power of two",
                tile.columns()
            )
        } else if !chunk.is_power_of_two() || !line.is_power_of_two() {
            "vectors and lines have a power of two of bytes".to_owned()
        } else if chunk < element {
            format!("a vector of {chunk} bytes holds no element of {element}")
        } else if row < chunk {
            format!("a row of {row} bytes holds no vector of {chunk}")
        } else if row > line {
            format!(
                "rows of {row} bytes are longer than a line of {line}: vectors of the same number \
                 in two lines of a row would meet; name a longer line, as in xor:{chunk},{row}"
            )
        } else {
            return Ok((chunk / element, line / element));
        };
        Err(Invalid(wrong))
    }
}

impl Layout {
    /// The place of element `(row, column)` of a tile, in elements.
    ///
    /// # Errors
    ///
    /// The layout does not suit this tile.
    pub fn place(&self, tile: &Tile, row: u32, column: u32) -> Result<u32, Invalid> {
        let plain = row * tile.columns() + column;
        Ok(match self {
            Self::Plain => plain,
            Self::Padded(n) => row * (tile.columns() + n) + column,
            Self::Swizzled(steps) => steps
                .iter()
                .try_fold(plain, |offset, step| step.apply_in(tile, offset))?,
            Self::Xor(chunks) => {
                let (chunk, line) = chunks.in_elements(tile)?;
                in_line(tile, plain, (chunk, line), |c, l| c ^ l)
            }
            Self::Shift(chunks) => {
                let (chunk, line) = chunks.in_elements(tile)?;
                in_line(tile, plain, (chunk, line), |c, l| c + l)
            }
        })
    }

    /// Elements of memory that a tile takes.
    ///
    /// # Errors
    ///
    /// The layout does not suit this tile.
    pub fn n_places(&self, tile: &Tile) -> Result<u32, Invalid> {
        Ok(1 + self.all_places(tile)?.into_iter().max().unwrap_or(0))
    }

    /// The places of all elements, row by row.
    ///
    /// # Errors
    ///
    /// The layout does not suit this tile.
    pub fn all_places(&self, tile: &Tile) -> Result<Vec<u32>, Invalid> {
        let elements = (0..tile.rows()).flat_map(|r| (0..tile.columns()).map(move |c| (r, c)));
        elements.map(|(r, c)| self.place(tile, r, c)).collect()
    }

    /// Elements that stay neighbours everywhere: the longest aligned run, a power of
    /// two, of at most 16 bytes, that lies at multiples of its length everywhere.
    ///
    /// # Errors
    ///
    /// The layout does not suit this tile.
    pub fn vector(&self, tile: &Tile) -> Result<u32, Invalid> {
        let places = self.all_places(tile)?;
        let mut length = 16 / tile.element_bytes();
        while length > 1 {
            let holds = tile.columns().is_multiple_of(length)
                && places.chunks_exact(length as usize).all(|run| {
                    let neighbours = run.windows(2).all(|pair| pair[1] == pair[0] + 1);
                    neighbours && run[0].is_multiple_of(length)
                });
            if holds {
                break;
            }
            length /= 2;
        }
        Ok(length)
    }
}

/// The place of the element at `plain`, its chunk moved within its line's row by `at`.
fn in_line(
    tile: &Tile,
    plain: u32,
    (chunk, line): (u32, u32),
    at: impl Fn(u32, u32) -> u32,
) -> u32 {
    let number = plain / chunk;
    let per_line = line / chunk;
    let (of_line, in_line) = (number / per_line, number % per_line);
    let row_start = plain / tile.columns() * tile.columns();
    row_start + at(in_line, of_line) * chunk % tile.columns() + plain % chunk
}

impl fmt::Display for Bits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "swizzle:{},{},{}", self.bits, self.base, self.distance)
    }
}

impl fmt::Display for Layout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let chunks = |f: &mut fmt::Formatter<'_>, name: &str, chunks: &Chunks| match chunks {
            Chunks {
                chunk_bytes: 0,
                line_bytes: 0,
            } => f.write_str(name),
            _ => write!(f, "{name}:{},{}", chunks.chunk_bytes, chunks.line_bytes),
        };
        match self {
            Self::Plain => f.write_str("plain"),
            Self::Padded(n) => write!(f, "pad:{n}"),
            Self::Swizzled(steps) => {
                let steps: Vec<String> = steps.iter().map(Bits::to_string).collect();
                f.write_str(&steps.join("+"))
            }
            Self::Xor(c) => chunks(f, "xor", c),
            Self::Shift(c) => chunks(f, "shift", c),
        }
    }
}

impl FromStr for Layout {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        let unknown = || {
            Invalid::because(format!(
                "`{text}` is not a layout; these are: plain, pad:N, swizzle:B,M,S, xor, shift"
            ))
        };
        let (name, rest) = text.split_once(':').unwrap_or((text, ""));
        match name {
            "plain" if rest.is_empty() => Ok(Self::Plain),
            "pad" => rest.parse().map(Self::Padded).map_err(|_| unknown()),
            "swizzle" => text
                .split('+')
                .map(|step| {
                    let step = bits(step).ok_or_else(unknown)?;
                    step.check().map(|()| step)
                })
                .collect::<Result<_, _>>()
                .map(Self::Swizzled),
            "xor" => chunks(rest).map(Self::Xor).ok_or_else(unknown),
            "shift" => chunks(rest).map(Self::Shift).ok_or_else(unknown),
            _ => Err(unknown()),
        }
    }
}

/// `swizzle:B,M,S`.
fn bits(step: &str) -> Option<Bits> {
    let numbers = step.strip_prefix("swizzle:")?.split(',');
    let numbers: Vec<u32> = numbers
        .map(|n| n.trim().parse().ok())
        .collect::<Option<_>>()?;
    let &[bits, base, distance] = numbers.as_slice() else {
        return None;
    };
    Some(Bits {
        bits,
        base,
        distance,
    })
}

/// Nothing, or `CHUNK,LINE`.
fn chunks(rest: &str) -> Option<Chunks> {
    if rest.is_empty() {
        return Some(Chunks::default());
    }
    let (chunk, line) = rest.split_once(',')?;
    Some(Chunks {
        chunk_bytes: chunk.trim().parse().ok().filter(|&n| n > 0)?,
        line_bytes: line.trim().parse().ok().filter(|&n| n > 0)?,
    })
}

#[cfg(test)]
mod tests {
    use super::Layout;
    use crate::Tile;
    use std::collections::BTreeSet;

    fn layout(text: &str) -> Layout {
        text.parse().unwrap()
    }

    #[test]
    fn names_are_read_as_they_are_written() {
        let names = "plain pad:1 swizzle:3,4,3 swizzle:3,3,5+swizzle:1,3,3 xor xor:16,128 shift";
        for name in names.split(' ') {
            assert_eq!(layout(name).to_string(), name);
        }
    }

    #[test]
    fn what_is_no_layout_is_told() {
        let wrong = " pad pad:x swizzle swizzle:1,2 swizzle:3,0,2 swizzle:9,9,14 \
            swizzle:4294967295,1,4294967295 xor:16 xor:0,128 plain:1 swirl";
        // The first is empty.
        for wrong in wrong.split(' ') {
            assert!(wrong.parse::<Layout>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn every_layout_is_one_to_one() {
        let names = "plain pad:1 pad:8 swizzle:1,3,3 swizzle:3,2,3 xor shift";
        let tiles = [
            [32, 32, 4],
            [32, 16, 4],
            [16, 16, 2],
            [16, 64, 2],
            [8, 16, 8],
        ];
        for [rows, columns, bytes] in tiles {
            let tile = Tile::new(rows, columns, bytes).unwrap();
            for name in names.split(' ') {
                let places = layout(name).all_places(&tile).unwrap();
                let distinct: BTreeSet<_> = places.iter().collect();
                assert_eq!(distinct.len(), places.len(), "{name} of {tile:?}");
            }
        }
    }

    #[test]
    fn a_square_of_words_by_xor_is_column_xor_row() {
        let tile = Tile::new(32, 32, 4).unwrap();
        for (row, column) in [(0, 5), (9, 5), (31, 31)] {
            let by_xor = layout("xor").place(&tile, row, column).unwrap();
            assert_eq!(by_xor, row * 32 + (column ^ row));
            let swizzled = layout("swizzle:5,0,5").place(&tile, row, column);
            assert_eq!(swizzled, Ok(by_xor));
            let by_shift = layout("shift").place(&tile, row, column).unwrap();
            assert_eq!(by_shift, row * 32 + (column + row) % 32);
        }
    }

    #[test]
    fn rows_that_xor_would_leave_are_refused() {
        let odd = Tile::new(32, 24, 4).unwrap();
        assert!(layout("xor").place(&odd, 0, 0).is_err());
        let long = Tile::new(8, 64, 4).unwrap();
        assert!(layout("xor").place(&long, 0, 0).is_err());
        assert!(layout("xor:4,256").place(&long, 0, 0).is_ok());
    }

    #[test]
    fn swizzles_that_change_nothing_are_refused() {
        let tile = Tile::new(32, 32, 4).unwrap();
        let place = |name: &str| layout(name).place(&tile, 3, 7);
        for name in [
            "swizzle:9,9,9",
            "swizzle:1,5,5",
            "swizzle:5,0,5+swizzle:5,5,5",
        ] {
            let error = place(name).expect_err(name).to_string();
            let why = "none of them is in this tile of 1024";
            assert!(error.contains(why), "{error}");
        }
        // The highest bit of an offset is XORed.
        assert!(place("swizzle:1,4,5").is_ok());
        // CuTe's name for no swizzle.
        assert_eq!(place("swizzle:0,4,9"), Ok(3 * 32 + 7));
    }

    #[test]
    fn vectors_are_what_stays_together() {
        let tile = Tile::new(16, 64, 2).unwrap();
        let vector = |name: &str| layout(name).vector(&tile).unwrap();
        assert_eq!(vector("plain"), 8);
        assert_eq!(vector("swizzle:3,3,3"), 8);
        assert_eq!(vector("swizzle:1,1,3"), 2);
        assert_eq!(vector("pad:1"), 1);
        assert_eq!(vector("pad:2"), 2);
    }
}
