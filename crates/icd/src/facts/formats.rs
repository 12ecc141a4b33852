//! Texel formats: uncompressed colours of 1, 2, 4, 8, 12 or 16 bytes. Formats with 12 bytes are only for linear images.

use ash::vk;

use super::fill_chain;
use crate::objects::Gpu;

/// The meaning of a channel's bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Numeric {
    Unorm,
    Snorm,
    Uscaled,
    Sscaled,
    Uint,
    Sint,
    Srgb,
    Sfloat,
}

/// Channels, starting with the lowest bit: the component, red to alpha, and its number of bits.
type Channels = &'static [(usize, u32)];

/// A row of the table: formats with consecutive numbers, which differ in the meaning of their bits.
struct Row(vk::Format, &'static [Numeric], Channels);

/// The meanings in the order of the formats with 8 bits per channel.
const EIGHT: &[Numeric] = {
    use Numeric::{Sint, Snorm, Srgb, Sscaled, Uint, Unorm, Uscaled};
    &[Unorm, Snorm, Uscaled, Sscaled, Uint, Sint, Srgb]
};
/// The meanings in the order of the formats with 10 bits per channel.
const TEN: &[Numeric] = EIGHT.split_at(6).0;
/// The meanings in the order of the formats with 16 bits per channel.
const SIXTEEN: &[Numeric] = {
    use Numeric::{Sfloat, Sint, Snorm, Sscaled, Uint, Unorm, Uscaled};
    &[Unorm, Snorm, Uscaled, Sscaled, Uint, Sint, Sfloat]
};
/// The meanings in the order of the formats with 32 and 64 bits per channel.
const WIDE: &[Numeric] = &[Numeric::Uint, Numeric::Sint, Numeric::Sfloat];
/// The only meaning of the packed formats with 8 and 16 bits.
const PACKED: &[Numeric] = &[Numeric::Unorm];

/// The formats.
///
/// Source: Vulkan 1.3 specification, section "Compatible Formats", and the descriptions of `VkFormat`.
const TABLE: &[Row] = {
    use vk::Format as F;
    &[
        Row(F::R4G4_UNORM_PACK8, PACKED, &[(1, 4), (0, 4)]),
        Row(F::R4G4B4A4_UNORM_PACK16, PACKED, &[(3, 4), (2, 4), (1, 4), (0, 4)]),
        Row(F::B4G4R4A4_UNORM_PACK16, PACKED, &[(3, 4), (0, 4), (1, 4), (2, 4)]),
        Row(F::R5G6B5_UNORM_PACK16, PACKED, &[(2, 5), (1, 6), (0, 5)]),
        Row(F::B5G6R5_UNORM_PACK16, PACKED, &[(0, 5), (1, 6), (2, 5)]),
        Row(F::R5G5B5A1_UNORM_PACK16, PACKED, &[(3, 1), (2, 5), (1, 5), (0, 5)]),
        Row(F::B5G5R5A1_UNORM_PACK16, PACKED, &[(3, 1), (0, 5), (1, 5), (2, 5)]),
        Row(F::A1R5G5B5_UNORM_PACK16, PACKED, &[(2, 5), (1, 5), (0, 5), (3, 1)]),
        Row(F::R8_UNORM, EIGHT, &[(0, 8)]),
        Row(F::R8G8_UNORM, EIGHT, &[(0, 8), (1, 8)]),
        Row(F::R8G8B8A8_UNORM, EIGHT, &[(0, 8), (1, 8), (2, 8), (3, 8)]),
        Row(F::B8G8R8A8_UNORM, EIGHT, &[(2, 8), (1, 8), (0, 8), (3, 8)]),
        Row(F::A8B8G8R8_UNORM_PACK32, EIGHT, &[(0, 8), (1, 8), (2, 8), (3, 8)]),
        Row(F::A2R10G10B10_UNORM_PACK32, TEN, &[(2, 10), (1, 10), (0, 10), (3, 2)]),
        Row(F::A2B10G10R10_UNORM_PACK32, TEN, &[(0, 10), (1, 10), (2, 10), (3, 2)]),
        Row(F::R16_UNORM, SIXTEEN, &[(0, 16)]),
        Row(F::R16G16_UNORM, SIXTEEN, &[(0, 16), (1, 16)]),
        Row(F::R16G16B16A16_UNORM, SIXTEEN, &[(0, 16), (1, 16), (2, 16), (3, 16)]),
        Row(F::R32_UINT, WIDE, &[(0, 32)]),
        Row(F::R32G32_UINT, WIDE, &[(0, 32), (1, 32)]),
        Row(F::R32G32B32_UINT, WIDE, &[(0, 32), (1, 32), (2, 32)]),
        Row(F::R32G32B32A32_UINT, WIDE, &[(0, 32), (1, 32), (2, 32), (3, 32)]),
        Row(F::R64_UINT, WIDE, &[(0, 64)]),
        Row(F::R64G64_UINT, WIDE, &[(0, 64), (1, 64)]),
    ]
};

/// A texel format.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Texel {
    numeric: Numeric,
    channels: Channels,
}

