//! Images that a client loads as a module: PTX text, a file that contains some, or something linked
//! here before.

use std::collections::BTreeMap;
use std::ffi::CStr;
use std::sync::{Mutex, PoisonError};

use fatbin::{Architecture, Extent, Variant, Wrapper};
use ptx_sim::{DeviceConfig, KernelInfo, RegisterLimits};

use crate::status::{Outcome, Status};

/// The start of what `cuLinkComplete` returns: a client may keep it, and load it in another
/// process.
const LINKED: &[u8; 16] = b"\x7fLOCKSTEP LINKED";
/// Mark and size of such an image, and its register limits: four numbers.
const LINKED_HEADER: usize = 24 + 16;

/// The first architecture that PTX was for.
const OLDEST: u32 = 10;

/// Static shared memory of a kernel that is linked; one that is loaded as it is may have all that
/// there is.
pub const STATIC_SHARED_BYTES: u32 = 48 << 10;

/// Number of parsed modules that are kept in case a client loads the same text again.
const MOST_PARSED: usize = 256;

/// Parsed PTX, by its text.
static PARSED: Mutex<BTreeMap<Box<str>, ptx_sim::Module>> = Mutex::new(BTreeMap::new());

/// The module of a text, or what is wrong with it.
fn parsed(text: &str) -> Result<ptx_sim::Module, String> {
    let known = PARSED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(module) = known.get(text) {
        return Ok(module.clone());
    }
    drop(known);
    let module = ptx_sim::Module::parse(text).map_err(|error| error.to_string())?;
    let mut known = PARSED.lock().unwrap_or_else(PoisonError::into_inner);
    if known.len() >= MOST_PARSED {
        known.clear();
    }
    known.insert(text.into(), module.clone());
    Ok(module)
}

/// What a client loads as a module.
pub enum Image {
    /// PTX, a fat binary or machine code.
    Bytes(Vec<u8>),
    /// PTX texts that belong together, with their names, and the register limits.
    Linked(Vec<(String, String)>, RegisterLimits),
}

/// Why an image cannot be loaded.
pub struct Refusal {
    /// What a driver returns.
    pub status: Status,
    /// What is wrong, and what to do.
    pub message: String,
}

impl Image {
    /// Reads the image that begins at an address.
    ///
    /// # Safety
    /// A whole image begins there, or a text that ends in a nul.
    pub unsafe fn at(start: *const u8) -> Outcome<Self> {
        Status::INVALID_VALUE.when(start.is_null())?;
        // SAFETY: the caller says that an image is there; each length is one that the bytes before
        // it gave.
        unsafe {
            if begins_with(start, LINKED) {
                let size = start.add(LINKED.len()).cast::<u64>().read_unaligned();
                let size = usize::try_from(size).map_err(|_| Status::INVALID_IMAGE)?;
                return Self::from_bytes(std::slice::from_raw_parts(start, size));
            }
            let wrapper = fatbin::WRAPPER_MAGIC.to_le_bytes();
            if begins_with(start, &wrapper) {
                let bytes = std::slice::from_raw_parts(start, Wrapper::BYTES);
                let wrapper = Wrapper::read(bytes).ok().flatten();
                let data = wrapper.ok_or(Status::INVALID_IMAGE)?.data;
                Status::INVALID_IMAGE.when(data == 0)?;
                return Self::at(data as *const u8);
            }
            Self::from_bytes(whole(start)?)
        }
    }

    /// Reads an image from exactly these bytes.
    pub fn from_bytes(bytes: &[u8]) -> Outcome<Self> {
        match bytes.strip_prefix(LINKED) {
            Some(_) => linked_texts(bytes)
                .map(|(texts, limits)| Self::Linked(texts, limits))
                .ok_or(Status::INVALID_IMAGE),
            None => Ok(Self::Bytes(bytes.to_vec())),
        }
    }

    /// Its PTX for a device, or why there is none.
    pub fn ptx(&self, compute: (u32, u32)) -> Result<String, Refusal> {
        let Self::Bytes(bytes) = self else {
            return Err(Refusal {
                status: Status::INVALID_IMAGE,
                message: "it is already linked".to_owned(),
            });
        };
        let device = 10 * compute.0 + compute.1;
        let image = fatbin::Image::read(bytes).map_err(refusal)?;
        let text = image
            .ptx_for(device)
            .map_err(|error| match (&image, &error) {
                (fatbin::Image::Cubin(_), fatbin::Error::NoPtx { .. }) => {
                    machine_code(&error, device)
                }
                _ => refusal(error),
            })?;
        Ok(text.into_owned())
    }

