//! The shape of a problem, as a user writes it.

use lesson::{Registered, Shape};

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
    let dims: Option<Vec<u32>> = asked
        .split(['x', '×'])
        .map(|side| side.parse().ok().filter(|&side| side > 0))
        .collect();
    let dims = dims.ok_or_else(|| {
        format!("--shape {asked}: numbers above 0, separated by x, are expected: 1024x1024")
    })?;
    if let Some(example) = default
        && example.dims().len() != dims.len()
    {
        return Err(format!(
            "--shape {asked}: the lesson {} has sizes such as {}",
            lesson.id,
            example.name()
        ));
    }
    Ok(Shape::of(&dims))
}
