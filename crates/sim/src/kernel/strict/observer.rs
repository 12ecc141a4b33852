//! The strict mode as an observer of packets.

use amdgpu_packets::Target;
use amdgpu_waves::Reach;

use super::{
    event::Agent,
    packets::{At, Deed},
    report::HazardKind,
    text,
    view::Checked,
};
use crate::gpu::{CacheObserver, CacheOperation, Client, Ib, Place, Signal};

impl Checked<'_> {
    fn at(&self, now: u64) -> At {
        let Self { job, submission, target, .. } = *self;
        At { job, submission, place: self.place.get(), target, level: self.level(), now, values: None }
    }

    /// Copies and fills of a copy engine may overlap with what follows, until a packet waits for all of them.
    ///
    /// Source: Mesa 25.0.7 `src/amd/vulkan/radv_sdma.c`, `radv_sdma_emit_nop` and its callers.
    fn observe_copy_engine(&self, packet: &str) {
        if ["COPY", "CONST_FILL", "WRITE"].iter().any(|name| packet.starts_with(name)) {
            self.agent.set(Agent::Dma);
        } else if !matches!(packet, "COND_EXE" | "PRE_EXE") {
            // The wait is over when the packet begins.
            let now = self.now();
            self.caches.act(Deed::Signal(Signal::DmaSync), &self.at(now.unwrap_or_default()));
        }
    }

    /// Checks what a job leaves behind.
    pub(super) fn check_end(&self) {
        let now = self.now();
        self.caches.act(Deed::End, &self.at(now.unwrap_or_default()));
        self.event.set(None);
    }
}

impl CacheObserver for Checked<'_> {
    fn packet(&self, place: Place) {
        // The packet before is judged.
        self.caches.act(Deed::Packet, &self.at(0));
        self.agent.set(Agent::Engine);
        self.event.set(None);
        self.place.set(Some(place));
        self.stored.set(None);
        self.bypasses.set((false, false));
        if let Target::Sdma(_) = self.target {
            self.observe_copy_engine(place.packet);
        }
    }

    fn signal(&self, signal: Signal) {
        match signal {
            Signal::ByPfp => self.agent.set(Agent::Pfp),
            Signal::Bypass { reads, writes } => self.bypasses.set((reads, writes)),
            Signal::Unconfirmed => return self.agent.set(Agent::Posted),
            Signal::Dma { .. } if self.has_dma => self.agent.set(Agent::Dma),
            _ => {}
        }
        let is_event = matches!(
            signal,
            Signal::PfpSync
                | Signal::DrawsDone
                | Signal::ShadersDone
                | Signal::Waited { .. }
                | Signal::Counted { .. }
                | Signal::DmaSync
                | Signal::ByPfp
                | Signal::Confirmed
                | Signal::Bypass { .. }
                | Signal::Stored { .. }
        );
        let now = if is_event { self.now() } else { None };
        if let Signal::Stored { va: Some(_), .. } = signal {
            self.caches.can_be_polled(self.job);
        }
        let values = match (signal, self.stored.get()) {
            (Signal::Stored { va, .. }, Some((at, values))) if va == Some(at) => Some(values),
            _ => None,
        };
        let at = At { values, ..self.at(now.unwrap_or_default()) };
        self.caches.act(Deed::Signal(signal), &at);
    }

    /// Registers keep what another process has left on the ring. Those of MEC are those of a queue that processes share.
    fn unset(&self, registers: &[&str]) {
        let Some(place) = self.place.get() else { return };
        let later = text::packet(&place, self.submission, Agent::Engine);
        let missing = format!(
            "{} in the same submission: they have the values of another process (ac_init_compute_preamble_state, \
             ac_init_graphics_preamble_state)",
            registers.join(", ")
        );
        self.report(HazardKind::Submission, None, later, missing);
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
            let later = text::packet(&place, self.submission, Agent::Engine);
            self.report(HazardKind::Submission, Some(ib.va.as_u64()), later, missing.to_owned());
        }
        if self.pm4().is_some() {
            self.check_fetch(ib.va, 4 * ib.dwords as usize, place);
        }
    }

    fn operate(&self, operation: CacheOperation) {
        if let Some(now) = self.now() {
            self.caches.act(Deed::Operation(operation), &self.at(now));
        }
    }
}
