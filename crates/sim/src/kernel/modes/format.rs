//! The formats of pixels that planes can show.

use amdgpu_hw::GfxLevel;
use amdgpu_surface::dcc::DccCode;

use crate::chips::Profile;

/// The formats of cursors.
///
/// Source: Linux 6.12 `amdgpu_dm_plane.c`, `cursor_formats`.
pub(crate) const CURSOR: [[u8; 4]; 1] = [*b"AR24"];
/// The formats of primary planes (`drm_fourcc.h`) that every chip has, in the kernel's order.
///
/// Source: Linux 6.12 `amdgpu_dm_plane.c`, `rgb_formats`.
const RGB: [[u8; 4]; 14] = [
    *b"XR24", *b"AR24", *b"RA24", *b"XR30", *b"XB30", *b"AR30", *b"AB30", *b"XR48", *b"XB48", *b"AR48", *b"AB48",
    *b"XB24", *b"AB24", *b"RG16",
];
/// The formats of planes with luma and with chroma of half the width and height.
const LUMA: [[u8; 4]; 2] = [*b"NV12", *b"P010"];
/// The formats of half floats.
const HALF: [[u8; 4]; 4] = [*b"XR4H", *b"AR4H", *b"XB4H", *b"AB4H"];

/// Returns the formats of a chip's primary planes, in the kernel's order. All display cores show half floats. The newer cores,
/// which APUs have since Raven and other chips since Navi, also show formats with luma.
///
/// Source: Linux 6.12 `amdgpu_dm_plane.c`, `amdgpu_dm_plane_get_plane_formats`; `dce60_resource.c` to `dcn401_resource.c`,
/// `pixel_format_support`.
pub(crate) fn primary(profile: &Profile) -> Vec<[u8; 4]> {
    let luma = LUMA.iter().filter(|_| has_luma(profile));
    RGB.iter().chain(luma).chain(&HALF).copied().collect()
}

/// Returns `true` if a chip's primary planes show formats with luma.
pub(super) fn has_luma(profile: &Profile) -> bool {
    profile.gfx_level >= GfxLevel::Gfx10 || profile.gfx_level == GfxLevel::Gfx9 && profile.is_apu()
}

/// A format that can be scanned out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Format([u8; 4]);

impl Format {
    /// The format of pixels without alpha that are computed from luma and chroma.
    pub(super) const OPAQUE: Self = Self(*b"XR24");

    /// Returns the format with a code.
    pub(crate) fn find(code: u32) -> Option<Self> {
        let mut all = RGB.iter().chain(&LUMA).chain(&HALF);
        all.find(|known| **known == code.to_le_bytes()).copied().map(Self)
    }

    /// Returns the format of a framebuffer that is described by its bits per pixel and its colour depth.
    ///
    /// Source: Linux 6.12 `drm_fourcc.c`, `drm_mode_legacy_fb_format`.
    pub(crate) const fn legacy(bits: u32, depth: u32) -> Option<Self> {
        match (bits, depth) {
            (16, 16) => Some(Self(*b"RG16")),
            (32, 24) => Some(Self(*b"XR24")),
            (32, 30) => Some(Self(*b"XR30")),
            (32, 32) => Some(Self(*b"AR24")),
            _ => None,
        }
    }

    /// Returns the format's code (`drm_fourcc.h`).
    pub(crate) const fn code(self) -> u32 {
        u32::from_le_bytes(self.0)
    }

    /// Returns `true` if the format has this code.
    pub(crate) fn is(self, code: [u8; 4]) -> bool {
        self.0 == code
    }

    /// Returns the bits per pixel and the colour depth. The latter is 0 for a format that is newer than such descriptions.
    ///
    /// Source: Linux 6.12 `drm_fourcc.c`, `__drm_format_info`.
    pub(crate) fn bits_and_depth(self) -> (u32, u32) {
        let depth = match &self.0 {
            b"RG16" => 16,
            b"XR24" | b"XB24" => 24,
            b"XR30" | b"XB30" | b"AR30" | b"AB30" => 30,
            b"AR24" | b"AB24" | b"RA24" => 32,
            _ => 0,
        };
        (self.bytes() * 8, depth)
    }

