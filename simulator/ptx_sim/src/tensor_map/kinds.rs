//! The choices that a tensor map has. Their numbers are those of the CUDA driver's
//! enumerations, so that `try_from` takes what a program gave `cuTensorMapEncodeTiled`.

/// Defines an enumeration with the driver's numbers, and how to get it from one.
macro_rules! numbered {
    ($(#[$doc:meta])* $name:ident { $($(#[$of:meta])* $variant:ident = $number:literal,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[repr(u8)]
        pub enum $name {
            $($(#[$of])* $variant = $number,)*
        }

        impl $name {
            /// All of them, in the order of their numbers.
            pub const ALL: &[Self] = &[$(Self::$variant),*];
        }

        impl TryFrom<u32> for $name {
            /// The number that is not one of them.
            type Error = u32;

            fn try_from(number: u32) -> Result<Self, u32> {
                match number {
                    $($number => Ok(Self::$variant),)*
                    _ => Err(number),
                }
            }
        }
    };
}

numbered! {
    /// Type of a tensor's elements: `CUtensorMapDataType`.
    Element {
        /// 8 bits, unsigned; also for 8-bit floats.
        U8 = 0,
        /// 16 bits, unsigned.
        U16 = 1,
        /// 32 bits, unsigned.
        U32 = 2,
        /// 32 bits, signed.
        S32 = 3,
        /// 64 bits, unsigned.
        U64 = 4,
        /// 64 bits, signed.
        S64 = 5,
        /// Half precision.
        F16 = 6,
        /// Single precision.
        F32 = 7,
        /// Double precision.
        F64 = 8,
        /// `bfloat16`.
        Bf16 = 9,
        /// Single precision, for which denormals are to be flushed.
        F32Ftz = 10,
        /// Single precision, rounded to `tf32`.
        Tf32 = 11,
        /// Single precision, rounded to `tf32`, for which denormals are to be flushed.
        Tf32Ftz = 12,
        /// 16 packed elements of 4 bits in 8 bytes.
        U4x16Align8 = 13,
        /// 16 packed elements of 4 bits in 8 bytes, with gaps of 8 bytes in shared memory.
        U4x16Align16 = 14,
        /// 16 packed elements of 6 bits in 12 bytes, with gaps of 4 bytes in shared memory.
        U6x16Align16 = 15,
    }
}

numbered! {
    /// Layout of channels in global memory: `CUtensorMapInterleave`.
    Interleave {
        /// Channels are neighbours.
        None = 0,
        /// Slices of 16 bytes of channels.
        B16 = 1,
        /// Slices of 32 bytes of channels.
        B32 = 2,
    }
}

numbered! {
    /// Order of a tile's pieces in shared memory, against bank conflicts:
    /// `CUtensorMapSwizzle`.
    Swizzle {
        /// As in the tensor.
        None = 0,
        /// 16-byte pieces change places within 32 bytes.
        B32 = 1,
        /// 16-byte pieces change places within 64 bytes.
        B64 = 2,
        /// 16-byte pieces change places within 128 bytes.
        B128 = 3,
        /// 32-byte pieces change places within 128 bytes.
        B128Atom32 = 4,
        /// 32-byte pieces change places within 128 bytes, and the 8-byte halves of every
        /// 16 bytes change places in every second row.
        B128Atom32Flip8 = 5,
        /// 64-byte pieces change places within 128 bytes.
        B128Atom64 = 6,
    }
}

numbered! {
    /// How much is read into the second-level cache at once: `CUtensorMapL2promotion`.
    L2Promotion {
        /// What is needed.
        None = 0,
        /// 64 bytes.
        B64 = 1,
        /// 128 bytes.
        B128 = 2,
        /// 256 bytes.
        B256 = 3,
    }
}

numbered! {
    /// What a tile holds where it reaches out of the tensor: `CUtensorMapFloatOOBfill`.
    Fill {
        /// Zeros.
        Zeros = 0,
        /// A certain NaN, which fused multiplications treat as zero.
        Nan = 1,
    }
}

impl Element {
    /// Bytes of an element in shared memory; of a packed one, those of 16, divided by 16
    /// and rounded up.
    pub fn bytes(self) -> u32 {
        match self {
            Self::U8 | Self::U4x16Align8 | Self::U4x16Align16 | Self::U6x16Align16 => 1,
            Self::U16 | Self::F16 | Self::Bf16 => 2,
            Self::U32 | Self::S32 | Self::F32 | Self::F32Ftz | Self::Tf32 | Self::Tf32Ftz => 4,
            Self::U64 | Self::S64 | Self::F64 => 8,
        }
    }

    /// Bits of an element in global memory.
    pub fn bits(self) -> u32 {
        match self {
            Self::U4x16Align8 | Self::U4x16Align16 => 4,
            Self::U6x16Align16 => 6,
            _ => 8 * self.bytes(),
        }
    }

    /// The lowest compute capability whose driver takes it; an H200's takes no others.
    pub fn least_capability(self) -> (u32, u32) {
        if self.is_packed() { (10, 0) } else { (9, 0) }
    }

    /// Whether elements are parts of bytes.
    pub fn is_packed(self) -> bool {
        self.bits() < 8
    }

    /// Whether there is a NaN of this type.
    pub fn is_float(self) -> bool {
        matches!(
            self,
            Self::F16
                | Self::F32
                | Self::F64
                | Self::Bf16
                | Self::F32Ftz
                | Self::Tf32
                | Self::Tf32Ftz
        )
    }
}

impl Swizzle {
    /// Bytes within which pieces change places: the most that a row of a tile may have.
    /// `None` if none do.
    pub fn span_bytes(self) -> Option<u32> {
        match self {
            Self::None => None,
            Self::B32 => Some(32),
            Self::B64 => Some(64),
            Self::B128 | Self::B128Atom32 | Self::B128Atom32Flip8 | Self::B128Atom64 => Some(128),
        }
    }

    /// The lowest compute capability whose driver takes it; an H200's takes no others.
    pub fn least_capability(self) -> (u32, u32) {
        match self {
            Self::None | Self::B32 | Self::B64 | Self::B128 => (9, 0),
            Self::B128Atom32 | Self::B128Atom32Flip8 | Self::B128Atom64 => (10, 0),
        }
    }

    /// Where in shared memory the byte is that would be at `address` without a swizzle.
    /// The permutation depends on the address itself, not on where a tile starts.
    pub fn place(self, address: u32) -> u32 {
        match self {
            Self::None => address,
            Self::B32 => address ^ (address >> 3 & 0x10),
            Self::B64 => address ^ (address >> 3 & 0x30),
            Self::B128 => address ^ (address >> 3 & 0x70),
            Self::B128Atom32 => address ^ (address >> 2 & 0x60),
            Self::B128Atom32Flip8 => address ^ (address >> 2 & 0x60) ^ (address >> 4 & 8),
            Self::B128Atom64 => address ^ (address >> 1 & 0x40),
        }
    }
}
