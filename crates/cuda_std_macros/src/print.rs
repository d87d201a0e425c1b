//! `print!`, `println!`: Rust's format string, translated to C's while the kernel is
//! compiled.
//!
//! Which letter of `printf` an argument takes depends on its type, which a macro does
//! not know. So the expansion is a generic function, and the C string is a constant of
//! its instance: the letters come from `cuda_std::print::Print`.
//!
//! Left out: forms for which C has no conversion (`{:?}`, `{:b}`, centred text, fill
//! characters), and widths that are arguments.

use proc_macro2::{Span, TokenStream};
use quote::{format_ident, quote};
use syn::{
    Error, Expr, Ident, LitStr, Result, Token, ext::IdentExt, parse::Parse, parse::ParseStream,
    spanned::Spanned,
};

use crate::format_string::{Argument, Part, Placeholder, parse};

/// The contents of the parentheses of `println!(…)`.
struct Call {
    format: Option<LitStr>,
    /// With the names of those that have one.
    arguments: Vec<(Option<Ident>, Expr)>,
}

impl Parse for Call {
    fn parse(input: ParseStream) -> Result<Self> {
        if input.is_empty() {
            return Ok(Self {
                format: None,
                arguments: Vec::new(),
            });
        }
        let format = input.parse().map_err(|error| {
            Error::new(
                error.span(),
                "the first argument is a string literal, as in `println!(\"x is {}\", x)`",
            )
        })?;
        let mut arguments = Vec::new();
        while !input.is_empty() {
            input.parse::<Token![,]>()?;
            if input.is_empty() {
                break;
            }
            let name = if input.peek(Ident::peek_any) && input.peek2(Token![=]) {
                let name = input.call(Ident::parse_any)?;
                input.parse::<Token![=]>()?;
                Some(name)
            } else {
                None
            };
            arguments.push((name, input.parse()?));
        }
        Ok(Self {
            format: Some(format),
            arguments,
        })
    }
}

/// Expands `print!`, or `println!` with `end` `"\n"`.
pub fn expand(input: TokenStream, end: &str) -> Result<TokenStream> {
    let Call { format, arguments } = syn::parse2(input)?;
    let span = format
        .as_ref()
        .map_or_else(Span::call_site, |format| format.span());
    let text = format.map(|format| format.value()).unwrap_or_default() + end;
    let parts = parse(&text).map_err(|message| Error::new(span, message))?;
    let mut values = Values::new(arguments, span);
    let mut string = CString::default();
    let mut conversions = Vec::new();
    for part in parts {
        match part {
            Part::Literal(text) if text.contains('\0') => {
                return Err(Error::new(span, "C's strings end at `\\0`: leave it out"));
            }
            Part::Literal(text) => string.push(&text.replace('%', "%%")),
            Part::Placeholder(placeholder) => {
                let conversion = Conversion {
                    generic: format_ident!("A{}", conversions.len()),
                    value: values.index_of(&placeholder.argument)?,
                    placeholder,
                };
                string.push_conversion(&conversion);
                conversions.push(conversion);
            }
        }
    }
    values.check_all_used()?;
    Ok(call(&values, &conversions, &string))
}

/// The C string, as the calls that build it.
#[derive(Default)]
struct CString {
    calls: Vec<TokenStream>,
    /// Its maximum length in bytes, without the zero at its end.
    n_bytes: usize,
}

impl CString {
    /// `llu` is the longest of the letters in `cuda_std::print`.
    const MAX_LETTERS: usize = 3;

