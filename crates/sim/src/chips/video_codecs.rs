//! The codecs of each chip's video engines.

use amdgpu_hw::Chip;
use amdgpu_uapi::{InfoVideoCaps, InfoVideoCodec};

use super::rules::Video;

/// A codec's number, and its largest width, height and level.
type Codec = (usize, u32, u32, u32);

const MPEG2: usize = 0;
const MPEG4: usize = 1;
const VC1: usize = 2;
const AVC: usize = 3;
const HEVC: usize = 4;
const JPEG: usize = 5;
const VP9: usize = 6;
const AV1: usize = 7;

const OLDEST_DECODE: &[Codec] =
    &[(MPEG2, 2048, 1152, 3), (MPEG4, 2048, 1152, 5), (AVC, 2048, 1152, 41), (VC1, 2048, 1152, 4)];
const OLDEST_ENCODE: &[Codec] = &[(AVC, 2048, 1152, 0)];
/// The codecs that UVD decodes on Tonga and later, and VCN before version 4.
const OLD: [Codec; 4] = [(MPEG2, 4096, 4096, 3), (MPEG4, 4096, 4096, 5), (AVC, 4096, 4096, 52), (VC1, 4096, 4096, 4)];
const TONGA_ENCODE: &[Codec] = &[(AVC, 4096, 2304, 0)];
const SMALL_HEVC: [Codec; 2] = [(HEVC, 4096, 4096, 186), (JPEG, 4096, 4096, 0)];
const COMMON_ENCODE: &[Codec] = &[(AVC, 4096, 2304, 0), (HEVC, 4096, 2304, 0)];
const SMALL_VP9: Codec = (VP9, 4096, 4096, 0);
const LARGE_HEVC: Codec = (HEVC, 8192, 4352, 186);
const LARGE_VP9: Codec = (VP9, 8192, 4352, 0);
const LARGE_AV1: Codec = (AV1, 8192, 4352, 0);
const SMALL_JPEG: Codec = (JPEG, 4096, 4096, 0);
const LARGE_JPEG: Codec = (JPEG, 16384, 16384, 0);
const VCN3_ENCODE: &[Codec] = &[(AVC, 4096, 2160, 0), (HEVC, 7680, 4352, 0)];
const VCN4_ENCODE: &[Codec] = &[(AVC, 4096, 2304, 0), (HEVC, 8192, 4352, 0), (AV1, 8192, 4352, 0)];
const VCN5_ENCODE: &[Codec] = &[(AVC, 4096, 4096, 0), (HEVC, 8192, 4352, 0), (AV1, 8192, 4352, 0)];

