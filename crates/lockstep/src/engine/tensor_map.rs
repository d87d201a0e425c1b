//! Tensor maps of buffers: what TMA (sm_90) must know about an array.
//!
//! ```
//! use cuda_std::half::f16;
//! use lockstep::tensor_map::Swizzle;
//! use lockstep::{Device, TensorMap};
//!
//! let device = Device::simulator();
//! let (m, k) = (1024, 512);
//! let a = device.upload("a", &vec![f16::ONE; m * k])?;
//! // `m` rows of `k` values, of which a copy moves 128 rows of 64.
//! let map = TensorMap::tiled(&a, [k, m], [64, 128])
//!     .swizzle(Swizzle::B128)
//!     .build()?;
//! assert_eq!(map.tile_bytes(), 128 * 64 * 2);
//! // The argument for a kernel's `a: &TensorMap`.
//! let argument = map.as_arg();
//! # assert_eq!(argument.address(), a.address());
//! # Ok::<(), lockstep::Error>(())
//! ```
//!
//! Sizes are given per dimension, starting with the one whose values are adjacent in memory. On a
//! GPU the driver makes the map, on the simulator `ptx_sim` does; both after the same checks, so
//! errors read the same.
//!
//! Left out: maps for `im2col`, interleaved layouts, packed values of 4 and 6 bits.

use super::{Buffer, EngineError, EngineKind};
use crate::driver;
use cuda_std::launch::{DeviceCopy, DeviceTensorMap, MAP_BYTES, MovedMap};
use ptx_sim::tensor_map::{Interleave, TensorSpec};
use std::marker::PhantomData;

pub use ptx_sim::tensor_map::{Element, Fill, L2Promotion, Swizzle};

/// The first architecture that has TMA.
const FIRST_SM: u32 = 90;

/// A type of value that a tensor can have.
pub trait TensorElement: DeviceCopy {
    /// What TMA calls it.
    const ELEMENT: Element;
}

macro_rules! elements {
    ($($t:ty: $element:ident),*) => { $(
        impl TensorElement for $t {
            const ELEMENT: Element = Element::$element;
        }
    )* };
}
elements! {
    u8: U8, u16: U16, u32: U32, i32: S32, u64: U64, i64: S64, f32: F32, f64: F64,
    cuda_std::half::f16: F16, cuda_std::half::bf16: Bf16
}

/// A tensor map of a buffer, which it borrows.
#[derive(Clone, Copy, Debug)]
pub struct TensorMap<'b> {
    map: DeviceTensorMap,
    tile_bytes: u32,
    buffer: PhantomData<&'b ()>,
}

impl TensorMap<'_> {
    /// A map of an array in the buffer: `dims` values in each dimension, of which a copy moves a
    /// box of `tile` values. Values are adjacent in the first dimension; the array lies without
    /// gaps from the buffer's start, unless [`Tiled::strides`] and [`Tiled::offset`] say otherwise.
    pub fn tiled<'b, T: TensorElement, const R: usize>(
        buffer: &'b Buffer<'_, T>,
        dims: [usize; R],
        tile: [u32; R],
    ) -> Tiled<'b, R> {
        Tiled {
            source: Source {
                label: buffer.label(),
                address: buffer.address(),
                len: buffer.len(),
                value_bytes: size_of::<T>() as u64,
                kind: buffer.engine().kind(),
                sm: buffer.engine().device().sm,
            },
            element: T::ELEMENT,
            offset: 0,
            dims: dims.map(|n| n as u64),
            strides: None,
            tile,
            element_strides: [1; R],
            swizzle: Swizzle::None,
            l2_promotion: L2Promotion::None,
            fill: Fill::Zeros,
        }
    }

    /// The argument for a kernel's `&TensorMap`. Like a pointer, it does not keep the buffer alive.
    pub fn as_arg(&self) -> DeviceTensorMap {
        self.map
    }

    /// Bytes that a copy of one box moves, including those out of bounds: the number that its
    /// barrier has to expect.
    pub fn tile_bytes(&self) -> u32 {
        self.tile_bytes
    }
}

