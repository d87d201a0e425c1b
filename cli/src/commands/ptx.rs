//! `lockstep ptx KERNEL`: a kernel's PTX from rustc, and the machine code that
//! ptxas makes from it.

use super::ending;
use super::exit::{Exit, Stop};
use super::tools::Tool;
use host::{kernels, ptx, registry};
use std::process::Command;

/// Options of `ptx`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The kernel's name, as `list` shows it, or that of a lesson with one kernel.
    kernel: String,

    /// Print the machine code instead, by ptxas and nvdisasm.
    #[arg(long)]
    sass: bool,

    /// The architecture of the machine code, such as sm_90; by default that of
    /// the PTX.
    #[arg(long, value_name = "SM", requires = "sass")]
    arch: Option<String>,
}

pub(super) fn run(args: &Args) -> Result<Exit, Stop> {
    let registered = registry::kernel(&args.kernel)
        .map_err(|error| Stop::Because(Exit::Usage, error.to_string()))?;
    let entry = registered.kernel.id;
    let module = kernels::module_with(entry, None).map_err(super::modules::no_kernels)?;
    let whole = module
        .text()
        .map_err(|error| super::modules::no_kernels(error.into()))?;
    let text = if args.sass {
        let arch = args.arch.as_deref().or(module.target_name());
        sass(whole, entry, arch.unwrap_or("sm_80"))?
    } else {
        let no_listing = || format!("the PTX of `{entry}` could not be extracted from its module");
        ptx::kernel_listing(whole, entry)
            .ok_or_else(|| Stop::Because(Exit::Failed, no_listing()))?
    };
    ending::print(Exit::Passed, |out| writeln!(out, "{text}"))
}

/// Assembles the module and disassembles the kernel.
fn sass(module: &str, entry: &str, arch: &str) -> Result<String, Stop> {
    let failed = |what: String| Stop::Because(Exit::Failed, what);
    let ptxas = Tool::Ptxas.find().map_err(Stop::nothing_ran)?;
    let nvdisasm = Tool::Nvdisasm.find().map_err(Stop::nothing_ran)?;

    let temporary =
        |error: std::io::Error| Stop::nothing_ran(format!("no temporary file: {error}"));
    let folder = tempfile::tempdir().map_err(temporary)?;
    let (source, cubin) = (
        folder.path().join("kernels.ptx"),
        folder.path().join("kernels.cubin"),
    );
    std::fs::write(&source, module).map_err(temporary)?;
    let run = |command: &mut Command| -> Result<Vec<u8>, Stop> {
        let program = command.get_program().to_string_lossy().into_owned();
        let output = command.output().map_err(|error| {
            Stop::nothing_ran(format!("{program} could not be started: {error}"))
        })?;
        if output.status.success() {
            return Ok(output.stdout);
        }
        let log = String::from_utf8_lossy(&output.stderr);
        Err(failed(format!(
            "{program} failed ({}):\n{}",
            output.status,
            log.trim()
        )))
    };
    run(Command::new(&ptxas)
        .arg(format!("-arch={arch}"))
        .arg("-o")
        .arg(&cubin)
        .arg(&source))?;
    let listing = run(Command::new(&nvdisasm).arg("-c").arg(&cubin))?;
    section(&String::from_utf8_lossy(&listing), entry).ok_or_else(|| {
        failed(format!(
            "{} shows no code for `{entry}`",
            nvdisasm.display()
        ))
    })
}

/// The code of one kernel in nvdisasm's listing.
fn section(listing: &str, entry: &str) -> Option<String> {
    let heading = format!(".text.{entry} ");
    let is_heading = |line: &str| line.starts_with("//---");
    let mut lines = listing
        .lines()
        .skip_while(|line| !(is_heading(line) && line.contains(&heading)));
    let first = lines.next()?;
    let rest = lines.take_while(|line| !is_heading(line));
    Some(
        std::iter::once(first)
            .chain(rest)
            .collect::<Vec<_>>()
            .join("\n")
            .trim_end()
            .to_owned(),
    )
}

#[cfg(test)]
mod tests {
    use super::section;

    #[test]
    fn cuts_one_kernel_out_of_a_listing() {
        let listing = "\
\t.headerflags
//--------------------- .text.one --------------------------
\tMOV ;
//--------------------- .text.one_more --------------------------
\tEXIT ;
";
        let one = section(listing, "one").expect("it is there");
        assert!(one.ends_with("\tMOV ;"), "{one}");
        assert!(section(listing, "two").is_none());
    }
}
