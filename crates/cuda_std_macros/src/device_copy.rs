//! `#[derive(DeviceCopy)]`: a structure whose values buffers hold.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::{Data, DeriveInput, Error, Result, Type, spanned::Spanned};

use crate::kernel_arg::has_fixed_layout;

pub fn expand(input: TokenStream) -> Result<TokenStream> {
    let input: DeriveInput = syn::parse2(input)?;
    let Data::Struct(data) = &input.data else {
        return Err(Error::new(
            input.ident.span(),
            "only a structure can be copied as bytes: not all bits are a value of an enum, and those of a union may \
             have none",
        ));
    };
    if !input.generics.params.is_empty() {
        return Err(Error::new(
            input.generics.span(),
            "what is copied as bytes has no generic parameters here: whether there is padding depends on them",
        ));
    }
    if !has_fixed_layout(&input, "what is copied as bytes")? {
        return Err(Error::new(
            input.ident.span(),
            "what is copied as bytes needs `#[repr(C)]`, so that host and device agree on its layout",
        ));
    }
    let name = &input.ident;
    let types: Vec<&Type> = data.fields.iter().map(|field| &field.ty).collect();
    let checked = types
        .iter()
        .map(|of| quote_spanned!(of.span() => ::cuda_std::view::is_element::<#of>();));
    let padding = format!(
        "`{name}` has padding, which has no value to copy: order its fields by size, the largest first, or add \
         fields for the gaps"
    );
    Ok(quote! {
        // SAFETY: any bits are values of all fields, and there is nothing between or behind them.
        unsafe impl ::cuda_std::view::DeviceCopy for #name {}

        const _: () = {
            #(#checked)*
            ::core::assert!(
                ::core::mem::size_of::<#name>() == 0 #(+ ::core::mem::size_of::<#types>())*,
                #padding
            );
        };
    })
}
