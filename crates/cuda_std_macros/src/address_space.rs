//! `#[address_space(shared)]`: Rust-CUDA's static variables in shared memory.
//!
//! The static keeps its name and type checks, but becomes a value of no size that dereferences to
//! the array in shared memory (`rust_cuda_std`'s `SharedStatic`). The array's size may be a
//! constant of the enclosing function, which module-level assembly cannot name. So the assembly
//! that computes the address leaves the comment `// lockstep.shared_static SYMBOL BYTES ALIGN`,
//! and `cuda_builder` declares the variable.
//!
//! Left out: memory with initial values. The initial value is type-checked, and must be
//! `MaybeUninit`.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::{Error, Ident, ItemStatic, Result, StaticMutability};

use crate::shared_array::{distance, unique_symbol};

pub fn expand(attribute: TokenStream, item: TokenStream) -> Result<TokenStream> {
    let space: Ident = syn::parse2(attribute)?;
    let item: ItemStatic = syn::parse2(item)?;
    match space.to_string().as_str() {
        "shared" => shared(item),
        // rustc puts every static into global memory, and loads what is never written through the
        // read-only cache.
        "global" | "constant" => Ok(quote!(#item)),
        "local" => Err(Error::new(
            space.span(),
            "a static cannot be in local memory: use a variable of the function",
        )),
        _ => Err(Error::new(
            space.span(),
            "the address spaces are `shared`, `global` and `constant`",
        )),
    }
}

fn shared(item: ItemStatic) -> Result<TokenStream> {
    let StaticMutability::Mut(_) = item.mutability else {
        return Err(Error::new(
            item.static_token.span,
            "shared memory starts without a value, so it has to be written: `static mut`",
        ));
    };
    let ItemStatic {
        attrs,
        vis,
        ident,
        ty,
        expr,
        ..
    } = item;
    let symbol = unique_symbol(Some(&ident.to_string()));
    let place = format_ident!("LOCKSTEP_PLACE_OF_{ident}");
    // An external variable: the compiler has no size for it, so that whoever uses its own address
    // leaves this name in the PTX, where `cuda_builder` finds it.
    let named = format!("LOCKSTEP_SHARED_STATIC_{ident}");
    let marker = format!("// lockstep.shared_static {symbol} {{size}} {{align}}");
    let distance = distance(&symbol);
    Ok(quote! {
        #[doc(hidden)]
        #[allow(non_camel_case_types, dead_code)]
        #vis struct #place;

        // The initial value has the type; there is nothing else to do with it.
        const _: #ty = #expr;

        // SAFETY: the address is that of a variable of this size and alignment, which only this
        // static names.
        unsafe impl ::cuda_std::SharedPlace for #place {
            type Value = #ty;

            #[cfg(target_arch = "nvptx64")]
            #[inline(always)]
            fn address() -> *mut #ty {
                let distance_bytes: isize;
                // SAFETY: reads two addresses, and no memory.
                unsafe {
                    ::core::arch::asm!(
                        #marker,
                        #distance,
                        distance = out(reg64) distance_bytes,
                        size = const ::core::mem::size_of::<#ty>(),
                        align = const ::core::mem::align_of::<#ty>(),
                        options(pure, nomem, nostack, preserves_flags)
                    );
                }
                ::cuda_std::shared::from_distance(distance_bytes)
            }

            #[cfg(not(target_arch = "nvptx64"))]
            fn address() -> *mut #ty {
                ::cuda_std::shared::on_host()
            }
        }

        #[cfg(target_arch = "nvptx64")]
        #[allow(improper_ctypes)]
        unsafe extern "C" {
            #(#attrs)*
            #[link_name = #named]
            #vis static mut #ident: ::cuda_std::SharedStatic<#place>;
        }

        #(#attrs)*
        #[cfg(not(target_arch = "nvptx64"))]
        #vis static mut #ident: ::cuda_std::SharedStatic<#place> = ::cuda_std::SharedStatic::new();
    })
}
