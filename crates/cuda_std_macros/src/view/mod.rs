//! `#[kernel]` on a safe `fn`: its parameters are numbers and the views of `cuda_std::view`, which
//! it makes from addresses for the device, and checks for the host.
//!
//! A view's shape is written as an array type whose lengths are other parameters:
//! `Global<[f32; n]>` becomes `Global<f32, Length>`. Types are recognised by name here;
//! the expansion names `cuda_std`'s own, so that another type of that name does not
//! compile.

mod check;
mod collective;
mod expand;
mod uniform;

use quote::format_ident;
use syn::Ident;

use crate::parameter::view::{View, hidden};
use crate::parameter::{Kind, Parameter};

pub use check::check;
pub use expand::{body, elements, inputs, lengths_used, safe_kernel};

/// Gives each tile among the parameters a type of its own.
pub fn number_tiles(parameters: &mut [Parameter]) {
    let views = parameters
        .iter_mut()
        .filter_map(|parameter| match &mut parameter.kind {
            Kind::View(view) => Some(view),
            _ => None,
        });
    let tiles = views.filter(|view| matches!(***view, View::Filling { .. }));
    for (number, tile) in (0..).zip(tiles) {
        tile.set_number(number);
    }
}

/// The name of the body's variable for a parameter.
pub fn argument(parameter: &Parameter) -> Ident {
    match view_of(parameter) {
        Some(View::Block { .. }) => hidden("block"),
        _ => parameter.name.clone(),
    }
}

/// The view that a parameter is, if it is one.
fn view_of<'p>(parameter: &'p Parameter) -> Option<&'p View> {
    match &parameter.kind {
        Kind::View(view) => Some(view),
        _ => None,
    }
}

/// The PTX parameter of a view.
pub fn address_of(name: &Ident) -> Ident {
    format_ident!("{name}_address")
}
