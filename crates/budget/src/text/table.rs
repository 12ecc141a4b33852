//! Columns that line up.

use std::io::{self, Write};

/// Rows of cells; the last column is not padded.
#[derive(Debug, Default)]
pub struct Table {
    rows: Vec<Vec<String>>,
    /// Columns that line up on the right.
    right: Vec<usize>,
}

impl Table {
    /// Creates a table with headings; an empty list for none.
    pub fn new(headings: &[&str], right: &[usize]) -> Self {
        let mut table = Self { rows: Vec::new(), right: right.to_vec() };
        if !headings.is_empty() {
            table.row(headings.iter().map(|&heading| heading.to_owned()).collect());
        }
        table
    }

    /// Adds a row.
    pub fn row(&mut self, cells: Vec<String>) {
        self.rows.push(cells);
    }

    /// Writes it with this much space in front.
    ///
    /// # Errors
    ///
    /// Those of `out`.
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
