//! The common parts of both sets of programs: random numbers, registers, inputs, and templates of
//! instructions.
//!
//! In a template `{a|b}` is one of these; `{R}` a destination of 32 bits and
//! `{r}` a source, `{d}` of 64 bits, `{f}` an f32, `{g}` an f64, `{h}` of 16 bits, `{p}` a
//! predicate, `{i}` a register or a number, `{n}` a small number; what follows a
//! semicolon is a second instruction. `{R2}` and the like are that many different
//! destinations; `{4}` is a place of four bytes in 64 bytes, `{o4}` one in 32. `%t`, `%u`
//! and `%v` are free registers.

use std::collections::HashMap;
use std::sync::LazyLock;

use common::numbers::Numbers;

/// The templates of a section of `templates.txt` or `wide/templates.txt`.
pub fn templates(section: &str) -> &'static [&'static str] {
    type Sections = HashMap<&'static str, Vec<&'static str>>;
    static ALL: LazyLock<Sections> = LazyLock::new(|| {
        let texts = [
            include_str!("templates.txt"),
            include_str!("wide/templates.txt"),
        ];
        let sections = texts
            .into_iter()
            .flat_map(|text| text.split("\n# ").skip(1));
        let sections = sections.filter_map(|section| section.split_once('\n'));
        let is_template = |line: &&str| !line.is_empty() && !line.starts_with("//");
        sections
            .map(|(name, text)| (name, text.lines().filter(is_template).collect()))
            .collect()
    });
    &ALL[section]
}

/// Threads of a program's one block.
pub const THREADS: u32 = 64;
/// 64-bit words that each thread reads.
pub const INPUT_WORDS: usize = 16;
pub const N_WORDS: usize = 10;
pub const N_LONGS: usize = 5;
pub const N_SINGLES: usize = 6;
pub const N_DOUBLES: usize = 5;
pub const N_HALVES: usize = 5;
pub const N_PREDICATES: usize = 4;
/// 64-bit words in which a thread writes all its registers.
pub const REGISTER_WORDS: usize = N_WORDS + N_LONGS + N_SINGLES + N_DOUBLES + N_HALVES + 1;

/// Fills a template.
pub fn fill(random: &mut Numbers, template: &str) -> String {
    let mut out = String::new();
    let mut rest = template;
    while let Some(start) = rest.find('{') {
        out.push_str(&rest[..start]);
        rest = &rest[start..];
        // `{{r}, {r}}` is a vector: its outer braces stand for themselves.
        let inner = rest[1..].find(['{', '}']).map_or(rest.len(), |i| i + 1);
        if rest.as_bytes().get(inner) != Some(&b'}') || rest[1..inner].contains(',') {
            out.push('{');
            rest = &rest[1..];
            continue;
        }
        let hole = hole(random, &rest[1..inner]);
        out.push_str(&hole);
        rest = &rest[inner + 1..];
    }
    out + rest
}

