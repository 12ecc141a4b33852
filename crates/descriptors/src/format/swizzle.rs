//! The order of components.

use core::fmt;

/// The source of each component x, y, z and w that a shader sees: 0 and 1 for the constants, 4 to 7 for components x to w.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Swizzle([u8; 4]);

impl Swizzle {
    /// Maps each component to itself.
    pub const IDENTITY: Self = Self([4, 5, 6, 7]);
    /// Depth or stencil in x, zero in y and z, one in w, as Vulkan requires.
    pub const DEPTH: Self = Self([4, 0, 0, 1]);
    /// The two halves of a 64-bit integer (`R64_UINT` and `R64_SINT`), which shaders access with 32-bit instructions.
    pub const HALVES: Self = Self([4, 5, 1, 0]);
    /// All components are zero.
    pub const ZERO: Self = Self([0; 4]);

    /// Returns the swizzle named by four letters of `xyzw01`, with `-` for 0; `None` for any other letter.
    pub const fn named(letters: [u8; 4]) -> Option<Self> {
        let (mut sources, mut at) = ([0; 4], 0);
        while at < 4 {
            sources[at] = match letters[at] {
                b'0' | b'-' => 0,
                b'1' => 1,
                b'x' => 4,
                b'y' => 5,
                b'z' => 6,
                b'w' => 7,
                _ => return None,
            };
            at += 1;
        }
        Some(Self(sources))
    }

    /// Returns the hardware's numbers of the sources.
    pub const fn sources(self) -> [u8; 4] {
        self.0
    }

    /// Returns the swizzle of a view combined with the swizzle of its format: each component that the view selects is replaced with
    /// its source in the format.
    #[must_use]
    pub fn over(self, format: Self) -> Self {
        let pick = |source: u8| match source {
            4..=7 => format.0.get(usize::from(source - 4)).copied().unwrap_or_default(),
            constant => constant,
        };
        Self(self.0.map(pick))
    }
}

impl fmt::Display for Swizzle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for source in self.0 {
            f.write_str(match source {
                0 => "0",
                1 => "1",
                4 => "x",
                5 => "y",
                6 => "z",
                7 => "w",
                _ => "?",
            })?;
        }
        Ok(())
    }
}
