//! The rules about packets, and what packets do to caches and to the order of accesses.

use amdgpu_hw::GfxLevel;
use amdgpu_waves::Reach;

use super::{event::Agent, report::HazardKind, text, view::Checked};
use crate::gpu::{CacheObserver, CacheOperation, Client, Ib, Place, Signal};

impl Checked<'_> {
    /// Reports a packet that breaks a rule.
    fn break_rule(&self, kind: HazardKind, earlier: Option<Place>, missing: &str) {
        let Some(place) = self.place.get() else { return };
        let job = self.order.get().job;
        let earlier = earlier.map(|place| text::packet(&place, job, Agent::Engine)).unwrap_or_default();
        self.caches.report(kind, None, earlier, text::packet(&place, job, Agent::Engine), missing.to_owned());
    }

    /// Reports an event at the end of the pipe that should have been the first of two, or the second.
    fn check_pair(&self, is_event: bool) {
        let rules = &self.rules;
        let is_open = |number: u64| number + 1 == rules.packets.get();
        let Some((_, place)) = rules.ended.get().filter(|&(number, _)| is_open(number) || !is_event) else { return };
        rules.ended.set(None);
        let is_twice = self.level() == GfxLevel::Gfx7 || self.level() == GfxLevel::Gfx8;
        if is_twice && !is_event {
            let missing = "a second event directly before or after: the first may store before the caches are flushed \
                           (radv_cs_emit_write_event_eop)";
            let later = text::packet(&place, self.order.get().job, Agent::Engine);
            self.caches.report(HazardKind::Submission, None, String::new(), later, missing.to_owned());
        }
    }

    /// Checks what a job leaves behind.
    pub(super) fn check_end(&self) {
        self.check_pair(false);
        self.end_packet();
        if let Some(place) = self.rules.open_dma.get().filter(|_| self.order.get().has_dma) {
            let missing = "a CP DMA with cp_sync at the end: the kernel's fence does not wait for DMA \
                           (radv_cp_dma_wait_for_idle)";
            let later = text::packet(&place, self.order.get().job, Agent::Dma);
            self.caches.report(HazardKind::Race, None, String::new(), later, missing.to_owned());
        }
    }

    /// Ends the packet before the next one.
    fn end_packet(&self) {
        if self.rules.is_synced.take() {
            self.rules.open_dma.set(None);
            self.join(|order, now| order.dma = now);
        }
        self.agent.set(Agent::Engine);
        self.event.set(None);
    }

    /// Ends what came before the current packet, as far as `join` says.
    fn join(&self, join: impl FnOnce(&mut super::access::Order, u64)) {
        let Some(now) = self.now() else { return };
        let mut order = self.order.get();
        join(&mut order, now);
        self.order.set(order);
    }
}

impl CacheObserver for Checked<'_> {
    fn packet(&self, place: Place) {
        self.end_packet();
        let rules = &self.rules;
        rules.packets.set(rules.packets.get() + 1);
        if rules.ended.get().is_some_and(|(number, _)| number + 1 < rules.packets.get()) {
            self.check_pair(false);
        }
        self.place.set(Some(place));
    }

    fn signal(&self, signal: Signal) {
        let rules = &self.rules;
        match signal {
            Signal::PfpSync => {
                rules.started.set(None);
                self.join(|order, now| order.pfp = now);
            }
            Signal::Work => rules.started.set(self.place.get()),
            Signal::ShadersDone => self.join(|order, now| order.shaders = now),
            // The wait is for a number that something at the end of the pipe stores.
            Signal::Waited { by_pfp } => {
                let stored = rules.stored.get();
                self.join(|order, now| {
                    order.shaders = order.shaders.max(stored);
                    if by_pfp {
                        order.pfp = now;
                    }
                });
            }
            Signal::ByPfp => self.agent.set(Agent::Pfp),
            Signal::Dma { waits_for_writes } => {
                if self.order.get().has_dma {
                    self.agent.set(Agent::Dma);
                }
                let mut order = self.order.get();
                order.waits_for_dma = waits_for_writes;
                self.order.set(order);
            }
            Signal::DmaSync => rules.is_synced.set(true),
            Signal::Stored => self.join(|_, now| rules.stored.set(now)),
            Signal::SampleCounts => rules.sampled.set(Some(rules.packets.get())),
            Signal::EndOfPipe if self.is_gfx() && self.level() == GfxLevel::Gfx9 => {
                if rules.sampled.get() != rules.packets.get().checked_sub(1) {
                    let missing = "ZPASS_DONE with an address directly before: the event may hang the chip \
                                   (radv_cs_emit_write_event_eop)";
                    self.break_rule(HazardKind::Submission, None, missing);
                }
            }
            Signal::EndOfPipe if self.is_gfx() => match rules.ended.get() {
                Some((number, _)) if number + 1 == rules.packets.get() => rules.ended.set(None),
                _ => rules.ended.set(self.place.get().map(|place| (rules.packets.get(), place))),
            },
            Signal::EndOfPipe => {}
        }
    }

    fn shaders(&self, are_running: bool) {
        self.in_shaders.set(are_running);
        self.route.set((Client::Vector, Reach::Unit));
        self.event.set(None);
    }

    /// Commands may be fetched through old copies, because drivers reuse the memory of IBs without invalidations. What bypasses L2
    /// needs the write-back, and what PFP fetches needs PFP to have waited.
    ///
    /// Source: Linux 6.12 `amdgpu_kms.c`, `amdgpu_hw_ip_info`: the alignments of IBs; the copy engines take only bits 31:5 of an
    /// address.
    fn fetched(&self, ib: Ib) {
        const ALIGNMENT: u64 = 32;
        let place = Place { target: self.target, ib, offset: 0, level: 1, packet: "command fetch" };
        let is_short = self.pm4().is_some() && !ib.dwords.is_multiple_of(ALIGNMENT as u32 / 4);
        if !ib.va.as_u64().is_multiple_of(ALIGNMENT) || is_short {
            let missing =
                "an address in multiples of 32 bytes, and NOPs up to a multiple of 8 dwords (radv_amdgpu_cs_finalize)";
            let later = text::packet(&place, self.order.get().job, Agent::Engine);
            self.caches.report(HazardKind::Submission, Some(ib.va.as_u64()), String::new(), later, missing.to_owned());
        }
        if self.pm4().is_some() {
            self.check_fetch(ib.va, 4 * ib.dwords as usize, place);
        }
    }

    fn operate(&self, operation: CacheOperation) {
        if let Some(doubt) = operation.doubt {
            self.break_rule(HazardKind::Submission, None, &format!("a valid combination: {doubt}"));
        }
        // radeonsi lets PFP wait afterwards on GFX7, and both are known to work.
        let may_be_early = self.is_gfx() && operation.by_pfp && self.level() != GfxLevel::Gfx7;
        if let (true, Some(work)) = (may_be_early, self.rules.started.get()) {
            let missing = "PFP_SYNC_ME before: PFP executes the operation before this work has ended \
                           (radv_cs_emit_cache_flush)";
            self.break_rule(HazardKind::EarlyOperation, Some(work), missing);
        }
        if operation.holds_pfp {
            self.join(|order, now| order.pfp = now);
        }
        if let Some(now) = self.now() {
            let CacheOperation { fronts, write_back_l2, invalidate_l2, .. } = operation;
            self.caches.model.lock().operate(now, fronts, write_back_l2, invalidate_l2);
        }
    }
}
