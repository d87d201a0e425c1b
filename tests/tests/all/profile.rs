//! `profile` on the transposes: the column read of the plain tile is a 32-way bank
//! conflict, on its line; the swizzled tile has none, on the same line.

use host::profile::{Profile, Row, simulate, sources, verdict};
use host::registry::{Shape, kernel};

fn profile(name: &str, shape: &[u32]) -> Profile {
    let registered = kernel(name).expect("it is in the registry");
    let module = host::kernels::module_with(name, None).expect("it compiles");
    simulate(registered, &Shape::of(shape), &module)
        .expect("it runs and is right")
        .expect("it is launched")
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
    row.opcode.starts_with("ld.shared") && line(row).contains("*tile.add(layout(x, y)")
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
    // Beside it: the tile's store, and one load and one store of global memory.
    assert_eq!(good.len(), 3);

    let place = bad.line.as_ref().expect("seen above").short();
    let verdicts = verdict::verdicts(&profile);
    assert_eq!(verdicts.len(), 1);
    assert_eq!(verdicts[0].place, place);
    assert!(
        verdicts[0].finding.starts_with("32-way bank conflict")
            && verdicts[0].finding.contains("31 of 32 wavefronts wasted"),
        "{}",
        verdicts[0].finding
    );
}

#[test]
fn transpose_swizzled_shows_none() {
    let profile = profile("transpose_swizzled", &[128, 64]);
    assert_eq!(profile.rows.len(), 4);
    let columns: Vec<_> = profile
        .rows
        .iter()
        .filter(|row| reads_column(row))
        .collect();
    let [column] = columns[..] else {
        panic!("one instruction reads the column, not {columns:?}");
    };
    assert_eq!((column.ways, column.conflicts), (1, 0));
    assert!(profile.rows.iter().all(|row| row.wasted() == 0));
    assert_eq!(verdict::verdicts(&profile), []);
}

/// What is inlined from the device library is told by the kernel's own line, with
/// the library's beside it.
#[test]
fn inlined_accesses_have_the_kernels_line() {
    let profile = profile("mma_simple_plain", &[1]);
    let loads: Vec<_> = profile
        .rows
        .iter()
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
    let verdicts = verdict::verdicts(&profile);
    assert_eq!(verdicts.len(), 1);
    assert!(
        verdicts[0]
            .finding
            .contains("32 sectors a request where 4 would do, 7 of 8 wasted"),
        "{}",
        verdicts[0].finding
    );
}
