//! Both phases, and the composition of the result from the loaded bytes.

use amdgpu_hw::GfxLevel;

use super::{Access, LoadError, Loads, Request, Shift, accesses, split};

/// An access of a plan with its loads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Piece {
    /// The access, with the bytes to drop and the bytes that it provides.
    pub access: Access,
    /// The number of bytes to add to the address registers first. It is 0 for a dynamic shift, whose address is the whole address
    /// rounded down.
    pub rebase: i64,
    /// The load instructions.
    pub loads: Loads,
}

/// The loads of a request. The result is the concatenation of the bytes that the pieces provide.
///
/// Most requests have one or two pieces, and a piece has room for 64 loads, so the list is allocated at the size that it needs.
pub type Plan = Vec<Piece>;

/// Plans the accesses of a request, and the instructions of each access.
///
/// # Errors
///
/// [`LoadError`] if the request is invalid or cannot be loaded.
pub fn plan(request: &Request, level: GfxLevel) -> Result<Plan, LoadError> {
    let accesses = accesses(request)?;
    let mut plan = Vec::with_capacity(accesses.len());
    for access in accesses.iter() {
        // A dynamic shift rounds the whole address down, so nothing remains for the immediate.
        let (rebase, const_offset) = match request.const_offset.checked_add_signed(access.at) {
            _ if access.shift == Shift::Dynamic => (0, 0),
            Some(constant) => (0, constant),
            None => (i64::from(access.at) + i64::from(request.const_offset), 0),
        };
        let part = Request {
            components: access.components,
            component_bytes: access.bits / 8,
            align: access.align,
            const_offset,
            ..*request
        };
        let loads = split(&part, level)?;
        plan.push(Piece { access: *access, rebase, loads });
    }
    Ok(plan)
}
