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

    /// Removes a column.
    pub fn remove(&mut self, column: usize) {
        for row in self.rows.iter_mut().filter(|row| column < row.len()) {
            row.remove(column);
        }
        self.right.retain(|&right| right != column);
        self.right.iter_mut().filter(|right| **right > column).for_each(|right| *right -= 1);
    }

    /// Removes columns until the table fits in a width, beginning with the first of `least`, which lists the columns by their first
    /// numbers. A table that does not fit without all of these stays too wide.
    pub fn fit(&mut self, width: usize, least: &[usize]) {
        let mut removed: Vec<usize> = Vec::new();
        for &column in least {
            if self.width() <= width {
                return;
            }
            let before = removed.iter().filter(|&&gone| gone < column).count();
            self.remove(column - before);
            removed.push(column);
        }
    }

    /// Returns the number of characters in the longest line.
    fn width(&self) -> usize {
        let widths = self.widths();
        widths.iter().sum::<usize>() + 2 * widths.len().saturating_sub(1)
    }

    fn widths(&self) -> Vec<usize> {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let width = |column: usize| {
            self.rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max().unwrap_or(0)
        };
        (0..columns).map(width).collect()
    }

    /// Writes the table, with every line indented by the given number of spaces.
    ///
    /// # Errors
    ///
    /// The errors of writing to `out`.
    pub fn write(&self, out: &mut dyn Write, indent: &str) -> io::Result<()> {
        let widths = self.widths();
        for row in &self.rows {
            let cells = row.iter().zip(&widths).enumerate().map(|(column, (cell, &width))| {
                if self.right.contains(&column) { format!("{cell:>width$}") } else { format!("{cell:<width$}") }
            });
            writeln!(out, "{indent}{}", cells.collect::<Vec<_>>().join("  ").trim_end())?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(width: usize) -> String {
        let mut table = Table::new(&["PID", "USER", "SIZE", "NAME"], &[0, 2]);
        table.row(["7", "alice", "12 MiB", "game"].map(str::to_owned).to_vec());
        table.fit(width, &[2, 1]);
        let mut text = Vec::new();
        table.write(&mut text, "").unwrap();
        String::from_utf8(text).unwrap()
    }

    #[test]
    fn the_least_columns_are_removed_until_it_fits() {
        assert_eq!(written(24), "PID  USER     SIZE  NAME\n  7  alice  12 MiB  game\n");
        assert_eq!(written(23), "PID  USER   NAME\n  7  alice  game\n");
        assert_eq!(written(10), "PID  NAME\n  7  game\n");
        assert_eq!(written(1), "PID  NAME\n  7  game\n", "never these");
    }
}
