//! Swizzles: orders of the elements in shared memory that spread a column over
//! the banks.
//!
//! In an array of `ROW` elements per row, stored row by row, the elements of a
//! column are `ROW` elements apart: if that is a power of two, in few banks. Padding the
//! rows cures that but costs memory, and it moves rows off the alignment that
//! 16-byte accesses and `ldmatrix` need. A swizzle costs neither: each row keeps
//! its place and its elements, in another order.
//!
//! Elements that one thread accesses together (a *chunk*, say 16 bytes) must stay
//! together, so whole chunks swap places. Three forms, all of them pure and
//! one-to-one, all parameters known at compile time:
//!
//! | form | chunk `c` of line `l` goes to | |
//! |---|---|---|
//! | [`ChunkSwizzle::xor`] | `c ^ l` | the general formula, from the array's shape |
//! | [`ChunkSwizzle::shift`] | `c + l`, wrapping around | the same by addition |
//! | [`Swizzle`] | bits of the offset | the form for offsets, CuTe's; nothing but `&`, `>>`, `^` |
//!
//! XOR is its own inverse, and cheap if `c` and `l` are known separately; the shift
//! needs one more instruction, and keeps neighbours adjacent.

pub use cuda_std::swizzle::{Composed, Swizzle};

/// The swizzle of an array `T array[][ROW]` in shared memory.
///
/// - `ELEMENT_BYTES`: size of `T`;
/// - `ROW`: elements in a row, a power of two (otherwise the XOR leaves the row);
/// - `CHUNK_BYTES`: what stays together, a power of two;
/// - `SEGMENT_BYTES`: a *line* of the pattern: chunks of the same line keep their
///   order up to a constant, which differs from line to line. A power of
///   two, at least 32. 128 bytes, all the banks, is the best choice for
///   whole-column accesses; less repeats the pattern after fewer rows.
///
/// Anything else does not compile, and neither does a row longer than a
/// segment: chunk 1 of a row's first segment and chunk 0 of its second would
/// collide.
///
/// ```
/// use gpu_kernels::swizzle::ChunkSwizzle;
/// // `float tile[32][32]`, single floats, lines of 128 bytes: column ^ row.
/// assert_eq!(ChunkSwizzle::<4, 32, 4, 128>::xor(5, 9), 5 ^ 9);
/// ```
///
/// ```compile_fail
/// use gpu_kernels::swizzle::ChunkSwizzle;
/// // 24 is not a power of two: 20 ^ 8 = 28 would be in the next row.
/// ChunkSwizzle::<4, 24, 4, 128>::xor(8, 20);
/// ```
pub struct ChunkSwizzle<
    const ELEMENT_BYTES: u32,
    const ROW: u32,
    const CHUNK_BYTES: u32,
    const SEGMENT_BYTES: u32,
>;

