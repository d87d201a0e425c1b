//! The mnemonics of PTX.

use super::is_newer;
use crate::decode::refusal::Refusal;
use ptx::part::Part;
use ptx::suggest::{distance, nearest, question};

/// Mnemonics, and what to do instead of using them, where they are not simulated in
/// any form.
const OPCODES: &[(&str, Option<&str>)] = &{
    const TEXTURE: Option<&str> = Some(
        "textures and surfaces are not simulated: read and write through a pointer to global \
         memory instead",
    );
    const CLUSTER: Option<&str> = Some(
        "taking over the work of clusters that have not begun is not simulated: launch as many as \
         there is work for, or let each draw its next piece by an atomic",
    );
    const TENSOR_MEMORY: Option<&str> =
        Some("matrix instructions of tensor memory are not simulated: use wgmma, mma.sync or wmma");
    const TENSOR_MAP: Option<&str> =
        Some("tensor maps are not changed by kernels here: have the host make one for each tensor");
    const VIDEO: Option<&str> =
        Some("this form of a video instruction is not simulated: use integer arithmetic and prmt");
    const STACK: Option<&str> =
        Some("stacks that grow at run time are not simulated: use a `.local` array of fixed size");
    const MULTICAST: Option<&str> = Some(
        "memory shared by several GPUs is not simulated: use ld, st and red on ordinary memory",
    );
    [
        ("abs", None),
        ("activemask", None),
        ("add", None),
        ("addc", None),
        ("alloca", STACK),
        ("and", None),
        ("applypriority", None),
        ("atom", None),
        ("bar", None),
        ("barrier", None),
        ("bfe", None),
        ("bfi", None),
        ("bfind", None),
        ("bmsk", None),
        ("bra", None),
        ("brev", None),
        ("brkpt", None),
        ("brx", None),
        ("call", None),
        ("clusterlaunchcontrol", CLUSTER),
        ("clz", None),
        ("cnot", None),
        ("copysign", None),
        ("cos", None),
        ("cp", None),
        ("createpolicy", None),
        ("cvt", None),
        ("cvta", None),
        ("discard", None),
        ("div", None),
        ("dp2a", None),
        ("dp4a", None),
        ("elect", None),
        ("ex2", None),
        ("exit", None),
        ("fence", None),
        ("fma", None),
        ("fns", None),
        ("getctarank", None),
        ("griddepcontrol", None),
        ("isspacep", None),
        ("istypep", TEXTURE),
        ("ld", None),
        ("ldmatrix", None),
        ("ldu", None),
        ("lg2", None),
        ("lop3", None),
        ("mad", None),
        ("mad24", None),
        ("madc", None),
        ("mapa", None),
        ("match", None),
        ("max", None),
        ("mbarrier", None),
        ("membar", None),
        ("min", None),
        ("mma", None),
        ("mov", None),
        (
            "movmatrix",
            Some("movmatrix is not simulated: transpose through shared memory, by ldmatrix .trans"),
        ),
        ("mul", None),
        ("mul24", None),
        ("multimem", MULTICAST),
        ("nanosleep", None),
        ("neg", None),
        ("not", None),
        ("or", None),
        ("pmevent", None),
        ("popc", None),
        ("prefetch", None),
        ("prefetchu", None),
        ("prmt", None),
        ("rcp", None),
        ("red", None),
        ("redux", None),
        ("rem", None),
        ("ret", None),
        ("rsqrt", None),
        ("sad", None),
        ("selp", None),
        ("set", None),
        ("setmaxnreg", None),
        ("setp", None),
        ("shf", None),
        ("shfl", None),
        ("shl", None),
        ("shr", None),
        ("sin", None),
        ("slct", None),
        ("sqrt", None),
        ("st", None),
        ("stackrestore", STACK),
        ("stacksave", STACK),
        ("stmatrix", None),
        ("sub", None),
        ("subc", None),
        ("suld", TEXTURE),
        ("suq", TEXTURE),
        ("sured", TEXTURE),
        ("sust", TEXTURE),
        ("szext", None),
        ("tanh", None),
        ("tcgen05", TENSOR_MEMORY),
        ("tensormap", TENSOR_MAP),
        ("testp", None),
        ("tex", TEXTURE),
        ("tld4", TEXTURE),
        ("trap", None),
        ("txq", TEXTURE),
        ("vabsdiff", VIDEO),
        ("vabsdiff2", None),
        ("vabsdiff4", None),
        ("vadd", VIDEO),
        ("vadd2", VIDEO),
        ("vadd4", VIDEO),
        ("vavrg2", VIDEO),
        ("vavrg4", VIDEO),
        ("vmad", VIDEO),
        ("vmax", VIDEO),
        ("vmax2", VIDEO),
        ("vmax4", VIDEO),
        ("vmin", VIDEO),
        ("vmin2", VIDEO),
        ("vmin4", VIDEO),
        ("vote", None),
        ("vset", VIDEO),
        ("vset2", VIDEO),
        ("vset4", VIDEO),
        ("vshl", VIDEO),
        ("vshr", VIDEO),
        ("vsub", VIDEO),
        ("vsub2", VIDEO),
        ("vsub4", VIDEO),
        ("wgmma", None),
        ("wmma", None),
        ("xor", None),
    ]
};

