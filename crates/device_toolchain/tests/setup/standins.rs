//! The programs that stand in for apt, dpkg and rustc, as shell scripts.
//!
//! Each begins with [`PROLOGUE`], and calls `moment` wherever it can be interrupted. A
//! test changes their behaviour by writing functions into the file `hooks`.

/// `ROOT` becomes the machine's folder, `PROGRAM` the program's name.
///
/// - `moment` is called at each point where the program may be killed.
/// - `arrived NAME FILE` is called when a package has been downloaded.
/// - `fails PROGRAM VERB` may print something and exit.
pub const PROLOGUE: &str = r#"#!/bin/sh
root='ROOT'
echo "PROGRAM $*" >> "$root/log"
moment() { :; }
arrived() { :; }
fails() { :; }
[ -e "$root/hooks" ] && . "$root/hooks"
fails PROGRAM "$*"
moment
"#;

/// apt-get, which is asked for the system's archives by `apt-get update --print-uris`, and
/// otherwise started as `apt-get -c SETTINGS VERB …`.
///
/// Like the real one, it assumes that existing lists are complete, and that a
/// file of the right size is the right one.
pub const APT_GET: &str = r#"
if [ "$1" = update ]; then cat "$root/uris"; exit 0; fi
tell() {
    echo "'http://archive.invalid/$1.deb' $1_1.97.1+dfsg1-1_amd64.deb $(stat -c %s "$root/archive/$1.deb") $2"
}
shift 2; verb=$1; shift
if [ "$verb" = update ]; then
    if [ ! -d lists/partial ]; then
        echo "E: List directory lists/partial is missing." >&2; exit 100
    fi
    if [ ! -e lists/Packages ]; then
        echo cut > lists/Packages || exit 100; moment
        echo whole > lists/Packages || exit 100; moment
    fi
    exit 0
fi
read -r state < lists/Packages
if [ "$state" != whole ]; then
    echo 'E: The package lists or status file could not be parsed or opened.' >&2; exit 100
fi
if [ "$verb" = install ]; then
    tell libc6 MD5Sum:00; tell rust-src MD5Sum:00; exit 0
fi
if [ "$1" = --print-uris ]; then print=yes; shift; fi
for name in "$@"; do
    file=${name}_1.97.1+dfsg1-1_amd64.deb; from=$root/archive/$name.deb
    if [ -n "$print" ]; then
        sum=$(sha256sum "$from"); tell "$name" "SHA256:${sum%% *}"; continue
    fi
    [ -e "$file" ] && [ "$(stat -c %s "$file")" = "$(stat -c %s "$from")" ] && continue
    echo cut > "$file" || exit 100; moment
    cat "$from" > "$file" || exit 100; arrived "$name" "$file"; moment
done
"#;

/// dpkg, for packages that are tar files.
pub const DPKG: &str = r#"
case "$1" in
    --print-architecture) echo amd64 ;;
    -x)
        echo cut > "$3/half" || exit 2; moment
        rm "$3/half"; tar -xf "$2" -C "$3" || exit 2; moment ;;
esac
"#;

/// dpkg-deb, which is started as `dpkg-deb --fsys-tarfile FILE`.
pub const DPKG_DEB: &str = r#"
cat "$2"
moment
"#;

/// The compiler: answers `rustc -vV` and `rustc --print=sysroot`.
///
/// It takes the loader's place, and is started by the launcher as
/// `LOADER --library-path DIR RUSTC --sysroot DIR …`.
pub const COMPILER: &str = r#"#!/bin/sh
moment() { :; }
root=$SETUP_ROOT
[ -n "$root" ] && . "$root/hooks"
while [ $# -gt 0 ]; do
    case "$1" in
        --sysroot) sysroot=$2; shift ;;
        -vV) moment; printf 'rustc 1.97.1\nrelease: 1.97.1\n' ;;
        --print=sysroot) echo "$sysroot" ;;
    esac
    shift
done
"#;
