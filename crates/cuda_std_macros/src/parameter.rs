//! A kernel's parameters, one by one.

pub mod view;

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Attribute, Error, FnArg, Ident, Pat, PointerMutability, Result, Type, spanned::Spanned};

use view::View;

/// How a parameter is passed from the host to the entry.
pub enum Kind {
    /// `&[T]`: as address and length.
    Slice { element: Type },
    /// `*const T`.
    Const { element: Type },
    /// `*mut T`.
    Mut { element: Type },
    /// `&TensorMap`, which stays where the launch put it.
    Map { written: Type },
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
    pub fn new(input: &'a FnArg) -> Result<Self> {
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
    pub fn argument(&self) -> Option<(String, TokenStream)> {
        let argument = match &self.kind {
            Kind::Slice { element } => quote!(::cuda_std::launch::DeviceSlice<#element>),
            Kind::Const { element } => quote!(::cuda_std::launch::DevicePtr<#element>),
            Kind::Mut { element } => quote!(::cuda_std::launch::DevicePtrMut<#element>),
            Kind::Map { .. } => quote!(::cuda_std::launch::DeviceTensorMap),
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
                (target, None) if is_tensor_map(target) => Ok(Self::Map {
                    written: written.clone(),
                }),
                _ => Err(Error::new(
                    written.span(),
                    "a kernel cannot take a reference, except to a slice (`&[T]`) or a tensor map (`&TensorMap`): pass \
                     the value, or a pointer (`*const T`, `*mut T`)",
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
                Ok(if matches!(pointer.mutability, PointerMutability::Mut(_)) {
                    Self::Mut { element }
                } else {
                    Self::Const { element }
                })
            }
            Type::Path(_) if is_tensor_map(written) => Err(Error::new(
                written.span(),
                "a kernel takes a tensor map by reference (`&TensorMap`): TMA reads it where the launch put \
                 it, not from a copy",
            )),
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
                "a kernel takes slices (`&[T]`), pointers (`*const T`, `*mut T`), numbers, structures and tensor maps \
                 (`&TensorMap`); pass anything else through a pointer",
            )),
        }
    }
}

/// Whether a type is named like a tensor map; the expansion names `cuda_std`'s own, so that
/// another type of that name does not compile.
fn is_tensor_map(written: &Type) -> bool {
    let Type::Path(path) = written else {
        return false;
    };
    let last = path.path.segments.last();
    last.is_some_and(|last| last.ident == "TensorMap" && last.arguments.is_none())
}
