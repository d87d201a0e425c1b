//! The program `lockstep`. Everything is in the library.

fn main() -> std::process::ExitCode {
    cli::commands::main()
}
