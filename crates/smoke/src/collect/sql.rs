//! The merged reports as statements of SQL, for `sqlite3 fleet.db`.
//!
//! Statements, and no database file: a crate that writes one brings SQLite's C, which takes a C compiler for each target and is a quarter
//! of a million lines to build and to audit, while the tools are Rust alone. Other databases read the statements, too.

use std::fmt::Write as _;

use crate::collect::fleet::Fleet;

/// The tables, which replace earlier ones of the same file.
const TABLES: &str = "\
BEGIN;
DROP TABLE IF EXISTS gpus;
DROP TABLE IF EXISTS facts;
DROP TABLE IF EXISTS failures;
DROP TABLE IF EXISTS left_out;
CREATE TABLE gpus (id INTEGER PRIMARY KEY, machine TEXT NOT NULL, gpu TEXT NOT NULL, state TEXT NOT NULL, made INTEGER NOT NULL,
    simulated INTEGER NOT NULL, stopped TEXT, file TEXT NOT NULL, UNIQUE (machine, gpu));
CREATE TABLE facts (gpu INTEGER NOT NULL REFERENCES gpus, name TEXT NOT NULL, value TEXT NOT NULL, PRIMARY KEY (gpu, name));
CREATE TABLE failures (gpu INTEGER NOT NULL REFERENCES gpus, check_id TEXT NOT NULL, PRIMARY KEY (gpu, check_id));
CREATE TABLE left_out (file TEXT NOT NULL, problem TEXT NOT NULL, detail TEXT NOT NULL);
";

/// Returns the statements, in the dialect of SQLite.
pub(super) fn statements(fleet: &Fleet) -> String {
    let mut sql = TABLES.to_owned();
    let text = |id| quoted(fleet.texts.get(id));
    for (run, id) in fleet.runs.iter().zip(1..) {
        // Writing into a string does not fail.
        let _ = writeln!(
            sql,
            "INSERT INTO gpus VALUES ({id}, {}, {}, {}, {}, {}, {}, {});",
            text(run.machine),
            text(run.gpu),
            quoted(run.state(fleet)),
            run.made.min(i64::MAX.unsigned_abs()),
            u8::from(run.simulated),
            run.stopped.map_or_else(|| "NULL".to_owned(), text),
            quoted(&run.file)
        );
        let facts: Vec<_> =
            run.facts.iter().map(|&(name, value)| format!("({id}, {}, {})", text(name), text(value))).collect();
        if !facts.is_empty() {
            let _ = writeln!(sql, "INSERT INTO facts VALUES {};", facts.join(", "));
        }
        for &check in &run.failed {
            let _ = writeln!(sql, "INSERT INTO failures VALUES ({id}, {});", text(check));
        }
    }
    for left in &fleet.left_out {
        let (file, problem, detail) = (quoted(&left.file), quoted(left.problem.name()), quoted(&left.detail));
        let _ = writeln!(sql, "INSERT INTO left_out VALUES ({file}, {problem}, {detail});");
    }
    sql.push_str("COMMIT;\n");
    sql
}

/// Returns a literal. SQLite ends a statement at a NUL, and its shell takes a line that begins with a dot as a command of its own.
fn quoted(text: &str) -> String {
    let visible: String = text.chars().map(|letter| if letter.is_control() { '\u{fffd}' } else { letter }).collect();
    format!("'{}'", visible.replace('\'', "''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_cannot_end_its_literal() {
        assert_eq!(quoted("a'); DROP TABLE gpus;--\n.quit\0"), "'a''); DROP TABLE gpus;--\u{fffd}.quit\u{fffd}'");
    }
}
