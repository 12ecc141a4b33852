//! The findings of one moment, with its texts as C strings.

use std::ffi::{CString, c_char};

use amdgpu_pool::{Gpu, Place, Report, State, Verdict};

use crate::layout::{CFit, CGpu, CHeap, CLimit};

/// An unknown size.
pub const UNKNOWN: u64 = u64::MAX;

/// The findings of one moment: `struct amdgpu_pool`.
#[derive(Debug)]
pub struct Pool {
    report: Report,
    texts: Vec<Texts>,
}

/// The texts of a GPU.
#[derive(Debug)]
struct Texts {
    pci: CString,
    render: CString,
    limited_by: CString,
    heaps: Vec<CString>,
    limits: Vec<[CString; 3]>,
    missing: Vec<[CString; 2]>,
}

/// A text as C has it. A NUL in it, which no file of the kernel has, would end it.
fn text(text: &str) -> CString {
    let until = text.split('\0').next().unwrap_or_default();
    CString::new(until).unwrap_or_default()
}

fn known(bytes: Option<u64>) -> u64 {
    bytes.unwrap_or(UNKNOWN)
}

impl Texts {
    fn new(gpu: &Gpu) -> Self {
        Self {
            pci: text(&gpu.pci),
            render: text(&gpu.render),
            limited_by: text(gpu.effective.limited_by.as_deref().unwrap_or_default()),
            heaps: gpu.heaps.iter().flatten().map(|heap| text(&heap.kind)).collect(),
            limits: gpu.limits.iter().map(|one| [text(one.name), text(&one.source), text(&one.why)]).collect(),
            missing: gpu.missing.iter().map(|one| [text(&one.source), text(&one.reason)]).collect(),
        }
    }
}

impl Pool {
    /// Keeps a report.
    pub fn new(report: Report) -> Self {
        Self { texts: report.gpus.iter().map(Texts::new).collect(), report }
    }

    pub(crate) fn count(&self) -> usize {
        self.report.gpus.len()
    }

    fn at(&self, index: usize) -> Option<(&Gpu, &Texts)> {
        self.report.gpus.get(index).zip(self.texts.get(index))
    }

    pub(crate) fn gpu(&self, index: usize) -> Option<CGpu> {
        let (gpu, texts) = self.at(index)?;
        let domains = &gpu.domains;
        let own = |of: fn(&amdgpu_pool::OwnUsage) -> u64| known(gpu.own.as_ref().map(of));
        let shared = gpu.unattributed.unwrap_or_default().shared;
        Some(CGpu {
            struct_size: 0,
            kind: gpu.apu.map_or(0, |apu| if apu { 2 } else { 1 }),
            pci: texts.pci.as_ptr(),
            render: texts.render.as_ptr(),
            limited_by: texts.limited_by.as_ptr(),
            device_id: gpu.device_id.unwrap_or(0),
            is_asleep: u32::from(gpu.is_asleep),
            vram_total: known(domains.vram.total),
            vram_usable: known(domains.vram.usable),
            vram_used: known(domains.vram.used),
            visible_vram_total: known(domains.visible_vram.total),
            visible_vram_used: known(domains.visible_vram.used),
            gtt_total: known(domains.gtt.total),
            gtt_usable: known(domains.gtt.usable),
            gtt_used: known(domains.gtt.used),
            total: known(gpu.effective.total),
            available: known(gpu.effective.available),
            largest_now: known(gpu.largest.now),
            largest_accepted: known(gpu.largest.accepted),
            largest_recommended: known(gpu.largest.recommended),
            own_vram: own(|own| own.visible_vram.saturating_add(own.invisible_vram)),
            own_gtt: own(|own| own.gtt),
            others_vram: known(gpu.others.vram),
            others_gtt: known(gpu.others.gtt),
            shared_vram: known(shared.vram),
            shared_gtt: known(shared.gtt),
            heaps: texts.heaps.len(),
            limits: texts.limits.len(),
            missing: texts.missing.len(),
        })
    }

    pub(crate) fn heap(&self, gpu: usize, index: usize) -> Option<CHeap> {
        let (gpu, texts) = self.at(gpu)?;
        let (heap, kind) = gpu.heaps.as_ref()?.get(index).zip(texts.heaps.get(index))?;
        Some(CHeap {
            struct_size: 0,
            is_device_local: u32::from(heap.flags.iter().any(|flag| flag == "DEVICE_LOCAL")),
            kind: kind.as_ptr(),
            size: heap.size,
            budget: heap.budget,
            usage: heap.usage,
            is_pooled: u32::from(!heap.shares_with.is_empty()),
            pad: 0,
        })
    }

    pub(crate) fn limit(&self, gpu: usize, index: usize) -> Option<CLimit> {
        let (gpu, texts) = self.at(gpu)?;
        let (limit, [name, source, why]) = gpu.limits.get(index).zip(texts.limits.get(index))?;
        let state = match limit.state {
            State::Unknown => 0,
            State::Counts => 1,
            State::Slack => 2,
            State::Apart => 3,
        };
        let (name, source, why) = (name.as_ptr(), source.as_ptr(), why.as_ptr());
        Some(CLimit { struct_size: 0, state, bytes: known(limit.bytes), name, source, why })
    }

    pub(crate) fn missing(&self, gpu: usize, index: usize) -> Option<(*const c_char, *const c_char)> {
        let [source, reason] = self.at(gpu)?.1.missing.get(index)?;
        Some((source.as_ptr(), reason.as_ptr()))
    }

    pub(crate) fn fits(&self, gpu: usize, bytes: u64) -> Option<CFit> {
        let fit = self.at(gpu)?.0.fits(bytes);
        let verdict = match fit.verdict {
            Verdict::TooMuch => 0,
            Verdict::Fits => 1,
            Verdict::Spills => 2,
            Verdict::Unknown => 3,
        };
        let mut reason = [0; 128];
        for (to, from) in reason.iter_mut().take(127).zip(fit.reason.bytes()) {
            *to = from.cast_signed();
        }
        let sum = |is_system: bool| {
            fit.parts.iter().filter(|part| (part.place == Place::Gtt) == is_system).map(|part| part.bytes).sum()
        };
        Some(CFit {
            struct_size: 0,
            verdict,
            is_in_one_piece: u32::from(fit.in_one_piece),
            pad: 0,
            own_memory: sum(false),
            system_memory: sum(true),
            lacking: fit.lacking,
            reason,
        })
    }
}
