//! GPU addresses that the caller passes.

use amdgpu_winsys::vamgr::GpuVa;

use crate::border::{AGW_ERROR_INVALID_OPAQUE_CAPTURE_ADDRESS, Answer, Failure};

/// Converts an address of 48 bits, whose upper bits are zero or copies of bit 47. Other upper bits would be lost, and the address
/// would be another one.
pub(crate) fn gpu_address(address: u64, argument: &str) -> Answer<GpuVa> {
    if address >> 48 == 0 {
        return Ok(GpuVa::from_48_bits(address));
    }
    GpuVa::new(address).map_err(|_| Failure::argument(argument, &format!("{address:#x} is no address of 48 bits")))
}

/// Converts an address that the caller chose for memory, or 0 for any.
pub(crate) fn chosen_address(address: u64) -> Answer<GpuVa> {
    gpu_address(address, "address").map_err(|failure| failure.with_code(AGW_ERROR_INVALID_OPAQUE_CAPTURE_ADDRESS))
}
