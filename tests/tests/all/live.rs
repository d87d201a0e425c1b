//! The live parts of the book: the playground's kernels do what the maps say, and the simulator
//! in WebAssembly answers what it answers on the host, byte for byte: results, counts, pictures
//! and errors. Where there is no node, or the library was not built (`cargo xtask book` builds
//! it), the latter test says so and does nothing.

use cli::book::facts::Facts;
use cuda_builder::dep_info;
use gpu_kernels::{bank_conflicts, transpose};
use live::Question;
use live::launch::{self, Given};
use live::{stride, tile};
use lockstep_tests::ptx;
use maps::{Layout, Pattern, Tile};
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use std::time::SystemTime;

fn module_of(kernel: &str) -> String {
    let module = host::kernels::module_with(kernel, Some("sm_80"));
    let module = module.unwrap_or_else(|error| panic!("{error}"));
    module.text().expect("it compiles").to_owned()
}

/// Numbers that differ in all of their bits, and are not special floats.
fn words(n: u32) -> Given {
    Given::Words(
        (0..n)
            .map(|i| i.wrapping_mul(0x0031_4159) & 0x7f7f_ffff)
            .collect(),
    )
}

fn transposes() -> Vec<Question> {
    let ptx = module_of("transpose_shared");
    let (n_rows, n_columns) = (96, 68);
    let of = |kernel: &str, grid: [u32; 3], block: [u32; 3], check: bool| {
        Question::Launch(launch::Question {
            ptx: ptx.clone(),
            kernel: kernel.to_owned(),
            grid,
            block,
            dynamic_shared_bytes: 0,
            arguments: vec![
                words(n_rows * n_columns),
                Given::Zeros(n_rows * n_columns),
                Given::Word(n_rows),
                Given::Word(n_columns),
            ],
            check,
        })
    };
    let grid = transpose::grid(n_rows, n_columns);
    let mut questions: Vec<Question> = ["transpose_coalesced_read", "transpose_shared"]
        .into_iter()
        .chain(["transpose_padded", "transpose_swizzled"])
        .flat_map(|kernel| [true, false].map(|check| of(kernel, grid, transpose::BLOCK, check)))
        .collect();
    questions.push(of(
        "transpose_vectorized",
        transpose::large_grid(n_rows, n_columns),
        transpose::LARGE_BLOCK,
        false,
    ));
    // Too few threads for the tile, and no such kernel: errors are answers.
    questions.push(of("transpose_padded", grid, [64, 64, 1], false));
    questions.push(of("transpose_paded", grid, transpose::BLOCK, false));
    questions
}

fn banks() -> Vec<Question> {
    let ptx = module_of("bank_load_width");
    let of = |kernel: &str, further: &[u32]| {
        let n = bank_conflicts::MAX_WIDTH * bank_conflicts::MAX_WIDTH * 32;
        let mut arguments = vec![words(n), Given::Zeros(n)];
        arguments.extend(further.iter().map(|&word| Given::Word(word)));
        Question::Launch(launch::Question {
            ptx: ptx.clone(),
            kernel: kernel.to_owned(),
            grid: bank_conflicts::GRID,
            block: bank_conflicts::BLOCK,
            dynamic_shared_bytes: 0,
            arguments,
            check: false,
        })
    };
    let mut questions = vec![of("bank_store_columns", &[]), of("bank_load_rows", &[])];
    questions.extend([1, 7, 12, 32, 33].map(|width| of("bank_load_width", &[width, 3])));
    questions
}

/// The playground's PTX.
fn playground() -> &'static str {
    static TEXT: OnceLock<String> = OnceLock::new();
    TEXT.get_or_init(|| {
        let facts = Facts::open(&ptx::root(), true, cli::commands::understood);
        let facts = facts.unwrap_or_else(|error| panic!("{error}"));
        let text = facts.playground().unwrap_or_else(|error| panic!("{error}"));
        text.to_owned()
    })
}

fn tile_of(rows: u32, columns: u32, element: &str, access: &str, layout: &str) -> tile::Question {
    tile::Question {
        ptx: playground().to_owned(),
        rows,
        columns,
        element: element.to_owned(),
        layout: layout.to_owned(),
        access: access.to_owned(),
    }
}

fn stride_of(element: &str, stride: u32, first: u32) -> stride::Question {
    stride::Question {
        ptx: playground().to_owned(),
        element: element.to_owned(),
        stride,
        first,
    }
}

/// Tiles, types, accesses and layouts that a reader may choose.
fn tiles() -> Vec<tile::Question> {
    let sizes = [(32, 32), (32, 16), (16, 64), (48, 16), (7, 32), (33, 17)];
    let layouts = [
        "plain",
        "pad:1",
        "pad:8",
        "xor",
        "xor:16,128",
        "shift",
        "swizzle:5,0,5",
        "swizzle:3,3,3",
        "swizzle:2,3,3",
    ];
    let mut all = Vec::new();
    for (rows, columns) in sizes {
        for element in ["f16", "f32", "f64", "f32x4"] {
            for access in ["row", "column", "ldmatrix"] {
                let of = |layout| tile_of(rows, columns, element, access, layout);
                all.extend(layouts.map(of));
            }
        }
    }
    all
}

