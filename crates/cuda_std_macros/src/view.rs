//! What `#[kernel]` does for a safe `fn`: its parameters are numbers and the views of
//! `cuda_std::view`, which it makes from addresses for the device, and checks for the
//! host.
//!
//! A view's shape is written as an array type whose lengths are other parameters:
//! `Global<[f32; n]>` becomes `Global<f32, Length>`. Types are known by their names here;
//! the expansion names `cuda_std`'s own, so that another type of that name does not
//! compile.

use proc_macro2::{Span, TokenStream, TokenTree};
use quote::{ToTokens, format_ident, quote};
use syn::{
    Block, Error, Expr, FnArg, GenericArgument, Ident, ItemFn, Local, Pat, PathArguments, Result,
    Stmt, Type, TypePath, parse_quote, spanned::Spanned,
};

use crate::kernel::{Kind, Parameter};

/// What a safe kernel's body may use of the outside.
pub enum View {
    /// `Global<[T; n]>`, and `Global<[T; n], A>` with the way it is accessed.
    Global(Extent),
    /// `Disjoint<[T; n], M>`.
    Disjoint(Extent),
    /// `Filling<T, L>`: a tile in shared memory, for which the host passes nothing.
    Filling {
        written: TypePath,
        element: Type,
        layout: Type,
    },
    /// `Barrier`: a token, for which the host passes nothing.
    Barrier { written: TypePath },
}

/// A view's type, and the array that it was written with.
pub struct Extent {
    /// `Global<T, Length, A>`.
    view: TypePath,
    element: Type,
    /// `[n]`, or `[n_rows, n_columns]`.
    lengths: Vec<Expr>,
    /// `M` or `A`.
    manner: Option<Type>,
}

