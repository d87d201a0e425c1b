//! Line tables do not change code: the PTX instructions with and without them are
//! the same, to the letter.
//!
//! Some topics of the catalogue are compiled here a second time, without. All of it takes minutes
//! and is left to `cargo test -p lockstep-tests line_tables -- --ignored`.
//!
//! The name sorts early, and so do the tests: this one compiles `core` again on one processor, while
//! the others run on the rest.

use cuda_builder::CudaBuilder;
use lockstep_tests::ptx;
use std::collections::HashMap;
use std::path::Path;

/// PTX without what line tables add to it: which file and line an instruction
/// comes from, the labels between which that holds, and sections of text for
/// debuggers. Comments and empty lines go too.
fn code(ptx: &str) -> Vec<String> {
    let mut code = Vec::new();
    let mut in_section = false;
    for line in ptx.lines() {
        let line = line.split("//").next().unwrap_or(line).trim();
        let is_label = |start: &str| line.starts_with(start) && line.ends_with(':');
        if in_section {
            in_section = line != "}";
        } else if line.starts_with(".section") {
            in_section = !line.ends_with('}');
        } else if !(line.is_empty()
            || line.starts_with(".loc\t")
            || line.starts_with(".file")
            || is_label("$L__tmp")
            || is_label("$L__func_begin")
            || is_label("$L__func_end")
            || is_label("$L__info_string"))
        {
            code.push(line.to_owned());
        }
    }
    by_content(code)
}

/// The code with the content of constants without a name in place of their numbers, and their
/// definitions sorted at the end: the compiler numbers them in an order that depends on the
/// numbers of crates.
fn by_content(code: Vec<String>) -> Vec<String> {
    let (definitions, mut code): (Vec<_>, Vec<_>) = code
        .into_iter()
        .partition(|line| line.starts_with(".global") && definition(line).is_some());
    let mut contents: HashMap<String, String> = HashMap::new();
    let mut sorted = Vec::new();
    for line in &definitions {
        // A constant stands behind those that it refers to.
        let line = with_contents(line, &contents);
        let (name, content) = definition(&line).expect("it was one");
        contents.insert(name.to_owned(), format!("<{content}>"));
        sorted.push(without_hashes(&line.replace(name, "")));
    }
    sorted.sort();
    for line in &mut code {
        *line = without_hashes(&with_contents(line, &contents));
    }
    code.append(&mut sorted);
    code
}

/// A nameless constant's number, with what stands around it, and its content.
fn definition(line: &str) -> Option<(&str, &str)> {
    let (declared, content) = line.split_once(" = ")?;
    let name = &declared[declared.find(ANONYMOUS)?..];
    Some((&name[..name.find('[')?], content))
}

fn with_contents(line: &str, contents: &HashMap<String, String>) -> String {
    let mut text = String::new();
    let mut rest = line;
    while let Some(at) = rest.find(ANONYMOUS) {
        let (before, name) = rest.split_at(at);
        let is_of_name = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '$';
        let end = name.find(|c| !is_of_name(c)).unwrap_or(name.len());
        text += before;
        text += contents
            .get(&name[..end])
            .map_or(&name[..end], String::as_str);
        rest = &name[end..];
    }
    text + rest
}

/// Without the numbers that cargo gives to crates, which differ with every setting:
/// `_RNvNtCs7NIgC0NtlI0_4core` becomes `_RNvNtCs_4core`.
fn without_hashes(line: &str) -> String {
    let mut text = String::new();
    let mut rest = line;
    while let Some(at) = next_hash(rest).filter(|_| line.contains("_R") || line.contains(ANONYMOUS))
    {
        let (before, after) = rest.split_at(at);
        text.push_str(before);
        let end = after.find(|c: char| !c.is_ascii_alphanumeric());
        rest = match end {
            Some(end) if after[end..].starts_with('_') => &after[end..],
            _ => after,
        };
    }
    text + rest
}

/// The text before the crate's number in the name of a constant without one.
const ANONYMOUS: &str = "anon_$_";

/// Where a crate's number may begin.
fn next_hash(text: &str) -> Option<usize> {
    ["Cs", ANONYMOUS]
        .iter()
        .filter_map(|start| Some(text.find(start)? + start.len()))
        .min()
}

/// A topic of the catalogue for an architecture.
struct Topic<'a> {
    name: Option<&'a str>,
    arch: &'a str,
}