fn hole(random: &mut Numbers, hole: &str) -> String {
    if hole.contains('|') {
        let choices: Vec<&str> = hole.split('|').collect();
        return choices[random.below(choices.len())].to_owned();
    }
    let register = |random: &mut Numbers, name: &str, n| format!("%{name}{}", random.below(n));
    match hole {
        "R" | "r" => register(random, "r", N_WORDS),
        "D" | "d" => register(random, "d", N_LONGS),
        "F" | "f" => register(random, "f", N_SINGLES),
        "G" | "g" => register(random, "g", N_DOUBLES),
        "H" | "h" => register(random, "h", N_HALVES),
        "P" | "p" => register(random, "p", N_PREDICATES),
        "i" if random.one_in(4) => {
            let shift = random.below(32);
            ((random.draw() as u32 >> shift) as i32).to_string()
        }
        "i" => register(random, "r", N_WORDS),
        "n" => random
            .below(if random.0 & 7 == 0 { 70 } else { 32 })
            .to_string(),
        "b" => random.below(256).to_string(),
        "swap" => (4 * random.below(THREADS as usize)).to_string(),
        "sum" => (4 * random.below(8)).to_string(),
        "1" => random.below(64).to_string(),
        "2" => (2 * random.below(32)).to_string(),
        "4" => (4 * random.below(16)).to_string(),
        "8" => (8 * random.below(8)).to_string(),
        "16" => (16 * random.below(4)).to_string(),
        "f32" => (SINGLES + 8 * random.below(6)).to_string(),
        "f64" => (DOUBLES + 8 * random.below(5)).to_string(),
        "f16" => (HALVES + 2 * random.below(8)).to_string(),
        "R2" => distinct(random, "r", N_WORDS, 2),
        "R4" => distinct(random, "r", N_WORDS, 4),
        "D2" => distinct(random, "d", N_LONGS, 2),
        "F2" => distinct(random, "f", N_SINGLES, 2),
        "F4" => distinct(random, "f", N_SINGLES, 4),
        "G2" => distinct(random, "g", N_DOUBLES, 2),
        "H2" => distinct(random, "h", N_HALVES, 2),
        "H4" => distinct(random, "h", N_HALVES, 4),
        "P2" => distinct(random, "p", N_PREDICATES, 2).replace(", ", "|"),
        "n31" => random.below(32).to_string(),
        "o1" => random.below(32).to_string(),
        "o2" => (2 * random.below(16)).to_string(),
        "o4" => (4 * random.below(8)).to_string(),
        "o8" => (8 * random.below(4)).to_string(),
        "o16" => (16 * random.below(2)).to_string(),
        "f16x2" => (HALVES + 4 * random.below(4)).to_string(),
        other => unreachable!("no such hole: {other}"),
    }
}

/// Some registers, all different.
fn distinct(random: &mut Numbers, name: &str, n: usize, n_wanted: usize) -> String {
    let first = random.below(n);
    let step = if n.is_multiple_of(2) {
        1
    } else {
        1 + random.below(n - 1)
    };
    let registers = (0..n_wanted).map(|i| format!("%{name}{}", (first + i * step) % n));
    registers.collect::<Vec<_>>().join(", ")
}

/// Where a thread's input has single-precision numbers (each in 8 bytes), doubles and
/// halves; integers come before.
pub const SINGLES: usize = 24;
pub const DOUBLES: usize = 72;
pub const HALVES: usize = 112;

/// Input number `set`, of all threads.
pub fn input(set: u64) -> Vec<u64> {
    let mut random = Numbers(0x1117 + set);
    let mut words = Vec::new();
    for _ in 0..THREADS {
        for word in 0..INPUT_WORDS {
            let bits = random.draw();
            words.push(match 8 * word {
                at if at < SINGLES => bits >> (random.draw() % 60),
                at if at < DOUBLES => u64::from(single(&mut random)) | bits << 32,
                at if at < HALVES => double(&mut random),
                _ => (0..4).fold(0, |w, i| w | u64::from(half(&mut random)) << (16 * i)),
            });
        }
    }
    words
}

/// A number of ordinary size mostly; now and then one of the edges.
fn single(random: &mut Numbers) -> u32 {
    const EDGES: [u32; 8] = [
        0,
        0x8000_0000,
        0x3F80_0000,
        1,
        0x007F_FFFF,
        0x7F80_0000,
        0x7FC0_0000,
        0x7F7F_FFFF,
    ];
    let bits = random.draw();
    match bits % 16 {
        0 => EDGES[(bits >> 8) as usize % EDGES.len()],
        1 => bits as u32 >> 8,
        _ => (bits as u32 & 0x807F_FFFF) | (112 + (bits >> 40) as u32 % 32) << 23,
    }
}