impl Texel {
    /// Returns the texel format; `None` if images cannot have this format.
    pub(crate) fn of(format: vk::Format) -> Option<Self> {
        TABLE.iter().find_map(|Row(first, numerics, channels)| {
            let index = usize::try_from(format.as_raw() - first.as_raw()).ok()?;
            numerics.get(index).map(|&numeric| Self { numeric, channels })
        })
    }

    /// Returns the size of a texel in bytes.
    pub(crate) fn bytes(self) -> u32 {
        self.channels.iter().map(|(_, bits)| bits).sum::<u32>() / 8
    }

    /// Returns `true` if tiled images can have the format. No generation has tiles with texels of 12 bytes.
    pub(crate) fn has_tiles(self) -> bool {
        self.bytes().is_power_of_two()
    }

    /// Returns a texel with a colour, repeated to at least a dword. The colour is given as four words, the bits of floats or
    /// integers.
    pub(crate) fn pack(self, color: [u32; 4]) -> Vec<u32> {
        let (mut texel, mut at) = (0_u128, 0);
        for &(component, bits) in self.channels {
            let raw = color.get(component).copied().unwrap_or(0);
            texel |= u128::from(self.numeric.encode(raw, bits, component == 3)) << at;
            at += bits;
        }
        while at < u128::BITS {
            texel |= texel << at;
            at *= 2;
        }
        let bytes = texel.to_le_bytes();
        let words = bytes.as_chunks::<4>().0.iter().map(|word| u32::from_le_bytes(*word));
        words.zip(0..self.bytes().div_ceil(4)).map(|(word, _)| word).collect()
    }
}

/// Rounds a number to an integer, with saturation.
fn rounded(value: f64) -> i64 {
    value.round_ties_even() as i64
}

impl Numeric {
    /// Returns the bits of a channel.
    ///
    /// Source: Vulkan 1.3 specification, sections "Conversion From Floating-Point to Normalized Fixed-Point" and "sRGB EOTF".
    fn encode(self, raw: u32, bits: u32, is_alpha: bool) -> u64 {
        let mask = u64::MAX >> (u64::BITS - bits);
        let float = f64::from(f32::from_bits(raw));
        let ones = |bits: u32| f64::from(u32::MAX >> (u32::BITS - bits.clamp(1, 32)));
        let signed = |value: f64, most: f64, least: f64| rounded(value.clamp(least, most)).cast_unsigned() & mask;
        match self {
            Self::Unorm => signed(float.clamp(0.0, 1.0) * ones(bits), ones(bits), 0.0),
            Self::Srgb if !is_alpha => {
                let linear = float.clamp(0.0, 1.0);
                let curved =
                    if linear <= 0.003_130_8 { linear * 12.92 } else { 1.055 * linear.powf(1.0 / 2.4) - 0.055 };
                signed(curved * ones(bits), ones(bits), 0.0)
            }
            Self::Srgb => Self::Unorm.encode(raw, bits, is_alpha),
            Self::Snorm => signed(float.clamp(-1.0, 1.0) * ones(bits - 1), ones(bits - 1), -ones(bits - 1)),
            Self::Uscaled => signed(float, ones(bits), 0.0),
            Self::Sscaled => signed(float, ones(bits - 1), -ones(bits - 1) - 1.0),
            Self::Uint => u64::from(raw) & mask,
            Self::Sint => i64::from(raw.cast_signed()).cast_unsigned() & mask,
            Self::Sfloat => match bits {
                16 => half(raw).into(),
                32 => raw.into(),
                _ => float.to_bits(),
            },
        }
    }
}

