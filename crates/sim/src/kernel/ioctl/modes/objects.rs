//! Requests that list and query CRTCs, planes, encoders and connectors.
//!
//! Source: Linux 6.12 `drm_mode_config.c`, `drm_mode_getresources`; `drm_crtc.c`, `drm_mode_getcrtc`; `drm_encoder.c`,
//! `drm_mode_getencoder`; `drm_connector.c`, `drm_mode_getconnector`; `drm_plane.c`, `drm_mode_getplane_res` and
//! `drm_mode_getplane`.

use amdgpu_uapi::{
    Errno, MODE_CONNECTED, MODE_DISCONNECTED, MODE_ENCODER_TMDS, ModeCardRes, ModeCrtc, ModeGetConnector,
    ModeGetEncoder, ModeGetPlane, ModeGetPlaneRes, ModeInfo,
};
use zerocopy::IntoBytes as _;

use super::{caps, list, properties, values, whole};
use crate::{
    display::Display,
    kernel::{
        files::file::File,
        ioctl::args::{argument, fill},
        modes::{CURSOR, GAMMA, Object, primary},
    },
};

/// The maximum width and height of a framebuffer in pixels.
///
/// Source: Linux 6.12 `amdgpu_dm.c`, `amdgpu_dm_mode_config_init`.
pub(super) const LARGEST: u32 = 16384;

/// Performs MODE_GETRESOURCES. The framebuffers are those of the file, the CRTCs and connectors those that its master may use.
pub(crate) fn resources(file: &File, bytes: &mut [u8]) -> Result<(), Errno> {
    let mut request: ModeCardRes = argument(bytes)?;
    let modes = file.gpu.display.modes;
    let ids = |range: std::ops::Range<u32>| range.filter(|id| file.object(*id).is_some()).collect::<Vec<_>>();
    let framebuffers = file.gpu.display.screen.as_ref().map(|screen| screen.of_file(file.number)).unwrap_or_default();
    request.count_fbs = list(request.fb_id_ptr, request.count_fbs, &framebuffers)?;
    request.count_crtcs = list(request.crtc_id_ptr, request.count_crtcs, &ids(modes.crtcs()))?;
    request.count_encoders = list(request.encoder_id_ptr, request.count_encoders, &ids(modes.encoders()))?;
    request.count_connectors = list(request.connector_id_ptr, request.count_connectors, &ids(modes.connectors()))?;
    (request.min_width, request.min_height) = (0, 0);
    (request.max_width, request.max_height) = (LARGEST, LARGEST);
    fill(bytes, &request)
}

/// Performs MODE_GETCRTC: returns the mode, and the framebuffer of the primary plane with the CRTC's index.
pub(crate) fn crtc(file: &File, bytes: &mut [u8]) -> Result<(), Errno> {
    let request: ModeCrtc = argument(bytes)?;
    let Some(Object::Crtc(index)) = file.object(request.crtc_id) else { return Err(Errno::ENOENT) };
    let configuration = values::configuration(file);
    let (plane, mode) = (configuration.plane(index), configuration.crtc(index).mode);
    let mut answer = ModeCrtc {
        fb_id: plane.framebuffer.map_or(0, |framebuffer| framebuffer.id),
        x: plane.source.x >> 16,
        y: plane.source.y >> 16,
        gamma_size: GAMMA as u32,
        mode_valid: u32::from(mode.is_some()),
        ..request
    };
    if let Some(mode) = mode {
        answer.mode.copy_from_slice(mode.info.as_bytes());
    }
    fill(bytes, &answer)
}

/// Returns the id of a CRTC that a file's master may use; 0 for none or another one.
fn crtc_id(file: &File, crtc: Option<u32>) -> u32 {
    crtc.map(|index| file.gpu.display.modes.crtc(index)).filter(|id| file.node.holds(*id)).unwrap_or(0)
}

/// Returns the CRTCs of a mask that a file's master may use, counted among those.
///
/// Source: Linux 6.12 `drm_lease.c`, `drm_lease_filter_crtcs`.
fn visible_crtcs(file: &File, mask: u32) -> u32 {
    let crtcs = file.gpu.display.modes.crtcs();
    let visible = (0..).zip(crtcs).filter(|(_, id)| file.node.holds(*id));
    (0..).zip(visible).map(|(at, (index, _))| (mask >> index & 1) << at).sum()
}

