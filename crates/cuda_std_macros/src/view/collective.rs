//! The block's operations in a safe kernel's body, found, checked and rewritten.
//!
//! All threads of a block get to the same ones in the same order, because each is a statement of
//! the body's outermost level, or of a `for` loop there with a range that all threads share.
//!
//! Left out: `return` and `?` that are hidden in another macro. They are harmless, because a
//! thread that has ended counts as having arrived. A hidden `break` would not be; the compiler
//! rejects it in the labelled block that a round of such a loop becomes.

use proc_macro2::{Span, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::{
    Block, Error, Expr, ExprForLoop, Ident, ItemFn, LocalInit, Result, Stmt, parse_quote,
    spanned::Spanned,
};

use super::uniform::Scope;
use super::view_of;
use crate::parameter::Parameter;
use crate::parameter::view::{View, hidden};

/// The body, with the library's functions in place of the methods of the kernel's `Block`.
pub fn rewritten(function: &ItemFn, parameters: &[Parameter]) -> Result<Block> {
    let mut body = (*function.block).clone();
    let is_block = |parameter: &&Parameter| matches!(view_of(parameter), Some(View::Block { .. }));
    if let Some(Parameter { name, .. }) = parameters.iter().find(is_block) {
        let (mut scope, copies) = Scope::new(parameters);
        let last = body
            .stmts
            .iter()
            .rposition(|statement| mention(statement, name).is_some());
        let n_guarded = last.map_or(0, |last| last + 1);
        check_leaving(&body.stmts[..n_guarded])?;
        rewrite(&mut body.stmts, name, &mut scope)?;
        body.stmts.splice(..0, copies);
    }
    Ok(body)
}

/// Rewrites the statements of the body or of a loop in which threads meet.
fn rewrite(statements: &mut [Stmt], block: &Ident, scope: &mut Scope) -> Result<()> {
    for statement in statements {
        match (mention(&*statement, block), &mut *statement) {
            (None, _) => scope.pass(statement),
            (Some(_), Stmt::Expr(Expr::ForLoop(rounds), _)) => {
                rewrite_loop(rounds, block, scope.clone())?;
            }
            (Some(place), _) => {
                rewrite_operation(statement, block).ok_or_else(|| {
                    Error::new(
                        place,
                        format!(
                            "not all threads of the block would get here, or not as often: an operation of `{block}` is \
                             a statement of its own, `let … = {block}.…;`, at the outermost level of the kernel or of a \
                             `for` loop there"
                        ),
                    )
                })?;
                scope.pass(statement);
            }
        }
    }
    Ok(())
}

fn rewrite_loop(rounds: &mut ExprForLoop, block: &Ident, mut scope: Scope) -> Result<()> {
    if let Some(label) = &rounds.label {
        return Err(Error::new(
            label.span(),
            "a loop in which threads meet has no label: none of them may leave it, or skip a round",
        ));
    }
    check_staying(&rounds.body.stmts)?;
    *rounds.expr = scope.shared(&rounds.expr)?;
    let pattern = rounds.pat.clone();
    let (label, round) = scope.enter_loop(&pattern);
    let mut body = rounds.body.clone();
    rewrite(&mut body.stmts, block, &mut scope)?;
    *rounds.pat = parse_quote!(#round);
    rounds.body = parse_quote!({
        let #pattern = #round;
        #label: #body
    });
    Ok(())
}

/// Rewrites `let … = block.operation(…);`, the same with an assignment, or without a result.
fn rewrite_operation(statement: &mut Stmt, block: &Ident) -> Option<()> {
    let is_only_mention = count(statement.to_token_stream(), &|token| is_word(token, block)) == 1;
    let operation = match statement {
        Stmt::Local(local) => match &mut local.init {
            Some(LocalInit {
                expr,
                diverge: None,
                ..
            }) => &mut **expr,
            _ => return None,
        },
        Stmt::Expr(Expr::Assign(assign), _) => &mut *assign.right,
        Stmt::Expr(expr, _) => expr,
        _ => return None,
    };
    let Expr::MethodCall(call) = &*operation else {
        return None;
    };
    let is_block = matches!(&*call.receiver, Expr::Path(path) if path.path.is_ident(block));
    if !is_block || !is_only_mention {
        return None;
    }
    let (method, turbofish, arguments) = (&call.method, &call.turbofish, &call.args);
    let token = hidden("block");
    *operation = parse_quote!(::cuda_std::view::Block::#method #turbofish (&#token, #arguments));
    Some(())
}

/// Checks that nothing visible leaves the kernel.
fn check_leaving(statements: &[Stmt]) -> Result<()> {
    for statement in statements {
        let leaves = |token: &TokenTree| is_word(token, "return") || is_punct(token, '?');
        if count(quote!(#statement), &leaves) > 0 {
            return Err(Error::new(
                statement.span(),
                "a thread may not leave the kernel before the block's last operation, where the others wait for it: put an \
                 `if` around the code that it skips",
            ));
        }
    }
    Ok(())
}

/// Checks that nothing visible leaves a loop or skips a round. In a statement with a loop of its own
/// the compiler sees which of them is meant.
fn check_staying(statements: &[Stmt]) -> Result<()> {
    for statement in statements {
        let leaves = |token: &TokenTree| is_word(token, "break") || is_word(token, "continue");
        let is_another = |token: &TokenTree| {
            let is_loop = |&word: &&str| is_word(token, word);
            ["for", "while", "loop"].iter().any(is_loop) || is_punct(token, '\'')
        };
        let statement = quote!(#statement);
        if count(statement.clone(), &leaves) > 0 && count(statement.clone(), &is_another) == 0 {
            return Err(Error::new_spanned(
                statement,
                "a thread may not leave a loop, or skip the rest of a round, where the others wait for it: put an `if` \
                 around the code that it skips",
            ));
        }
    }
    Ok(())
}

/// The first place that names the block.
fn mention(statement: &Stmt, block: &Ident) -> Option<Span> {
    fn first(tokens: TokenStream, block: &Ident) -> Option<Span> {
        tokens.into_iter().find_map(|token| match token {
            TokenTree::Group(group) => first(group.stream(), block),
            token => is_word(&token, block).then(|| token.span()),
        })
    }
    first(statement.to_token_stream(), block)
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

fn is_word<W: ?Sized>(token: &TokenTree, word: &W) -> bool
where
    Ident: PartialEq<W>,
{
    matches!(token, TokenTree::Ident(ident) if ident == word)
}

fn is_punct(token: &TokenTree, c: char) -> bool {
    matches!(token, TokenTree::Punct(punct) if punct.as_char() == c)
}
