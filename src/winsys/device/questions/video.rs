//! Codecs of the video engines.

use crate::{
    uapi::{Errno, InfoVideoCaps, query},
    winsys::{Device, Error, KernelError, Result, device::query::info},
};

/// The direction of video coding: decoding or encoding.
///
/// ```
/// use amdgpu_winsys::winsys::{VideoCodec, VideoDirection};
///
/// # let device = amdgpu_winsys::winsys::Device::new(amdgpu_sim::SimKernel::open(amdgpu_sim::profile("navi21").ok_or("no such chip")?))?;
/// let has = |direction| -> Result<bool, amdgpu_winsys::winsys::Error> {
///     Ok(device.video_capabilities(direction)?.is_some_and(|all| all.codec(VideoCodec::Av1).is_some()))
/// };
/// assert_eq!((has(VideoDirection::Decode)?, has(VideoDirection::Encode)?), (true, false));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum VideoDirection {
    /// Decoding a bit stream to pictures.
    Decode = 0,
    /// Encoding pictures to a bit stream.
    Encode = 1,
}

/// A video codec, with the kernel's number.
///
/// Source: Linux 6.12 `include/uapi/drm/amdgpu_drm.h`, `AMDGPU_INFO_VIDEO_CAPS_CODEC_IDX_*`.
///
/// ```
/// use amdgpu_winsys::winsys::VideoCodec;
///
/// assert_eq!(VideoCodec::ALL.len(), 8);
/// assert_eq!(VideoCodec::Hevc.name(), "HEVC");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum VideoCodec {
    /// MPEG-2.
    Mpeg2 = 0,
    /// MPEG-4 part 2.
    Mpeg4 = 1,
    /// VC-1.
    Vc1 = 2,
    /// MPEG-4 AVC, H.264.
    Avc = 3,
    /// HEVC, H.265.
    Hevc = 4,
    /// JPEG.
    Jpeg = 5,
    /// VP9.
    Vp9 = 6,
    /// AV1.
    Av1 = 7,
}

impl VideoCodec {
    /// All codecs, by number.
    pub const ALL: [Self; 8] =
        [Self::Mpeg2, Self::Mpeg4, Self::Vc1, Self::Avc, Self::Hevc, Self::Jpeg, Self::Vp9, Self::Av1];

    /// Returns the codec's usual name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Mpeg2 => "MPEG-2",
            Self::Mpeg4 => "MPEG-4",
            Self::Vc1 => "VC-1",
            Self::Avc => "AVC",
            Self::Hevc => "HEVC",
            Self::Jpeg => "JPEG",
            Self::Vp9 => "VP9",
            Self::Av1 => "AV1",
        }
    }
}

/// The limits of a codec on a chip.
///
/// ```
/// use amdgpu_winsys::winsys::{VideoCodec, VideoDirection};
///
/// # let device = amdgpu_winsys::winsys::Device::new(amdgpu_sim::SimKernel::open(amdgpu_sim::profile("navi21").ok_or("no such chip")?))?;
/// let all = device.video_capabilities(VideoDirection::Decode)?.ok_or("no video engine")?;
/// let hevc = all.codec(VideoCodec::Hevc).ok_or("not decoded")?;
/// assert_eq!((hevc.max_width, hevc.max_height, hevc.max_level), (8192, 4352, 186));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VideoLimits {
    /// Maximum width in pixels.
    pub max_width: u32,
    /// Maximum height in pixels.
    pub max_height: u32,
    /// Maximum number of pixels in a frame.
    pub max_pixels: u32,
    /// Maximum level, in the codec's own numbering; 0 if the kernel does not report it.
    pub max_level: u32,
}

/// The codecs that a chip supports for decoding or for encoding, with their limits.
///
/// ```
/// use amdgpu_winsys::winsys::{VideoCodec, VideoDirection};
///
/// # let device = amdgpu_winsys::winsys::Device::new(amdgpu_sim::SimKernel::open(amdgpu_sim::profile("navi21").ok_or("no such chip")?))?;
/// let all = device.video_capabilities(VideoDirection::Encode)?.ok_or("no video engine")?;
/// assert!(all.codecs().map(|(codec, _)| codec).eq([VideoCodec::Avc, VideoCodec::Hevc]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VideoCapabilities([Option<VideoLimits>; 8]);

impl VideoCapabilities {
    /// Returns the limits of a codec; `None` if the chip does not support it.
    pub fn codec(&self, codec: VideoCodec) -> Option<VideoLimits> {
        self.0[codec as usize]
    }

    /// Returns the supported codecs with their limits.
    pub fn codecs(&self) -> impl Iterator<Item = (VideoCodec, VideoLimits)> + '_ {
        VideoCodec::ALL.into_iter().filter_map(|codec| Some((codec, self.codec(codec)?)))
    }
}

impl Device {
    /// Queries the codecs of the video engines; `None` if the kernel has no table of them for the chip, or before DRM 3.41. The
    /// answer describes only the hardware; [`GpuInfo::ring_count`](crate::winsys::GpuInfo::ring_count) is the number of rings to
    /// which user space may submit.
    ///
    /// # Errors
    ///
    /// [`Error::Kernel`] if the kernel refuses the query with an errno other than `EINVAL`.
    pub fn video_capabilities(&self, direction: VideoDirection) -> Result<Option<VideoCapabilities>> {
        let input = [direction as u32, 0, 0, 0];
        let answer: InfoVideoCaps = match info(self.kernel(), "VIDEO_CAPS", query::VIDEO_CAPS, input) {
            Err(Error::Kernel(KernelError { errno: Errno::EINVAL, .. })) => return Ok(None),
            answer => answer?,
        };
        Ok(Some(VideoCapabilities(answer.codec_info.map(|codec| {
            (codec.valid != 0).then_some(VideoLimits {
                max_width: codec.max_width,
                max_height: codec.max_height,
                max_pixels: codec.max_pixels_per_frame,
                max_level: codec.max_level,
            })
        }))))
    }
}
