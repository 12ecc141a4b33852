//! The hazards of GFX11, GFX11.5 and GFX12.

use std::collections::VecDeque;

use amdgpu_hw::GfxLevel;
use amdgpu_isa::Op;

use super::{
    direct::Direct,
    found::Found,
    groups,
    rules::{DEALLOC, HazardRule, MAD64, MASK_WRITE, MATRIX, PARTIAL_FORWARDING, READ_SGPR, TRANS_USE, VCMPX_PERMLANE},
    traits::{Scalars, Traits, Unit, pair},
};
use crate::{
    program::source::{EXEC, M0, VCC},
    watch::waits::{Span, VECTORS},
};

/// An instruction on which the forwarding of results depends.
#[derive(Debug)]
enum Past {
    Vector(Vec<Span>, u64),
    ExecWritten,
}

/// The number of vector operations that count.
const MOST_PAST: usize = 24;

/// The state of a wave.
#[derive(Debug)]
pub(in crate::watch) struct Gfx11 {
    level: GfxLevel,
    is_wave64: bool,
    /// A comparison wrote EXEC.
    compared: Option<u64>,
    /// The numbers of vector and of transcendental operations so far, and those when a vector register was written by a
    /// transcendental one, with its address.
    counts: (u32, u32),
    results: Vec<Option<(u32, u32, u64)>>,
    past: VecDeque<Past>,
    /// Scalar registers that a vector operation reads as a mask; that were then overwritten by the scalar unit, or by the vector
    /// unit.
    masks: Scalars,
    by_scalar: Scalars,
    by_vector: Scalars,
    /// The address of the last overwriting operation.
    overwritten: u64,
    /// The number of scalar operations so far, and that when a register was overwritten (GFX12).
    scalar_count: u32,
    scalar_written: [u32; 128],
    /// The result of the matrix operation directly before.
    product: Option<(Vec<Span>, u64)>,
    /// `true` if the instruction before is `s_nop`.
    follows_nop: bool,
    /// The uses of registers that loads of LDS may overwrite, in graphics shaders.
    direct: Option<Direct>,
}

fn found(rule: &'static HazardRule, earlier: u64) -> Found {
    Found { rule, register: None, earlier: Some(earlier) }
}

impl Gfx11 {
    pub(super) fn new(level: GfxLevel, is_wave64: bool, is_graphics: bool) -> Self {
        Self {
            level,
            is_wave64,
            compared: None,
            counts: (0, 0),
            results: vec![None; 256],
            past: VecDeque::new(),
            masks: 0,
            by_scalar: 0,
            by_vector: 0,
            overwritten: 0,
            scalar_count: 0,
            scalar_written: [0; 128],
            product: None,
            follows_nop: false,
            direct: is_graphics.then(Direct::default),
        }
    }

    /// Returns the hazard of the next instruction, and remembers it.
    pub(super) fn step(&mut self, pc: u64, traits: &Traits) -> Option<Found> {
        let scalar = if self.level >= GfxLevel::Gfx12 { self.read_scalar(pc, traits) } else { self.mask(pc, traits) };
        let all = [
            self.permlane(pc, traits),
            self.transcendental(pc, traits),
            self.forwarding(pc, traits),
            scalar,
            self.matrix(pc, traits),
            self.direct.as_mut().and_then(|direct| direct.step(pc, self.level, traits)),
        ];
        let fixed = self.fixed(traits);
        self.follows_nop = traits.op == Op::SNop;
        all.into_iter().flatten().next().or(fixed)
    }

    fn permlane(&mut self, pc: u64, traits: &Traits) -> Option<Found> {
        if traits.unit != Unit::Vector {
            return None;
        }
        let before = self.compared.take();
        if groups::compares_to_exec(traits.op) {
            self.compared = Some(pc);
        }
        before.filter(|_| groups::permutes_lanes(traits.op)).map(|pc| found(&VCMPX_PERMLANE, pc))
    }

