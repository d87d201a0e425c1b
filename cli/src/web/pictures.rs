//! Pictures of a lesson: times with their spread, and the ladder of a topic.

use super::charts::{self, Curve, Row, Spread};
use super::measured::Measured;
use crate::report::ladder;
use host::lessons::{gemm, sgemm};
use lesson::measure::{Ratio, Side, Times};
use lesson::{KernelEntry, Lesson, Measurement, Registered};
use lockstep_page::numbers::{duration, short};
use lockstep_page::page::Picture;
use maps::{Tile, TileMap};
use std::collections::BTreeMap;

/// Maximum number of a lesson's shapes that get their own chart.
const MOST_SHAPES: usize = 2;

impl From<&Times> for Spread {
    fn from(times: &Times) -> Self {
        Self {
            median: times.median_ms,
            p10: times.p10_ms,
            q1: times.q1_ms,
            q3: times.q3_ms,
            p90: times.p90_ms,
        }
    }
}

impl From<&Ratio> for Spread {
    fn from(ratio: &Ratio) -> Self {
        Self {
            median: ratio.median,
            p10: ratio.p10,
            q1: ratio.q1,
            q3: ratio.q3,
            p90: ratio.p90,
        }
    }
}

/// The pictures of a lesson's kernels, as far as there are measurements.
pub fn of(lesson: &'static Lesson, own: &[Registered], measured: &Measured) -> Vec<Picture> {
    let mut pictures = Vec::new();
    let kernels: Vec<&str> = own.iter().map(|one| one.kernel.id).collect();
    if let Some((on, cases)) = measured.with_lesson(lesson) {
        if lesson.id == gemm::LESSON.id {
            pictures.extend(steps(gemm::steps(), cases, on, Side::CublasLt, "cuBLASLt"));
            pictures.extend(cubes(cases, on));
        }
        if lesson.id == sgemm::LESSON.id {
            pictures.extend(steps(lesson.kernels, cases, on, Side::Cublas, "cuBLAS"));
        }
    }
    for (on, cases) in measured.of_lesson(lesson.id).take(1) {
        let mut by_shape: BTreeMap<&str, Vec<&Measurement>> = BTreeMap::new();
        for case in cases {
            if kernels.contains(&&*case.kernel) {
                by_shape.entry(&case.shape).or_default().push(case);
            }
        }
        // Where most kernels can be compared.
        let mut shapes: Vec<_> = by_shape
            .into_iter()
            .filter(|(_, cases)| cases.len() > 1)
            .collect();
        shapes.sort_by_key(|(_, cases)| std::cmp::Reverse((cases.len(), cases[0].bytes)));
        shapes.truncate(MOST_SHAPES);
        pictures.extend(
            shapes
                .iter()
                .filter_map(|(shape, cases)| spreads(shape, cases, on)),
        );
    }
    pictures.extend(tiles(lesson.id));
    pictures
}

/// A tile of a lesson: rows, columns, bytes of an element, elements that stay together.
type TileOf = (u32, u32, u32, u32);

/// The tiles of lessons about layouts, and the layouts.
const TILES: [(&str, TileOf, &[&str]); 4] = [
    ("transpose", (32, 32, 4, 1), &["plain", "pad:1", "xor"]),
    (
        "mma_simple",
        (16, 16, 2, 8),
        &["plain", "pad:8", "swizzle:1,3,3"],
    ),
    (
        "blocks_of_tiles",
        (16, 32, 2, 8),
        &["plain", "swizzle:2,3,3"],
    ),
    (
        "blocks_of_tiles",
        (16, 64, 2, 8),
        &["plain", "swizzle:3,3,3"],
    ),
];

/// The bank of each element of a tile, layout by layout.
fn tiles(lesson: &str) -> impl Iterator<Item = Picture> {
    let of_lesson = TILES.iter().filter(move |(id, ..)| *id == lesson);
    of_lesson.flat_map(|(_, of, layouts)| layouts.iter().filter_map(|layout| tile(*of, layout)))
}

/// With the first column marked.
fn tile((rows, columns, element_bytes, vector): TileOf, layout: &str) -> Option<Picture> {
    // A test checks that all of them are valid tiles and layouts.
    let tile = Tile::new(rows, columns, element_bytes).ok()?;
    let map = TileMap::by_vectors(tile, layout.parse().ok()?, vector).ok()?;
    let column: Vec<(u32, u32)> = (0..rows).map(|row| (row, 0)).collect();
    Some(Picture {
        title: format!("A tile of {rows}×{columns}, {layout}"),
        caption: "The bank of each vector that stays together; the first column is marked."
            .to_owned(),
        svg: map.marking(&column).svg(),
        table: None,
    })
}

