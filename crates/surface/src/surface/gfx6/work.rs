//! The state of the work on one image.

use crate::addr1::meta::DccInfo;
use crate::addr1::{Level, Request};
use crate::chip::Chip;
use crate::surface::config::SurfaceConfig;
use crate::surface::layout::SurfaceLayout;
use crate::surface::legacy::Legacy;

/// The work on one image.
pub(super) struct Work<'a> {
    pub(super) chip: &'a Chip,
    pub(super) config: &'a SurfaceConfig,
    pub(super) request: Request,
    /// Size of an element in pixels, as the format says; 4:2:2 pairs have no format here.
    pub(super) unit: [u32; 2],
    pub(super) surface: SurfaceLayout,
    pub(super) legacy: Legacy,
    pub(super) dcc: DccInfo,
    /// Number of the level of colour or depth to keep, and that level.
    pub(super) kept: (usize, Option<Level>),
}
