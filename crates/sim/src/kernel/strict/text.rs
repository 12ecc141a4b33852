//! The words of reports.

use amdgpu_hw::GfxLevel;
use amdgpu_packets::Target;

use super::{
    event::{Agent, Event, Log, Time},
    finding::{Cache, Finding},
    pages::Front,
    report::HazardKind,
};
use crate::gpu::{Place, TargetCaches};

/// Returns an access of a packet as text.
pub(super) fn packet(place: &Place, submission: u64, agent: Agent) -> String {
    let who = if matches!(agent, Agent::Shader | Agent::Draw) { "a shader of " } else { "" };
    format!("{who}{place}, job {submission}")
}

/// Returns an event as text.
pub(super) fn event(log: &Log, time: Time) -> String {
    let named = log.get(time).map(|Event { submission, place, agent, .. }| packet(place, *submission, *agent));
    named.unwrap_or_else(|| "an access too long ago to be named".to_owned())
}

/// Returns an access of an event as text: a packet has accesses of several units.
pub(super) fn access(log: &Log, time: Time, agent: Agent) -> String {
    log.get(time).map_or_else(|| event(log, time), |event| packet(&event.place, event.submission, agent))
}

/// Returns the kind of a finding, the earlier access, and what is missing. `later` is the packet that shows it.
pub(super) fn finding(
    finding: Finding,
    is_write: bool,
    (level, later): (GfxLevel, &str),
    log: &Log,
) -> (HazardKind, String, String) {
    match finding {
        Finding::Stale { cache, filled, passed } => {
            let writer = passed.map_or_else(|| "the CPU".to_owned(), |time| event(log, time));
            let earlier = format!("{} left a copy in {}, then {writer} wrote", event(log, filled), name(cache, level));
            let missing = match cache {
                Cache::L2 if later.starts_with("WAIT_REG_MEM") => {
                    "MTYPE_UC for the page, because nothing invalidates L2 while a packet polls (radv_create_event)"
                        .to_owned()
                }
                Cache::L2 => {
                    "an invalidation of L2 in between, as first in each submission (radv_update_preamble_cs)".to_owned()
                }
                Cache::Front(front) => {
                    format!("{} in between, when what wrote is over ({})", invalidation(front, level), needed_by(front))
                }
            };
            (HazardKind::StaleRead, earlier, missing)
        }
        Finding::Dirty(writer) => {
            let kind = if is_write { HazardKind::Clobber } else { HazardKind::NotWrittenBack };
            let earlier = format!("{} wrote into L2", event(log, writer));
            (kind, earlier, "a write-back of L2 in between, when what wrote is over (radv_src_access_flush)".to_owned())
        }
        Finding::InTargets(cache, writer) => {
            let [what, flush] = match cache {
                TargetCaches::COLOR => ["a colour target", "FLUSH_AND_INV_CB_DATA_TS"],
                TargetCaches::DEPTH => ["a depth or stencil target", "FLUSH_AND_INV_DB_DATA_TS"],
                TargetCaches::COLOR_METADATA => ["the metadata of a colour target", "FLUSH_AND_INV_CB_META"],
                _ => ["the metadata of a depth target", "FLUSH_AND_INV_DB_META"],
            };
            let missing = format!(
                "an event that flushes the caches of targets in between, as {flush} (radv_cs_emit_cache_flush)"
            );
            let earlier = format!("{} wrote to {what}", event(log, writer));
            (HazardKind::NotWrittenBack, earlier, missing)
        }
        Finding::Race { earlier, by, is_write: wrote, is_apart } => {
            let is_copy_engine = log.get(earlier).is_some_and(|event| matches!(event.place.target, Target::Sdma(_)));
            let missing = match by {
                _ if is_apart => {
                    "a sync object or a fence between the two submissions, which are to different rings \
                     (radv_amdgpu_cs_submit)"
                }
                Agent::Dma if is_copy_engine => "NOP in between, for copies may overlap (radv_sdma_emit_nop)",
                Agent::Dma => "a CP DMA with cp_sync in between, or raw_wait in a DMA (radv_cp_dma_wait_for_idle)",
                Agent::Draw => "PS_PARTIAL_FLUSH in between (radv_src_access_flush)",
                Agent::Posted => "WR_CONFIRM in the packet that writes (radv_cs_write_data)",
                Agent::Shader | Agent::Pfp | Agent::Engine => "CS_PARTIAL_FLUSH in between (radv_src_access_flush)",
            };
            (HazardKind::Race, conflict(&event(log, earlier), wrote), missing.to_owned())
        }
        Finding::Ahead(earlier) => {
            let missing = "PFP_SYNC_ME in between, because PFP reads ahead of ME (radv_cs_emit_cache_flush)";
            (HazardKind::Ahead, format!("{} wrote", event(log, earlier)), missing.to_owned())
        }
    }
}

/// Returns an access as the earlier one of a race.
pub(super) fn conflict(access: &str, is_write: bool) -> String {
    let what = if is_write { "writes" } else { "reads" };
    format!("{access} {what} the same bytes")
}

/// Returns the name of a cache on a generation.
fn name(cache: Cache, level: GfxLevel) -> &'static str {
    let is_new = level >= GfxLevel::Gfx10;
    match cache {
        Cache::L2 => "L2",
        Cache::Front(Front::Vector) if is_new => "GL0 (the vector cache)",
        Cache::Front(Front::Vector) => "TCL1 (the vector cache)",
        Cache::Front(Front::Scalar) => "the scalar cache",
        Cache::Front(Front::Instructions) => "the instruction cache",
        Cache::Front(Front::Array) => "GL1",
        Cache::Front(Front::Metadata) if is_new => "GLM (the cache of metadata)",
        Cache::Front(Front::Metadata) => "the cache of metadata",
    }
}

/// Returns the bit that invalidates a cache.
fn invalidation(front: Front, level: GfxLevel) -> &'static str {
    let is_new = level >= GfxLevel::Gfx10;
    match front {
        Front::Vector if is_new => "GLV_INV",
        Front::Vector => "TCL1_ACTION",
        Front::Scalar if is_new => "GLK_INV",
        Front::Scalar => "SH_KCACHE_ACTION",
        Front::Instructions if is_new => "GLI_INV",
        Front::Instructions => "SH_ICACHE_ACTION",
        Front::Array => "GL1_INV",
        Front::Metadata if is_new => "GLM_INV with GLM_WB",
        Front::Metadata => "TC_ACTION with TC_MD_ACTION",
    }
}

/// Returns the function of Mesa 25.0.7 that invalidates a cache.
fn needed_by(front: Front) -> &'static str {
    match front {
        Front::Instructions => "radv_update_preamble_cs",
        Front::Vector | Front::Scalar | Front::Array | Front::Metadata => "radv_dst_access_flush",
    }
}
