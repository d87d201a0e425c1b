//! The library's GPU path on top of the simulator's driver: the same calls, without a GPU.

mod behaviour;
mod foreign;
mod nccl;

use behaviour::{kernels, loaded};
use lockstep::{Device, LaunchConfig};

fn device() -> Device {
    devices().swap_remove(0)
}

fn devices() -> Vec<Device> {
    let settings = sim_driver::Settings {
        n_devices: 2,
        ..sim_driver::Settings::default()
    };
    // The first test does it for all.
    let _ = sim_driver::initialize_with(settings);
    // SAFETY: `sim_driver` gives each name the function with the driver's signature.
    unsafe { cuda_driver::load_functions("sim_driver", sim_driver::function) }
        .expect("it has every function that is needed");
    Device::all().expect("they can be used")
}

#[test]
fn it_says_that_there_is_no_other() {
    device();
    let error = Device::gpu(99)
        .expect_err("there are not that many")
        .to_string();
    assert!(error.starts_with("no GPU 99: the driver sees"), "{error}");
}

#[test]
fn its_reports_name_the_sources_lines() {
    let (device, module) = loaded();
    let out = device.alloc::<u32>("out", 32).expect("there is room");
    let config = LaunchConfig::new([1; 3], [32, 1, 1]).with_shared(32 * 4);
    let options = ptx_sim::LaunchOptions::default();
    let (ended, launches) = sim_driver::observe(options, || {
        // SAFETY: 32 numbers, and shared memory for them.
        unsafe { module.launch(kernels::strided, config, (out.as_mut_ptr(), 1)) }
    });
    ended.expect("it runs");
    let report = launches[0].result.as_ref().expect("it runs");
    let lines = report.instructions();
    let stores = lines
        .iter()
        .find(|line| line.opcode.starts_with("st.shared"));
    let place = stores.and_then(|line| line.loc.as_ref()).expect("a line");
    assert!(place.file.ends_with("behaviour/kernels.rs"), "{place}");
}