fn double(random: &mut Numbers) -> u64 {
    const EDGES: [u64; 7] = [
        0,
        1 << 63,
        0x3FF0 << 48,
        1,
        (1 << 52) - 1,
        0x7FF0 << 48,
        0x7FF8 << 48,
    ];
    let bits = random.draw();
    match bits % 16 {
        0 => EDGES[(bits >> 8) as usize % EDGES.len()],
        1 => bits,
        _ => (bits & 0x800F_FFFF_FFFF_FFFF) | (1000 + random.draw() % 46) << 52,
    }
}

fn half(random: &mut Numbers) -> u16 {
    const EDGES: [u16; 7] = [0, 0x8000, 0x3C00, 1, 0x03FF, 0x7C00, 0x7E00];
    let bits = random.draw();
    match bits % 16 {
        0 => EDGES[(bits >> 8) as usize % EDGES.len()],
        1 => bits as u16,
        _ => (bits as u16 & 0x83FF) | (9 + (bits >> 40) as u16 % 13) << 10,
    }
}

/// Statements that load every register from the thread's input, and set the predicates by them.
pub fn load_registers() -> Vec<String> {
    let each = [
        ("b32", "r", N_WORDS, 0, 8, 16),
        ("b64", "d", N_LONGS, 0, 8, 16),
        ("f32", "f", N_SINGLES, SINGLES, 8, 6),
        ("f64", "g", N_DOUBLES, DOUBLES, 8, 5),
        ("b16", "h", N_HALVES, HALVES, 2, 8),
    ];
    let loads = each
        .into_iter()
        .flat_map(|(ty, name, n, base, step, n_places)| {
            let at = move |i| base + step * (i % n_places);
            (0..n).map(move |i| format!("ld.global.{ty} %{name}{i}, [%in+{}]", at(i)))
        });
    let tests = (0..N_PREDICATES).map(|i| format!("setp.lt.s32 %p{i}, %r{i}, %r{}", i + 2));
    loads.chain(tests).collect()
}

/// Statements that store every register in a word of its own, and all predicates in one.
pub fn store_registers() -> Vec<String> {
    let mut lines = Vec::new();
    let mut at = 0;
    let mut store = |widen: Vec<String>, ty: &str, name: &str| {
        lines.extend(widen);
        lines.push(format!("st.global.{ty} [%out+{at}], {name}"));
        at += 8;
    };
    for i in 0..N_WORDS {
        store(vec![format!("cvt.u64.u32 %u0, %r{i}")], "b64", "%u0");
    }
    for i in 0..N_LONGS {
        store(Vec::new(), "b64", &format!("%d{i}"));
    }
    for i in 0..N_SINGLES {
        let widen = [&format!("mov.b32 %t0, %f{i}"), "cvt.u64.u32 %u0, %t0"];
        store(widen.map(str::to_owned).to_vec(), "b64", "%u0");
    }
    for i in 0..N_DOUBLES {
        store(Vec::new(), "f64", &format!("%g{i}"));
    }
    for i in 0..N_HALVES {
        store(vec![format!("cvt.u64.u16 %u0, %h{i}")], "b64", "%u0");
    }
    let bit = |i| {
        [
            format!("selp.u64 %u0, {}, 0, %p{i}", 1 << i),
            "or.b64 %u1, %u1, %u0".to_owned(),
        ]
    };
    let bits = (0..N_PREDICATES).flat_map(bit);
    let bits = std::iter::once("mov.u64 %u1, 0".to_owned()).chain(bits);
    store(bits.collect(), "b64", "%u1");
    lines
}

/// The registers in the order in which they are written out.
pub fn register_names() -> Vec<String> {
    let each = [
        ("r", N_WORDS),
        ("d", N_LONGS),
        ("f", N_SINGLES),
        ("g", N_DOUBLES),
        ("h", N_HALVES),
    ];
    let names = each
        .iter()
        .flat_map(|(name, n)| (0..*n).map(move |i| format!("{name}{i}")));
    names.chain(["p".to_owned()]).collect()
}
