//! The state of computing one image's layout.

use crate::addr1::meta::DccInfo;
use crate::addr1::{Level, Request};
use crate::chip::Chip;
use crate::surface::config::SurfaceConfig;
use crate::surface::layout::SurfaceLayout;
use crate::surface::legacy::Legacy;

/// The state of computing one image's layout.
pub(super) struct Work<'a> {
    pub(super) chip: &'a Chip,
    pub(super) config: &'a SurfaceConfig,
    pub(super) request: Request,
    /// The size of an element in pixels according to the format; pairs of 4:2:2 pixels have no such format.
    pub(super) unit: [u32; 2],
    pub(super) surface: SurfaceLayout,
    pub(super) legacy: Legacy,
    pub(super) dcc: DccInfo,
    /// The index of the level of colour or depth to return, and that level.
    pub(super) kept: (usize, Option<Level>),
}
