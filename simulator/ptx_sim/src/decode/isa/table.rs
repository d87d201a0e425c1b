//! The instructions of PTX, each named once: the forms of the regular ones, those that only their
//! decoders can check, and those that are not simulated, with alternatives.
//!
//! Tried with ptxas 12.9: what it accepts passes. Forms that are not here, and those with a
//! modifier that their row does not list, are left to the decoders.

use ptx::ir::Type;
use std::collections::HashMap;
use std::sync::LazyLock;

/// What an operand has to be. `T` is the instruction's type, the first one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Want {
    /// A destination of type `T`.
    To,
    /// A source of type `T`.
    From,
    /// A source of the instruction's second type.
    FromSecond,
    /// A source or destination of twice the width of `T`.
    Wide,
    /// A source or destination of 32 bits, whatever `T` is.
    Word,
    /// A predicate that is written; perhaps two of them, `p|q`.
    ToPredicate,
    /// A predicate that is read.
    Predicate,
    /// A register at least as wide as `T`, or as many as the vector has.
    Loaded,
    /// The same, or a constant.
    Stored,
    /// An address in brackets.
    Address,
    /// A label.
    Label,
    /// Whatever the decoder says.
    Any,
}

/// One way to write an instruction: a row of [`FORMS`], for one of its mnemonics.
#[derive(Clone, Debug)]
pub(crate) struct Form {
    /// Modifiers that make it this form.
    pub with: Vec<&'static str>,
    /// What it must choose: of what kind, and from which modifiers.
    pub needs: Option<(&'static str, Vec<&'static str>)>,
    /// Modifiers that it may have.
    pub modifiers: Vec<&'static str>,
    /// Its types; any if none are listed.
    pub types: Vec<Type>,
    /// Its operands; `n_optional` of them may be left out at the end.
    pub operands: Vec<Want>,
    pub n_optional: usize,
}

