//! The library on the device that is here: a GPU, or the simulator.

mod behaviour;

use lockstep::Device;

fn device() -> Device {
    Device::open().expect("there is always one")
}
