//! Values of targets in memory.

use crate::execute::interface::{Memory, MemoryFault};

/// Returns the stored form of a depth.
pub(in crate::execute) fn stored(format: u32, z: f32) -> u32 {
    let fixed = |largest: f64| (f64::from(z).clamp(0.0, 1.0) * largest).round_ties_even() as u32;
    match format {
        1 => fixed(65_535.0),
        2 => fixed(16_777_215.0),
        _ => z.to_bits(),
    }
}

/// Returns the number that is compared.
pub(in crate::execute) fn number(format: u32, bits: u32) -> f64 {
    if format == 3 { f64::from(f32::from_bits(bits)) } else { f64::from(bits) }
}

/// Reads and writes values of planes, and keeps the first fault.
pub(in crate::execute) struct Access<'m> {
    pub(in crate::execute) memory: &'m dyn Memory,
    pub(in crate::execute) fault: Option<MemoryFault>,
    /// A dword of HTILE that tells of compression, which nothing here writes.
    pub(in crate::execute) compressed: Option<u32>,
}

impl Access<'_> {
    /// Reads a value of up to 16 bytes; 0 if it is not mapped.
    pub(in crate::execute) fn load(&mut self, at: u64, bytes: usize) -> u128 {
        let mut raw = [0; 16];
        match self.memory.load(at, &mut raw[..bytes]) {
            Ok(()) => u128::from_le_bytes(raw),
            Err(fault) => {
                self.fault = self.fault.or(Some(fault));
                0
            }
        }
    }

    pub(in crate::execute) fn store(&mut self, at: u64, bytes: usize, value: u128) {
        if let Err(fault) = self.memory.store(at, &value.to_le_bytes()[..bytes]) {
            self.fault = self.fault.or(Some(fault));
        }
    }
}
