//! The shape of a view: the number and the order of its elements.

/// The extents of a view: which indices it has, and where their elements lie.
///
/// # Safety
///
/// Different indices have different offsets, and every offset is less than `n_elements`,
/// if that fits in 32 bits. The offsets of a line's places are those of the indices along it.
pub unsafe trait Shape: Copy {
    /// The index that names an element.
    type Index: Copy;

    /// The element's distance from the first one, if there is such an element.
    fn offset(self, index: Self::Index) -> Option<usize>;

    /// The line with the index, and the index's place there: the whole array, or a row of a
    /// matrix.
    #[doc(hidden)]
    fn line(self, index: Self::Index) -> (Line, u32);

    /// Elements of memory that the view takes up.
    fn n_elements(self) -> u64;
}

/// Adjacent elements of a view. For [`Shape`].
#[doc(hidden)]
#[derive(Clone, Copy)]
pub struct Line {
    /// The first one's offset.
    pub first: usize,
    pub length: Length,
}

/// Elements in a row: `[T; n]`.
#[derive(Clone, Copy, Debug)]
pub struct Length {
    n_elements: u32,
}

impl Length {
    /// This many elements.
    #[inline(always)]
    pub const fn new(n_elements: u32) -> Self {
        Self { n_elements }
    }
}

// SAFETY: the index is the offset, and tested.
unsafe impl Shape for Length {
    type Index = u32;

    #[inline(always)]
    fn offset(self, index: u32) -> Option<usize> {
        (index < self.n_elements).then_some(index as usize)
    }

    #[inline(always)]
    fn line(self, index: u32) -> (Line, u32) {
        let whole = Line {
            first: 0,
            length: self,
        };
        (whole, index)
    }

    fn n_elements(self) -> u64 {
        self.n_elements.into()
    }
}

/// A matrix, row after row: `[[T; n_columns]; n_rows]`. Its elements are named by
/// `(row, column)`.
#[derive(Clone, Copy, Debug)]
pub struct Rows {
    n_rows: u32,
    n_columns: u32,
}

impl Rows {
    /// This many rows, each of this many columns.
    #[inline(always)]
    pub const fn new(n_rows: u32, n_columns: u32) -> Self {
        Self { n_rows, n_columns }
    }
}

// SAFETY: within the matrix, `row * n_columns + column` is one-to-one and less than
// `n_rows * n_columns`; it does not wrap if that product does not.
unsafe impl Shape for Rows {
    type Index = (u32, u32);

    #[inline(always)]
    fn offset(self, (row, column): (u32, u32)) -> Option<usize> {
        (row < self.n_rows && column < self.n_columns)
            .then(|| (row * self.n_columns + column) as usize)
    }

    /// A row; without elements, if there is no such row.
    #[inline(always)]
    fn line(self, (row, column): (u32, u32)) -> (Line, u32) {
        let (first, length) = match row < self.n_rows {
            true => ((row * self.n_columns) as usize, self.n_columns),
            false => (0, 0),
        };
        let length = Length::new(length);
        (Line { first, length }, column)
    }

    fn n_elements(self) -> u64 {
        u64::from(self.n_rows) * u64::from(self.n_columns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    extern crate std;
    use std::collections::BTreeSet;

    #[test]
    fn a_matrix_has_an_offset_for_each_element_and_for_nothing_else() {
        for (n_rows, n_columns) in [(1, 1), (3, 5), (5, 3), (0, 4), (4, 0), (1, 7)] {
            let shape = Rows::new(n_rows, n_columns);
            let indices =
                (0..=n_rows + 1).flat_map(|row| (0..=n_columns + 1).map(move |c| (row, c)));
            let offsets: std::vec::Vec<_> =
                indices.filter_map(|index| shape.offset(index)).collect();
            let distinct: BTreeSet<_> = offsets.iter().copied().collect();
            assert_eq!(offsets.len() as u64, shape.n_elements());
            assert!(distinct.into_iter().eq(0..shape.n_elements() as usize));
            for row in 0..=n_rows + 1 {
                for column in 0..=n_columns + 1 {
                    let (Line { first, length }, place) = shape.line((row, column));
                    let of_row = length.offset(place).map(|offset| first + offset);
                    assert_eq!(of_row, shape.offset((row, column)));
                }
            }
            assert_eq!(shape.offset((u32::MAX, 0)), None);
            assert_eq!(shape.offset((0, u32::MAX)), None);
        }
    }

    #[test]
    fn a_length_ends_where_it_says() {
        let offsets = [0, 4, 5, u32::MAX].map(|index| Length::new(5).offset(index));
        assert_eq!(offsets, [Some(0), Some(4), None, None]);
    }

    #[test]
    fn more_elements_than_32_bits_count_are_counted() {
        assert_eq!(Rows::new(1 << 16, 1 << 17).n_elements(), 1 << 33);
    }
}
