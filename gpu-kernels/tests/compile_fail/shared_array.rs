//! Shared arrays that are empty or misaligned, and options that do not exist.
use cuda_std::shared_array;

fn empty() {
    shared_array![f32; 0];
}

fn misaligned() {
    shared_array![f32; 32, align = 2];
}

fn other_option() {
    shared_array![f32; 32, size = 2];
}

fn main() {}
