//! Runs a kernel of a PTX file and prints what it wrote and what it counted.
//!
//! ```sh
//! cargo run --release -p ptx_sim --example run_ptx -- FILE.ptx \
//!     [KERNEL --grid 4 --block 256 --cluster 2 --shared 0 --check --schedules 100 ARGUMENT…]
//! ```
//!
//! Without a kernel's name it lists the file's kernels. Arguments are given in the kernel's
//! order: `u32=7` or `f32=0.5` is a value, `f32[1000]=count` a buffer that holds 0, 1, 2,
//! …; `zero` and `random` (from 0 to 1, or all bits) are the other fillings.
//!
//! `--schedules N` runs it again in N other orders of its blocks, warps and lanes, and
//! compares all buffers, bit by bit, with what the usual order leaves (sums of floats by
//! atomics depend on the order and may differ). `--schedule 7/warps/12` does so in one
//! order, named by the search.
//!
//! Try `simulator/ptx_sim/tests/nvcc/saxpy.ptx saxpy --grid 2 --block 128 i32=200 f32=0.5
//! f32[200]=count f32[200]=count`.

use std::error::Error;

use ptx_sim::schedule::{Found, search};
use ptx_sim::{Buffer, Call, Device, Dim, LaunchOptions, Module, Pod, Report, Schedule};

type Outcome<T> = Result<T, Box<dyn Error>>;

/// A parameter of the kernel, and the buffers that are shown afterwards.
enum Value {
    U32(u32),
    I32(i32),
    U64(u64),
    F32(f32),
    F64(f64),
    Ints(Buffer<i32>),
    Words(Buffer<u32>),
    Floats(Buffer<f32>),
    Doubles(Buffer<f64>),
}

fn main() {
    if let Err(error) = run(std::env::args().skip(1).collect()) {
        eprintln!("error: {error}");
        std::process::exit(1);
    }
}

/// A launch as it was asked for.
struct Asked {
    kernel: String,
    grid: Dim,
    block: Dim,
    cluster: Option<Dim>,
    shared: u32,
    check: bool,
    values: Vec<String>,
    /// Other orders to try, in addition to the usual one.
    n_schedules: u64,
    schedule: Option<Schedule>,
}

/// A launch that has ended.
struct Ended {
    device: Device,
    values: Vec<Value>,
    report: Report,
}

fn run(arguments: Vec<String>) -> Outcome<()> {
    let mut arguments = arguments.into_iter();
    let path = arguments.next().ok_or("give a PTX file")?;
    let text = std::fs::read_to_string(&path).map_err(|e| format!("{path}: {e}"))?;
    let module = Module::parse(&text).map_err(|e| format!("{path}: {e}"))?;
    let Some(kernel) = arguments.next() else {
        list(&module);
        return Ok(());
    };
    let asked = asked(kernel, arguments)?;
    let usual = launch(&module, &asked, None)?;
    show_all(&usual)?;
    if let Some(schedule) = asked.schedule {
        let what = differs(&module, &asked, &usual, schedule);
        return what.map_err(|what| format!("under schedule {schedule}: {what}").into());
    }
    let seeds = 0..asked.n_schedules;
    let found = search(seeds, |schedule| differs(&module, &asked, &usual, schedule));
    if let Some(Found {
        schedule, error, ..
    }) = found
    {
        return Err(format!(
            "under schedule {schedule}: {error}\nto run it again: `--schedule {schedule}` \
             instead of `--schedules {}`",
            asked.n_schedules
        )
        .into());
    }
    match asked.n_schedules {
        0 => {}
        n => println!("the same in {n} other orders"),
    }
    Ok(())
}

fn asked(kernel: String, mut arguments: impl Iterator<Item = String>) -> Outcome<Asked> {
    let mut asked = Asked {
        kernel,
        grid: Dim::from(1),
        block: Dim::from(32),
        cluster: None,
        shared: 0,
        check: false,
        values: Vec::new(),
        n_schedules: 0,
        schedule: None,
    };
    while let Some(argument) = arguments.next() {
        let mut next = || arguments.next().ok_or(format!("{argument} needs a value"));
        match argument.as_str() {
            "--grid" => asked.grid = dim(&next()?)?,
            "--block" => asked.block = dim(&next()?)?,
            "--cluster" => asked.cluster = Some(dim(&next()?)?),
            "--shared" => asked.shared = next()?.parse()?,
            "--check" => asked.check = true,
            "--schedules" => asked.n_schedules = next()?.parse()?,
            "--schedule" => asked.schedule = Some(next()?.parse()?),
            _ => asked.values.push(argument),
        }
    }
    Ok(asked)
}

