//! The cases, and their operands, which come from seeds.

use common::numbers::Numbers;

/// A case: a form of `wgmma`, where its operands lie, and what numbers they are.
#[derive(Clone, Debug)]
pub struct Case {
    pub form: Form,
    /// Bytes of shared memory that are filled, of which the first are A's.
    pub image: usize,
    pub split: usize,
    /// Descriptors for an image at address 0, and what is added to their addresses from one
    /// product of a chain to the next.
    pub descriptors: [u64; 2],
    pub steps: [u32; 2],
    /// Products one after the other.
    pub chain: u32,
    /// Whether the first keeps the sums.
    pub keeps: bool,
    /// Kinds of numbers: of A, of B, of the sums.
    pub classes: [String; 3],
    /// How often, with other numbers.
    pub n_tiles: usize,
}

/// A form of the instruction.
#[derive(Clone, Debug)]
pub struct Form {
    /// Types of the sums, of A and of B.
    pub types: [String; 3],
    pub n: u32,
    pub a_in_registers: bool,
    pub transposed: [bool; 2],
    pub negated: [bool; 2],
    pub saturates: bool,
    /// Whether the same chain follows with A negated.
    pub undoes: bool,
}

impl Form {
    fn parse(name: &str) -> Self {
        let parts: Vec<&str> = name.split('.').collect();
        let [d, a, b, n, memory, transposed, signs, rest @ ..] = &parts[..] else {
            panic!("{name}")
        };
        let flags = |text: &str, yes| {
            let mut chars = text.chars().skip(1).map(|c| c == yes);
            [chars.next().unwrap(), chars.next().unwrap()]
        };
        Self {
            types: [d, a, b].map(|name| (*name).to_owned()),
            n: n[1..].parse().unwrap(),
            a_in_registers: *memory == "rs",
            transposed: flags(transposed, '1'),
            negated: flags(signs, '-'),
            saturates: rest.contains(&"sat"),
            undoes: rest.contains(&"undo"),
        }
    }

    /// Registers of the sums per thread.
    pub fn n_sums(&self) -> usize {
        let per_block = if self.types[0] == "f16" { 2 } else { 4 };
        self.n as usize / 8 * per_block
    }
}

/// All cases.
pub fn cases() -> Vec<Case> {
    let lines = include_str!("cases.txt").lines();
    lines.filter(|l| !l.starts_with('#')).map(parse).collect()
}

fn parse(line: &str) -> Case {
    let words: Vec<&str> = line.split_whitespace().collect();
    let number = |i: usize| words[i].parse::<usize>().unwrap();
    let bits = |i: usize| u64::from_str_radix(words[i], 16).unwrap();
    Case {
        form: Form::parse(words[0]),
        image: number(1),
        split: number(2),
        descriptors: [bits(3), bits(4)],
        steps: [number(5) as u32, number(6) as u32],
        chain: number(7) as u32,
        keeps: words[8] == "1",
        classes: [9, 10, 11].map(|i| words[i].to_owned()),
        n_tiles: number(12),
    }
}

pub fn mix(x: u64) -> u64 {
    Numbers(x).draw()
}

/// Bits of a number of a type, of its exponent and of its fraction.
fn format(ty: &str) -> (u32, u32, u32) {
    match ty {
        "f16" => (16, 5, 10),
        "bf16" => (16, 8, 7),
        "tf32" | "f32" => (32, 8, 23),
        "e4m3" => (8, 4, 3),
        "e5m2" => (8, 5, 2),
        "s32" => (32, 0, 0),
        _ => (8, 0, 0),
    }
}

/// A float's exponent by its class; none for zero. `random` is for it, `choice` for rare
/// cases.
struct Exponents {
    bias: i64,
    most: i64,
    exponent_bits: u32,
}

impl Exponents {
    fn pick(&self, class: &str, random: u32, choice: u32, seed: u64) -> i64 {
        let bias = self.bias;
        let below = |n: u32| i64::from(random % n);
        match class {
            "near" | "special" => bias - 2 + below(4),
            "mid" | "paira" | "pairb" => bias - 12 + below(24),
            "wide" => below(self.most as u32 + 1),
            "low" => below(3),
            "lowproduct" if self.exponent_bits == 8 => bias - 70 + below(14),
            "lowproduct" => below(bias as u32 / 2 + 2),
            "sparse" => bias - 14 + below(28),
            "gap" if choice.is_multiple_of(8) => bias + 2 + (mix(seed) % 12) as i64,
            "gap" => bias - below(4),
            _ => panic!("no class {class}"),
        }
    }
}

