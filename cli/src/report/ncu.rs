//! Nsight Compute's CSV output, launch by launch.

use csv::{ReaderBuilder, StringRecord};
use std::collections::BTreeMap;

/// Launches by kernel, in their order, each with its metrics by name.
pub type Launches = BTreeMap<String, Vec<BTreeMap<String, u64>>>;

/// Reads the output of `ncu --csv --page raw`; lines outside the table
/// are the profiled program's own, or ncu's.
///
/// # Errors
///
/// There is no such table.
pub fn read(text: &str) -> Result<Launches, String> {
    let start = text
        .lines()
        .position(|line| line.starts_with("\"ID\""))
        .ok_or(
            "it has no line that starts with \"ID\": is it the output of `ncu --csv --page raw`?",
        )?;
    let table: Vec<&str> = text
        .lines()
        .skip(start)
        .filter(|line| line.starts_with('"'))
        .collect();
    let table = table.join("\n");
    let mut reader = ReaderBuilder::new()
        .flexible(true)
        .from_reader(table.as_bytes());
    let header = reader.headers().map_err(|error| error.to_string())?.clone();
    let name_column = header
        .iter()
        .position(|name| name == "Kernel Name")
        .ok_or("its table has no column \"Kernel Name\"")?;
    let mut launches = Launches::new();
    for row in reader.records() {
        let row = row.map_err(|error| format!("its table is broken: {error}"))?;
        // The row after the header holds units.
        let Some(name) = row.get(name_column).filter(|name| !name.is_empty()) else {
            continue;
        };
        let name = name.split('(').next().unwrap_or(name).to_owned();
        launches
            .entry(name)
            .or_default()
            .push(metrics(&header, &row));
    }
    Ok(launches)
}

/// The numbers of a row; thousands may be separated by commas.
fn metrics(header: &StringRecord, row: &StringRecord) -> BTreeMap<String, u64> {
    header
        .iter()
        .zip(row)
        .filter_map(|(metric, value)| {
            let value: f64 = value.replace(',', "").parse().ok()?;
            Some((metric.to_owned(), value as u64))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::read;

    const CSV: &str = "\
the program's own output
==PROF== Connected
\"ID\",\"Process ID\",\"Kernel Name\",\"l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum\"
\"\",\"\",\"\",\"sector\"
\"0\",\"7\",\"add(float *, long)\",\"1,024\"
more of its output
\"1\",\"7\",\"twice\",\"5\"
\"2\",\"7\",\"twice\",\"6\"
";

    #[test]
    fn launches_keep_their_order() {
        let launches = read(CSV).expect("a table");
        let metric = "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum";
        assert_eq!(launches["add"][0][metric], 1024);
        let twice: Vec<_> = launches["twice"]
            .iter()
            .map(|launch| launch[metric])
            .collect();
        assert_eq!(twice, [5, 6]);
    }

    #[test]
    fn other_text_is_refused() {
        assert!(read("nothing").is_err());
        assert!(read("\"ID\",\"Name\"\n\"0\",\"add\"\n").is_err());
    }
}
