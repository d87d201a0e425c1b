//! The attention.

use crate::{checked, expect_clean, floats};
use lockstep::{LaunchConfig, Report};
use outside_kernels::attention::{DIM, F16x2, PAIRS, QUERIES, THREADS, attention, f16};

const SCALE: f32 = 0.125;

/// Rows of elements between -1 and 1, which differ from those of another `first`.
fn rows(n_rows: u32, first: usize) -> Vec<f16> {
    let values = floats(n_rows * DIM + first as u32);
    values[first..]
        .iter()
        .map(|x| f16::from_f32(x / 5.0))
        .collect()
}

fn pairs(values: &[f16]) -> Vec<F16x2> {
    values
        .chunks(2)
        .map(|pair| F16x2::new(pair[0], pair[1]))
        .collect()
}

fn attended(q: &[f16], k: &[f16], v: &[f16]) -> (Vec<f16>, Report) {
    let (device, kernels) = checked();
    let [n_queries, n_keys] = [q, k].map(|rows| rows.len() as u32 / DIM);
    let q = device.upload("q", &pairs(q)).unwrap();
    let k = device.upload("k", &pairs(k)).unwrap();
    let v = device.upload("v", v).unwrap();
    let mut out = device.alloc("out", (n_queries * PAIRS) as usize).unwrap();
    let config = LaunchConfig::new([n_queries.div_ceil(QUERIES), 1, 1], [THREADS, 1, 1]);
    let (inputs, out_view) = ((q.input(), k.input(), v.input()), out.output());
    let views = (
        inputs.0, inputs.1, inputs.2, out_view, n_queries, n_keys, SCALE,
    );
    let report = kernels.run(attention, config, views).unwrap();
    let out = out.read().unwrap();
    (
        out.iter().flat_map(|pair| [pair.x, pair.y]).collect(),
        report,
    )
}

/// The attention of one query.
fn expected(q: &[f16], k: &[f16], v: &[f16]) -> Vec<f64> {
    let dot = |key: &[f16]| {
        q.iter()
            .zip(key)
            .map(|(q, k)| q.to_f64() * k.to_f64())
            .sum::<f64>()
    };
    let scores: Vec<f64> = k
        .chunks(q.len())
        .map(|key| dot(key) * f64::from(SCALE))
        .collect();
    let max = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let powers: Vec<f64> = scores.iter().map(|score| (score - max).exp()).collect();
    let sum: f64 = powers.iter().sum();
    let column = |c: usize| {
        v.chunks(q.len())
            .zip(&powers)
            .map(move |(v, p)| v[c].to_f64() * p)
    };
    (0..q.len()).map(|c| column(c).sum::<f64>() / sum).collect()
}

#[test]
fn values_are_weighted_by_their_keys() {
    for (n_queries, n_keys) in [(1, 1), (16, 32), (64, 33), (65, 100), (100, 31)] {
        let [q, k, v] = [(n_queries, 0), (n_keys, 101), (n_keys, 500)].map(|(n, i)| rows(n, i));
        let (out, report) = attended(&q, &k, &v);
        let dim = DIM as usize;
        for (query, (q, out)) in q.chunks(dim).zip(out.chunks(dim)).enumerate() {
            for (column, (found, expected)) in out.iter().zip(expected(q, &k, &v)).enumerate() {
                // Weights and results are rounded to 11 bits.
                let error = (found.to_f64() - expected).abs();
                assert!(
                    error <= 1e-3,
                    "({query}, {column}) of {n_queries} × {n_keys}: {found}, not {expected}"
                );
            }
        }
        expect_clean(&report);
    }
}