/// Launches it on memory as it is at the beginning.
fn launch(module: &Module, asked: &Asked, schedule: Option<Schedule>) -> Outcome<Ended> {
    let device = Device::new();
    let loaded = device.load(module)?;
    let values = asked.values.iter().enumerate();
    let values = values.map(|(i, value)| parse_value(&device, value, i));
    let values = values.collect::<Outcome<Vec<Value>>>()?;
    let options = LaunchOptions {
        check: asked.check,
        count: schedule.is_none(),
        schedule,
        cluster: asked.cluster.map(|cluster| cluster.0),
        ..LaunchOptions::default()
    };
    let call = device.call(&loaded, &asked.kernel).options(options);
    let call = call.grid(asked.grid).block(asked.block);
    let call = call.dynamic_shared_bytes(asked.shared);
    let report = values.iter().fold(call, argument).run();
    let printed = device.printed_before_failure();
    printed.iter().for_each(|text| print!("{text}"));
    let report = report?;
    Ok(Ended {
        device,
        values,
        report,
    })
}

/// How a launch under a schedule differs from the usual one: it fails, or leaves other bits
/// in a buffer.
fn differs(
    module: &Module,
    asked: &Asked,
    usual: &Ended,
    schedule: Schedule,
) -> Result<(), String> {
    let ended = launch(module, asked, Some(schedule)).map_err(|e| e.to_string())?;
    for (i, values) in usual.values.iter().zip(&ended.values).enumerate() {
        let devices = (&usual.device, &ended.device);
        match values {
            (Value::Ints(a), Value::Ints(b)) => same(i, devices, (*a, *b), |x| x as u64)?,
            (Value::Words(a), Value::Words(b)) => same(i, devices, (*a, *b), u64::from)?,
            (Value::Floats(a), Value::Floats(b)) => {
                same(i, devices, (*a, *b), |x| x.to_bits().into())?;
            }
            (Value::Doubles(a), Value::Doubles(b)) => same(i, devices, (*a, *b), f64::to_bits)?,
            _ => {}
        }
    }
    Ok(())
}

/// Whether a buffer holds the same bits in the usual order and in another.
fn same<T: Pod + std::fmt::Debug>(
    place: usize,
    devices: (&Device, &Device),
    buffers: (Buffer<T>, Buffer<T>),
    bits: impl Fn(T) -> u64,
) -> Result<(), String> {
    let download = |device: &Device, buffer| device.download(buffer).map_err(|e| e.to_string());
    let usual = download(devices.0, buffers.0)?;
    let now = download(devices.1, buffers.1)?;
    let differ = |i: &usize| bits(usual[*i]) != bits(now[*i]);
    match (0..usual.len()).find(differ) {
        None => Ok(()),
        Some(i) => Err(format!(
            "parameter {place}, element {i}: {:?}, but in the usual order {:?}",
            now[i], usual[i]
        )),
    }
}

/// Prints what it printed, what it wrote and what it counted.
fn show_all(ended: &Ended) -> Outcome<()> {
    for text in &ended.report.printed {
        print!("{text}");
    }
    for (i, value) in ended.values.iter().enumerate() {
        match value {
            Value::Ints(buffer) => show(&ended.device, i, *buffer)?,
            Value::Words(buffer) => show(&ended.device, i, *buffer)?,
            Value::Floats(buffer) => show(&ended.device, i, *buffer)?,
            Value::Doubles(buffer) => show(&ended.device, i, *buffer)?,
            _ => {}
        }
    }
    show_counts(&ended.report);
    Ok(())
}

/// `4` or `4,2,1`.
fn dim(text: &str) -> Outcome<Dim> {
    let sizes: Vec<u32> = text.split(',').map(str::parse).collect::<Result<_, _>>()?;
    match sizes[..] {
        [x] => Ok(x.into()),
        [x, y] => Ok([x, y].into()),
        [x, y, z] => Ok([x, y, z].into()),
        _ => Err(format!("{text}: sizes are 4, 4,2 or 4,2,1").into()),
    }
}

