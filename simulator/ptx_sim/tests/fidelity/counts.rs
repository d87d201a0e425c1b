//! The table of counters.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;

use ptx_sim::Counts;
use serde_json::Value;

use super::instructions::grouped;
use common::accesses::{Compared, compared};

/// The data files of single accesses.
const FILES: [&str; 4] = [
    include_str!("../data/h200-access-counters.csv"),
    include_str!("../data/h200-access-counters-2.csv"),
    include_str!("../data/h200-access-counters-3.csv"),
    include_str!("../data/h200-access-counters-4.csv"),
];

/// Counters of one kind of access: what their names begin with, the instructions that they
/// count, and of some the hardware's counters, which were read for whole kernels.
struct Family {
    name: &'static str,
    instructions: Vec<&'static str>,
    metrics: Vec<(&'static str, &'static str)>,
}

/// All families: a name, instructions, and each counter with the hardware's.
const FAMILIES: &str = "\
shared_load | ld.shared | conflicts l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum
shared_store | st.shared | conflicts l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum
shared_atomic | atom.shared red.shared
ldmatrix | ldmatrix | conflicts sm__sass_l1tex_data_bank_conflicts_pipe_lsu_mem_shared_op_ldsm.sum
stmatrix | stmatrix
async_copy | cp.async.ca
global_load | ld.global cp.async | requests l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum \
    | sectors l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum
global_store | st.global | requests l1tex__t_requests_pipe_lsu_mem_global_op_st.sum \
    | sectors l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum
global_atomic | atom.global
global_red | red.global
local_load | ld.local | sectors l1tex__t_sectors_pipe_lsu_mem_local_op_ld.sum
local_store | st.local | sectors l1tex__t_sectors_pipe_lsu_mem_local_op_st.sum";

fn families() -> Vec<Family> {
    let family = |line: &'static str| {
        let mut parts = line.split(" | ");
        let mut next = || parts.next().expect("a name and instructions");
        Family {
            name: next(),
            instructions: next().split(' ').collect(),
            metrics: parts.filter_map(|part| part.split_once(' ')).collect(),
        }
    };
    FAMILIES.lines().map(family).collect()
}

/// One figure of a whole kernel: `bench/results/h200/counters.json`.
pub struct Whole {
    pub kernel: String,
    pub metric: String,
    pub simulator: u64,
    pub hardware: u64,
}

/// The rows of a list in a file of the repository's results.
pub fn rows(name: &str, list: &str) -> Vec<Value> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../../bench/results/h200")
        .join(name);
    let text = std::fs::read_to_string(path).expect("the repository's results");
    let mut file: Value = serde_json::from_str(&text).expect("JSON");
    match file[list].take() {
        Value::Array(rows) => rows,
        other => panic!("{name}: {list} is {other}"),
    }
}

/// All figures of whole kernels.
pub fn whole_kernels() -> Vec<Whole> {
    let figure = |row: &Value| Whole {
        kernel: row["kernel"].as_str().expect("a name").to_owned(),
        metric: row["metric"].as_str().expect("a name").to_owned(),
        simulator: row["simulator"].as_u64().expect("a number"),
        hardware: row["hardware"].as_u64().expect("a number"),
    };
    rows("counters.json", "compared")
        .iter()
        .map(figure)
        .collect()
}

/// How many of some comparisons agree: `12 of 12`.
pub fn agreeing(agree: impl IntoIterator<Item = bool>) -> String {
    let (mut n, mut n_agree) = (0, 0);
    for agrees in agree {
        n += 1;
        n_agree += usize::from(agrees);
    }
    if n == 0 {
        String::new()
    } else {
        format!("{} of {}", grouped(n_agree), grouped(n))
    }
}

/// How many accesses agree, by file and together.
pub fn single_accesses() -> [String; FILES.len()] {
    FILES.map(|file| agreeing(compared(file).map(|access| access.agrees())))
}

/// A row for every counter.
pub fn table() -> String {
    let mut text = "| counter | single accesses that agree | figures of whole kernels that agree |\n|---|---|---|\n".to_owned();
    let (families, whole) = (families(), whole_kernels());
    for (name, _) in Counts::default().entries() {
        let family = families.iter().find(|family| name.starts_with(family.name));
        let (single, kernels) = match family {
            None if name.starts_with("cluster") || name.starts_with("peer") => {
                let by = "by definition; the hardware's counters were not read";
                (by.to_owned(), String::new())
            }
            None => ("PTX instructions, by definition".to_owned(), String::new()),
            Some(family) => {
                let what = &name[family.name.len() + 1..];
                (of_single(family, what), of_kernels(family, what, &whole))
            }
        };
        writeln!(text, "| `{name}` | {single} | {kernels} |").unwrap();
    }
    text
}

/// How many single accesses agree in one figure.
fn of_single(family: &Family, what: &str) -> String {
    let names = ["wavefronts", "conflicts", "requests", "sectors"];
    // Those that were measured are the requests to global and local memory.
    let is_shared = !family.name.starts_with("global") && !family.name.starts_with("local");
    let Some(figure) = names.iter().position(|name| *name == what) else {
        return "distinct bytes, by definition".to_owned();
    };
    if is_shared && what == "requests" {
        return "one per instruction, by definition".to_owned();
    }
    let is_ours = |access: &Compared<'_>| {
        family
            .instructions
            .iter()
            .any(|name| access.instruction.starts_with(name))
    };
    let accesses = FILES.iter().flat_map(|file| compared(file)).filter(is_ours);
    agreeing(
        accesses
            .filter_map(|access| access.figures[figure])
            .map(|(a, b)| a == b),
    )
}

/// How many figures of whole kernels agree, and which kernels have others.
fn of_kernels(family: &Family, what: &str, whole: &[Whole]) -> String {
    let Some((_, metric)) = family.metrics.iter().find(|(name, _)| *name == what) else {
        return String::new();
    };
    let ours = || whole.iter().filter(|figure| figure.metric == *metric);
    let others: BTreeSet<&str> = ours()
        .filter(|figure| figure.simulator != figure.hardware)
        .map(|figure| figure.kernel.as_str())
        .collect();
    let agreeing = agreeing(ours().map(|figure| figure.simulator == figure.hardware));
    if others.is_empty() {
        return agreeing;
    }
    let others: Vec<String> = others.iter().map(|kernel| format!("`{kernel}`")).collect();
    format!("{agreeing}; not {}", others.join(", "))
}

/// A line for every instruction with single accesses that the rules do not reproduce.
pub fn not_reproduced() -> String {
    let mut text = "\nSingle accesses that no rule explains:\n\n".to_owned();
    let accesses: Vec<Compared<'_>> = FILES.iter().flat_map(|file| compared(file)).collect();
    let names: BTreeSet<&str> = accesses
        .iter()
        .filter(|access| !access.agrees())
        .map(|access| access.instruction)
        .collect();
    if names.is_empty() {
        return "\nEvery single access that was measured is reproduced.\n".to_owned();
    }
    for name in names {
        let ours = || accesses.iter().filter(|access| access.instruction == name);
        let wrong: Vec<String> = ours()
            .filter(|access| !access.agrees())
            .flat_map(|access| access.figures.iter().flatten())
            .filter(|(measured, by_rule)| measured != by_rule)
            .map(|(measured, by_rule)| format!("{measured} where the rule says {by_rule}"))
            .collect();
        writeln!(
            text,
            "- `{name}`: {} agree; measured {}.",
            agreeing(ours().map(Compared::agrees)),
            wrong.join(", ")
        )
        .unwrap();
    }
    text
}
