//! `#[derive(KernelArg)]`: a structure that the host passes as bytes.
//!
//! Fields are written one by one, so that padding, which has no value, is never read.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::{
    Data, DeriveInput, Error, Fields, Ident, Result, meta::ParseNestedMeta, spanned::Spanned,
};

pub fn expand(input: TokenStream) -> Result<TokenStream> {
    let input: DeriveInput = syn::parse2(input)?;
    let Data::Struct(data) = &input.data else {
        return Err(Error::new(
            input.ident.span(),
            "only a structure can be a kernel's argument: the bytes of an enum or a union do not determine its value",
        ));
    };
    if !input.generics.params.is_empty() {
        return Err(Error::new(
            input.generics.span(),
            "a kernel's argument has no generic parameters: its PTX needs one size",
        ));
    }
    if !has_fixed_layout(&input, "a kernel's argument")? {
        return Err(Error::new(
            input.ident.span(),
            "a kernel's argument needs `#[repr(C)]`, so that host and device agree on its layout",
        ));
    }
    if let Fields::Unit = data.fields {
        return Err(Error::new(
            input.ident.span(),
            "a kernel's argument has at least one field",
        ));
    }
    let name = &input.ident;
    let fields: Vec<TokenStream> = data.fields.members().map(|m| m.to_token_stream()).collect();
    let types: Vec<_> = data.fields.iter().map(|field| &field.ty).collect();
    Ok(quote! {
        #[cfg(not(target_arch = "nvptx64"))]
        const _: () = assert!(
            ::core::mem::align_of::<#name>() <= 16,
            "a kernel's argument can be aligned to at most 16 bytes: rustc supports no more for this target"
        );

        // SAFETY: the layout is C's on both sides, and every field is written.
        #[cfg(not(target_arch = "nvptx64"))]
        unsafe impl ::cuda_std::launch::ParamBytes for #name {
            fn write_bytes(&self, bytes: &mut [u8]) {
                #({
                    let start = ::core::mem::offset_of!(Self, #fields);
                    let field = &mut bytes[start..start + ::core::mem::size_of::<#types>()];
                    <#types as ::cuda_std::launch::ParamBytes>::write_bytes(&self.#fields, field);
                })*
            }
        }

        #[cfg(not(target_arch = "nvptx64"))]
        impl ::cuda_std::launch::KernelArg for #name {
            const PARAM_SIZES: &'static [u32] = &[::core::mem::size_of::<Self>() as u32];
            fn push_params(&self, push: &mut dyn FnMut(::cuda_std::launch::ParamValue)) {
                push(::cuda_std::launch::ParamValue::of(self));
            }
        }
    })
}

/// Whether `#[repr(…)]` fixes the order of the fields of `what`.
pub fn has_fixed_layout(input: &DeriveInput, what: &str) -> Result<bool> {
    let mut is_fixed = false;
    let reprs = input.attrs.iter().filter(|a| a.path().is_ident("repr"));
    for repr in reprs {
        repr.parse_nested_meta(|word: ParseNestedMeta| {
            let is = |name: &str| {
                word.path
                    .get_ident()
                    .is_some_and(|ident: &Ident| ident == name)
            };
            if is("packed") {
                return Err(word.error(format!(
                    "{what} cannot be packed: the device loads fields from aligned addresses only"
                )));
            }
            is_fixed |= is("C") || is("transparent");
            if word.input.peek(syn::token::Paren) {
                let content;
                syn::parenthesized!(content in word.input);
                content.parse::<TokenStream>()?;
            }
            Ok(())
        })?;
    }
    Ok(is_fixed)
}
