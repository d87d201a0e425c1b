//! Tensor maps that are passed in another way than by reference.
use cuda_std::{TensorMap, kernel};

#[kernel]
pub unsafe fn by_value(map: TensorMap) {}

#[kernel]
pub unsafe fn changes_it(map: &mut TensorMap) {}

#[kernel]
pub fn safe(map: &TensorMap) {}

mod another {
    pub struct TensorMap(pub u32);

    #[cuda_std::kernel]
    pub unsafe fn takes(map: &TensorMap) {}
}

fn main() {}
