//! Copies and fills, for the command processor and the copy engine.

use amdgpu_hw::GpuVa;

use super::Stop;
use super::budget::Budget;
use super::port::Port;

/// Copies a number of bytes. A copy onto itself, which drivers use to load data into L2, does nothing.
///
/// # Errors
///
/// The ranges overlap otherwise. The hardware's behaviour is undefined then.
pub(super) fn copy(port: &Port<'_>, to: GpuVa, from: GpuVa, bytes: u64) -> Result<(), Stop> {
    if bytes == 0 || to == from {
        return Ok(());
    }
    if to.as_u64().abs_diff(from.as_u64()) < bytes {
        return Err(Stop::Refused { place: port.place(), what: "source and destination overlap" });
    }
    port.spend(Budget::of_bytes(bytes))?;
    port.copy(to, from, bytes);
    Ok(())
}

/// Fills a number of bytes.
///
/// # Errors
///
/// The job's budget is used up.
pub(super) fn fill(port: &Port<'_>, to: GpuVa, pattern: u32, bytes: u64) -> Result<(), Stop> {
    port.spend(Budget::of_bytes(bytes))?;
    if bytes > 0 {
        port.fill(to, pattern, bytes);
    }
    Ok(())
}