    /// Its module, for devices of this compute capability.
    pub fn module(&self, compute: (u32, u32)) -> Result<ptx_sim::Module, Refusal> {
        let invalid = |message| Refusal {
            status: Status::INVALID_PTX,
            message,
        };
        match self {
            Self::Bytes(_) => {
                let text = self.ptx(compute)?;
                let module = parsed(&text).map_err(invalid)?;
                check(&module, compute).map_err(invalid)?;
                Ok(module)
            }
            Self::Linked(texts, _) => linked(texts).map_err(invalid),
        }
    }

    /// The register limits where a client asks for these: what was linked is already compiled.
    pub fn limits(&self, asked: RegisterLimits) -> RegisterLimits {
        match self {
            Self::Bytes(_) => asked,
            Self::Linked(_, limits) => *limits,
        }
    }
}

/// What an assembler for this compute capability refuses in PTX that is PTX.
fn check(module: &ptx_sim::Module, (major, minor): (u32, u32)) -> Result<(), String> {
    let ir = module.ir();
    let (number, letter) = ir.architecture();
    let variant = match letter {
        "a" => Variant::Specific,
        "f" => Variant::Family,
        _ => Variant::Portable,
    };
    let runs = Architecture { number, variant }.ptx_runs_on(10 * major + minor);
    if number < OLDEST || !runs {
        return Err(format!(
            "`.target {}` is not for devices of compute capability {major}.{minor}: \
             LOCKSTEP_SIM_COMPUTE sets that of the simulated devices",
            ir.target
        ));
    }
    if let Some(name) = module.undefined_function() {
        return Err(format!("the function `{name}` is declared but not defined"));
    }
    has_room(module, DeviceConfig::default().shared_limit)
}

/// An error if a kernel has more static shared memory than this.
fn has_room(module: &ptx_sim::Module, limit: u32) -> Result<(), String> {
    let is_large = |kernel: &KernelInfo<'_>| kernel.static_shared_bytes > limit;
    let refused = module.kernels().find(is_large).map(|kernel| {
        format!(
            "`{}` uses too much static shared memory: {} bytes, but the limit is {limit}",
            kernel.name, kernel.static_shared_bytes
        )
    });
    refused.map_or(Ok(()), Err)
}

/// Why machine code alone cannot be loaded. Programs get it from a compiler that they call.
fn machine_code(error: &fatbin::Error, device: u32) -> Refusal {
    Refusal {
        status: Status::NO_BINARY_FOR_GPU,
        message: format!(
            "{error}: the simulator runs only PTX; a program that calls NVRTC gets PTX with \
             --gpu-architecture=compute_{device} and nvrtcGetPTX (CuPy: with \
             CUPY_COMPILE_WITH_PTX=1 set), one that calls nvcc, with --ptx instead of \
             --cubin; libraries such as cuFFT load only machine code"
        ),
    }
}

/// The error of the image reader, as a driver reports it.
fn refusal(error: fatbin::Error) -> Refusal {
    let (status, cure) = match error {
        fatbin::Error::NoPtx { .. } => (
            Status::NO_BINARY_FOR_GPU,
            ": the simulator runs only PTX; include it with nvcc's \
             -gencode arch=compute_90,code=compute_90 (NVIDIA's libraries, such as cuBLAS, cuFFT \
             and cuRAND, have no PTX for most of their kernels)",
        ),
        fatbin::Error::PtxForOthers { .. } => (
            Status::NO_BINARY_FOR_GPU,
            ": LOCKSTEP_SIM_COMPUTE sets the compute capability of the simulated devices",
        ),
        fatbin::Error::NotText { .. } => (Status::INVALID_PTX, ""),
        _ => (Status::INVALID_IMAGE, ""),
    };
    Refusal {
        status,
        message: format!("{error}{cure}"),
    }
}

/// Whether the bytes at an address begin with a mark.
///
/// # Safety
/// As many bytes as match, and one more, can be read.
unsafe fn begins_with(start: *const u8, mark: &[u8]) -> bool {
    let mut bytes = mark.iter().enumerate();
    // SAFETY: the caller's promise.
    bytes.all(|(i, &byte)| unsafe { *start.add(i) } == byte)
}

