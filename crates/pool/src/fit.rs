//! The answer to whether bytes fit, and where.

use std::fmt;

use crate::gpu::Gpu;

/// The answer to whether bytes fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// They fit into the GPU's memory; on an APU into the carve-out and GTT.
    Fits,
    /// They fit, but a part would lie in system memory, which a card reaches over PCIe only.
    Spills,
    /// They do not fit, without others giving up memory.
    TooMuch,
    /// A figure is unknown.
    Unknown,
}

/// A kind of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// The GPU's own memory.
    Vram,
    /// The carve-out of an APU.
    CarveOut,
    /// System memory that the GPU maps.
    Gtt,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Vram => "VRAM",
            Self::CarveOut => "carve-out",
            Self::Gtt => "GTT",
        })
    }
}

/// The part of the bytes that goes to one place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// The place.
    pub place: Place,
    /// The number of bytes.
    pub bytes: u64,
}

/// The answer to [`Gpu::fits`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fit {
    /// The answer.
    pub verdict: Verdict,
    /// The places of the bytes; empty if they do not fit.
    pub parts: Vec<Part>,
    /// `true` if one allocation can have them all.
    pub in_one_piece: bool,
    /// The bytes that are lacking; 0 if they fit or a figure is unknown.
    pub lacking: u64,
    /// The reason in a sentence.
    pub reason: String,
}

impl Gpu {
    /// Returns whether so many bytes fit beside everything that is allocated now, and where they go.
    ///
    /// The answer holds for this moment: other processes may allocate a moment later. Memory that eviction could free is not counted.
    pub fn fits(&self, bytes: u64) -> Fit {
        let unknown = |reason: String| Fit {
            verdict: Verdict::Unknown,
            parts: Vec::new(),
            in_one_piece: false,
            lacking: 0,
            reason,
        };
        let Some(apu) = self.apu else {
            return unknown("it is unknown whether the GPU is an APU, whose memory is system memory".to_owned());
        };
        let Some(vram) = self.free.0.vram else {
            return unknown("what is free of the GPU's own memory is unknown".to_owned());
        };
        let own = if apu { Place::CarveOut } else { Place::Vram };
        let gtt = self.free.0.gtt;
        if apu && gtt.is_none() && bytes > vram {
            return unknown("what is free of GTT or of system memory is unknown".to_owned());
        }
        let first = bytes.min(vram);
        let second = (bytes - first).min(gtt.unwrap_or(0));
        let lacking = bytes - first - second;
        let parts = [Part { place: own, bytes: first }, Part { place: Place::Gtt, bytes: second }];
        let in_one_piece = self.largest.now.is_some_and(|largest| bytes <= largest);
        let (verdict, reason) = if lacking > 0 {
            let limit = if self.free.0.by_cgroup { "the cgroup's dmem.max" } else { self.limit_name(apu) };
            (Verdict::TooMuch, format!("{lacking} bytes are lacking; the limit is {limit}"))
        } else if !apu && second > 0 {
            (Verdict::Spills, format!("{second} bytes would lie in system memory, which the GPU reaches over PCIe"))
        } else if in_one_piece || bytes == 0 {
            (Verdict::Fits, "one allocation can have it".to_owned())
        } else {
            let largest = self.largest.now.unwrap_or(0);
            (Verdict::Fits, format!("in several allocations: one can have {largest} bytes at most"))
        };
        let parts = if lacking > 0 { Vec::new() } else { parts.into_iter().filter(|part| part.bytes > 0).collect() };
        Fit { verdict, parts, in_one_piece: lacking == 0 && in_one_piece, lacking, reason }
    }

    fn limit_name(&self, apu: bool) -> &'static str {
        match (apu, self.free.0.gtt_by) {
            (true, "mem_available") => "the memory that the machine has available",
            (true, "ttm_pages_limit") => "ttm.pages_limit",
            (true, _) => "the size of carve-out and GTT",
            (false, _) => "the size of VRAM and of the system memory behind it",
        }
    }
}
