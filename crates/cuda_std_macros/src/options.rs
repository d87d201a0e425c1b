//! The options of `#[kernel(…)]`.

use syn::{
    Error, Expr, Ident, Result, Token, parse::Parse, parse::ParseStream, punctuated::Punctuated,
};

use crate::instance::Instance;

/// The contents of the parentheses of `#[kernel(…)]`.
#[derive(Default)]
pub struct Options {
    pub launch_bounds: Option<LaunchBounds>,
    pub uses_pdl: bool,
    pub is_cooperative: bool,
    /// Whether the kernel is meant to use local memory.
    pub uses_local_memory: bool,
    pub instances: Vec<Instance>,
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
            let is_new = match name.to_string().as_str() {
                "pdl" => !std::mem::replace(&mut options.uses_pdl, true),
                "cooperative" => !std::mem::replace(&mut options.is_cooperative, true),
                "local_memory" => !std::mem::replace(&mut options.uses_local_memory, true),
                "launch_bounds" => {
                    let bounds = launch_bounds(&name, input)?;
                    options.launch_bounds.replace(bounds).is_none()
                }
                "instances" => {
                    let instances = instances(&name, input)?;
                    std::mem::replace(&mut options.instances, instances).is_empty()
                }
                _ => {
                    return Err(Error::new(
                        name.span(),
                        "the options are `launch_bounds(MAX_THREADS, MIN_BLOCKS)`, `pdl`, `cooperative`, `local_memory` and, \
                         for a generic kernel, `instances(NAME = FUNCTION::<…>, …)`",
                    ));
                }
            };
            if !is_new {
                return Err(Error::new(name.span(), format!("{name} is given twice")));
            }
            if options.uses_pdl && options.is_cooperative {
                return Err(Error::new(
                    name.span(),
                    "a `cooperative` kernel cannot be `pdl`: the previous launch may not leave room for all its blocks",
                ));
            }
            input.parse::<Option<Token![,]>>()?;
        }
        Ok(options)
    }
}

fn launch_bounds(name: &Ident, input: ParseStream) -> Result<LaunchBounds> {
    let content;
    syn::parenthesized!(content in input);
    let numbers = Punctuated::<Expr, Token![,]>::parse_terminated(&content)?;
    let mut numbers = numbers.into_iter();
    match (numbers.next(), numbers.next(), numbers.next()) {
        (Some(max_threads), min_blocks, None) => Ok(LaunchBounds {
            max_threads,
            min_blocks,
        }),
        _ => Err(Error::new(
            name.span(),
            "launch_bounds takes the largest number of threads in a block, and optionally the number of blocks to fit \
             on an SM",
        )),
    }
}

fn instances(name: &Ident, input: ParseStream) -> Result<Vec<Instance>> {
    let content;
    syn::parenthesized!(content in input);
    let instances = Punctuated::<Instance, Token![,]>::parse_terminated(&content)?;
    if instances.is_empty() {
        return Err(Error::new(
            name.span(),
            "instances takes a name and the generic parameters of each: `instances(NAME = FUNCTION::<…>, …)`",
        ));
    }
    Ok(instances.into_iter().collect())
}
