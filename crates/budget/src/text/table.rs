//! Tables with aligned columns.

use std::io::{self, Write};

/// A table of text cells. The last column is not padded.
#[derive(Debug, Default)]
pub struct Table {
    rows: Vec<Vec<String>>,
    /// Columns that line up on the right.
    right: Vec<usize>,
}

impl Table {
    /// Creates a table with these headings, or without headings if the list is empty.
    pub fn new(headings: &[&str], right: &[usize]) -> Self {
        let mut table = Self { rows: Vec::new(), right: right.to_vec() };
        if !headings.is_empty() {
            table.row(headings.iter().map(|&heading| heading.to_owned()).collect());
        }
        table
    }

    /// Appends a row.
    pub fn row(&mut self, cells: Vec<String>) {
        self.rows.push(cells);
    }

    /// Writes the table, with every line indented by the given number of spaces.
    ///
    /// # Errors
    ///
    /// The errors of writing to `out`.
    pub fn write(&self, out: &mut dyn Write, indent: &str) -> io::Result<()> {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let width = |column: usize| {
            self.rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..columns).map(width).collect();
        for row in &self.rows {
            let cells = row.iter().zip(&widths).enumerate().map(|(column, (cell, &width))| {
                if self.right.contains(&column) { format!("{cell:>width$}") } else { format!("{cell:<width$}") }
            });
            writeln!(out, "{indent}{}", cells.collect::<Vec<_>>().join("  ").trim_end())?;
        }
        Ok(())
    }
}