fn parse_value(device: &Device, text: &str, place: usize) -> Outcome<Value> {
    let (ty, value) = text
        .split_once('=')
        .ok_or_else(|| format!("`{text}` is not TYPE=VALUE"))?;
    let label = format!("parameter {place}");
    let Some((ty, n)) = ty.trim_end_matches(']').split_once('[') else {
        return Ok(match ty {
            "u32" => Value::U32(value.parse()?),
            "i32" => Value::I32(value.parse()?),
            "u64" => Value::U64(value.parse()?),
            "f32" => Value::F32(value.parse()?),
            "f64" => Value::F64(value.parse()?),
            _ => return Err(format!("{ty}: types are u32, i32, u64, f32, f64").into()),
        });
    };
    let numbers = filling(value, n.parse()?)?;
    // Fractions are for floats; integers take random bits.
    let whole = |x: f64| if x.fract() == 0.0 { x } else { x * 4_294_967_296.0 } as u64;
    Ok(match ty {
        "i32" => Value::Ints(upload(device, &numbers, &label, |x| whole(x) as i32)?),
        "u32" => Value::Words(upload(device, &numbers, &label, |x| whole(x) as u32)?),
        "f32" => Value::Floats(upload(device, &numbers, &label, |x| x as f32)?),
        "f64" => Value::Doubles(upload(device, &numbers, &label, |x| x)?),
        _ => return Err(format!("{ty}: buffers are of u32, i32, f32 or f64").into()),
    })
}

fn filling(name: &str, n: usize) -> Outcome<Vec<f64>> {
    let mut state = 1_u64;
    let mut random = || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (state >> 32) as f64 / 4_294_967_296.0
    };
    Ok(match name {
        "zero" => vec![0.0; n],
        "count" => (0..n).map(|i| i as f64).collect(),
        "random" => (0..n).map(|_| random()).collect(),
        _ => return Err(format!("{name}: fillings are zero, count, random").into()),
    })
}

fn upload<T: Pod>(
    device: &Device,
    numbers: &[f64],
    label: &str,
    convert: impl Fn(f64) -> T,
) -> Outcome<Buffer<T>> {
    let data: Vec<T> = numbers.iter().map(|&x| convert(x)).collect();
    Ok(device.upload(&data, label)?)
}

fn argument<'a>(call: Call<'a>, value: &Value) -> Call<'a> {
    match value {
        Value::U32(x) => call.arg(*x),
        Value::I32(x) => call.arg(*x),
        Value::U64(x) => call.arg(*x),
        Value::F32(x) => call.arg(*x),
        Value::F64(x) => call.arg(*x),
        Value::Ints(buffer) => call.arg(*buffer),
        Value::Words(buffer) => call.arg(*buffer),
        Value::Floats(buffer) => call.arg(*buffer),
        Value::Doubles(buffer) => call.arg(*buffer),
    }
}

fn show<T: Pod + std::fmt::Debug>(device: &Device, place: usize, buffer: Buffer<T>) -> Outcome<()> {
    let first = device.download(buffer.slice(0..buffer.len().min(8)))?;
    let dots = if buffer.len() > 8 { " …" } else { "" };
    println!("parameter {place}: {first:?}{dots}");
    Ok(())
}

fn list(module: &Module) {
    for kernel in module.kernels() {
        let params: Vec<String> = kernel
            .params
            .iter()
            .map(|p| format!("{} bytes", p.size_bytes))
            .collect();
        println!(
            "{} ({}), {} bytes of static shared memory",
            kernel.name,
            params.join(", "),
            kernel.static_shared_bytes
        );
    }
    for unknown in module.unsupported() {
        println!(
            "not supported: line {}, column {}, {} ({})\n{}",
            unknown.ptx_line, unknown.ptx_column, unknown.opcode, unknown.reason, unknown.excerpt
        );
    }
}

fn show_counts(report: &Report) {
    for (name, value) in report.counts.entries() {
        if value != 0 {
            println!("{name:28} {value}");
        }
    }
    println!("\n line  executions  wavefronts (ideal)  sectors (ideal)  instruction");
    for i in report.instructions().iter().filter(|i| i.requests > 0) {
        println!(
            "{:5}  {:10}  {:10} {:7}  {:7} {:7}  {}",
            i.ptx_line,
            i.executions,
            i.wavefronts,
            i.ideal_wavefronts,
            i.sectors,
            i.ideal_sectors,
            i.opcode
        );
    }
}
