//! Variables of PTX by rustc and by nvcc, from the sources next to it.

use debugger::variables::{Frame, Location, Piece, Place, Reason, Variable, Variables};
use proptest::prelude::*;
use ptx::ir::{Module, Space};

const RUST: &str = include_str!("fixtures/variables.ptx");
const CUDA: &str = include_str!("fixtures/variables_cu.ptx");

/// A module with its variables.
struct Read {
    text: &'static str,
    module: Module,
    variables: Variables,
}

impl Read {
    fn new(text: &'static str) -> Self {
        let module = ptx::parse::parse(text).unwrap();
        let variables = Variables::of(text, &module);
        assert_eq!(variables.missing(), None);
        Self {
            text,
            module,
            variables,
        }
    }

    /// The variables before the first instruction of a function that contains a text, by name.
    fn at(&self, function: &str, instruction: &str) -> impl Fn(&str) -> Variable + use<> {
        let lines: Vec<&str> = self.text.lines().collect();
        let (_, found) = self.module.function(function).unwrap();
        let mut body = found.body.as_ref().unwrap().iter();
        let index = body.position(|at| lines[at.line as usize - 1].contains(instruction));
        let variables = self.variables.at(function, index.expect(instruction));
        move |name| {
            let mut named = variables.iter().filter(|variable| variable.name == name);
            named.next_back().cloned().expect(name)
        }
    }
}

fn register(name: &str, offset: u64, size: u64) -> Piece {
    Piece {
        offset,
        size,
        place: Place::Register(name.into()),
    }
}

fn in_register(name: &str) -> Location {
    Location::Pieces(vec![register(name, 0, 4)])
}

fn memory(space: Space, name: &str, offset: u64, size: u64) -> Location {
    let name = name.into();
    Location::Pieces(vec![Piece {
        offset: 0,
        size,
        place: Place::Memory {
            space,
            name,
            offset,
        },
    }])
}

/// A reader that finds these bytes everywhere.
fn bytes(bytes: &[u8]) -> impl FnMut(&Piece) -> Option<Vec<u8>> {
    move |piece| Some(bytes[..piece.size as usize].to_vec())
}

#[test]
fn a_parameter_is_in_the_register_that_it_is_loaded_into() {
    let at = Read::new(RUST).at("largest", "mov.u32 \t%r5, %tid.x");
    let width = at("width");
    assert_eq!(width.location, in_register("%r4"));
    assert_eq!(width.ty.name(), "u32");
    assert!(width.is_parameter);
    assert_eq!(width.show(bytes(&[32, 0, 0, 0])), "32");
    assert_eq!(width.show(|_| None), "<no longer kept>");
}

#[test]
fn before_it_is_loaded_a_parameter_has_no_value() {
    let at = Read::new(RUST).at("largest", "ld.param.b32 \t%r4");
    let width = at("width");
    assert_eq!(width.location, Location::Lost(Reason::NotYet("%r4".into())));
    assert_eq!(width.show(|_| None), "<lost: %r4 is not computed yet>");
}

#[test]
fn an_inlined_function_has_variables_of_its_own() {
    let read = Read::new(RUST);
    let thread = read.at("largest", "mad.lo.s32")("thread");
    let frame = Frame {
        function: "start_of".into(),
        depth: 1,
        called_at: Some((1, 30, 17)),
    };
    assert_eq!(*thread.frame, frame);
    assert_eq!(thread.location, in_register("%r5"));
}

#[test]
fn the_fields_of_a_structure_are_in_places_of_their_own() {
    let found = Read::new(RUST).at("largest", "add.s32 \t%r1, %r37, %r4")("found");
    let zero = Piece {
        offset: 4,
        size: 4,
        place: Place::Constant(vec![0; 4]),
    };
    let pieces = vec![register("%r37", 0, 4), zero];
    assert_eq!(found.location, Location::Pieces(pieces));
    let text = found.show(bytes(&[7, 0, 0, 0]));
    assert_eq!(text, "Found { place: 7, amount: 0.0 }");
    let text = found.show(|_| None);
    assert_eq!(text, "Found { place: <no longer kept>, amount: 0.0 }");
}

#[test]
fn a_register_that_the_loop_counts_in_is_not_believed_to_hold_its_start() {
    // LLVM says so in its location list.
    let at = Read::new(RUST).at("largest", "add.s32 \t%r37, %r3, 1");
    let reason = Reason::Overwritten("%r37".into());
    assert_eq!(at("start").location, Location::Lost(reason));
    let pieces = vec![register("%r38", 0, 4), register("%r39", 4, 4)];
    assert_eq!(at("found").location, Location::Pieces(pieces));
}

#[test]
fn an_array_with_computed_indices_is_in_local_memory() {
    let read = Read::new(RUST);
    let values = read.at("shuffled", "ld.local.b32")("values");
    assert_eq!(values.ty.name(), "[f32; 8]");
    let place = memory(Space::Local, "__local_depot1", 0, 32);
    assert_eq!(values.location, place);
    let text = values.show(bytes(&[1.0_f32.to_le_bytes(); 8].concat()));
    assert_eq!(text, "[1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0]");
}

