//! The cache operations of packets, for an observer of caches.

use amdgpu_hw::GfxLevel;
use amdgpu_packets::layout::records::pm4::{AcquireMem, EventWriteEop, ReleaseMem, SurfaceSync};
use amdgpu_packets::pm4::{CoherCntl, Event, Gcr, TcActions};

use crate::gpu::{CacheMisuse, CacheOperation, FrontCaches, TargetCaches};

impl CacheOperation {
    /// Returns the operation of ACQUIRE_MEM.
    pub(super) fn of_acquire(packet: &AcquireMem, level: GfxLevel) -> Self {
        if level >= GfxLevel::Gfx10 {
            let holds_pfp = !packet.engine_sel;
            return Self { holds_pfp, ..Self::of_gcr(Gcr::from_bits_retain(packet.gcr_cntl)) };
        }
        Self::of_coher(CoherCntl::from_bits_retain(packet.coher_cntl), level).by(!packet.engine_sel)
    }

    /// Returns the operation of SURFACE_SYNC.
    pub(super) fn of_surface_sync(packet: &SurfaceSync, level: GfxLevel) -> Self {
        Self::of_coher(CoherCntl::from_bits_retain(packet.coher_cntl), level).by(!packet.engine_sel)
    }

    /// Returns the operation of RELEASE_MEM.
    pub(super) fn of_release(packet: &ReleaseMem, level: GfxLevel) -> Self {
        Self { flush_targets: flushed(packet.event_type, level), ..Self::of_release_bits(packet, level) }
    }

    fn of_release_bits(packet: &ReleaseMem, level: GfxLevel) -> Self {
        if level >= GfxLevel::Gfx10 {
            let bits = |gcr: Gcr, is_set: bool| if is_set { gcr } else { Gcr::empty() };
            return Self::of_gcr(
                bits(Gcr::GL2_INVALIDATE, packet.gl2_inv)
                    | bits(Gcr::GL2_WRITE_BACK, packet.gl2_wb)
                    | bits(Gcr::GLM_WRITE_BACK, packet.glm_wb)
                    | bits(Gcr::GLM_INVALIDATE, packet.glm_inv)
                    | bits(Gcr::GLV_INVALIDATE, packet.glv_inv)
                    | bits(Gcr::GL1_INVALIDATE, packet.gl1_inv)
                    | bits(Gcr::GLK_INVALIDATE, packet.glk_inv),
            );
        }
        let bits = |tc: TcActions, is_set: bool| if is_set { tc } else { TcActions::empty() };
        let tc = bits(TcActions::TC, packet.tc_action)
            | bits(TcActions::TC_WRITE_BACK, packet.tc_wb_action)
            | bits(TcActions::TCL1, packet.tcl1_action)
            | bits(TcActions::TC_NC, packet.tc_nc_action)
            | bits(TcActions::TC_METADATA, packet.tc_md_action);
        Self::of_tc(tc, level)
    }

    /// Returns the operation of EVENT_WRITE_EOP.
    pub(super) fn of_event(packet: &EventWriteEop, level: GfxLevel) -> Self {
        let bits = |tc: TcActions, is_set: bool| if is_set { tc } else { TcActions::empty() };
        let tc = bits(TcActions::TC, packet.tc_action)
            | bits(TcActions::TC_WRITE_BACK, packet.tc_wb_action)
            | bits(TcActions::TCL1, packet.tcl1_action);
        Self { flush_targets: flushed(packet.event_type, level), ..Self::of_tc(tc, level) }
    }

    /// Returns the operation of EVENT_WRITE; `None` if the event has none.
    pub(super) fn of_plain_event(event: Event, level: GfxLevel) -> Option<Self> {
        let flush_targets = flushed(event, level);
        (!flush_targets.is_empty()).then(|| Self { flush_targets, ..Self::default() })
    }

    fn by(self, by_pfp: bool) -> Self {
        Self { by_pfp, ..self }
    }

    fn of_coher(cntl: CoherCntl, level: GfxLevel) -> Self {
        let has = |bit| cntl.contains(bit);
        let bits = [has(CoherCntl::TC), has(CoherCntl::TC_WRITE_BACK), has(CoherCntl::TC_NC), has(CoherCntl::TCL1)];
        let (scalar, code) = (has(CoherCntl::SH_KCACHE), has(CoherCntl::SH_ICACHE));
        let mut operation = Self::of_bits(bits, has(CoherCntl::TC_METADATA), level);
        // The two share an invalidation on GFX6.
        let is_shared = level == GfxLevel::Gfx6 && (scalar || code);
        operation.fronts.set(FrontCaches::SCALAR, scalar || is_shared);
        operation.fronts.set(FrontCaches::INSTRUCTIONS, code || is_shared);
        operation.flush_targets.set(TargetCaches::COLOR, level < GfxLevel::Gfx9 && has(CoherCntl::CB));
        operation.flush_targets.set(TargetCaches::DEPTH, level < GfxLevel::Gfx9 && has(CoherCntl::DB));
        operation
    }

