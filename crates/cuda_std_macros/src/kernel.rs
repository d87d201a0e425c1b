//! `#[kernel]`: one Rust function, seen by the device as a PTX entry and by the
//! host as a type. What is particular to a safe one is in `view`.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Error, GenericParam, ItemFn, Result, ReturnType, Type, spanned::Spanned};

use crate::entry::device_entry;
use crate::options::{LaunchBounds, Options};
use crate::parameter::{Kind, Parameter};
use crate::view;

pub fn expand(attribute: TokenStream, item: TokenStream) -> Result<TokenStream> {
    let options: Options = syn::parse2(attribute)?;
    let function: ItemFn = syn::parse2(item).map_err(|error| {
        Error::new(
            error.span(),
            format!("#[kernel] goes on a function with a body (`fn name(…) {{ … }}`): {error}"),
        )
    })?;
    let mut errors = check_signature(&function);
    let mut parameters = Vec::new();
    for input in &function.sig.inputs {
        match Parameter::new(input) {
            Ok(parameter) => parameters.push(parameter),
            Err(error) => errors.push(error),
        }
    }
    if errors.is_empty() {
        errors.extend(view::check(&function, &parameters, options.is_early));
    }
    if let Some(first) = errors.into_iter().reduce(|mut all, next| {
        all.combine(next);
        all
    }) {
        return Err(first);
    }
    let device = device_entry(&function, &parameters, options.launch_bounds.as_ref());
    let host = host_marker(&function, &parameters, &options);
    Ok(quote! { #device #host })
}

/// Everything a kernel's signature may not be.
fn check_signature(function: &ItemFn) -> Vec<Error> {
    let signature = &function.sig;
    let mut errors = Vec::new();
    let mut refuse = |span, message: &str| errors.push(Error::new(span, message));

    if let Some(token) = &signature.asyncness {
        refuse(token.span, "a kernel cannot be `async`");
    }
    if let Some(token) = &signature.constness {
        refuse(token.span, "a kernel cannot be `const`");
    }
    if let Some(abi) = &signature.abi {
        refuse(
            abi.extern_token.span,
            "leave out `extern`: #[kernel] sets the calling convention",
        );
    }
    if let Some(variadic) = &signature.variadic {
        refuse(
            variadic.span(),
            "a kernel takes a fixed number of parameters",
        );
    }
    if let ReturnType::Type(arrow, returned) = &signature.output
        && !matches!(&**returned, Type::Tuple(tuple) if tuple.elems.is_empty())
    {
        refuse(
            arrow.spans[0],
            "a kernel returns nothing: write results through a `*mut T` parameter",
        );
    }
    for parameter in &signature.generics.params {
        let what = match parameter {
            GenericParam::Lifetime(_) => "lifetime parameters: leave them out, `&[T]` needs none",
            GenericParam::Type(_) | GenericParam::Const(_) => {
                "type or const parameters, because the PTX entry needs one name and one code: write the body as a \
                 generic `#[inline(always)]` device function and a kernel for every instance (a `macro_rules!` macro \
                 can write them)"
            }
        };
        refuse(parameter.span(), &format!("a kernel cannot have {what}"));
    }
    if let Some(clause) = &signature.generics.where_clause {
        refuse(
            clause.where_token.span,
            "a kernel cannot have a `where` clause",
        );
    }
    errors
}

/// The host's unit struct, and a copy of the function that is only
/// type-checked.
fn host_marker(function: &ItemFn, parameters: &[Parameter], options: &Options) -> TokenStream {
    let is_early = options.is_early;
    let ItemFn {
        attrs, vis, sig, ..
    } = function;
    let (name, unsafety) = (&sig.ident, &sig.unsafety);
    let name_text = name.to_string();
    let inputs = view::inputs(function, parameters);
    let (body, lengths_used) = (
        view::body(function, parameters),
        view::lengths_used(parameters),
    );
    // Whatever else is called so is none.
    let maps = parameters
        .iter()
        .filter(|parameter| matches!(parameter.kind, Kind::Map { .. }))
        .map(|parameter| &parameter.name);
    let maps = quote!(#(let _: &::cuda_std::TensorMap = #maps;)*);
    let (parameter_names, argument_types): (Vec<_>, Vec<_>) =
        parameters.iter().filter_map(Parameter::argument).unzip();
    let safe_kernel = match unsafety {
        Some(_) => TokenStream::new(),
        None => view::safe_kernel(name, parameters),
    };
    let bounds = match &options.launch_bounds {
        None => quote!(::core::option::Option::None),
        Some(LaunchBounds {
            max_threads,
            min_blocks,
        }) => {
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
    };
    let (about_item, about_body): (Vec<_>, Vec<_>) = attrs.iter().partition(|attribute| {
        ["doc", "deprecated", "cfg"]
            .iter()
            .any(|path| attribute.path().is_ident(path))
    });
    quote! {
        #[cfg(not(target_arch = "nvptx64"))]
        #(#about_item)*
        #[allow(non_camel_case_types)]
        #[derive(Clone, Copy, Debug)]
        #vis struct #name;

        #[cfg(not(target_arch = "nvptx64"))]
        impl ::cuda_std::launch::Kernel for #name {
            const NAME: &'static str = #name_text;
            const MODULE_PATH: &'static str = ::core::module_path!();
            const FILE: &'static str = ::core::file!();
            const PARAM_NAMES: &'static [&'static str] = &[#(#parameter_names),*];
            const LAUNCH_BOUNDS: ::core::option::Option<::cuda_std::launch::LaunchBounds> = #bounds;
            const IS_EARLY: bool = #is_early;
            type Args = (#(#argument_types,)*);
        }

        #[cfg(not(target_arch = "nvptx64"))]
        const _: () = {
            #(#about_body)*
            #[allow(dead_code, clippy::too_many_arguments)]
            #unsafety fn #name(#(#inputs),*) {
                #lengths_used
                #maps
                #body
            }
        };

        #safe_kernel
    }
}
