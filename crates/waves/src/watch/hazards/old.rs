//! The hazards of GFX6 to GFX9, which are resolved by wait states.

use amdgpu_hw::GfxLevel;
use amdgpu_isa::Op;

use super::{
    found::Found,
    groups,
    rules::{
        DESCRIPTOR_TO_SMRD, EXEC_TO_DPP, FLAGS_TO_VECTOR, HALF_TO_VCCZ, HazardRule, INTERPOLATION_TO_LANE, M0_TO_LDS,
        M0_TO_MESSAGE, M0_TO_MOVREL, MODE_TO_MODE, SCALAR_TO_LANE, SCALAR_TO_MEMORY, SCALAR_TO_SMRD, SKIP_TO_VECTOR,
        SMEM_CLAUSE, SMEM_TO_VCCZ, STORE_TO_VECTOR, VCC_TO_FMAS, VECTOR_TO_DPP, Waiting,
    },
    traits::{Scalars, Traits, Unit, pair},
};
use crate::{
    program::source::{EXEC, M0, VCC},
    watch::waits::{Span, VECTORS},
};

/// An instruction that a later one must not follow too soon.
#[derive(Clone, Copy, Debug, Default)]
struct Mark {
    /// The number of wait states when it was over; 0 for none.
    end: u32,
    pc: u64,
}

/// The state of a wave.
#[derive(Debug)]
pub(in crate::watch) struct Old {
    level: GfxLevel,
    /// The number of wait states so far, from 1 on.
    clock: u32,
    /// The last write of scalar registers by the vector unit, and by the scalar unit.
    by_vector: [Mark; 128],
    by_scalar: [Mark; 128],
    /// The last write of vector registers by the vector unit.
    vectors: Box<[Mark; 512]>,
    hardware: [Mark; 64],
    vskip: Mark,
    /// The data of the store directly before.
    stored: Option<(Span, u64)>,
    /// The result of the interpolation directly before.
    interpolated: Option<(Vec<Span>, u64)>,
    /// The scalar memory operation directly before, and `true` if it stores.
    smem: Option<(bool, u64)>,
    flag: Vccz,
}

/// The operations after which VCCZ may not be what VCC is.
#[derive(Debug, Default)]
struct Vccz {
    /// A scalar load for which nothing has waited, and one after which VCC was not written.
    loading: Option<u64>,
    loaded: Option<u64>,
    /// A write of half of VCC.
    half: Option<u64>,
}

impl Vccz {
    fn step(&mut self, pc: u64, level: GfxLevel, traits: &Traits) -> Option<Found> {
        let found = |rule: &'static HazardRule, pc| Found { rule, register: None, earlier: Some(pc) };
        if traits.drains[2] {
            self.loaded = self.loading.take().or(self.loaded);
        }
        if groups::branches_on_vccz(traits.op) {
            let load = self.loading.or(self.loaded).filter(|_| SMEM_TO_VCCZ.is_on(level));
            return load.map(|pc| found(&SMEM_TO_VCCZ, pc)).or_else(|| self.half.map(|pc| found(&HALF_TO_VCCZ, pc)));
        }
        let both = pair(VCC);
        match traits.writes & both {
            0 => {}
            written if written == both => (self.loaded, self.half) = (None, None),
            _ => self.half = Some(pc),
        }
        if traits.unit == Unit::ScalarMemory && traits.has_result {
            self.loading = Some(pc);
        }
        None
    }
}

impl Old {
    pub(super) fn new(level: GfxLevel) -> Self {
        let none = Mark::default();
        Self {
            level,
            clock: 1,
            by_vector: [none; 128],
            by_scalar: [none; 128],
            vectors: Box::new([none; 512]),
            hardware: [none; 64],
            vskip: none,
            stored: None,
            interpolated: None,
            smem: None,
            flag: Vccz::default(),
        }
    }

    /// Returns the hazard of an instruction that wants `mark` to be far enough back.
    fn near(&self, waiting: &'static Waiting, mark: Mark, register: Option<u16>) -> Option<Found> {
        let is_near = mark.end != 0 && self.clock - mark.end < waiting.states;
        (is_near && waiting.rule.is_on(self.level)).then_some(Found {
            rule: &waiting.rule,
            register,
            earlier: Some(mark.pc),
        })
    }

    /// Returns the hazard of an instruction that accesses scalar registers.
    fn near_any(&self, waiting: &'static Waiting, marks: &[Mark; 128], mut set: Scalars) -> Option<Found> {
        while set != 0 {
            let slot = set.trailing_zeros() as usize;
            set &= set - 1;
            if let Some(found) = self.near(waiting, marks[slot], Some(slot as u16)) {
                return Some(found);
            }
        }
        None
    }