    /// Returns the number of bytes of a pixel of the first plane.
    pub(crate) fn bytes(self) -> u32 {
        match &self.0 {
            b"NV12" => 1,
            b"RG16" | b"P010" => 2,
            _ if self.is_wide() => 8,
            _ => 4,
        }
    }

    /// Returns the numbers of bytes of a pixel of the planes after the first.
    pub(crate) const fn other_planes(self) -> &'static [u32] {
        match &self.0 {
            b"NV12" => &[2],
            b"P010" => &[4],
            _ => &[],
        }
    }

    /// Returns the number of pixels of the first plane, in each direction, for a pixel of the others.
    pub(crate) const fn subsampling(self) -> u32 {
        if self.other_planes().is_empty() { 1 } else { 2 }
    }

    /// Returns `true` if a component has 16 bits.
    fn is_wide(self) -> bool {
        matches!(&self.0[2..], b"48" | b"4H")
    }

    /// Returns the red, green and blue components of a pixel, each with 8 bits. Half floats from 0 to 1 are shown.
    #[expect(clippy::cast_sign_loss, reason = "the values are clamped to those from 0 to 1")]
    pub(super) fn colour(self, pixel: u64) -> [u8; 3] {
        let eight = |value: u32, bits: u32| (value * 255 / ((1 << bits) - 1)) as u8;
        self.components(pixel, eight, |value| (value.clamp(0.0, 1.0) * 255.0).round() as u8)
    }

    /// Returns the red, green and blue components of a pixel, from 0 to 1 but for those of half floats.
    pub(super) fn exact_colour(self, pixel: u64) -> [f64; 3] {
        self.components(pixel, |value, bits| f64::from(value) / f64::from((1_u32 << bits) - 1), f64::from)
    }

    /// Returns what becomes of the red, green and blue components of a pixel: of whole numbers with their bits, or of half floats.
    fn components<T>(self, pixel: u64, whole: impl Fn(u32, u32) -> T, half: impl Fn(f32) -> T) -> [T; 3] {
        let number = |low: u32, bits: u32| whole((pixel >> low) as u32 & ((1 << bits) - 1), bits);
        let places = |bits: u32| match &self.0[..2] {
            b"RA" => [3 * bits, 2 * bits, bits],
            [_, b'R'] => [2 * bits, bits, 0],
            _ => [0, bits, 2 * bits],
        };
        match &self.0[2..] {
            b"16" => [number(11, 5), number(5, 6), number(0, 5)],
            b"30" => places(10).map(|low| number(low, 10)),
            b"48" => places(16).map(|low| number(low, 16)),
            b"4H" => places(16).map(|low| half(from_half((pixel >> low) as u16))),
            _ => places(8).map(|low| number(low, 8)),
        }
    }

    /// Returns the pixel that a code of DCC stands for, in the low bits; 0 for a code that does not name one.
    pub(super) fn cleared(self, code: DccCode) -> u128 {
        let (widths, one) = match &self.0[2..] {
            b"16" => (&[5, 6, 5][..], None),
            b"30" => (&[10, 10, 10, 2][..], None),
            b"48" => (&[16; 4][..], None),
            b"4H" => (&[16; 4][..], Some(0x3c00)),
            _ => (&[8; 4][..], None),
        };
        // Alpha has a bit of its own, or what the format has in its place; three channels of one pixel share theirs.
        let own = match &self.0[..2] {
            b"RA" => Some(0),
            _ => (widths.len() == 4).then_some(3),
        };
        code.pixel(widths, own, |width| one.unwrap_or((1 << width) - 1))
    }

    /// Returns the pixel of a column of rows of luma and chroma, as [`OPAQUE`](Self::OPAQUE). The encoding is that of planes
    /// whose properties were not changed: BT.709 with limited range.
    #[expect(clippy::cast_sign_loss, reason = "the values are clamped to those from 0 to 255")]
    pub(super) fn of_luma(self, luma: &[u8], chroma: &[u8], column: usize) -> [u8; 4] {
        // Components of 16 bits have their value in the upper bits.
        let bytes = self.bytes() as usize;
        let at = |row: &[u8], index: usize| row.get((index + 1) * bytes - 1).copied().map_or(0.0, f32::from);
        let (luma, pair) = (1.164 * (at(luma, column) - 16.0), column / 2 * 2);
        let [blue, red] = [at(chroma, pair), at(chroma, pair + 1)].map(|value| value - 128.0);
        let byte = |value: f32| value.round().clamp(0.0, 255.0) as u8;
        [byte(luma + 2.112 * blue), byte(luma - 0.213 * blue - 0.533 * red), byte(luma + 1.793 * red), u8::MAX]
    }
}