/// The bytes of an image.
///
/// # Safety
/// A complete image begins there.
unsafe fn whole<'a>(start: *const u8) -> Outcome<&'a [u8]> {
    // SAFETY: the caller says that an image is there: at least a nul, four bytes if none of the
    // first three is one, and then as many as the headers give.
    unsafe {
        if (0..4).any(|i| *start.add(i) == 0) {
            return Ok(CStr::from_ptr(start.cast()).to_bytes());
        }
        let mut n = 4;
        loop {
            let bytes = std::slice::from_raw_parts(start, n);
            match fatbin::extent(bytes).map_err(|_| Status::INVALID_IMAGE)? {
                Extent::Bytes(all) => return Ok(std::slice::from_raw_parts(start, all)),
                Extent::AtLeast(more) if more > n => n = more,
                Extent::AtLeast(_) => return Err(Status::INVALID_IMAGE),
                Extent::ToNul => return Ok(CStr::from_ptr(start.cast()).to_bytes()),
            }
        }
    }
}

/// Links texts, or says why they cannot be linked.
pub fn linked(texts: &[(String, String)]) -> Result<ptx_sim::Module, String> {
    let mut linker = ptx_sim::Linker::new();
    for (name, text) in texts {
        linker.add(name, text).map_err(|error| error.to_string())?;
    }
    let module = linker.link().map_err(|error| error.to_string())?;
    has_room(&module, STATIC_SHARED_BYTES)?;
    Ok(module)
}

/// An image of texts that belong together.
pub fn linked_image(texts: &[(String, String)], limits: RegisterLimits) -> Vec<u8> {
    let mut bytes = LINKED.to_vec();
    bytes.extend([0; LINKED_HEADER - LINKED.len()]);
    for part in texts.iter().flat_map(|(name, text)| [name, text]) {
        bytes.extend((part.len() as u64).to_le_bytes());
        bytes.extend(part.as_bytes());
    }
    let size = bytes.len() as u64;
    let numbers = [
        limits.most.unwrap_or(0),
        limits.block_threads.unwrap_or(0),
        limits.min_blocks.unwrap_or(0),
        limits.overrides.into(),
    ];
    let mut header = size.to_le_bytes().to_vec();
    header.extend(numbers.iter().flat_map(|number| number.to_le_bytes()));
    bytes[LINKED.len()..LINKED_HEADER].copy_from_slice(&header);
    bytes
}

/// The texts of such an image, and its register limits; `None` if it is broken.
fn linked_texts(bytes: &[u8]) -> Option<(Vec<(String, String)>, RegisterLimits)> {
    let (header, mut left) = bytes.split_at_checked(LINKED_HEADER)?;
    let numbers = header[LINKED_HEADER - 16..].as_chunks().0;
    let number = |i: usize| Some(u32::from_le_bytes(numbers[i])).filter(|&n| n > 0);
    let limits = RegisterLimits {
        most: number(0),
        block_threads: number(1),
        min_blocks: number(2),
        overrides: number(3).is_some(),
    };
    let mut part = || {
        let (size, rest) = left.split_first_chunk::<8>()?;
        let size = usize::try_from(u64::from_le_bytes(*size)).ok()?;
        let (text, rest) = rest.split_at_checked(size)?;
        left = rest;
        String::from_utf8(text.to_vec()).ok()
    };
    let mut texts = Vec::new();
    while let Some(name) = part() {
        texts.push((name, part()?));
    }
    left.is_empty().then_some((texts, limits))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn linked_images_are_read_back() {
        let texts = vec![
            ("a".to_owned(), "text".to_owned()),
            (String::new(), "é".to_owned()),
        ];
        let limits = RegisterLimits {
            most: Some(40),
            overrides: true,
            ..RegisterLimits::default()
        };
        let bytes = linked_image(&texts, limits);
        assert_eq!(linked_texts(&bytes), Some((texts, limits)));
        for end in 0..bytes.len() {
            let whole_pairs = end == LINKED_HEADER || end == LINKED_HEADER + 8 + 1 + 8 + 4;
            assert_eq!(linked_texts(&bytes[..end]).is_some(), whole_pairs, "{end}");
        }
    }

    #[test]
    fn images_end_where_they_say() {
        // SAFETY: each is complete.
        unsafe {
            for text in [c"", c"a", c".ve", c".version 8.0"] {
                assert_eq!(whole(text.as_ptr().cast()), Ok(text.to_bytes()));
            }
        }
    }
}
