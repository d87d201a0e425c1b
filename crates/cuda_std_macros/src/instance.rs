//! An instance of a generic kernel: the name of its PTX entry, and the values of the function's
//! generic parameters.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{
    Error, GenericArgument, GenericParam, Generics, Ident, ItemFn, Path, PathArguments, Result,
    Safety, Token, parse::Parse, parse::ParseStream, spanned::Spanned,
};

/// `NAME = FUNCTION::<ARGUMENTS>`.
pub struct Instance {
    pub name: Ident,
    pub of: Path,
}

impl Parse for Instance {
    fn parse(input: ParseStream) -> Result<Self> {
        let name = input.parse()?;
        input.parse::<Token![=]>()?;
        let mut of: Path = input.parse()?;
        // In an expression, where it will be used, `scale<f32>` is a comparison.
        if let Some(last) = of.segments.last_mut()
            && let PathArguments::AngleBracketed(arguments) = &mut last.arguments
        {
            arguments.colon2_token = Some(Token![::](arguments.lt_token.span));
        }
        Ok(Self { name, of })
    }
}

impl Instance {
    /// The generic parameters as items of the same names, so that the signature's types mean
    /// the same in their scope as in the instance.
    pub fn scope(&self, function: &ItemFn) -> Result<TokenStream> {
        let signature = &function.sig;
        let last = self.of.segments.last();
        let is_function = self.of.segments.len() == 1 && self.of.leading_colon.is_none();
        let Some(last) = last.filter(|last| is_function && last.ident == signature.ident) else {
            return Err(Error::new(
                self.of.span(),
                format!(
                    "an instance is one of this function: `{} = {}::<…>`",
                    self.name, signature.ident
                ),
            ));
        };
        if self.name == signature.ident {
            return Err(Error::new(
                self.name.span(),
                "an instance needs a name of its own, different from the function's",
            ));
        }
        let arguments: Vec<&GenericArgument> = match &last.arguments {
            PathArguments::AngleBracketed(arguments) => arguments.args.iter().collect(),
            _ => Vec::new(),
        };
        let parameters = &signature.generics.params;
        if arguments.len() != parameters.len() {
            return Err(Error::new(
                self.of.span(),
                format!(
                    "`{}` has {} generic parameters, but this instance gives {}: give all of them",
                    signature.ident,
                    parameters.len(),
                    arguments.len()
                ),
            ));
        }
        let items = parameters.iter().zip(arguments);
        items
            .map(|(parameter, argument)| item(parameter, argument))
            .collect()
    }
}

/// Whether a kernel is an `unsafe fn`.
pub fn is_unsafe(function: &ItemFn) -> bool {
    matches!(function.sig.safety, Safety::Unsafe(_))
}

/// Whether a kernel with these parameters needs instances.
pub fn is_generic(generics: &Generics) -> bool {
    generics
        .params
        .iter()
        .any(|parameter| !matches!(parameter, GenericParam::Lifetime(_)))
}

/// A generic parameter as an item.
fn item(parameter: &GenericParam, argument: &GenericArgument) -> Result<TokenStream> {
    match parameter {
        GenericParam::Type(parameter) => {
            let name = &parameter.ident;
            Ok(quote!(type #name = #argument;))
        }
        // A constant's name is parsed as a type.
        GenericParam::Const(parameter) => {
            let (name, of) = (&parameter.ident, &parameter.ty);
            Ok(quote!(const #name: #of = #argument;))
        }
        GenericParam::Lifetime(parameter) => Err(Error::new(
            parameter.span(),
            "a kernel cannot have lifetime parameters: leave them out, `&[T]` needs none",
        )),
    }
}
