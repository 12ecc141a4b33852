//! Copies between GPUs.

use serde::{Deserialize, Serialize};

use crate::result::bandwidth::Rate;

/// Bandwidth of copies between a GPU's copy engine and the memory of another GPU.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PeerCopy {
    /// The GPU whose copy engine is used.
    pub engine: String,
    /// The GPU whose memory is accessed.
    pub memory: String,
    /// The size of a copy in bytes.
    pub bytes: u64,
    /// The bandwidth of copies to the other GPU's memory, in bytes per second.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write: Option<u64>,
    /// The bandwidth of copies from the other GPU's memory, in bytes per second.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read: Option<u64>,
    /// The error message, if the kernel refused the copies.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refused: Option<String>,
}

impl PeerCopy {
    /// Returns the cell of the table: both speeds, or that it was refused.
    fn cell(&self) -> String {
        let rate = |rate: Option<u64>| rate.map_or_else(|| "-".to_owned(), |rate| Rate(rate).to_string());
        match self.refused {
            Some(_) => "refused".to_owned(),
            None => format!("{} / {}", rate(self.write), rate(self.read)),
        }
    }
}

/// Returns the table of all pairs, its head first: a row for each GPU whose engine copies, a column for each whose memory it
/// reaches.
pub(crate) fn table(copies: &[PeerCopy]) -> Vec<Vec<String>> {
    let mut gpus: Vec<&str> = Vec::new();
    for name in copies.iter().flat_map(|copy| [&*copy.engine, &*copy.memory]) {
        if !gpus.contains(&name) {
            gpus.push(name);
        }
    }
    let head = std::iter::once("write / read".to_owned()).chain(gpus.iter().map(|name| (*name).to_owned()));
    let row = |engine: &&str| {
        let cell = |memory: &&str| {
            let copy = copies.iter().find(|copy| copy.engine == **engine && copy.memory == **memory);
            copy.map_or_else(|| "-".to_owned(), PeerCopy::cell)
        };
        std::iter::once((*engine).to_owned()).chain(gpus.iter().map(cell)).collect()
    };
    std::iter::once(head.collect()).chain(gpus.iter().map(row)).collect()
}

/// Returns the table as aligned lines, and a line for each refusal.
pub(crate) fn lines(copies: &[PeerCopy]) -> Vec<String> {
    let rows = table(copies);
    let columns = rows.first().map_or(0, Vec::len);
    let width = |column: usize| {
        rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<_> = (0..columns).map(width).collect();
    let line = |row: &Vec<String>| {
        let cells = row.iter().zip(&widths).map(|(cell, &width)| format!("{cell:<width$}"));
        cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
    };
    let refusals = copies
        .iter()
        .filter_map(|copy| copy.refused.as_ref().map(|words| format!("{} to {}: {words}", copy.engine, copy.memory)));
    rows.iter().map(line).chain(refusals).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_has_a_row_for_each_engine_and_words_for_each_refusal() {
        let copy = |engine: &str, memory: &str, refused: Option<&str>| PeerCopy {
            engine: engine.to_owned(),
            memory: memory.to_owned(),
            bytes: 4096,
            write: refused.is_none().then_some(2_000_000_000),
            read: refused.is_none().then_some(1_500_000_000),
            refused: refused.map(str::to_owned),
        };
        let copies = [copy("a", "bee", None), copy("bee", "a", Some("importing: EINVAL"))];
        let expected = [
            "write / read  a        bee",
            "a             -        2.00 GB/s / 1.50 GB/s",
            "bee           refused  -",
            "bee to a: importing: EINVAL",
        ];
        assert_eq!(lines(&copies), expected);
        assert_eq!(lines(&[]), ["write / read"]);
    }
}
