//! Lines of kernels' sources, where they are at hand.

use ptx_sim::InstructionCounts;
use ptx_sim::diagnostics::Source;
use std::path::Path;

/// A line, from 1, of the first of these files that is there; `file` is its path from each of
/// the folders.
pub(crate) fn line<'p>(
    folders: impl IntoIterator<Item = &'p Path>,
    file: &str,
    line: u32,
) -> Option<String> {
    let text = folders
        .into_iter()
        .find_map(|folder| std::fs::read_to_string(folder.join(file)).ok())?;
    let index = (line as usize).checked_sub(1)?;
    text.lines().nth(index).map(|line| line.trim().to_owned())
}

/// Where an instruction comes from: of the lines that it was inlined through the innermost of
/// the kernel's own file, else of its crate, else of all.
pub fn own_place<'a>(counted: &'a InstructionCounts, file: &str) -> Option<&'a Source> {
    let chain = || counted.loc.iter().chain(&counted.inlined_at);
    let folder = match file.find("src/") {
        Some(at) => &file[..at + "src/".len()],
        None => file,
    };
    chain()
        .find(|place| place.file == file)
        .or_else(|| chain().find(|place| place.file.starts_with(folder)))
        .or_else(|| chain().next())
}
