//! Observations that only the simulator makes: counts, findings and faults of launches that a test
//! makes through `cust`, with nothing of them left behind.

use cust::memory::DeviceBuffer;
use ptx_sim::LaunchOptions;
use sim_driver::observe;

use crate::{Program, real_driver, values};

#[test]
fn a_test_asserts_counts() {
    if real_driver().is_some() {
        return;
    }
    let program = Program::new();
    let x = DeviceBuffer::from_slice(&[1.0_f32; 1024]).expect("room");
    let (_, launches) = observe(LaunchOptions::default(), || {
        program.saxpy(&program.stream, 1.0, &x, &x);
    });
    let [launch] = &launches[..] else {
        panic!("expected one launch, got {launches:?}");
    };
    assert_eq!(launch.kernel, "saxpy");
    let counts = &launch.result.as_ref().expect("it goes well").counts;
    // 32 warps, two loads and a store each, four sectors of 32 bytes per request.
    assert_eq!(counts.global_load_requests, 64);
    assert_eq!(counts.global_load_sectors, 4 * 64);
    assert_eq!(counts.global_store_sectors, 4 * 32);
    assert_eq!(values(&x), [2.0; 1024]);
}

#[test]
fn a_fault_is_told_and_fails_nothing_else() {
    if real_driver().is_some() {
        return;
    }
    let program = Program::new();
    let x = DeviceBuffer::from_slice(&[1.0_f32; 1000]).expect("room");
    let y = DeviceBuffer::from_slice(&[1.0_f32; 10]).expect("room");
    let (_, launches) = observe(LaunchOptions::default(), || {
        program.saxpy(&program.stream, 1.0, &x, &y);
    });
    let error = launches[0]
        .result
        .as_ref()
        .expect_err("it is out of bounds");
    let text = error.to_string();
    assert!(
        text.contains("saxpy") && text.contains("thread (10, 0, 0)"),
        "{text}"
    );
    program.saxpy(&program.stream, 1.0, &x, &x);
    assert_eq!(values(&x), [2.0; 1000]);
}

#[test]
fn each_thread_watches_its_own_launches() {
    if real_driver().is_some() {
        return;
    }
    std::thread::scope(|scope| {
        for n_launches in 1..5 {
            scope.spawn(move || {
                let program = Program::new();
                let x = DeviceBuffer::from_slice(&[1.0_f32; 64]).expect("room");
                let ((), outer) = observe(LaunchOptions::default(), || {
                    program.saxpy(&program.stream, 0.0, &x, &x);
                    let ((), inner) = observe(LaunchOptions::default(), || {
                        for _ in 0..n_launches {
                            program.saxpy(&program.stream, 0.0, &x, &x);
                        }
                    });
                    assert_eq!(inner.len(), n_launches);
                });
                assert_eq!(outer.len(), 1);
            });
        }
    });
}
