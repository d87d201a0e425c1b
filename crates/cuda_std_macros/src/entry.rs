//! The PTX entry: a kernel as seen by the device.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::{Ident, ItemFn};

use crate::instance::Instance;
use crate::options::{LaunchBounds, Options};
use crate::parameter::{Kind, Parameter};
use crate::view;

/// The parts of the PTX entry.
#[derive(Default)]
struct Entry {
    /// Its parameters, one for each of the PTX's.
    inputs: Vec<TokenStream>,
    /// Values for the body that are made from them.
    made: Vec<TokenStream>,
    /// Comments for `cuda_builder`, with the values to format them.
    markers: Vec<TokenStream>,
}

impl Entry {
    fn new(kernel: &Ident, parameters: &[Parameter]) -> Self {
        let mut entry = Self::default();
        for parameter in parameters {
            entry.add(kernel, parameter);
        }
        entry
    }

    fn add(&mut self, kernel: &Ident, parameter: &Parameter) {
        let Parameter {
            attributes,
            pattern,
            name,
            kind,
        } = parameter;
        match kind {
            Kind::Slice { element } => {
                let (address, length) = (
                    format_ident!("{name}_address"),
                    format_ident!("{name}_length"),
                );
                self.made.push(quote! {
                    // SAFETY: the launch passes a live slice's address and length.
                    let #pattern: &[#element] = unsafe { ::core::slice::from_raw_parts(#address, #length) };
                });
                self.inputs
                    .push(quote!(#(#attributes)* #address: *const #element));
                self.inputs.push(quote!(#length: usize));
            }
            Kind::Const { element } => {
                self.inputs
                    .push(quote!(#(#attributes)* #pattern: *const #element));
            }
            Kind::Mut { element } => {
                self.inputs
                    .push(quote!(#(#attributes)* #pattern: *mut #element));
            }
            Kind::Map { written } => {
                let index = self.inputs.len();
                let reference = reference_to_map(kernel, index);
                self.made
                    .push(quote!(#(#attributes)* let #pattern: #written = #reference;));
                let parameter = format_ident!("_{name}_in_parameters");
                self.inputs
                    .push(quote!(#parameter: ::cuda_std::tensor_map::InParameters));
                let marker = format!("// lockstep.tensor_map {kernel} {index}");
                self.markers.push(quote!(#marker));
            }
            Kind::Scalar { number } => self.inputs.push(quote!(#(#attributes)* #pattern: #number)),
            Kind::View(view) => {
                let address = view::address_of(name);
                let (of, value) = (view.body_type(), view.value(&address));
                let pattern = view.pattern(pattern);
                self.made
                    .push(quote!(#(#attributes)* let #pattern: #of = #value;));
                let pointer = view.pointer();
                self.inputs
                    .extend(pointer.map(|pointer| quote!(#address: #pointer)));
            }
        }
    }
}

/// The map that a PTX parameter holds: by the parameter's own address, because
/// a reference to a Rust variable would point to a copy in local memory.
fn reference_to_map(kernel: &Ident, index: usize) -> TokenStream {
    // rustc names PTX parameters after the entry and their position.
    let move_address = format!("mov.b64 own, {kernel}_param_{index};");
    let lines = [
        "{{",
        ".reg .b64 own;",
        &move_address,
        "cvta.param.u64 {address}, own;",
        "}}",
    ]
    .join("\n");
    quote! {{
        let address: u64;
        // SAFETY: takes an address, and the parameter there is a map.
        #[allow(unused_unsafe)]
        unsafe {
            ::core::arch::asm!(
                #lines,
                address = out(reg64) address,
                options(pure, nomem, nostack, preserves_flags)
            );
            ::cuda_std::tensor_map::in_parameters(address)
        }
    }}
}

/// The comments of an entry; their values are computed where the items of `scope` are
/// known.
fn markers(
    name: &Ident,
    mut of_parameters: Vec<TokenStream>,
    options: &Options,
    scope: &TokenStream,
) -> TokenStream {
    if options.uses_local_memory {
        let marker = format!("// lockstep.local_memory {name}");
        of_parameters.push(quote!(#marker));
    }
    of_parameters.extend(options.launch_bounds.as_ref().map(|bounds| {
        let LaunchBounds {
            max_threads,
            min_blocks,
        } = bounds;
        let marker = format!("// lockstep.launch_bounds {name} {{threads}} {{blocks}}");
        let min_blocks = min_blocks
            .as_ref()
            .map_or_else(|| quote!(0), |expr| quote!(#expr));
        quote! {
            #marker,
            threads = const { #scope #max_threads as u32 },
            blocks = const { #scope #min_blocks as u32 }
        }
    }));
    quote! {
        #(
            #[cfg(target_arch = "nvptx64")]
            ::core::arch::global_asm!(#of_parameters);
        )*
    }
}

/// The PTX entry of a function that is not generic.
pub fn of_function(function: &ItemFn, parameters: &[Parameter], options: &Options) -> TokenStream {
    let ItemFn {
        attrs, vis, sig, ..
    } = function;
    let (name, safety) = (&sig.ident, &sig.safety);
    let body = view::body(function, parameters);
    let Entry {
        inputs,
        made,
        markers: of_parameters,
    } = Entry::new(name, parameters);
    let markers = markers(name, of_parameters, options, &TokenStream::new());
    quote! {
        #[cfg(target_arch = "nvptx64")]
        #(#attrs)*
        #[unsafe(no_mangle)]
        #[allow(unused_braces)]
        #vis #safety extern "ptx-kernel" fn #name(#(#inputs),*) {
            #(#made)*
            #body
        }
        #markers
    }
}

/// The PTX entry of an instance, in whose `scope` the generic parameters are items.
pub fn of_instance(
    instance: &Instance,
    scope: &TokenStream,
    function: &ItemFn,
    parameters: &[Parameter],
    options: &Options,
) -> TokenStream {
    let Instance { name, of } = instance;
    let safety = &function.sig.safety;
    let Entry {
        inputs,
        made,
        markers: of_parameters,
    } = Entry::new(name, parameters);
    let markers = markers(name, of_parameters, options, scope);
    let arguments = parameters.iter().map(view::argument);
    let configured = function
        .attrs
        .iter()
        .filter(|attribute| attribute.path().is_ident("cfg"));
    quote! {
        #[cfg(target_arch = "nvptx64")]
        #(#configured)*
        #[allow(dead_code, non_camel_case_types, non_upper_case_globals)]
        const _: () = {
            #scope
            #[unsafe(no_mangle)]
            #[allow(unused_mut)]
            #safety extern "ptx-kernel" fn #name(#(#inputs),*) {
                #(#made)*
                // SAFETY: the launch's guarantees are those that the function needs.
                #[allow(unused_unsafe)]
                unsafe {
                    #of(#(#arguments),*)
                }
            }
        };
        #markers
    }
}
