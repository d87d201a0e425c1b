//! Finds the PTX in what CUDA programs pass to the driver.
//!
//! `cuModuleLoadData`, `cuLibraryLoadData` and `__cudaRegisterFatBinary` take a bare pointer to one
//! of these: PTX text that ends with a nul, machine code (an ELF file, a *cubin*), or a *fat
//! binary* that contains several of both, for several architectures, compressed or not. [`extent`]
//! says how many bytes there are, [`Image`] what they are, and [`Image::ptx_for`] which PTX a
//! device would compile.
//!
//! ```
//! use fatbin::{Extent, Image, extent};
//!
//! let bytes = include_bytes!("../tests/samples/several.fatbin");
//! assert_eq!(extent(&bytes[..16])?, Extent::Bytes(bytes.len()));
//! let image = Image::read(bytes)?;
//! assert!(image.ptx_for(86)?.contains(".target sm_80"));
//! # Ok::<(), fatbin::Error>(())
//! ```
//!
//! The format is not documented: what is read here is what CUDA 13.0's nvcc and fatbinary write, as
//! in the samples under `tests`. Machine code is recognised, but not read; compiler options and
//! hashes in entries are skipped.
//!
//! In reading order: `architecture`, `compression`, `error`, `bytes`; `elf`, `restore`; `entry`,
//! `container`; `wrapper`, `extent`, `image`.

#![forbid(unsafe_code)]

mod architecture;
mod bytes;
mod compression;
mod container;
mod elf;
mod entry;
mod error;
mod extent;
mod image;
mod restore;
mod wrapper;

pub use architecture::{Architecture, Variant};
pub use compression::Compression;
pub use container::{FAT_BINARY_MAGIC, FatBinary};
pub use elf::Cubin;
pub use entry::{Entry, Kind};
pub use error::Error;
pub use extent::{Extent, extent};
pub use image::Image;
pub use wrapper::{WRAPPER_MAGIC, Wrapper};

/// The README's examples, as tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
