//! Chips that kernels of today know, and whose generations have no rules in these tables.

use std::fmt;

/// A chip that is known by name alone.
///
/// ```
/// use amdgpu_hw::LaterChip;
///
/// let chip = LaterChip::named("gfx1170").ok_or("no such name")?;
/// assert_eq!(chip.name(), "GFX1170");
/// # Ok::<(), &str>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LaterChip {
    name: &'static str,
    /// The version of the graphics block that IP discovery reports.
    version: (u32, u32, u32),
    /// The family, where the kernel has one for this chip alone.
    family: Option<u32>,
}

/// The chips. A name has the digits of the IP version, except that of a family of the kernel whose chip has no other name yet.
///
/// Source: Linux 7.x `amdgpu_drm.h` (`AMDGPU_FAMILY_GC_11_5_4`) and `amdgpu_discovery.c`,
/// `amdgpu_discovery_set_gc_ip_blocks`; names of Mesa 26.2 `src/amd/common/amd_family.c` and of LLVM's graphics targets.
const LATER: [LaterChip; 6] = [
    LaterChip { name: "GC_11_5_4", version: (11, 5, 4), family: Some(154) },
    LaterChip { name: "GFX1156", version: (11, 5, 6), family: None },
    LaterChip { name: "GFX1170", version: (11, 7, 0), family: None },
    LaterChip { name: "GFX1171", version: (11, 7, 1), family: None },
    LaterChip { name: "GFX1172", version: (11, 7, 2), family: None },
    LaterChip { name: "GFX1210", version: (12, 1, 0), family: None },
];

impl LaterChip {
    /// Returns all of them.
    pub const fn all() -> &'static [Self] {
        &LATER
    }

    /// Returns the chip of a family or of a discovered version of the graphics block; `None` if it is none of them.
    pub fn of(family: u32, version: Option<(u32, u32, u32)>) -> Option<Self> {
        LATER.into_iter().find(|chip| chip.family == Some(family) || version == Some(chip.version))
    }

    /// Returns the chip with a name, in upper or lower case.
    pub fn named(name: &str) -> Option<Self> {
        LATER.into_iter().find(|chip| chip.name.eq_ignore_ascii_case(name))
    }

    /// Returns the name of the chip.
    pub const fn name(self) -> &'static str {
        self.name
    }
}

impl fmt::Display for LaterChip {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (major, minor, revision) = self.version;
        write!(f, "{} (graphics IP {major}.{minor}.{revision})", self.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Family, GfxLevel, identify};

    #[test]
    fn a_later_chip_is_found_by_its_family_and_by_its_version() {
        assert_eq!(LaterChip::of(154, None).map(LaterChip::name), Some("GC_11_5_4"));
        assert_eq!(LaterChip::of(150, Some((11, 7, 1))).map(LaterChip::name), Some("GFX1171"));
        assert_eq!(LaterChip::of(150, Some((11, 5, 1))), None);
        assert_eq!(LaterChip::named("navi31"), None);
    }

    #[test]
    fn no_later_chip_is_one_of_the_known_ones() {
        for chip in LaterChip::all() {
            assert_eq!(LaterChip::named(&chip.name().to_lowercase()), Some(*chip));
            if let Some(family) = chip.family {
                assert!((0..=0xff).all(|revision| identify(Family::from(family), revision).is_none()), "{chip}");
            }
            let (major, minor, _) = chip.version;
            assert!(GfxLevel::of_version(major, minor).is_none() || minor == 5, "{chip} has rules");
        }
    }
}
