//! Programs on `cust`, one for each of its areas. The same binary runs on the simulator, on any
//! machine, and with `LOCKSTEP_TEST_DRIVER=libcuda.so.1` on a GPU.

mod cost;
mod events;
mod graphs;
mod linking;
mod memory;
mod observed;
mod occupancy;
mod streams;

use std::path::Path;
use std::sync::Once;
use std::sync::atomic::{AtomicU32, Ordering};

use cust::context::Context;
use cust::device::Device;
use cust::memory::{CopyDestination, DeviceBuffer};
use cust::module::Module;
use cust::stream::{Stream, StreamFlags};
use sim_driver::Settings;

const KERNELS: &str = include_str!("kernels.ptx");

/// Devices that the simulator has here: tests that run at the same time get one each.
const N_DEVICES: u32 = 8;

/// The driver to test instead of the simulator's, by name or path.
fn real_driver() -> Option<String> {
    std::env::var("LOCKSTEP_TEST_DRIVER").ok()
}

/// A program: a device, its context, a module and a stream. Fields are dropped in this order.
struct Program {
    stream: Stream,
    module: Module,
    device: Device,
    _context: Context,
}

impl Program {
    fn new() -> Self {
        static ONCE: Once = Once::new();
        static NEXT: AtomicU32 = AtomicU32::new(0);
        ONCE.call_once(|| {
            let driver = match real_driver() {
                Some(library) => cuda_driver::load_from(Path::new(&library)),
                None => {
                    let settings = Settings {
                        n_devices: N_DEVICES,
                        // Some kernels wait for the host, which may be busy.
                        fuel: Some(2_000_000_000),
                        ..Settings::default()
                    };
                    sim_driver::initialize_with(settings).expect("nobody has before");
                    // SAFETY: they have the signatures in the driver's reference.
                    unsafe { cuda_driver::load_functions("the simulator", sim_driver::function) }
                }
            };
            let started = driver.map(|driver| driver.init());
            started.expect("it loads").expect("it starts");
        });
        let n_devices = Device::num_devices().expect("there are some");
        let number = NEXT.fetch_add(1, Ordering::Relaxed) % n_devices;
        let device = Device::get_device(number).expect("a device");
        let context = Context::new(device).expect("a context");
        Self {
            stream: Stream::new(StreamFlags::NON_BLOCKING, None).expect("a stream"),
            module: Module::from_ptx(KERNELS, &[]).expect("the kernels load"),
            device,
            _context: context,
        }
    }

    /// Submits `y = a * x + y`.
    fn saxpy(&self, stream: &Stream, a: f32, x: &DeviceBuffer<f32>, y: &DeviceBuffer<f32>) {
        let saxpy = self.module.get_function("saxpy").expect("it is there");
        let n = x.len() as u32;
        // SAFETY: both buffers have `n` elements.
        unsafe {
            cust::launch!(saxpy<<<n.div_ceil(128), 128, 0, stream>>>(
                x.as_device_ptr(),
                y.as_device_ptr(),
                a,
                n
            ))
        }
        .expect("it is launched");
    }
}

/// What a buffer holds.
fn values<T: cust::memory::DeviceCopy + Default + Clone>(buffer: &DeviceBuffer<T>) -> Vec<T> {
    let mut values = vec![T::default(); buffer.len()];
    buffer.copy_to(&mut values[..]).expect("it is copied");
    values
}
