//! Checks of a kernel's parameters, and of the block's operations in a safe kernel's body.
//!
//! Left out: errors that the compiler reports itself in the expansion, such as a tile that is
//! read before its barrier.

use proc_macro2::{Span, TokenStream, TokenTree};
use quote::ToTokens;
use syn::{Error, Expr, Ident, ItemFn, Result, spanned::Spanned};

use super::collective::{self, is_word};
use super::view_of;
use crate::instance::is_unsafe;
use crate::parameter::view::View;
use crate::parameter::{Kind, Parameter};

/// Checks a kernel's parameters: addresses if it is `unsafe`, views if it is not; and a
/// safe kernel's use of its block.
pub fn check(function: &ItemFn, parameters: &[Parameter], uses_pdl: bool) -> Vec<Error> {
    let mut errors = Vec::new();
    if is_unsafe(function) {
        for (parameter, input) in parameters.iter().zip(&function.sig.inputs) {
            if view_of(parameter).is_some() {
                errors.push(Error::new(
                    input.span(),
                    "a kernel with views is a safe `fn`: leave out `unsafe`, or take pointers and slices",
                ));
            }
        }
        return errors;
    }
    if uses_pdl {
        errors.push(Error::new(
            function.sig.fn_token.span,
            "a `pdl` kernel is an `unsafe fn`: its inputs may still be written when it starts",
        ));
    }
    if let Some(place) = bare_barrier(function.block.to_token_stream()) {
        errors.push(Error::new(
            place,
            "a safe kernel's barrier is `block.sync(…)`: with `block: Block` among its parameters, all threads get \
             there; `sync_threads` is `unsafe`",
        ));
    }
    errors.extend(check_one_block(parameters).err());
    errors.extend(collective::rewritten(function, parameters).err());
    for (parameter, input) in parameters.iter().zip(&function.sig.inputs) {
        match view_of(parameter) {
            Some(view) => {
                let lengths = view.extent().into_iter().flat_map(|extent| &extent.lengths);
                errors.extend(lengths.filter_map(|length| check_length(length, parameters).err()));
            }
            None if matches!(parameter.kind, Kind::Scalar { .. }) => {}
            None => errors.push(Error::new(
                input.span(),
                "a kernel with this parameter is an `unsafe fn`: nothing checks that the memory it is launched with \
                 fits its grid; state what the launch must guarantee under `# Safety`, or take `Global<[T; n]>` and \
                 `Disjoint<[T; n]>` (`cuda_std::view`)",
            )),
        }
    }
    errors
}

/// A call of `sync_threads` outside of `unsafe`.
fn bare_barrier(body: TokenStream) -> Option<Span> {
    let mut before: Option<TokenTree> = None;
    for token in body {
        if let TokenTree::Group(group) = &token {
            let follows = |word| before.as_ref().is_some_and(|token| is_word(token, word));
            if follows("sync_threads") {
                return before.map(|name| name.span());
            }
            if !follows("unsafe")
                && let Some(found) = bare_barrier(group.stream())
            {
                return Some(found);
            }
        }
        before = Some(token);
    }
    None
}

/// There is one token: with two, threads could use them in different orders.
fn check_one_block(parameters: &[Parameter]) -> Result<()> {
    let is_block = |parameter: &&Parameter| matches!(view_of(parameter), Some(View::Block { .. }));
    match parameters.iter().filter(is_block).nth(1) {
        None => Ok(()),
        Some(second) => Err(Error::new(
            second.name.span(),
            "a kernel has one `Block`: all its threads",
        )),
    }
}

/// A length is a number among the parameters, or a constant.
fn check_length(length: &Expr, parameters: &[Parameter]) -> Result<()> {
    let is_number = |name: &Ident| {
        parameters.iter().any(|parameter| {
            parameter.name == *name && matches!(parameter.kind, Kind::Scalar { .. })
        })
    };
    match length {
        Expr::Lit(_) => Ok(()),
        Expr::Path(path)
            if path.path.get_ident().is_none_or(|name| {
                is_number(name) || name.to_string().chars().all(|c| !c.is_lowercase())
            }) =>
        {
            Ok(())
        }
        _ => Err(Error::new(
            length.span(),
            "a view's length is a parameter of the kernel (a `u32`) or a constant",
        )),
    }
}
