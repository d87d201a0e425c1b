//! Bytes that are not what they seem: each gives an error, never a panic, and uses no memory that
//! the bytes do not justify.

use fatbin::{Compression, Error, Extent, Image, extent};
use proptest::prelude::*;

const SPEED: &[u8] = include_bytes!("samples/speed.fatbin");
const DEFAULT: &[u8] = include_bytes!("samples/default.fatbin");
const NONE: &[u8] = include_bytes!("samples/none.fatbin");
const SAMPLES: &[&[u8]] = &[
    SPEED,
    DEFAULT,
    NONE,
    include_bytes!("samples/named.fatbin"),
    include_bytes!("samples/several.fatbin"),
    include_bytes!("samples/machine.fatbin"),
    include_bytes!("samples/cuda_12.cubin"),
    include_bytes!("samples/cuda_13.cubin"),
    include_bytes!("samples/scale.ptx"),
];

/// The offset of the first entry's header, and fields in it.
const ENTRY: usize = 16;
const HEADER_BYTES: usize = ENTRY + 4;
const CODE_BYTES: usize = ENTRY + 8;
const COMPRESSED_BYTES: usize = ENTRY + 16;
const NAME_OFFSET: usize = ENTRY + 32;
const FLAGS: usize = ENTRY + 40;
const RESTORED_BYTES: usize = ENTRY + 56;

/// A sample with other bytes at one offset.
fn with(sample: &[u8], offset: usize, bytes: &[u8]) -> Vec<u8> {
    let mut changed = sample.to_vec();
    changed[offset..offset + bytes.len()].copy_from_slice(bytes);
    changed
}

/// Makes every query.
fn read_all(bytes: &[u8]) -> Result<(), Error> {
    let image = Image::read(bytes)?;
    if let Image::Fat(binaries) = &image {
        for entry in binaries.iter().flat_map(|binary| &binary.entries) {
            entry.code()?;
        }
    }
    image.ptx_for(90).map(drop)
}

fn refused(bytes: &[u8]) -> String {
    read_all(bytes).expect_err("mangled").to_string()
}

#[test]
fn a_restored_size_that_lies_is_found() {
    for (sample, compression) in [(SPEED, "LZ4"), (DEFAULT, "zstd")] {
        let n_bytes = u64::from_le_bytes(sample[RESTORED_BYTES..][..8].try_into().unwrap());
        for stated in [0, 1, n_bytes - 1, n_bytes + 1, 1 << 20, 1 << 45, u64::MAX] {
            let text = refused(&with(sample, RESTORED_BYTES, &stated.to_le_bytes()));
            assert!(text.contains(compression), "{stated}: {text}");
        }
        let error = read_all(&with(sample, RESTORED_BYTES, &(1_u64 << 45).to_le_bytes()));
        assert!(matches!(error, Err(Error::WrongSize { .. })), "{error:?}");
    }
}

/// A fat binary with one entry: zstd blocks that repeat one byte, each of which takes four bytes
/// and gives 128 KiB.
fn bomb(n_blocks: u32, stated: u64) -> Vec<u8> {
    let mut frame = vec![0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x58];
    for i in 1..=n_blocks {
        let block = u32::from(i == n_blocks) | 1 << 1 | (128 << 10) << 3;
        frame.extend(&block.to_le_bytes()[..3]);
        frame.push(b'a');
    }
    frame.resize(frame.len().next_multiple_of(8), 0);
    let n_bytes = frame.len() as u64;
    let mut bytes = NONE[..ENTRY + 80].to_vec();
    bytes.extend(&frame);
    for (offset, number) in [
        (8, 80 + n_bytes),
        (CODE_BYTES, n_bytes),
        (FLAGS, 0x8011),
        (RESTORED_BYTES, stated),
    ] {
        bytes = with(&bytes, offset, &number.to_le_bytes());
    }
    let n_bytes = n_bytes as u32;
    with(&bytes, COMPRESSED_BYTES, &n_bytes.to_le_bytes())
}

#[test]
fn a_bomb_is_stopped_at_the_stated_size() {
    // 640 MiB, of which little more than the stated size is ever restored.
    let error = read_all(&bomb(5000, 1000));
    let is_stopped = matches!(
        error,
        Err(Error::WrongSize {
            compression: Compression::Zstd,
            stated: 1000,
            ..
        })
    );
    assert!(is_stopped, "{error:?}");
    // The bytes are valid if the size is right.
    assert_eq!(read_all(&bomb(5, 5 << 17)), Ok(()));
}

#[test]
fn headers_that_lie_are_refused() {
    let (cubin, huge) = (SAMPLES[7], [0xff; 8]);
    for (what, sample, offset, bytes) in [
        ("version", NONE, 4, &[2, 0][..]),
        ("header size", NONE, 6, &[8, 0]),
        ("payload", NONE, 8, &huge),
        ("payload", NONE, 8, &2000_u64.to_le_bytes()),
        ("entry's header", NONE, HEADER_BYTES, &8_u32.to_le_bytes()),
        ("entry's header", NONE, HEADER_BYTES, &huge[..4]),
        ("code", NONE, CODE_BYTES, &huge),
        ("compressed", SPEED, COMPRESSED_BYTES, &huge[..4]),
        ("name", NONE, NAME_OFFSET, &huge),
        ("ELF machine", cubin, 18, &[62, 0]),
        ("ELF class", cubin, 4, &[1]),
    ] {
        assert!(read_all(&with(sample, offset, bytes)).is_err(), "{what}");
    }
    let huge = with(NONE, 8, &u64::MAX.to_le_bytes());
    assert!(matches!(extent(&huge[..16]), Err(Error::Malformed { .. })));
}

#[test]
fn an_unknown_compression_is_named_where_it_matters() {
    for flags in [0x1011_u64, 0x4011, 0xa011] {
        let text = refused(&with(SPEED, FLAGS, &flags.to_le_bytes()));
        assert!(
            text.contains("unknown way") && text.contains("--no-compress"),
            "{text}"
        );
    }
}

#[test]
fn a_sample_cut_short_is_refused() {
    for sample in &SAMPLES[..6] {
        for n_bytes in 0..sample.len() {
            assert!(read_all(&sample[..n_bytes]).is_err(), "{n_bytes}");
        }
    }
}

#[test]
fn other_files_are_unknown() {
    let archive: &[u8] = b"!<arch>\n";
    for other in [archive, b"BC\xc0\xde", b"", b"\0", b"MZ", &[0x50, 0xed]] {
        let read = Image::read(other);
        assert!(matches!(read, Err(Error::Unknown { .. })), "{other:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4000, ..ProptestConfig::default() })]

    #[test]
    fn mangled_samples_do_not_panic(
        sample in 0..SAMPLES.len(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8),
        in_header in any::<bool>(),
        cut in any::<prop::sample::Index>(),
        is_cut in any::<bool>(),
    ) {
        let mut bytes = SAMPLES[sample].to_vec();
        let n_bytes = if in_header { bytes.len().min(128) } else { bytes.len() };
        for (at, byte) in changes {
            bytes[at.index(n_bytes)] = byte;
        }
        if is_cut {
            bytes.truncate(cut.index(bytes.len()));
        }
        let _ = read_all(&bytes);
        let mut given = 4;
        while given <= bytes.len() {
            match extent(&bytes[..given]) {
                Ok(Extent::AtLeast(more)) => {
                    prop_assert!(more > given);
                    given = more;
                }
                _ => break,
            }
        }
    }

    #[test]
    fn any_bytes_do_not_panic(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        let _ = read_all(&bytes);
        let _ = extent(&bytes);
    }
}
