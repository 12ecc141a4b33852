//! The order of components.

use core::fmt;

/// The sources of a shader's x, y, z and w: 0 and 1 for the constants, 4 to 7 for components.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Swizzle([u8; 4]);

impl Swizzle {
    /// Every component from its own.
    pub const IDENTITY: Self = Self([4, 5, 6, 7]);
    /// Depth or stencil in x, as Vulkan has it.
    pub const DEPTH: Self = Self([4, 0, 0, 1]);
    /// Both halves of a 64-bit number, which shaders access with instructions of 32 bits: `R64_UINT` and `R64_SINT`.
    pub const HALVES: Self = Self([4, 5, 1, 0]);
    /// Zero everywhere.
    pub const ZERO: Self = Self([0; 4]);

    /// Returns the swizzle that four letters of `xyzw01` name; `-` counts as 0.
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

    /// Returns the numbers of the sources.
    pub const fn sources(self) -> [u8; 4] {
        self.0
    }

    /// Returns the swizzle of a view over a format: each component that the view takes comes from where the format has it.
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
