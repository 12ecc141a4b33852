//! Draws of AMD GPUs, GFX6 to GFX12: their state, and the fixed functions that turn them into pixels.
//!
//! [`DrawState`] is a draw as a value: its packet ([`Call`]) and the registers that apply to it, in the terms of one generation after
//! another. It says [what the draw does](DrawState::lines), [which features](DrawState::unsupported) this crate does not execute,
//! [what contradicts itself](DrawState::contradictions), and [why nothing is drawn](DrawState::nothing). [`draw`] executes it: programs
//! are run by [`Shaders`], memory is accessed through [`Memory`]. The crate knows no packets and no kernel.

#![forbid(unsafe_code)]
#![allow(
    clippy::cast_possible_wrap,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    clippy::float_cmp,
    clippy::many_single_char_names,
    clippy::struct_excessive_bools,
    reason = "registers are bits that fixed functions read as numbers of either sign; coordinates are x, y, z and w"
)]

mod execute;
mod feature;
mod lint;
mod mutation;
mod registers;
mod state;
mod words;

pub use execute::{
    Drawn, Ended, Export, Interpolant, Memory, MemoryFault, PixelWave, Shaders, Surface, VertexWave, draw,
    draw_on_threads,
};
pub use feature::Feature;
pub use mutation::DrawMutation;
pub use registers::Registers;
pub use state::{
    AlphaToMask, Attribute, Blend, BlendEquation, Call, Clip, Colour, ColourOperation, Compare, Depth, DepthBias,
    DepthCopy, DepthPlane, DrawState, FrontEnd, Geometry, Htile, Indices, LineStipple, Metadata, Order, PixelInputs,
    PointValue, PointValues, PolygonMode, Program, Rectangle, Samples, StencilFace, StencilOp, Topology, VertexOutputs,
    Viewport,
};
