//! The block's operations in a safe kernel's body, found, checked and rewritten.
//!
//! All threads of a block get to the same ones in the same order, because each is a statement of
//! the body's outermost level, or of a `for` loop there with a range that all threads share.
//!
//! Left out: `return` and `?` that are hidden in another macro. They are harmless, because a
//! thread that has ended counts as having arrived. A hidden `break` would not be; the compiler
//! rejects it in the labelled block that a round of such a loop becomes.

use proc_macro2::{Span, TokenStream, TokenTree};
use quote::{ToTokens, quote, quote_spanned};
use syn::{
    Block, Error, Expr, ExprForLoop, Ident, ItemFn, LocalInit, Result, Stmt, parse_quote,
    parse_quote_spanned, spanned::Spanned,
};

use super::uniform::Scope;
use super::view_of;
use crate::parameter::Parameter;
use crate::parameter::view::{View, hidden};

/// Operations that only wait.
const WAITING: [&str; 2] = ["sync", "sync_for_adding"];
/// Those that compute, with memory of their own. There are no others: a method of another trait
/// could do anything with the token.
const COMPUTING: [&str; 3] = ["reduce", "scan", "sum"];

/// The body, with the library's functions in place of the methods of the kernel's `Block`.
pub fn rewritten(function: &ItemFn, parameters: &[Parameter]) -> Result<Block> {
    let mut body = (*function.block).clone();
    let is_block = |parameter: &&Parameter| matches!(view_of(parameter), Some(View::Block { .. }));
    if let Some(Parameter { name, .. }) = parameters.iter().find(is_block) {
        let (mut scope, copies) = Scope::new(parameters);
        let is_last = |statement| mention(statement, name).is_some();
        let last = body.stmts.iter().rposition(is_last);
        check_leaving(&body.stmts[..last.map_or(0, |last| last + 1)])?;
        let mut operations = Operations {
            block: name,
            computes: false,
        };
        operations.rewrite(&mut body.stmts, &mut scope)?;
        let scratch = operations.computes.then(with_scratch);
        body.stmts.splice(..0, copies.into_iter().chain(scratch));
    }
    Ok(body)
}

/// The statement that gives the token its memory.
fn with_scratch() -> Stmt {
    let token = hidden("block");
    parse_quote! {
        let #token = {
            let scratch = ::cuda_std::shared_array![::cuda_std::view::Scratch; 1];
            // SAFETY: it is for this token alone.
            #[allow(unused_unsafe)]
            unsafe {
                ::cuda_std::view::Block::with_scratch(#token, scratch)
            }
        };
    }
}

struct Operations<'k> {
    block: &'k Ident,
    /// Whether any of them computes.
    computes: bool,
}

impl Operations<'_> {
    /// Rewrites the statements of the body or of a loop in which threads meet.
    fn rewrite(&mut self, statements: &mut [Stmt], scope: &mut Scope) -> Result<()> {
        for statement in statements {
            match (mention(&*statement, self.block), &mut *statement) {
                (None, _) => {}
                (Some(_), Stmt::Expr(Expr::ForLoop(rounds), _)) => {
                    self.rewrite_loop(rounds, scope.clone())?;
                }
                (Some(place), _) => self.rewrite_operation(statement).ok_or_else(|| {
                    let block = self.block;
                    let message = format!(
                        "it must be visible that all threads of the block get here, and equally often: an operation of `{block}` \
                         (`sync`, `sync_for_adding`, `sum`, `reduce`, `scan`) is a statement of its own, \
                         `let … = {block}.…;`, at the outermost level of the kernel or of a `for` loop there"
                    );
                    Error::new(place, message)
                })?,
            }
            scope.pass(statement);
        }
        Ok(())
    }

    fn rewrite_loop(&mut self, rounds: &mut ExprForLoop, mut scope: Scope) -> Result<()> {
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
        self.rewrite(&mut rounds.body.stmts, &mut scope)?;
        let body = &rounds.body;
        *rounds.pat = parse_quote!(#round);
        rounds.body = parse_quote!({
            let #pattern = #round;
            #label: #body
        });
        Ok(())
    }

    /// Rewrites `let … = block.operation(…);`, the same with an assignment, or without a result.
    fn rewrite_operation(&mut self, statement: &mut Stmt) -> Option<()> {
        let is_block = |token: &TokenTree| is_word(token, self.block);
        let is_only_mention = count(statement.to_token_stream(), &is_block) == 1;
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
        let is_block =
            matches!(&*call.receiver, Expr::Path(path) if path.path.is_ident(self.block));
        let (method, turbofish, arguments) = (&call.method, &call.turbofish, &call.args);
        let is_one_of = |names: &[&str]| names.iter().any(|name| method == name);
        let computes = is_one_of(&COMPUTING);
        if !is_block || !is_only_mention || !computes && !is_one_of(&WAITING) {
            return None;
        }
        self.computes |= computes;
        let token = hidden("block");
        // What it does is told at its own line.
        let operation_of = quote_spanned!(call.span()=> ::cuda_std::view::Block::#method);
        *operation = parse_quote_spanned! {call.span()=>
            #operation_of #turbofish (&#token, #arguments)
        };
        Some(())
    }
}

/// Checks that nothing visible leaves the kernel.
fn check_leaving(statements: &[Stmt]) -> Result<()> {
    let functions = |statement: &&Stmt| matches!(statement, Stmt::Item(_));
    let mut others = statements.iter().filter(|statement| !functions(statement));
    match others.find_map(|statement| leaving(statement.to_token_stream())) {
        None => Ok(()),
        Some(place) => Err(Error::new(
            place,
            "a thread may not leave the kernel before the block's last operation, where the others wait for it: put an \
             `if` around the code that it skips",
        )),
    }
}

/// The first `return` or `?` that is not in a closure: those leave it alone.
fn leaving(tokens: TokenStream) -> Option<Span> {
    let mut tokens = tokens.into_iter();
    let mut begins_expression = true;
    while let Some(token) = tokens.next() {
        match &token {
            TokenTree::Punct(bar) if bar.as_char() == '|' && begins_expression => {
                let is_bar = |token: &TokenTree| is_punct(token, '|');
                let ends = |token: &TokenTree| is_punct(token, ',') || is_punct(token, ';');
                tokens.by_ref().find(is_bar);
                tokens.by_ref().find(ends);
            }
            TokenTree::Group(group) => {
                if let Some(place) = leaving(group.stream()) {
                    return Some(place);
                }
                begins_expression = false;
            }
            token if is_word(token, "return") || is_punct(token, '?') => return Some(token.span()),
            token => {
                begins_expression =
                    is_word(token, "move") || ["=", ",", ";"].contains(&&*token.to_string());
            }
        }
    }
    None
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

pub(super) fn is_word<W: ?Sized>(token: &TokenTree, word: &W) -> bool
where
    Ident: PartialEq<W>,
{
    matches!(token, TokenTree::Ident(ident) if ident == word)
}

fn is_punct(token: &TokenTree, c: char) -> bool {
    matches!(token, TokenTree::Punct(punct) if punct.as_char() == c)
}