/// Converts a 32-bit float to the nearest 16-bit float, rounding ties to even.
fn half(raw: u32) -> u32 {
    let (sign, magnitude) = (raw >> 16 & 0x8000, raw & 0x7fff_ffff);
    sign | match magnitude {
        0x7f80_0001.. => 0x7e00,
        // From 65520 on.
        0x477f_f000.. => 0x7c00,
        // Below 2^-14 the last bit is 2^-24.
        ..0x3880_0000 => {
            let units = rounded(f64::from(f32::from_bits(magnitude)) * 16_777_216.0);
            u32::try_from(units).unwrap_or(0)
        }
        _ => (magnitude - 0x3800_0000 + 0xfff + (magnitude >> 13 & 1)) >> 13,
    }
}

/// The features of a format in every tiling: copies by queues and by the CPU.
const COPIED: vk::FormatFeatureFlags2 = vk::FormatFeatureFlags2::from_raw(
    vk::FormatFeatureFlags2::TRANSFER_SRC.as_raw()
        | vk::FormatFeatureFlags2::TRANSFER_DST.as_raw()
        | vk::FormatFeatureFlags2::HOST_IMAGE_TRANSFER_EXT.as_raw(),
);

/// Returns the features of a format in the form of Vulkan 1.3, for linear and tiled images. Texel buffers are not supported.
fn features(gpu: &Gpu, format: vk::Format) -> [vk::FormatFeatureFlags2; 2] {
    let texel = Texel::of(format).filter(|_| gpu.tiles.is_some());
    let are_there = [texel.is_some(), texel.is_some_and(Texel::has_tiles)];
    are_there.map(|is_there| if is_there { COPIED } else { vk::FormatFeatureFlags2::empty() })
}

/// Returns features in the form of Vulkan 1.0, which has the same bits but fewer of them.
fn old(features: vk::FormatFeatureFlags2) -> vk::FormatFeatureFlags {
    vk::FormatFeatureFlags::from_raw(u32::try_from(features.as_raw() & 0x7fff_ffff).unwrap_or(0))
}

/// Returns the features of a format.
pub(crate) fn properties(gpu: &Gpu, format: vk::Format) -> vk::FormatProperties {
    let [rows, tiles] = features(gpu, format).map(old);
    vk::FormatProperties {
        linear_tiling_features: rows,
        optimal_tiling_features: tiles,
        buffer_features: vk::FormatFeatureFlags::empty(),
    }
}

