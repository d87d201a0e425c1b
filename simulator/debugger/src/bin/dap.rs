//! `cargo xtask dap`: the debug adapter that an editor starts, on standard input and output.

use std::process::ExitCode;

use debugger::dap::adapter;
use debugger::front;

fn main() -> ExitCode {
    match adapter::serve(std::io::stdin(), std::io::stdout(), front::to_adapter) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}
