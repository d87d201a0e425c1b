//! `#[gpu_only]`: a body for the device, a panic for the host.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{
    Attribute, Error, Result, Signature, Token, Visibility, parse::Parse, parse::ParseStream,
};

/// A function whose body is not parsed: it may hold device-only syntax.
struct Function {
    attributes: Vec<Attribute>,
    visibility: Visibility,
    signature: Signature,
    body: TokenStream,
}

impl Parse for Function {
    fn parse(input: ParseStream) -> Result<Self> {
        let function = Self {
            attributes: input.call(Attribute::parse_outer)?,
            visibility: input.parse()?,
            signature: input.parse()?,
            body: TokenStream::new(),
        };
        if input.peek(Token![;]) {
            return Err(input.error("#[gpu_only] needs a function with a body"));
        }
        Ok(Self {
            body: input.parse()?,
            ..function
        })
    }
}

pub fn expand(attribute: TokenStream, item: TokenStream) -> Result<TokenStream> {
    if !attribute.is_empty() {
        return Err(Error::new_spanned(
            attribute,
            "#[gpu_only] takes no arguments",
        ));
    }
    let Function {
        attributes,
        visibility,
        signature,
        body,
    } = syn::parse2(item)?;
    let message = format!("`{}` runs on the device only", signature.ident);
    Ok(quote! {
        #[cfg(target_arch = "nvptx64")]
        #(#attributes)*
        #visibility #signature #body

        #[cfg(not(target_arch = "nvptx64"))]
        #(#attributes)*
        #[allow(unused_variables, clippy::missing_const_for_fn)]
        #visibility #signature { ::core::panic!(#message) }
    })
}
