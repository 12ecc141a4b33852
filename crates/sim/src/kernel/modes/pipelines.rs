//! Colour pipelines of planes: lists of operations, which are objects of their own. Every plane but a cursor has the same one.
//!
//! A picture has the colours that come out of the pipeline of its plane: [`Effect`](super::effect::Effect).
//!
//! Source: Linux 7.2 `drm_colorop.c`; `amdgpu_dm_colorop.c`, `amdgpu_dm_initialize_default_pipeline`.

use amdgpu_hw::GfxLevel;

use super::{
    format,
    properties::{Key, LUT_3D_SIDE, LUT_SIZE},
};
use crate::{chips::Profile, features::Features};

/// The properties about colours that planes have, but for cursors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Colours {
    /// Nothing.
    None,
    /// The encoding of luma and chroma.
    Encodings,
    /// Pipelines too.
    Pipelines,
}

impl Colours {
    /// Returns what a chip's planes know with a kernel's features.
    pub(crate) fn of(profile: &Profile, features: Features) -> Self {
        // Display cores before DCN 3.0 have no pipelines.
        if profile.gfx_level >= GfxLevel::Gfx10_3 && features.contains(Features::COLOR_PIPELINES) {
            Self::Pipelines
        } else if format::has_luma(profile) {
            Self::Encodings
        } else {
            Self::None
        }
    }
}

/// An operation of the pipeline.
#[derive(Debug)]
pub(crate) struct Step {
    /// The value of TYPE.
    pub(crate) kind: u64,
    pub(crate) properties: &'static [Key],
    /// The value of SIZE, for tables.
    pub(crate) size: u64,
    /// The size of the table or matrix in bytes; 0 for others.
    pub(crate) bytes: usize,
    /// The first curve, for curves.
    pub(crate) curve: u64,
}

/// The size of an entry of a table in bytes.
const ENTRY: usize = 16;
/// The size of a matrix in bytes: twelve numbers.
const MATRIX: usize = 96;

const fn curve(key: &'static [Key], curve: u64) -> Step {
    Step { kind: 0, properties: key, size: 0, bytes: 0, curve }
}

const CURVE: Step = curve(&[Key::OpType, Key::Bypass, Key::Next, Key::Curve], 0);
const LUT: Step = Step {
    kind: 1,
    properties: &[Key::OpType, Key::Bypass, Key::Next, Key::Size, Key::Lut1dInterpolation, Key::Data],
    size: LUT_SIZE,
    bytes: LUT_SIZE as usize * ENTRY,
    curve: 0,
};

/// The operations of the pipeline, in order.
pub(crate) static STEPS: [Step; 8] = [
    CURVE,
    Step { kind: 3, properties: &[Key::OpType, Key::Bypass, Key::Next, Key::Multiplier], size: 0, bytes: 0, curve: 0 },
    Step { kind: 2, properties: &[Key::OpType, Key::Bypass, Key::Next, Key::Data], size: 0, bytes: MATRIX, curve: 0 },
    curve(&[Key::OpType, Key::Bypass, Key::Next, Key::InverseCurve], 1),
    LUT,
    Step {
        kind: 4,
        properties: &[Key::OpType, Key::Bypass, Key::Next, Key::Size, Key::Lut3dInterpolation, Key::Data],
        size: LUT_3D_SIDE,
        bytes: (LUT_3D_SIDE * LUT_3D_SIDE * LUT_3D_SIDE) as usize * ENTRY,
        curve: 0,
    },
    CURVE,
    LUT,
];
