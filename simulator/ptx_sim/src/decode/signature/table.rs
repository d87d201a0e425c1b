//! What the regular instructions take.
//!
//! Tried with ptxas 12.9: what it accepts passes. Instructions and forms that are not
//! here, and those with a modifier that their row does not list, are left to the
//! decoders.

use ptx::ir::Type::{
    self, B8, B16, B32, B64, B128, Bf16, Bf16x2, F16, F16x2, F32, F64, Pred, S8, S16, S32, S64, U8,
    U16, U32, U64,
};

/// What an operand has to be. `T` is the instruction's type, the first one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Want {
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
    /// The like, or a constant.
    Stored,
    /// An address in brackets.
    Address,
    /// A label.
    Label,
    /// Whatever the decoder says.
    Any,
}

/// One way to write some instructions.
pub(super) struct Form {
    pub names: &'static [&'static str],
    /// Modifiers that make it this form.
    pub with: &'static [&'static str],
    /// What it must choose: of what kind, and from which modifiers.
    pub needs: Option<(&'static str, &'static [&'static str])>,
    /// Modifiers that it may have.
    pub modifiers: &'static [&'static [&'static str]],
    /// Its types; any if none are listed.
    pub types: &'static [Type],
    /// Its operands; `n_optional` of them may be left out at the end.
    pub operands: &'static [Want],
    pub n_optional: usize,
}

use Want::{
    Address, Any, From, FromSecond, Label, Loaded, Predicate, Stored, To, ToPredicate, Wide, Word,
};

const ROUNDING: (&str, &[&str]) = ("a rounding", &["rn", "rz", "rm", "rp"]);
const ROUNDINGS: &[&str] = ROUNDING.1;
const APPROXIMATION: (&str, &[&str]) = (
    "a rounding or an approximation",
    &["rn", "rz", "rm", "rp", "approx", "full"],
);
const APPROXIMATE: (&str, &[&str]) = ("an approximation", &["approx"]);
const HALVES: (&str, &[&str]) = ("a part of the product", &["lo", "hi"]);
const COMPARISON: (&str, &[&str]) = (
    "a comparison",
    &[
        "eq", "ne", "lt", "le", "gt", "ge", "lo", "ls", "hi", "hs", "equ", "neu", "ltu", "leu",
        "gtu", "geu", "num", "nan",
    ],
);
const FTZ: &[&str] = &["ftz"];
const SAT: &[&str] = &["sat"];
const LOGIC: &[&str] = &["and", "or", "xor"];
const CARRY: &[&str] = &["cc"];
const SPACES: &[&str] = &[
    "global",
    "shared",
    "shared::cta",
    "shared::cluster",
    "local",
    "const",
    "param",
    "param::entry",
    "param::func",
];
const ORDER: &[&str] = &[
    "weak", "volatile", "relaxed", "acquire", "release", "acq_rel", "cta", "cluster", "gpu", "sys",
];
const CACHE: &[&str] = &[
    "ca",
    "cg",
    "cs",
    "cv",
    "lu",
    "wb",
    "wt",
    "nc",
    "v2",
    "v4",
    "L1::evict_first",
    "L1::evict_last",
    "L1::evict_normal",
    "L1::no_allocate",
    "L1::evict_unchanged",
    "L2::64B",
    "L2::128B",
    "L2::256B",
    "L2::cache_hint",
];

const INTEGERS: &[Type] = &[U16, U32, U64, S16, S32, S64];
const ARITHMETIC: &[Type] = &[
    U16, U32, U64, S16, S32, S64, F16, F16x2, Bf16, Bf16x2, F32, F64,
];
const SIGNED: &[Type] = &[S16, S32, S64, F16, F16x2, Bf16, Bf16x2, F32, F64];
const FLOATS: &[Type] = &[F16, F16x2, Bf16, Bf16x2, F32, F64];
const HALF_OR_SINGLE: &[Type] = &[F16, F16x2, Bf16, Bf16x2, F32];
const SINGLE_OR_DOUBLE: &[Type] = &[F32, F64];
const BITS: &[Type] = &[B16, B32, B64];
const BITS_OR_PREDICATE: &[Type] = &[Pred, B16, B32, B64];
const WORDS: &[Type] = &[U32, U64, S32, S64];
const SELECTED: &[Type] = &[
    B16, B32, B64, U16, U32, U64, S16, S32, S64, F16, F16x2, Bf16, Bf16x2, F32, F64,
];
const STORABLE: &[Type] = &[
    B8, B16, B32, B64, B128, U8, U16, U32, U64, S8, S16, S32, S64, F16, F16x2, Bf16, Bf16x2, F32,
    F64,
];

/// A form without anything; each row below says what it has.
const NONE: Form = Form {
    names: &[],
    with: &[],
    needs: None,
    modifiers: &[],
    types: &[],
    operands: &[],
    n_optional: 0,
};

const ARITHMETIC_FORMS: &[Form] = &[
    Form {
        names: &["add", "sub"],
        modifiers: &[ROUNDINGS, FTZ, SAT, CARRY],
        types: ARITHMETIC,
        operands: &[To, From, From],
        ..NONE
    },
    Form {
        names: &["addc", "subc"],
        modifiers: &[CARRY],
        types: INTEGERS,
        operands: &[To, From, From],
        ..NONE
    },
    Form {
        names: &["mul"],
        needs: Some(HALVES),
        types: INTEGERS,
        operands: &[To, From, From],
        ..NONE
    },
    Form {
        names: &["mul"],
        modifiers: &[ROUNDINGS, FTZ, SAT],
        types: FLOATS,
        operands: &[To, From, From],
        ..NONE
    },
    Form {
        names: &["mul"],
        with: &["wide"],
        types: &[U16, U32, S16, S32],
        operands: &[Wide, From, From],
        ..NONE
    },
    Form {
        names: &["mad"],
        needs: Some(HALVES),
        modifiers: &[SAT, CARRY],
        types: INTEGERS,
        operands: &[To, From, From, From],
        ..NONE
    },
    Form {
        names: &["mad"],
        with: &["wide"],
        types: &[U16, U32, S16, S32],
        operands: &[Wide, From, From, Wide],
        ..NONE
    },
    Form {
        names: &["madc"],
        needs: Some(HALVES),
        modifiers: &[CARRY],
        types: WORDS,
        operands: &[To, From, From, From],
        ..NONE
    },
    Form {
        names: &["mul24"],
        needs: Some(HALVES),
        types: &[U32, S32],
        operands: &[To, From, From],
        ..NONE
    },
    Form {
        names: &["mad24"],
        needs: Some(HALVES),
        modifiers: &[SAT],
        types: &[U32, S32],
        operands: &[To, From, From, From],
        ..NONE
    },
    Form {
        names: &["fma"],
        needs: Some(ROUNDING),
        modifiers: &[FTZ, SAT, &["relu", "oob"]],
        types: FLOATS,
        operands: &[To, From, From, From],
        ..NONE
    },
    Form {
        names: &["mad"],
        needs: Some(ROUNDING),
        modifiers: &[FTZ, SAT],
        types: SINGLE_OR_DOUBLE,
        operands: &[To, From, From, From],
        ..NONE
    },
    Form {
        names: &["sad"],
        types: INTEGERS,
        operands: &[To, From, From, From],
        ..NONE
    },
    Form {
        names: &["div", "rem"],
        types: INTEGERS,
        operands: &[To, From, From],
        ..NONE
    },
    Form {
        names: &["div"],
        needs: Some(APPROXIMATION),
        modifiers: &[FTZ],
        types: SINGLE_OR_DOUBLE,
        operands: &[To, From, From],
        ..NONE
    },
    Form {
        names: &["abs", "neg"],
        modifiers: &[FTZ],
        types: SIGNED,
        operands: &[To, From],
        ..NONE
    },
    Form {
        names: &["min", "max"],
        modifiers: &[FTZ, &["NaN", "xorsign", "abs", "relu"]],
        types: ARITHMETIC,
        operands: &[To, From, From, From],
        n_optional: 1,
        ..NONE
    },
    Form {
        names: &["rcp", "sqrt"],
        needs: Some(APPROXIMATION),
        modifiers: &[FTZ],
        types: SINGLE_OR_DOUBLE,
        operands: &[To, From],
        ..NONE
    },
    Form {
        names: &["rsqrt"],
        needs: Some(APPROXIMATE),
        modifiers: &[FTZ],
        types: SINGLE_OR_DOUBLE,
        operands: &[To, From],
        ..NONE
    },
    Form {
        names: &["sin", "cos", "lg2"],
        needs: Some(APPROXIMATE),
        modifiers: &[FTZ],
        types: &[F32],
        operands: &[To, From],
        ..NONE
    },
    Form {
        names: &["ex2", "tanh"],
        needs: Some(APPROXIMATE),
        modifiers: &[FTZ],
        types: HALF_OR_SINGLE,
        operands: &[To, From],
        ..NONE
    },
    Form {
        names: &["copysign"],
        types: SINGLE_OR_DOUBLE,
        operands: &[To, From, From],
        ..NONE
    },
    Form {
        names: &["testp"],
        needs: Some((
            "a property",
            &[
                "finite",
                "infinite",
                "number",
                "notanumber",
                "normal",
                "subnormal",
            ],
        )),
        types: SINGLE_OR_DOUBLE,
        operands: &[ToPredicate, From],
        ..NONE
    },
];

const LOGIC_FORMS: &[Form] = &[
    Form {
        names: &["and", "or", "xor"],
        types: BITS_OR_PREDICATE,
        operands: &[To, From, From],
        ..NONE
    },
    Form {
        names: &["not"],
        types: BITS_OR_PREDICATE,
        operands: &[To, From],
        ..NONE
    },
    Form {
        names: &["cnot"],
        types: BITS,
        operands: &[To, From],
        ..NONE
    },
    Form {
        names: &["shl"],
        types: BITS,
        operands: &[To, From, Word],
        ..NONE
    },
    Form {
        names: &["shr"],
        types: &[B16, B32, B64, U16, U32, U64, S16, S32, S64],
        operands: &[To, From, Word],
        ..NONE
    },
    Form {
        names: &["popc", "clz"],
        types: &[B32, B64],
        operands: &[Word, From],
        ..NONE
    },
    Form {
        names: &["brev"],
        types: &[B32, B64],
        operands: &[To, From],
        ..NONE
    },
    Form {
        names: &["bfind"],
        modifiers: &[&["shiftamt"]],
        types: WORDS,
        operands: &[Word, From],
        ..NONE
    },
    Form {
        names: &["bfe"],
        types: WORDS,
        operands: &[To, From, Word, Word],
        ..NONE
    },
    Form {
        names: &["bfi"],
        types: &[B32, B64],
        operands: &[To, From, From, Word, Word],
        ..NONE
    },
    Form {
        names: &["lop3"],
        types: &[B32],
        operands: &[To, From, From, From, Any],
        ..NONE
    },
    Form {
        names: &["prmt"],
        modifiers: &[&["f4e", "b4e", "rc8", "ecl", "ecr", "rc16"]],
        types: &[B32],
        operands: &[To, From, From, From],
        ..NONE
    },
    Form {
        names: &["shf"],
        needs: Some(("a direction", &["l", "r"])),
        modifiers: &[&["wrap", "clamp"]],
        types: &[B32],
        operands: &[To, From, From, Word],
        ..NONE
    },
    Form {
        names: &["szext"],
        needs: Some(("a mode", &["wrap", "clamp"])),
        types: &[U32, S32],
        operands: &[To, From, Word],
        ..NONE
    },
    Form {
        names: &["bmsk"],
        needs: Some(("a mode", &["wrap", "clamp"])),
        types: &[B32],
        operands: &[To, From, From],
        ..NONE
    },
];

const MOVING_FORMS: &[Form] = &[
    Form {
        names: &["mov"],
        types: &[
            Pred, B16, B32, B64, B128, U16, U32, U64, S16, S32, S64, F16, F16x2, Bf16, Bf16x2, F32,
            F64,
        ],
        operands: &[To, From],
        ..NONE
    },
    Form {
        names: &["selp"],
        types: SELECTED,
        operands: &[To, From, From, Predicate],
        ..NONE
    },
    Form {
        names: &["slct"],
        modifiers: &[FTZ],
        types: SELECTED,
        operands: &[To, From, From, FromSecond],
        ..NONE
    },
    Form {
        names: &["setp"],
        needs: Some(COMPARISON),
        modifiers: &[FTZ, LOGIC],
        types: SELECTED,
        operands: &[ToPredicate, From, From, Predicate],
        n_optional: 1,
        ..NONE
    },
    Form {
        names: &["set"],
        needs: Some(COMPARISON),
        modifiers: &[FTZ, LOGIC],
        types: &[U16, S16, U32, S32, F16, F16x2, Bf16, Bf16x2, F32],
        operands: &[To, FromSecond, FromSecond, Predicate],
        n_optional: 1,
        ..NONE
    },
    Form {
        names: &["ld", "ldu"],
        modifiers: &[SPACES, ORDER, CACHE],
        types: STORABLE,
        operands: &[Loaded, Address, Any],
        n_optional: 1,
        ..NONE
    },
    Form {
        names: &["st"],
        modifiers: &[SPACES, ORDER, CACHE],
        types: STORABLE,
        operands: &[Address, Stored, Any],
        n_optional: 1,
        ..NONE
    },
    Form {
        names: &["cvta"],
        modifiers: &[SPACES, &["to"]],
        types: &[U32, U64],
        operands: &[To, From],
        ..NONE
    },
    Form {
        names: &["shfl"],
        with: &["sync"],
        needs: Some(("a mode", &["up", "down", "bfly", "idx"])),
        types: &[B32],
        operands: &[To, From, Any, Any, Any],
        ..NONE
    },
    Form {
        names: &["atom"],
        with: &["cas"],
        modifiers: &[SPACES, ORDER],
        operands: &[To, Address, From, From, Any],
        n_optional: 1,
        ..NONE
    },
    Form {
        names: &["atom"],
        needs: Some(ATOMIC),
        modifiers: &[SPACES, ORDER, &["noftz", "L2::cache_hint"]],
        operands: &[To, Address, From, Any],
        n_optional: 1,
        ..NONE
    },
    Form {
        names: &["red"],
        needs: Some(ATOMIC),
        modifiers: &[SPACES, ORDER, &["noftz", "L2::cache_hint"]],
        operands: &[Address, From, Any],
        n_optional: 1,
        ..NONE
    },
];

const CONTROL_FORMS: &[Form] = &[
    Form {
        names: &["bra"],
        modifiers: &[&["uni"]],
        operands: &[Label],
        ..NONE
    },
    Form {
        names: &["ret"],
        modifiers: &[&["uni"]],
        ..NONE
    },
    Form {
        names: &["exit", "trap", "brkpt"],
        ..NONE
    },
];

const ATOMIC: (&str, &[&str]) = (
    "an operation",
    &[
        "add", "min", "max", "inc", "dec", "and", "or", "xor", "exch", "cas",
    ],
);

/// All forms, in no order that matters: the types and `with` tell those of one name
/// apart.
pub(super) fn forms() -> impl Iterator<Item = &'static Form> {
    [ARITHMETIC_FORMS, LOGIC_FORMS, MOVING_FORMS, CONTROL_FORMS]
        .into_iter()
        .flatten()
}