/// A description of a tensor map, not yet complete.
#[derive(Clone, Copy, Debug)]
#[must_use = "`build` makes the map"]
pub struct Tiled<'b, const R: usize> {
    source: Source<'b>,
    element: Element,
    /// In values.
    offset: usize,
    dims: [u64; R],
    /// In values, of each dimension but the first.
    strides: Option<Strides>,
    tile: [u32; R],
    element_strides: [u32; R],
    swizzle: Swizzle,
    l2_promotion: L2Promotion,
    fill: Fill,
}

/// The strides as given; of too many, one more than allowed is kept, which is then refused.
#[derive(Clone, Copy, Debug)]
struct Strides {
    values: [usize; Self::MOST + 1],
    n: usize,
}

impl Strides {
    /// Of the largest rank.
    const MOST: usize = 4;

    fn of(given: &[usize]) -> Self {
        let n = given.len().min(Self::MOST + 1);
        let mut values = [0; Self::MOST + 1];
        values[..n].copy_from_slice(&given[..n]);
        Self { values, n }
    }

    fn values(&self) -> &[usize] {
        &self.values[..self.n]
    }
}

/// The buffer that a map describes.
#[derive(Clone, Copy, Debug)]
struct Source<'b> {
    label: &'b str,
    address: u64,
    len: usize,
    value_bytes: u64,
    kind: EngineKind,
    sm: u32,
}

impl<'b, const R: usize> Tiled<'b, R> {
    /// The value of the buffer at which the array begins.
    pub fn offset(self, offset: usize) -> Self {
        Self { offset, ..self }
    }

    /// The number of values from one index to the next, in each dimension but the first: for a
    /// matrix, one number, the values from row to row.
    pub fn strides(self, strides: &[usize]) -> Self {
        let strides = Some(Strides::of(strides));
        Self { strides, ..self }
    }

    /// The element type, where the buffer's type does not say: `Element::Bf16` in a buffer of
    /// `u16`, `Element::Tf32` in one of `f32`. They must have the same size.
    pub fn element(self, element: Element) -> Self {
        Self { element, ..self }
    }

    /// The order of a tile's 16-byte pieces in shared memory; [`Swizzle::None`] by default.
    pub fn swizzle(self, swizzle: Swizzle) -> Self {
        Self { swizzle, ..self }
    }

    /// Copies one of this many values of a box, in each dimension but the first; 1 by default.
    pub fn element_strides(self, element_strides: [u32; R]) -> Self {
        Self {
            element_strides,
            ..self
        }
    }

    /// How much is read into the second-level cache at once; [`L2Promotion::None`] by default.
    pub fn l2_promotion(self, l2_promotion: L2Promotion) -> Self {
        Self {
            l2_promotion,
            ..self
        }
    }

    /// What a tile holds where it reaches beyond the array; [`Fill::Zeros`] by default.
    pub fn fill(self, fill: Fill) -> Self {
        Self { fill, ..self }
    }