/// Forms of instructions whose other forms are simulated, by the modifiers that make
/// them, and what to do instead.
const FORMS: &[(&str, &str, &str)] = &[
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

/// What to do instead of an instruction that no decoder takes, and why it cannot be
/// simulated.
pub(crate) fn instead(opcode: &str) -> Option<&'static str> {
    let mut parts = opcode.split('.');
    let mnemonic = parts.next()?;
    let whole = OPCODES.iter().find(|(name, _)| *name == mnemonic)?.1;
    whole.or_else(|| {
        let form = FORMS
            .iter()
            .find(|(name, part, _)| *name == mnemonic && parts.clone().any(|p| p == *part))?;
        Some(form.2)
    })
}

/// The refusal of a mnemonic that PTX does not have; `None` if it has it.
pub(crate) fn unknown(opcode: &str, version: (u32, u32)) -> Option<Refusal> {
    let mnemonic = opcode.split('.').next().unwrap_or("");
    if OPCODES.iter().any(|(name, _)| *name == mnemonic) {
        return None;
    }
    let suggestion = nearest(mnemonic, OPCODES.iter().map(|(name, _)| *name));
    let reason = format!(
        "`{mnemonic}` is not an instruction of PTX{}",
        question(suggestion)
    );
    // One letter from an instruction, and not one itself: mistyped for certain, unless
    // the text is newer than the list. `_name` are the assembler's own.
    let is_mistyped = suggestion.is_some_and(|name| distance(name, mnemonic) == 1)
        && !is_newer(version)
        && !mnemonic.starts_with('_');
    let refusal = if is_mistyped {
        Refusal::invalid(reason)
    } else {
        Refusal::unknown(reason)
    };
    Some(refusal.at_part(Part::Mnemonic))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decode::refusal::Class;

    #[test]
    fn the_list_is_in_order() {
        assert!(OPCODES.is_sorted_by(|a, b| a.0 < b.0));
        for (name, ..) in FORMS {
            assert!(OPCODES.contains(&(name, None)), "{name}");
        }
    }

    #[test]
    fn mistyped_instructions_are_invalid_and_foreign_ones_unknown() {
        let class = |opcode, version| unknown(opcode, version).map(|refusal| refusal.class);
        assert_eq!(class("add.u32", (8, 0)), None);
        assert_eq!(class("addd.u32", (8, 0)), Some(Class::Invalid));
        assert_eq!(class("addd.u32", (9, 9)), Some(Class::Unknown));
        assert_eq!(class("frobnicate", (8, 0)), Some(Class::Unknown));
        assert_eq!(class("_add.u32", (8, 0)), Some(Class::Unknown));
    }
}