/// Returns the answer to VIDEO_CAPS for a chip; `None` if the driver has no table for it.
///
/// Source: Linux 6.12 `si.c`, `cik.c`, `vi.c`, `soc15.c`, `nv.c`, `soc21.c` and `soc24.c`, the function `query_video_codecs` of each.
pub(crate) fn video_caps(chip: Chip, encodes: bool) -> Option<InfoVideoCaps> {
    let decoded = |parts: &[&[Codec]]| parts.concat();
    let (decode, encode) = match chip {
        Chip::CHIP_HAINAN | Chip::CHIP_ICELAND => (Vec::new(), [].as_slice()),
        Chip::CHIP_TAHITI | Chip::CHIP_PITCAIRN | Chip::CHIP_VERDE | Chip::CHIP_OLAND => {
            (decoded(&[OLDEST_DECODE]), [].as_slice())
        }
        Chip::CHIP_BONAIRE | Chip::CHIP_HAWAII | Chip::CHIP_KAVERI | Chip::CHIP_KABINI => {
            (decoded(&[OLDEST_DECODE]), OLDEST_ENCODE)
        }
        Chip::CHIP_TONGA => (decoded(&[&OLD]), TONGA_ENCODE),
        Chip::CHIP_FIJI | Chip::CHIP_CARRIZO | Chip::CHIP_STONEY => (decoded(&[&OLD, &SMALL_HEVC]), TONGA_ENCODE),
        Chip::CHIP_POLARIS10
        | Chip::CHIP_POLARIS11
        | Chip::CHIP_POLARIS12
        | Chip::CHIP_VEGAM
        | Chip::CHIP_VEGA10
        | Chip::CHIP_VEGA12
        | Chip::CHIP_VEGA20 => (decoded(&[&OLD, &SMALL_HEVC]), COMMON_ENCODE),
        _ => {
            let (version, _) = Video::of(chip).vcn?;
            match version {
                [1, ..] => (decoded(&[&OLD, &SMALL_HEVC, &[SMALL_VP9]]), COMMON_ENCODE),
                [2, 0, _] => (decoded(&[&OLD, &[LARGE_HEVC, SMALL_JPEG, LARGE_VP9]]), COMMON_ENCODE),
                [2, ..] => (decoded(&[&OLD, &[LARGE_HEVC, LARGE_JPEG, LARGE_VP9]]), COMMON_ENCODE),
                [3, 0, 33] => (decoded(&[&[OLD[2], LARGE_HEVC, LARGE_VP9]]), [].as_slice()),
                [3, 0, _] => (decoded(&[&OLD, &[LARGE_HEVC, LARGE_JPEG, LARGE_VP9, LARGE_AV1]]), VCN3_ENCODE),
                [3, ..] => (decoded(&[&[OLD[2], LARGE_HEVC, LARGE_VP9, LARGE_JPEG, LARGE_AV1]]), VCN3_ENCODE),
                [4, ..] => (decoded(&[&[OLD[2], LARGE_HEVC, LARGE_JPEG, LARGE_VP9, LARGE_AV1]]), VCN4_ENCODE),
                _ => (decoded(&[&[OLD[2], LARGE_HEVC, LARGE_JPEG, LARGE_VP9, LARGE_AV1]]), VCN5_ENCODE),
            }
        }
    };
    let mut caps = InfoVideoCaps::ZEROED;
    for &(codec, max_width, max_height, max_level) in if encodes { encode } else { &decode } {
        let max_pixels_per_frame = max_width * max_height;
        caps.codec_info[codec] =
            InfoVideoCodec { valid: 1, max_width, max_height, max_pixels_per_frame, max_level, pad: 0 };
    }
    Some(caps)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn valid(chip: Chip, encodes: bool) -> Option<Vec<usize>> {
        let caps = video_caps(chip, encodes)?;
        Some((0..8).filter(|&codec| caps.codec_info[codec].valid != 0).collect())
    }

    #[test]
    fn tables_are_those_of_the_chips_engine() {
        assert_eq!(valid(Chip::CHIP_HAINAN, false), Some(vec![]), "a table without a codec");
        assert_eq!(valid(Chip::CHIP_PITCAIRN, true), Some(vec![]));
        assert_eq!(valid(Chip::CHIP_HAWAII, true), Some(vec![AVC]));
        assert_eq!(valid(Chip::CHIP_TONGA, false), Some(vec![MPEG2, MPEG4, VC1, AVC]));
        assert_eq!(valid(Chip::CHIP_STONEY, true), Some(vec![AVC]));
        assert_eq!(valid(Chip::CHIP_NAVI24, false), Some(vec![AVC, HEVC, VP9]));
        assert_eq!(valid(Chip::CHIP_NAVI24, true), Some(vec![]));
        assert_eq!(valid(Chip::CHIP_GFX1200, true), Some(vec![AVC, HEVC, AV1]));
        assert_eq!(valid(Chip::CHIP_GFX940, false), None, "no table");
        let height = |chip| video_caps(chip, true).unwrap().codec_info[AVC].max_height;
        let heights = [Chip::CHIP_NAVI10, Chip::CHIP_NAVI21, Chip::CHIP_GFX1100, Chip::CHIP_GFX1201].map(height);
        assert_eq!(heights, [2304, 2160, 2304, 4096]);
    }
}
