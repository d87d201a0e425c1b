//! `cudaDeviceProp`, in the layouts of versions 11, 12 and 13: mostly device attributes, one after
//! the other.

use std::ffi::{c_char, c_int};

use crate::driver;
use crate::error::Outcome;

/// A layout of the structure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// That of version 11, which is `cudaGetDeviceProperties` in version 12: the layout of version
    /// 12 up to the shared memory that the system reserves.
    Eleven,
    /// That of version 12, `cudaGetDeviceProperties_v2`.
    Twelve,
    /// That of version 13.
    Thirteen,
}

impl Layout {
    /// Size of the structure in bytes.
    pub fn size_bytes(self) -> usize {
        match self {
            Self::Eleven => 728,
            Self::Twelve => 1032,
            Self::Thirteen => 1008,
        }
    }
}

/// A part of the structure that a device attribute fills.
#[derive(Clone, Copy)]
enum Field {
    /// An `int`.
    Int(u32),
    /// A `size_t`.
    Size(u32),
    /// An `int` that version 13 no longer has.
    Gone(u32),
    /// An `int` that only version 13 has.
    New(u32),
}
use Field::{Gone, Int, New, Size};

/// Everything after `totalGlobalMem`, in order.
#[rustfmt::skip]
const FIELDS: &[Field] = &[
    Size(8), Int(12), Int(10), Size(11), Int(1), Int(2), Int(3), Int(4), Int(5), Int(6), Int(7),
    Gone(13), Size(9), Int(75), Int(76), Size(14), Size(51), Gone(15), Int(16), Gone(17), Int(18),
    Int(19), Gone(20),
    // Textures and surfaces.
    Int(21), Int(77), Gone(69), Int(22), Int(23), Int(73), Int(74), Int(70), Int(71), Int(72),
    Int(45), Int(46), Int(24), Int(25), Int(26), Int(47), Int(48), Int(49), Int(52), Int(42),
    Int(43), Int(27), Int(28), Int(29), Int(53), Int(54), Int(55), Int(56), Int(57), Int(58),
    Int(59), Int(60), Int(61), Int(62), Int(63), Int(64), Int(65), Int(66), Int(67), Int(68),
    Size(30),
    Int(31), Int(32), Int(33), Int(34), Int(50), Int(35), Int(40), Int(41), Gone(36), Int(37),
    Int(38), Int(108), Int(39), Int(78), Int(79), Int(80), Size(81), Int(82), Int(83), Int(84),
    Int(85), Int(86), Gone(87), Int(88), Int(89), Int(90), Int(91), Int(95), Gone(96), Size(97),
    Int(100), Int(101), Int(106), Int(109), Size(111),
    // From version 12 on.
    Int(99), Int(112), Int(113), Int(114), Int(115), Int(116), Int(117), Int(118), Int(119),
    Int(121), Int(125), Int(120), Int(129),
    New(130), New(131), New(133), New(134), New(139), New(140), New(143),
];

/// Bytes that are filled one after the other, each value aligned to its size.
struct Writer(Vec<u8>);

impl Writer {
    fn put<const N: usize>(&mut self, bytes: [u8; N]) {
        let at = self.0.len().next_multiple_of(N);
        self.0.resize(at, 0);
        self.0.extend(bytes);
    }
}

/// The bytes of a layout, from the bytes that identify the device, its memory and the values of
/// attributes.
fn lay_out(
    layout: Layout,
    names: &[u8; 284],
    memory_bytes: u64,
    attribute: impl Fn(u32) -> i32,
) -> Vec<u8> {
    let mut out = Writer(names.to_vec());
    out.put(memory_bytes.to_ne_bytes());
    for &field in FIELDS {
        match field {
            Size(number) => out.put(i64::from(attribute(number)).to_ne_bytes()),
            Gone(_) if layout == Layout::Thirteen => {}
            New(_) if layout != Layout::Thirteen => {}
            Int(number) | Gone(number) | New(number) => out.put(attribute(number).to_ne_bytes()),
        }
    }
    out.0.resize(layout.size_bytes(), 0);
    out.0
}

/// A device's properties.
pub fn properties(layout: Layout, device: c_int) -> Outcome<Vec<u8>> {
    let mut names = [0_u8; 284];
    let mut memory_bytes = 0;
    // SAFETY: the pointers are valid for the calls: 256 bytes for the name, then 16 for the UUID,
    // then 8 and 4 for the LUID.
    unsafe {
        let start = names.as_mut_ptr();
        driver::cuDeviceGetName(start.cast::<c_char>(), 256, device)?;
        driver::cuDeviceGetUuid_v2(start.add(256).cast(), device)?;
        // Not every system has this.
        let _ = driver::cuDeviceGetLuid(start.add(272).cast(), start.add(280).cast(), device);
        driver::cuDeviceTotalMem_v2(&mut memory_bytes, device)?;
    }
    let attribute = |number| {
        let mut value = 0;
        // SAFETY: the pointer is valid for the call. What the driver does not know is zero.
        let known = unsafe { driver::cuDeviceGetAttribute(&mut value, number, device) };
        known.map_or(0, |()| value)
    };
    Ok(lay_out(layout, &names, memory_bytes as u64, attribute))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Offsets of fields, as `offsetof` gives them for the headers of 12.9 and 13.0.
    #[test]
    fn fields_lie_where_the_headers_say() {
        let at = |layout, offset: usize| {
            let bytes = lay_out(layout, &[0; 284], 7, |number| number as i32);
            assert_eq!(bytes.len(), layout.size_bytes());
            i32::from_ne_bytes(bytes[offset..offset + 4].try_into().expect("four"))
        };
        let (eleven, twelve, thirteen) = (Layout::Eleven, Layout::Twelve, Layout::Thirteen);
        for layout in [eleven, twelve, thirteen] {
            assert_eq!(at(layout, 288), 7);
        }
        assert_eq!((at(eleven, 720), at(twelve, 720)), (111, 111));
        assert_eq!((at(thirteen, 696), at(twelve, 776)), (111, 129));
        assert_eq!((at(twelve, 780), at(thirteen, 780)), (0, 143));
    }
}