    fn of_tc(tc: TcActions, level: GfxLevel) -> Self {
        let has = |bit| tc.contains(bit);
        let bits = [has(TcActions::TC), has(TcActions::TC_WRITE_BACK), has(TcActions::TC_NC), has(TcActions::TCL1)];
        // The events of GFX8 have no bit for non-coherent lines, which a write-back means all the same.
        let bits = if level == GfxLevel::Gfx8 { [bits[0], bits[1], true, bits[3]] } else { bits };
        Self::of_bits(bits, has(TcActions::TC_METADATA), level)
    }

    /// Returns the operation for the bits TC, TC_WB, TC_NC and TCL1, and TC_MD. A combination that the chip does not accept does
    /// less than its bits say.
    ///
    /// Source: Mesa 25.0.7 `src/gallium/drivers/radeonsi/si_barrier.c`, the combinations before `si_emit_barrier_as_acquire_mem`.
    fn of_bits([tc, back, nc, tcl1]: [bool; 4], metadata: bool, level: GfxLevel) -> Self {
        let mut operation = Self::default();
        operation.fronts.set(FrontCaches::VECTOR, tcl1);
        if level < GfxLevel::Gfx8 {
            operation.write_back_l2 = tc;
            operation.invalidate_l2 = tc;
            return operation;
        }
        operation.misuse = match (tc, back, nc) {
            (false, true, true) if tcl1 => Some(CacheMisuse::Mixture),
            (false, true, false) => Some(CacheMisuse::WriteBackAlone),
            (true, false, false) if !metadata => Some(CacheMisuse::InvalidationAlone),
            _ => None,
        };
        if operation.misuse == Some(CacheMisuse::Mixture) {
            operation.fronts = FrontCaches::empty();
        }
        operation.write_back_l2 = back && (tc || nc);
        operation.invalidate_l2 = tc && (back || nc);
        // Operations that invalidate L2 invalidate metadata.
        let has_cache = level == GfxLevel::Gfx9;
        operation.fronts.set(FrontCaches::METADATA, has_cache && (operation.invalidate_l2 || tc && metadata));
        operation
    }

    fn of_gcr(gcr: Gcr) -> Self {
        let (invalidate_l2, write_back_l2) = (gcr.contains(Gcr::GL2_INVALIDATE), gcr.contains(Gcr::GL2_WRITE_BACK));
        let misuse = match (gcr.contains(Gcr::GLM_WRITE_BACK), gcr.contains(Gcr::GLM_INVALIDATE)) {
            (true, false) => Some(CacheMisuse::MetadataWriteBackAlone),
            _ if invalidate_l2 && !write_back_l2 => Some(CacheMisuse::DirtyLines),
            _ => None,
        };
        let mut fronts = FrontCaches::empty();
        fronts.set(FrontCaches::VECTOR, gcr.contains(Gcr::GLV_INVALIDATE));
        fronts.set(FrontCaches::SCALAR, gcr.contains(Gcr::GLK_INVALIDATE));
        fronts.set(FrontCaches::INSTRUCTIONS, gcr.intersects(Gcr::GLI_FIRST_LAST));
        fronts.set(FrontCaches::ARRAY, gcr.contains(Gcr::GL1_INVALIDATE));
        fronts.set(FrontCaches::METADATA, gcr.contains(Gcr::GLM_INVALIDATE));
        Self { write_back_l2, invalidate_l2, fronts, misuse, ..Self::default() }
    }
}

/// Returns the caches of colour and depth targets that an event writes back. Metadata has events of its own: GFX11 has none for
/// that of depth, which goes with depth, and GFX12 has none.
///
/// Source: Mesa 25.0.7 `src/amd/vulkan/radv_cs.c`, `gfx10_cs_emit_cache_flush` and `radv_cs_emit_cache_flush`.
fn flushed(event: Event, level: GfxLevel) -> TargetCaches {
    let with_metadata = |data: TargetCaches, metadata: TargetCaches, is_one: bool| {
        if is_one { data | metadata } else { data }
    };
    let color = with_metadata(TargetCaches::COLOR, TargetCaches::COLOR_METADATA, level >= GfxLevel::Gfx12);
    let depth = with_metadata(TargetCaches::DEPTH, TargetCaches::DEPTH_METADATA, level >= GfxLevel::Gfx11);
    match event {
        Event::CACHE_FLUSH_TS
        | Event::CACHE_FLUSH
        | Event::CACHE_FLUSH_AND_INV_TS_EVENT
        | Event::CACHE_FLUSH_AND_INV_EVENT => color | depth,
        Event::DB_CACHE_FLUSH_AND_INV | Event::FLUSH_AND_INV_DB_DATA_TS => depth,
        Event::FLUSH_AND_INV_CB_DATA_TS | Event::FLUSH_AND_INV_CB_PIXEL_DATA => color,
        Event::FLUSH_AND_INV_CB_META => TargetCaches::COLOR_METADATA,
        Event::FLUSH_AND_INV_DB_META => TargetCaches::DEPTH_METADATA,
        _ => TargetCaches::empty(),
    }
}
