//! Cases as CSV: one per line, with all lanes' offsets in a single field.

use super::{Case, Counted, FIGURES, LANES};
use csv::{Position, ReaderBuilder, StringRecord, Trim, WriterBuilder};

/// The columns, in their order.
pub const COLUMNS: [&str; 8] = [
    "instruction",
    "bytes_per_lane",
    "active_mask_hex",
    "lane_byte_offsets",
    FIGURES[0],
    FIGURES[1],
    FIGURES[2],
    FIGURES[3],
];

/// What is wrong with a file, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {what}")]
pub struct FileError {
    /// Line, from 1.
    pub line: u64,
    /// What is wrong, and what is expected.
    pub what: String,
}

/// A case and the line it stands on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Numbered {
    /// Line, from 1.
    pub line: u64,
    /// The case.
    pub case: Case,
}

/// Reads a whole file.
///
/// # Errors
///
/// The first line that is not a case.
pub fn read(bytes: &[u8]) -> Result<Vec<Numbered>, FileError> {
    let mut reader = ReaderBuilder::new()
        .trim(Trim::All)
        .flexible(true)
        .from_reader(bytes);
    let line_of = |position: Option<&Position>| position.map_or(1, Position::line);
    let unreadable = |error: csv::Error| FileError {
        line: line_of(error.position()),
        what: match error.kind() {
            csv::ErrorKind::Utf8 { .. } => "it is not UTF-8 text".to_owned(),
            _ => error.to_string(),
        },
    };
    let header = reader.headers().map_err(unreadable)?;
    if header.iter().ne(COLUMNS) {
        return Err(FileError {
            line: 1,
            what: format!(
                "the columns must be `{}`, and they are `{}`",
                COLUMNS.join(","),
                header.iter().collect::<Vec<_>>().join(",")
            ),
        });
    }
    let mut cases = Vec::new();
    for record in reader.records() {
        let record = record.map_err(unreadable)?;
        let line = line_of(record.position());
        let case = case(&record).map_err(|what| FileError { line, what })?;
        cases.push(Numbered { line, case });
    }
    Ok(cases)
}

/// One line. An error names the column and what it must hold.
fn case(record: &StringRecord) -> Result<Case, String> {
    if record.len() != COLUMNS.len() {
        return Err(format!(
            "it has {} fields, and {} are expected: {}",
            record.len(),
            COLUMNS.len(),
            COLUMNS.join(",")
        ));
    }
    let wrong = |column: usize, must: &str| {
        format!(
            "column `{}` is `{}`, and must be {must}",
            COLUMNS[column], &record[column]
        )
    };
    let bytes = match record[1].parse() {
        Ok(bytes @ (1 | 2 | 4 | 8 | 16)) => bytes,
        _ => return Err(wrong(1, "1, 2, 4, 8 or 16")),
    };
    let digits = record[2].trim_start_matches("0x");
    let mask = u32::from_str_radix(digits, 16)
        .map_err(|_| wrong(2, "up to eight hexadecimal digits, one bit per lane"))?;
    let offsets: Option<Vec<u32>> = record[3]
        .split_whitespace()
        .map(|offset| offset.parse().ok())
        .collect();
    let offsets: [u32; LANES] = offsets
        .and_then(|offsets| offsets.try_into().ok())
        .ok_or_else(|| wrong(3, "32 byte offsets separated by spaces"))?;
    if let Some(lane) = offsets.iter().position(|offset| offset % bytes != 0) {
        let must = format!(
            "multiples of `{}`, {bytes}: lane {lane} has {}",
            COLUMNS[1], offsets[lane]
        );
        return Err(wrong(3, &must));
    }
    let mut figures = [None; FIGURES.len()];
    for (column, figure) in (4..).zip(&mut figures) {
        let must = "a number, or empty where there is nothing to count";
        *figure = match &record[column] {
            "" => None,
            text => Some(text.parse().map_err(|_| wrong(column, must))?),
        };
    }
    for first in [0, 2] {
        if figures[first].is_some() != figures[first + 1].is_some() {
            return Err(format!(
                "columns `{}` and `{}` must be both filled or both empty",
                FIGURES[first],
                FIGURES[first + 1]
            ));
        }
    }
    let counted = Counted(figures);
    if counted == Counted::default() {
        return Err(format!("none of `{}` is filled", FIGURES.join("`, `")));
    }
    Ok(Case {
        instruction: record[0].to_owned(),
        bytes,
        mask,
        offsets,
        counted,
    })
}