/// Fills in the features of a format, and its modifiers.
pub(crate) fn fill(gpu: &Gpu, format: vk::Format, out: &mut vk::FormatProperties2<'_>) {
    use crate::border::{chain, list::put_all};
    out.format_properties = properties(gpu, format);
    let [rows, features] = features(gpu, format);
    fill_chain!(out; FormatProperties3 {
        linear_tiling_features: rows,
        optimal_tiling_features: features,
        buffer_features: vk::FormatFeatureFlags2::empty(),
    });
    let modifiers = Texel::of(format).map(|texel| gpu.modifiers(texel.bytes())).unwrap_or_default();
    let one_plane = |modifier: &u64| vk::DrmFormatModifierPropertiesEXT {
        drm_format_modifier: *modifier,
        drm_format_modifier_plane_count: 1,
        drm_format_modifier_tiling_features: old(features),
    };
    if let Some(list) = chain::find_mut::<vk::DrmFormatModifierPropertiesListEXT<'_>>(out) {
        let (count, array) = (&mut list.drm_format_modifier_count, list.p_drm_format_modifier_properties);
        put_all(array, count, modifiers.iter().map(one_plane));
    }
    let one_plane = |modifier: &u64| vk::DrmFormatModifierProperties2EXT {
        drm_format_modifier: *modifier,
        drm_format_modifier_plane_count: 1,
        drm_format_modifier_tiling_features: features,
    };
    if let Some(list) = chain::find_mut::<vk::DrmFormatModifierPropertiesList2EXT<'_>>(out) {
        let (count, array) = (&mut list.drm_format_modifier_count, list.p_drm_format_modifier_properties);
        put_all(array, count, modifiers.iter().map(one_plane));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_texel_has_a_size_that_images_take() {
        for raw in 0..200 {
            if let Some(texel) = Texel::of(vk::Format::from_raw(raw)) {
                assert!([1, 2, 4, 8, 12, 16].contains(&texel.bytes()), "{raw}");
            }
        }
        let bytes = |format| Texel::of(format).map(Texel::bytes);
        assert_eq!(bytes(vk::Format::B8G8R8A8_SRGB), Some(4));
        assert_eq!(bytes(vk::Format::R32G32B32A32_SFLOAT), Some(16));
        for absent in [
            vk::Format::UNDEFINED,
            vk::Format::R8G8B8_UNORM,
            vk::Format::R64G64B64_SFLOAT,
            vk::Format::B10G11R11_UFLOAT_PACK32,
            vk::Format::D32_SFLOAT,
            vk::Format::BC1_RGB_UNORM_BLOCK,
            vk::Format::G8_B8R8_2PLANE_420_UNORM,
        ] {
            assert_eq!(bytes(absent), None, "{}", absent.as_raw());
        }
    }

    #[test]
    fn colours_become_texels() {
        let float = |color: [f32; 4]| color.map(f32::to_bits);
        let word = |format, color| Texel::of(format).unwrap().pack(color)[0];
        let color = float([1.0, 0.5, 0.0, -1.0]);
        assert_eq!(word(vk::Format::R8G8B8A8_UNORM, color), 0x0000_80ff);
        assert_eq!(word(vk::Format::B8G8R8A8_UNORM, color), 0x00ff_8000);
        assert_eq!(word(vk::Format::R8G8B8A8_SNORM, color), 0x8100_407f);
        assert_eq!(word(vk::Format::R8G8B8A8_SRGB, color), 0x0000_bcff);
        assert_eq!(word(vk::Format::A2R10G10B10_UNORM_PACK32, color), 0x3ff8_0000);
        assert_eq!(word(vk::Format::R5G6B5_UNORM_PACK16, color), 0xfc00_fc00, "repeated");
        assert_eq!(word(vk::Format::R8_UINT, [0x1ab, 0, 0, 0]), 0xabab_abab);
        assert_eq!(word(vk::Format::R16G16_SFLOAT, color), 0x3800_3c00);
        assert_eq!(word(vk::Format::R32_SINT, [u32::MAX - 1, 0, 0, 0]), u32::MAX - 1);
        let wide = Texel::of(vk::Format::R64_SINT).unwrap().pack([u32::MAX - 1, 0, 0, 0]);
        assert_eq!(wide, [u32::MAX - 1, u32::MAX]);
        assert_eq!(Texel::of(vk::Format::R32G32B32_SINT).unwrap().pack([1, 2, 3, 4]), [1, 2, 3]);
    }

    #[test]
    fn every_half_comes_back_and_others_go_to_the_nearest() {
        let value = |bits: u32| {
            let (exponent, mantissa) = (bits >> 10 & 31, f64::from(bits & 0x3ff));
            let scale = f64::from(exponent.max(1)).exp2() / f64::from(25).exp2();
            (if exponent == 0 { mantissa } else { mantissa + 1024.0 }) * scale
        };
        for bits in 0..0x7c00 {
            assert_eq!(half((value(bits) as f32).to_bits()), bits, "{bits:#x}");
            let middle = f64::midpoint(value(bits), value(bits + 1)) as f32;
            assert_eq!(half(middle.to_bits()), bits + (bits & 1), "the even one, {bits:#x}");
        }
        assert_eq!(half(f32::INFINITY.to_bits()), 0x7c00);
        assert_eq!(half(f32::NAN.to_bits()) & 0x7c00, 0x7c00);
        assert_eq!(half((-2.0_f32).to_bits()), 0xc000);
    }
}