/// Returns the value of a half float.
fn from_half(half: u16) -> f32 {
    let (exponent, fraction) = (i32::from(half >> 10 & 0x1f), f32::from(half & 0x3ff));
    let value = match exponent {
        0 => fraction * f32::powi(2.0, -24),
        31 if fraction == 0.0 => f32::INFINITY,
        31 => 0.0,
        _ => (1024.0 + fraction) * f32::powi(2.0, exponent - 25),
    };
    if half >> 15 == 1 { -value } else { value }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_format_shows_red_as_red() {
        for (code, red) in [
            (*b"XR24", 0xff_0000),
            (*b"AB24", 0xff),
            (*b"RA24", 0xff00_0000),
            (*b"RG16", 0xf800),
            (*b"XR30", 0x3ff << 20),
            (*b"AB30", 0x3ff),
            (*b"XR48", 0xffff << 32),
            (*b"XB48", 0xffff),
            (*b"AR4H", 0x3c00 << 32),
            (*b"XB4H", 0x3c00),
        ] {
            let format = Format::find(u32::from_le_bytes(code)).unwrap();
            assert_eq!(format.colour(red), [255, 0, 0], "{format:?}");
        }
    }

    #[test]
    fn codes_of_dcc_are_extremes_of_channels_with_alpha_apart() {
        let cleared = |format: &[u8; 4], code| Format::find(u32::from_le_bytes(*format)).unwrap().cleared(code);
        let alpha = DccCode::Extremes { main: false, extra: true };
        assert_eq!(cleared(b"XR24", alpha), 0xff00_0000);
        assert_eq!(cleared(b"RA24", alpha), 0xff);
        assert_eq!(cleared(b"AB30", alpha), 3 << 30);
        assert_eq!(cleared(b"RG16", alpha), 0);
        assert_eq!(cleared(b"AR4H", DccCode::Extremes { main: true, extra: false }), 0x3c00_3c00_3c00);
        assert_eq!(cleared(b"AR24", DccCode::Bits(true)), 0xffff_ffff);
        assert_eq!(cleared(b"AB24", DccCode::HighestChannel(true)), 0xff00_0000);
        assert_eq!(cleared(b"XR30", DccCode::HighestChannel(false)), 0x3fff_ffff);
        assert_eq!(cleared(b"AR4H", DccCode::Repeated(u128::MAX / 0xffff * 0x3c00)), 0x3c00_3c00_3c00_3c00);
        assert_eq!(cleared(b"AR24", DccCode::First), 0);
    }

    #[test]
    fn half_floats_and_luma_have_their_values() {
        let values = [(0x3800, 0.5), (0, 0.0), (0xbc00, -1.0), (0x7bff, 65504.0), (1, 5.960_464_5e-8)];
        assert!(values.iter().all(|&(half, value)| from_half(half).to_bits() == f32::to_bits(value)));
        let format = Format::find(u32::from_le_bytes(*b"NV12")).unwrap();
        assert_eq!(format.of_luma(&[235, 16], &[128, 128], 0), [255, 255, 255, 255]);
        assert_eq!(format.of_luma(&[235, 16], &[128, 128], 1), [0, 0, 0, 255]);
        // Red has Cr of 240 and luma of 63.
        let [blue, green, red, _] = format.of_luma(&[63], &[102, 240], 0);
        assert!(red > 250 && green < 5 && blue < 5, "{red} {green} {blue}");
    }
}
