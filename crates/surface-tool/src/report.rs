//! A report: rows for people, values for programs.

use std::io::{self, Write};

use serde_json::{Map, Value};

/// Rows with a heading, a text and a value each.
#[derive(Debug, Default)]
pub(crate) struct Report {
    rows: Vec<(&'static str, String)>,
    values: Map<String, Value>,
}

impl Report {
    /// Adds a row. Rows of the same heading become one list of values.
    pub(crate) fn row(&mut self, heading: &'static str, text: impl Into<String>, value: Value) {
        self.rows.push((heading, text.into()));
        self.value(heading, value);
    }

    /// Adds an entry to the list of values under a heading, with its row.
    pub(crate) fn item(&mut self, heading: &'static str, text: impl Into<String>, value: Value) {
        self.rows.push((heading, text.into()));
        match self.values.entry(heading).or_insert_with(|| Value::Array(Vec::new())) {
            Value::Array(list) => list.push(value),
            other => *other = value,
        }
    }

    /// Adds a value that no row shows.
    pub(crate) fn value(&mut self, key: &'static str, value: Value) {
        self.values.insert(key.to_owned(), value);
    }

    /// Prints the report.
    pub(crate) fn print(&self, json: bool, out: &mut dyn Write) -> io::Result<()> {
        if json {
            return writeln!(out, "{:#}", Value::Object(self.values.clone()));
        }
        let mut last = "";
        for (heading, text) in &self.rows {
            let shown = if *heading == last { "" } else { heading };
            writeln!(out, "{shown:<12}{text}")?;
            last = heading;
        }
        Ok(())
    }
}