/// A row: mnemonics, with the modifiers that make them this form; what must be chosen; modifiers
/// that may be there; types; operands, `?` after those that may be left out. Words in capitals
/// stand for others, as [`CHOICES`] and [`SETS`] say. The types and `with` distinguish the forms
/// of one mnemonic.
const FORMS: &str = "
    add sub      |               | ROUNDING ftz sat cc       | ARITHMETIC        | to from from
    addc subc    |               | cc                        | INTEGERS          | to from from
    mul          | HALF          |                           | INTEGERS          | to from from
    mul          |               | ROUNDING ftz sat          | FLOATS            | to from from
    mul.wide     |               |                           | u16 u32 s16 s32   | wide from from
    mad          | HALF          | sat cc                    | INTEGERS          | to from from from
    mad.wide     |               |                           | u16 u32 s16 s32   | wide from from wide
    madc         | HALF          | cc                        | WORDS             | to from from from
    mul24        | HALF          |                           | u32 s32           | to from from
    mad24        | HALF          | sat                       | u32 s32           | to from from from
    fma          | ROUNDING      | ftz sat relu oob          | FLOATS            | to from from from
    mad          | ROUNDING      | ftz sat                   | f32 f64           | to from from from
    sad          |               |                           | INTEGERS          | to from from from
    div rem      |               |                           | INTEGERS          | to from from
    div          | APPROXIMATION | ftz                       | f32 f64           | to from from
    abs neg      |               | ftz                       | s16 s32 s64 FLOATS | to from
    min max      |               | ftz NaN xorsign abs relu  | ARITHMETIC        | to from from from?
    rcp sqrt     | APPROXIMATION | ftz                       | f32 f64           | to from
    rsqrt        | APPROXIMATE   | ftz                       | f32 f64           | to from
    sin cos lg2  | APPROXIMATE   | ftz                       | f32               | to from
    ex2 tanh     | APPROXIMATE   | ftz                       | HALVES f32        | to from
    copysign     |               |                           | f32 f64           | to from from
    testp        | PROPERTY      |                           | f32 f64           | to-predicate from
    and or xor   |               |                           | pred BITS         | to from from
    not          |               |                           | pred BITS         | to from
    cnot         |               |                           | BITS              | to from
    shl          |               |                           | BITS              | to from word
    shr          |               |                           | BITS INTEGERS     | to from word
    popc clz     |               |                           | b32 b64           | word from
    brev         |               |                           | b32 b64           | to from
    bfind        |               | shiftamt                  | WORDS             | word from
    bfe          |               |                           | WORDS             | to from word word
    bfi          |               |                           | b32 b64           | to from from word word
    lop3         |               |                           | b32               | to from from from any
    prmt         |               | f4e b4e rc8 ecl ecr rc16  | b32               | to from from from
    shf          | DIRECTION     | wrap clamp                | b32               | to from from word
    szext        | OVERFLOW      |                           | u32 s32           | to from word
    bmsk         | OVERFLOW      |                           | b32               | to from from
    mov          |               |                           | pred BITS b128 INTEGERS FLOATS | to from
    selp         |               |                           | SELECTED          | to from from predicate
    slct         |               | ftz                       | SELECTED          | to from from from-second
    setp         | COMPARISON    | ftz and or xor            | SELECTED          | to-predicate from from predicate?
    set          | COMPARISON    | ftz and or xor            | u16 s16 u32 s32 HALVES f32 | to from-second from-second predicate?
    ld ldu       |               | SPACE ORDER CACHE         | STORABLE          | loaded address any?
    st           |               | SPACE ORDER CACHE         | STORABLE          | address stored any?
    cvta         |               | SPACE to                  | u32 u64           | to from
    shfl.sync    | LANE          |                           | b32               | to from any any any
    atom.cas     |               | SPACE ORDER               |                   | to address from from any?
    atom         | OPERATION     | SPACE ORDER noftz L2::cache_hint |            | to address from any?
    red          | OPERATION     | SPACE ORDER noftz L2::cache_hint |            | address from any?
    bra          |               | uni                       |                   | label
    ret          |               | uni                       |                   |
    exit trap brkpt |            |                           |                   |
";

/// What a form has to choose: its name in [`FORMS`], what it is, and from which modifiers.
const CHOICES: &[(&str, &str, &str)] = &[
    ("ROUNDING", "a rounding", "rn rz rm rp"),
    (
        "APPROXIMATION",
        "a rounding or an approximation",
        "rn rz rm rp approx full",
    ),
    ("APPROXIMATE", "an approximation", "approx"),
    ("HALF", "a part of the product", "lo hi"),
    (
        "COMPARISON",
        "a comparison",
        "eq ne lt le gt ge lo ls hi hs equ neu ltu leu gtu geu num nan",
    ),
    (
        "PROPERTY",
        "a property",
        "finite infinite number notanumber normal subnormal",
    ),
    ("DIRECTION", "a direction", "l r"),
    ("OVERFLOW", "a mode", "wrap clamp"),
    ("LANE", "a mode", "up down bfly idx"),
    (
        "OPERATION",
        "an operation",
        "add min max inc dec and or xor exch cas",
    ),
];

/// Modifiers and types that several forms take.
const SETS: &[(&str, &str)] = &[
    (
        "SPACE",
        "global shared shared::cta shared::cluster local const param param::entry param::func",
    ),
    (
        "ORDER",
        "weak volatile relaxed acquire release acq_rel cta cluster gpu sys",
    ),
    (
        "CACHE",
        "ca cg cs cv lu wb wt nc v2 v4
         L1::evict_first L1::evict_last L1::evict_normal L1::no_allocate L1::evict_unchanged
         L2::64B L2::128B L2::256B L2::cache_hint",
    ),
    ("WORDS", "u32 u64 s32 s64"),
    ("INTEGERS", "u16 u32 u64 s16 s32 s64"),
    ("HALVES", "f16 f16x2 bf16 bf16x2"),
    ("FLOATS", "HALVES f32 f64"),
    ("ARITHMETIC", "INTEGERS FLOATS"),
    ("BITS", "b16 b32 b64"),
    ("SELECTED", "BITS INTEGERS FLOATS"),
    (
        "STORABLE",
        "b8 b16 b32 b64 b128 u8 u16 u32 u64 s8 s16 s32 s64 FLOATS",
    ),
];

