//! The small on-chip memories: the global data share (GFX6 to GFX11.5) and that of the constant engine (GFX6 to GFX10.3).

/// A memory of 64 KiB. It allocates nothing until it is written.
#[derive(Clone, Debug, Default)]
pub(super) struct Ram(Vec<u8>);

impl Ram {
    /// The size in bytes: the largest of all chips, and the range of 16-bit offsets.
    pub(super) const SIZE: usize = 64 << 10;

    pub(super) const fn new() -> Self {
        Self(Vec::new())
    }

    /// Reads bytes, starting at `offset`. Bytes beyond the end are zero.
    pub(super) fn read(&self, offset: u32, out: &mut [u8]) {
        let stored = self.0.get(offset as usize..).unwrap_or_default();
        let known = out.len().min(stored.len());
        let (here, behind) = out.split_at_mut(known);
        here.copy_from_slice(stored.get(..known).unwrap_or_default());
        behind.fill(0);
    }

    /// Writes bytes, starting at `offset`. Bytes beyond the end are dropped.
    pub(super) fn write(&mut self, offset: u32, data: &[u8]) {
        self.0.resize(Self::SIZE, 0);
        let room = self.0.get_mut(offset as usize..).unwrap_or_default();
        for (byte, &value) in room.iter_mut().zip(data) {
            *byte = value;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_lies_behind_the_end_is_lost_and_zero() {
        let mut ram = Ram::new();
        ram.write(Ram::SIZE as u32 - 2, &[1, 2, 3, 4]);
        ram.write(u32::MAX, &[9]);
        let mut out = [7; 4];
        ram.read(Ram::SIZE as u32 - 2, &mut out);
        assert_eq!(out, [1, 2, 0, 0]);
        ram.read(u32::MAX, &mut out);
        assert_eq!(out, [0; 4]);
    }
}
