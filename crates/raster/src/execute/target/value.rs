//! Values of targets in memory.

use crate::execute::interface::{Memory, MemoryFault, Surface};

/// Returns the whole number nearest to a value of magnitude less than 2^31, ties to even, as bits.
///
/// Added to 3/2 x 2^52, the value has its units in the last place, and the addition rounds: a few instructions of every processor, where
/// those that round are a call without SSE4.1.
pub(in crate::execute) fn nearest(value: f64) -> u32 {
    (value + 6_755_399_441_055_744.0).to_bits() as u32
}

/// Returns a value clamped to the range from 0 to 1; what is not a number becomes 0.
pub(in crate::execute) fn unit(value: f64) -> f64 {
    if value > 0.0 { value.min(1.0) } else { 0.0 }
}

/// Returns the stored form of a depth.
pub(in crate::execute) fn stored(format: u32, z: f32) -> u32 {
    let fixed = |largest: f64| nearest(unit(z.into()) * largest);
    match format {
        1 => fixed(65_535.0),
        2 => fixed(16_777_215.0),
        _ => z.to_bits(),
    }
}

/// Returns the number that is compared. The upper 8 bits of a dword that holds 24 bits of depth do not count.
pub(in crate::execute) fn number(format: u32, bits: u32) -> f64 {
    match format {
        1 => f64::from(bits),
        2 => f64::from(bits & 0xff_ffff),
        _ => f64::from(f32::from_bits(bits)),
    }
}

/// Reads and writes values of planes, and keeps the first fault.
pub(in crate::execute) struct Access<'m> {
    pub(in crate::execute) memory: &'m dyn Memory,
    pub(in crate::execute) fault: Option<MemoryFault>,
    surface: Surface,
    /// A dword of HTILE that tells of compression, which nothing here writes.
    pub(in crate::execute) compressed: Option<u32>,
}

impl<'m> Access<'m> {
    pub(in crate::execute) fn new(memory: &'m dyn Memory) -> Self {
        let surface = Surface::default();
        memory.enter(surface);
        Self { memory, fault: None, surface, compressed: None }
    }

    /// Makes the accesses from now on those to a kind of target.
    pub(in crate::execute) fn enter(&mut self, surface: Surface) {
        if surface != self.surface {
            self.surface = surface;
            self.memory.enter(surface);
        }
    }

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

    /// Reads elements of the same size; those that are not mapped are 0.
    pub(in crate::execute) fn load_all(&mut self, addresses: &[u64], bytes: usize, out: &mut Vec<u8>) {
        out.clear();
        out.resize(addresses.len() * bytes, 0);
        if let Err(fault) = self.memory.load_elements(addresses, bytes, out) {
            self.fault = self.fault.or(Some(fault));
        }
    }

    /// Writes elements of the same size, in order.
    pub(in crate::execute) fn store_all(&mut self, addresses: &[u64], bytes: usize, data: &[u8]) {
        if let Err(fault) = self.memory.store_elements(addresses, bytes, data) {
            self.fault = self.fault.or(Some(fault));
        }
    }

    pub(in crate::execute) fn store(&mut self, at: u64, bytes: usize, value: u128) {
        if let Err(fault) = self.memory.store(at, &value.to_le_bytes()[..bytes]) {
            self.fault = self.fault.or(Some(fault));
        }
    }
}

/// Returns an element of some that follow each other.
pub(in crate::execute) fn element(all: &[u8], bytes: usize, index: usize) -> u128 {
    let mut raw = [0; 16];
    raw[..bytes].copy_from_slice(&all[index * bytes..(index + 1) * bytes]);
    u128::from_le_bytes(raw)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_numbers_are_the_nearest_and_ties_go_to_even() {
        let mut seed = 3_u32;
        for index in 0..100_000_u32 {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let value = if index % 2 == 0 { f64::from(seed >> 8) / 2.0 } else { f64::from(seed) / 65_537.0 };
            assert_eq!(nearest(value), value.round_ties_even() as u32, "{value}");
            let negative = (-value).round_ties_even() as i32;
            assert_eq!(nearest(-value), negative.cast_unsigned(), "{value}");
        }
    }

    #[test]
    fn depths_are_clamped_and_what_is_not_a_number_is_zero() {
        assert_eq!([f32::NAN, -1.0, 0.5, 2.0].map(|z| stored(1, z)), [0, 0, 32_768, 65_535]);
        assert_eq!([f32::NAN, -1.0, 1.0, 2.0].map(|z| stored(2, z)), [0, 0, 0xff_ffff, 0xff_ffff]);
    }
}