impl<const ELEMENT_BYTES: u32, const ROW: u32, const CHUNK_BYTES: u32, const SEGMENT_BYTES: u32>
    ChunkSwizzle<ELEMENT_BYTES, ROW, CHUNK_BYTES, SEGMENT_BYTES>
{
    const VALID: () = {
        assert!(
            ROW.is_power_of_two(),
            "a swizzled row must have a power of two of elements"
        );
        assert!(
            ELEMENT_BYTES.is_power_of_two(),
            "an element's size must be a power of two"
        );
        assert!(
            CHUNK_BYTES.is_power_of_two(),
            "a chunk's size must be a power of two"
        );
        assert!(
            SEGMENT_BYTES.is_power_of_two() && SEGMENT_BYTES >= 32,
            "a segment's size must be a power of two, and at least 32 bytes"
        );
        assert!(
            CHUNK_BYTES >= ELEMENT_BYTES,
            "a chunk must hold at least one element"
        );
        assert!(
            ROW * ELEMENT_BYTES >= CHUNK_BYTES,
            "a row must hold at least one chunk"
        );
        assert!(
            ROW * ELEMENT_BYTES <= SEGMENT_BYTES,
            "a row must not be longer than a segment"
        );
    };

    /// Elements in a chunk.
    pub const CHUNK: u32 = CHUNK_BYTES / ELEMENT_BYTES;
    /// Chunks in a row: the most places that a column's elements can spread over.
    pub const ROW_CHUNKS: u32 = ROW * ELEMENT_BYTES / CHUNK_BYTES;
    /// Chunks in a segment.
    pub const SEGMENT_CHUNKS: u32 = SEGMENT_BYTES / CHUNK_BYTES;
    /// Rows after which the pattern repeats.
    pub const PERIOD_ROWS: u32 = SEGMENT_BYTES / (ROW * ELEMENT_BYTES) * Self::ROW_CHUNKS;

    /// The segment of element `(row, column)`, and its chunk's place in there.
    const fn segment_and_chunk(row: u32, column: u32) -> (u32, u32) {
        let chunk = (row * ROW + column) / Self::CHUNK;
        (chunk / Self::SEGMENT_CHUNKS, chunk % Self::SEGMENT_CHUNKS)
    }

    /// The column where element `(row, column)` lies, by XOR: its chunk's number
    /// in the segment XOR the segment's.
    #[inline(always)]
    pub const fn xor(row: u32, column: u32) -> u32 {
        let () = Self::VALID;
        let (segment, chunk) = Self::segment_and_chunk(row, column);
        (chunk ^ segment) * Self::CHUNK % ROW + column % Self::CHUNK
    }

    /// The column where element `(row, column)` lies, by shift: its chunk's
    /// number in the segment plus the segment's, wrapping around.
    #[inline(always)]
    pub const fn shift(row: u32, column: u32) -> u32 {
        let () = Self::VALID;
        let (segment, chunk) = Self::segment_and_chunk(row, column);
        (chunk + segment) * Self::CHUNK % ROW + column % Self::CHUNK
    }
}

// Offsets in bytes of a 16-byte chunk, as the tensor memory accelerator's
// hardware swizzles them on the way into shared memory. The array must start at
// a multiple of the pattern's size: 256, 512 or 1024 bytes.

/// TMA's pattern for rows of 32 bytes: bit 4 ^= bit 7.
pub type Tma32 = Swizzle<1, 4, 3>;
/// TMA's pattern for rows of 64 bytes: bits 4 and 5 ^= bits 7 and 8.
pub type Tma64 = Swizzle<2, 4, 3>;
/// TMA's pattern for rows of 128 bytes: bits 4 to 6 ^= bits 7 to 9.
pub type Tma128 = Swizzle<3, 4, 3>;

#[cfg(test)]
mod tests {
    use super::{ChunkSwizzle, Swizzle, Tma32, Tma64, Tma128};
    use crate::banks::cost;

    extern crate std;
    use std::collections::BTreeSet;
    use std::string::String;
    use std::vec::Vec;

    /// From row and column to the column where the element lies.
    type Form = fn(u32, u32) -> u32;
    /// From offset to offset.
    type BitForm = fn(u32) -> u32;

    /// A swizzle with its parameters as values.
    struct Case {
        name: String,
        /// Elements of a row, and of a chunk.
        row: u32,
        chunk: u32,
        period_rows: u32,
        form: Form,
    }

    impl Case {
        /// The rows of a period and their columns.
        fn elements(&self) -> impl Iterator<Item = (u32, u32)> {
            let columns = self.row;
            (0..self.period_rows).flat_map(move |row| (0..columns).map(move |column| (row, column)))
        }
    }

    /// By XOR and by shift.
    fn both_forms<const E: u32, const ROW: u32, const C: u32, const S: u32>() -> [Case; 2] {
        let case = |name, form| Case {
            name: std::format!("{name} <{E}, {ROW}, {C}, {S}>"),
            row: ROW,
            chunk: C / E,
            period_rows: ChunkSwizzle::<E, ROW, C, S>::PERIOD_ROWS,
            form,
        };
        [
            case("xor", ChunkSwizzle::<E, ROW, C, S>::xor as Form),
            case("shift", ChunkSwizzle::<E, ROW, C, S>::shift),
        ]
    }

