//! Formats and arguments that the device's `println!` does not take.
use cuda_std::{print, println};

struct Atom;

fn device() {
    let (x, n) = (1.5f32, 3u32);
    println!("{:?}", x);
    println!("{:b} {:^8}", n, n);
    println!("{} {}", n);
    println!("{}", n, x);
    print!(x);
    println!("{}", Atom);
    println!("{:x}", x);
}

fn main() {}
