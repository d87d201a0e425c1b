//! Files written by nvcc and fatbinary; see `samples/make.sh`.

use fatbin::{Architecture, Compression, Entry, Error, Extent, FatBinary, Image, Kind, Variant};
use fatbin::{Wrapper, extent};

macro_rules! sample {
    ($name:literal) => {
        include_bytes!(concat!("samples/", $name))
    };
}

/// All images among the samples.
const IMAGES: &[(&str, &[u8])] = &[
    ("none", sample!("none.fatbin")),
    ("speed", sample!("speed.fatbin")),
    ("balance", sample!("balance.fatbin")),
    ("size", sample!("size.fatbin")),
    ("default", sample!("default.fatbin")),
    ("named", sample!("named.fatbin")),
    ("several", sample!("several.fatbin")),
    ("machine", sample!("machine.fatbin")),
    ("intermediate", sample!("intermediate.fatbin")),
    ("CUDA 12", sample!("cuda_12.cubin")),
    ("CUDA 13", sample!("cuda_13.cubin")),
];

fn fat_binary(bytes: &[u8]) -> FatBinary<'_> {
    match Image::read(bytes).expect("a sample") {
        Image::Fat(mut binaries) if binaries.len() == 1 => binaries.remove(0),
        other => panic!("{other:?}"),
    }
}

fn only_entry(bytes: &[u8]) -> Entry<'_> {
    let mut entries = fat_binary(bytes).entries;
    assert_eq!(entries.len(), 1);
    entries.remove(0)
}

fn portable(number: u32) -> Architecture {
    let variant = Variant::Portable;
    Architecture { number, variant }
}

fn kernels(ptx: &str) -> Vec<String> {
    let module = ptx_sim::Module::parse(ptx).expect("nvcc's PTX");
    module.kernels().map(|k| k.name.to_owned()).collect()
}

#[test]
fn every_compression_gives_the_same_text() {
    let plain = only_entry(sample!("none.fatbin"));
    assert_eq!(plain.compression, Ok(None));
    let text = plain.ptx().expect("text");
    assert_eq!(kernels(&text), ["scale", "reverse"]);
    // Except for blank lines, it is what nvcc -ptx writes.
    let words = |text: &str| text.split_whitespace().collect::<String>();
    let written = include_str!("samples/scale.ptx");
    let without_comments = written.lines().map(|line| line.split("//").next());
    let without_comments: Vec<&str> = without_comments.flatten().collect();
    assert_eq!(words(&text), words(&without_comments.join("\n")));

    let samples: [(&[u8], _); 4] = [
        (sample!("speed.fatbin"), Compression::Lz4),
        (sample!("balance.fatbin"), Compression::Zstd),
        (sample!("size.fatbin"), Compression::Zstd),
        (sample!("default.fatbin"), Compression::Zstd),
    ];
    for (sample, compression) in samples {
        let entry = only_entry(sample);
        assert_eq!(entry.compression, Ok(Some(compression)));
        assert_eq!(words(&entry.ptx().expect("text")), words(&text));
        assert_eq!(entry.kind, Kind::Ptx);
        assert_eq!(entry.architecture, portable(80));
        assert_eq!((entry.version, entry.name), ((9, 0), None));
    }
}

#[test]
fn an_entry_names_its_source() {
    let entry = only_entry(sample!("named.fatbin"));
    assert_eq!(entry.name, Some("scale module"));
    assert_eq!(kernels(&entry.ptx().expect("text")), ["scale", "reverse"]);
}

#[test]
fn the_highest_architecture_that_fits_is_chosen() {
    let binary = fat_binary(sample!("several.fatbin"));
    let entries = binary.entries.iter();
    let ptx = entries.filter(|entry| entry.kind == Kind::Ptx);
    let names: Vec<String> = ptx.map(|entry| entry.architecture.to_string()).collect();
    assert_eq!(names, ["80", "75", "90a", "120f"]);
    let chosen = |device| {
        let text = binary.ptx_for(device)?;
        let (_, behind) = text.split_once(".target ").expect("a target");
        Ok(behind.split_whitespace().next().map(str::to_owned))
    };
    for (device, target) in [
        (75, "sm_75"),
        (80, "sm_80"),
        (89, "sm_80"),
        // For an H200, the PTX that uses its features, which no other device runs.
        (90, "sm_90a"),
        (100, "sm_80"),
        (120, "sm_120f"),
        (121, "sm_120f"),
    ] {
        assert_eq!(chosen(device), Ok(Some(target.to_owned())), "{device}");
    }
    let error: Error = chosen(70).expect_err("nothing that old");
    assert_eq!(
        error.to_string(),
        "the PTX is for compute_75, compute_80, compute_90a, compute_120f, which an sm_70 does \
         not run"
    );
}

#[test]
fn of_one_architecture_the_more_special_is_chosen() {
    let variants = [Variant::Portable, Variant::Specific, Variant::Family];
    let number = 90;
    let mut architectures = variants.map(|variant| Architecture { number, variant });
    architectures.sort();
    let names: Vec<String> = architectures.iter().map(ToString::to_string).collect();
    assert_eq!(names, ["90", "90f", "90a"]);
}

