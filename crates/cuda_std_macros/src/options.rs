//! The options of `#[kernel(…)]`.

use syn::{
    Error, Expr, Ident, Result, Token, parse::Parse, parse::ParseStream, punctuated::Punctuated,
};

/// What stands in the parentheses of `#[kernel(…)]`.
#[derive(Default)]
pub struct Options {
    pub launch_bounds: Option<LaunchBounds>,
    pub is_early: bool,
}

pub struct LaunchBounds {
    pub max_threads: Expr,
    pub min_blocks: Option<Expr>,
}

impl Parse for Options {
    fn parse(input: ParseStream) -> Result<Self> {
        let mut options = Self::default();
        while !input.is_empty() {
            let name: Ident = input.parse()?;
            if name == "early" {
                if options.is_early {
                    return Err(Error::new(name.span(), "early is given twice"));
                }
                options.is_early = true;
                input.parse::<Option<Token![,]>>()?;
                continue;
            }
            if name != "launch_bounds" {
                return Err(Error::new(
                    name.span(),
                    "the options are `launch_bounds(MAX_THREADS, MIN_BLOCKS)` and `early`",
                ));
            }
            if options.launch_bounds.is_some() {
                return Err(Error::new(name.span(), "launch_bounds is given twice"));
            }
            let content;
            syn::parenthesized!(content in input);
            let numbers = Punctuated::<Expr, Token![,]>::parse_terminated(&content)?;
            let mut numbers = numbers.into_iter();
            options.launch_bounds = match (numbers.next(), numbers.next(), numbers.next()) {
                (Some(max_threads), min_blocks, None) => Some(LaunchBounds {
                    max_threads,
                    min_blocks,
                }),
                _ => {
                    return Err(Error::new(
                        name.span(),
                        "launch_bounds takes the largest number of threads in a block, and optionally the number of \
                         blocks to fit on a multiprocessor",
                    ));
                }
            };
            input.parse::<Option<Token![,]>>()?;
        }
        Ok(options)
    }
}
