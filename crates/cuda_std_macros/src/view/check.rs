//! Checks of a kernel's parameters, and of the barrier in a safe kernel's body.
//!
//! Left out: errors that the compiler reports itself in the expansion, such as a tile that is
//! read before its barrier.

use proc_macro2::{TokenStream, TokenTree};
use quote::quote;
use syn::{Block, Error, Expr, Ident, ItemFn, Local, Result, Stmt, spanned::Spanned};

use super::view_of;
use crate::parameter::view::View;
use crate::parameter::{Kind, Parameter};

/// Checks a kernel's parameters: addresses if it is `unsafe`, views if it is not; and a
/// safe kernel's use of its barrier.
pub fn check(function: &ItemFn, parameters: &[Parameter], uses_pdl: bool) -> Vec<Error> {
    let mut errors = Vec::new();
    if function.sig.unsafety.is_some() {
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
    errors.extend(check_one_tile(parameters));
    for (parameter, input) in parameters.iter().zip(&function.sig.inputs) {
        match view_of(parameter) {
            Some(View::Global(extent) | View::Disjoint(extent)) => {
                let lengths = extent.lengths.iter();
                errors.extend(lengths.filter_map(|length| check_length(length, parameters).err()));
            }
            Some(View::Barrier { .. }) => {
                errors.extend(check_barrier(&function.block, &parameter.name).err());
            }
            Some(View::Filling { .. }) => {}
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

/// There is one tile and one barrier: with two, some threads could exchange them, and read
/// what others are still filling.
fn check_one_tile(parameters: &[Parameter]) -> Vec<Error> {
    let second = |is_such: fn(&View) -> bool| {
        parameters
            .iter()
            .filter(move |parameter| view_of(parameter).is_some_and(is_such))
            .nth(1)
    };
    let tile = second(|view| matches!(view, View::Filling { .. }));
    let barrier = second(|view| matches!(view, View::Barrier { .. }));
    let refused = |parameter: &Parameter| {
        Error::new(
            parameter.name.span(),
            "a safe kernel has one tile and one barrier: take pointers and `unsafe` for more",
        )
    };
    tile.into_iter().chain(barrier).map(refused).collect()
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

/// The token is named once, in `let … = tile.sync(barrier);` at the outermost level, and
/// nothing visible leaves the body before that.
fn check_barrier(body: &Block, name: &Ident) -> Result<()> {
    let mentions: Vec<usize> = body
        .stmts
        .iter()
        .map(|statement| {
            count(quote!(#statement), &|token| {
                is_word(token, &name.to_string())
            })
        })
        .collect();
    let place = mentions.iter().position(|&n| n > 0).unwrap_or_default();
    let is_sync = |statement| sync_of(statement, name).is_some();
    if mentions.iter().sum::<usize>() != 1 || !body.stmts.get(place).is_some_and(is_sync) {
        return Err(Error::new(
            name.span(),
            "a barrier must be used once, where all threads of the block reach it: in a statement \
             `let … = tile.sync(barrier);` that is not inside another one",
        ));
    }
    for statement in &body.stmts[..place] {
        let leaves = |token: &TokenTree| is_word(token, "return") || is_punct(token, '?');
        if count(quote!(#statement), &leaves) > 0 {
            return Err(Error::new(
                statement.span(),
                "a thread may not leave the kernel before its barrier, where the others wait for its element: put an \
                 `if` around the code that it skips",
            ));
        }
    }
    Ok(())
}

/// The tile of `let … = tile.sync(barrier);`.
pub(super) fn sync_of<'s>(statement: &'s Stmt, barrier: &Ident) -> Option<(&'s Local, &'s Expr)> {
    let Stmt::Local(local) = statement else {
        return None;
    };
    let init = local.init.as_ref().filter(|init| init.diverge.is_none())?;
    let Expr::MethodCall(call) = &*init.expr else {
        return None;
    };
    let is_barrier =
        |argument: &Expr| matches!(argument, Expr::Path(path) if path.path.is_ident(barrier));
    let is_sync = call.method == "sync"
        && matches!(&*call.receiver, Expr::Path(_))
        && call.args.len() == 1
        && call.args.iter().all(is_barrier);
    is_sync.then_some((local, &*call.receiver))
}

/// The number of matching tokens, including those in groups.
fn count(tokens: TokenStream, is_such: &dyn Fn(&TokenTree) -> bool) -> usize {
    tokens
        .into_iter()
        .map(|token| match &token {
            TokenTree::Group(group) => count(group.stream(), is_such),
            token => usize::from(is_such(token)),
        })
        .sum()
}

fn is_word(token: &TokenTree, word: &str) -> bool {
    matches!(token, TokenTree::Ident(ident) if ident == word)
}

fn is_punct(token: &TokenTree, c: char) -> bool {
    matches!(token, TokenTree::Punct(punct) if punct.as_char() == c)
}