impl Topic<'_> {
    /// What it compiles to with line tables or without, if crates are numbered in this way.
    fn ptx(&self, line_tables: bool, number: u32) -> String {
        let mut builder = CudaBuilder::new(ptx::root().join("gpu-kernels"))
            .arch(self.arch)
            .build_args(&[format!("-Cmetadata={number}")])
            .emit_line_tables(line_tables);
        if let Some(name) = self.name {
            builder = builder.no_default_features().features(&[name]);
        }
        let target = if line_tables {
            "line-tables"
        } else {
            "no-line-tables"
        };
        let built = builder
            .target_dir(Path::new(env!("CARGO_TARGET_TMPDIR")).join(target))
            .build()
            .expect("the kernels compile");
        std::fs::read_to_string(built.ptx_path).expect("the PTX is there")
    }

    /// Line tables change nothing if the code is the same, in one way of numbering crates: in which
    /// order the compiler lays out blocks depends, rarely, on these numbers, and without line tables
    /// they are other ones if they are the usual.
    fn assert_same_code(&self) {
        let both = |number| {
            std::thread::scope(|scope| {
                let without = scope.spawn(move || self.ptx(false, number));
                (self.ptx(true, number), without.join().expect("it compiles"))
            })
        };
        let (with, without) = (1..4)
            .map(both)
            .find(|(with, without)| code(with) == code(without))
            .unwrap_or_else(|| both(1));
        assert_same_code(&with, &without);
    }
}

fn n_places(ptx: &str) -> usize {
    ptx.matches("\t.loc\t").count()
}

fn assert_same_code(with: &str, without: &str) {
    assert!(n_places(with) > 50 && n_places(without) == 0);
    let (with, without) = (code(with), code(without));
    let n_instructions = with.iter().filter(|line| line.ends_with(';')).count();
    assert!(n_instructions > 100, "{n_instructions}");
    for (line, (a, b)) in with.iter().zip(&without).enumerate() {
        assert_eq!(a, b, "line {line} of the code alone");
    }
    assert_eq!(with.len(), without.len());
}

/// The modules of the catalogue that are to be looked at.
fn assert_all_the_same(is_one: impl Fn(&str, &str) -> bool) {
    let mut n = 0;
    for module in ptx::modules() {
        let arch = module.target_name().expect("it is known");
        let name = module.topic();
        if is_one(name.unwrap_or_default(), arch) {
            Topic { name, arch }.assert_same_code();
            n += 1;
        }
    }
    assert!(n > 2, "only {n} modules");
}

#[test]
fn some_topics_are_the_same_code_without_line_tables() {
    let topics = ["gemm", "local_memory", "neighbor", "sgemm"];
    assert_all_the_same(|topic, arch| arch == "sm_80" && topics.contains(&topic));
}

#[test]
#[ignore = "compiles the catalogue twice more: minutes"]
fn the_catalogue_is_the_same_code_without_line_tables() {
    assert_all_the_same(|_, _| true);
}

#[test]
fn constants_without_a_name_are_known_by_their_content() {
    let code = |first: &str, second: &str, used: u32| {
        code(&format!(
            ".global .b8 anon_$_6_$_1[1] = {{{first}}};\n.global .b8 anon_$_6_$_2[1] = {{{second}}};\n\
             .global .u64 anon_$_6_$_3[1] = {{generic(anon_$_6_$_{used})}};\nmov.b64 %rd1, anon_$_6_$_3;"
        ))
    };
    assert_eq!(code("48", "49", 1), code("49", "48", 2));
    assert_ne!(code("48", "49", 1), code("48", "49", 2));
    assert_ne!(code("48", "49", 1), code("48", "50", 1));
}

#[test]
fn numbers_of_crates_do_not_matter() {
    assert_eq!(
        without_hashes("call _RNvNtCs7NIgC0NtlI0_4core9panicking9panic_fmt, (param0);"),
        "call _RNvNtCs_4core9panicking9panic_fmt, (param0);"
    );
    assert_eq!(
        without_hashes(".global .b8 anon_$_6888117388a43d44_$_1[2] = {48, 49};"),
        ".global .b8 anon_$__$_1[2] = {48, 49};"
    );
    assert_eq!(without_hashes("mov.b32 %r1, Cs7;"), "mov.b32 %r1, Cs7;");
}

#[test]
fn a_changed_instruction_is_found() {
    let with = ptx::library();
    let at = with.find("\tst.global").expect("the kernels store");
    let changed = format!("{}\tld.global{}", &with[..at], &with[at + 10..]);
    assert_ne!(code(with), code(&changed));
    let moved = with.replacen("\t.loc\t1 ", "\t.loc\t2 ", 1);
    assert_eq!(code(with), code(&moved));
}
