//! The views that a safe kernel takes, as written.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote};
use syn::{
    Error, Expr, GenericArgument, Ident, Pat, PathArguments, Result, Type, TypeArray, TypePath,
    parse_quote, spanned::Spanned,
};

/// The outside memory and the block's operations that a safe kernel's body may use.
pub enum View {
    /// `Global<[T; n]>`.
    Global(Extent),
    /// `Disjoint<[T; n]>`, and `Disjoint<[T; n], M>` with a map.
    Disjoint(Extent),
    /// `Atomic<[T; n]>`.
    Atomic(Extent),
    /// `Scattered<[T; n]>`.
    Scattered(Extent),
    /// `Filling<T, L>`: a tile in shared memory, for which the host passes nothing.
    Filling {
        /// `Filling<T, L, NUMBER>`.
        of: TypePath,
        element: Type,
        layout: Type,
    },
    /// `Block`: a token, for which the host passes nothing.
    Block { written: TypePath },
}

/// A view's type, and the array that it was written with.
pub struct Extent {
    /// `Disjoint<T, Length, M>`.
    view: TypePath,
    pub element: Type,
    /// `[n]`, or `[n_rows, n_columns]`.
    pub lengths: Vec<Expr>,
    /// `M`.
    map: Option<Type>,
}

/// Whether an array has a length that can be no constant.
fn has_variable_length(array: &TypeArray) -> bool {
    let is_variable = |length: &Expr| match length {
        Expr::Path(path) => path
            .path
            .get_ident()
            .is_some_and(|name| name.to_string().starts_with(char::is_lowercase)),
        _ => false,
    };
    let of_rows = match &*array.elem {
        Type::Array(rows) => has_variable_length(rows),
        _ => false,
    };
    is_variable(&array.len) || of_rows
}

impl View {
    /// The view named by a type, if it is one.
    pub fn of(written: &TypePath) -> Result<Option<Self>> {
        let Some(last) = written.path.segments.last() else {
            return Ok(None);
        };
        let arguments: Vec<Type> = match &last.arguments {
            PathArguments::AngleBracketed(arguments) => arguments
                .args
                .iter()
                .filter_map(|argument| match argument {
                    GenericArgument::Type(argument) => Some(argument.clone()),
                    _ => None,
                })
                .collect(),
            _ => Vec::new(),
        };
        Ok(Some(match (last.ident.to_string().as_str(), &*arguments) {
            ("Global", [shape]) => Self::Global(Extent::new(written, shape, None)?),
            ("Disjoint", [Type::Array(rows)]) if matches!(*rows.elem, Type::Array(_)) => {
                return Err(Error::new(
                    written.span(),
                    "say which part of the matrix a block writes: `Disjoint<[[T; n_columns]; n_rows], Tiles<SIDE>>`, \
                     or `RowPerBlock<THREADS>`",
                ));
            }
            ("Disjoint", [shape]) => Self::Disjoint(Extent::new(written, shape, None)?),
            ("Disjoint", [shape, map]) => Self::Disjoint(Extent::new(written, shape, Some(map))?),
            ("Atomic", [shape]) => Self::Atomic(Extent::new(written, shape, None)?),
            ("Scattered", [shape]) => Self::Scattered(Extent::new(written, shape, None)?),
            ("Filling", [element, layout]) => Self::Filling {
                of: written.clone(),
                element: element.clone(),
                layout: layout.clone(),
            },
            ("Block", []) => Self::Block {
                written: written.clone(),
            },
            ("Global" | "Disjoint" | "Atomic" | "Scattered" | "Filling", _) => {
                return Err(Error::new(
                    written.span(),
                    "write `Global<[T; n]>`, `Disjoint<[T; n]>`, `Atomic<[T; n]>`, `Scattered<[T; n]>` or \
                     `Filling<T, Layout>`",
                ));
            }
            // Only a view's length is a parameter.
            (_, [Type::Array(shape)]) if has_variable_length(shape) => {
                return Err(Error::new(
                    written.span(),
                    "a view is written by its own name, not one that `use … as` gives it: `Global<[T; n]>`, \
                     `Disjoint<[T; n]>`, `Atomic<[T; n]>` or `Scattered<[T; n]>`",
                ));
            }
            _ => return Ok(None),
        }))
    }

