//! The library's GPU path on top of the simulator's driver: the same calls, without a GPU.

mod behaviour;
mod foreign;
mod nccl;

use lockstep::Device;

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
        .err()
        .expect("there are not that many")
        .to_string();
    assert!(error.starts_with("no GPU 99: the driver sees"), "{error}");
}
