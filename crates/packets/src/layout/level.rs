//! The generations of the rings and the versions of the copy engine, as the tables name them.

use crate::sdma::Version;
use amdgpu_hw::GfxLevel;

pub(crate) const G6: u8 = GfxLevel::Gfx6 as u8;
pub(crate) const G7: u8 = GfxLevel::Gfx7 as u8;
pub(crate) const G8: u8 = GfxLevel::Gfx8 as u8;
pub(crate) const G9: u8 = GfxLevel::Gfx9 as u8;
pub(crate) const G10: u8 = GfxLevel::Gfx10 as u8;
pub(crate) const G10_3: u8 = GfxLevel::Gfx10_3 as u8;
pub(crate) const G11: u8 = GfxLevel::Gfx11 as u8;
pub(crate) const G11_5: u8 = GfxLevel::Gfx11_5 as u8;
pub(crate) const G12: u8 = GfxLevel::Gfx12 as u8;

pub(super) const V1_0: u8 = Version::V1_0 as u8;
pub(super) const V2_0: u8 = Version::V2_0 as u8;
pub(super) const V2_4: u8 = Version::V2_4 as u8;
pub(super) const V3_0: u8 = Version::V3_0 as u8;
pub(super) const V4_0: u8 = Version::V4_0 as u8;
pub(super) const V5_0: u8 = Version::V5_0 as u8;
pub(super) const V5_2: u8 = Version::V5_2 as u8;
pub(super) const V6_0: u8 = Version::V6_0 as u8;
pub(super) const V7_0: u8 = Version::V7_0 as u8;