/// Instructions whose forms only their decoders judge.
const UNJUDGED: &str = "
    activemask applypriority bar barrier brx call cp createpolicy cvt discard dp2a dp4a elect
    fence fns getctarank griddepcontrol isspacep ldmatrix mapa match mbarrier membar mma
    nanosleep pmevent prefetch prefetchu redux setmaxnreg stmatrix vabsdiff2 vabsdiff4 vote
    wgmma wmma";

/// Instructions that are not simulated, some only in certain forms, and what to do instead.
const MISSING: &[(&str, &str)] = &[
    (
        "alloca stackrestore stacksave",
        "stacks that grow at run time are not simulated: use a `.local` array of fixed size",
    ),
    (
        "clusterlaunchcontrol",
        "taking over the work of clusters that have not begun is not simulated: launch as many as \
         there is work for, or let each draw its next piece by an atomic",
    ),
    (
        "istypep suld suq sured sust tex tld4 txq",
        "textures and surfaces are not simulated: read and write through a pointer to global \
         memory instead",
    ),
    (
        "movmatrix",
        "movmatrix is not simulated: transpose through shared memory, by ldmatrix .trans",
    ),
    (
        "multimem",
        "memory shared by several GPUs is not simulated: use ld, st and red on ordinary memory",
    ),
    (
        "tcgen05",
        "matrix instructions of tensor memory are not simulated: use wgmma, mma.sync or wmma",
    ),
    (
        "tensormap",
        "tensor maps are not changed by kernels here: have the host make one for each tensor",
    ),
    (
        "vabsdiff vadd vadd2 vadd4 vavrg2 vavrg4 vmad vmax vmax2 vmax4 vmin vmin2 vmin4 vset vset2 \
         vset4 vshl vshr vsub vsub2 vsub4",
        "this form of a video instruction is not simulated: use integer arithmetic and prmt",
    ),
];

/// Forms of instructions whose other forms are simulated, by the modifiers that make
/// them, and what to do instead.
const MISSING_FORMS: &[(&str, &str, &str)] = &[
    (
        "mma",
        "sp",
        "sparse matrices are not simulated: use the dense form",
    ),
    (
        "wgmma",
        "sp",
        "sparse matrices are not simulated: use the dense form",
    ),
];

/// The forms by mnemonic, in the order of their rows.
static BY_MNEMONIC: LazyLock<HashMap<&str, Vec<Form>>> = LazyLock::new(|| {
    let mut forms: HashMap<&str, Vec<Form>> = HashMap::new();
    for row in FORMS.lines().filter(|row| !row.is_empty()) {
        let mut columns = row.split('|');
        let mut column = || columns.next().unwrap_or("");
        let names = column();
        let form = Form::of_columns([column(), column(), column(), column()]);
        for name in names.split_whitespace() {
            let mut parts = name.split('.');
            let mnemonic = parts.next().unwrap_or("");
            forms.entry(mnemonic).or_default().push(Form {
                with: parts.collect(),
                ..form.clone()
            });
        }
    }
    forms
});

