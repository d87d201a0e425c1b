//! Kernels that print.

use cuda_std::prelude::*;
use cuda_std::print::{Print, form};
use cuda_std::{print, println};

/// A line per thread.
#[kernel]
pub unsafe fn prints_a_line(x: &[f32]) {
    let i = thread::index_1d();
    println!("thread {} has {:.2}", i, x[i as usize]);
}

/// Every form of number.
#[kernel]
pub unsafe fn prints_numbers(small: i8, n: i32, word: u32, long: i64, wide: u64, x: f32, y: f64) {
    println!("{small} {n} {word} {long} {wide} {x} {y}");
    println!("{small:x} {n:x} {word:X} {long:#x} {wide:#018x} {:o}", word);
    println!("{n:6}|{n:<6}|{n:06}|{n:>6}|{n:+}|{x:+.1}|{y:+}");
    println!("{x:.0} {y:10.3} {y:<10.3}| {y:e} {y:.1E}");
    println!("{0} {1} {0}", u8::MAX, i16::MIN);
    println!("{} {}", usize::MAX, isize::MIN);
    println!("100% {{{a}}}", a = n + 1);
}

/// Text, truth and addresses.
#[kernel]
pub unsafe fn prints_text(text: *const u8, length: u32, n: u32) {
    let is_true = n == 1;
    let bytes = core::slice::from_raw_parts(text, length as usize);
    let text = core::str::from_utf8_unchecked(bytes);
    println!("{is_true} {} {}", !is_true, 'ß');
    println!("[{text:6}][{text:>6}][{text:.2}] {}", c"C");
    let long = [b'x'; 300];
    println!("{}", core::str::from_utf8_unchecked(&long));
    println!("{:p}", bytes.as_ptr());
    print!("no ");
    print!("end");
    println!();
}

fn shown<T: Print<form::Standard>>(value: T) {
    println!("<{}>", value);
}

/// Through a generic function, a closure and references.
#[kernel]
pub unsafe fn prints_generic(values: &[i32]) {
    shown(1.5f32);
    shown("text");
    values
        .iter()
        .for_each(|value| println!("{value} {value:3}"));
}
