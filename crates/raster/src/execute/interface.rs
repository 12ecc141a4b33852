//! The surroundings of a draw: memory, programs, and what waves start with and export.

use crate::{Feature, Program};

/// The values of an attribute for a primitive: P0, P10 and P20 of each component.
pub type Interpolant = [[u32; 3]; 4];

/// An access to memory that is not mapped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no page at {va:#x}")]
pub struct MemoryFault {
    /// The address.
    pub va: u64,
    /// `true` for a write.
    pub is_write: bool,
}

/// A kind of memory that render backends access. Chips have a cache for each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Surface {
    /// The values of colour targets.
    #[default]
    Color,
    /// DCC and CMASK.
    ColorMetadata,
    /// The values of depth and stencil targets.
    Depth,
    /// HTILE.
    DepthMetadata,
}

/// The memory of a draw.
pub trait Memory {
    /// Tells what the render backends access from now on.
    fn enter(&self, surface: Surface) {
        let _ = surface;
    }

    /// Reads bytes.
    ///
    /// # Errors
    ///
    /// [`MemoryFault`] with the first address that cannot be read.
    fn load(&self, va: u64, out: &mut [u8]) -> Result<(), MemoryFault>;

    /// Reads indices of vertices, as [`load`](Self::load) does.
    ///
    /// # Errors
    ///
    /// Those of [`load`](Self::load).
    fn load_indices(&self, va: u64, out: &mut [u8]) -> Result<(), MemoryFault> {
        self.load(va, out)
    }

    /// Writes bytes.
    ///
    /// # Errors
    ///
    /// [`MemoryFault`] with the first address that cannot be written.
    fn store(&self, va: u64, data: &[u8]) -> Result<(), MemoryFault>;

    /// Reads elements of `bytes` bytes, one for each address, into `out`, where they follow each other. Elements that cannot be read
    /// are zero.
    ///
    /// This is called for the pixels of a wave, so that implementations can look a page up once.
    ///
    /// # Errors
    ///
    /// [`MemoryFault`] of the first element that cannot be read.
    fn load_elements(&self, addresses: &[u64], bytes: usize, out: &mut [u8]) -> Result<(), MemoryFault> {
        let mut result = Ok(());
        for (&va, element) in addresses.iter().zip(out.chunks_exact_mut(bytes)) {
            let loaded = self.load(va, element);
            if loaded.is_err() {
                element.fill(0);
            }
            result = result.and(loaded);
        }
        result
    }

    /// Writes elements of `bytes` bytes, one for each address, in order. Elements that cannot be written are dropped.
    ///
    /// # Errors
    ///
    /// [`MemoryFault`] of the first element that cannot be written.
    fn store_elements(&self, addresses: &[u64], bytes: usize, data: &[u8]) -> Result<(), MemoryFault> {
        let mut result = Ok(());
        for (&va, element) in addresses.iter().zip(data.chunks_exact(bytes)) {
            result = result.and(self.store(va, element));
        }
        result
    }

    /// Returns `true` if the draw should end because its job has ended.
    fn is_stopped(&self) -> bool {
        false
    }
}

/// A wave of vertices that starts.
#[derive(Clone, Debug, Default)]
pub struct VertexWave {
    /// The scalar registers from the first on.
    pub scalars: Vec<u32>,
    /// The vector registers from the first on.
    pub vectors: Vec<[u32; 64]>,
    /// The lanes that are on.
    pub lanes: u64,
}

/// A wave of pixels that starts.
#[derive(Clone, Debug, Default)]
pub struct PixelWave {
    /// The scalar registers from the first on.
    pub scalars: Vec<u32>,
    /// The vector registers from the first on.
    pub vectors: Vec<[u32; 64]>,
    /// The lanes that are covered.
    pub lanes: u64,
    /// The attributes of the primitives of the wave.
    pub primitives: Vec<Vec<Interpolant>>,
    /// The primitive of each quad.
    pub quads: Vec<u16>,
}

/// An export of a wave.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Export {
    /// The number of the target: 0 to 7 colours, 8 depth, 9 none, 12 to 16 positions, 20 a primitive, 21 and 22 two colours for one
    /// target, from 32 on parameters.
    pub target: u8,
    /// The components that are exported: a bit each.
    pub enabled: u8,
    /// `true` for the last export of its kind.
    pub is_last: bool,
    /// The lanes that are on.
    pub lanes: u64,
    /// The components of each lane; 16 bits each if the export is compressed.
    pub values: [[u32; 64]; 4],
    /// `true` if components have 16 bits.
    pub is_compressed: bool,
}

/// The programs of a draw.
pub trait Shaders {
    /// Runs a wave of vertices to its end and returns its exports, in order.
    ///
    /// # Errors
    ///
    /// [`Ended`] if the wave does not end.
    fn vertices(&mut self, program: &Program, wave: &VertexWave) -> Result<Vec<Export>, Ended>;

    /// Runs a wave of pixels to its end and replaces `exports`, which has those of an earlier wave, by its own, in order.
    ///
    /// # Errors
    ///
    /// [`Ended`] if the wave does not end.
    fn pixels(&mut self, program: &Program, wave: &PixelWave, exports: &mut Vec<Export>) -> Result<(), Ended>;
}

/// The reason why a draw did not end as it should.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Ended {
    /// The draw has features that are not executed. Nothing was drawn.
    #[error("not executed: {}", names(.0))]
    NotExecuted(Vec<Feature>),
    /// Hardware would hang.
    #[error("{0}")]
    Hang(String),
    /// A program is not mapped, which the user of the crate has reported.
    #[error("a program is not mapped")]
    NoProgram,
    /// The job has ended.
    #[error("the job has ended")]
    Stopped,
}

fn names(features: &[Feature]) -> String {
    features.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

/// The counts of a draw.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Drawn {
    /// The number of vertices that primitives were made of, each time that one is used.
    pub vertices: u64,
    /// The number of primitives that were made.
    pub assembled: u64,
    /// The number of times that the vertex shader ran.
    pub vertex_invocations: u64,
    /// The number of waves of vertices.
    pub vertex_waves: u64,
    /// The number of primitives that came to clipping.
    pub clipped: u64,
    /// The number of primitives behind culling.
    pub primitives: u64,
    /// The number of waves of pixels.
    pub pixel_waves: u64,
    /// The number of times that the pixel shader ran for a pixel or a sample of one.
    pub pixel_invocations: u64,
    /// The number of samples that passed depth and stencil.
    pub passed: u64,
    /// The first access of a fixed function that faulted.
    pub fault: Option<MemoryFault>,
}
