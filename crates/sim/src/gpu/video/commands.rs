//! Commands of video engines.

/// The commands that a ring of a video engine takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Commands {
    /// Packets of types 0 and 2, which write registers of UVD or of a VCN decoder.
    Decode {
        /// Offsets in dwords of the registers that a write does nothing to.
        no_op: &'static [u32],
    },
    /// Commands of VCE, each with its length in bytes before it.
    Vce,
    /// Commands of the encoders of UVD and VCN.
    Encode,
    /// Pairs of a header and a value for the JPEG decoder.
    Jpeg,
}

/// Something in an IB that is no NOP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Found {
    /// The place in the IB, in dwords.
    pub(crate) offset: usize,
    /// The dword there.
    pub(crate) dword: u32,
    /// A description of it.
    pub(crate) what: &'static str,
}