#[test]
fn a_part_that_the_optimiser_dropped_is_lost_alone() {
    let read = Read::new(RUST);
    let bound = read.at("shuffled", "cvt.rn.f32.u32")("bound");
    let Location::Pieces(pieces) = &bound.location else {
        panic!("{:?}", bound.location);
    };
    assert_eq!(pieces[0].place, Place::Lost(Reason::NotKept));
    assert_eq!(pieces[1], register("%r25", 4, 4));
    // Without its tag, nobody knows which variant it is.
    assert_eq!(bound.show(bytes(&[1, 0, 0, 0])), "<lost>");
}

#[test]
fn nvccs_parameters_are_in_parameter_space_and_its_arrays_in_shared_memory() {
    let at = Read::new(CUDA).at("largest", "bar.sync");
    let place = memory(Space::Param, "largest_param_2", 0, 4);
    assert_eq!(at("width").location, place);
    let tile = at("tile");
    assert!(matches!(
        &tile.location,
        Location::Pieces(pieces)
            if matches!(&pieces[0].place, Place::Memory { space: Space::Shared, .. })
    ));
    assert_eq!(tile.ty.size(), 128);
    let found = at("found");
    assert_eq!(found.location, memory(Space::Local, "__local_depot1", 0, 8));
    let text = found.show(bytes(&[255, 255, 255, 255, 0, 0, 128, 63]));
    assert_eq!(text, "Found { place: -1, amount: 1.0 }");
}

#[test]
fn nvccs_lists_follow_a_loops_counter_from_register_to_register() {
    let read = Read::new(CUDA);
    for (instruction, name) in [
        ("mov.u32 \t%r21, %r2", "%r2"),
        ("setp.lt.s32 \t%p1, %r3", "%r3"),
        ("ld.f32 \t%f8", "%r3"),
    ] {
        let n = read.at("largest", instruction)("n");
        assert_eq!(n.location, in_register(name));
    }
}

#[test]
fn enumerators_of_cuda_have_names() {
    let side = Read::new(CUDA).at("largest", "bar.sync")("side");
    assert_eq!(side.show(bytes(&[255; 4])), "Side::LEFT");
    assert_eq!(side.show(bytes(&[1, 0, 0, 0])), "Side::RIGHT");
    assert_eq!(side.show(bytes(&[2, 0, 0, 0])), "Side::<2>");
}

#[test]
fn ptx_without_debug_information_has_no_variables_and_says_so() {
    let code = RUST.split("\t.section").next().unwrap();
    let module = ptx::parse::parse(RUST).unwrap();
    let variables = Variables::of(code, &module);
    let why = variables.missing();
    assert!(
        why.is_some_and(|why| why.contains("DebugInfo::Full")),
        "{why:?}"
    );
    assert!(variables.at("largest", 0).is_empty());
}

/// All variables of all instructions, which must not panic.
fn read_all(text: &str, module: &Module) -> usize {
    let variables = Variables::of(text, module);
    let mut count = 0;
    for function in &module.functions {
        for index in (0..function.body.as_ref().map_or(0, Vec::len)).step_by(7) {
            for variable in variables.at(&function.name, index) {
                variable.show(|piece| Some(vec![1; piece.size.min(64) as usize]));
                count += 1;
            }
        }
    }
    count
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn cut_text_has_variables_or_a_reason(is_rust: bool, share in 0.0_f64..1.0) {
        let text = if is_rust { RUST } else { CUDA };
        let module = ptx::parse::parse(text).unwrap();
        let end = (text.len() as f64 * share) as usize;
        read_all(&text[..end], &module);
    }

    #[test]
    fn changed_bytes_of_sections_do_no_harm(
        is_rust: bool,
        changes in prop::collection::vec((0.0_f64..1.0, 0_u8..=255), 1..8),
    ) {
        let text = if is_rust { RUST } else { CUDA };
        let module = ptx::parse::parse(text).unwrap();
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        let data: Vec<usize> = (0..lines.len())
            .filter(|&line| lines[line].starts_with(".b8"))
            .collect();
        for (place, byte) in changes {
            let line = &mut lines[data[(data.len() as f64 * place) as usize]];
            let mut values: Vec<&str> = line.trim_start_matches(".b8 ").split(',').collect();
            let byte = byte.to_string();
            let at = (values.len() as f64 * place) as usize;
            values[at] = &byte;
            *line = format!(".b8 {}", values.join(","));
        }
        read_all(&lines.join("\n"), &module);
    }
}

#[test]
fn labels_that_are_not_there_or_twice_are_reasons() {
    let module = ptx::parse::parse(CUDA).unwrap();
    let (label, section) = ("$L__func_begin1:", "\t.section\t.debug_abbrev\n\t{\n");
    for (from, to, reason) in [
        (label, "", "`$L__func_begin1` is not understood"),
        (
            label,
            &label.repeat(2),
            "`$L__func_begin1` is not understood",
        ),
        (
            section,
            &format!("{section}ret;\n"),
            "`ret;` has no place in a section",
        ),
    ] {
        let variables = Variables::of(&CUDA.replace(from, to), &module);
        let why = variables.missing().unwrap_or_default();
        assert!(why.contains(reason), "{why}");
    }
}
