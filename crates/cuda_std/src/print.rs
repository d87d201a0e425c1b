//! The parts of [`print!`](crate::print!) and [`println!`](crate::println!): the conversion letters
//! of C's `printf` for each type, and the packing of its values.
//!
//! A kernel need not name anything here, except [`Print`] as the bound of a generic
//! function that prints.

use core::ffi::{CStr, c_void};

use crate::gpu_only;

/// The ways in which a value can be written: the parameters of [`Print`].
pub mod form {
    macro_rules! forms {
        ($($placeholder:literal $name:ident;)*) => { $(
            #[doc = concat!("`", $placeholder, "`")]
            #[derive(Clone, Copy, Debug)]
            pub enum $name {}
        )* };
    }
    forms! {
        "{}" Standard;
        "{:.3}" Precise;
        "{:+}" Signed;
        "{:+.3}" SignedPrecise;
        "{:x}" LowerHex;
        "{:X}" UpperHex;
        "{:o}" Octal;
        "{:e}" LowerExp;
        "{:E}" UpperExp;
        "{:p}" Pointer;
    }
}

/// A type whose values a kernel can print in a certain way.
#[diagnostic::on_unimplemented(
    message = "a kernel cannot print a `{Self}` this way: the form is `{Form}`",
    label = "in this `print!` or `println!`",
    note = "`{{}}` prints integers, floats, `bool`, `char`, `&str` and `&CStr`; `println!` lists what else there is"
)]
pub trait Print<Form>: Copy {
    /// C's size and letter: `llu`.
    const LETTERS: &'static str;
    /// Whether it is left-aligned in its field.
    const IS_TEXT: bool = false;
    /// Kept alive until the value is printed.
    type Held;
    /// What `vprintf` reads.
    type Packed: Copy;
    /// Makes the value to keep alive.
    fn hold(self) -> Self::Held;
    /// Makes what `vprintf` reads.
    fn pack(held: &Self::Held) -> Self::Packed;
}

/// Implements [`Print`] for numbers: forms and letters, and the types they are packed as.
macro_rules! numbers {
    ($($t:ty as $packed:ty, by $pack:expr => $($form:ident $letters:literal)*;)*) => { $($(
        impl Print<form::$form> for $t {
            const LETTERS: &'static str = $letters;
            type Held = Self;
            type Packed = $packed;
            #[inline(always)]
            fn hold(self) -> Self { self }
            #[inline(always)]
            fn pack(held: &Self) -> $packed {
                let pack: fn(Self) -> $packed = $pack;
                pack(*held)
            }
        }
    )*)* };
}
numbers! {
    i8 as i32, by i32::from => Standard "d" Signed "d";
    i16 as i32, by i32::from => Standard "d" Signed "d";
    i32 as i32, by |x| x => Standard "d" Signed "d";
    i64 as i64, by |x| x => Standard "lld" Signed "lld";
    isize as i64, by |x| x as i64 => Standard "lld" Signed "lld";
    u8 as u32, by u32::from => Standard "u" LowerHex "x" UpperHex "X" Octal "o";
    u16 as u32, by u32::from => Standard "u" LowerHex "x" UpperHex "X" Octal "o";
    u32 as u32, by |x| x => Standard "u" LowerHex "x" UpperHex "X" Octal "o";
    u64 as u64, by |x| x => Standard "llu" LowerHex "llx" UpperHex "llX" Octal "llo";
    usize as u64, by |x| x as u64 => Standard "llu" LowerHex "llx" UpperHex "llX" Octal "llo";
    // Two's complement in their own size.
    i8 as u32, by |x| u32::from(x.cast_unsigned()) => LowerHex "x" UpperHex "X" Octal "o";
    i16 as u32, by |x| u32::from(x.cast_unsigned()) => LowerHex "x" UpperHex "X" Octal "o";
    i32 as u32, by i32::cast_unsigned => LowerHex "x" UpperHex "X" Octal "o";
    i64 as u64, by i64::cast_unsigned => LowerHex "llx" UpperHex "llX" Octal "llo";
    isize as u64, by |x| x as u64 => LowerHex "llx" UpperHex "llX" Octal "llo";
    f32 as f64, by f64::from =>
        Standard "g" Signed "g" Precise "f" SignedPrecise "f" LowerExp "e" UpperExp "E";
    f64 as f64, by |x| x =>
        Standard "g" Signed "g" Precise "f" SignedPrecise "f" LowerExp "e" UpperExp "E";
}

/// Longest text that is printed, in bytes.
const MAX_TEXT_BYTES: usize = 255;

/// Text with a zero at its end, as C wants it.
#[derive(Clone, Copy, Debug)]
pub struct Text<const N: usize>([u8; N]);

