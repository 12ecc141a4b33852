//! The meaning of metadata.

use amdgpu_hw::GfxLevel;
use amdgpu_surface::dcc::DccCode;

use crate::{
    buffer::format::{Format, Number},
    image::error::ImageError,
};

/// A kind of metadata.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A byte for 256 bytes of colour.
    Dcc,
    /// A dword for 8x8 texels of depth.
    Depth,
    /// The same dword for 8x8 texels of stencil.
    Stencil,
    /// Four bits for 8x8 texels of FMASK.
    Cmask,
}

/// The facts that the meaning of a code depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Coding {
    pub(crate) kind: Kind,
    pub(crate) level: GfxLevel,
    /// The highest channel has a clear bit of its own, else the lowest.
    pub(crate) is_alpha_on_msb: bool,
}

/// The state of the texels that a unit of metadata describes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    /// The texels lie in memory.
    Plain,
    /// Every texel is this element.
    Cleared(u128),
    /// Every texel is the first one of the block.
    Single,
}

/// Plain depth in the low four bits of HTILE, and cleared depth.
const PLAIN_DEPTH: u32 = 0xf;
/// Plain stencil in bits 9:8 of HTILE.
const PLAIN_STENCIL: u32 = 3;
/// The largest depth in bits 31:18 of HTILE.
const FAR: u32 = 0x3fff;

impl Coding {
    /// Returns the state of the texels whose metadata is `code`, in a format.
    ///
    /// # Errors
    ///
    /// [`ImageError::Code`] for texels that are compressed.
    ///
    /// Source of depth: Mesa's `radv_get_htile_fast_clear_value` and `radv_get_htile_initial_value`.
    pub(crate) fn state(self, code: u32, format: Format) -> Result<State, ImageError> {
        let refused = |what| ImageError::Code { what, code };
        Ok(match self.kind {
            Kind::Dcc => match DccCode::of(self.level, u8::try_from(code).map_err(|_| refused("DCC"))?) {
                DccCode::Plain => State::Plain,
                DccCode::Extremes { main, extra } => State::Cleared(self.ones(format, main, extra)),
                DccCode::Bits(is_set) => State::Cleared(if is_set { u128::MAX } else { 0 }),
                DccCode::Repeated(pixels) => State::Cleared(pixels),
                DccCode::HighestChannel(highest) => {
                    State::Cleared(channels(format, |is_last, ones| if is_last == highest { ones } else { 0 }))
                }
                DccCode::First => State::Single,
                DccCode::Registers | DccCode::Other => return Err(refused("DCC")),
            },
            Kind::Depth => match (code & 15, code >> 18) {
                (PLAIN_DEPTH, _) => State::Plain,
                (0, 0) => State::Cleared(0),
                (0, FAR) => State::Cleared(format.pack([1.0_f32.to_bits(), 0, 0, 0])),
                _ => return Err(refused("HTILE")),
            },
            Kind::Stencil => match code >> 8 & 3 {
                PLAIN_STENCIL => State::Plain,
                // A fast clear of stencil that texture units can read is one to 0 (`radv_is_fast_clear_stencil_allowed`).
                0 => State::Cleared(0),
                _ => return Err(refused("HTILE")),
            },
            // Without a level of compression all samples are the first fragment.
            Kind::Cmask if code.trailing_zeros() >= 2 => State::Cleared(0),
            Kind::Cmask => State::Plain,
        })
    }

    /// Returns an element of zeroes and ones: of most channels, and of the one that has a bit of its own.
    fn ones(self, format: Format, main: bool, extra: bool) -> u128 {
        let count = format.channels.len();
        let has_extra = !matches!(format.channels, [5, 6, 5] | [11, 11, 10]);
        let extra_channel = if self.is_alpha_on_msb { count.saturating_sub(1) } else { 0 };
        let one = match format.number {
            Number::Uint => u32::MAX,
            Number::Sint => i32::MAX.cast_unsigned(),
            _ => 1.0_f32.to_bits(),
        };
        format.pack(std::array::from_fn(|channel| {
            let is_one = if has_extra && channel == extra_channel { extra } else { main };
            if is_one { one } else { 0 }
        }))
    }
}

/// Returns an element of channels that are made of "the last one" and its bits.
fn channels(format: Format, of: impl Fn(bool, u128) -> u128) -> u128 {
    let (mut element, mut shift) = (0, 0);
    for (index, bits) in format.channels.iter().enumerate() {
        element |= of(index + 1 == format.channels.len(), (1 << bits) - 1) << shift;
        shift += u32::from(*bits);
    }
    element
}

