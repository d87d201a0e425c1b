//! Programs with relocatable device code (`nvcc -rdc=true`): their PTX is in several fat binaries,
//! which the driver links.

use std::ffi::c_void;
use std::ptr::{null, null_mut};

use crate::driver;
use crate::error::{Error, Outcome};

/// `__fatBinC_Wrapper_t`, which a program registers.
#[repr(C)]
#[derive(Clone, Copy)]
struct Wrapper {
    magic: u32,
    version: u32,
    data: *const FatBinary,
    /// In version 2: fat binaries that belong together, terminated by null.
    parts: *const *const FatBinary,
}

const WRAPPER_MAGIC: u32 = 0x4662_43b1;
const WITH_PARTS: u32 = 2;

/// The header of a fat binary.
#[repr(C)]
#[derive(Clone, Copy)]
struct FatBinary {
    magic: u32,
    version: u16,
    header_bytes: u16,
    payload_bytes: u64,
}

const FAT_BINARY_MAGIC: u32 = 0xba55_ed50;

/// `CU_JIT_INPUT_FATBINARY`
const INPUT: u32 = 2;

/// Loads what a program has registered.
///
/// # Safety
/// It is what nvcc makes: a wrapper, or an image that the driver accepts.
pub unsafe fn load(image: *const c_void) -> Outcome<usize> {
    // SAFETY: as the caller says.
    let parts = unsafe { parts(image) };
    if parts.is_empty() {
        // SAFETY: as the caller says.
        return unsafe { library(image) };
    }
    let mut link = 0;
    // SAFETY: the pointers are valid for the call.
    unsafe { driver::cuLinkCreate_v2(0, null(), null_mut(), &mut link)? };
    // SAFETY: the parts are the program's.
    let loaded = unsafe { linked(link, &parts) };
    // SAFETY: it takes no pointers.
    let destroyed = unsafe { driver::cuLinkDestroy(link) };
    loaded.and_then(|library| destroyed.map(|()| library))
}

/// The fat binaries to be linked.
unsafe fn parts(image: *const c_void) -> Vec<*const FatBinary> {
    // SAFETY: any image has at least four bytes, and a wrapper is complete.
    unsafe {
        let wrapper = image.cast::<Wrapper>();
        if (&raw const (*wrapper).magic).read_unaligned() != WRAPPER_MAGIC {
            return Vec::new();
        }
        let Wrapper { version, parts, .. } = wrapper.read_unaligned();
        if version != WITH_PARTS || parts.is_null() {
            return Vec::new();
        }
        let all = (0..).map(|i| *parts.add(i));
        all.take_while(|part| !part.is_null()).collect()
    }
}

/// Makes the driver link fat binaries, and loads the result.
unsafe fn linked(link: usize, parts: &[*const FatBinary]) -> Outcome<usize> {
    for &part in parts {
        // SAFETY: each begins with its size.
        let head = unsafe { part.read_unaligned() };
        let n_bytes = u64::from(head.header_bytes).saturating_add(head.payload_bytes);
        let n_bytes = usize::try_from(n_bytes).ok();
        let n_bytes = n_bytes.filter(|_| head.magic == FAT_BINARY_MAGIC);
        let n_bytes = n_bytes.ok_or(Error::INVALID_KERNEL_IMAGE)?;
        let data = part.cast::<c_void>();
        // SAFETY: this many bytes are there.
        unsafe {
            driver::cuLinkAddData_v2(link, INPUT, data, n_bytes, null(), 0, null(), null_mut())?;
        }
    }
    let (mut image, mut n_bytes) = (null(), 0);
    // SAFETY: the pointers are valid for the call, and the image as long as the link.
    unsafe {
        driver::cuLinkComplete(link, &mut image, &mut n_bytes)?;
        library(image)
    }
}

/// Loads an image.
unsafe fn library(image: *const c_void) -> Outcome<usize> {
    let mut library = 0;
    // SAFETY: as the caller says.
    unsafe {
        driver::cuLibraryLoadData(
            &mut library,
            image,
            null(),
            null_mut(),
            0,
            null(),
            null_mut(),
            0,
        )?;
    }
    Ok(library)
}
