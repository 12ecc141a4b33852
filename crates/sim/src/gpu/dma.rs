//! Copies and fills, for the command processor and the copy engine.

use amdgpu_hw::GpuVa;

use super::Stop;
use super::budget::Budget;
use super::port::Port;

/// Copies a number of bytes. A copy onto itself, which drivers use to load data into L2, does nothing.
///
/// # Errors
///
/// The ranges overlap otherwise, for which the hardware's behaviour is undefined; or the job's budget is used up, or the job has
/// ended.
pub(super) fn copy(port: &Port<'_>, to: GpuVa, from: GpuVa, bytes: u64) -> Result<(), Stop> {
    if bytes == 0 || to == from {
        return Ok(());
    }
    if to.as_u64().abs_diff(from.as_u64()) < bytes {
        return Err(Stop::Refused { place: port.place(), what: "source and destination overlap" });
    }
    for (done, piece) in pieces(bytes) {
        port.spend(Budget::of_bytes(piece))?;
        match (to.checked_add(done), from.checked_add(done)) {
            (Some(to), Some(from)) => port.copy(to, from, piece),
            // Beyond the end of the address space; the piece before has reported it.
            _ => break,
        }
    }
    Ok(())
}

/// Fills a number of bytes.
///
/// # Errors
///
/// The job's budget is used up, or the job has ended.
pub(super) fn fill(port: &Port<'_>, to: GpuVa, pattern: u32, bytes: u64) -> Result<(), Stop> {
    for (done, piece) in pieces(bytes) {
        port.spend(Budget::of_bytes(piece))?;
        // The size of a piece is a multiple of the pattern's.
        match to.checked_add(done) {
            Some(to) => port.fill(to, pattern, piece),
            None => break,
        }
    }
    Ok(())
}

/// Splits a number of bytes into the pieces between which the job may end: each with the bytes before it, and its own.
fn pieces(bytes: u64) -> impl Iterator<Item = (u64, u64)> {
    let count = bytes.div_ceil(Budget::PIECE);
    (0..count).map(move |index| (index * Budget::PIECE, (bytes - index * Budget::PIECE).min(Budget::PIECE)))
}
