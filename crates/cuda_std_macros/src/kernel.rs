//! `#[kernel]`: one Rust function, seen by the device as a PTX entry and by the
//! host as a type; a generic function has several. The specifics of a safe one are
//! in `view`.

use proc_macro2::{Group, TokenStream};
use quote::quote;
use syn::parse::{ParseStream, Parser};
use syn::{
    Attribute, Error, FnArg, ItemFn, Result, ReturnType, Signature, Type, Visibility, parse_quote,
    spanned::Spanned,
};

use crate::instance::{Instance, is_generic, is_unsafe};
use crate::options::Options;
use crate::parameter::Parameter;
use crate::{device_errors, entry, host, view};

pub fn expand(attribute: TokenStream, item: TokenStream) -> Result<TokenStream> {
    let options: Options = syn::parse2(attribute)?;
    let mut function: ItemFn =
        syn::parse2(item.clone()).map_err(|error| not_a_function(item, &error))?;
    if is_unsafe(&function) {
        // The guarantees of the launch cover every access and every barrier of the body.
        let allow = parse_quote!(#[allow(unsafe_op_in_unsafe_fn)]);
        function.attrs.insert(0, allow);
    }
    let mut errors = check_signature(&function, &options.instances);
    let mut parameters = Vec::new();
    for input in &function.sig.inputs {
        match Parameter::new(input) {
            Ok(parameter) => parameters.push(parameter),
            Err(error) => errors.push(error),
        }
    }
    view::number_tiles(&mut parameters);
    if errors.is_empty() {
        errors.extend(view::check(&function, &parameters, options.uses_pdl));
    }
    if let Some(first) = errors.into_iter().reduce(|mut all, next| {
        all.combine(next);
        all
    }) {
        return Err(first);
    }
    let errors = device_errors::at_first_kernel(function.sig.ident.span());
    if is_generic(&function.sig.generics) {
        let generic = generic(&function, &parameters, &options)?;
        return Ok(quote! { #errors #generic });
    }
    let device = entry::of_function(&function, &parameters, &options);
    let host = host::of_function(&function, &parameters, &options);
    Ok(quote! { #errors #device #host })
}

/// What to say of something that is not a function, or of a function whose body has a mistake that the
/// compiler has told already.
fn not_a_function(item: TokenStream, error: &Error) -> Error {
    let has_body = |input: ParseStream<'_>| {
        Attribute::parse_outer(input)?;
        input.parse::<Visibility>()?;
        input.parse::<Signature>()?;
        input.parse::<Group>()
    };
    let message = match has_body.parse2(item) {
        Ok(_) => format!("#[kernel] cannot read the function's body: {error}"),
        Err(_) => {
            format!("#[kernel] goes on a function with a body (`fn name(…) {{ … }}`): {error}")
        }
    };
    Error::new(error.span(), message)
}

/// A generic function, which is kept as it is, and its instances.
fn generic(function: &ItemFn, parameters: &[Parameter], options: &Options) -> Result<TokenStream> {
    let mut own = function.clone();
    own.attrs.push(parse_quote!(#[inline(always)]));
    own.attrs
        .push(parse_quote!(#[allow(dead_code, unused_braces, clippy::too_many_arguments)]));
    own.sig.inputs = view::inputs(function, parameters)
        .into_iter()
        .map(|input| -> FnArg { parse_quote!(#input) })
        .collect();
    let body = host::checked_body(function, parameters);
    own.block = parse_quote!({ #body });
    let mut expanded = quote!(#own);
    for instance in &options.instances {
        let scope = instance.scope(function)?;
        expanded.extend(entry::of_instance(
            instance, &scope, function, parameters, options,
        ));
        expanded.extend(host::of_instance(
            instance, &scope, function, parameters, options,
        ));
    }
    Ok(expanded)
}

/// Errors for everything that a kernel's signature may not contain.
pub fn check_signature(function: &ItemFn, instances: &[Instance]) -> Vec<Error> {
    let signature = &function.sig;
    let mut errors = Vec::new();
    let mut refuse = |span, message: &str| errors.push(Error::new(span, message));

    let names = std::iter::once(&signature.ident);
    for name in names.chain(instances.iter().map(|instance| &instance.name)) {
        if !name.to_string().is_ascii() {
            refuse(
                name.span(),
                "a kernel's name is also that of its PTX entry, which has only ASCII letters, digits and `_`",
            );
        }
    }
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
    for lifetime in signature.generics.lifetimes() {
        refuse(
            lifetime.span(),
            "a kernel cannot have lifetime parameters: leave them out, `&[T]` needs none",
        );
    }
    let is_generic = is_generic(&signature.generics);
    if let (true, []) = (is_generic, instances) {
        let name = &signature.ident;
        refuse(
            signature.generics.span(),
            &format!(
                "a generic kernel says which PTX entries are made of it, each with a name and all parameters: \
                 `#[kernel(instances({name}_a = {name}::<…>, {name}_b = {name}::<…>))]`"
            ),
        );
    }
    if let (false, [first, ..]) = (is_generic, instances) {
        refuse(
            first.name.span(),
            "this function has no type or const parameters, so there are no instances of it",
        );
    }
    if let (false, Some(clause)) = (is_generic, &signature.generics.where_clause) {
        refuse(
            clause.where_token.span,
            "a kernel cannot have a `where` clause, unless it is generic",
        );
    }
    errors
}
