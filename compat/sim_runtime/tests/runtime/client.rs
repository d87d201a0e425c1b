//! A program: what nvcc's code registers before `main`, and how it launches kernels.

use std::ffi::{CStr, CString, c_void};
use std::path::{Path, PathBuf};
use std::ptr::null_mut;
use std::sync::{LazyLock, Once};

use sim_driver::Settings;
use sim_runtime::api::copy::*;
use sim_runtime::api::memory::*;
use sim_runtime::api::registration::*;
use sim_runtime::layouts::Dim3;

/// The kernels and variables of `kernels.cu`.
#[repr(C, align(8))]
struct Aligned<T: ?Sized>(T);
static KERNELS: &Aligned<[u8]> = &Aligned(*include_bytes!("kernels.fatbin"));

/// Calls a function that must succeed.
macro_rules! ok {
    ($($call:tt)*) => {{
        #[allow(unused_unsafe, reason = "calls may be in an `unsafe` block for another reason")]
        let status = unsafe { $($call)* };
        $crate::client::ok(status);
    }};
}

/// Asserts that a call has succeeded.
#[track_caller]
pub fn ok(status: u32) {
    let texts = sim_runtime::error::texts(status);
    assert_eq!(status, 0, "{texts:?}");
}

/// The structure that registers a fat binary.
#[repr(C)]
struct Wrapper {
    magic: u32,
    version: u32,
    data: *const u8,
    parts: *const *const u8,
}

/// A kernel or variable in the program's own memory: its address identifies it.
pub type Place = Box<u64>;

/// The address that identifies something in the program.
pub fn address<T>(place: &T) -> usize {
    std::ptr::from_ref(place).addr()
}

/// A parameter of a kernel: its bytes.
pub trait Parameter {
    fn address(&self) -> *mut c_void;
}

impl<T: Copy> Parameter for T {
    fn address(&self) -> *mut c_void {
        std::ptr::from_ref(self).cast_mut().cast()
    }
}

/// A program with the kernels and variables of `kernels.cu`.
pub struct Program {
    fat: usize,
    _wrapper: Box<Wrapper>,
    pub add: Place,
    pub read_variables: Place,
    counter: Place,
    table: Place,
}

/// Where the driver's log goes.
pub fn log() -> &'static Path {
    static LOG: LazyLock<PathBuf> = LazyLock::new(|| {
        let name = format!("lockstep-runtime-{}.log", std::process::id());
        std::env::temp_dir().join(name)
    });
    &LOG
}

/// Makes the runtime use the driver of this process, with five devices.
fn use_simulator() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let settings = Settings {
            n_devices: 5,
            memory_bytes: 1 << 30,
            log: Some(log().to_owned()),
            ..Settings::default()
        };
        sim_driver::initialize_with(settings).expect("nobody else has");
        sim_runtime::driver::find_with(sim_driver::function).expect("nobody else has");
    });
}

impl Program {
    pub fn new() -> Self {
        Self::of(&KERNELS.0)
    }

    /// With another fat binary.
    pub fn of(data: &'static [u8]) -> Self {
        Self::registered(Wrapper {
            magic: 0x4662_43b1,
            version: 1,
            data: data.as_ptr(),
            parts: std::ptr::null(),
        })
    }

    /// From PTX alone.
    pub fn of_ptx(text: &'static CStr) -> Self {
        Self::of(text.to_bytes_with_nul())
    }

    /// Registers a variable that host and devices access at the same address, which is stored in
    /// `place`.
    pub fn register_managed(&self, place: &mut Place, name: &CStr) {
        let slot = std::ptr::from_mut(&mut **place).expose_provenance();
        let name = name.as_ptr();
        unsafe { __cudaRegisterManagedVar(self.fat, slot, name, name, 0, 4, 0, 0) };
    }

    /// What a program does before it first uses such a variable.
    pub fn init_module(&self) -> bool {
        unsafe { __cudaInitModule(self.fat) != 0 }
    }

