//! Rust-CUDA's `#[kernel]`: the same PTX entry, but on the host the function itself, as its
//! programs expect that launch through `cust`: a module may have its kernel's name, and a
//! parameter any type.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Error, FnArg, ItemFn, Pat, Result, Type};

use crate::entry;
use crate::instance::is_unsafe;
use crate::kernel::check_signature;
use crate::options::Options;
use crate::parameter::{Kind, Parameter};

pub fn expand(attribute: TokenStream, item: TokenStream) -> Result<TokenStream> {
    if !attribute.is_empty() {
        return Err(Error::new_spanned(
            attribute,
            "Rust-CUDA's #[kernel] takes no arguments; launch bounds, instances and safe kernels are \
             for the one of `lockstep-cuda-std`",
        ));
    }
    let function: ItemFn = syn::parse2(item)?;
    let mut errors = check_signature(&function, &[]);
    if !is_unsafe(&function) {
        errors.push(Error::new(
            function.sig.fn_token.span,
            "a kernel is an `unsafe fn`: nothing checks the memory that it is launched with",
        ));
    }
    let mut parameters = Vec::new();
    for input in &function.sig.inputs {
        match parameter(input) {
            Ok(parameter) => parameters.push(parameter),
            Err(error) => errors.push(error),
        }
    }
    if let Some(first) = errors.into_iter().reduce(|mut all, next| {
        all.combine(next);
        all
    }) {
        return Err(first);
    }
    let device = entry::of_function(&function, &parameters, &Options::default());
    Ok(quote! {
        #device

        #[cfg(not(target_arch = "nvptx64"))]
        #[allow(clippy::too_many_arguments)]
        #function
    })
}

/// A slice as address and length, anything else as it is.
fn parameter(input: &FnArg) -> Result<Parameter<'_>> {
    let name = |pattern: &Pat| match pattern {
        Pat::Ident(pattern) => Some(pattern.ident.clone()),
        _ => None,
    };
    if let FnArg::Typed(input) = input
        && let Some(name) = name(&input.pat)
        && !is_slice(&input.ty)
    {
        return Ok(Parameter {
            attributes: &input.attrs,
            pattern: &input.pat,
            name,
            kind: Kind::Scalar {
                number: (*input.ty).clone(),
            },
        });
    }
    Parameter::new(input)
}

fn is_slice(written: &Type) -> bool {
    matches!(written, Type::Reference(reference) if matches!(&*reference.elem, Type::Slice(_)))
}