/// Wavefronts of all accesses that it takes to read the tile, by the maps.
fn wavefronts(question: &tile::Question) -> u64 {
    let bytes = maps::tile::element_bytes(&question.element).expect("a type");
    let tile = Tile::new(question.rows, question.columns, bytes).expect("a tile");
    let layout: Layout = question.layout.parse().expect("a layout");
    let name = match question.access.as_str() {
        "ldmatrix" => "ldmatrix.x4",
        other => other,
    };
    let pattern: Pattern = name.parse().expect("an access");
    let accesses = pattern.accesses(&tile, &layout).expect("they fit");
    let costs = accesses
        .iter()
        .map(|access| access.shared_cost().wavefronts);
    costs.map(u64::from).sum()
}

#[test]
fn the_playground_does_what_the_maps_say() {
    let mut n_answered = 0;
    for question in tiles() {
        let what = format!(
            "{}×{} {} by {}, {}",
            question.rows, question.columns, question.element, question.access, question.layout
        );
        // Which patterns are refused, with a reason, depends on tile and layout.
        let Ok(answer) = tile::answer(&question) else {
            continue;
        };
        n_answered += 1;
        assert!(answer.is_right, "{what}");
        assert_eq!(answer.wavefronts, wavefronts(&question), "{what}");
        assert!(answer.html.contains("<svg"), "{what}");
    }
    assert!(n_answered > 200, "only {n_answered} were answered");
    for (element, stride, sectors) in [("f32", 1, 4), ("f32", 8, 32), ("u8", 1, 1), ("f64", 2, 16)]
    {
        let answer = stride::answer(&stride_of(element, stride, 0)).expect("it runs");
        assert!(answer.is_right);
        assert_eq!(answer.sectors, sectors, "{element} by {stride}");
    }
}

/// The library and node, or why the test cannot be run.
fn wasm() -> Result<PathBuf, String> {
    let wasm = ptx::root().join("target/live/wasm32-unknown-unknown/live/live.wasm");
    let absent = |_| "the library was not built; `cargo xtask book` builds it".to_owned();
    let built = wasm
        .metadata()
        .and_then(|file| file.modified())
        .map_err(absent)?;
    let note = std::fs::read_to_string(wasm.with_extension("d")).map_err(absent)?;
    let is_newer = |path: &PathBuf| {
        let changed = path.metadata().and_then(|file| file.modified());
        changed.unwrap_or(SystemTime::UNIX_EPOCH) > built
    };
    match dep_info::sources(&note).iter().find(|path| is_newer(path)) {
        Some(path) => Err(format!(
            "the library is older than {}; `cargo xtask book` rebuilds it",
            path.display()
        )),
        None => Ok(wasm),
    }
}

#[test]
fn webassembly_answers_as_the_host_does() {
    let wasm = match wasm() {
        Ok(wasm) => wasm,
        Err(reason) => return eprintln!("not run: {reason}"),
    };
    let mut node = Command::new("node");
    node.arg(ptx::root().join("book/browser/answers.mjs"))
        .arg(wasm)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped());
    let mut child = match node.spawn() {
        Ok(child) => child,
        Err(error) => return eprintln!("not run: there is no node: {error}"),
    };
    let mut questions = [transposes(), banks()].concat();
    questions.extend(tiles().into_iter().step_by(13).map(Question::Tile));
    questions.push(Question::Stride(stride_of("f16", 3, 1)));
    let lines: Vec<String> = questions
        .iter()
        .map(|question| serde_json::to_string(question).expect("it is plain data"))
        .collect();
    let mut stdin = child.stdin.take().expect("it is piped");
    let asked = lines.join("\n");
    let writer = std::thread::spawn(move || stdin.write_all(asked.as_bytes()));
    let output = child.wait_with_output().expect("node ends");
    writer.join().expect("no panic").expect("node reads");
    assert!(output.status.success(), "node failed");
    let answers = String::from_utf8(output.stdout).expect("it is text");
    let answers: Vec<&str> = answers.lines().collect();
    assert_eq!(answers.len(), lines.len());
    for (line, answer) in lines.iter().zip(answers) {
        assert_eq!(answer, live::answer(line));
    }
}

#[test]
fn conflicts_are_counted_as_in_the_lessons() {
    let conflicts = |question: &Question| {
        let text = live::answer(&serde_json::to_string(question).expect("plain data"));
        let answer: serde_json::Value = serde_json::from_str(&text).expect("it is JSON");
        let counts = &answer["launch"]["counts"];
        counts["shared_load_conflicts"].as_u64().unwrap_or(0)
    };
    let widths: Vec<u64> = banks()[2..].iter().map(conflicts).collect();
    let law = |width| u64::from(3 * 32 * (bank_conflicts::way(width) - 1));
    assert_eq!(widths, [1, 7, 12, 32, 33].map(law));
    let errors = transposes().split_off(9);
    for question in errors {
        let text = live::answer(&serde_json::to_string(&question).expect("plain data"));
        assert!(text.starts_with("{\"error\":"), "{text}");
    }
}