    fn find(&self, traits: &Traits) -> Option<Found> {
        let vcc = pair(VCC);
        let is_vector = matches!(traits.unit, Unit::Vector | Unit::Memory | Unit::Lds | Unit::Export);
        let skipped = is_vector.then(|| self.near(&SKIP_TO_VECTOR, self.vskip, None)).flatten();
        let m0 = |waiting| self.near(waiting, self.by_scalar[usize::from(M0)], Some(M0.into()));
        let found = match traits.unit {
            _ if traits.is_to_lds || traits.is_interpolation => m0(&M0_TO_LDS),
            _ => None,
        };
        let found = found.or_else(|| match traits.unit {
            Unit::Memory => self.near_any(&SCALAR_TO_MEMORY, &self.by_vector, traits.reads),
            Unit::ScalarMemory => self
                .near_any(&SCALAR_TO_SMRD, &self.by_vector, traits.reads)
                .or_else(|| self.near_any(&DESCRIPTOR_TO_SMRD, &self.by_scalar, traits.descriptor))
                .or_else(|| self.clause(traits)),
            Unit::Scalar if groups::moves_relative(traits.op) => m0(&M0_TO_MOVREL),
            Unit::Control if groups::sends_message(traits.op) => m0(&M0_TO_MESSAGE),
            Unit::Lds if matches!(traits.op, Op::DsReadAddtidB32 | Op::DsWriteAddtidB32) => m0(&M0_TO_LDS),
            Unit::Vector => self.find_vector(traits, vcc),
            _ => None,
        });
        let hardware = traits.hardware.and_then(|(id, writes)| {
            let mark = self.hardware[usize::from(id) % 64];
            let found = self.near(&MODE_TO_MODE, mark, None);
            // One wait state is enough between two writes of GFX6 and GFX7.
            let is_enough = writes && self.level < GfxLevel::Gfx8 && self.clock - mark.end >= 1;
            found.filter(|_| !is_enough)
        });
        skipped.or(found).or(hardware)
    }

    /// Returns the hazard of a scalar memory operation that directly follows another one.
    fn clause(&self, traits: &Traits) -> Option<Found> {
        let (stored, pc) = self.smem.filter(|_| SMEM_CLAUSE.is_on(self.level))?;
        (stored || traits.stores_scalars).then_some(Found { rule: &SMEM_CLAUSE, register: None, earlier: Some(pc) })
    }

    fn find_vector(&self, traits: &Traits, vcc: Scalars) -> Option<Found> {
        if let Some((span, pc)) = self.stored
            && let Some(register) = traits.vectors_written.iter().find_map(|written| written.common(span))
            && STORE_TO_VECTOR.rule.is_on(self.level)
        {
            return Some(Found { rule: &STORE_TO_VECTOR.rule, register: Some(register), earlier: Some(pc) });
        }
        if let Some((spans, pc)) = &self.interpolated
            && matches!(traits.op, Op::VReadlaneB32 | Op::VReadfirstlaneB32)
            && INTERPOLATION_TO_LANE.rule.is_on(self.level)
            && let Some(register) = common(spans, &traits.vectors_read)
        {
            return Some(Found { rule: &INTERPOLATION_TO_LANE.rule, register: Some(register), earlier: Some(*pc) });
        }
        if traits.is_dpp {
            let exec = self.near_any(&EXEC_TO_DPP, &self.by_vector, pair(EXEC));
            let source = traits.first_vector.and_then(|register| {
                self.near(&VECTOR_TO_DPP, self.vectors[usize::from(register - VECTORS) % 512], Some(register))
            });
            if let Some(found) = exec.or(source) {
                return Some(found);
            }
        }
        if let Some(slot) = traits.lane
            && let Some(found) = self.near(&SCALAR_TO_LANE, self.by_vector[usize::from(slot) % 128], Some(slot.into()))
        {
            return Some(found);
        }
        if matches!(traits.op, Op::VDivFmasF32 | Op::VDivFmasF64)
            && let Some(found) = self.near_any(&VCC_TO_FMAS, &self.by_vector, vcc)
        {
            return Some(found);
        }
        self.near_any(&FLAGS_TO_VECTOR, &self.by_vector, traits.flags)
    }

    /// Returns the hazard of the next instruction, and remembers it.
    pub(super) fn step(&mut self, pc: u64, traits: &Traits) -> Option<Found> {
        let flag = self.flag.step(pc, self.level, traits);
        let found = self.find(traits).or(flag);
        self.clock = self.clock.saturating_add(traits.states);
        let (now, none) = (Mark { end: self.clock, pc }, Mark::default());
        let mut writes = traits.writes;
        while writes != 0 {
            let slot = writes.trailing_zeros() as usize;
            writes &= writes - 1;
            // What another unit wrote in between is not what the vector unit wrote.
            self.by_vector[slot] = if traits.unit == Unit::Vector { now } else { none };
            self.by_scalar[slot] = if traits.unit == Unit::Scalar { now } else { none };
        }
        for span in &traits.vectors_written {
            for register in span.first..span.first + span.count {
                let mark = if traits.unit == Unit::Vector { now } else { none };
                self.vectors[usize::from(register - VECTORS) % 512] = mark;
            }
        }
        if let Some((id, true)) = traits.hardware {
            self.hardware[usize::from(id) % 64] = now;
        }
        if traits.sets_vskip {
            self.vskip = now;
        }
        self.stored = traits.late_data.map(|span| (span, pc));
        self.interpolated = traits.is_interpolation.then(|| (traits.vectors_written.clone(), pc));
        self.smem = (traits.unit == Unit::ScalarMemory).then_some((traits.stores_scalars, pc));
        found
    }
}

/// Returns the first register that is in both lists.
fn common(some: &[Span], others: &[Span]) -> Option<u16> {
    some.iter().flat_map(|one| others.iter().map(|other| one.common(*other))).flatten().next()
}
