//! A video engine.

use std::fmt;

use amdgpu_hw::Ip;

use super::{
    commands::{Commands, Found},
    nops::first_command,
};
use crate::gpu::{Environment, Ib, PageFault, fetch::Frame};

/// A type of video engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct VideoEngine {
    /// The block.
    pub(crate) ip: Ip,
    /// The major version of the driver's IP block.
    pub(super) major: u32,
    pub(super) minor: u32,
}

impl fmt::Display for VideoEngine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}.{}", self.ip, self.major, self.minor)
    }
}

/// The offset of UVD_NO_OP before SOC15 chips.
///
/// Source: Linux 6.12 `uvd/uvd_6_0_d.h`, `mmUVD_NO_OP`.
const UVD_NO_OP: u32 = 0x3bff;
/// The same from UVD 7.0 on, and on VCN 1.0: 0x3ff in segment 1 of the block, which starts at 0x7e00. Mesa uses it as padding in
/// the IBs of later decoders too.
const SOC15_NO_OP: u32 = 0x81ff;
/// The same as an internal offset of VCN 2.0 and later.
///
/// Source: Linux 6.12 `vcn_v2_0.c`, `mmUVD_NO_OP_INTERNAL_OFFSET`.
const INTERNAL_NO_OP: u32 = 0x53f;

impl VideoEngine {
    /// Returns the engine of a block; `None` for other types of blocks.
    pub(crate) const fn new(ip: Ip, major: u32, minor: u32) -> Option<Self> {
        match ip {
            Ip::Uvd | Ip::Vce | Ip::UvdEnc | Ip::VcnDec | Ip::VcnEnc | Ip::VcnJpeg => Some(Self { ip, major, minor }),
            Ip::Gfx | Ip::Compute | Ip::Sdma | Ip::Vpe => None,
        }
    }

    const fn commands(self) -> Commands {
        match self.ip {
            Ip::Vce => Commands::Vce,
            Ip::UvdEnc | Ip::VcnEnc => Commands::Encode,
            Ip::VcnJpeg => Commands::Jpeg,
            Ip::Uvd if self.major < 7 => Commands::Decode { no_op: &[UVD_NO_OP] },
            Ip::VcnDec if self.major > 1 => Commands::Decode { no_op: &[SOC15_NO_OP, INTERNAL_NO_OP] },
            _ => Commands::Decode { no_op: &[SOC15_NO_OP] },
        }
    }

    /// Executes an IB, which can only contain NOPs.
    ///
    /// # Errors
    ///
    /// [`VideoStop`] if the IB contains other commands or cannot be fetched.
    pub(crate) fn run(self, ib: Ib, env: &Environment<'_>) -> Result<(), VideoStop> {
        let mut frame = Frame::new();
        frame.load(ib, env);
        if let Some(found) = first_command(frame.dwords(), self.commands()) {
            return Err(VideoStop::Refused { engine: self, ib, found });
        }
        frame.fault().map_or(Ok(()), |fault| Err(VideoStop::Fetch { engine: self, ib, fault }))
    }
}

/// The reason why a video engine stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum VideoStop {
    /// A command is not a NOP.
    #[error(
        "dword {} of the IB at {} ({} dwords), {engine}: {} ({:#x}): video engines execute NOPs alone here",
        found.offset, ib.va, ib.dwords, found.what, found.dword
    )]
    Refused {
        /// The engine.
        engine: VideoEngine,
        /// The IB.
        ib: Ib,
        /// The command.
        found: Found,
    },
    /// The IB is not mapped, or only a part of it is.
    #[error("the IB at {} ({} dwords), {engine}: fetching commands failed: {fault}", ib.va, ib.dwords)]
    Fetch {
        /// The engine.
        engine: VideoEngine,
        /// The IB.
        ib: Ib,
        /// The first dword that could not be fetched.
        fault: PageFault,
    },
}