/// Performs MODE_GETENCODER.
pub(crate) fn encoder(file: &File, bytes: &mut [u8]) -> Result<(), Errno> {
    let ModeGetEncoder { encoder_id, .. } = argument(bytes)?;
    let modes = file.gpu.display.modes;
    let Some(Object::Encoder(index)) = modes.find(encoder_id) else { return Err(Errno::ENOENT) };
    let answer = ModeGetEncoder {
        encoder_id,
        encoder_type: MODE_ENCODER_TMDS,
        crtc_id: crtc_id(file, values::configuration(file).feeds(index)),
        possible_crtcs: visible_crtcs(file, modes.crtc_mask()),
        possible_clones: 1 << index,
    };
    fill(bytes, &answer)
}

/// Performs MODE_GETCONNECTOR. A connector without a display has no modes.
pub(crate) fn connector(file: &File, bytes: &mut [u8]) -> Result<(), Errno> {
    let request: ModeGetConnector = argument(bytes)?;
    let modes = file.gpu.display.modes;
    let found = file.object(request.connector_id);
    let Some(object @ Object::Connector(index, connector)) = found else { return Err(Errno::ENOENT) };
    let lists = (request.props_ptr, request.prop_values_ptr);
    let count_props = properties::write(file, object, lists, request.count_props)?;
    let count_encoders = whole(request.encoders_ptr, request.count_encoders, &[modes.encoder(index)])?;
    let modes_there: &[ModeInfo] = match &file.gpu.display.screen {
        Some(screen) if index == 0 => &[screen.mode],
        _ => &[],
    };
    let count_modes = whole(request.modes_ptr, request.count_modes, modes_there)?;
    let is_lit = values::configuration(file).feeds(index).is_some();
    let shown = file.gpu.facts.options.display.filter(|_| index == 0);
    let (mm_width, mm_height) = shown.map_or((0, 0), Display::millimetres);
    let answer = ModeGetConnector {
        count_modes,
        count_props,
        count_encoders,
        encoder_id: if is_lit { modes.encoder(index) } else { 0 },
        connector_type: connector.kind,
        connector_type_id: connector.number,
        connection: if modes_there.is_empty() { MODE_DISCONNECTED } else { MODE_CONNECTED },
        mm_width,
        mm_height,
        subpixel: 0,
        pad: 0,
        ..request
    };
    fill(bytes, &answer)
}

/// Performs MODE_GETPLANERESOURCES. For a client without the capability for all planes it returns only overlays, of which there are
/// none.
pub(crate) fn plane_resources(file: &File, bytes: &mut [u8]) -> Result<(), Errno> {
    let mut request: ModeGetPlaneRes = argument(bytes)?;
    let seen = file.gpu.display.modes.planes().filter(|id| file.object(*id).is_some());
    let planes: Vec<_> = if caps::of(file)?.universal_planes { seen.collect() } else { Vec::new() };
    request.count_planes = list(request.plane_id_ptr, request.count_planes, &planes)?;
    fill(bytes, &request)
}

/// Performs MODE_GETPLANE.
pub(crate) fn plane(file: &File, bytes: &mut [u8]) -> Result<(), Errno> {
    let mut request: ModeGetPlane = argument(bytes)?;
    let found = file.object(request.plane_id);
    let Some(Object::Plane(index)) = found else { return Err(Errno::ENOENT) };
    let (state, (crtc, is_cursor)) =
        (values::configuration(file).plane(index), file.gpu.display.modes.plane_use(index));
    request.crtc_id = crtc_id(file, state.crtc);
    request.fb_id = state.framebuffer.map_or(0, |framebuffer| framebuffer.id);
    request.gamma_size = 0;
    request.possible_crtcs = visible_crtcs(file, 1 << crtc);
    let formats = if is_cursor { CURSOR.to_vec() } else { primary(&file.gpu.facts.profile) };
    request.count_format_types = whole(request.format_type_ptr, request.count_format_types, &formats)?;
    fill(bytes, &request)
}
