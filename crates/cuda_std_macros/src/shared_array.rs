//! `shared_array!`: one `.shared` variable and the computation of its address.
//!
//! The variable is declared by module-level assembly. Its address, taken in the
//! obvious way (`cvta.shared`), would be a generic pointer, and neither LLVM nor
//! ptxas finds out later that it points to shared memory. The only pointer that
//! rustc knows to point to shared memory is that of the dynamic shared memory,
//! so the expansion starts from there and adds the distance between the two
//! (`cuda_std::shared::from_distance`).

use std::sync::atomic::{AtomicU32, Ordering};

use proc_macro2::{Span, TokenStream};
use quote::quote;
use syn::{Error, Expr, Ident, Result, Token, Type, TypeArray, parse::Parse, parse::ParseStream};

/// `T; N` or `T; N, align = A`.
struct SharedArray {
    element: Type,
    n_elements: Expr,
    align_bytes: Option<Expr>,
}

impl Parse for SharedArray {
    fn parse(input: ParseStream) -> Result<Self> {
        let element = input.parse()?;
        input.parse::<Token![;]>()?;
        let n_elements = input.parse()?;
        let mut align_bytes = None;
        if input.parse::<Option<Token![,]>>()?.is_some() && !input.is_empty() {
            let option: Ident = input.parse()?;
            if option != "align" {
                return Err(Error::new(
                    option.span(),
                    "the only option is `align = BYTES`",
                ));
            }
            input.parse::<Token![=]>()?;
            align_bytes = Some(input.parse()?);
            input.parse::<Option<Token![,]>>()?;
        }
        if !input.is_empty() {
            return Err(input
                .error("expected `shared_array![T; N]` or `shared_array![T; N, align = BYTES]`"));
        }
        Ok(Self {
            element,
            n_elements,
            align_bytes,
        })
    }
}

/// A symbol for shared memory that no other use of the macro has: spans do not distinguish two uses
/// that come from the same `macro_rules!` macro, but a count of expansions does. Reports call it by
/// the name of its variable, if that is known.
pub fn unique_symbol(variable: Option<&str>) -> String {
    static N_EXPANDED: AtomicU32 = AtomicU32::new(0);
    let crate_name = std::env::var("CARGO_CRATE_NAME").unwrap_or_default();
    let n = N_EXPANDED.fetch_add(1, Ordering::Relaxed);
    // Not of a symbol: letters that are not ASCII, and the mark of `r#type`.
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    match variable {
        Some(name) if name.chars().all(is_part) => format!("{crate_name}$shared${name}${n}"),
        _ => format!("{crate_name}_shared_{n}"),
    }
}

/// The variable that this use of the macro defines, by its source: `tile` of
/// `let tile = shared_array![f32; 64];`.
fn variable() -> Option<String> {
    let here = Span::call_site();
    let source = std::fs::read_to_string(here.local_file()?).ok()?;
    let line = source.lines().nth(here.start().line.checked_sub(1)?)?;
    let before: String = line.chars().take(here.start().column).collect();
    defined(&before).map(str::to_owned)
}

/// The variable that a line up to its value defines.
fn defined(line: &str) -> Option<&str> {
    let name = line.trim_start().strip_prefix("let ")?;
    let name = name.trim_start().trim_start_matches("mut ").trim_start();
    let end = name.find(|c: char| !c.is_alphanumeric() && c != '_')?;
    (end > 0).then(|| &name[..end])
}

/// Assembly for the distance in bytes between a variable and the dynamic shared memory.
pub fn distance(symbol: &str) -> String {
    [
        "{{",
        ".reg .b64 variable, origin;",
        &format!("mov.u64 variable, {symbol};"),
        "mov.u64 origin, gpu_launch_sized_workgroup_mem;",
        "sub.s64 {distance}, variable, origin;",
        "}}",
    ]
    .join("\n")
}

pub fn expand(input: TokenStream) -> Result<TokenStream> {
    let SharedArray {
        element,
        n_elements,
        align_bytes,
    } = syn::parse2(input)?;
    let symbol = unique_symbol(variable().as_deref());
    let declaration = format!(".shared .align {{align}} .b8 {symbol}[{{size}}];");
    let distance = distance(&symbol);
    let align_bytes = align_bytes.map_or_else(
        || quote!(::core::mem::align_of::<#element>()),
        |expr| quote!(#expr),
    );

    let array = match &element {
        // Not in an `unsafe` block: whoever uses the array promises what `new` asks for.
        Type::Array(TypeArray { elem, len, .. }) => quote! {
            ::cuda_std::shared::Matrix::<#elem, { #n_elements }, { #len }>::new(pointer.cast())
        },
        _ => quote!(pointer),
    };

    Ok(quote! {{
        const SIZE_BYTES: usize = ::core::mem::size_of::<#element>() * (#n_elements);
        const ALIGN_BYTES: usize = #align_bytes;
        const _: () = ::core::assert!(SIZE_BYTES > 0, "a shared array needs at least one byte");
        const _: () = ::core::assert!(
            ALIGN_BYTES.is_power_of_two() && ALIGN_BYTES >= ::core::mem::align_of::<#element>(),
            "the alignment must be a power of two, and at least the element's"
        );

        // A module, because `global_asm!` must not appear among statements.
        #[cfg(target_arch = "nvptx64")]
        mod variable {
            #[allow(unused_imports)]
            use super::*;
            pub(super) const SIZE_BYTES: usize = ::core::mem::size_of::<#element>() * (#n_elements);
            pub(super) const ALIGN_BYTES: usize = #align_bytes;
            ::core::arch::global_asm!(#declaration, align = const ALIGN_BYTES, size = const SIZE_BYTES);
        }
        #[cfg(target_arch = "nvptx64")]
        const _: () = ::core::assert!(
            SIZE_BYTES == variable::SIZE_BYTES && ALIGN_BYTES == variable::ALIGN_BYTES,
            "a shared array's type and size may not use names declared inside a function"
        );

        #[cfg(target_arch = "nvptx64")]
        let pointer: *mut #element = {
            let distance_bytes: isize;
            // SAFETY: reads two addresses, and no memory.
            #[allow(unused_unsafe)]
            unsafe {
                ::core::arch::asm!(
                    #distance,
                    distance = out(reg64) distance_bytes,
                    options(pure, nomem, nostack, preserves_flags)
                );
            }
            ::cuda_std::shared::from_distance(distance_bytes)
        };
        #[cfg(not(target_arch = "nvptx64"))]
        let pointer: *mut #element = ::cuda_std::shared::on_host();
        #array
    }})
}

#[cfg(test)]
mod tests {
    use super::defined;

    #[test]
    fn variables_are_known_by_their_lines() {
        assert_eq!(defined("    let tile = "), Some("tile"));
        assert_eq!(defined("let mut b_2: *mut f32 = unsafe { "), Some("b_2"));
        for line in [
            "",
            "let ",
            "let (a, b) = (",
            "    f(",
            "letter = ",
            "let $name = ",
        ] {
            assert_eq!(defined(line), None, "{line}");
        }
    }
}
