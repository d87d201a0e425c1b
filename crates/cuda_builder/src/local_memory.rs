//! Kernels that keep variables in local memory, and the source lines that cause it.
//!
//! An array is in registers only if all its indices are constants; otherwise LLVM declares
//! `.local .b8 __local_depot0[BYTES]` in its function. The line to show is that of an access whose
//! address is computed, because the others (a store of a first value, say) would do with registers;
//! of the calls around it, the innermost in the user's own sources. `core`'s lines are in between
//! wherever an array is indexed or iterated over. If a library computes the address (`libm`, or
//! `cuda_std` for `println!`), the array is the library's, and nothing is reported.
//!
//! `#[kernel(local_memory)]` leaves the comment `// lockstep.local_memory NAME` in the module: the
//! kernel is meant to use local memory.
//!
//! Left out: registers that ptxas spills, PTX without line tables, and builds that are not optimised,
//! where every array is in local memory.

mod functions;

use crate::messages::Warning;
pub(crate) use functions::Owner;
use functions::{DEPOT, Function, functions};
use std::collections::{BTreeMap, BTreeSet, HashMap};

const MARKER: &str = "// lockstep.local_memory ";

/// A place for which kernels use local memory.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Finding {
    /// The kernels, such as the instances of a generic one.
    pub kernels: Vec<String>,
    /// Local memory per thread, of each kernel and the functions that it calls.
    pub bytes: u64,
    pub file: String,
    pub line: u32,
    /// Whether an index is computed at that line.
    pub is_index: bool,
}

impl Finding {
    /// What the user reads.
    pub fn warning(&self) -> Warning {
        let Self {
            kernels,
            bytes,
            file,
            line,
            is_index,
        } = self;
        let why = match is_index {
            true => "because of an index here that is computed when the kernel runs",
            false => "for a variable that is used here",
        };
        let who = match kernels.as_slice() {
            [only] => format!("kernel `{only}` keeps"),
            [first, second] => format!("kernels `{first}` and `{second}` keep"),
            [first, others @ ..] => format!("kernel `{first}` and {} others keep", others.len()),
            [] => "kernels keep".to_owned(),
        };
        let text = format!(
            "{who} {bytes} bytes per thread in local memory, {why}; index its arrays \
             in loops with constant bounds or with `cuda_std::unrolled!`, iterate over them by \
             reference, or write `#[kernel(local_memory)]` if that is meant"
        );
        Warning {
            rendered: format!("warning: {text}\n --> {file}:{line}\n\n"),
            line: format!("{file}:{line}: {text}"),
        }
    }
}

/// The kernels of a module that use local memory, in its order, except those that are meant to.
pub(crate) fn find(ptx: &str, owner: impl Fn(&str) -> Owner) -> Vec<Finding> {
    if !ptx.contains(DEPOT) {
        return Vec::new();
    }
    let files: HashMap<u32, &str> = ptx.lines().filter_map(file).collect();
    let owners: HashMap<u32, Owner> = files.iter().map(|(n, path)| (*n, owner(path))).collect();
    let functions = functions(ptx, |file| *owners.get(&file).unwrap_or(&Owner::Library));
    let by_name: BTreeMap<&str, &Function> = functions.iter().map(|f| (f.name, f)).collect();
    let intended: BTreeSet<&str> = ptx
        .lines()
        .filter_map(|line| line.trim().strip_prefix(MARKER))
        .collect();
    let kernels = functions.iter().filter(|function| function.is_entry);
    let found = kernels
        .filter(|kernel| !intended.contains(kernel.name))
        .filter_map(|kernel| {
            let used = reachable(kernel.name, &by_name);
            let at_fault = used.iter().filter(|function| function.place().is_some());
            let ((file, line), is_index) =
                at_fault.clone().find_map(|function| function.place())?;
            Some(Finding {
                kernels: vec![kernel.name.into()],
                bytes: at_fault.map(|function| function.bytes).sum(),
                file: (*files.get(&file)?).into(),
                line,
                is_index,
            })
        });
    found.fold(Vec::new(), merged)
}

