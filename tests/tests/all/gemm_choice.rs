//! The kernel that is chosen for a product computes it, whatever the product: any sizes, devices of
//! any number of SMs.

use cli::profile::run_case;
use host::lessons::gemm::choice::fastest_for;
use host::{kernels, registry};
use lesson::Shape;
use lockstep::engine::sim::Sim;
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use std::collections::BTreeSet;

/// Products that are tried; those of more multiply-adds are left out, for the sake of time.
const N_PRODUCTS: usize = 24;
const MOST_PRODUCTS: u64 = 1 << 22;

#[test]
fn whatever_is_chosen_computes_the_product() {
    let mut rng = StdRng::seed_from_u64(20_261_123);
    let sim = Sim::new(kernels::modules().expect("the kernels are here"));
    let mut chosen = BTreeSet::new();
    for _ in 0..N_PRODUCTS {
        let dims = loop {
            let mut side = || 1 + (rng.random::<u32>() >> rng.random_range(20..32));
            let dims = [side(), side(), side()];
            if dims.iter().map(|&side| u64::from(side)).product::<u64>() <= MOST_PRODUCTS {
                break dims;
            }
        };
        let [m, n, k] = dims;
        let kernel = fastest_for(m, n, k, rng.random_range(1..160));
        let registered = registry::kernel(kernel).expect("it is one of the lesson's");
        let ended = run_case(registered, &Shape::of(&dims), &sim);
        assert!(ended.is_ok(), "{kernel} at {m}×{n}×{k}: {:?}", ended.err());
        chosen.insert(kernel);
    }
    assert!(chosen.len() > 2, "only {chosen:?} were chosen");
}