    /// Makes the map.
    ///
    /// # Errors
    ///
    /// The description breaks a rule of TMA, or the array is not within the buffer; the
    /// error names the buffer, the rule and the value. Or the GPU has no TMA, or its driver
    /// is older than CUDA 12.
    pub fn build(self) -> Result<TensorMap<'b>, EngineError> {
        let refused = |reason: String| EngineError::TensorMap {
            buffer: self.source.label.to_owned(),
            reason,
        };
        let described = self.describe().map_err(refused)?;
        let address = described.address();
        let (encode, moved): (_, MovedMap) = match self.source.kind {
            EngineKind::Sim => (on_simulator as Encode, move_on_simulator),
            EngineKind::Gpu => (on_gpu as Encode, move_on_gpu),
        };
        let bytes = encode(&described).map_err(refused)?;
        Ok(TensorMap {
            map: DeviceTensorMap::new(bytes, address, moved),
            // A box has at most 256⁵ values, and no shared memory holds that many.
            tile_bytes: u32::try_from(described.tile_bytes()).unwrap_or(u32::MAX),
            buffer: PhantomData,
        })
    }

    /// The map, if it follows all rules.
    fn describe(&self) -> Result<ptx_sim::tensor_map::TensorMap, String> {
        let Source {
            value_bytes, sm, ..
        } = self.source;
        if sm < FIRST_SM {
            return Err(format!(
                "this GPU is sm_{sm}, but tensor maps need sm_{FIRST_SM} or later"
            ));
        }
        let bits = u64::from(self.element.bits());
        if bits != 8 * value_bytes {
            return Err(format!(
                "the buffer's values have {} bits, but {:?} has {bits}: \
                 choose an element of the same size",
                8 * value_bytes,
                self.element
            ));
        }
        let strides = self.stride_bytes();
        let offset = (self.offset as u64).saturating_mul(value_bytes);
        let spec = TensorSpec {
            element: self.element,
            address: self.source.address.saturating_add(offset),
            dims: &self.dims,
            strides: &strides,
            box_dims: &self.tile,
            element_strides: &self.element_strides,
            interleave: Interleave::None,
            swizzle: self.swizzle,
            l2_promotion: self.l2_promotion,
            fill: self.fill,
        };
        let map = ptx_sim::tensor_map::TensorMap::new(&spec).map_err(|error| error.to_string())?;
        self.check_within_buffer(&map)?;
        Ok(map)
    }

    /// Strides of all dimensions but the first, in bytes.
    fn stride_bytes(&self) -> Vec<u64> {
        let bytes = |values: u64| values.saturating_mul(self.source.value_bytes);
        match &self.strides {
            Some(strides) => strides
                .values()
                .iter()
                .map(|&stride| bytes(stride as u64))
                .collect(),
            None => {
                let inner = self.dims.iter().take(R.saturating_sub(1));
                let products = inner.scan(1, |product: &mut u64, &n| {
                    *product = product.saturating_mul(n);
                    Some(bytes(*product))
                });
                products.collect()
            }
        }
    }

    fn check_within_buffer(&self, map: &ptx_sim::tensor_map::TensorMap) -> Result<(), String> {
        let Source {
            len, value_bytes, ..
        } = self.source;
        let strides = std::iter::once(&value_bytes).chain(map.strides());
        let steps = strides
            .zip(map.dims())
            .map(|(&stride, &n)| u128::from(stride) * u128::from(n - 1));
        let last = self.offset as u128 + steps.sum::<u128>() / u128::from(value_bytes);
        if last < len as u128 {
            return Ok(());
        }
        Err(format!(
            "the last value of the tensor would be value {last} of the buffer, which has {len}: check dimensions, \
             strides and offset, which count values"
        ))
    }
}

/// Makes the 128 bytes of a map.
type Encode = fn(&ptx_sim::tensor_map::TensorMap) -> Result<[u8; MAP_BYTES], String>;

fn on_simulator(map: &ptx_sim::tensor_map::TensorMap) -> Result<[u8; MAP_BYTES], String> {
    Ok(map.to_bytes())
}

fn move_on_simulator(bytes: &[u8; MAP_BYTES], address: u64) -> Result<[u8; MAP_BYTES], String> {
    let map = ptx_sim::tensor_map::TensorMap::from_bytes(bytes).map_err(|e| e.to_string())?;
    let there = map.at(address).map_err(|error| error.to_string())?;
    Ok(there.to_bytes())
}

fn on_gpu(map: &ptx_sim::tensor_map::TensorMap) -> Result<[u8; MAP_BYTES], String> {
    driver::tensor_map::encode(map).map_err(|error| explained(&error))
}

fn move_on_gpu(bytes: &[u8; MAP_BYTES], address: u64) -> Result<[u8; MAP_BYTES], String> {
    driver::tensor_map::at_address(bytes, address).map_err(|error| explained(&error))
}

/// The driver's error, and what to do if it lacks the function.
fn explained(error: &cuda_driver::DriverError) -> String {
    match error.code {
        cuda_driver::symbols::CUDA_ERROR_STUB_LIBRARY => format!(
            "the driver has no `{}`: install one for CUDA 12 or later",
            error.call
        ),
        _ => error.to_string(),
    }
}
