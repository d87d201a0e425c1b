//! Ranges that are the same for all threads of a block, recognised by their words.
//!
//! Every number in such a range is made one that other code cannot bind: a literal, a constant
//! (`const { … }`), one of the copies that the kernel's body begins with, or a function of this
//! library; methods become functions. So no variable or trait of the same name changes anything.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, format_ident, quote};
use syn::{
    BinOp, Error, Expr, Ident, Lifetime, Lit, Local, Pat, Result, Stmt, Type, UnOp, parse_quote,
};

use crate::parameter::view::hidden;
use crate::parameter::{Kind, Parameter};

const INTEGERS: [&str; 10] = [
    "u8", "i8", "u16", "i16", "u32", "i32", "u64", "i64", "usize", "isize",
];

/// Functions of `cuda_std::thread` with one result for all threads of a block.
const FUNCTIONS: [&str; 9] = [
    "block_idx_x",
    "block_idx_y",
    "block_idx_z",
    "block_dim_x",
    "block_dim_y",
    "block_dim_z",
    "grid_dim_x",
    "grid_dim_y",
    "grid_dim_z",
];

/// The integers that all threads share, by their names at some place of the body.
#[derive(Clone)]
pub struct Scope {
    /// The last one of a name counts.
    names: Vec<(Ident, Expr)>,
    /// Loops around the place.
    n_loops: usize,
}

impl Scope {
    /// The integers among a kernel's parameters, and statements that copy them.
    pub fn new(parameters: &[Parameter]) -> (Self, Vec<Stmt>) {
        let mut scope = Self {
            names: Vec::new(),
            n_loops: 0,
        };
        let mut copies = Vec::new();
        for Parameter {
            name,
            pattern,
            kind,
            ..
        } in parameters
        {
            if let (Kind::Scalar { number }, Some(_)) = (kind, fixed(pattern))
                && is_integer(number)
            {
                let copy = scope.insert(name);
                copies.push(parse_quote! {
                    #[allow(unused_variables)]
                    let #copy = #name;
                });
            }
        }
        (scope, copies)
    }