    fn transcendental(&mut self, pc: u64, traits: &Traits) -> Option<Found> {
        if self.level != GfxLevel::Gfx11 {
            return None;
        }
        let mut hit = None;
        if traits.depctr().va_vdst {
            self.results.fill(None);
        }
        if traits.unit != Unit::Vector {
            return None;
        }
        let (vectors, slow) = self.counts;
        for register in registers(&traits.vectors_read) {
            if let Some(Some((at, slow_at, earlier))) = self.results.get(register)
                && vectors - at <= 5
                && slow - slow_at <= 1
            {
                hit = Some(Found { register: Some(VECTORS + register as u16), ..found(&TRANS_USE, *earlier) });
            }
        }
        if hit.is_some() {
            self.results.fill(None);
        }
        self.counts.0 += 1;
        if traits.is_transcendental {
            self.counts.1 += 1;
            for register in registers(&traits.vectors_written) {
                if let Some(slot) = self.results.get_mut(register) {
                    *slot = Some((self.counts.0, self.counts.1, pc));
                }
            }
        }
        hit
    }

    /// Looks for a register that was written before EXEC was, and one that was written after.
    fn forwarding(&mut self, pc: u64, traits: &Traits) -> Option<Found> {
        if self.level >= GfxLevel::Gfx12 || !self.is_wave64 {
            return None;
        }
        let hit = if traits.unit == Unit::Vector { self.is_partial(traits) } else { None };
        if traits.unit == Unit::Scalar && traits.writes & pair(EXEC) != 0 {
            if !matches!(self.past.back(), Some(Past::ExecWritten)) {
                self.past.push_back(Past::ExecWritten);
            }
        } else if traits.unit == Unit::Vector {
            self.past.push_back(Past::Vector(traits.vectors_written.clone(), pc));
        } else if traits.depctr().va_vdst {
            self.past.clear();
        }
        if hit.is_some() {
            self.past.clear();
        }
        while self.past.len() > MOST_PAST {
            self.past.pop_front();
        }
        hit
    }

    fn is_partial(&self, traits: &Traits) -> Option<Found> {
        #[derive(PartialEq)]
        enum Stage {
            Nothing,
            After,
            Exec,
        }
        let mut read: Vec<usize> = registers(&traits.vectors_read).collect();
        read.sort_unstable();
        read.dedup();
        if read.len() < 2 {
            return None;
        }
        let (mut stage, mut since_read, mut since_write) = (Stage::Nothing, 0, 0);
        for past in self.past.iter().rev() {
            match past {
                Past::ExecWritten => {
                    if stage == Stage::After {
                        stage = Stage::Exec;
                    }
                }
                Past::Vector(spans, pc) => {
                    let mut writes = false;
                    for register in registers(spans) {
                        let Some(at) = read.iter().position(|read| *read == register) else { continue };
                        if stage == Stage::Exec && since_write < 3 {
                            return Some(Found {
                                register: Some(VECTORS + register as u16),
                                ..found(&PARTIAL_FORWARDING, *pc)
                            });
                        }
                        read.swap_remove(at);
                        writes = true;
                    }
                    if writes && (stage == Stage::Nothing || since_read < 5) {
                        stage = Stage::After;
                        since_write = 0;
                    } else {
                        since_write += 1;
                    }
                    since_read += 1;
                }
            }
            if since_read >= if stage == Stage::Nothing { 5 } else { 8 } || read.is_empty() {
                return None;
            }
        }
        None
    }

    fn mask(&mut self, pc: u64, traits: &Traits) -> Option<Found> {
        if !self.is_wave64 {
            return None;
        }
        let waits = traits.depctr();
        let (mut hit, mut by_scalar, vcc) = (None, waits.sa_sdst, pair(VCC));
        let (mut by_vector, mut by_vcc) = (waits.va_sdst, waits.va_vcc);
        if matches!(traits.unit, Unit::Scalar | Unit::Vector) {
            let common = (self.by_scalar | self.by_vector) & traits.reads;
            if common != 0 {
                let register = common.trailing_zeros() as u16;
                hit = Some(Found { register: Some(register), ..found(&MASK_WRITE, self.overwritten) });
                by_scalar |= self.by_scalar & traits.reads != 0;
                by_vector |= self.by_vector & traits.reads & !vcc != 0;
                by_vcc |= self.by_vector & traits.reads & vcc != 0;
            }
        }
        // A scalar operation waits for what the vector unit has written to the registers that it names, before it executes; the
        // check of Mesa comes before that.
        if waits.va_vdst {
            self.by_vector = 0;
        }
        if by_scalar {
            self.by_scalar = 0;
        }
        if by_vector {
            self.by_vector &= vcc;
        }
        if by_vcc {
            self.by_vector &= !vcc;
        }
        match traits.unit {
            Unit::Scalar => self.overwrite(pc, traits.writes, true),
            Unit::Vector => {
                if traits.reads & ((1 << EXEC) - 1) != 0 {
                    self.masks = 0;
                }
                self.overwrite(pc, traits.writes, false);
                if let Some(first) = traits.mask {
                    self.masks |= pair(first);
                }
            }
            _ => {}
        }
        hit
    }

