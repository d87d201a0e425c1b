//! A type of another crate with the name of tensor maps.
mod another {
    pub struct TensorMap(pub u32);

    #[cuda_std::kernel]
    pub unsafe fn takes(map: &TensorMap) {}
}

fn main() {}