impl View {
    /// The view that a type is by its name.
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
            ("Global", [shape, access]) => Self::Global(Extent::new(written, shape, Some(access))?),
            ("Disjoint", [shape, map]) => Self::Disjoint(Extent::new(written, shape, Some(map))?),
            ("Filling", [element, layout]) => Self::Filling {
                written: written.clone(),
                element: element.clone(),
                layout: layout.clone(),
            },
            ("Barrier", []) => Self::Barrier {
                written: written.clone(),
            },
            ("Global" | "Disjoint" | "Filling", _) => {
                return Err(Error::new(
                    written.span(),
                    "write `Global<[T; n]>`, `Disjoint<[T; n], Map>` or `Filling<T, Layout>`",
                ));
            }
            _ => return Ok(None),
        }))
    }

    /// The type as the body sees it.
    pub fn body_type(&self) -> &TypePath {
        match self {
            Self::Global(extent) | Self::Disjoint(extent) => &extent.view,
            Self::Filling { written, .. } | Self::Barrier { written } => written,
        }
    }

    /// What the body's variable is bound by. A barrier's is hidden: the one statement that may
    /// use it is written anew ([`body`]), and no other macro can name it.
    pub fn pattern(&self, written: &Pat) -> TokenStream {
        match self {
            Self::Barrier { .. } => hidden("barrier").to_token_stream(),
            _ => quote!(#written),
        }
    }

    /// The type of the PTX parameter, if there is one.
    pub fn pointer(&self) -> Option<TokenStream> {
        match self {
            Self::Global(Extent { element, .. }) => Some(quote!(*const #element)),
            Self::Disjoint(Extent { element, .. }) => Some(quote!(*mut #element)),
            Self::Filling { .. } | Self::Barrier { .. } => None,
        }
    }

    /// The type of the host's argument, if there is one.
    pub fn argument(&self) -> Option<TokenStream> {
        match self {
            Self::Global(Extent { element, .. }) => {
                Some(quote!(::cuda_std::launch::DevicePtr<#element>))
            }
            Self::Disjoint(Extent { element, .. }) => {
                Some(quote!(::cuda_std::launch::DevicePtrMut<#element>))
            }
            Self::Filling { .. } | Self::Barrier { .. } => None,
        }
    }

    /// The view itself, on the device; `address` is the PTX parameter.
    pub fn value(&self, address: &Ident) -> TokenStream {
        match self {
            Self::Global(extent) => {
                let (shape, element) = (extent.shape(), &extent.element);
                quote! {
                    // SAFETY: the launch was admitted with this memory and shape.
                    unsafe { ::cuda_std::view::Global::<#element, _, _>::new(#address, #shape) }
                }
            }
            Self::Disjoint(extent) => {
                let (shape, element) = (extent.shape(), &extent.element);
                quote! {
                    // SAFETY: the launch was admitted with this memory, shape and geometry.
                    unsafe { ::cuda_std::view::Disjoint::<#element, _, _>::new(#address, #shape) }
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
                unsafe { ::cuda_std::view::Filling::<#element, #layout>::new(base) }
            }},
            Self::Barrier { .. } => quote! {
                // SAFETY: it is spent at the outermost level of the body, which was checked.
                unsafe { ::cuda_std::view::Barrier::new() }
            },
        }
    }
}

impl Extent {
    /// Of a view's type as written, and the array in it.
    fn new(written: &TypePath, shape: &Type, manner: Option<&Type>) -> Result<Self> {
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
            let manner = manner.iter();
            last.arguments =
                PathArguments::AngleBracketed(parse_quote!(<#element, #shape #(, #manner)*>));
        }
        Ok(Self {
            view,
            element,
            lengths,
            manner: manner.cloned(),
        })
    }

    fn shape(&self) -> TokenStream {
        let lengths = &self.lengths;
        match lengths.len() {
            1 => quote!(::cuda_std::view::Length::new(#(#lengths),*)),
            _ => quote!(::cuda_std::view::Rows::new(#(#lengths),*)),
        }
    }
}

/// Checks what a kernel takes: addresses if it is `unsafe`, views if it is not; and how a
/// safe one's body meets its barriers.
pub fn check(function: &ItemFn, parameters: &[Parameter], is_early: bool) -> Vec<Error> {
    let mut errors = Vec::new();
    if function.sig.unsafety.is_some() {
        for (parameter, input) in parameters.iter().zip(&function.sig.inputs) {
            if view_of(parameter).is_some() {
                errors.push(Error::new(
                    input.span(),
                    "a kernel with views is a safe `fn`: leave out `unsafe`, or take pointers and slices",
                ));
            }
        }
        return errors;
    }
    if is_early {
        errors.push(Error::new(
            function.sig.fn_token.span,
            "an early kernel is an `unsafe fn`: its inputs may still be written when it starts",
        ));
    }
    errors.extend(check_one_tile(parameters));
    for (parameter, input) in parameters.iter().zip(&function.sig.inputs) {
        match view_of(parameter) {
            Some(View::Global(extent) | View::Disjoint(extent)) => {
                let lengths = extent.lengths.iter();
                errors.extend(lengths.filter_map(|length| check_length(length, parameters).err()));
            }
            Some(View::Barrier { .. }) => {
                errors.extend(check_barrier(&function.block, &parameter.name).err());
            }
            Some(View::Filling { .. }) => {}
            None if matches!(parameter.kind, Kind::Scalar { .. }) => {}
            None => errors.push(Error::new(
                input.span(),
                "a kernel with this parameter is an `unsafe fn`: nothing checks that the memory it is launched with \
                 fits its grid; say what must hold under `# Safety`, or take `Global<[T; n]>` and \
                 `Disjoint<[T; n], Map>` (`cuda_std::view`)",
            )),
        }
    }
    errors
}

fn view_of<'p>(parameter: &'p Parameter) -> Option<&'p View> {
    match &parameter.kind {
        Kind::View(view) => Some(view),
        _ => None,
    }
}

/// There is one tile and one barrier: of two, some threads could exchange them, and read
/// what others still fill.
fn check_one_tile(parameters: &[Parameter]) -> Vec<Error> {
    let second = |is_such: fn(&View) -> bool| {
        parameters
            .iter()
            .filter(move |parameter| view_of(parameter).is_some_and(is_such))
            .nth(1)
    };
    let tile = second(|view| matches!(view, View::Filling { .. }));
    let barrier = second(|view| matches!(view, View::Barrier { .. }));
    let refused = |parameter: &Parameter| {
        Error::new(
            parameter.name.span(),
            "a safe kernel has one tile and one barrier: take pointers and `unsafe` for more",
        )
    };
    tile.into_iter().chain(barrier).map(refused).collect()
}

/// A length is a number among the parameters, or a constant.
fn check_length(length: &Expr, parameters: &[Parameter]) -> Result<()> {
    let is_number = |name: &Ident| {
        parameters.iter().any(|parameter| {
            parameter.name == *name && matches!(parameter.kind, Kind::Scalar { .. })
        })
    };
    match length {
        Expr::Lit(_) => Ok(()),
        Expr::Path(path)
            if path.path.get_ident().is_none_or(|name| {
                is_number(name) || name.to_string().chars().all(|c| !c.is_lowercase())
            }) =>
        {
            Ok(())
        }
        _ => Err(Error::new(
            length.span(),
            "a view's length is a parameter of the kernel (a `u32`) or a constant",
        )),
    }
}

/// The token is named once, in `let … = tile.sync(barrier);` at the outermost level, and
/// nothing that is visible leaves the body before that.
fn check_barrier(body: &Block, name: &Ident) -> Result<()> {
    let mentions: Vec<usize> = body
        .stmts
        .iter()
        .map(|statement| {
            count(quote!(#statement), &|token| {
                is_word(token, &name.to_string())
            })
        })
        .collect();
    let place = mentions.iter().position(|&n| n > 0).unwrap_or_default();
    let is_sync = |statement| sync_of(statement, name).is_some();
    if mentions.iter().sum::<usize>() != 1 || !body.stmts.get(place).is_some_and(is_sync) {
        return Err(Error::new(
            name.span(),
            "a barrier is used once, where all threads of the block come by: in a statement `let … = tile.sync(barrier);` \
             that is in no other one",
        ));
    }
    for statement in &body.stmts[..place] {
        let leaves = |token: &TokenTree| is_word(token, "return") || is_punct(token, '?');
        if count(quote!(#statement), &leaves) > 0 {
            return Err(Error::new(
                statement.span(),
                "a thread may not leave the kernel before its barrier, where the others wait for what it puts: use \
                 `if` around what it leaves out",
            ));
        }
    }
    for statement in &body.stmts {
        let waits = |token: &TokenTree| {
            ["", "_count", "_and", "_or"]
                .iter()
                .any(|end| is_word(token, &format!("sync_threads{end}")))
        };
        if count(quote!(#statement), &waits) > 0 {
            return Err(Error::new(
                statement.span(),
                "in a kernel with a `Barrier` the block's threads wait for each other there alone",
            ));
        }
    }
    Ok(())
}

/// The tile of `let … = tile.sync(barrier);`.
fn sync_of<'s>(statement: &'s Stmt, barrier: &Ident) -> Option<(&'s Local, &'s Expr)> {
    let Stmt::Local(local) = statement else {
        return None;
    };
    let init = local.init.as_ref().filter(|init| init.diverge.is_none())?;
    let Expr::MethodCall(call) = &*init.expr else {
        return None;
    };
    let is_barrier =
        |argument: &Expr| matches!(argument, Expr::Path(path) if path.path.is_ident(barrier));
    let is_sync = call.method == "sync"
        && matches!(&*call.receiver, Expr::Path(_))
        && call.args.len() == 1
        && call.args.iter().all(is_barrier);
    is_sync.then_some((local, &*call.receiver))
}

/// How many tokens are such, in groups too.
fn count(tokens: TokenStream, is_such: &dyn Fn(&TokenTree) -> bool) -> usize {
    tokens
        .into_iter()
        .map(|token| match &token {
            TokenTree::Group(group) => count(group.stream(), is_such),
            token => usize::from(is_such(token)),
        })
        .sum()
}

fn is_word(token: &TokenTree, word: &str) -> bool {
    matches!(token, TokenTree::Ident(ident) if ident == word)
}

fn is_punct(token: &TokenTree, c: char) -> bool {
    matches!(token, TokenTree::Punct(punct) if punct.as_char() == c)
}

/// The body, in which `tile.sync(barrier)` is the library's function of that name, whatever
/// else the tile may have become.
pub fn body(function: &ItemFn, parameters: &[Parameter]) -> Block {
    let mut body = (*function.block).clone();
    for parameter in parameters {
        let Some(View::Barrier { .. }) = view_of(parameter) else {
            continue;
        };
        let barrier = &parameter.name;
        for statement in &mut body.stmts {
            let Some((local, tile)) = sync_of(statement, barrier) else {
                continue;
            };
            let mut local = local.clone();
            if let Some(init) = &mut local.init {
                let token = hidden("barrier");
                *init.expr = parse_quote!(::cuda_std::view::Filling::sync(#tile, #token));
            }
            *statement = Stmt::Local(local);
        }
    }
    body
}

/// The parameters as the body sees them.
pub fn inputs(function: &ItemFn, parameters: &[Parameter]) -> Vec<TokenStream> {
    let seen = |(input, parameter): (&FnArg, &Parameter)| match &parameter.kind {
        Kind::View(view) => {
            let (attributes, of) = (parameter.attributes, view.body_type());
            let pattern = view.pattern(parameter.pattern);
            quote!(#(#attributes)* #pattern: #of)
        }
        _ => quote!(#input),
    };
    function
        .sig
        .inputs
        .iter()
        .zip(parameters)
        .map(seen)
        .collect()
}

/// Statements that use the numbers of the views' shapes, as the device's views do.
pub fn lengths_used(parameters: &[Parameter]) -> TokenStream {
    let lengths = parameters
        .iter()
        .filter_map(|parameter| match view_of(parameter)? {
            View::Global(extent) | View::Disjoint(extent) => Some(&extent.lengths),
            View::Filling { .. } | View::Barrier { .. } => None,
        })
        .flatten();
    quote!(#(let _: u32 = #lengths;)*)
}

/// `SafeKernel` for the host's unit struct.
pub fn safe_kernel(name: &Ident, parameters: &[Parameter]) -> TokenStream {
    let launch = hidden("launch");
    let mut types = Vec::new();
    let mut names = Vec::new();
    let mut checks = Vec::new();
    for parameter in parameters {
        let name = &parameter.name;
        let text = name.to_string();
        let geometry = |of: TokenStream| {
            quote! {
                #of::admits(#launch).map_err(::cuda_std::launch::Unfit::geometry(#text, #launch))?;
            }
        };
        match view_of(parameter) {
            Some(View::Global(extent)) => {
                let element = &extent.element;
                let access = match &extent.manner {
                    Some(access) => quote!(#access),
                    None => quote!(::cuda_std::view::Single),
                };
                let align = quote!(<#access as ::cuda_std::view::Access>::ALIGN_ELEMENTS);
                types.push(quote!(::cuda_std::launch::Input<'a, #element>));
                names.push(name);
                checks.push(extent.admitted(name, &align));
            }
            Some(View::Disjoint(extent)) => {
                let (element, map) = (&extent.element, &extent.manner);
                let map = quote!(<#map as ::cuda_std::view::Map>);
                types.push(quote!(::cuda_std::launch::Output<'a, #element>));
                names.push(name);
                checks.push(geometry(map.clone()));
                checks.push(extent.admitted(name, &quote!(#map::ALIGN_ELEMENTS)));
            }
            Some(View::Filling {
                element, layout, ..
            }) => checks.push(geometry(
                quote!(::cuda_std::view::Filling::<#element, #layout>),
            )),
            Some(View::Barrier { .. }) => {}
            // A number: `check` has refused everything else.
            None => {
                if let Kind::Scalar { number } = &parameter.kind {
                    types.push(quote!(#number));
                    names.push(name);
                }
            }
        }
    }
    quote! {
        // SAFETY: what the body can reach of the outside are its parameters, and these are
        // checked.
        #[cfg(not(target_arch = "nvptx64"))]
        unsafe impl ::cuda_std::launch::SafeKernel for #name {
            type Views<'a> = (#(#types,)*);

            fn admit(
                #launch: ::cuda_std::view::Geometry,
                (#(#names,)*): Self::Views<'_>,
            ) -> ::core::result::Result<Self::Args, ::cuda_std::launch::Unfit> {
                #(#checks)*
                ::core::result::Result::Ok((#(#names,)*))
            }
        }
    }
}

impl Extent {
    /// The statement that makes an address of the argument `name`.
    fn admitted(&self, name: &Ident, align_elements: &TokenStream) -> TokenStream {
        let (text, shape) = (name.to_string(), self.shape());
        quote! {
            let #name = #name.admit(&::cuda_std::launch::Wanted {
                parameter: #text,
                n_elements: ::cuda_std::view::Shape::n_elements(#shape),
                align_elements: #align_elements,
            })?;
        }
    }
}

/// A name that nobody else's code can have.
fn hidden(name: &str) -> Ident {
    Ident::new(name, Span::mixed_site())
}

/// The PTX parameter of a view.
pub fn address_of(name: &Ident) -> Ident {
    format_ident!("{name}_address")
}