#[cfg(test)]
mod tests {
    use super::*;

    fn coding(kind: Kind, level: GfxLevel) -> Coding {
        Coding { kind, level, is_alpha_on_msb: true }
    }

    const RGBA8: Format = Format { channels: &[8, 8, 8, 8], number: Number::Unorm };
    const HALVES: Format = Format { channels: &[16, 16, 16, 16], number: Number::Float };

    #[test]
    fn clear_codes_of_colour_are_zeroes_and_ones_of_the_format() {
        let dcc = coding(Kind::Dcc, GfxLevel::Gfx10);
        assert_eq!(dcc.state(0xff, RGBA8), Ok(State::Plain));
        assert_eq!(dcc.state(0x00, RGBA8), Ok(State::Cleared(0)));
        assert_eq!(dcc.state(0x40, RGBA8), Ok(State::Cleared(0xff00_0000)));
        assert_eq!(dcc.state(0x80, RGBA8), Ok(State::Cleared(0x00ff_ffff)));
        assert_eq!(dcc.state(0xc0, HALVES), Ok(State::Cleared(0x3c00_3c00_3c00_3c00)));
        assert_eq!(dcc.state(0x40, Format { number: Number::Sint, ..RGBA8 }), Ok(State::Cleared(0x7f00_0000)));
        let low = Coding { is_alpha_on_msb: false, ..dcc };
        assert_eq!(low.state(0x40, RGBA8), Ok(State::Cleared(0xff)));
        assert_eq!(dcc.state(0x10, RGBA8), Ok(State::Single));
    }

    #[test]
    fn clear_codes_of_gfx11_are_words() {
        let dcc = coding(Kind::Dcc, GfxLevel::Gfx11);
        assert_eq!(dcc.state(0x01, RGBA8), Ok(State::Single));
        assert_eq!(dcc.state(0x02, RGBA8), Ok(State::Cleared(u128::MAX)));
        assert_eq!(dcc.state(0x04, HALVES), Ok(State::Cleared(0x3c00_3c00_3c00_3c00_3c00_3c00_3c00_3c00)));
        assert_eq!(dcc.state(0x06, HALVES), Ok(State::Cleared(0x3f80_0000_3f80_0000_3f80_0000_3f80_0000)));
        assert_eq!(dcc.state(0x08, RGBA8), Ok(State::Cleared(0xff00_0000)));
        assert_eq!(dcc.state(0x0a, RGBA8), Ok(State::Cleared(0x00ff_ffff)));
    }

    #[test]
    fn compressed_texels_are_refused_with_their_code() {
        for (kind, level, code) in [
            (Kind::Dcc, GfxLevel::Gfx8, 0x20),
            (Kind::Dcc, GfxLevel::Gfx9, 0x10),
            (Kind::Dcc, GfxLevel::Gfx11, 0x40),
            (Kind::Depth, GfxLevel::Gfx9, 0x0004_0010),
            (Kind::Stencil, GfxLevel::Gfx9, 0x100),
        ] {
            let refused = coding(kind, level).state(code, RGBA8).unwrap_err();
            assert!(matches!(refused, ImageError::Code { code: found, .. } if found == code), "{kind:?} {refused}");
        }
    }

    #[test]
    fn depth_is_cleared_to_an_end_of_its_range_and_stencil_to_zero() {
        let depth = Format { channels: &[32], number: Number::Float };
        let (z, s) = (coding(Kind::Depth, GfxLevel::Gfx9), coding(Kind::Stencil, GfxLevel::Gfx9));
        for initial in [0xfffc_000f, 0xffff_f3ff, 0xffff_f33f] {
            assert_eq!(z.state(initial, depth), Ok(State::Plain));
        }
        assert_eq!(z.state(0xfffc_fff0, depth), Ok(State::Cleared(0x3f80_0000)));
        assert_eq!(z.state(0, depth), Ok(State::Cleared(0)));
        assert_eq!(s.state(0xffff_f3ff, RGBA8), Ok(State::Plain));
        assert_eq!(s.state(0xfffc_00f0, RGBA8), Ok(State::Cleared(0)));
    }

    #[test]
    fn a_mask_without_a_level_of_compression_is_the_first_fragment() {
        let cmask = coding(Kind::Cmask, GfxLevel::Gfx10);
        for (code, state) in
            [(0xc, State::Cleared(0)), (0, State::Cleared(0)), (0xd, State::Plain), (0xf, State::Plain)]
        {
            assert_eq!(cmask.state(code, RGBA8), Ok(state));
        }
    }
}
