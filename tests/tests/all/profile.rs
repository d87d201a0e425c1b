//! `profile` on the transposes: the column read of the plain tile is a 32-way bank
//! conflict, on its line; the swizzled tile has none, on the same line. Kernels that
//! are wrong have profiles too.

use cli::profile::{Profile, Row, Trouble, simulate, sources};
use cuda_std::launch::{DevicePtr, DevicePtrMut};
use gpu_kernels::transpose::transpose_swizzled;
use host::lessons::transpose;
use host::registry::kernel;
use lesson::{CaseError, KernelEntry, Shape, Trial};
use lockstep::engine::{Buffer, Prepared, PtxModule};
use lockstep_page::verdict;
use lockstep_tests::lesson_of;

fn profile(name: &str, shape: &[u32]) -> Profile {
    let registered = kernel(name).expect("it is in the registry");
    let module = host::kernels::module_with(name, None).expect("it compiles");
    let profile = simulate(registered, &Shape::of(shape), &module)
        .expect("it runs")
        .expect("it is launched");
    assert!(profile.is_right(), "{:?}", profile.trouble);
    profile
}

/// The text of the line that an instruction comes from.
fn line(row: &Row) -> String {
    let place = row.line.as_ref().expect("the PTX has line tables");
    let text = sources::text(&place.file).expect("it is one of the kernels' sources");
    let line = text.lines().nth(place.line as usize - 1);
    line.expect("the file has that line").trim().to_owned()
}

/// The column of the tile is read here.
fn reads_column(row: &Row) -> bool {
    row.opcode.starts_with("ld.shared") && line(row).starts_with("let value = *tile.add(")
}

#[test]
fn transpose_shared_shows_the_32_way_line() {
    let profile = profile("transpose_shared", &[128, 64]);
    let (bad, good): (Vec<_>, Vec<_>) = profile.rows.iter().partition(|row| row.wasted() > 0);
    let [bad] = bad[..] else {
        panic!("one instruction wastes work, not {bad:?}");
    };
    assert!(reads_column(bad), "{}", line(bad));
    let n_warps = 128 * 64 / 32;
    assert_eq!((bad.executions, bad.ways), (n_warps, 32));
    assert_eq!(bad.wavefronts, 32 * n_warps);
    assert_eq!(bad.ideal_wavefronts, n_warps);
    assert!(good.iter().all(|row| row.ways <= 1 && row.conflicts == 0));
    // In addition: the tile's store, and one load and one store of global memory.
    assert_eq!(good.len(), 3);

    let place = bad.line.as_ref().expect("seen above").short();
    let verdicts = verdict::verdicts(&profile.rows);
    assert_eq!(verdicts.len(), 1);
    assert_eq!(verdicts[0].place, place);
    let finding = &verdicts[0].finding;
    assert!(finding.starts_with("32-way bank conflict"), "{finding}");
    assert!(finding.contains("31 of 32 wavefronts wasted"), "{finding}");
}

#[test]
fn transpose_swizzled_shows_none() {
    let profile = profile("transpose_swizzled", &[128, 64]);
    assert_eq!(profile.rows.len(), 4);
    let rows = profile.rows.iter();
    let columns: Vec<_> = rows.filter(|row| reads_column(row)).collect();
    let [column] = columns[..] else {
        panic!("one instruction reads the column, not {columns:?}");
    };
    assert_eq!((column.ways, column.conflicts), (1, 0));
    assert!(profile.rows.iter().all(|row| row.wasted() == 0));
    assert_eq!(verdict::verdicts(&profile.rows), []);
}

/// Code inlined from the device library is reported by the kernel's own line, along with
/// the library's.
#[test]
fn inlined_accesses_have_the_kernels_line() {
    let profile = profile("mma_simple_plain", &[1]);
    let rows = profile.rows.iter();
    let loads: Vec<_> = rows
        .filter(|row| row.opcode.starts_with("ldmatrix"))
        .collect();
    assert_eq!(loads.len(), 2);
    for row in loads {
        let line = row.line.as_ref().expect("the PTX has line tables");
        assert_eq!(line.file, profile.source);
        let written_at = row.written_at.as_ref().expect("it is the library's");
        assert!(written_at.file.starts_with("crates/cuda_std/src/mma/"));
    }
}