    fn push(&mut self, text: &str) {
        if !text.is_empty() {
            self.n_bytes += text.len();
            self.calls.push(quote!(.push(#text)));
        }
    }

    fn push_conversion(&mut self, conversion: &Conversion) {
        let Conversion {
            generic,
            placeholder,
            ..
        } = conversion;
        let bound = conversion.bound();
        self.push(&placeholder.prefix);
        self.push(&format!("%{}", placeholder.flags));
        if placeholder.is_aligned_by_type {
            self.n_bytes += 1;
            self.calls
                .push(quote!(.push_if(<#generic as #bound>::IS_TEXT, "-")));
        }
        self.push(&placeholder.size);
        self.n_bytes += Self::MAX_LETTERS;
        self.calls
            .push(quote!(.push(<#generic as #bound>::LETTERS)));
    }
}

/// The arguments, and which of them the string has used so far.
struct Values {
    expressions: Vec<Expr>,
    names: Vec<Option<Ident>>,
    is_used: Vec<bool>,
    /// The number of arguments written after the string; the string captures the others.
    n_written: usize,
    /// Where the string is.
    span: Span,
}

impl Values {
    fn new(arguments: Vec<(Option<Ident>, Expr)>, span: Span) -> Self {
        let (names, expressions): (Vec<_>, Vec<_>) = arguments.into_iter().unzip();
        Self {
            is_used: vec![false; expressions.len()],
            n_written: expressions.len(),
            expressions,
            names,
            span,
        }
    }

    /// The argument that a placeholder means; any other name is a variable's.
    fn index_of(&mut self, argument: &Argument) -> Result<usize> {
        let index = match argument {
            Argument::Position(position) if *position < self.n_written => *position,
            Argument::Position(position) => {
                return Err(Error::new(
                    self.span,
                    format!(
                        "the string uses argument {position}, counted from 0; arguments given: {}",
                        self.n_written
                    ),
                ));
            }
            Argument::Name(name) => {
                let is_it = |other: &Option<Ident>| other.as_ref().is_some_and(|o| o == name);
                match self.names.iter().position(is_it) {
                    Some(index) => index,
                    None => {
                        let variable = Ident::new(name, self.span);
                        self.expressions.push(syn::parse_quote!(#variable));
                        self.names.push(Some(variable));
                        self.is_used.push(false);
                        self.names.len() - 1
                    }
                }
            }
        };
        self.is_used[index] = true;
        Ok(index)
    }

    fn check_all_used(&self) -> Result<()> {
        match self.is_used.iter().position(|is_used| !is_used) {
            Some(unused) => Err(Error::new(
                self.expressions[unused].span(),
                "the string does not print this argument",
            )),
            None => Ok(()),
        }
    }
}

/// A placeholder and the argument that it prints.
struct Conversion {
    /// Name of the argument's type in the expansion.
    generic: Ident,
    placeholder: Placeholder,
    value: usize,
}

impl Conversion {
    /// The trait that the argument's type must have.
    fn bound(&self) -> TokenStream {
        let form = format_ident!("{}", format!("{:?}", self.placeholder.form));
        quote!(::cuda_std::print::Print<::cuda_std::print::form::#form>)
    }
}

/// The call of `vprintf`.
fn call(values: &Values, conversions: &[Conversion], string: &CString) -> TokenStream {
    let CString { calls, n_bytes } = string;
    let capacity = n_bytes + 1;
    let expressions = &values.expressions;
    let names: Vec<Ident> = (0..expressions.len())
        .map(|i| format_ident!("value_{i}"))
        .collect();
    let printed: Vec<&Ident> = conversions.iter().map(|c| &names[c.value]).collect();
    let generics: Vec<&Ident> = conversions.iter().map(|c| &c.generic).collect();
    let bounds: Vec<TokenStream> = conversions.iter().map(Conversion::bound).collect();
    let arguments: Vec<Ident> = (0..conversions.len())
        .map(|i| format_ident!("argument_{i}"))
        .collect();
    quote! {
        match (#(#expressions,)*) {
            (#(#names,)*) => {
                #[inline(always)]
                fn print<#(#generics: #bounds),*>(#(#arguments: #generics),*) {
                    #[repr(C)]
                    struct Packed<#(#generics),*>(#(#generics),*);
                    let format = const { &::cuda_std::print::Format::<#capacity>::new() #(#calls)* };
                    #(let #arguments = <#generics as #bounds>::hold(#arguments);)*
                    let packed = Packed(#(<#generics as #bounds>::pack(&#arguments)),*);
                    // SAFETY: the string's conversions are those of the packed values' types,
                    // in their order, and what they point to lives here.
                    unsafe { ::cuda_std::print::vprintf(format.as_ptr(), (&raw const packed).cast()) };
                }
                print(#(#printed),*)
            }
        }
    }
}