    fn overwrite(&mut self, pc: u64, writes: Scalars, by_scalar: bool) {
        if writes & self.masks == 0 {
            return;
        }
        self.overwritten = pc;
        if by_scalar {
            self.by_scalar |= writes;
        } else {
            self.by_vector |= writes;
        }
    }

    fn read_scalar(&mut self, pc: u64, traits: &Traits) -> Option<Found> {
        // M0, EXEC and what is behind them are not concerned.
        const ALL: Scalars = (1 << M0) - 1;
        let waits = traits.depctr();
        let (mut hit, vcc, reads) = (None, pair(VCC), traits.reads & ALL);
        let (mut by_scalar, mut by_vector, mut by_vcc) = (waits.sa_sdst, waits.va_sdst, waits.va_vcc);
        let is_vector = traits.unit == Unit::Vector;
        if is_vector || matches!(traits.unit, Unit::Scalar) {
            let expiry = if is_vector { 11 } else { 10 };
            let mut common = self.by_scalar & reads;
            while common != 0 {
                let slot = common.trailing_zeros() as usize;
                common &= common - 1;
                if self.scalar_count - self.scalar_written[slot] < expiry {
                    hit = Some(Found { register: Some(slot as u16), ..found(&READ_SGPR, self.overwritten) });
                    by_scalar = true;
                }
            }
            if is_vector {
                let common = self.by_vector & reads;
                if common != 0 {
                    let register = common.trailing_zeros() as u16;
                    hit = Some(Found { register: Some(register), ..found(&READ_SGPR, self.overwritten) });
                    by_vcc |= common & vcc != 0;
                    by_vector |= common & !vcc != 0;
                }
                // Pairs of registers.
                let low = (reads | reads >> 1) & 0x5555_5555_5555_5555_5555_5555_5555_5555;
                self.masks |= low | low << 1;
            }
        }
        if by_scalar {
            self.by_scalar = 0;
        } else if traits.unit == Unit::Scalar {
            self.scalar_count += 1;
        }
        if by_vector {
            self.by_vector &= vcc;
        }
        if by_vcc {
            self.by_vector &= !vcc;
        }
        let writes = traits.writes & ALL;
        match traits.unit {
            // A carry beside a vector result is not concerned.
            Unit::Vector if traits.vectors_written.is_empty() => self.overwrite(pc, writes, false),
            Unit::Scalar if writes & self.masks != 0 => {
                self.overwrite(pc, writes, true);
                for slot in (0..128).filter(|slot| writes >> slot & 1 != 0) {
                    self.scalar_written[slot] = self.scalar_count;
                }
            }
            _ => {}
        }
        hit
    }

    fn matrix(&mut self, pc: u64, traits: &Traits) -> Option<Found> {
        if traits.unit != Unit::Vector {
            return None;
        }
        let before = self.product.take();
        let factors = traits.factors.as_ref()?;
        self.product = Some((traits.vectors_written.clone(), pc));
        let (product, earlier) = before?;
        let common =
            factors.iter().flat_map(|factor| product.iter().map(|span| span.common(*factor))).flatten().next()?;
        Some(Found { register: Some(common), ..found(&MATRIX, earlier) })
    }

    /// Returns the hazard of an instruction by itself.
    fn fixed(&self, traits: &Traits) -> Option<Found> {
        let is_new = self.level >= GfxLevel::Gfx12;
        let overlaps = || {
            let mut pairs = traits
                .vectors_read
                .iter()
                .flat_map(|read| traits.vectors_written.iter().map(|written| written.common(*read)));
            pairs.any(|common| common.is_some())
        };
        let rule = match traits.op {
            _ if is_new => return None,
            op if groups::multiplies_to_64_bits(op) && overlaps() => &MAD64,
            Op::SSendmsg if traits.constant == 3 && !self.follows_nop => &DEALLOC,
            _ => return None,
        };
        Some(Found { rule, register: None, earlier: None })
    }
}

/// Returns the vector registers of spans, from 0 on.
fn registers(spans: &[Span]) -> impl Iterator<Item = usize> {
    spans.iter().flat_map(|span| span.first..span.first + span.count).map(|register| usize::from(register - VECTORS))
}