    /// Adds the case if its parameters are legal. Parameters that are not legal
    /// never reach the type, which would not compile with them.
    macro_rules! legal_cases {
        ($($e:literal: $($s:literal)*;)*) => {{
            let mut cases = Vec::new();
            $($( legal_cases!(@chunks cases, $e, $s); )*)*
            cases
        }};
        (@chunks $cases:ident, $e:literal, $s:literal) => {
            legal_cases!(@rows $cases, $e, 1, $s);
            legal_cases!(@rows $cases, $e, 2, $s);
            legal_cases!(@rows $cases, $e, 4, $s);
            legal_cases!(@rows $cases, $e, 8, $s);
            legal_cases!(@rows $cases, $e, 16, $s);
        };
        (@rows $cases:ident, $e:literal, $c:literal, $s:literal) => {
            legal_cases!(@one $cases, $e, $c, $s, 1);
            legal_cases!(@one $cases, $e, $c, $s, 2);
            legal_cases!(@one $cases, $e, $c, $s, 4);
            legal_cases!(@one $cases, $e, $c, $s, 8);
            legal_cases!(@one $cases, $e, $c, $s, 16);
            legal_cases!(@one $cases, $e, $c, $s, 32);
            legal_cases!(@one $cases, $e, $c, $s, 64);
            legal_cases!(@one $cases, $e, $c, $s, 128);
            legal_cases!(@one $cases, $e, $c, $s, 256);
        };
        (@one $cases:ident, $e:literal, $c:literal, $s:literal, $row:literal) => {{
            const LEGAL: bool = $c >= $e && $row * $e >= $c && $row * $e <= $s;
            const fn or_any(value: u32, any: u32) -> u32 {
                if LEGAL { value } else { any }
            }
            if LEGAL {
                $cases.extend(both_forms::<
                    { or_any($e, 4) }, { or_any($row, 8) }, { or_any($c, 4) }, { or_any($s, 32) },
                >());
            }
        }};
    }

    /// Both forms of every legal combination of elements of 1 to 8 bytes, chunks of up to 16,
    /// segments of 32 to 256, and rows that fit.
    fn legal_cases() -> Vec<Case> {
        legal_cases! {
            1: 32 64 128 256;
            2: 32 64 128 256;
            4: 32 64 128 256;
            8: 32 64 128 256;
        }
    }

    #[test]
    fn one_to_one_in_every_row() {
        let cases = legal_cases();
        assert!(cases.len() > 500, "only {} cases", cases.len());
        for case in cases {
            for row in 0..2 * case.period_rows {
                let columns: BTreeSet<_> = (0..case.row).map(|c| (case.form)(row, c)).collect();
                assert!(
                    columns.into_iter().eq(0..case.row),
                    "{} row {row}",
                    case.name
                );
            }
        }
    }

    #[test]
    fn chunks_stay_whole() {
        for case in legal_cases() {
            for (row, column) in case.elements() {
                let start = (case.form)(row, column - column % case.chunk);
                assert_eq!(start % case.chunk, 0, "{}", case.name);
                let place = (case.form)(row, column);
                assert_eq!(place, start + column % case.chunk, "{}", case.name);
            }
        }
    }

    /// A column's elements cannot spread over more places than a row has chunks,
    /// because the place within the chunk is fixed: the swizzle reaches that.
    #[test]
    fn a_column_spreads_over_all_chunks() {
        for case in legal_cases() {
            for column in 0..case.row {
                let rows = 0..case.period_rows;
                let places: BTreeSet<_> = rows.map(|row| (case.form)(row, column)).collect();
                let (found, most) = (places.len() as u32, case.row / case.chunk);
                assert_eq!(found, most, "{} column {column}", case.name);
            }
        }
    }

    #[test]
    fn the_pattern_repeats_after_its_period() {
        for case in legal_cases() {
            for (row, column) in case.elements() {
                let later = (case.form)(row + case.period_rows, column);
                assert_eq!((case.form)(row, column), later, "{}", case.name);
            }
        }
    }

    #[test]
    fn xor_is_its_own_inverse() {
        let cases = legal_cases().into_iter();
        for case in cases.filter(|case| case.name.starts_with("xor")) {
            for (row, column) in case.elements() {
                let back = (case.form)(row, (case.form)(row, column));
                assert_eq!(back, column, "{}", case.name);
            }
        }
    }

