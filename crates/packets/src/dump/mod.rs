//! A dumper of IBs. It prints every packet with its fields by name, registers with their names and values, addresses with the
//! objects that contain them, and the IBs that are called or chained to.
//!
//! ```
//! use amdgpu_packets::{dump::Dumper, pm4};
//! use amdgpu_hw::GfxLevel;
//!
//! let ib = [0xc000_4600, 0x407, 0xffff_1000];
//! let dump = Dumper::new(pm4::Target::gfx(GfxLevel::Gfx9)).dump(&ib, None);
//! assert!(dump.to_string().contains("event_type = 7 (cs_partial_flush)"));
//! assert_eq!(dump.problems().count(), 0);
//! ```
//!
//! The dumper cannot fail: packets that it cannot decode are shown as dwords with the reason. The depth and size of the IBs that it
//! follows are [limited](Limits), and an IB is shown only once, so that loops end.

mod collect;
mod content;
mod follow;
mod settings;
mod text;

pub use collect::{leads_to, register};
pub use content::{Dump, Field, Ib, Meaning, Next, Note, Origin, Packet, Register, Shown};
pub use settings::{Limits, NameAddress, ReadMemory};
pub use text::Remark;

use std::ops::Range;

use crate::layout::Reader;
use crate::registers::RegisterSet;
use amdgpu_hw::GpuVa;
use settings::Settings;

/// A writer of dumps.
#[derive(Clone, Copy)]
pub struct Dumper<'d>(Settings<'d>);

impl std::fmt::Debug for Dumper<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Dumper").field("reader", &self.0.reader).field("limits", &self.0.limits).finish_non_exhaustive()
    }
}

impl<'d> Dumper<'d> {
    /// Creates a dumper that reads packets with `reader`. Until it is configured further, it follows no calls and chains, and names
    /// no addresses.
    pub fn new(reader: impl Into<Reader>) -> Self {
        Self(Settings {
            reader: reader.into(),
            registers: None,
            memory: &|_, _| None,
            names: &|_| None,
            limits: Limits::default(),
        })
    }

    /// Sets the reader of the packets.
    #[must_use]
    pub fn with_reader(self, reader: impl Into<Reader>) -> Self {
        Self(Settings { reader: reader.into(), ..self.0 })
    }

    /// Sets the register names. They are used only if the set belongs to the reader's generation. Two chips have sets that differ
    /// from the set of their generation.
    #[must_use]
    pub const fn with_registers(self, registers: RegisterSet) -> Self {
        Self(Settings { registers: Some(registers), ..self.0 })
    }

    /// Sets the function that reads memory. With it, a dump includes the IBs that are called or chained to.
    #[must_use]
    pub const fn with_memory(self, memory: &'d ReadMemory<'d>) -> Self {
        Self(Settings { memory, ..self.0 })
    }

    /// Sets the function that names the objects at addresses.
    #[must_use]
    pub const fn with_names(self, names: &'d NameAddress<'d>) -> Self {
        Self(Settings { names, ..self.0 })
    }

    /// Sets the limits for the called and chained IBs that a dump includes.
    #[must_use]
    pub const fn with_limits(self, limits: Limits) -> Self {
        Self(Settings { limits, ..self.0 })
    }

    /// Dumps an IB and the IBs that it calls or chains to. `va` is the address of the IB, if known.
    pub fn dump(&self, ib: &[u32], va: Option<GpuVa>) -> Dump {
        self.dump_part(ib, va, 0..ib.len())
    }

    /// Dumps a part of an IB and the IBs that it calls or chains to. `va` is the address of the IB, if known. `part` is clamped to
    /// the IB, and should start at a packet.
    pub fn dump_part(&self, ib: &[u32], va: Option<GpuVa>, part: Range<usize>) -> Dump {
        let first = part.start.min(ib.len());
        let part = ib.get(first..part.end.clamp(first, ib.len())).unwrap_or_default();
        follow::follow(&self.0, part, first, va)
    }

    /// Dumps the rest of an IB and the IBs that it calls or chains to. `va` is the address of the IB, if known. `excerpt` is its
    /// content starting at dword `first`, which should be the start of a packet.
    pub fn dump_excerpt(&self, excerpt: &[u32], first: usize, va: Option<GpuVa>) -> Dump {
        follow::follow(&self.0, excerpt, first, va)
    }
}
