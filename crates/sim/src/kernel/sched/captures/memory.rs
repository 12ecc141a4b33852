//! The memory that compute shaders load descriptors from.

use std::{cell::RefCell, collections::BTreeMap};

use amdgpu_hw::{GfxLevel, GpuVa};
use amdgpu_isa::{WaveSize, resources};
use amdgpu_packets::{
    pm4::Register,
    registers::{COMPUTE_PGM_RSRC2, COMPUTE_USER_DATA_0, Register as NamedRegister},
};

use super::{IbCaptures, machine_code};
use crate::{
    gpu::{Memory, State},
    kernel::complaints::Complaints,
};

/// Returns the registers that are set at the entry of a dispatch's waves.
pub(crate) fn user_data(level: GfxLevel, state: &State) -> Vec<Option<u32>> {
    let at = |register: NamedRegister, index: u32| {
        let first = register.offset(level).and_then(Register::at_byte);
        first.map(|first| state.register(Register::new(first.index() + index)))
    };
    // USER_SGPR of COMPUTE_PGM_RSRC2; there are sixteen registers.
    let count = at(COMPUTE_PGM_RSRC2, 0).map_or(0, |value| value >> 1 & 31).min(16);
    (0..count).map(|index| at(COMPUTE_USER_DATA_0, index)).collect()
}

impl IbCaptures {
    /// Writes the memory from which a dispatch's shader loads descriptors, as far as it follows from the shader's instructions.
    /// Each content is written once for each IB. Errors are reported.
    pub(crate) fn keep_descriptors(
        &self,
        (level, wave): (GfxLevel, WaveSize),
        program: GpuVa,
        user: &[Option<u32>],
        memory: &dyn Memory,
        complaints: &Complaints,
    ) {
        let Some(code) = machine_code((level, wave), program, memory) else { return };
        let read = RefCell::new(BTreeMap::new());
        resources(level, wave, &code, user, &|at| {
            let mut bytes = [0; 4];
            memory.read(GpuVa::from_48_bits(at), &mut bytes).ok()?;
            let dword = u32::from_le_bytes(bytes);
            read.borrow_mut().insert(at, dword);
            Some(dword)
        });
        for (at, dwords) in pieces(&read.into_inner()) {
            if self.memory.lock().insert((at, dwords.clone())) {
                let name = format!("memory-{:x}.bin", GpuVa::from_48_bits(at).as_u64());
                self.write("descriptors", &name, &dwords, complaints);
            }
        }
    }
}

/// Returns runs of consecutive dwords, each with the address of its first dword.
fn pieces(dwords: &BTreeMap<u64, u32>) -> Vec<(u64, Vec<u32>)> {
    let mut pieces: Vec<(u64, Vec<u32>)> = Vec::new();
    for (&at, &dword) in dwords {
        match pieces.last_mut() {
            Some((first, piece)) if *first + 4 * piece.len() as u64 == at => piece.push(dword),
            _ => pieces.push((at, vec![dword])),
        }
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_end_where_a_dword_is_missing() {
        let dwords = BTreeMap::from([(16, 1), (20, 2), (28, 3), (32, 4)]);
        assert_eq!(pieces(&dwords), [(16, vec![1, 2]), (28, vec![3, 4])]);
    }
}