    /// Ways of the conflict when lane `l` accesses `(l, column)` of an f32 array
    /// with rows of `row`.
    fn column_ways(row: u32, column: u32, layout: impl Fn(u32, u32) -> u32) -> u32 {
        cost(4, |lane| (lane * row + layout(lane, column)) * 4).ways
    }

    #[test]
    fn columns_of_32_rows_are_read_with_less_conflict_or_none() {
        let cases: [(u32, &str, Form, u32); 8] = [
            (16, "plain", |_, column| column, 16),
            // Lines of one row: two rows share the banks, and pair up.
            (16, "xor, 64", ChunkSwizzle::<4, 16, 4, 64>::xor, 2),
            (16, "shift, 64", ChunkSwizzle::<4, 16, 4, 64>::shift, 2),
            // Lines as long as the banks are wide: no conflict is left.
            (16, "xor, 128", ChunkSwizzle::<4, 16, 4, 128>::xor, 1),
            (16, "shift, 128", ChunkSwizzle::<4, 16, 4, 128>::shift, 1),
            (32, "plain", |_, column| column, 32),
            (32, "xor, 128", ChunkSwizzle::<4, 32, 4, 128>::xor, 1),
            (32, "shift, 128", ChunkSwizzle::<4, 32, 4, 128>::shift, 1),
        ];
        for (row, name, layout, ways) in cases {
            for column in 0..row {
                let found = column_ways(row, column, layout);
                assert_eq!(found, ways, "32 by {row}, {name}, column {column}");
            }
        }
    }

    /// Rows longer than a segment, which the type refuses: two columns collide.
    #[test]
    fn the_formula_fails_for_rows_longer_than_a_segment() {
        // 64 floats per row, 4-byte chunks, 128-byte segments.
        let formula = |row: u32, column: u32| {
            let chunk = row * 64 + column;
            ((chunk % 32) ^ (chunk / 32)) % 64
        };
        assert_eq!(formula(0, 1), formula(0, 32));
    }

    #[test]
    fn the_bit_form_is_the_general_formula_on_byte_offsets() {
        // Rows of 32, 64 and 128 bytes as f16, with chunks of 8.
        let forms: [(u32, BitForm, Form); 3] = [
            (2, Tma32::apply, ChunkSwizzle::<2, 16, 16, 128>::xor),
            (4, Tma64::apply, ChunkSwizzle::<2, 32, 16, 128>::xor),
            (8, Tma128::apply, ChunkSwizzle::<2, 64, 16, 128>::xor),
        ];
        for (n_chunks, of_offset, general) in forms {
            for (row, chunk) in (0..64).flat_map(|row| (0..n_chunks).map(move |c| (row, c))) {
                let first = row * n_chunks * 16;
                let place = first + general(row, chunk * 8) * 2;
                assert_eq!(of_offset(first + chunk * 16), place, "{n_chunks} chunks");
            }
        }
    }

    #[test]
    fn the_bit_form_is_one_to_one() {
        let maps: [BitForm; 7] = [
            Swizzle::<1, 3, 3>::apply,
            Swizzle::<2, 3, 3>::apply,
            Swizzle::<3, 3, 3>::apply,
            Swizzle::<5, 0, 5>::apply,
            Tma32::apply,
            Tma64::apply,
            Tma128::apply,
        ];
        for map in maps {
            let images: BTreeSet<_> = (0..4096).map(map).collect();
            assert_eq!((images.len(), images.last()), (4096, Some(&4095)));
        }
    }

    /// `ldmatrix` and 16-byte accesses of eight rows, one below the other.
    #[test]
    fn eight_chunks_below_each_other_conflict_as_their_pattern_says() {
        // Lane l has row l of a column of chunks, in rows of 32, 64, 128 bytes.
        assert_eq!(cost(16, |lane| lane * 32).ways, 2);
        assert_eq!(cost(16, |lane| Tma32::apply(lane * 32)).ways, 1);
        assert_eq!(cost(16, |lane| lane * 64).ways, 4);
        assert_eq!(cost(16, |lane| Tma64::apply(lane * 64)).ways, 1);
        assert_eq!(cost(16, |lane| lane * 128).ways, 8);
        assert_eq!(cost(16, |lane| Tma128::apply(lane * 128)).ways, 1);
    }
}
