//! The duties of a user queue, which no kernel has for it: HDP and L2 are flushed by packets of its ring.
//!
//! Source: Mesa 25.0.7 `src/gallium/winsys/amdgpu/drm/amdgpu_cs.cpp`, `amdgpu_cs_add_userq_packets`.

use amdgpu_hw::GfxLevel;
use amdgpu_packets::{
    Target,
    layout::{self, records::pm4::Packet, values::CachePolicy},
};

use super::stream::Item;

/// The packets of a batch that matter to later ones.
#[derive(Debug, Default)]
pub(super) struct Discipline {
    has_flushed_hdp: bool,
    has_called: bool,
    has_released: bool,
}

/// Something that a batch lacks: the packet that shows it, and the packet that is missing.
pub(super) type Lack = (&'static str, &'static str);

impl Discipline {
    /// Checks the next packet, and returns what is missing before it.
    pub(super) fn check(&mut self, item: &Item<'_>, dwords: &[u32], target: Target) -> Option<Lack> {
        const HDP: &str =
            "HDP_FLUSH before the call: no kernel flushes what the CPU wrote to VRAM (amdgpu_cs_add_userq_packets)";
        const RELEASE: &str = "RELEASE_MEM with a write-back of L2 and of metadata, and the cache policy that bypasses L2, \
                               between the call and the fence: no kernel writes L2 back (amdgpu_cs_add_userq_packets)";
        let Target::Pm4(pm4) = target else { return None };
        match item {
            Item::HdpFlush => self.has_flushed_hdp = true,
            Item::Ib(_) => {
                self.has_called = true;
                self.has_released = false;
                return (!self.has_flushed_hdp).then_some(("INDIRECT_BUFFER", HDP));
            }
            Item::Fence => {
                return (self.has_called && !self.has_released).then_some(("PROTECTED_FENCE_SIGNAL", RELEASE));
            }
            Item::Plain => {
                let fields = layout::packets(dwords, pm4).next().and_then(|packet| packet.content.ok().flatten());
                if let Some(Packet::ReleaseMem(packet)) = fields.as_ref().and_then(Packet::read) {
                    // GFX12 has no cache of metadata, and its command processor bypasses L2 in any case.
                    let is_new = pm4.level >= GfxLevel::Gfx12;
                    self.has_released = packet.gl2_wb
                        && (is_new || packet.glm_wb && packet.glm_inv)
                        && (is_new || packet.cache_policy == CachePolicy::BYPASS);
                }
            }
            Item::Wait(_) => {}
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use amdgpu_hw::GpuVa;
    use amdgpu_packets::{
        Packet as _,
        pm4::{CacheActions, Caching, EndOfPipe, EopEvent, EopStore, Gcr, Policy},
    };

    use super::*;
    use crate::gpu::Ib;

    /// The packet that a batch is without.
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    enum Without {
        Nothing,
        HdpFlush,
        Release,
        WriteBack,
        Metadata,
        Bypass,
    }

    fn lacks(level: GfxLevel, without: Without) -> Vec<Lack> {
        let target = amdgpu_packets::pm4::Target::gfx(level);
        let store = EopStore::Dword { va: GpuVa::new(0x1000).unwrap(), value: 1 };
        let event = EndOfPipe::new(EopEvent::CacheFlushAndInvalidate, store);
        let mut event = event.with_caches(level, CacheActions::WRITE_BACK_L2);
        event.gcr |= Gcr::GLM_WRITE_BACK | Gcr::GLM_INVALIDATE;
        event.caching = Caching { policy: Policy::Bypass, ..event.caching };
        match without {
            Without::WriteBack => event.gcr -= Gcr::GL2_WRITE_BACK,
            Without::Metadata => event.gcr -= Gcr::GLM_WRITE_BACK | Gcr::GLM_INVALIDATE,
            Without::Bypass => event.caching.policy = Policy::Lru,
            _ => {}
        }
        let mut dwords = [0; 16];
        let len = event.encode(target, &mut dwords).unwrap();
        let call = Item::Ib(Ib { va: GpuVa::NULL, dwords: 8 });
        let batch = [
            (Item::HdpFlush, without != Without::HdpFlush),
            (call, true),
            (Item::Plain, without != Without::Release),
            (Item::Fence, true),
        ];
        let mut discipline = Discipline::default();
        let there = batch.iter().filter(|(_, is_there)| *is_there);
        there.filter_map(|(item, _)| discipline.check(item, &dwords[..len], Target::Pm4(target))).collect()
    }

    #[test]
    fn a_batch_flushes_hdp_before_it_calls_an_ib_and_writes_l2_back_before_its_fence() {
        for level in [GfxLevel::Gfx11, GfxLevel::Gfx12] {
            assert_eq!(lacks(level, Without::Nothing), [], "{level}");
            let found = lacks(level, Without::HdpFlush);
            assert!(matches!(found[..], [("INDIRECT_BUFFER", _)]), "{level}: {found:?}");
            for without in [Without::Release, Without::WriteBack, Without::Metadata, Without::Bypass] {
                let found = lacks(level, without);
                let is_needed = level < GfxLevel::Gfx12 || matches!(without, Without::Release | Without::WriteBack);
                assert_eq!(found.len(), usize::from(is_needed), "{level} {without:?}: {found:?}");
                assert!(found.iter().all(|lack| lack.0 == "PROTECTED_FENCE_SIGNAL"), "{level} {without:?}: {found:?}");
            }
        }
    }

    #[test]
    fn a_fence_of_a_ring_that_calls_nothing_needs_no_write_back() {
        let target = Target::Pm4(amdgpu_packets::pm4::Target::gfx(GfxLevel::Gfx11));
        assert_eq!(Discipline::default().check(&Item::Fence, &[], target), None);
    }
}