    /// With relocatable code: one fat binary has all kernels, and what is linked beforehand has
    /// none.
    pub fn relocatable() -> Self {
        static EMPTY: Aligned<[u8; 16]> = Aligned(*b"\x50\xed\x55\xba\x01\0\x10\0\0\0\0\0\0\0\0\0");
        let parts = Box::leak(Box::new([KERNELS.0.as_ptr(), std::ptr::null()]));
        Self::registered(Wrapper {
            magic: 0x4662_43b1,
            version: 2,
            data: EMPTY.0.as_ptr(),
            parts: parts.as_ptr(),
        })
    }

    fn registered(wrapper: Wrapper) -> Self {
        use_simulator();
        let wrapper = Box::new(wrapper);
        let fat = unsafe {
            __cudaRegisterFatBinary(std::ptr::from_ref(&*wrapper).cast_mut().cast::<c_void>())
        };
        let program = Self {
            fat,
            _wrapper: wrapper,
            add: Place::default(),
            read_variables: Place::default(),
            counter: Place::default(),
            table: Place::default(),
        };
        program.register_kernel(&program.add, "add");
        program.register_kernel(&program.read_variables, "read_variables");
        for (place, name) in [(&program.counter, c"counter"), (&program.table, c"table")] {
            let host = address(&**place);
            unsafe { __cudaRegisterVar(fat, host, name.as_ptr(), name.as_ptr(), 0, 4, 0, 0) };
        }
        unsafe { __cudaRegisterFatBinaryEnd(fat) };
        program
    }

    pub fn register_kernel(&self, place: &Place, name: &str) {
        let name = CString::new(name).expect("no nul");
        let (host, name, none) = (address(&**place), name.as_ptr(), null_mut());
        unsafe {
            __cudaRegisterFunction(
                self.fat,
                host,
                name,
                name,
                -1,
                none,
                none,
                none,
                none,
                null_mut(),
            );
        }
    }

    pub fn add(&self) -> usize {
        address(&*self.add)
    }

    pub fn counter(&self) -> usize {
        address(&*self.counter)
    }

    pub fn table(&self) -> usize {
        address(&*self.table)
    }

    /// `kernel<<<1, threads>>>(params…)`, as nvcc compiles it; returns the launch's status.
    pub fn launch(&self, kernel: &Place, threads: u32, params: &[&dyn Parameter]) -> u32 {
        let size = |x| Dim3 { x, y: 1, z: 1 };
        let (mut grid, mut block, mut shared_bytes, mut stream) = (size(0), size(0), 1, 1);
        let mut params: Vec<*mut c_void> = params.iter().map(|p| (**p).address()).collect();
        let mut handle = 0;
        unsafe {
            assert_eq!(__cudaPushCallConfiguration(size(1), size(threads), 0, 0), 0);
            let _ = __cudaGetKernel(&mut handle, address(&**kernel));
            ok! {
                __cudaPopCallConfiguration(&mut grid, &mut block, &mut shared_bytes, &mut stream)
            }
            assert_eq!((grid, block), (size(1), size(threads)));
            __cudaLaunchKernel(
                handle,
                grid,
                block,
                params.as_mut_ptr(),
                shared_bytes,
                stream,
            )
        }
    }

    pub fn upload(&self, data: &[i32]) -> u64 {
        let (mut buffer, n_bytes) = (0, size_of_val(data));
        ok!(cudaMalloc(&mut buffer, n_bytes));
        ok!(cudaMemcpy(buffer, data.as_ptr() as u64, n_bytes, 1));
        buffer
    }

    pub fn download(&self, buffer: u64, n: usize) -> Vec<i32> {
        let mut data = vec![0; n];
        ok!(cudaMemcpy(data.as_mut_ptr() as u64, buffer, 4 * n, 2));
        data
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        unsafe { __cudaUnregisterFatBinary(self.fat) };
    }
}
