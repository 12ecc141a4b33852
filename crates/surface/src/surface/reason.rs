//! The reasons for an image's mode and for the presence or absence of metadata.

use core::fmt;

use crate::addr1::{TileChange, TileMode};
use crate::addr2;

/// The reason for an image's tile or swizzle mode.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum ModeReason {
    /// The description requests this tiling, and no rule prevents it.
    #[default]
    Asked,
    /// The chip has no image instructions, so all its images are linear.
    NoImageInstructions,
    /// The format modifier determines the mode.
    Modifier,
    /// The image is imported, and its exporter chose the mode.
    Imported,
    /// The description forces the mode.
    Forced,
    /// Images of shading rates have only one mode.
    ShadingRates,
    /// Reference pictures of the video unit have only one mode.
    VideoReference,
    /// 1D colour images are linear (GFX12).
    OneDimensional,
    /// Multisampled images have macro tiles (GFX6-8).
    Multisampled,
    /// Depth is never linear (GFX6-8).
    DepthIsTiled,
    /// Partially resident images have dedicated modes (GFX6-8).
    PartiallyResident,
    /// The thickest tile of a 3D image whose waste is within the limit (GFX6-8).
    ThickestVolume(Estimate),
    /// Every thicker tile of a 3D image exceeds the limit of waste (GFX6-8).
    ThinnestVolume,
    /// addrlib replaced the mode that the driver requested (GFX6-8).
    Changed {
        /// The mode that the driver requested.
        from: TileMode,
        /// The reason why addrlib replaced it.
        why: TileChange,
    },
    /// addrlib's preference among the modes that the use allows (GFX9-11).
    Suggested {
        /// A mask of the allowed modes.
        modes: u32,
        /// The rule that determined the choice.
        step: addr2::Reason,
    },
    /// The largest block whose estimated size is within its limit (GFX12).
    LargestBlock(Estimate),
    /// Every other block is impossible (GFX12).
    LastBlock {
        /// A mask of the possible modes.
        modes: u8,
    },
    /// Every block exceeds its limit of waste, so that linear is best (GFX12).
    EveryBlockWastes,
    /// A 3D image with many slices benefits from thick blocks (GFX12).
    DeepVolume,
}

/// The estimated size of an image in a mode, with the smallest size and the limit on their ratio.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// The size in bytes with the chosen mode.
    pub bytes: f64,
    /// The size in bytes without padding, or of the linear image.
    pub tight: f64,
    /// The largest accepted ratio of the two sizes.
    pub limit: f64,
}

/// The presence or absence of a kind of metadata.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Presence {
    /// The image has the metadata.
    Present,
    /// The image lacks the metadata for this reason.
    Absent(Absence),
    /// Images of this kind or generation never have the metadata.
    #[default]
    NotApplicable,
}

impl Presence {
    /// Returns [`Presence::Absent`] if there is a reason for it, [`Presence::Present`] otherwise.
    pub(super) const fn unless(absence: Option<Absence>) -> Self {
        match absence {
            Some(absence) => Self::Absent(absence),
            None => Self::Present,
        }
    }
}

/// The reason why an image lacks a kind of metadata.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Absence {
    /// The description disables this kind of metadata.
    NotWanted,
    /// The modifier does not include it.
    Modifier,
    /// The chip has no graphics queue.
    NoGraphics,
    /// The format is block-compressed.
    CompressedFormat,
    /// The image is 3D.
    Volume,
    /// The hardware does not compress images in this mode.
    Mode,
    /// The display could not read the image.
    Display,
    /// The image has both layers and levels (GFX8).
    LayersAndLevels,
    /// The metadata of a layer is not the range that a fast clear of the layer writes (GFX8).
    LayersNotContiguous,
    /// addrlib has no layout of the metadata for this image.
    NoLayout,
    /// The image is single-sampled.
    OneSample,
    /// The only level of the image is in the metadata's mip tail.
    AllInTail,
    /// The image has no FMASK, which the metadata would describe.
    NoFmask,
    /// The metadata would be unaligned, as the display requires.
    Unaligned,
    /// This stepping of the chip has a hardware bug.
    Stepping,
    /// The display reads the main DCC, or no DCC.
    OneDcc,
}

impl fmt::Display for ModeReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Asked => "as the description asks",
            Self::NoImageInstructions => "the chip has no image instructions",
            Self::Modifier => "the modifier names it",
            Self::Imported => "the exporter chose it",
            Self::Forced => "the description names it",
            Self::ShadingRates => "the only mode of shading rates",
            Self::VideoReference => "the only mode that the video unit reads",
            Self::OneDimensional => "one-dimensional colour images are rows",
            Self::Multisampled => "multisampled images are in macro tiles",
            Self::DepthIsTiled => "depth is never in rows",
            Self::PartiallyResident => "the mode of partially resident images",
            Self::ThinnestVolume => "every thicker tile wastes more than its limit",
            Self::EveryBlockWastes => "every block wastes more than its limit",
            Self::DeepVolume => "a volume of many slices gains from thick blocks",
            Self::ThickestVolume(of) => return write!(f, "the thickest tile within its limit: {of}"),
            Self::LargestBlock(of) => return write!(f, "the largest block within its limit: {of}"),
            Self::LastBlock { modes } => {
                return write!(f, "no larger block fits and no smaller one is possible (modes {modes:#x})");
            }
            Self::Changed { from, why } => return write!(f, "asked for tile mode {}, but {why}", from.number()),
            Self::Suggested { modes, step } => return write!(f, "{step} (of modes {modes:#x})"),
        })
    }
}

impl fmt::Display for Estimate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.2} times the {} bytes of no padding, of {:.2}", self.bytes / self.tight, self.tight, self.limit)
    }
}

impl fmt::Display for Presence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Present => f.write_str("present"),
            Self::NotApplicable => f.write_str("none of this kind"),
            Self::Absent(absence) => write!(f, "absent: {absence}"),
        }
    }
}

impl fmt::Display for Absence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NotWanted => "the description asks for none",
            Self::Modifier => "the modifier has none",
            Self::NoGraphics => "the chip has no graphics queue",
            Self::CompressedFormat => "elements are compressed blocks",
            Self::Volume => "the image is a volume",
            Self::Mode => "the hardware does not compress this mode",
            Self::Display => "the display could not read it",
            Self::LayersAndLevels => "the image has layers and levels",
            Self::LayersNotContiguous => "layers could not be cleared one by one",
            Self::NoLayout => "no layout exists for this image",
            Self::OneSample => "the image has one sample",
            Self::AllInTail => "every level lies in the metadata's tail",
            Self::NoFmask => "FMASK is absent",
            Self::Unaligned => "metadata is unaligned for the display",
            Self::Stepping => "this stepping has none",
            Self::OneDcc => "the display reads the main DCC or none",
        })
    }
}

/// The reasons for all decisions about an image.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Reasons {
    /// The reason for the tile or swizzle mode.
    pub mode: ModeReason,
    /// The presence of DCC, with the reason if it is absent.
    pub dcc: Presence,
    /// The presence of the second DCC, which the display reads, with the reason if it is absent.
    pub display_dcc: Presence,
    /// The presence of HTILE, or of HiZ on GFX12, with the reason if it is absent.
    pub htile: Presence,
    /// The presence of FMASK, with the reason if it is absent.
    pub fmask: Presence,
    /// The presence of CMASK, with the reason if it is absent.
    pub cmask: Presence,
}
