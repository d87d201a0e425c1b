//! `cargo xtask dap`: the debug adapter that an editor starts, on standard input and output.

use std::process::ExitCode;

use debugger::dap::adapter;
use debugger::front;

const HELP: &str = "\
A debug adapter: an editor starts it, and speaks the Debug Adapter Protocol with it by its standard input and
output. How to set an editor up: docs/debugging.md";

fn main() -> ExitCode {
    match std::env::args().nth(1).as_deref() {
        None => {}
        Some("--help" | "-h") => {
            println!("{HELP}");
            return ExitCode::SUCCESS;
        }
        Some(other) => {
            eprintln!("error: `{other}` is not an option: the adapter has none but --help");
            return ExitCode::from(2);
        }
    }
    match adapter::serve(std::io::stdin(), std::io::stdout(), front::to_adapter) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}
