//! Kernels in which each thread computes from its own operands, checked
//! against a function in Rust.

use super::numbers::Numbers;
use super::{HEADER, launch};

/// An instruction, or a few, to be checked.
pub struct Case {
    body: String,
    /// Bits of each operand.
    widths: Vec<u32>,
    n_outputs: usize,
    name: String,
    floats: bool,
    any_nan: bool,
    tail: String,
    result_width: u32,
}

impl Case {
    /// One instruction with sources of these widths (those that are not a
    /// register's width give small operands in 32-bit registers) and a result.
    pub fn new(opcode: &str, widths: &[u32], result_width: u32) -> Self {
        Self {
            body: String::new(),
            widths: widths.to_vec(),
            n_outputs: 1,
            name: opcode.to_owned(),
            floats: false,
            any_nan: false,
            tail: String::new(),
            result_width,
        }
    }

    /// As [`Case::new`], with operands that are interesting as floats.
    pub fn floats(opcode: &str, widths: &[u32], result_width: u32) -> Self {
        Self {
            floats: true,
            ..Self::new(opcode, widths, result_width)
        }
    }

    /// Statements that read `%a0…` (64 bits), `%x0…` (32) and `%h0…` (16),
    /// and leave results in `%o0…`.
    pub fn body(body: &str, widths: &[u32], n_outputs: usize) -> Self {
        Self {
            body: body.to_owned(),
            n_outputs,
            ..Self::new("", widths, 64)
        }
    }

    /// With operands that are interesting as floats.
    pub fn on_floats(self) -> Self {
        Self {
            floats: true,
            ..self
        }
    }

    /// Any NaN stands for any other.
    pub fn without_nan_payloads(self) -> Self {
        Self {
            any_nan: true,
            ..self
        }
    }

    /// With some text after the last operand.
    pub fn with_tail(self, tail: &str) -> Self {
        Self {
            tail: tail.to_owned(),
            ..self
        }
    }

    fn statements(&self) -> String {
        if !self.body.is_empty() {
            return self.body.clone();
        }
        let sources: Vec<String> = self
            .widths
            .iter()
            .enumerate()
            .map(|(i, width)| match width {
                64 => format!("%a{i}"),
                16 => format!("%h{i}"),
                _ => format!("%x{i}"),
            })
            .collect();
        let (result, store) = match self.result_width {
            64 => ("%o0", ""),
            32 => ("%y0", "\n\tcvt.u64.u32 %o0, %y0;"),
            _ => ("%g0", "\n\tcvt.u64.u16 %o0, %g0;"),
        };
        format!(
            "{} {result}, {}{};{store}",
            self.name,
            sources.join(", "),
            self.tail
        )
    }

    fn ptx(&self) -> String {
        let n = self.widths.len();
        let mut load = String::new();
        for i in 0..n {
            load += &format!("\tld.global.u64 %a{i}, [%in+{}];\n", 8 * i);
            load += &format!("\tcvt.u32.u64 %x{i}, %a{i};\n\tcvt.u16.u64 %h{i}, %a{i};\n");
        }
        let mut store = String::new();
        for i in 0..self.n_outputs {
            store += &format!("\tst.global.u64 [%out+{}], %o{i};\n", 8 * i);
        }
        format!(
            "{HEADER}
.visible .entry k(.param .u64 buffer)
{{
	.reg .pred %p<8>;
	.reg .b16 %h<8>, %g<8>;
	.reg .b32 %x<8>, %y<8>, %id;
	.reg .b64 %a<8>, %o<8>, %in, %out, %offset;
	ld.param.u64 %in, [buffer];
	mov.u32 %id, %tid.x;
	mul.wide.u32 %offset, %id, {};
	add.u64 %in, %in, %offset;
	add.u64 %out, %in, {};
{load}	{}
{store}	ret;
}}
",
            8 * (n + self.n_outputs),
            8 * n,
            self.statements()
        )
    }
}

/// What a reference gives: one result or several.
pub trait Results {
    /// The results in their order.
    fn list(self) -> Vec<u64>;
}
impl Results for u64 {
    fn list(self) -> Vec<u64> {
        vec![self]
    }
}
impl Results for Vec<u64> {
    fn list(self) -> Vec<u64> {
        self
    }
}

/// An operand: often a critical one.
fn operand(numbers: &mut Numbers, width: u32, floats: bool) -> u64 {
    let random = numbers.draw();
    let mask = if width >= 64 {
        u64::MAX
    } else {
        (1 << width) - 1
    };
    let top = 1u64 << (width - 1);
    let value = match numbers.draw() % 8 {
        0 => [0, 1, 2, mask, top, top - 1, mask - 1, 3][(random % 8) as usize],
        1 => random % 64,
        2 if floats => match width {
            32 => [
                0,
                0x8000_0000,
                0x7F80_0000,
                0xFF80_0000,
                0x7FC0_1234,
                1,
                0x7F_FFFF,
                0x80_0000,
            ][(random % 8) as usize],
            64 => [
                0,
                1 << 63,
                0x7FF0 << 48,
                0xFFF0 << 48,
                0x7FF8 << 48,
                1,
                (1 << 52) - 1,
                1 << 52,
            ][(random % 8) as usize],
            _ => [0, 0x8000, 0x7C00, 0xFC00, 0x7E12, 1, 0x3FF, 0x400][(random % 8) as usize],
        },
        // Numbers of ordinary size.
        3 | 4 if floats => {
            let value = (random >> 11) as f64 / (1u64 << 53) as f64 * 200.0 - 100.0;
            match width {
                32 => u64::from((value as f32).to_bits()),
                64 => value.to_bits(),
                _ => u64::from(half::f16::from_f64(value).to_bits()),
            }
        }
        _ => random,
    };
    value & mask
}

/// Threads of the launch, each with other operands.
const N_THREADS: u32 = 1024;

/// Runs a case and compares every thread with the reference.
pub fn check<R: Results>(case: Case, reference: impl Fn(&[u64]) -> R) {
    let n = case.widths.len();
    let stride = n + case.n_outputs;
    let mut numbers = Numbers(0x0123_4567_89AB_CDEF);
    let mut buffer = Vec::with_capacity(stride * N_THREADS as usize);
    for _ in 0..N_THREADS {
        buffer.extend(
            case.widths
                .iter()
                .map(|&w| operand(&mut numbers, w, case.floats)),
        );
        buffer.extend((0..case.n_outputs).map(|_| 0xAAAA_AAAA_AAAA_AAAA));
    }
    let ptx = case.ptx();
    let (out, _) = launch(&ptx, &buffer, |call| call.block(N_THREADS))
        .unwrap_or_else(|e| panic!("{e}\n{}", case.statements()));
    for (thread, words) in out.chunks(stride).enumerate() {
        let (operands, results) = words.split_at(n);
        let expected = reference(operands).list();
        let is_nan = |bits: u64| match case.result_width {
            64 => f64::from_bits(bits).is_nan(),
            _ => f32::from_bits(bits as u32).is_nan(),
        };
        let agree = results
            .iter()
            .zip(&expected)
            .all(|(&got, &want)| got == want || case.any_nan && is_nan(got) && is_nan(want));
        assert!(
            agree && results.len() == expected.len(),
            "`{}` on {operands:#x?} gave {results:#x?}, not {expected:#x?} (thread {thread})",
            case.statements()
        );
    }
}
