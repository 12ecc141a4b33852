//! The packed tables.

use crate::generated::choices::{CHOICES, VALUES};
use crate::generated::names::{ENDS, POOL};
use crate::generated::registers::{BY_OFFSET, FIELDS, PLACES, REGISTERS};
use crate::rows::{Bits, Row, Value};

/// The size of all tables in bytes.
pub const TABLE_BYTES: usize = POOL.len()
    + size_of_val(&ENDS)
    + size_of_val(&REGISTERS)
    + size_of_val(&PLACES)
    + size_of_val(&BY_OFFSET)
    + size_of_val(&FIELDS)
    + size_of_val(&CHOICES)
    + size_of_val(&VALUES);

const _: () = assert!(TABLE_BYTES < 300 << 10);

/// Returns the fields of a register.
pub(crate) fn fields(row: Row) -> &'static [Bits] {
    let (first, count) = row.fields();
    FIELDS.get(first..first + count).unwrap_or_default()
}

/// Returns the values of an enum, counted from 1; none for 0.
pub(crate) fn values(choices: u16) -> &'static [Value] {
    let Some(choices) = usize::from(choices).checked_sub(1).and_then(|at| CHOICES.get(at)) else { return &[] };
    let first = usize::from(choices.first);
    VALUES.get(first..first + usize::from(choices.count)).unwrap_or_default()
}

/// Returns the name with a number; the empty string if no name has the number.
pub(crate) const fn name(number: u16) -> &'static str {
    let number = number as usize;
    if number >= ENDS.len() {
        return "";
    }
    let start = if number == 0 { 0 } else { ENDS[number - 1] as usize };
    let (before, _) = POOL.split_at(ENDS[number] as usize);
    before.split_at(start).1
}