    /// A variable for the value that `name` has from here on, for all threads.
    fn insert(&mut self, name: &Ident) -> Ident {
        let copy = hidden(&format!("{name}_{}", self.names.len()));
        self.names.push((name.clone(), parse_quote!(#copy)));
        copy
    }

    /// The label of a loop, and the variable that it counts with, for the pattern that it was
    /// written with.
    pub fn enter_loop(&mut self, pattern: &Pat) -> (Lifetime, Ident) {
        self.n_loops += 1;
        let label = Lifetime::new(&format!("'_round_{}", self.n_loops), Span::mixed_site());
        self.forget(pattern);
        let round = match fixed(pattern) {
            Some(name) => self.insert(name),
            None => hidden("round"),
        };
        (label, round)
    }

    /// Takes note of what a statement binds.
    pub fn pass(&mut self, statement: &Stmt) {
        let Stmt::Local(Local { pat, init, .. }) = statement else {
            return;
        };
        let value = init.as_ref().filter(|init| init.diverge.is_none());
        let value = value.and_then(|init| self.shared(&init.expr).ok());
        self.forget(pat);
        let (bound, value) = match (pat, value) {
            (Pat::Type(typed), Some(value)) => {
                let (of, copy) = (&typed.ty, hidden("value"));
                let value = parse_quote!({ let #copy: #of = #value; #copy });
                (&*typed.pat, Some(value))
            }
            (pattern, value) => (pattern, value),
        };
        if let (Some(name), Some(value)) = (fixed(bound), value) {
            self.names.push((name.clone(), value));
        }
    }

    /// The variables of a pattern have other values from here on.
    fn forget(&mut self, pattern: &Pat) {
        let bound = words(pattern.to_token_stream());
        for (name, _) in &mut self.names {
            if bound.iter().any(|word| word == name) {
                // No variable has this name.
                *name = format_ident!("_");
            }
        }
    }

    /// An expression whose value all threads share, with names that mean the same anywhere.
    pub fn shared(&self, written: &Expr) -> Result<Expr> {
        let mut shared = written.clone();
        match &mut shared {
            Expr::Lit(literal) if matches!(literal.lit, Lit::Int(_)) => {}
            Expr::Path(path) => {
                let name = path.path.get_ident();
                let known = self.names.iter().rev().find(|known| name == Some(&known.0));
                shared = match known {
                    // The name is there for the compiler and for editors, which see it used.
                    Some((_, value)) => parse_quote!({
                        let _ = #path;
                        ::cuda_std::view::uniform(#value)
                    }),
                    None if name.is_none_or(is_constant) => {
                        parse_quote!(::cuda_std::view::uniform(const { #path }))
                    }
                    None => return Err(differs(written)),
                };
            }
            Expr::Paren(inner) => *inner.expr = self.shared(&inner.expr)?,
            Expr::Group(inner) => *inner.expr = self.shared(&inner.expr)?,
            Expr::Cast(cast) => *cast.expr = self.shared(&cast.expr)?,
            Expr::Unary(unary) if matches!(unary.op, UnOp::Neg(_) | UnOp::Not(_)) => {
                *unary.expr = self.shared(&unary.expr)?;
            }
            Expr::Binary(binary) if is_arithmetic(binary.op) => {
                *binary.left = self.shared(&binary.left)?;
                *binary.right = self.shared(&binary.right)?;
            }
            Expr::Range(range) => {
                for end in [&mut range.start, &mut range.end].into_iter().flatten() {
                    **end = self.shared(end)?;
                }
            }
            Expr::MethodCall(call) => {
                let Some(function) = method(&call.method) else {
                    return Err(differs(written));
                };
                let receiver = match &*call.receiver {
                    Expr::Paren(inner) => self.shared(&inner.expr)?,
                    receiver => self.shared(receiver)?,
                };
                let arguments = call.args.iter().map(|argument| self.shared(argument));
                let arguments = arguments.collect::<Result<Vec<Expr>>>()?;
                shared = parse_quote!(#function(#receiver #(, #arguments)*));
            }
            Expr::Call(call) if call.args.is_empty() => {
                let Some(function) = function(&call.func) else {
                    return Err(differs(written));
                };
                shared = parse_quote!(::cuda_std::thread::#function());
            }
            _ => return Err(differs(written)),
        }
        Ok(shared)
    }
}

fn differs(expression: &Expr) -> Error {
    Error::new_spanned(
        expression,
        "threads could do different numbers of rounds, and wait for each other forever: the range of a loop with the \
         block's operations consists of integers that all threads share, which are literals, constants, the kernel's \
         parameters, `block_idx_x()` and the like, and arithmetic with them",
    )
}

/// The name in a pattern that is just that, and cannot change.
fn fixed(pattern: &Pat) -> Option<&Ident> {
    match pattern {
        Pat::Ident(name)
            if name.mutability.is_none() && name.by_ref.is_none() && name.subpat.is_none() =>
        {
            Some(&name.ident)
        }
        _ => None,
    }
}

fn is_integer(number: &Type) -> bool {
    let name = quote!(#number).to_string();
    INTEGERS.contains(&name.as_str())
}

/// Whether a name is written like a constant's. The compiler tests whether it is one.
fn is_constant(name: &Ident) -> bool {
    !name.to_string().contains(char::is_lowercase)
}

fn is_arithmetic(op: BinOp) -> bool {
    matches!(
        op,
        BinOp::Add(_)
            | BinOp::Sub(_)
            | BinOp::Mul(_)
            | BinOp::Div(_)
            | BinOp::Rem(_)
            | BinOp::Shl(_)
            | BinOp::Shr(_)
            | BinOp::BitAnd(_)
            | BinOp::BitOr(_)
            | BinOp::BitXor(_)
    )
}

/// The function that a method of integers and ranges is.
fn method(name: &Ident) -> Option<TokenStream> {
    Some(match name.to_string().as_str() {
        "div_ceil" => quote!(::cuda_std::view::div_ceil),
        "max" | "min" => quote!(::core::cmp::Ord::#name),
        "rev" | "step_by" => quote!(::core::iter::Iterator::#name),
        _ => return None,
    })
}

/// The function of `cuda_std::thread` that a path names.
fn function(path: &Expr) -> Option<&Ident> {
    let Expr::Path(path) = path else {
        return None;
    };
    let last = &path.path.segments.last()?.ident;
    FUNCTIONS.iter().any(|known| last == known).then_some(last)
}

/// All names and keywords, including those in groups.
fn words(tokens: TokenStream) -> Vec<Ident> {
    tokens
        .into_iter()
        .flat_map(|token| match token {
            proc_macro2::TokenTree::Group(group) => words(group.stream()),
            proc_macro2::TokenTree::Ident(word) => vec![word],
            _ => Vec::new(),
        })
        .collect()
}
