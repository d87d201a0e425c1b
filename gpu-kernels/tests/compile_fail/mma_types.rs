//! Products of fragments whose shapes or element types do not fit.
use cuda_std::half::{bf16, f16};
use cuda_std::mma::{FragmentA, FragmentB, FragmentC, M16N8K8, M16N8K16, mma};

unsafe fn products(
    a8: FragmentA<f16, M16N8K8>,
    a16: FragmentA<f16, M16N8K16>,
    b16: FragmentB<f16, M16N8K16>,
    b16_bf: FragmentB<bf16, M16N8K16>,
    a16_bf: FragmentA<bf16, M16N8K16>,
    c: FragmentC<f32>,
) {
    unsafe {
        // Shapes that do not fit.
        mma(a8, b16, c);
        // Element types that do not fit.
        mma(a16, b16_bf, c);
        // bf16 is summed in f32 only.
        mma(a16_bf, b16_bf, FragmentC::<f16>::zero());
        // Operands the wrong way round.
        mma(b16, a16, c);
    }
}

fn main() {}
