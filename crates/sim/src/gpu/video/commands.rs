//! Commands of video engines.

/// The commands of a video engine's ring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Commands {
    /// Packets of types 0 and 2. They write registers of UVD or of a VCN decoder.
    Decode {
        /// The dword offsets of the registers that ignore writes.
        no_op: &'static [u32],
    },
    /// Commands of VCE. The length of a command in bytes is before it.
    Vce,
    /// Commands of the encoders of UVD and VCN.
    Encode,
    /// Pairs of a header and a value for the JPEG decoder.
    Jpeg,
}

/// A command in an IB that is not a NOP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Found {
    /// Its offset in the IB, in dwords.
    pub(crate) offset: usize,
    /// The dword at the offset.
    pub(crate) dword: u32,
    /// A description of the command.
    pub(crate) what: &'static str,
}
