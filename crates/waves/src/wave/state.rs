//! The state of a wave, and what is around it.

use super::{file::Register, registers::Registers};
use crate::{
    alu::{
        kernel::{Lanes, WideLanes},
        unit::Unit,
    },
    buffer::described::Described,
    export::{Export, Interpolant},
    image::cache::Images,
    memory::{Memory, PageFault},
    mutation::WaveMutation,
    outcome::Counters,
};

/// A wave of a group.
pub(crate) struct Wave {
    pub(crate) registers: Registers,
    pub(crate) pc: u64,
    pub(crate) status: Status,
    pub(crate) scratch: Scratch,
    /// Added to VGPR numbers while indexing is on (GFX8 and GFX9).
    pub(crate) indexing: Indexing,
    pub(crate) number: u32,
    pub(crate) counters: Counters,
    /// The first access that faulted.
    pub(crate) fault: Option<PageFault>,
    /// A mistake that it makes on purpose.
    pub(crate) mutation: Option<WaveMutation>,
    pub(crate) pad: Box<Pad>,
    /// The vector instructions that compute its lanes.
    pub(crate) unit: Unit,
    /// Frequent forms of vector operations need not go by the general rule: no register is indexed, and `unit` allows it.
    pub(crate) takes_shortcuts: bool,
    /// The buffer of the last access.
    pub(crate) described: Described,
    /// The exports and attributes of a wave of a graphics stage; `None` for compute shaders.
    pub(crate) graphics: Option<Box<Graphics>>,
}

/// The exports and the attributes of a wave of a graphics stage.
#[derive(Default)]
pub(crate) struct Graphics {
    pub(crate) exports: Vec<Export>,
    /// The attributes of each primitive of the wave.
    pub(crate) primitives: Vec<Vec<Interpolant>>,
    /// The primitive of each quad.
    pub(crate) quads: Vec<u16>,
    /// The primitive of all quads, if they have the same.
    pub(crate) only: Option<u16>,
}

impl Graphics {
    /// Gives a wave that starts the attributes of its primitives, and the primitive of each quad.
    pub(crate) fn attribute(&mut self, primitives: &[Vec<Interpolant>], quads: &[u16]) {
        primitives.clone_into(&mut self.primitives);
        quads.clone_into(&mut self.quads);
        let first = quads.first().copied().unwrap_or(0);
        self.only = quads.iter().all(|number| *number == first).then_some(first);
    }
}

/// Space for operands and results.
pub(crate) struct Pad {
    pub(crate) narrow: [Register; 3],
    pub(crate) wide: [WideLanes; 3],
    pub(crate) out: Box<Register>,
    /// The result of the second operation of a pair.
    pub(crate) second: Box<Register>,
    /// The lanes of the mask that an operation of a block wrote last.
    pub(crate) written: Box<Register>,
    pub(crate) wide_out: WideLanes,
    pub(crate) carries: Lanes,
    /// The addresses of the lanes of an access.
    pub(crate) addresses: WideLanes,
    /// `true` if denormals of the result were replaced already.
    pub(crate) flushed: bool,
}

impl Default for Pad {
    fn default() -> Self {
        Self {
            narrow: Default::default(),
            wide: [[0; 64]; 3],
            out: Box::default(),
            second: Box::default(),
            written: Box::default(),
            wide_out: [0; 64],
            carries: [0; 64],
            addresses: [0; 64],
            flushed: false,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Status {
    Running,
    AtBarrier,
    Ended,
}

/// The scratch memory of a wave.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Scratch {
    /// The address as the shader or hardware set it: FLAT_SCRATCH.
    pub(crate) base: u64,
    /// Bytes of each lane; 0 if it is not known.
    pub(crate) lane_bytes: u64,
}

/// Indexing of VGPRs by M0.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Indexing {
    pub(crate) on: bool,
    /// Bits: first, second, third source, destination.
    pub(crate) mode: u8,
    pub(crate) offset: u32,
}

/// Environment of a wave while it runs.
pub(crate) struct Surroundings<'s, O> {
    pub(crate) memory: &'s dyn Memory,
    pub(crate) lds: &'s mut [u8],
    pub(crate) images: &'s mut Images,
    /// The address of the table of border colours.
    pub(crate) border_colors: u64,
    pub(crate) observer: &'s O,
}

/// Continuation of a wave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flow {
    Next,
    /// The next instruction is fetched from memory again.
    Refetch,
    Jump(u64),
    End,
    Barrier,
}
