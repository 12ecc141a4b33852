//! The names of type-3 opcodes.

use crate::layout::opcodes::NAMES;
pub use crate::layout::opcodes::*;

/// Returns the name of the packet with this opcode in AMD's headers; `None` if no header lists it. If the meaning of an opcode
/// differs between generations, returns the newest name.
///
/// Source: Mesa 25.0.7 `src/amd/common/sid.h`; Linux 6.12 `drivers/gpu/drm/amd/amdgpu/` `sid.h`, `cikd.h`, `vid.h`,
/// `soc15d.h` and `nvd.h`; AMD PAL's packet headers for the later ones.
pub fn name(opcode: u8) -> Option<&'static str> {
    let at = NAMES.binary_search_by_key(&opcode, |row| row.0).ok()?;
    NAMES.get(at).map(|row| row.1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_sorted_so_that_every_name_is_found() {
        assert!(NAMES.is_sorted_by(|one, next| one.0 < next.0));
        assert_eq!((name(WRITE_DATA), name(0xf0), name(0)), (Some("WRITE_DATA"), Some("SET_Q_PREEMPTION_MODE"), None));
    }
}
