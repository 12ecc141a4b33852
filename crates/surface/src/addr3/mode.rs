//! Swizzle modes of GFX12.

/// A swizzle mode of GFX12. The discriminants are the hardware's numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Mode {
    /// Linear rows of elements.
    Linear = 0,
    /// Blocks of 256 bytes.
    D2_256B = 1,
    /// Thin (2D) blocks of 4 KiB.
    D2_4K = 2,
    /// Thin (2D) blocks of 64 KiB.
    D2_64K = 3,
    /// Thin (2D) blocks of 256 KiB.
    D2_256K = 4,
    /// Thick (3D) blocks of 4 KiB.
    D3_4K = 5,
    /// Thick (3D) blocks of 64 KiB.
    D3_64K = 6,
    /// Thick (3D) blocks of 256 KiB.
    D3_256K = 7,
}

impl Mode {
    /// All modes, ordered by number.
    pub const ALL: [Self; 8] = [
        Self::Linear,
        Self::D2_256B,
        Self::D2_4K,
        Self::D2_64K,
        Self::D2_256K,
        Self::D3_4K,
        Self::D3_64K,
        Self::D3_256K,
    ];

    /// Returns the mode with this number; `None` above 7.
    pub const fn new(number: u8) -> Option<Self> {
        if number < 8 { Some(Self::ALL[number as usize]) } else { None }
    }

    /// Returns the number of the mode in the hardware's fields.
    pub const fn number(self) -> u8 {
        self as u8
    }

    /// Returns `true` if the mode is linear.
    pub const fn is_linear(self) -> bool {
        matches!(self, Self::Linear)
    }

    /// Returns `true` if blocks have more than one slice.
    pub const fn is_3d(self) -> bool {
        self as u8 >= Self::D3_4K as u8
    }

    /// Returns the base-2 logarithm of the block size in bytes; 8 for the linear mode.
    pub const fn block_bits(self) -> u32 {
        match self {
            Self::Linear | Self::D2_256B => 8,
            Self::D2_4K | Self::D3_4K => 12,
            Self::D2_64K | Self::D3_64K => 16,
            Self::D2_256K | Self::D3_256K => 18,
        }
    }

    /// Returns the dimensions of a block, in elements.
    ///
    /// Thin blocks are square or twice as wide as high. Each doubling of the samples halves the longer side; in squares it halves
    /// the height (`Gfx12Lib::ComputeBlockDimensionForSurf`).
    pub const fn block(self, bytes_log2: u32, samples_log2: u32) -> [u32; 3] {
        let bits = self.block_bits();
        if self.is_linear() {
            return [1 << (bits - bytes_log2), 1, 1];
        }
        if self.is_3d() {
            return thick(bits, bytes_log2);
        }
        let (mut w, mut h) = ((bits - bytes_log2).div_ceil(2), (bits - bytes_log2) / 2);
        let mut sample = 0;
        while sample < samples_log2 {
            if w > h {
                w -= 1;
            } else {
                h -= 1;
            }
            sample += 1;
        }
        [1 << w, 1 << h, 1]
    }
}

/// Returns the dimensions of a thick block.
const fn thick(bits: u32, bytes_log2: u32) -> [u32; 3] {
    let table: [[u32; 3]; 5] = match bits {
        12 => [[4, 4, 4], [3, 4, 4], [3, 4, 3], [3, 3, 3], [2, 3, 3]],
        16 => [[6, 5, 5], [5, 5, 5], [5, 5, 4], [5, 4, 4], [4, 4, 4]],
        _ => [[6, 6, 6], [5, 6, 6], [5, 6, 5], [5, 5, 5], [4, 5, 5]],
    };
    let [w, h, d] = table[bytes_log2 as usize];
    [1 << w, 1 << h, 1 << d]
}
