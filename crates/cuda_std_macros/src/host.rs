//! A kernel as seen by the host: a unit struct that knows name, parameters and limits.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::{Attribute, Ident, ItemFn, ext::IdentExt, spanned::Spanned};

use crate::instance::{Instance, is_unsafe};
use crate::options::{LaunchBounds, Options};
use crate::parameter::{Kind, Parameter};
use crate::view;

/// The host's unit struct, and a copy of the function that is only
/// type-checked.
pub fn of_function(function: &ItemFn, parameters: &[Parameter], options: &Options) -> TokenStream {
    let (name, safety) = (&function.sig.ident, &function.sig.safety);
    let about_body = function
        .attrs
        .iter()
        .filter(|attribute| !is_about_item(attribute));
    let inputs = view::inputs(function, parameters);
    let body = checked_body(function, parameters);
    let unit_struct = unit_struct(function, name, &[]);
    let implemented = implemented(name, function, parameters, options);
    quote! {
        #unit_struct

        #[cfg(not(target_arch = "nvptx64"))]
        const _: () = {
            #(#about_body)*
            #[allow(dead_code, unused_braces, clippy::too_many_arguments)]
            #safety fn #name(#(#inputs),*) {
                #body
            }
        };

        #implemented
    }
}

/// The unit struct of an instance, in whose `scope` the generic parameters are items.
pub fn of_instance(
    instance: &Instance,
    scope: &TokenStream,
    function: &ItemFn,
    parameters: &[Parameter],
    options: &Options,
) -> TokenStream {
    let Instance { name, of } = instance;
    let says = [
        String::new(),
        format!(
            "An instance of `{}`: `{}`.",
            function.sig.ident,
            quote!(#of)
        ),
    ];
    let unit_struct = unit_struct(function, name, &says);
    let implemented = implemented(name, function, parameters, options);
    let configured = function
        .attrs
        .iter()
        .filter(|attribute| attribute.path().is_ident("cfg"));
    quote! {
        #unit_struct

        #[cfg(not(target_arch = "nvptx64"))]
        #(#configured)*
        #[allow(dead_code, non_camel_case_types, non_upper_case_globals)]
        const _: () = {
            #scope
            #implemented
            // The function's bounds on its parameters hold.
            let _ = #of;
        };
    }
}

/// The body, where it is type-checked: the elements of views, and the numbers of their shapes, have
/// types that the device needs, and a type named like a tensor map is one.
pub fn checked_body(function: &ItemFn, parameters: &[Parameter]) -> TokenStream {
    let lengths_used = view::lengths_used(parameters);
    let elements = view::elements(parameters)
        .map(|of| quote_spanned!(of.span() => ::cuda_std::view::is_element::<#of>();));
    let maps = parameters
        .iter()
        .filter(|parameter| matches!(parameter.kind, Kind::Map { .. }))
        .map(|parameter| &parameter.name);
    let body = view::body(function, parameters);
    quote! {
        #(#elements)*
        #lengths_used
        #(let _: &::cuda_std::TensorMap = #maps;)*
        #body
    }
}

/// Whether an attribute is about the item, not about the code in it.
fn is_about_item(attribute: &Attribute) -> bool {
    ["doc", "deprecated", "cfg"]
        .iter()
        .any(|path| attribute.path().is_ident(path))
}

fn unit_struct(function: &ItemFn, name: &Ident, says: &[String]) -> TokenStream {
    let about_item = function
        .attrs
        .iter()
        .filter(|attribute| is_about_item(attribute));
    let vis = &function.vis;
    quote! {
        #[cfg(not(target_arch = "nvptx64"))]
        #(#about_item)*
        #(#[doc = #says])*
        #[allow(non_camel_case_types)]
        #[derive(Clone, Copy, Debug)]
        #vis struct #name;
    }
}

/// The implementations for the unit struct.
fn implemented(
    name: &Ident,
    function: &ItemFn,
    parameters: &[Parameter],
    options: &Options,
) -> TokenStream {
    let name_text = name.unraw().to_string();
    let (uses_pdl, is_cooperative) = (options.uses_pdl, options.is_cooperative);
    let (parameter_names, argument_types): (Vec<_>, Vec<_>) =
        parameters.iter().filter_map(Parameter::argument).unzip();
    let checked = checked_bounds(options.launch_bounds.as_ref());
    let bounds = bounds(options.launch_bounds.as_ref());
    let safe_kernel = match is_unsafe(function) {
        true => TokenStream::new(),
        false => view::safe_kernel(name, parameters),
    };
    quote! {
        #[cfg(not(target_arch = "nvptx64"))]
        impl ::cuda_std::launch::Kernel for #name {
            const NAME: &'static str = #name_text;
            const MODULE_PATH: &'static str = ::core::module_path!();
            const FILE: &'static str = ::core::file!();
            const PARAM_NAMES: &'static [&'static str] = &[#(#parameter_names),*];
            const LAUNCH_BOUNDS: ::core::option::Option<::cuda_std::launch::LaunchBounds> = #bounds;
            const USES_PDL: bool = #uses_pdl;
            const IS_COOPERATIVE: bool = #is_cooperative;
            type Args = (#(#argument_types,)*);
        }

        #checked
        #safe_kernel
    }
}

/// An error at bounds that no block can have.
fn checked_bounds(given: Option<&LaunchBounds>) -> TokenStream {
    given.map_or_else(TokenStream::new, |LaunchBounds { max_threads, .. }| {
        quote_spanned! { max_threads.span() =>
            #[cfg(not(target_arch = "nvptx64"))]
            const _: () = ::core::assert!(
                ::core::matches!(#max_threads, 1..=1024),
                "launch_bounds: a block has from 1 to 1024 threads"
            );
        }
    })
}

fn bounds(given: Option<&LaunchBounds>) -> TokenStream {
    let Some(LaunchBounds {
        max_threads,
        min_blocks,
    }) = given
    else {
        return quote!(::core::option::Option::None);
    };
    let min_blocks = match min_blocks {
        None => quote!(::core::option::Option::None),
        Some(blocks) => quote!(::core::option::Option::Some(#blocks as u32)),
    };
    quote! {
        ::core::option::Option::Some(::cuda_std::launch::LaunchBounds {
            max_threads: #max_threads as u32,
            min_blocks: #min_blocks,
        })
    }
}
