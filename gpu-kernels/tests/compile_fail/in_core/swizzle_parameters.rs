//! Swizzles that would not be one-to-one, or would leave the array.
use gpu_kernels::swizzle::{ChunkSwizzle, Swizzle};

fn main() {
    // Rows of 24.
    ChunkSwizzle::<4, 24, 4, 128>::xor(8, 20);
    // Segments of 16 bytes.
    ChunkSwizzle::<4, 4, 4, 16>::shift(8, 3);
    // A chunk smaller than an element.
    ChunkSwizzle::<8, 16, 4, 128>::xor(8, 3);
    // Rows longer than a segment.
    ChunkSwizzle::<4, 64, 4, 128>::xor(8, 3);
    // Bits XORed with themselves.
    Swizzle::<3, 4, 2>::apply(100);
}
