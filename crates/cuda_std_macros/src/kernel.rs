//! `#[kernel]`: one Rust function, seen by the device as a PTX entry and by the
//! host as a type. What is particular to a safe one is in `view`.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::{
    Attribute, Error, Expr, FnArg, GenericParam, Ident, ItemFn, Pat, Result, ReturnType, Token,
    Type, parse::Parse, parse::ParseStream, punctuated::Punctuated, spanned::Spanned,
};

use crate::view::{self, View};

pub fn expand(attribute: TokenStream, item: TokenStream) -> Result<TokenStream> {
    let options: Options = syn::parse2(attribute)?;
    let function: ItemFn = syn::parse2(item).map_err(|error| {
        Error::new(
            error.span(),
            format!("#[kernel] goes on a function with a body (`fn name(…) {{ … }}`): {error}"),
        )
    })?;
    let mut errors = check_signature(&function);
    let mut parameters = Vec::new();
    for input in &function.sig.inputs {
        match Parameter::new(input) {
            Ok(parameter) => parameters.push(parameter),
            Err(error) => errors.push(error),
        }
    }
    if errors.is_empty() {
        errors.extend(view::check(&function, &parameters, options.is_early));
    }
    if let Some(first) = errors.into_iter().reduce(|mut all, next| {
        all.combine(next);
        all
    }) {
        return Err(first);
    }
    let device = device_entry(&function, &parameters, options.launch_bounds.as_ref());
    let host = host_marker(&function, &parameters, &options);
    Ok(quote! { #device #host })
}

/// What stands in the parentheses of `#[kernel(…)]`.
#[derive(Default)]
struct Options {
    launch_bounds: Option<LaunchBounds>,
    is_early: bool,
}

struct LaunchBounds {
    max_threads: Expr,
    min_blocks: Option<Expr>,
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

/// How a parameter travels from the host into the entry.
pub enum Kind {
    /// `&[T]`: as address and length.
    Slice { element: Type },
    /// `*const T`.
    Const { element: Type },
    /// `*mut T`.
    Mut { element: Type },
    /// A number or a structure, by value.
    Scalar { number: Type },
    /// A view of a safe kernel, as its address or not at all.
    View(Box<View>),
}

pub struct Parameter<'a> {
    pub attributes: &'a [Attribute],
    /// As written: `x`, `mut x`, `_`.
    pub pattern: &'a Pat,
    pub name: Ident,
    pub kind: Kind,
}

impl<'a> Parameter<'a> {
    fn new(input: &'a FnArg) -> Result<Self> {
        let input = match input {
            FnArg::Typed(input) => input,
            FnArg::Receiver(receiver) => {
                return Err(Error::new(
                    receiver.span(),
                    "a kernel is a free function: it cannot take `self`",
                ));
            }
        };
        let name = match &*input.pat {
            Pat::Ident(ident) if ident.by_ref.is_none() && ident.subpat.is_none() => {
                ident.ident.clone()
            }
            other => {
                return Err(Error::new(
                    other.span(),
                    "a kernel's parameter needs a plain name",
                ));
            }
        };
        Ok(Self {
            attributes: &input.attrs,
            pattern: &input.pat,
            name,
            kind: Kind::new(&input.ty)?,
        })
    }

    /// The name and type of the host's argument for it, if there is one.
    fn argument(&self) -> Option<(String, TokenStream)> {
        let argument = match &self.kind {
            Kind::Slice { element } => quote!(::cuda_std::launch::DeviceSlice<#element>),
            Kind::Const { element } => quote!(::cuda_std::launch::DevicePtr<#element>),
            Kind::Mut { element } => quote!(::cuda_std::launch::DevicePtrMut<#element>),
            Kind::Scalar { number } => quote!(#number),
            Kind::View(view) => view.argument()?,
        };
        Some((self.name.to_string(), argument))
    }
}

impl Kind {
    fn new(written: &Type) -> Result<Self> {
        match written {
            Type::Reference(reference) => match (&*reference.elem, reference.mutability) {
                (Type::Slice(slice), None) => Ok(Self::Slice {
                    element: (*slice.elem).clone(),
                }),
                (Type::Slice(slice), Some(_)) => {
                    let element = &slice.elem;
                    let element = quote!(#element);
                    Err(Error::new(
                        written.span(),
                        format!(
                            "a kernel cannot take `&mut [{element}]`: every thread of the grid would hold the same \
                             exclusive reference; take `*mut {element}` and write each element from one thread"
                        ),
                    ))
                }
                _ => Err(Error::new(
                    written.span(),
                    "a kernel cannot take a reference, except to a slice (`&[T]`): pass the value, or a pointer \
                     (`*const T`, `*mut T`)",
                )),
            },
            Type::Ptr(pointer) => {
                let element = (*pointer.elem).clone();
                if let Type::Slice(_) | Type::TraitObject(_) = element {
                    return Err(Error::new(
                        written.span(),
                        "a kernel's pointer points to one element: `*const T`, `*mut T`",
                    ));
                }
                Ok(if pointer.mutability.is_some() {
                    Self::Mut { element }
                } else {
                    Self::Const { element }
                })
            }
            Type::Path(path) => Ok(match View::of(path)? {
                Some(view) => Self::View(Box::new(view)),
                None => Self::Scalar {
                    number: written.clone(),
                },
            }),
            Type::Paren(inner) => Self::new(&inner.elem),
            Type::Group(inner) => Self::new(&inner.elem),
            _ => Err(Error::new(
                written.span(),
                "a kernel takes slices (`&[T]`), pointers (`*const T`, `*mut T`), numbers and structures; pass \
                 anything else through a pointer",
            )),
        }
    }
}

/// Everything a kernel's signature may not be.
fn check_signature(function: &ItemFn) -> Vec<Error> {
    let signature = &function.sig;
    let mut errors = Vec::new();
    let mut refuse = |span, message: &str| errors.push(Error::new(span, message));

    if let Some(token) = &signature.asyncness {
        refuse(token.span, "a kernel cannot be `async`");
    }
    if let Some(token) = &signature.constness {
        refuse(token.span, "a kernel cannot be `const`");
    }
    if let Some(abi) = &signature.abi {
        refuse(
            abi.extern_token.span,
            "leave out `extern`: #[kernel] sets the calling convention",
        );
    }
    if let Some(variadic) = &signature.variadic {
        refuse(
            variadic.span(),
            "a kernel takes a fixed number of parameters",
        );
    }
    if let ReturnType::Type(arrow, returned) = &signature.output
        && !matches!(&**returned, Type::Tuple(tuple) if tuple.elems.is_empty())
    {
        refuse(
            arrow.spans[0],
            "a kernel returns nothing: write results through a `*mut T` parameter",
        );
    }
    for parameter in &signature.generics.params {
        let what = match parameter {
            GenericParam::Lifetime(_) => "lifetime parameters: leave them out, `&[T]` needs none",
            GenericParam::Type(_) | GenericParam::Const(_) => {
                "type or const parameters, because the PTX entry needs one name and one code: write the body as a \
                 generic `#[inline(always)]` device function and a kernel for every instance (a `macro_rules!` macro \
                 can write them)"
            }
        };
        refuse(parameter.span(), &format!("a kernel cannot have {what}"));
    }
    if let Some(clause) = &signature.generics.where_clause {
        refuse(
            clause.where_token.span,
            "a kernel cannot have a `where` clause",
        );
    }
    errors
}

/// The PTX entry.
fn device_entry(
    function: &ItemFn,
    parameters: &[Parameter],
    bounds: Option<&LaunchBounds>,
) -> TokenStream {
    let ItemFn {
        attrs, vis, sig, ..
    } = function;
    let (name, unsafety) = (&sig.ident, &sig.unsafety);
    let body = view::body(function, parameters);
    let mut inputs = Vec::new();
    let mut made = Vec::new();
    for Parameter {
        attributes,
        pattern,
        name,
        kind,
    } in parameters
    {
        inputs.extend(match kind {
            Kind::Slice { element } => {
                let (address, length) = (format_ident!("{name}_address"), format_ident!("{name}_length"));
                made.push(quote! {
                    // SAFETY: the launch hands over a live slice's address and length.
                    let #pattern: &[#element] = unsafe { ::core::slice::from_raw_parts(#address, #length) };
                });
                Some(quote!(#(#attributes)* #address: *const #element, #length: usize))
            }
            Kind::Const { element } => Some(quote!(#(#attributes)* #pattern: *const #element)),
            Kind::Mut { element } => Some(quote!(#(#attributes)* #pattern: *mut #element)),
            Kind::Scalar { number } => Some(quote!(#(#attributes)* #pattern: #number)),
            Kind::View(view) => {
                let address = view::address_of(name);
                let (of, value) = (view.body_type(), view.value(&address));
                let pattern = view.pattern(pattern);
                made.push(quote!(#(#attributes)* let #pattern: #of = #value;));
                view.pointer().map(|pointer| quote!(#address: #pointer))
            }
        });
    }
    let marker = bounds.map(|LaunchBounds { max_threads, min_blocks }| {
        let marker = format!("// lockstep.launch_bounds {name} {{threads}} {{blocks}}");
        let min_blocks = min_blocks.as_ref().map_or_else(|| quote!(0), |expr| quote!(#expr));
        quote! {
            #[cfg(target_arch = "nvptx64")]
            ::core::arch::global_asm!(#marker, threads = const { #max_threads as u32 }, blocks = const { #min_blocks as u32 });
        }
    });
    quote! {
        #[cfg(target_arch = "nvptx64")]
        #(#attrs)*
        #[unsafe(no_mangle)]
        #vis #unsafety extern "ptx-kernel" fn #name(#(#inputs),*) {
            #(#made)*
            #body
        }
        #marker
    }
}

/// The host's unit struct, and a copy of the function that is only
/// type-checked.
fn host_marker(function: &ItemFn, parameters: &[Parameter], options: &Options) -> TokenStream {
    let is_early = options.is_early;
    let ItemFn {
        attrs, vis, sig, ..
    } = function;
    let (name, unsafety) = (&sig.ident, &sig.unsafety);
    let name_text = name.to_string();
    let inputs = view::inputs(function, parameters);
    let (body, lengths_used) = (
        view::body(function, parameters),
        view::lengths_used(parameters),
    );
    let (parameter_names, argument_types): (Vec<_>, Vec<_>) =
        parameters.iter().filter_map(Parameter::argument).unzip();
    let safe_kernel = match unsafety {
        Some(_) => TokenStream::new(),
        None => view::safe_kernel(name, parameters),
    };
    let bounds = match &options.launch_bounds {
        None => quote!(::core::option::Option::None),
        Some(LaunchBounds {
            max_threads,
            min_blocks,
        }) => {
            let min_blocks = match min_blocks {
                None => quote!(::core::option::Option::None),
                Some(blocks) => quote!(::core::option::Option::Some(#blocks as u32)),
            };
            quote! {
                ::core::option::Option::Some(::cuda_std::launch::LaunchBounds {
                    max_threads: #max_threads as u32,
                    min_blocks: #min_blocks,
                })
            }
        }
    };
    let (about_item, about_body): (Vec<_>, Vec<_>) = attrs.iter().partition(|attribute| {
        ["doc", "deprecated", "cfg"]
            .iter()
            .any(|path| attribute.path().is_ident(path))
    });
    quote! {
        #[cfg(not(target_arch = "nvptx64"))]
        #(#about_item)*
        #[allow(non_camel_case_types)]
        #[derive(Clone, Copy, Debug)]
        #vis struct #name;

        #[cfg(not(target_arch = "nvptx64"))]
        impl ::cuda_std::launch::Kernel for #name {
            const NAME: &'static str = #name_text;
            const MODULE_PATH: &'static str = ::core::module_path!();
            const FILE: &'static str = ::core::file!();
            const PARAM_NAMES: &'static [&'static str] = &[#(#parameter_names),*];
            const LAUNCH_BOUNDS: ::core::option::Option<::cuda_std::launch::LaunchBounds> = #bounds;
            const IS_EARLY: bool = #is_early;
            type Args = (#(#argument_types,)*);
        }

        #[cfg(not(target_arch = "nvptx64"))]
        const _: () = {
            #(#about_body)*
            #[allow(dead_code, clippy::too_many_arguments)]
            #unsafety fn #name(#(#inputs),*) {
                #lengths_used
                #body
            }
        };

        #safe_kernel
    }
}