/// Writes a file that [`read`] reads.
///
/// # Errors
///
/// Those of writing.
pub fn write<'c>(
    out: impl std::io::Write,
    cases: impl IntoIterator<Item = &'c Case>,
) -> csv::Result<()> {
    let mut writer = WriterBuilder::new().from_writer(out);
    writer.write_record(COLUMNS)?;
    for case in cases {
        let text = |figure: Option<u64>| figure.map_or_else(String::new, |n| n.to_string());
        let access = [
            case.instruction.clone(),
            case.bytes.to_string(),
            format!("{:x}", case.mask),
            case.offsets.map(|offset| offset.to_string()).join(" "),
        ];
        writer.write_record(access.into_iter().chain(case.counted.0.map(text)))?;
    }
    writer.flush()?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{COLUMNS, read, write};

    fn with_line(line: &str) -> String {
        format!("{}\n{line}\n", COLUMNS.join(","))
    }

    /// From `from` to the end, in steps of `step`.
    fn offsets(step: u32) -> String {
        let offsets: Vec<_> = (0..32).map(|lane| (lane * step).to_string()).collect();
        offsets.join(" ")
    }

    #[test]
    fn what_is_written_is_read() {
        let line = format!("ld.shared.u32,4,ffff,{},1,0,,", offsets(4));
        let text = with_line(&line);
        let cases = read(text.as_bytes()).expect("a case");
        assert_eq!((cases.len(), cases[0].line), (1, 2));
        let mut written = Vec::new();
        write(&mut written, cases.iter().map(|numbered| &numbered.case)).expect("memory");
        assert_eq!(String::from_utf8(written).expect("text"), text);
    }

    #[test]
    fn errors_say_where_and_what_is_expected() {
        let good = offsets(4);
        for (line, parts) in [
            (
                "ld.shared.u32,4,ffff,GOOD,1",
                ["5 fields", "8 are expected"],
            ),
            (
                "ld.shared.u32,3,ffff,GOOD,1,0,,",
                ["`bytes_per_lane` is `3`", "1, 2, 4, 8 or 16"],
            ),
            (
                "ld.shared.u32,4,fffffffff,GOOD,1,0,,",
                ["`active_mask_hex`", "eight hexadecimal digits"],
            ),
            (
                "ld.shared.u32,4,ffff,0 4 8,1,0,,",
                ["`lane_byte_offsets`", "32 byte offsets"],
            ),
            (
                "ld.shared.v2.u32,8,ffff,GOOD,1,0,,",
                ["`lane_byte_offsets`", "multiples"],
            ),
            (
                "ld.shared.v2.u32,8,ffff,GOOD,1,0,,",
                ["multiples", "lane 1 has 4"],
            ),
            (
                "ld.shared.u32,4,ffff,GOOD,one,0,,",
                ["`shared_wavefronts` is `one`", "a number"],
            ),
            (
                "ld.shared.u32,4,ffff,GOOD,1,,,",
                ["both filled", "or both empty"],
            ),
            ("ld.shared.u32,4,ffff,GOOD,,,,", ["none of", ""]),
        ] {
            let text = with_line(&line.replace("GOOD", &good));
            let error = read(text.as_bytes()).expect_err("malformed").to_string();
            assert!(error.starts_with("line 2: "), "{error}");
            for part in parts {
                assert!(error.contains(part), "{error}: no {part}");
            }
        }
    }

    #[test]
    fn another_header_is_refused() {
        let error = read(b"a,b\n1,2\n").expect_err("no header").to_string();
        assert!(error.starts_with("line 1: the columns must be `instruction,"));
        assert!(error.contains("they are `a,b`"), "{error}");
        assert!(read(b"").is_err());
    }

    #[test]
    fn bytes_that_are_no_text_are_refused() {
        assert!(read(b"\xff\xfe\x00").is_err());
        let mut bytes = with_line("").into_bytes();
        bytes.extend(b"\xff,4\n");
        let error = read(&bytes).expect_err("no text").to_string();
        assert!(error.contains("UTF-8"), "{error}");
    }
}
