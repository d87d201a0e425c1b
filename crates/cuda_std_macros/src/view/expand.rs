//! A safe kernel as seen by its body and by the host's launch.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Block, FnArg, Ident, ItemFn, Type};

use super::{collective, view_of};
use crate::parameter::view::{Extent, View, hidden};
use crate::parameter::{Kind, Parameter};

/// The body, in which `block.sync(…)` is the library's function of that name, whatever else
/// `block` may be.
pub fn body(function: &ItemFn, parameters: &[Parameter]) -> Block {
    // `check` has reported its errors.
    collective::rewritten(function, parameters).unwrap_or_else(|_| (*function.block).clone())
}

/// The parameters as the body sees them.
pub fn inputs(function: &ItemFn, parameters: &[Parameter]) -> Vec<TokenStream> {
    let seen = |(input, parameter): (&FnArg, &Parameter)| match &parameter.kind {
        Kind::View(view) => {
            let (attributes, of) = (parameter.attributes, view.body_type());
            let pattern = view.pattern(parameter.pattern);
            quote!(#(#attributes)* #pattern: #of)
        }
        _ => quote!(#input),
    };
    function
        .sig
        .inputs
        .iter()
        .zip(parameters)
        .map(seen)
        .collect()
}

/// The types of what views of outside memory hold.
pub fn elements<'a>(parameters: &'a [Parameter<'a>]) -> impl Iterator<Item = &'a Type> {
    let extents = parameters.iter().filter_map(|p| view_of(p)?.extent());
    extents.map(|extent| &extent.element)
}

/// Statements that use the numbers of the views' shapes, as the device's views do.
pub fn lengths_used(parameters: &[Parameter]) -> TokenStream {
    let lengths = parameters
        .iter()
        .filter_map(|parameter| Some(&view_of(parameter)?.extent()?.lengths))
        .flatten();
    quote!(#(let _: u32 = #lengths;)*)
}

/// `SafeKernel` for the host's unit struct.
pub fn safe_kernel(name: &Ident, parameters: &[Parameter]) -> TokenStream {
    let [launch, memory] = ["launch", "memory"].map(hidden);
    let mut types = Vec::new();
    let mut names = Vec::new();
    let mut checks = Vec::new();
    for parameter in parameters {
        let name = &parameter.name;
        let text = name.to_string();
        let geometry = |admits: TokenStream| quote!(#admits.map_err(::cuda_std::launch::Unfit::geometry(#text, #launch))?;);
        match view_of(parameter) {
            Some(View::Global(extent)) => {
                let element = &extent.element;
                types.push(quote!(::cuda_std::launch::Input<'a, #element>));
                names.push(name);
                checks.push(extent.admitted(name));
            }
            Some(
                view @ (View::Disjoint(extent) | View::Atomic(extent) | View::Scattered(extent)),
            ) => {
                let element = &extent.element;
                types.push(quote!(::cuda_std::launch::Output<'a, #element>));
                names.push(name);
                if let View::Disjoint(_) = view {
                    let (map, shape) = (extent.map(), extent.shape());
                    checks.push(geometry(quote! {
                        <#map as ::cuda_std::view::Map>::admits(
                            #launch,
                            ::cuda_std::view::Shape::n_elements(#shape),
                        )
                    }));
                }
                checks.push(extent.admitted(name));
            }
            Some(View::Filling {
                element, layout, ..
            }) => checks.push(geometry(
                quote!(::cuda_std::view::Filling::<#element, #layout>::admits(#launch)),
            )),
            Some(View::Block { .. }) => {}
            // A number: `check` has rejected everything else.
            None => {
                if let Kind::Scalar { number } = &parameter.kind {
                    types.push(quote!(#number));
                    names.push(name);
                }
            }
        }
    }
    quote! {
        // SAFETY: the body can reach the outside only through its parameters, and these are
        // checked.
        #[cfg(not(target_arch = "nvptx64"))]
        unsafe impl ::cuda_std::launch::SafeKernel for #name {
            type Views<'a> = (#(#types,)*);

            fn admit(
                #launch: ::cuda_std::view::Geometry,
                #memory: u64,
                (#(#names,)*): Self::Views<'_>,
            ) -> ::core::result::Result<Self::Args, ::cuda_std::launch::Unfit> {
                #(#checks)*
                ::core::result::Result::Ok((#(#names,)*))
            }
        }
    }
}

impl Extent {
    /// The statement that makes an address of the argument `name`.
    fn admitted(&self, name: &Ident) -> TokenStream {
        let (text, shape, memory) = (name.to_string(), self.shape(), hidden("memory"));
        quote! {
            let #name = #name.admit(&::cuda_std::launch::Wanted {
                parameter: #text,
                n_elements: ::cuda_std::view::Shape::n_elements(#shape),
                memory: #memory,
            })?;
        }
    }
}
