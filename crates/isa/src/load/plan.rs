//! Both phases, and how the loaded bytes make the result.

use amdgpu_hw::GfxLevel;

use super::{Access, LoadError, Loads, Request, Shift, accesses, split};

/// One access of a plan and its loads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Piece {
    /// The access: what it drops and what it yields.
    pub access: Access,
    /// Bytes to add to the address registers first: 0, or negative where the access starts before the register's address.
    pub rebase: i32,
    /// Its instructions.
    pub loads: Loads,
}

/// The loads of a whole request. The result's bytes are those that the pieces yield, one piece after the other.
///
/// Most requests are one piece or two, and a piece has room for 64 loads: the list has the room that it needs.
pub type Plan = Vec<Piece>;

/// Plans a request: accesses, and the instructions of each.
///
/// # Errors
///
/// [`LoadError`] for a request that cannot be loaded.
pub fn plan(request: &Request, level: GfxLevel) -> Result<Plan, LoadError> {
    let accesses = accesses(request)?;
    let mut plan = Vec::with_capacity(accesses.len());
    for access in accesses.iter() {
        // A dynamic shift rounds the whole address down, so that nothing is left for the immediate.
        let (rebase, const_offset) = match request.const_offset.checked_add_signed(access.at) {
            _ if access.shift == Shift::Dynamic => (0, 0),
            Some(constant) => (0, constant),
            None => (access.at.saturating_add_unsigned(request.const_offset), 0),
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
