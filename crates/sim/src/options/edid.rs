//! The EDID of a virtual display: the 128 bytes in which a display describes itself.
//!
//! Source: VESA Enhanced EDID Standard, release A revision 2 (EDID 1.4).

use amdgpu_uapi::{MODE_CONNECTOR_HDMI_A, ModeInfo};

/// The size of an EDID without extensions in bytes.
pub(crate) const LENGTH: usize = 128;
/// The manufacturer's three letters, 5 bits each, with `A` as 1. No manufacturer has these.
const MAKER: [u8; 3] = *b"SIM";
/// The chromaticity of sRGB.
const SRGB: [u8; 10] = [0xee, 0x91, 0xa3, 0x54, 0x4c, 0x99, 0x26, 0x0f, 0x50, 0x54];
/// The name of the display, padded.
const NAME: [u8; 13] = *b"amdgpu-sim\n  ";

/// Returns the EDID of a display with one mode on a connector of a type; `None` if the mode is larger or faster than the fields of
/// an EDID can contain.
pub(crate) fn edid(mode: &ModeInfo, connector: u32, millimetres: (u32, u32)) -> Option<Vec<u8>> {
    let mut edid = vec![0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0];
    let maker = MAKER.iter().fold(0_u16, |packed, letter| packed << 5 | u16::from(letter - b'A' + 1));
    edid.extend(maker.to_be_bytes());
    // Product 1 with serial number 1, made in the first week of 2025, EDID version 1.4.
    edid.extend([1, 0, 1, 0, 0, 0, 1, 35, 1, 4]);
    // A digital display with 8 bits per colour.
    edid.push(0xa0 | if connector == MODE_CONNECTOR_HDMI_A { 2 } else { 5 });
    let centimetres = |length: u32| u8::try_from(length / 10).ok();
    edid.extend([centimetres(millimetres.0)?, centimetres(millimetres.1)?]);
    // Gamma 2.2; sRGB colours; the first timing is the native one.
    edid.extend([120, 0x06]);
    edid.extend(SRGB);
    // No other timings.
    edid.extend([0; 3]);
    edid.extend([1; 16]);
    edid.extend(timing(mode, millimetres)?);
    edid.extend([0, 0, 0, 0xfc, 0]);
    edid.extend(NAME);
    edid.extend(limits(mode)?);
    // An empty descriptor.
    edid.extend([0, 0, 0, 0x10]);
    edid.resize(LENGTH - 1, 0);
    let sum = edid.iter().fold(0_u8, |sum, byte| sum.wrapping_add(*byte));
    edid.push(sum.wrapping_neg());
    Some(edid)
}

/// Returns a value's lower 8 bits and the 4 bits above them.
fn split(value: u16) -> Option<[u8; 2]> {
    (value < 1 << 12).then_some([value as u8, (value >> 8) as u8])
}

/// Returns the detailed timing of a mode.
fn timing(mode: &ModeInfo, millimetres: (u32, u32)) -> Option<[u8; 18]> {
    let clock = u16::try_from(mode.clock / 10).ok()?.to_le_bytes();
    let (width, height) = (split(mode.hdisplay)?, split(mode.vdisplay)?);
    let (columns, rows) = (split(mode.htotal - mode.hdisplay)?, split(mode.vtotal - mode.vdisplay)?);
    let small = |value: u16| u8::try_from(value).ok();
    let (front, sync) = (small(mode.hsync_start - mode.hdisplay)?, small(mode.hsync_end - mode.hsync_start)?);
    let (above, pulse) = (small(mode.vsync_start - mode.vdisplay)?, small(mode.vsync_end - mode.vsync_start)?);
    if above > 15 || pulse > 15 {
        return None;
    }
    let [across, down] = [millimetres.0, millimetres.1].map(|length| u16::try_from(length).ok().and_then(split));
    let (across, down) = (across?, down?);
    Some([
        clock[0],
        clock[1],
        width[0],
        columns[0],
        width[1] << 4 | columns[1],
        height[0],
        rows[0],
        height[1] << 4 | rows[1],
        front,
        sync,
        above << 4 | pulse,
        0,
        across[0],
        down[0],
        across[1] << 4 | down[1],
        0,
        0,
        // Separate sync signals, the horizontal one positive and the vertical one negative, as in the mode.
        0x1a,
    ])
}

/// Returns the descriptor of the frequencies, which are those of one mode.
fn limits(mode: &ModeInfo) -> Option<[u8; 18]> {
    let lines = mode.clock / u32::from(mode.htotal);
    // Rates above 255 kHz would need offsets; no clock that a timing can contain has such rates.
    let (least, most) = (u8::try_from(lines).ok()?, u8::try_from(lines + 1).ok()?);
    let clock = u8::try_from(mode.clock.div_ceil(10_000)).ok()?;
    let mut limits = [0x20; 18];
    limits[..12].copy_from_slice(&[0, 0, 0, 0xfd, 0, 59, 61, least, most, clock, 1, 0x0a]);
    Some(limits)
}

#[cfg(test)]
mod tests {
    use amdgpu_uapi::MODE_CONNECTOR_DISPLAY_PORT;

    use super::*;
    use crate::display::Display;

    fn of(text: &str) -> Option<Vec<u8>> {
        let display: Display = text.parse().unwrap();
        edid(&display.mode(), MODE_CONNECTOR_DISPLAY_PORT, display.millimetres())
    }

    #[test]
    fn an_edid_is_a_block_whose_bytes_add_up_to_nothing() {
        for text in ["64x64", "640x480", "1920x1080", "3840x2160"] {
            let bytes = of(text).unwrap();
            assert_eq!(bytes.len(), LENGTH, "{text}");
            assert_eq!(bytes.iter().fold(0_u8, |sum, byte| sum.wrapping_add(*byte)), 0, "{text}");
            assert_eq!((&bytes[..8], &bytes[18..20]), (&[0, 255, 255, 255, 255, 255, 255, 0][..], &[1, 4][..]));
        }
    }

    /// Reads the timing back as parsers do (Linux 6.12 `drm_edid.c`, `drm_mode_detailed`).
    #[test]
    fn the_timing_is_the_modes() {
        for text in ["64x64", "640x480", "1920x1080", "3840x2160"] {
            let (bytes, mode) = (of(text).unwrap(), text.parse::<Display>().unwrap().mode());
            let byte = |at: usize| u16::from(bytes[54 + at]);
            let wide = |low: usize, high: u16| byte(low) | high << 8;
            let (width, columns) = (wide(2, byte(4) >> 4), wide(3, byte(4) & 15));
            let (height, rows) = (wide(5, byte(7) >> 4), wide(6, byte(7) & 15));
            assert_eq!(u32::from(wide(0, byte(1))) * 10, mode.clock, "{text}");
            assert_eq!((width, width + columns), (mode.hdisplay, mode.htotal), "{text}");
            assert_eq!((height, height + rows), (mode.vdisplay, mode.vtotal), "{text}");
            assert_eq!((width + byte(8), width + byte(8) + byte(9)), (mode.hsync_start, mode.hsync_end), "{text}");
            let above = height + (byte(10) >> 4);
            assert_eq!((above, above + (byte(10) & 15)), (mode.vsync_start, mode.vsync_end), "{text}");
        }
    }

    #[test]
    fn a_display_that_is_larger_than_the_fields_hold_has_none() {
        assert_eq!((of("7680x4320"), of("4096x2160")), (None, None));
    }
}