#[test]
fn strided_stores_are_named() {
    let profile = profile("transpose_coalesced_read", &[64, 64]);
    let verdicts = verdict::verdicts(&profile.rows);
    assert_eq!(verdicts.len(), 1);
    let finding = &verdicts[0].finding;
    let words = "32 sectors per request where 4 would do, 7 of 8 wasted";
    assert!(finding.contains(words), "{finding}");
}

/// The module of a kernel, whose text `edit` has changed.
fn edited(name: &str, edit: impl Fn(&str) -> String) -> PtxModule {
    let module = host::kernels::module_with(name, None).expect("it compiles");
    let module = module.text().expect("it compiles");
    let text = host::ptx::kernel_text(module, name).expect("it is there");
    let changed = edit(text);
    assert_ne!(text, changed, "the edit must change something");
    PtxModule::of_text("edited", module.replace(text, &changed))
}

/// A tile without its swizzle: loads down a column hit one bank. The result is
/// right, and only the line of that load differs in its counts.
#[test]
fn bad_counts_are_profiled_and_named_with_their_line() {
    let module = edited("transpose_swizzled", |text| {
        let lines = text.lines().map(|line| match line.rsplit_once(',') {
            Some((kept, _)) if line.contains("xor.b32") => {
                format!("{};", kept.replace("xor.b32", "mov.b32"))
            }
            _ => line.to_owned(),
        });
        lines.collect::<Vec<_>>().join("\n")
    });
    let registered = kernel("transpose_swizzled").expect("it is in the registry");
    let profile = simulate(registered, &Shape::of(&[128, 64]), &module)
        .expect("it runs")
        .expect("it is launched");
    assert_eq!(profile.trouble, None);
    assert!(!profile.is_right());
    let [difference] = &profile.differences[..] else {
        panic!("one claim does not hold, not {:?}", profile.differences);
    };
    assert_eq!(difference.expected, Some(0.0));
    assert_eq!(difference.counted, Some(31.0));
    let [line] = &difference.lines[..] else {
        panic!("one line is to blame, not {:?}", difference.lines);
    };
    let column = profile.rows.iter().find(|row| reads_column(row));
    assert_eq!(line.place, column.expect("it is there").line);
    // At a shape about which nothing is claimed, nothing differs.
    let profile = simulate(registered, &Shape::of(&[128, 65]), &module).expect("it runs");
    assert!(profile.expect("it is launched").is_right());
}

/// The kernel on the trial's shape, and a second time on no memory at all.
fn run_and_fail(trial: &mut Trial<'_>) -> Result<(), CaseError> {
    transpose::run(trial, transpose_swizzled, transpose::by_input)?;
    let nothing = Buffer::<f32>::poisoned(trial.engine(), "nothing", 1)?;
    let pointers = (DevicePtr::new(nothing.address()), DevicePtrMut::new(0));
    // SAFETY: none is needed on the simulator; the test wants its report of the
    // fault.
    let launch = unsafe {
        Prepared::of::<transpose_swizzled>(
            transpose::by_input(64, 64),
            (pointers.0, pointers.1, 64, 64),
        )
    }?;
    trial.launch(&launch)
}

/// A launch that ended before a fault was counted in full, and is shown.
#[test]
fn launches_before_a_fault_are_profiled() {
    let entry = KernelEntry::of(transpose_swizzled, "", run_and_fail);
    let module = host::kernels::module_with("transpose_swizzled", None).expect("it compiles");
    let profile = simulate(lesson_of(entry), &Shape::of(&[64, 64]), &module)
        .expect("a launch has ended")
        .expect("it is launched");
    assert_eq!((profile.n_launches, profile.rows.len()), (1, 4));
    assert_eq!(profile.rows[0].executions, 64 * 64 / 32);
    let Some(Trouble::Stopped(why)) = &profile.trouble else {
        panic!("it was stopped, not {:?}", profile.trouble);
    };
    assert!(why.contains("out of bounds"), "{why}");
}

/// Without a complete launch there is nothing to show but the fault.
#[test]
fn a_fault_in_the_first_launch_has_no_profile() {
    let module = edited("transpose_coalesced_read", |text| {
        let load = text.lines().find(|line| line.contains("ld.global"));
        let load = load.expect("it loads from global memory");
        text.replace(load, &load.replace(']', "+67108864]"))
    });
    let registered = kernel("transpose_coalesced_read").expect("it is in the registry");
    let error = simulate(registered, &Shape::of(&[64, 64]), &module).err();
    let error = error.expect("it fails").to_string();
    assert!(error.contains("out of bounds"), "{error}");
}
