//! A picture of a small sheet of graphene: its bonds are the neighbour lists that the cell
//! list's kernels computed.

use crate::neighbors::{Colours, draw};
use host::lessons::neighbor::atoms::CUTOFF;
use host::lessons::neighbor::{device, sheet};
use lockstep::engine::Engine;
use lockstep_page::page::Picture;

/// Size of the sheet.
const N_ATOMS: u32 = 96;

/// The picture, or why there are no lists to draw.
///
/// # Errors
///
/// In words: the kernels could not be run, or their lists are wrong.
pub fn picture(engine: &dyn Engine) -> Result<Picture, String> {
    let atoms = sheet::sheet_of(N_ATOMS);
    let lists = device::lists(engine, &atoms, CUTOFF).map_err(|error| error.to_string())?;
    let title = format!("Graphene, {N_ATOMS} atoms");
    let svg = draw(Colours::PAGE, &atoms, &lists, CUTOFF);
    let svg = svg.replacen(" xmlns=\"http://www.w3.org/2000/svg\"", "", 1);
    let named = format!("<svg role=\"img\" aria-label=\"{title}, with their bonds\" ");
    Ok(Picture {
        caption: format!(
            "Each line is a pair of the neighbour list that the cell list's four kernels computed \
             (engine: {}); colours: each atom's number of neighbours.",
            engine.kind()
        ),
        svg: svg.replacen("<svg ", &named, 1),
        table: None,
        title,
    })
}
