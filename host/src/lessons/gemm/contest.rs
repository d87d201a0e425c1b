//! The kernels that are timed with the device to themselves, and their shapes.
//!
//! There are two contests. On cubes several kernels contend, and on one of them every step of the
//! ladder: the fastest by time wins, compared with one baseline for each shape. On other products,
//! from real models and some that no kernel was tuned for, only the one kernel runs that
//! [`fastest_for`] chooses without having seen any of them run.

use super::LESSON;
use super::choice::fastest_for;
use super::products::{CUBES, LADDER, LARGEST, UNTUNED};
use super::shapes::OF_PEOPLE;
use lesson::Shape;

/// On larger cubes than this, fewer kernels contend.
const LARGE: u32 = 8192;

/// The kernels on cubes, and the largest for each.
const ON_CUBES: [(&str, u32); 9] = [
    ("gemm_width_256", LARGEST),
    ("gemm_stream_k_pairs", LARGEST),
    ("gemm_ping_pong", LARGE),
    ("gemm_width_192", LARGE),
    ("gemm_ping_pong_pairs", 4096),
    ("gemm_width_192_pairs", 4096),
    ("gemm_bf16_width_256", LARGEST),
    ("gemm_bf16_ping_pong", LARGE),
    ("gemm_bf16_width_192", 4096),
];

/// The kernel by `f32` cores that is timed with them, and its sizes; it reaches the power limit.
const OF_F32: (&str, [u32; 2]) = ("sgemm_stream_k", [4096, 8192]);

/// The shapes on which a kernel contends on cubes; `None` if its lesson has no contest.
pub fn on_cubes(lesson: &str, kernel: &str) -> Option<Vec<Shape>> {
    let cube = |side: u32| Shape::of(&[side; 3]);
    match lesson {
        "gemm" => {
            let is_step = super::steps().iter().any(|step| step.id == kernel);
            let contender = ON_CUBES.iter().find(|(contender, _)| *contender == kernel);
            let largest = contender.map_or(0, |(_, largest)| *largest);
            let contends = |side: u32| side <= largest || is_step && side == LADDER;
            let sides = CUBES.into_iter().filter(|&side| contends(side));
            Some(sides.map(cube).collect())
        }
        "sgemm" => {
            let (stream_k, sides) = OF_F32;
            let sides = sides.into_iter().filter(|_| kernel == stream_k);
            Some(sides.map(cube).collect())
        }
        _ => None,
    }
}

/// For each product the kernel that is chosen for it on this many SMs: those of `products`, or, if
/// it is empty, those from real models and those that no kernel was tuned for.
pub fn chosen(products: &[Shape], n_multiprocessors: u32) -> Vec<(&'static str, Shape)> {
    let products = match products {
        [] => OF_PEOPLE
            .iter()
            .chain(&UNTUNED)
            .map(|dims| Shape::of(dims))
            .collect(),
        some => some.to_vec(),
    };
    let choose = |product: Shape| {
        let [m, n, k] = product.product();
        (fastest_for(m, n, k, n_multiprocessors), product)
    };
    products.into_iter().map(choose).collect()
}

/// Whether [`chosen`] is about this lesson.
pub fn is_of(lesson: &str) -> bool {
    lesson == LESSON.id
}

#[cfg(test)]
mod tests {
    use super::{CUBES, LADDER, OF_F32, ON_CUBES, UNTUNED, chosen, on_cubes};
    use crate::lessons::gemm::shapes::OF_PEOPLE;
    use crate::lessons::{gemm, sgemm};
    use lesson::Shape;

    #[test]
    fn contenders_are_kernels_and_every_step_is_timed_once() {
        for (kernel, largest) in ON_CUBES {
            assert!(gemm::LESSON.kernels.iter().any(|entry| entry.id == kernel));
            assert!(CUBES.contains(&largest), "{kernel}");
        }
        let (stream_k, _) = OF_F32;
        assert!(
            sgemm::LESSON
                .kernels
                .iter()
                .any(|entry| entry.id == stream_k)
        );
        let ladder = Shape::of(&[LADDER; 3]);
        for step in gemm::steps() {
            let shapes = on_cubes("gemm", step.id).expect("a contest");
            assert_eq!(shapes.iter().filter(|shape| **shape == ladder).count(), 1);
        }
        assert_eq!(on_cubes("gemm", "gemm_e4m3"), Some(Vec::new()));
        assert_eq!(on_cubes("copy", "copy_plain"), None);
    }

    #[test]
    fn one_kernel_is_chosen_for_each_product() {
        let all = chosen(&[], 132);
        assert_eq!(all.len(), OF_PEOPLE.len() + UNTUNED.len());
        let one = chosen(&[Shape::of(&[4096; 3])], 132);
        assert_eq!(one, [("gemm_width_256", Shape::of(&[4096; 3]))]);
        assert!(UNTUNED.iter().all(|dims| !OF_PEOPLE.contains(dims)));
    }
}
