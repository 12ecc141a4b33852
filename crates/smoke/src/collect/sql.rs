//! The merged reports as statements of SQL, for `sqlite3 fleet.db`.
//!
//! A crate that writes the file itself brings SQLite's C, which takes a C compiler for each target and is a quarter of a million lines to
//! build and to audit, while the tools are Rust alone: the feature `sqlite` has it. Other databases read the statements, too.

use std::{borrow::Cow, fmt::Write as _};

use crate::collect::fleet::Fleet;

/// The reason why a program without the feature writes no database.
pub(crate) const WITHOUT_SQLITE: &str = "this amdgpu-smoke was built without SQLite: \
    `cargo install amdgpu-smoke --features sqlite` brings it, and `--sql | sqlite3 FILE` writes the same tables without it";

/// The tables, which replace earlier ones of the same file.
const TABLES: &str = "\
DROP VIEW IF EXISTS failures_by_fact;
DROP VIEW IF EXISTS results;
DROP TABLE IF EXISTS gpus;
DROP TABLE IF EXISTS plans;
DROP TABLE IF EXISTS facts;
DROP TABLE IF EXISTS failures;
DROP TABLE IF EXISTS left_out;
CREATE TABLE gpus (id INTEGER PRIMARY KEY, machine TEXT NOT NULL, gpu TEXT NOT NULL, state TEXT NOT NULL, made INTEGER NOT NULL,
    simulated INTEGER NOT NULL, ended INTEGER NOT NULL, stopped TEXT, file TEXT NOT NULL, plan INTEGER NOT NULL, UNIQUE (machine, gpu));
CREATE TABLE plans (plan INTEGER NOT NULL, check_id TEXT NOT NULL, PRIMARY KEY (plan, check_id));
CREATE TABLE facts (gpu INTEGER NOT NULL REFERENCES gpus, name TEXT NOT NULL, value TEXT NOT NULL, PRIMARY KEY (gpu, name));
CREATE TABLE failures (gpu INTEGER NOT NULL REFERENCES gpus, check_id TEXT NOT NULL, PRIMARY KEY (gpu, check_id));
CREATE TABLE left_out (file TEXT NOT NULL, problem TEXT NOT NULL, detail TEXT NOT NULL);
";

/// The questions that have a name. Each check that was not skipped is a result; a machine counts once for each value of a fact, as in the
/// other outputs.
const VIEWS: &str = "\
CREATE INDEX gpus_by_plan ON gpus (plan);
CREATE INDEX facts_by_value ON facts (name, value);
CREATE INDEX failures_by_check ON failures (check_id);
CREATE VIEW results AS
    SELECT gpus.id AS gpu, gpus.machine AS machine, plans.check_id AS check_id, CASE WHEN failures.gpu IS NULL THEN 0 ELSE 1 END AS failed
    FROM gpus JOIN plans ON plans.plan = gpus.plan
    LEFT JOIN failures ON failures.gpu = gpus.id AND failures.check_id = plans.check_id;
CREATE VIEW failures_by_fact AS
    SELECT check_id, name, value, COUNT(DISTINCT machine) AS machines, COUNT(DISTINCT CASE WHEN failed = 1 THEN machine END) AS failed
    FROM results JOIN facts ON facts.gpu = results.gpu GROUP BY check_id, name, value;
";