impl<const N: usize> Text<N> {
    /// The text's first characters: as many as leave room for the zero.
    #[inline]
    fn new(text: &str) -> Self {
        let mut bytes = [0; N];
        let used = text.floor_char_boundary(N - 1);
        bytes[..used].copy_from_slice(&text.as_bytes()[..used]);
        Self(bytes)
    }
}

/// Implements [`Print`] for text, for its forms.
macro_rules! text {
    ($($t:ty as $held:ty, by $text:expr, at $at:expr => $($form:ident)*;)*) => { $($(
        impl Print<form::$form> for $t {
            const LETTERS: &'static str = "s";
            const IS_TEXT: bool = true;
            type Held = $held;
            type Packed = *const u8;
            #[inline(always)]
            fn hold(self) -> Self::Held {
                let text: fn(Self) -> Self::Held = $text;
                text(self)
            }
            #[inline(always)]
            fn pack(held: &Self::Held) -> *const u8 {
                let at: fn(&Self::Held) -> *const u8 = $at;
                at(held)
            }
        }
    )*)* };
}
text! {
    &str as Text<{ MAX_TEXT_BYTES + 1 }>, by |text| Text::new(text), at |text| text.0.as_ptr() => Standard Precise;
    char as Text<5>, by |c| Text::new(c.encode_utf8(&mut [0; 4])), at |text| text.0.as_ptr() => Standard;
    &CStr as Self, by |text| text, at |text| text.as_ptr().cast() => Standard;
    bool as Self, by |value| value, at |&value| {
        let text = if value { c"true" } else { c"false" };
        text.as_ptr().cast()
    } => Standard;
}

/// Implements [`Print`] for references to printable values.
macro_rules! references {
    ($($form:ident)*) => { $(
        impl<T: Print<form::$form>> Print<form::$form> for &T {
            const LETTERS: &'static str = T::LETTERS;
            const IS_TEXT: bool = T::IS_TEXT;
            type Held = T::Held;
            type Packed = T::Packed;
            #[inline(always)]
            fn hold(self) -> T::Held { (*self).hold() }
            #[inline(always)]
            fn pack(held: &T::Held) -> T::Packed { T::pack(held) }
        }
    )* };
}
references!(Standard Precise Signed SignedPrecise LowerHex UpperHex Octal LowerExp UpperExp);

/// Implements [`Print`] for pointers.
macro_rules! pointers {
    ($($t:ty),*) => { $(
        impl<T> Print<form::Pointer> for $t {
            const LETTERS: &'static str = "p";
            type Held = *const T;
            type Packed = *const T;
            #[inline(always)]
            fn hold(self) -> *const T { self }
            #[inline(always)]
            fn pack(held: &*const T) -> *const T { *held }
        }
    )* };
}
pointers!(*const T, *mut T, &T);

/// A C string, built while the kernel is compiled.
#[derive(Clone, Copy, Debug)]
pub struct Format<const N: usize> {
    bytes: [u8; N],
    n_used: usize,
}

impl<const N: usize> Format<N> {
    /// The empty string; there is room for `N - 1` bytes.
    pub const fn new() -> Self {
        Self {
            bytes: [0; N],
            n_used: 0,
        }
    }

    /// The string with `text` appended.
    #[must_use]
    pub const fn push(mut self, text: &str) -> Self {
        let mut i = 0;
        while i < text.len() {
            self.bytes[self.n_used] = text.as_bytes()[i];
            self.n_used += 1;
            i += 1;
        }
        assert!(self.n_used < N, "the string's zero has no room");
        self
    }

    /// The string with `text` appended, if `is_wanted`.
    #[must_use]
    pub const fn push_if(self, is_wanted: bool, text: &str) -> Self {
        if is_wanted { self.push(text) } else { self }
    }

    /// The string, for C.
    pub const fn as_ptr(&self) -> *const u8 {
        self.bytes.as_ptr()
    }
}

impl<const N: usize> Default for Format<N> {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(target_arch = "nvptx64")]
mod driver {
    use core::ffi::c_void;

    unsafe extern "C" {
        pub fn vprintf(format: *const u8, arguments: *const c_void) -> i32;
    }
}

/// The driver's `printf`: returns the number of arguments, or a negative number.
///
/// # Safety
///
/// `format` is a C string, and `arguments` holds what its conversions read: each aligned
/// to its size, floats as `f64`.
#[gpu_only]
#[inline(always)]
pub unsafe fn vprintf(format: *const u8, arguments: *const c_void) -> i32 {
    // SAFETY: the caller's promise.
    unsafe { driver::vprintf(format, arguments) }
}