#[test]
fn machine_code_is_told_apart() {
    let message = |bytes| {
        let image = Image::read(bytes).expect("a sample");
        image.ptx_for(90).expect_err("no PTX").to_string()
    };
    let several: &[u8] = sample!("machine.fatbin");
    for (sample, only) in [
        (several, "machine code for sm_90, sm_100"),
        (sample!("cuda_12.cubin"), "machine code for sm_90"),
        (sample!("cuda_13.cubin"), "machine code for sm_90"),
        (
            sample!("intermediate.fatbin"),
            "code for the link-time optimiser",
        ),
    ] {
        assert_eq!(message(sample), format!("only {only} (no PTX)"));
    }
    // Restored, it is the same file as nvcc -cubin writes.
    let binary = fat_binary(sample!("machine.fatbin"));
    let code = binary.entries[0].code().expect("machine code");
    assert_eq!(code.len(), sample!("cuda_13.cubin").len());
    assert_eq!(extent(&code), Ok(Extent::Bytes(code.len())));
}

/// The extent of what a pointer points to, reading no more than is certain to be there.
fn extent_behind_pointer(memory: &[u8]) -> Result<Extent, Error> {
    let mut n_bytes = 4;
    loop {
        match extent(&memory[..n_bytes])? {
            Extent::AtLeast(more) => {
                assert!(more > n_bytes, "{more} after {n_bytes}");
                n_bytes = more;
            }
            known => return Ok(known),
        }
    }
}

#[test]
fn the_extent_of_every_sample_is_its_size() {
    for (name, bytes) in IMAGES {
        let mut memory = bytes.to_vec();
        memory.resize(bytes.len() + 1000, 0xaa);
        let extent = extent_behind_pointer(&memory);
        assert_eq!(extent, Ok(Extent::Bytes(bytes.len())), "{name}");
    }
    let text = extent_behind_pointer(b"\n\t.version 8.0");
    assert_eq!(text, Ok(Extent::ToNul));
    let (needed, given) = (4, 3);
    assert_eq!(extent(b".ve"), Err(Error::Truncated { needed, given }));
}

#[test]
fn the_extent_of_a_file_of_many_sections_is_known() {
    // Sections beyond sixty-four thousand are counted in the first one.
    let bytes = sample!("cuda_13.cubin");
    let mut many = bytes.to_vec();
    let n_sections = u16::from_le_bytes([many[60], many[61]]);
    let sections = u64::from_le_bytes(many[40..48].try_into().expect("8 bytes")) as usize;
    many[60..62].fill(0);
    many[sections + 32..sections + 40].copy_from_slice(&u64::from(n_sections).to_le_bytes());
    assert_eq!(extent_behind_pointer(&many), Ok(Extent::Bytes(bytes.len())));
}

#[test]
fn text_ends_with_a_nul_or_without() {
    let text = include_str!("samples/scale.ptx");
    for end in ["", "\0", "\0\u{1}\0"] {
        let bytes = format!("{text}{end}");
        let image = Image::read(bytes.as_bytes()).expect("PTX");
        assert_eq!(image.ptx_for(90).expect("PTX"), text);
    }
    let image = Image::read(b"// \xe9").expect_err("Latin-1");
    assert_eq!(image, Error::NotText { at: 3 });
}

#[test]
fn fat_binaries_follow_each_other() {
    let mut bytes = sample!("speed.fatbin").to_vec();
    bytes.extend([0; 8]);
    bytes.extend(sample!("machine.fatbin"));
    bytes.extend(sample!("several.fatbin"));
    let Image::Fat(binaries) = Image::read(&bytes).expect("three") else {
        panic!("fat binaries");
    };
    let n_entries: Vec<usize> = binaries.iter().map(|b| b.entries.len()).collect();
    assert_eq!(n_entries, [1, 2, 5]);
    assert!(binaries[2].ptx_for(90).is_ok());
    bytes.extend(b"more");
    let error = Image::read(&bytes).expect_err("not a fat binary");
    let start = b"more".to_vec();
    assert_eq!(error, Error::Unknown { start });
}

#[test]
fn a_wrapper_points_to_a_fat_binary() {
    let mut bytes = Vec::new();
    bytes.extend(fatbin::WRAPPER_MAGIC.to_le_bytes());
    bytes.extend(2_u32.to_le_bytes());
    bytes.extend(0x1234_5678_9abc_u64.to_le_bytes());
    bytes.extend([0; 8]);
    let wrapper = Wrapper {
        version: 2,
        data: 0x1234_5678_9abc,
        other: 0,
    };
    assert_eq!(Wrapper::read(&bytes), Ok(Some(wrapper)));
    assert_eq!(extent(&bytes), Err(Error::IsWrapper));
    let error = Image::read(&bytes).expect_err("a wrapper");
    assert_eq!(error, Error::IsWrapper);
    assert_eq!(Wrapper::read(sample!("none.fatbin")), Ok(None));
    bytes[4] = 3;
    assert_eq!(Wrapper::read(&bytes), Err(Error::UnknownWrapper(3)));
}