/// Times at a shape, compared with those of the CUDA C++ baselines.
fn spreads(shape: &str, cases: &[&Measurement], on: &str) -> Option<Picture> {
    let row = |case: &&Measurement| {
        let value = Spread::from(case.times.get(&Side::Kernel)?);
        let other = case.times.get(&Side::Baseline).map(Spread::from);
        Some(Row {
            name: case.kernel.clone(),
            value,
            other,
        })
    };
    let rows: Vec<Row> = cases.iter().filter_map(row).collect();
    let has_baselines = rows.iter().any(|row| row.other.is_some());
    let title = format!("Times at {}", shape.replace('x', "×"));
    let legend = if has_baselines {
        " Below each is its CUDA C++ baseline, if it has one."
    } else {
        ""
    };
    let svg = charts::spreads(&title, &rows)?;
    let mut headings = vec!["kernel", "median", "10%", "90%"];
    headings.extend(has_baselines.then_some("CUDA C++, median"));
    let cells = |row: &Row| {
        let mut cells = vec![row.name.clone()];
        cells.extend([row.value.median, row.value.p10, row.value.p90].map(duration));
        if has_baselines {
            let other = row.other.map_or(f64::NAN, |other| other.median);
            cells.push(duration(other));
        }
        cells
    };
    let rows = rows.iter().map(cells).collect();
    Some(Picture {
        title,
        caption: format!(
            "Median, quartiles (box), 10th and 90th percentiles (line). {on}.{legend}"
        ),
        svg,
        table: Some((headings.into_iter().map(str::to_owned).collect(), rows)),
    })
}

/// The rate of each step of a ladder.
fn steps(
    kernels: &'static [KernelEntry],
    cases: &[Measurement],
    on: &str,
    side: Side,
    library: &str,
) -> Option<Picture> {
    let steps = ladder::steps(kernels, cases, &[ladder::SIDE; 3]);
    let measured = || {
        steps
            .iter()
            .filter_map(|step| Some((step, step.teraflops?)))
    };
    let bars: Vec<_> = measured()
        .map(|(step, speed)| (step.kernel.id.to_owned(), speed))
        .collect();
    let theirs = measured()
        .filter_map(|(step, _)| ladder::rate_of(step.case?, side))
        .next_back();
    let cube = format!("{0}×{0}×{0}", ladder::SIDE);
    let title = format!("The ladder at {cube}");
    let svg = charts::bars(&title, &bars, theirs, "TFLOP/s")?;
    let table = measured().map(|(step, speed)| {
        vec![
            step.kernel.id.to_owned(),
            step.kernel.technique.to_owned(),
            short(speed, 1),
            step.gain.map_or_else(String::new, |gain| short(gain, 2)),
        ]
    });
    let line = theirs.map(|theirs| format!(" The line: {library}, {theirs:.0} TFLOP/s."));
    let headings = ["kernel", "what is new", "TFLOP/s", "× the step before"];
    Some(Picture {
        caption: format!(
            "10¹² operations per second, medians. {on}.{}",
            line.unwrap_or_default()
        ),
        svg,
        table: Some((headings.map(str::to_owned).to_vec(), table.collect())),
        title,
    })
}

/// The kernels' speed on cubes, relative to cuBLASLt's.
fn cubes(cases: &[Measurement], on: &str) -> Option<Picture> {
    let kernels = ladder::on_cubes(cases);
    let curve = |kernel: &ladder::OnCubes| Curve {
        name: kernel.kernel.to_owned(),
        points: kernel
            .ratios
            .iter()
            .map(|(side, ratio)| (*side as f64, ratio.into()))
            .collect(),
    };
    let curves: Vec<Curve> = kernels.iter().map(curve).collect();
    let title = "Cubes against cuBLASLt".to_owned();
    let svg = charts::curves(&title, &curves, "side", "× cuBLASLt")?;
    let mut sides: Vec<u64> = kernels
        .iter()
        .flat_map(|k| k.ratios.iter().map(|(s, _)| *s))
        .collect();
    sides.sort_unstable();
    sides.dedup();
    let row = |side: &u64| {
        let at = |kernel: &ladder::OnCubes| {
            let found = kernel.ratios.iter().find(|(of, _)| of == side);
            found.map_or_else(String::new, |(_, ratio)| short(ratio.median, 3))
        };
        let mut row = vec![format!("{side}³")];
        row.extend(kernels.iter().map(at));
        row
    };
    let mut headings = vec!["side".to_owned()];
    headings.extend(kernels.iter().map(|kernel| kernel.kernel.to_owned()));
    Some(Picture {
        caption: format!(
            "Speed relative to cuBLASLt's best, each with the device to itself, without a pause; \
             bars: 10th to 90th percentiles. {on}."
        ),
        svg,
        table: Some((headings, sides.iter().map(row).collect())),
        title,
    })
}

#[cfg(test)]
mod tests {
    use super::{TILES, tile};
    use host::registry::LESSONS;

    #[test]
    fn every_tile_is_of_a_lesson_and_has_a_picture() {
        for (id, of, layouts) in TILES {
            assert!(LESSONS.iter().any(|lesson| lesson.id == id), "{id}");
            for layout in layouts {
                assert!(tile(of, layout).is_some(), "{of:?}, {layout}");
            }
        }
    }
}
