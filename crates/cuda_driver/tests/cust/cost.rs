//! The cost of a launch by `cust` and the driver, compared with one made on ptx_sim's device
//! directly:
//! `cargo test --release -p cuda_driver --test cust cost -- --ignored --nocapture`.

use std::time::{Duration, Instant};

use cust::memory::DeviceBuffer;
use ptx_sim::{Device, Launch, LaunchOptions, Module};
use sim_driver::observe;

use crate::{KERNELS, Program, real_driver};

/// The fastest of several rounds counts: other programs disturb the rest.
fn best(mut round: impl FnMut()) -> Duration {
    let time = |()| {
        let started = Instant::now();
        round();
        started.elapsed()
    };
    [(); 9].map(time).into_iter().min().expect("nine rounds")
}

/// Both ways for `n` elements, per launch, with counters and every launch waited for.
fn both(n: usize, n_launches: u32) -> [Duration; 2] {
    let device = Device::new();
    let module = Module::parse(KERNELS).expect("it is right");
    let module = device.load(&module).expect("room");
    let bytes = 4 * n as u64;
    let [x, y] = ["x", "y"].map(|label| device.alloc(bytes, label).expect("room"));
    device.fill(x, bytes, 0).expect("it is there");
    device.fill(y, bytes, 0).expect("it is there");
    let count = n as u32;
    let params: [&[u8]; 4] = [
        &x.to_le_bytes(),
        &y.to_le_bytes(),
        &1.0_f32.to_le_bytes(),
        &count.to_le_bytes(),
    ];
    let launch = Launch {
        grid: [count.div_ceil(128), 1, 1],
        block: [128, 1, 1],
        dynamic_shared_bytes: 0,
        params: &params,
        options: LaunchOptions::default(),
    };
    let direct = best(|| {
        for _ in 0..n_launches {
            device.launch(&module, "saxpy", &launch).expect("it runs");
        }
    });
    let program = Program::new();
    let [x, y] = [(); 2].map(|()| DeviceBuffer::<f32>::zeroed(n).expect("room"));
    let by_cust = best(|| {
        for _ in 0..n_launches {
            let (_, launches) = observe(LaunchOptions::default(), || {
                program.saxpy(&program.stream, 1.0, &x, &y);
            });
            assert!(launches[0].result.is_ok());
        }
    });
    [direct / n_launches, by_cust / n_launches]
}

#[test]
#[ignore = "measures"]
fn a_launch_by_cust_costs_little_more() {
    assert!(real_driver().is_none(), "on the simulator only");
    for (n, n_launches) in [(128, 2000), (4096, 1000), (1 << 20, 5)] {
        let [direct, by_cust] = both(n, n_launches);
        let ratio = by_cust.as_secs_f64() / direct.as_secs_f64();
        println!("{n} elements: {direct:?} directly, {by_cust:?} by cust: {ratio:.2} times");
    }
}