    /// Makes a tile the kernel's `number`th: each has a type of its own, so that no thread can
    /// exchange two.
    pub fn set_number(&mut self, number: u32) {
        if let Self::Filling {
            of,
            element,
            layout,
        } = self
            && let Some(last) = of.path.segments.last_mut()
        {
            last.arguments =
                PathArguments::AngleBracketed(parse_quote!(<#element, #layout, #number>));
        }
    }

    /// What it says about global memory, if it is a view of that.
    pub fn extent(&self) -> Option<&Extent> {
        match self {
            Self::Global(extent)
            | Self::Disjoint(extent)
            | Self::Atomic(extent)
            | Self::Scattered(extent) => Some(extent),
            Self::Filling { .. } | Self::Block { .. } => None,
        }
    }

    /// The type as the body sees it.
    pub fn body_type(&self) -> &TypePath {
        match self {
            Self::Global(extent)
            | Self::Disjoint(extent)
            | Self::Atomic(extent)
            | Self::Scattered(extent) => &extent.view,
            Self::Filling { of, .. } => of,
            Self::Block { written } => written,
        }
    }

    /// The pattern that binds the body's variable. A block's is hidden: the statements that
    /// may use it are rewritten ([`crate::view::body`]), and no other macro can name it.
    pub fn pattern(&self, written: &Pat) -> TokenStream {
        match self {
            Self::Block { .. } => hidden("block").to_token_stream(),
            _ => quote!(#written),
        }
    }

    /// The type of the PTX parameter, if there is one.
    pub fn pointer(&self) -> Option<TokenStream> {
        let element = &self.extent()?.element;
        Some(match self {
            Self::Global(_) => quote!(*const #element),
            _ => quote!(*mut #element),
        })
    }

    /// The type of the host's argument, if there is one.
    pub fn argument(&self) -> Option<TokenStream> {
        let element = &self.extent()?.element;
        Some(match self {
            Self::Global(_) => quote!(::cuda_std::launch::DevicePtr<#element>),
            _ => quote!(::cuda_std::launch::DevicePtrMut<#element>),
        })
    }

    /// The view itself, on the device; `address` is the PTX parameter.
    pub fn value(&self, address: &Ident) -> TokenStream {
        match self {
            Self::Global(extent) => {
                let (shape, element) = (extent.shape(), &extent.element);
                quote! {
                    // SAFETY: the launch was admitted with this memory and shape.
                    unsafe { ::cuda_std::view::Global::<#element, _>::new(#address, #shape) }
                }
            }
            Self::Disjoint(extent) => {
                let (shape, element, map) = (extent.shape(), &extent.element, extent.map());
                quote! {
                    // SAFETY: the launch was admitted with this memory, shape and geometry.
                    unsafe { ::cuda_std::view::Disjoint::<#element, _, #map>::new(#address, #shape) }
                }
            }
            Self::Atomic(extent) => {
                let (shape, element) = (extent.shape(), &extent.element);
                quote! {
                    // SAFETY: the launch was admitted with this memory and shape.
                    unsafe { ::cuda_std::view::Atomic::<#element, _>::new(#address, #shape) }
                }
            }
            Self::Scattered(extent) => {
                let (shape, element) = (extent.shape(), &extent.element);
                quote! {
                    // SAFETY: the launch was admitted with this memory and shape.
                    unsafe { ::cuda_std::view::Scattered::<#element, _>::new(#address, #shape) }
                }
            }
            Self::Filling {
                element, layout, ..
            } => quote! {{
                let base = ::cuda_std::shared_array![
                    #element;
                    <#layout as ::cuda_std::view::TileLayout>::N_ELEMENTS,
                    align = ::cuda_std::tile::TILE_ALIGN_BYTES
                ];
                // SAFETY: an array of its own, and the launch was admitted with this geometry.
                unsafe { ::cuda_std::view::Filling::<#element, #layout, _>::new(base) }
            }},
            Self::Block { .. } => quote! {
                // SAFETY: it is used only where all threads get, which was checked.
                unsafe { ::cuda_std::view::Block::new() }
            },
        }
    }
}

impl Extent {
    /// Of a view's type as written, and the array in it.
    fn new(written: &TypePath, shape: &Type, map: Option<&Type>) -> Result<Self> {
        let Type::Array(outer) = shape else {
            return Err(Error::new(
                shape.span(),
                "say how many elements there are: `[T; n]`, or `[[T; n_columns]; n_rows]`, with parameters of the kernel \
                 or constants",
            ));
        };
        let (element, lengths, shape): (_, _, Type) = match &*outer.elem {
            Type::Array(inner) => (
                (*inner.elem).clone(),
                vec![outer.len.clone(), inner.len.clone()],
                parse_quote!(::cuda_std::view::Rows),
            ),
            element => (
                element.clone(),
                vec![outer.len.clone()],
                parse_quote!(::cuda_std::view::Length),
            ),
        };
        let mut view = written.clone();
        if let Some(last) = view.path.segments.last_mut() {
            let map = map.iter();
            last.arguments =
                PathArguments::AngleBracketed(parse_quote!(<#element, #shape #(, #map)*>));
        }
        Ok(Self {
            view,
            element,
            lengths,
            map: map.cloned(),
        })
    }

    /// Which element of an output is a thread's own.
    pub fn map(&self) -> TokenStream {
        match &self.map {
            Some(map) => quote!(#map),
            None => quote!(::cuda_std::view::Linear),
        }
    }

    /// The value of the shape's type.
    pub fn shape(&self) -> TokenStream {
        let lengths = &self.lengths;
        match lengths.len() {
            1 => quote!(::cuda_std::view::Length::new(#(#lengths),*)),
            _ => quote!(::cuda_std::view::Rows::new(#(#lengths),*)),
        }
    }
}

/// A name that cannot occur in other code.
pub fn hidden(name: &str) -> Ident {
    Ident::new(name, Span::mixed_site())
}