/// One finding more; those of one place are one.
fn merged(mut all: Vec<Finding>, mut one: Finding) -> Vec<Finding> {
    let place = |finding: &Finding| (finding.bytes, finding.line, finding.is_index);
    let is_same = |other: &&mut Finding| place(other) == place(&one) && other.file == one.file;
    match all.iter_mut().find(is_same) {
        Some(same) => same.kernels.append(&mut one.kernels),
        None => all.push(one),
    }
    all
}

/// The function and those that it calls, itself first.
fn reachable<'a>(name: &'a str, all: &BTreeMap<&str, &'a Function<'a>>) -> Vec<&'a Function<'a>> {
    let (mut seen, mut found, mut todo) = (BTreeSet::new(), Vec::new(), vec![name]);
    while let Some(name) = todo.pop() {
        if let Some(function) = all.get(name).filter(|_| seen.insert(name)) {
            found.push(*function);
            todo.extend(&function.calls);
        }
    }
    found
}

/// The number and the path in `.file 1 "src/lib.rs"`.
fn file(line: &str) -> Option<(u32, &str)> {
    let (number, path) = line.trim().strip_prefix(".file")?.split_once('"')?;
    Some((number.trim().parse().ok()?, path.split('"').next()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A module with a kernel for each body.
    fn module(kernels: &[(&str, &str)]) -> String {
        let mut ptx = String::from(".version 8.0\n.target sm_80\n.address_size 64\n");
        for (name, body) in kernels {
            ptx += &format!(
                ".visible .entry {name}(\n\t.param .u64 .ptr .align 1 {name}_param_0\n)\n{{\n{body}}}\n"
            );
        }
        ptx + FILES
    }

    const FILES: &str = "\t.file\t1 \"src/kernels.rs\"\n\t.file\t2 \"core/src/slice/index.rs\"\n\
                         \t.file\t3 \"libm-0.2.16/src/math/expf.rs\"\n";

    fn owner(file: &str) -> Owner {
        match file.split('/').next() {
            Some("src") => Owner::User,
            Some("core") => Owner::Core,
            _ => Owner::Library,
        }
    }

    /// A first value, and accesses with a computed index.
    const COUNTS: &str = "\t.local .align 4 .b8 \t__local_depot0[16];
\t.reg .b64 \t%SP;
\t.loc\t1 6 0
\tmov.b64 \t%SPL, __local_depot0;
\tadd.u64 \t%rd5, %SPL, 0;
\t.loc\t1 7 19
\tst.local.v2.b32 \t[%rd5+8], {0, 0};
\tst.local.v2.b32 \t[%rd5], {0, 0};
\t.loc\t1 9 9
\t.loc\t2 20 5, function_name $L__info_string0, inlined_at 1 9 9
\tmul.wide.u32 \t%rd8, %r3, 4;
\tadd.s64 \t%rd9, %rd5, %rd8;
\t@%p1 ld.local.b32 \t%r4, [%rd9];
\tret;
";

    fn finding(kernel: &str, line: u32, is_index: bool) -> Finding {
        Finding {
            kernels: vec![kernel.into()],
            bytes: 16,
            file: "src/kernels.rs".into(),
            line,
            is_index,
        }
    }

    #[test]
    fn the_line_with_the_computed_index_is_named() {
        let findings = find(&module(&[("count", COUNTS)]), owner);
        assert_eq!(findings, [finding("count", 9, true)]);
        let warning = findings[0].warning();
        let begins = "src/kernels.rs:9: kernel `count` keeps 16 bytes";
        assert!(warning.line.starts_with(begins), "{}", warning.line);
        assert!(warning.rendered.contains("\n --> src/kernels.rs:9\n"));
        assert!(warning.line.contains("because of an index here"));
    }

    #[test]
    fn without_a_computed_index_any_access_will_do() {
        let known = COUNTS.replace("%rd5, %rd8", "%rd5, 4");
        let known = known.replace("mul.wide.u32 \t%rd8, %r3, 4", "mov.b64 \t%rd8, %rd7");
        let findings = find(&module(&[("count", &known)]), owner);
        // Two first values, and one load.
        assert_eq!(findings, [finding("count", 7, false)]);
        assert!(findings[0].warning().line.contains("that is used here"));
    }

    #[test]
    fn a_kernel_without_local_memory_is_not_reported() {
        let without = COUNTS.replace("__local_depot0", "other");
        assert_eq!(find(&module(&[("count", &without)]), owner), []);
    }

    #[test]
    fn what_is_meant_is_not_reported() {
        let ptx = module(&[("meant", COUNTS), ("count", COUNTS), ("meant_too", COUNTS)]);
        let marked = format!("{MARKER}meant\n\t{MARKER}meant_too\n{ptx}");
        assert_eq!(find(&marked, owner), [finding("count", 9, true)]);
    }

    #[test]
    fn instances_are_reported_together() {
        let ptx = module(&[("a", COUNTS), ("b", COUNTS), ("c", COUNTS)]);
        let findings = find(&ptx, owner);
        assert_eq!(findings.len(), 1);
        assert_eq!(findings[0].kernels, ["a", "b", "c"]);
        let line = findings[0].warning().line;
        assert!(
            line.contains(": kernel `a` and 2 others keep 16 bytes"),
            "{line}"
        );
    }

    #[test]
    fn arrays_of_libraries_are_not_reported() {
        // The first values are the user's, as those of `println!`.
        let inlined = COUNTS.replace(
            ".loc\t1 9 9",
            ".loc\t3 71 5, function_name $L__info_string1, inlined_at 1 9 9",
        );
        let inlined = inlined.replace("inlined_at 1 9 9\n\tmul", "inlined_at 3 71 5\n\tmul");
        assert_eq!(find(&module(&[("exp", &inlined)]), owner), []);
    }

    #[test]
    fn merged_instructions_are_at_the_call_around_them() {
        let merged = COUNTS.replace("inlined_at 1 9 9", "inlined_at 1 0 9");
        let merged = merged.replace(
            ".loc\t1 9 9",
            ".loc\t1 0 9, function_name $L__info_string1, inlined_at 1 12 5",
        );
        let findings = find(&module(&[("count", &merged)]), owner);
        assert_eq!(findings, [finding("count", 12, true)]);
        // Without one, the first values' line is all there is.
        let alone = merged.replace(", function_name $L__info_string1, inlined_at 1 12 5", "");
        assert_eq!(
            find(&module(&[("count", &alone)]), owner),
            [finding("count", 7, false)]
        );
    }

    #[test]
    fn a_called_function_counts_for_its_kernels() {
        let calls = "\t.reg .b64 \t%rd<9>;\n\tcall.uni (retval0), counts, (param0);\n\tret;\n";
        let function = format!(
            ".func  (.param .b32 func_retval0) counts(\n\t.param .b64 counts_param_0\n)\n{{\n{COUNTS}}}\n"
        );
        let declared =
            ".func  (.param .b32 func_retval0) counts\n(\n\t.param .b64 counts_param_0\n)\n;\n";
        let ptx = format!(
            "{declared}{}{function}",
            module(&[("first", calls), ("second", "\tret;\n")])
        );
        assert_eq!(find(&ptx, owner), [finding("first", 9, true)]);
    }

    #[test]
    fn an_address_that_a_call_is_given_is_its_functions_matter() {
        let given = COUNTS.replace("ld.local.b32 \t%r4, [%rd9]", "call.uni \tcallee, (param0)");
        let given = given.replace(
            "mul.wide.u32 \t%rd8, %r3, 4",
            "st.param.b64 \t[param0], %rd5",
        );
        let given = given.replace("add.s64 \t%rd9, %rd5, %rd8", "mov.b32 \t%r5, 0");
        let with_callee = |file: u32| {
            let head = ".func callee(\n\t.param .b64 callee_param_0\n)\n";
            let callee = format!("{head}{{\n\t.loc\t{file} 30 0\n\tret;\n}}\n");
            find(&(callee + &module(&[("calls", &given)])), owner)
        };
        assert_eq!(with_callee(1), [finding("calls", 9, true)]);
        assert_eq!(with_callee(2), []);
        assert_eq!(
            find(&module(&[("calls", &given)]), owner),
            [],
            "one of CUDA's"
        );
    }
}
