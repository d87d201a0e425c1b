//! `cargo xtask clients [NAME…]`: third-party programs on the simulator's driver.
//!
//! Each client is fetched by its own package tools and runs its own tests, none of which are in
//! this repository. In reading order: [`catalogue`] lists the clients; [`fetch`] fetches them into
//! the cache; [`python`], [`rust`] and [`rust_cuda`] run their tests, under the time limit of
//! [`process`];
//! [`kept`] has the results of single files, so that a client can be run in parts;
//! [`known`] says why a test is known to fail; [`outcome`] is a client's result, kept in
//! `bench/results/sim/clients.json`; [`document`] makes the table of docs/clients.md from that.
//!
//! Left out: whether a client's tests are good ones. A test that also fails on a GPU is in the list
//! of known failures, with the reason.

mod catalogue;
mod document;
mod fetch;
mod kept;
mod known;
mod outcome;
mod process;
mod python;
mod run;
mod runner;
mod rust;
mod rust_cuda;

use anyhow::Context;
use catalogue::{Catalogue, Client, Runner};
use clap::Parser;
use clap::error::ErrorKind;
use known::Known;
use outcome::{Outcome, Results};
use run::Run;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::Duration;

/// Run third-party programs on the simulator's driver.
#[derive(Debug, Parser)]
#[command(bin_name = "cargo xtask clients")]
struct Options {
    /// Only these clients; by default all
    #[arg(value_name = "NAME")]
    names: Vec<String>,

    /// List the clients, and run nothing
    #[arg(long)]
    list: bool,

    /// Only the small part that runs with every commit; the results are shown, but not kept
    #[arg(long, conflicts_with = "check")]
    quick: bool,

    /// Look for what a GPU lets pass: races, unwritten reads, missing barriers
    #[arg(long)]
    check: bool,

    /// Begin no file of tests later than this many minutes after a client's first one
    #[arg(long, value_name = "N")]
    minutes: Option<u64>,

    /// Run only the files of tests whose names match, `*` for anything; results of the others from
    /// earlier runs are kept; with one name
    #[arg(long, value_name = "PATTERN", conflicts_with = "quick")]
    files: Option<glob::Pattern>,

    /// A checkout of the client's repository, which has its tests, if it cannot be cloned; with one
    /// name
    #[arg(long, value_name = "DIR")]
    source: Option<PathBuf>,

    /// Run nothing: update the tables of docs/clients.md from the results in the repository
    #[arg(long, conflicts_with_all = ["names", "list", "quick", "check", "files", "source"])]
    document: bool,
}

fn main() -> ExitCode {
    run(&Options::parse()).unwrap_or_else(|error| {
        match error.downcast::<clap::Error>() {
            // The command was wrong.
            Ok(usage) => usage.exit(),
            Err(error) => eprintln!("error: {error:#}"),
        }
        ExitCode::FAILURE
    })
}

fn usage(what: String) -> anyhow::Error {
    clap::Error::raw(ErrorKind::InvalidValue, what + "\n").into()
}

/// Runs the clients and keeps the results; fails if a test fails for an unknown reason.
fn run(options: &Options) -> anyhow::Result<ExitCode> {
    if options.document {
        return document::renew();
    }
    let catalogue = Catalogue::read()?;
    let clients = chosen(&catalogue, options)?;
    if options.list {
        print(|out| {
            clients.iter().try_for_each(|Client { entry, packages }| {
                let (name, version) = (&entry.name, &packages.version);
                writeln!(out, "{name:12} {version:8} {}", entry.about)
            })
        })?;
        return Ok(ExitCode::SUCCESS);
    }
    let known = Known::read()?;
    let driver = driver()?;
    let cache = std::env::var_os("LOCKSTEP_CACHE").context("there is no LOCKSTEP_CACHE")?;
    let cache = Path::new(&cache).join("clients");
    let run = Run {
        driver: &driver,
        cache: &cache,
        checkout: options.source.as_deref(),
        files: options.files.as_ref(),
        is_quick: options.quick,
        is_checked: options.check,
        patience: options.minutes.map(|n| Duration::from_secs(60 * n)),
    };
    let mut outcomes = Vec::new();
    let mut printed = Ok(());
    for client in clients {
        eprintln!("{} {}", client.entry.name, client.packages.version);
        let outcome = one(client, &run);
        // Results of hours are kept even if they cannot be shown.
        printed = printed.and(print(|out| write!(out, "{}", outcome.summary(&known))));
        outcomes.push(outcome);
    }
    let is_well = outcomes.iter().all(|o| o.is_explained(&known));
    if !options.quick {
        Results::renew(outcomes, options.check)?;
    }
    printed?;
    Ok(if is_well {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

/// Has `cargo xtask` build the simulator's driver; returns its folder.
fn driver() -> anyhow::Result<PathBuf> {
    let folder = run::repository().join("target/sim-driver");
    let xtask =
        std::env::var_os("LOCKSTEP_XTASK").context("start it with `cargo xtask clients`")?;
    let mut build = Command::new(xtask);
    build.arg("sim-driver").arg(&folder).stdout(Stdio::null());
    let built = build.status().context("`cargo xtask` cannot be run")?;
    anyhow::ensure!(built.success(), "there is no driver (see above)");
    Ok(folder)
}

/// Prints results. A closed pipe is not a failure.
fn print(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> anyhow::Result<()> {
    let mut out = io::stdout().lock();
    match write(&mut out).and_then(|()| out.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        printed => printed.context("the results could not be printed"),
    }
}

/// The clients that the user names.
fn chosen<'c>(catalogue: &'c Catalogue, options: &Options) -> anyhow::Result<Vec<Client<'c>>> {
    for (is_given, what) in [
        (options.source.is_some(), "--source is a checkout"),
        (options.files.is_some(), "--files are files"),
    ] {
        if is_given && options.names.len() != 1 {
            let one = "of one client: name that client, and no other";
            return Err(usage(format!("{what} {one}")));
        }
    }
    let find = |name: &String| {
        let mut clients = catalogue.clients();
        let found = clients.find(|client| client.entry.name == *name);
        found.ok_or_else(|| {
            usage(format!(
                "there is no client `{name}`; `cargo xtask clients --list` shows them all"
            ))
        })
    };
    if !options.names.is_empty() {
        return options.names.iter().map(find).collect();
    }
    let is_wanted = |client: &Client| !client.tests(options.quick).is_empty();
    Ok(catalogue.clients().filter(is_wanted).collect())
}

/// Fetches a client and runs its tests.
fn one(client: Client, run: &Run) -> Outcome {
    let is_crate = client.packages.cargo.is_some();
    let ran = fetch::ready(client, run).and_then(|home| match client.entry.runner {
        Runner::Usual if is_crate => rust::run(client, &home, run),
        Runner::Usual => python::run(client, &home, run),
        Runner::RustCudaExamples => rust_cuda::examples::run(client, &home, run),
        Runner::RustCudaCompileTests => rust_cuda::compile_tests::run(client, &home, run),
    });
    match ran {
        Ok(ran) => {
            let home = std::env::home_dir().unwrap_or_default();
            let own = [run.cache, &run::repository(), &home];
            Outcome::of(client, ran, &own.map(|path: &Path| path))
        }
        Err(reason) => {
            eprintln!("  {reason:#}");
            // A tool's output names this machine's folders; its first sentence does not.
            Outcome::not_run(client, reason.to_string())
        }
    }
}
