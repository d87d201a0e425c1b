//! The shape of a problem, as a user writes it.

use lesson::{Registered, Shape};
use std::num::NonZeroU32;

/// The requested shape, else a default.
///
/// # Errors
///
/// What was requested is not a shape of the lesson, or there is no default.
pub fn among(
    registered: Registered,
    asked: Option<&str>,
    default: Option<Shape>,
) -> Result<Shape, String> {
    let lesson = registered.lesson;
    let Some(asked) = asked else {
        return default.ok_or_else(|| {
            format!(
                "the lesson {} has no single size; name one with --shape",
                lesson.id
            )
        });
    };
    let shape = parse(asked).map_err(|error| format!("--shape {asked}: {error}"))?;
    if let Some(example) = default
        && example.dims().len() != shape.dims().len()
    {
        return Err(format!(
            "--shape {asked}: the lesson {} has sizes such as {}",
            lesson.id,
            example.name()
        ));
    }
    Ok(shape)
}

/// A shape as a user writes it: `8192x8192`.
///
/// # Errors
///
/// In words: these are not numbers above 0.
pub fn parse(text: &str) -> Result<Shape, String> {
    let extents: Result<Vec<NonZeroU32>, _> = text.split(['x', '×']).map(str::parse).collect();
    let extents = extents.map_err(|_| {
        "numbers from 1 to 4294967295, separated by x, are expected: 1024x1024".to_owned()
    })?;
    Ok(Shape::of(
        &extents.into_iter().map(u32::from).collect::<Vec<_>>(),
    ))
}

#[test]
fn shapes_are_numbers_with_x_between() {
    assert_eq!(parse("8192x41"), Ok(Shape::of(&[8192, 41])));
    assert_eq!(parse("1000"), Ok(Shape::of(&[1000])));
    for wrong in ["8192x", "big", "0x4"] {
        assert!(parse(wrong).is_err(), "{wrong}");
    }
}
