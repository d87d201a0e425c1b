//! Errors of the device's compiler, passed on to cargo by the host's compiler.
//!
//! A build script whose kernels do not compile leaves their errors in a folder (`cuda_builder`,
//! `device_errors.rs`, which describes its files). cargo has rustc write messages to its standard
//! error as JSON, a line each, and shows what it reads there, or gives it to the editor that has
//! called it. The first macro of a crate that finds the folder adds the device's messages to those
//! of the host's compiler, with the places that they have, and then makes this compilation fail.
//!
//! In the crate that has the kernels, errors that the host's compiler finds itself are left to it,
//! so that none appears twice.
//!
//! Left out: rust-analyzer's own expansion of macros. It has no such output; what it shows are the
//! messages that cargo gives it.

use proc_macro2::{Span, TokenStream};
use quote::quote;
use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::sync::Once;
use syn::{Error, LitStr, Result};

/// What a crate is told about its device errors.
pub struct Report {
    /// A sentence for people.
    summary: String,
    /// Whether there are messages that this crate has to pass on.
    is_to_fail: bool,
}

/// Passes the messages on, once per crate; `None` if the kernels compile.
fn report() -> Option<Report> {
    let folder = PathBuf::from(std::env::var_os("LOCKSTEP_DEVICE_ERRORS")?);
    let read = |file: &str| fs::read_to_string(folder.join(file)).unwrap_or_default();
    let arguments: Vec<_> = std::env::args().collect();
    let is_coloured = arguments
        .iter()
        .any(|argument| argument.contains("diagnostic-rendered-ansi"));
    let messages = read(if is_coloured { "coloured" } else { "plain" });
    let finds_both = has_the_kernels();
    let of_this_crate = |line: &str| {
        let (kind, message) = line.split_at_checked(1)?;
        (kind == "D" || !finds_both).then(|| format!("{message}\n"))
    };
    let passed_on: String = messages.lines().filter_map(of_this_crate).collect();
    if arguments
        .iter()
        .any(|argument| argument == "--error-format=json")
    {
        static FIRST: Once = Once::new();
        FIRST.call_once(|| {
            // If nobody reads them, the compilation still fails.
            let _ = std::io::stderr().write_all(passed_on.as_bytes());
        });
    }
    Some(Report {
        summary: read("summary"),
        is_to_fail: !passed_on.is_empty(),
    })
}

/// Whether this compilation is of the library that has the kernels.
fn has_the_kernels() -> bool {
    let of_kernels = std::env::var_os("LOCKSTEP_DEVICE_ERRORS_CRATE");
    // A program may have the library's name.
    let is_library = std::env::var_os("CARGO_BIN_NAME").is_none();
    of_kernels.is_some() && is_library && of_kernels == std::env::var_os("CARGO_CRATE_NAME")
}

/// An error at `name`, a kernel, if it is the crate's first and there are messages to pass on.
pub fn at_first_kernel(name: Span) -> TokenStream {
    static FIRST: Once = Once::new();
    let mut error = TokenStream::new();
    FIRST.call_once(|| {
        if let Some(report) = report().filter(|report| report.is_to_fail) {
            error = Error::new(name, report.summary).into_compile_error();
        }
    });
    error
}

/// The module of the PTX whose path is in a variable, `KERNELS_PTX` if `input` names none; or an
/// error.
pub fn embedded(input: TokenStream) -> Result<TokenStream> {
    let variable = match input.is_empty() {
        true => LitStr::new("KERNELS_PTX", Span::call_site()),
        false => syn::parse2(input)?,
    };
    let sources = LitStr::new(&format!("{}_SOURCES", variable.value()), variable.span());
    let module = |text, sources| {
        quote! {
            ::lockstep::PtxModule::of_text("kernels.ptx", #text).with_sources(#sources)
        }
    };
    let missing = format!(
        "`{}` is not set: the package needs a build script (build.rs) that has the kernels compiled \
         under this name, by `cuda_builder`",
        variable.value()
    );
    match report() {
        None => Ok(module(
            quote!(::core::include_str!(::core::env!(#variable, #missing))),
            quote!(::core::env!(#sources, #missing)),
        )),
        Some(report) if report.is_to_fail => Err(Error::new(Span::call_site(), report.summary)),
        // The host's compiler finds the errors itself; if not, the library cannot be linked.
        Some(_) => Ok(module(quote!(""), quote!(""))),
    }
}
