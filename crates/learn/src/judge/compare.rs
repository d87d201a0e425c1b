//! Results against those of the reference, element by element.

use super::launch::{Contents, POISON, Run};
use super::verdict::Failure;
use crate::format::{Argument, Manifest, Role};

/// Wrong elements that are shown.
const N_SHOWN: usize = 3;

/// What of a run is not as the reference leaves it.
pub(super) fn compare(
    manifest: &Manifest,
    case: usize,
    run: &Run,
    expected: &Run,
) -> Option<Failure> {
    let columns = |argument: &Argument| {
        let columns = argument
            .columns
            .as_ref()?
            .value(&manifest.case[case])
            .ok()?;
        usize::try_from(columns).ok().filter(|columns| *columns > 0)
    };
    let buffers = run.buffers.iter().zip(&expected.buffers);
    for (argument, (got, expected)) in manifest.argument.iter().zip(buffers) {
        let (Some(got), Some(expected)) = (got, expected) else {
            continue;
        };
        let (role, _) = argument.role()?;
        let failure = match role {
            Role::Input => changed(argument, got),
            Role::Output | Role::Inout => wrong(argument, columns(argument), got, expected),
            Role::Scratch | Role::Scalar => None,
        };
        if failure.is_some() {
            return failure;
        }
    }
    None
}

/// An input that is not as it was.
fn changed(argument: &Argument, got: &Contents) -> Option<Failure> {
    let size = got.number.size_bytes();
    let pairs = got.before.chunks(size).zip(got.after.chunks(size));
    let index = pairs.clone().position(|(before, after)| before != after)?;
    let (before, after) = pairs.clone().nth(index)?;
    let name = &argument.name;
    Some(Failure::new(
        "result",
        format!(
            "`{name}` is an input, and was changed: {name}[{index}] was {}, and is {}",
            got.number.read(before).1,
            got.number.read(after).1
        ),
    ))
}

/// Elements that are not what they should be.
fn wrong(
    argument: &Argument,
    columns: Option<usize>,
    got: &Contents,
    expected: &Contents,
) -> Option<Failure> {
    let size = got.number.size_bytes();
    let pairs = got.after.chunks(size).zip(expected.after.chunks(size));
    let is_wrong = |(got_bytes, expected_bytes): &(&[u8], &[u8])| {
        let (value, _) = got.number.read(got_bytes);
        let (wanted, _) = got.number.read(expected_bytes);
        let error = (value - wanted).abs();
        // A comparison with NaN does not hold.
        got_bytes != expected_bytes && !(error <= argument.tolerance * wanted.abs().max(1.0))
    };
    let n_elements = pairs.len();
    let wrong: Vec<usize> = pairs
        .clone()
        .enumerate()
        .filter(|(_, pair)| is_wrong(pair))
        .map(|(index, _)| index)
        .collect();
    if wrong.is_empty() {
        return None;
    }
    let name = &argument.name;
    let mut message = format!(
        "{} of {n_elements} elements of `{name}` are wrong:",
        wrong.len()
    );
    for &index in wrong.iter().take(N_SHOWN) {
        let at = index * size..(index + 1) * size;
        let place = match columns {
            Some(columns) => format!("row {}, column {}", index / columns, index % columns),
            None => format!("{name}[{index}]"),
        };
        let got_bytes = &got.after[at.clone()];
        let is_untouched = argument.output.is_some() && got_bytes.iter().all(|b| *b == POISON);
        let value = match is_untouched {
            true => "has not been written".to_owned(),
            false => format!("is {}", got.number.read(got_bytes).1),
        };
        let wanted = got.number.read(&expected.after[at]).1;
        message += &format!("\n  {place} {value}, expected {wanted}");
    }
    if wrong.len() > N_SHOWN {
        message += &format!("\n  … and {} more", wrong.len() - N_SHOWN);
    }
    Some(Failure::new("result", message))
}