/// Element `i` of a region: 0 A, 1 B, 2 A in registers, 3 the sums.
fn element(ty: &str, class: &str, seed: u64, region: u64, i: u64) -> u32 {
    let (n_bits, exponent_bits, fraction_bits) = format(ty);
    let mut r = mix(mix(seed.wrapping_mul(4).wrapping_add(region)) ^ i);
    let pair = mix(mix(seed.wrapping_mul(4)) ^ (i / 2) ^ 1 << 40);
    let all = u32::MAX >> (32 - n_bits);
    if class == "zero" {
        return 0;
    }
    if exponent_bits == 0 {
        let x = (r >> 20) as u32 & all;
        let limit = if r & 1 != 0 { 0x7fff_ffff } else { 0x8000_0000 };
        return if class == "limit" { limit ^ x >> 14 } else { x };
    }
    if class == "any" {
        return (r >> 20) as u32 & all;
    }
    let mut flip = false;
    if class == "paira" {
        r = pair;
    } else if class == "pairb" && r >> 60 != 0 {
        (r, flip) = (mix(pair), i % 2 == 1);
    }
    let is_e4m3 = ty == "e4m3";
    let exponents = Exponents {
        bias: (1 << (exponent_bits - 1)) - 1,
        most: (1 << exponent_bits) - if is_e4m3 { 1 } else { 2 },
        exponent_bits,
    };
    let most = exponents.most;
    let random = (r >> 32) as u32;
    let mut fraction = (r >> 8) as u32 & ((1 << fraction_bits) - 1);
    let choice = (r >> 1) as u32 & 63;
    if class == "sparse" {
        if choice & 3 != 0 {
            return 0;
        }
        if choice & 4 != 0 {
            fraction = u32::from(choice & 8 != 0);
        }
    }
    let mut exponent = exponents.pick(class, random, choice, seed);
    let is_special = class == "special";
    let is_rare = (random >> 8).is_multiple_of(4);
    if is_special {
        match choice {
            0 => (exponent, fraction) = (most + 1, 0),
            1 if is_rare => exponent = most + 1,
            2 => (exponent, fraction) = (0, 0),
            _ => {}
        }
    }
    exponent = exponent.clamp(0, most + i64::from(is_special));
    if is_e4m3 {
        exponent = exponent.min(15);
        if is_special && choice <= 1 && is_rare {
            (exponent, fraction) = (15, 7);
        } else if exponent == 15 && fraction == 7 {
            fraction = 6;
        }
    }
    let sign = r as u32 & 1 ^ u32::from(flip);
    sign << (exponent_bits + fraction_bits) | (exponent as u32) << fraction_bits | fraction
}

/// Numbers of a class as they lie in memory. `places` are all different halves.
fn fill(bytes: usize, ty: &str, class: &str, seed: u64, region: u64) -> Vec<u8> {
    let width = format(ty).0 as usize / 8;
    let elements = (0..bytes / width).flat_map(|i| {
        let x = match (class, i < 31743) {
            ("places", true) => i as u32 + 1,
            ("places", false) => 0x8000 | (i as u32 - 31743 + 1),
            _ => element(ty, class, seed, region, i as u64),
        };
        x.to_le_bytes().into_iter().take(width)
    });
    elements.collect()
}

const ONE: u32 = 0x3c00;

/// The inputs of a tile's kernel: shared memory, registers of A, sums.
pub struct Operands {
    pub image: Vec<u8>,
    pub a: Vec<u8>,
    pub c: Vec<u8>,
}

impl Case {
    /// The operands of a tile of the case of this number.
    pub fn operands(&self, index: usize, tile: usize) -> Operands {
        let seed = (index * 1000 + tile) as u64;
        let [d, a, b] = &self.form.types;
        let [a_class, b_class, c_class] = &self.classes;
        let mut image = fill(self.split, a, a_class, seed, 0);
        let of_b = self.image - self.split;
        image.extend(match &**b_class {
            "identity" => identity_in_memory(of_b),
            class => fill(of_b, b, class, seed, 1),
        });
        Operands {
            image,
            a: match &**a_class {
                "identity" => identity_in_registers(),
                "places" => vec![0; 2048],
                class => fill(2048, a, class, seed, 2),
            },
            c: fill(512 * self.form.n_sums(), d, c_class, seed, 3),
        }
    }
}

fn identity_in_memory(bytes: usize) -> Vec<u8> {
    let mut memory = vec![0; bytes];
    for i in 0..16 {
        let at = i / 8 * 256 + i / 8 * 128 + i % 8 * 16 + i % 8 * 2;
        memory[at..at + 2].copy_from_slice(&(ONE as u16).to_le_bytes());
    }
    memory
}

fn identity_in_registers() -> Vec<u8> {
    let mut words = vec![0_u32; 512];
    for (i, word) in words.iter_mut().enumerate().take(128) {
        let (lane, r) = (i / 4, i % 4);
        for half in 0..2 {
            if lane / 4 + r % 2 * 8 == lane % 4 * 2 + r / 2 * 8 + half {
                *word |= ONE << (16 * half);
            }
        }
    }
    words.into_iter().flat_map(u32::to_le_bytes).collect()
}
