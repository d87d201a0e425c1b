//! Results against those of the reference, element by element.

use super::launch::{Contents, Run};
use super::verdict::Failure;
use crate::format::{Argument, Manifest, Role};

/// Wrong elements that are shown.
const N_SHOWN: usize = 3;

/// The first difference between a run's buffers and the reference's.
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

/// An output in which a reference has left an element unwritten.
pub(super) fn left_out(manifest: &Manifest, run: &Run) -> Option<String> {
    let outputs = manifest.argument.iter().zip(&run.buffers);
    let mut outputs = outputs.filter(|(argument, _)| argument.output.is_some());
    outputs.find_map(|(argument, contents)| {
        let contents = contents.as_ref()?;
        let index = contents.unwritten.first()?.start / contents.number.size_bytes();
        Some(format!("it has not written {}[{index}]", argument.name))
    })
}

/// An input that was changed.
fn changed(argument: &Argument, got: &Contents) -> Option<Failure> {
    let size = got.number.size_bytes();
    let pairs = got.before.chunks(size).zip(got.after.chunks(size));
    let index = pairs.clone().position(|(before, after)| before != after)?;
    let (before, after) = pairs.clone().nth(index)?;
    let name = &argument.name;
    Some(Failure::new(
        "result",
        format!(
            "`{name}` is an input, but was changed: {name}[{index}] was {}, and is now {}",
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
        let is_near = error <= argument.tolerance * wanted.abs().max(1.0);
        got_bytes != expected_bytes && !is_near
    };
    let n_elements = pairs.len();
    let wrong: Vec<usize> = pairs
        .clone()
        .enumerate()
        .filter(|(index, pair)| got.is_unwritten(*index) || is_wrong(pair))
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
    let mut omission = got.omission.as_ref();
    for &index in wrong.iter().take(N_SHOWN) {
        let at = index * size..(index + 1) * size;
        let place = match columns {
            Some(columns) => format!("row {}, column {}", index / columns, index % columns),
            None => format!("{name}[{index}]"),
        };
        let is_unwritten = got.is_unwritten(index);
        let value = match is_unwritten {
            true => "has not been written".to_owned(),
            false => format!("is {}", got.number.read(&got.after[at.clone()]).1),
        };
        let wanted = got.number.read(&expected.after[at]).1;
        message += &format!("\n  {place} {value}, expected {wanted}");
        if let Some(omission) = omission.take_if(|_| is_unwritten) {
            message += &format!("\n    by the other threads' stores, it is {omission:#}");
        }
    }
    if wrong.len() > N_SHOWN {
        message += &format!("\n  … and {} more", wrong.len() - N_SHOWN);
    }
    Some(Failure::new("result", message))
}

#[cfg(test)]
mod tests {
    use super::{changed, wrong};
    use crate::format::Argument;
    use crate::judge::launch::Contents;
    use crate::values::Number;
    use ptx_sim::Omission;
    use std::ops::Range;

    fn argument(text: &str) -> Argument {
        toml::from_str(text).expect("an argument")
    }

    fn contents(before: &[f32], after: &[f32]) -> Contents {
        let bytes = |values: &[f32]| values.iter().flat_map(|v| v.to_le_bytes()).collect();
        Contents {
            number: Number::F32,
            before: bytes(before),
            after: bytes(after),
            unwritten: Vec::new(),
            omission: None,
        }
    }

    #[test]
    fn what_is_near_enough_is_right_and_nan_never_is() {
        let message = |tolerance: f64, got: f32, expected: f32| {
            let output = format!("name = \"y\"\noutput = \"f32\"\ntolerance = {tolerance:?}");
            let (got, expected) = (contents(&[0.0], &[got]), contents(&[0.0], &[expected]));
            wrong(&argument(&output), None, &got, &expected).map(|failure| failure.message)
        };
        assert_eq!(message(0.0, 1.5, 1.5), None);
        assert_eq!(message(0.0, -0.0, 0.0), None, "as numbers");
        assert!(message(0.0, 1.5, 1.500_000_1).is_some());
        assert_eq!(message(1e-3, 100.05, 100.0), None, "relative to the value");
        assert!(message(1e-3, 100.2, 100.0).is_some());
        assert_eq!(message(1e-3, 0.000_5, 0.0), None, "or to 1");
        assert!(message(1e9, f32::NAN, 1.0).is_some());
        assert!(message(1e9, f32::INFINITY, 1.0).is_some());
    }

    #[test]
    fn what_is_not_written_is_wrong_whatever_it_holds() {
        let output = argument("name = \"y\"\noutput = \"f32\"");
        let expected = contents(&[0.0; 3], &[1.0; 3]);
        let got = Contents {
            // The second half of the second element.
            unwritten: vec![Range { start: 6, end: 8 }],
            omission: Some(Omission {
                place: Default::default(),
                block: [1, 0, 0],
                thread: [5, 0, 0],
                grid: [1, 1, 1],
            }),
            ..contents(&[0.0; 3], &[1.0; 3])
        };
        let failure = wrong(&output, None, &got, &expected).expect("it is wrong");
        let message = "\
1 of 3 elements of `y` are wrong:
  y[1] has not been written, expected 1
    by the other threads' stores, it is that of block (1, 0, 0), thread (5, 0, 0), which a grid of \
1×1×1 blocks does not have";
        assert_eq!(failure.message, message);
    }

    #[test]
    fn wrong_elements_are_named_and_counted() {
        let output = argument("name = \"y\"\noutput = \"f32\"");
        let got = contents(&[0.0; 6], &[1.0, 0.0, 3.0, 0.0, 0.0, 0.0]);
        let expected = contents(&[0.0; 6], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
        let failure = wrong(&output, Some(3), &got, &expected).expect("it is wrong");
        for words in [
            "4 of 6",
            "row 0, column 1 is 0, expected 2",
            "row 1, column 0",
            "… and 1 more",
        ] {
            assert!(failure.message.contains(words), "{}", failure.message);
        }
    }

    #[test]
    fn inputs_are_left_alone() {
        let input = argument("name = \"x\"\ninput = \"f32\"");
        assert!(changed(&input, &contents(&[1.0, 2.0], &[1.0, 2.0])).is_none());
        let failure = changed(&input, &contents(&[1.0, 2.0], &[1.0, 3.0])).expect("it was changed");
        assert!(
            failure.message.contains("x[1] was 2, and is now 3"),
            "{}",
            failure.message
        );
    }
}
