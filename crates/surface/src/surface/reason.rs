//! The reasons of the decisions about an image: its mode, and which metadata it has.

use core::fmt;

use crate::addr1::{TileChange, TileMode};
use crate::addr2;

/// The reason of an image's tile or swizzle mode.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum ModeReason {
    /// The description asks for this tiling, and nothing speaks against it.
    #[default]
    Asked,
    /// The chip has no image instructions, so all its images are rows.
    NoImageInstructions,
    /// The modifier names the mode.
    Modifier,
    /// The image comes from another process, which chose.
    Imported,
    /// The description names the mode.
    Forced,
    /// Shading rates have one mode.
    ShadingRates,
    /// The video unit reads one mode.
    VideoReference,
    /// One-dimensional colour images are rows (GFX12).
    OneDimensional,
    /// Multisampled images are in macro tiles (GFX6-8).
    Multisampled,
    /// Depth is never in rows (GFX6-8).
    DepthIsTiled,
    /// Partially resident images have modes of their own (GFX6-8).
    PartiallyResident,
    /// The thickest tile of a volume that wastes no more than the limit (GFX6-8).
    ThickestVolume(Estimate),
    /// Every thicker tile of a volume wastes more than the limit (GFX6-8).
    ThinnestVolume,
    /// addrlib took another mode than the one it was asked for (GFX6-8).
    Changed {
        /// The mode that it was asked for.
        from: TileMode,
        /// The reason of the change.
        why: TileChange,
    },
    /// addrlib's suggestion among the modes that the use leaves (GFX9-11).
    Suggested {
        /// The modes that were left, one bit for each.
        modes: u32,
        /// The step that decided.
        step: addr2::Reason,
    },
    /// The largest block whose estimated size stays below its limit (GFX12).
    LargestBlock(Estimate),
    /// Every other block is impossible (GFX12).
    LastBlock {
        /// The modes that were possible, one bit for each.
        modes: u8,
    },
    /// Every block wastes more than its limit, so that rows are best (GFX12).
    EveryBlockWastes,
    /// A volume of many slices gains from thick blocks (GFX12).
    DeepVolume,
}

/// An estimated size beside the smallest one, and the limit of their ratio.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// Bytes with the mode taken.
    pub bytes: f64,
    /// Bytes without any padding, or in rows.
    pub tight: f64,
    /// The largest ratio that is accepted.
    pub limit: f64,
}

/// The presence of a piece of metadata.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Presence {
    /// The image has it.
    Present,
    /// The image lacks it, for this reason.
    Absent(Absence),
    /// Images of this kind or generation never have it.
    #[default]
    NotApplicable,
}

impl Presence {
    /// Returns the presence of a piece that is there unless a reason speaks against it.
    pub(super) const fn unless(absence: Option<Absence>) -> Self {
        match absence {
            Some(absence) => Self::Absent(absence),
            None => Self::Present,
        }
    }
}

/// The reason why an image lacks a piece of metadata.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Absence {
    /// The description asks for none.
    NotWanted,
    /// The modifier has none.
    Modifier,
    /// The chip has no graphics queue.
    NoGraphics,
    /// Elements are compressed blocks.
    CompressedFormat,
    /// The image is a volume.
    Volume,
    /// The mode is one that the hardware does not compress.
    Mode,
    /// The display could not read the image.
    Display,
    /// Layers and levels together (GFX8).
    LayersAndLevels,
    /// A layer's part is not what a fast clear of that layer writes (GFX8).
    LayersNotContiguous,
    /// addrlib has no layout of it for this image.
    NoLayout,
    /// The image has one sample.
    OneSample,
    /// The image has one level, all of which lies in the metadata's tail.
    AllInTail,
    /// FMASK, which it describes, is absent.
    NoFmask,
    /// The metadata is unaligned, as the display wants it.
    Unaligned,
    /// The stepping has a fault.
    Stepping,
    /// The display reads the main DCC, or none.
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

/// The reasons of all decisions about an image.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Reasons {
    /// Tile or swizzle mode.
    pub mode: ModeReason,
    /// DCC.
    pub dcc: Presence,
    /// The DCC that the display reads.
    pub display_dcc: Presence,
    /// HTILE; HiZ on GFX12.
    pub htile: Presence,
    /// FMASK.
    pub fmask: Presence,
    /// CMASK.
    pub cmask: Presence,
}