/// Returns the statements, in the dialect of SQLite.
pub(super) fn statements(fleet: &Fleet) -> String {
    let mut sql = format!("BEGIN;\n{TABLES}");
    let text = |id| quoted(fleet.texts.get(id));
    for (run, id) in fleet.runs.iter().zip(1..) {
        // Writing into a string does not fail.
        let _ = writeln!(
            sql,
            "INSERT INTO gpus VALUES ({id}, {}, {}, {}, {}, {}, {}, {}, {}, {});",
            text(run.machine),
            text(run.gpu),
            quoted(run.state(fleet)),
            seconds(run.made),
            u8::from(run.simulated),
            u8::from(run.ended),
            run.stopped.map_or_else(|| "NULL".to_owned(), text),
            quoted(&run.file),
            run.ran
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
    for (plan, checks) in fleet.plans() {
        let rows: Vec<_> = checks.iter().map(|&check| format!("({plan}, {})", text(check))).collect();
        if !rows.is_empty() {
            let _ = writeln!(sql, "INSERT INTO plans VALUES {};", rows.join(", "));
        }
    }
    for left in &fleet.left_out {
        let (file, problem, detail) = (quoted(&left.file), quoted(left.problem.name()), quoted(&left.detail));
        let _ = writeln!(sql, "INSERT INTO left_out VALUES ({file}, {problem}, {detail});");
    }
    sql.push_str(VIEWS);
    sql.push_str("COMMIT;\n");
    sql
}

/// Returns the contents of a file with a database that has what [`statements`] would make.
#[cfg(feature = "sqlite")]
pub(super) fn database(fleet: &Fleet) -> rusqlite::Result<Vec<u8>> {
    use rusqlite::{Connection, params};

    let mut connection = Connection::open_in_memory()?;
    let transaction = connection.transaction()?;
    transaction.execute_batch(TABLES)?;
    {
        let text = |id| visible(fleet.texts.get(id));
        let mut gpus = transaction.prepare("INSERT INTO gpus VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")?;
        let mut plans = transaction.prepare("INSERT INTO plans VALUES (?, ?)")?;
        let mut facts = transaction.prepare("INSERT INTO facts VALUES (?, ?, ?)")?;
        let mut failures = transaction.prepare("INSERT INTO failures VALUES (?, ?)")?;
        let mut left_out = transaction.prepare("INSERT INTO left_out VALUES (?, ?, ?)")?;
        for (run, id) in fleet.runs.iter().zip(1_i64..) {
            gpus.execute(params![
                id,
                text(run.machine),
                text(run.gpu),
                run.state(fleet),
                seconds(run.made),
                run.simulated,
                run.ended,
                run.stopped.map(text),
                visible(&run.file),
                number(run.ran),
            ])?;
            for &(name, value) in &run.facts {
                facts.execute(params![id, text(name), text(value)])?;
            }
            for &check in &run.failed {
                failures.execute(params![id, text(check)])?;
            }
        }
        for (plan, checks) in fleet.plans() {
            for &check in checks {
                plans.execute(params![number(plan), text(check)])?;
            }
        }
        for left in &fleet.left_out {
            left_out.execute(params![visible(&left.file), left.problem.name(), visible(&left.detail)])?;
        }
    }
    transaction.execute_batch(VIEWS)?;
    transaction.commit()?;
    Ok(connection.serialize("main")?.to_vec())
}

/// Refuses: the program has no SQLite.
#[cfg(not(feature = "sqlite"))]
pub(super) fn database(_: &Fleet) -> Result<Vec<u8>, &'static str> {
    Err(WITHOUT_SQLITE)
}

/// Returns seconds as an integer of SQL.
fn seconds(made: u64) -> i64 {
    i64::try_from(made).unwrap_or(i64::MAX)
}

/// Returns the number of a plan as an integer of SQL. There are no more plans than reports.
#[cfg(feature = "sqlite")]
fn number(plan: usize) -> i64 {
    i64::try_from(plan).unwrap_or(i64::MAX)
}

/// Returns a literal. The shell of SQLite takes a line that begins with a dot as a command of its own.
fn quoted(text: &str) -> String {
    format!("'{}'", visible(text).replace('\'', "''"))
}

/// Returns text without control characters: SQLite ends a text at a NUL, and a terminal obeys some.
fn visible(text: &str) -> Cow<'_, str> {
    if text.contains(char::is_control) { text.replace(char::is_control, "\u{fffd}").into() } else { text.into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_cannot_end_its_literal() {
        assert_eq!(quoted("a'); DROP TABLE gpus;--\n.quit\0"), "'a''); DROP TABLE gpus;--\u{fffd}.quit\u{fffd}'");
    }
}