impl Form {
    fn of_columns([choice, modifiers, types, operands]: [&'static str; 4]) -> Self {
        let choice = CHOICES.iter().find(|(name, ..)| *name == choice.trim());
        let types = words(types);
        let operands = words(operands);
        Self {
            with: Vec::new(),
            needs: choice.map(|(_, what, names)| (*what, words(names))),
            modifiers: words(modifiers),
            types: types.iter().filter_map(|ty| Type::from_name(ty)).collect(),
            operands: operands.iter().filter_map(|name| want(name)).collect(),
            n_optional: operands.iter().filter(|name| name.ends_with('?')).count(),
        }
    }
}

/// The words of a text, those of sets in their place.
fn words(text: &'static str) -> Vec<&'static str> {
    let set = |name: &str| {
        let choices = CHOICES.iter().map(|(name, _, words)| (name, words));
        let mut all = SETS
            .iter()
            .map(|(name, words)| (name, words))
            .chain(choices);
        all.find_map(|(other, words)| (*other == name).then_some(*words))
    };
    text.split_whitespace()
        .flat_map(|word| set(word).map_or_else(|| vec![word], words))
        .collect()
}

fn want(name: &str) -> Option<Want> {
    Some(match name.trim_end_matches('?') {
        "to" => Want::To,
        "from" => Want::From,
        "from-second" => Want::FromSecond,
        "wide" => Want::Wide,
        "word" => Want::Word,
        "to-predicate" => Want::ToPredicate,
        "predicate" => Want::Predicate,
        "loaded" => Want::Loaded,
        "stored" => Want::Stored,
        "address" => Want::Address,
        "label" => Want::Label,
        "any" => Want::Any,
        _ => return None,
    })
}

/// The forms of a mnemonic that can be judged.
pub(crate) fn forms(mnemonic: &str) -> &'static [Form] {
    BY_MNEMONIC.get(mnemonic).map_or(&[], Vec::as_slice)
}

/// All mnemonics.
pub(super) fn mnemonics() -> impl Iterator<Item = &'static str> {
    let missing = MISSING
        .iter()
        .flat_map(|(names, _)| names.split_whitespace());
    let others = UNJUDGED.split_whitespace().chain(missing);
    BY_MNEMONIC.keys().copied().chain(others)
}

/// What to do instead of an instruction that no decoder takes, and why it cannot be
/// simulated.
pub(crate) fn instead(opcode: &str) -> Option<&'static str> {
    let mut parts = opcode.split('.');
    let mnemonic = parts.next()?;
    let whole = MISSING
        .iter()
        .find(|(names, _)| names.split_whitespace().any(|name| name == mnemonic))
        .map(|(_, advice)| *advice);
    whole.or_else(|| {
        let form = MISSING_FORMS
            .iter()
            .find(|(name, part, _)| *name == mnemonic && parts.clone().any(|p| p == *part))?;
        Some(form.2)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decode::isa::modifiers::is_known;
    use std::collections::HashSet;

    /// An unknown word would be left out of its form.
    #[test]
    fn every_word_of_the_rows_is_known() {
        for row in FORMS.lines().filter(|row| !row.is_empty()) {
            let columns: Vec<&str> = row.split('|').collect();
            let [names, choice, modifiers, types, operands] = columns[..] else {
                panic!("a row has five columns: {row}");
            };
            let with = names
                .split_whitespace()
                .flat_map(|name| name.split('.').skip(1));
            for modifier in with.chain(words(choice)).chain(words(modifiers)) {
                assert!(is_known(modifier), "{modifier}: {row}");
            }
            let is_choice = CHOICES.iter().any(|(name, ..)| *name == choice.trim());
            assert!(is_choice || choice.trim().is_empty(), "{row}");
            let is_type = |ty: &&str| Type::from_name(ty).is_some();
            assert!(words(types).iter().all(is_type), "{row}");
            assert!(
                words(operands).iter().all(|name| want(name).is_some()),
                "{row}"
            );
        }
    }

    #[test]
    fn every_mnemonic_stands_once() {
        let mut seen = HashSet::new();
        for name in mnemonics() {
            assert!(seen.insert(name), "{name} stands twice");
        }
        for (name, ..) in MISSING_FORMS {
            assert!(seen.contains(name) && instead(name).is_none(), "{name}");
        }
    }
}
