//! The descriptors that a program uses, found by tracking scalar moves and loads from the program's entry.
//!
//! ```
//! use amdgpu_hw::GfxLevel;
//! use amdgpu_isa::{ResourceKind, WaveSize, assemble, resources};
//!
//! let (level, wave) = (GfxLevel::Gfx9, WaveSize::Wave64);
//! let store = assemble(level, wave, "buffer_store_dword v1, v2, s[0:3], 0 offen")?;
//! let user = [Some(0x1000), Some(0), Some(64), Some(0x2_7fac)];
//! let found = resources(level, wave, store.dwords(), &user, &|_| None);
//! assert_eq!(found[0].kind, ResourceKind::Buffer);
//! assert_eq!(found[0].words, user);
//! # Ok::<_, amdgpu_isa::AssembleError>(())
//! ```

use std::collections::BTreeMap;

use amdgpu_hw::GfxLevel;

use crate::{Field, Format, Instruction, Line, Listing, OperandKind, WaveSize};

/// The kind of a descriptor, given by the instruction that uses it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResourceKind {
    /// A buffer descriptor with four dwords.
    Buffer,
    /// An image descriptor with eight or four dwords.
    Image,
    /// A sampler descriptor with four dwords.
    Sampler,
}

/// The use of a descriptor in scalar registers by an instruction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResourceUse {
    /// The offset of the instruction from the start of the program in bytes.
    pub offset: usize,
    /// The kind of descriptor.
    pub kind: ResourceKind,
    /// The number of the first register.
    pub register: u8,
    /// The dwords of the descriptor; `None` for unknown dwords.
    pub words: Vec<Option<u32>>,
    /// The address from which all dwords were loaded, if they were loaded from consecutive addresses.
    pub from: Option<u64>,
}

/// The number of scalar registers that programs can name by number.
const COUNT: usize = 106;
/// The mask of address bits.
const ADDRESS: u64 = (1 << 48) - 1;

/// Returns the descriptors that the instructions of `program` use, in program order. `user` contains the values of scalar registers
/// at the program's entry, starting with s0. `memory` returns the dword at a 48-bit address. The value of a register becomes
/// unknown when an operation other than a move or load writes it, and at a branch target that different writes can reach.
pub fn resources(
    level: GfxLevel,
    wave: WaveSize,
    program: &[u32],
    user: &[Option<u32>],
    memory: &dyn Fn(u64) -> Option<u32>,
) -> Vec<ResourceUse> {
    let listing = Listing::new(level, wave, program);
    let mut walk = Walk {
        memory,
        scalars: [Scalar::default(); COUNT],
        seen: [0; COUNT],
        writes: Vec::new(),
        loops: BTreeMap::new(),
    };
    for (register, value) in walk.scalars.iter_mut().zip(user) {
        register.value = *value;
    }
    for (seen, _) in walk.seen.iter_mut().zip(user.iter().filter(|value| value.is_some())) {
        // The entry counts as a write.
        *seen = 1;
    }
    for line in listing.lines() {
        if let Ok(instruction) = &line.content {
            walk.writes.push((line.offset, written(instruction)));
        }
        // A backward branch repeats the writes of the lines in between.
        if let Some(target) =
            line.target.and_then(|target| usize::try_from(target).ok()).filter(|at| *at <= line.offset)
        {
            let end = walk.loops.entry(target).or_default();
            *end = line.offset.max(*end);
        }
    }
    listing.lines().iter().flat_map(|line| walk.line(line)).collect()
}

/// The contents of a register.
#[derive(Clone, Copy, Debug, Default)]
struct Scalar {
    value: Option<u32>,
    /// The address from which it was loaded.
    from: Option<u64>,
}

struct Walk<'m> {
    memory: &'m dyn Fn(u64) -> Option<u32>,
    scalars: [Scalar; COUNT],
    /// The number of writes of each register in earlier lines, including the entry.
    seen: [u32; COUNT],
    /// The registers that each line writes.
    writes: Vec<(usize, (usize, usize))>,
    /// The last backward branch to each line.
    loops: BTreeMap<usize, usize>,
}

impl Walk<'_> {
    /// Processes a line and returns the descriptors that it uses.
    fn line(&mut self, line: &Line) -> Vec<ResourceUse> {
        if line.is_label {
            self.join();
            self.repeat(line.offset);
        }
        let Ok(instruction) = &line.content else {
            self.scalars = [Scalar::default(); COUNT];
            return Vec::new();
        };
        let uses =
            used(instruction).into_iter().map(|(kind, register, dwords)| self.at(line.offset, kind, register, dwords));
        let uses: Vec<_> = uses.collect();
        let (first, count) = written(instruction);
        let results = self.results(instruction);
        for (slot, seen) in self.scalars.iter_mut().zip(&mut self.seen).skip(first).take(count) {
            *slot = Scalar::default();
            *seen += 1;
        }
        for (slot, result) in self.scalars.iter_mut().skip(first).take(count).zip(results) {
            *slot = result;
        }
        // The next line can only be reached by a branch.
        if ["s_branch", "s_endpgm", "s_setpc"].iter().any(|end| instruction.name().starts_with(end)) {
            self.join();
        }
        uses
    }

    /// Forgets the registers that may have different values on two paths. A register with a single earlier write has no value on
    /// paths without that write, and no program uses it there.
    fn join(&mut self) {
        for (slot, _) in self.scalars.iter_mut().zip(&self.seen).filter(|(_, seen)| **seen > 1) {
            *slot = Scalar::default();
        }
    }

    /// Forgets the registers that are written in a loop that starts here.
    fn repeat(&mut self, start: usize) {
        let Some(end) = self.loops.get(&start) else { return };
        for &(_, (first, count)) in self.writes.iter().filter(|(offset, _)| (start..=*end).contains(offset)) {
            self.scalars.iter_mut().skip(first).take(count).for_each(|slot| *slot = Scalar::default());
        }
    }

    fn at(&self, offset: usize, kind: ResourceKind, register: u32, dwords: u8) -> ResourceUse {
        let first = register as usize;
        let slots: Vec<Scalar> = (first..first + usize::from(dwords))
            .map(|slot| self.scalars.get(slot).copied().unwrap_or_default())
            .collect();
        let start = slots.first().and_then(|slot| slot.from);
        let in_order = |start: u64| {
            slots.iter().zip(0..).all(|(slot, index)| slot.from == Some(start.wrapping_add(4 * index) & ADDRESS))
        };
        ResourceUse {
            offset,
            kind,
            register: register as u8,
            words: slots.iter().map(|slot| slot.value).collect(),
            from: start.filter(|start| in_order(*start)),
        }
    }

    fn source(&self, instruction: &Instruction, number: u32) -> Scalar {
        let constant = |value| Scalar { value: Some(value), from: None };
        match number {
            128..=192 => constant(number - 128),
            193..=208 => constant(192_u32.wrapping_sub(number)),
            255 => Scalar { value: instruction.literal(), from: None },
            _ => self.scalars.get(number as usize).copied().unwrap_or_default(),
        }
    }

    /// Returns the values that a move or load writes; empty for other operations.
    fn results(&self, instruction: &Instruction) -> Vec<Scalar> {
        let source = instruction.field(Field::Ssrc0);
        match instruction.name() {
            "s_mov_b32" => vec![self.source(instruction, source)],
            // 64-bit constants are not addresses.
            "s_mov_b64" if source < 128 => vec![self.source(instruction, source), self.source(instruction, source + 1)],
            "s_movk_i32" => {
                let value = i32::from((instruction.field(Field::Simm16) as u16).cast_signed()).cast_unsigned();
                vec![Scalar { value: Some(value), from: None }]
            }
            // Bytes and halves of a dword are neither addresses nor descriptors.
            "s_load_u8" | "s_load_i8" | "s_load_u16" | "s_load_i16" => Vec::new(),
            name if name.starts_with("s_load_") => self.loaded(instruction),
            _ => Vec::new(),
        }
    }

    fn loaded(&self, instruction: &Instruction) -> Vec<Scalar> {
        let base = 2 * instruction.field(Field::Sbase);
        let [low, high] = [base, base + 1].map(|register| self.source(instruction, register).value);
        let (Some(low), Some(high), Some(offset)) = (low, high, constant_offset(instruction)) else {
            return Vec::new();
        };
        let start = (u64::from(low) | u64::from(high) << 32).wrapping_add_signed(offset) & !3;
        let (_, count) = written(instruction);
        let at = |index| start.wrapping_add(4 * index) & ADDRESS;
        (0..count as u64).map(|index| Scalar { value: (self.memory)(at(index)), from: Some(at(index)) }).collect()
    }
}

/// Returns the constant offset of a scalar load in bytes; `None` if a register is added.
fn constant_offset(instruction: &Instruction) -> Option<i64> {
    let field = |field| instruction.field(field);
    let signed = |value: u32, bits: u32| i64::from((value << (32 - bits)).cast_signed() >> (32 - bits));
    let constant = field(Field::Imm) != 0;
    match instruction.level() {
        GfxLevel::Gfx6 | GfxLevel::Gfx7 if constant => Some(4 * i64::from(field(Field::Offset))),
        GfxLevel::Gfx6 | GfxLevel::Gfx7 => instruction.literal().map(|literal| 4 * i64::from(literal)),
        GfxLevel::Gfx8 => constant.then(|| i64::from(field(Field::Offset) & 0xf_ffff)),
        GfxLevel::Gfx9 => (constant && field(Field::SoffsetEn) == 0).then(|| signed(field(Field::Offset), 21)),
        GfxLevel::Gfx10 | GfxLevel::Gfx10_3 => (field(Field::Soffset) == 125).then(|| signed(field(Field::Offset), 21)),
        GfxLevel::Gfx12 => (field(Field::Soffset) == 124).then(|| signed(field(Field::Ioffset), 24)),
        _ => (field(Field::Soffset) == 124).then(|| signed(field(Field::Offset), 21)),
    }
}

/// Returns the first scalar register that an instruction writes and the number of registers; all registers if the instruction does
/// not determine them.
fn written(instruction: &Instruction) -> (usize, usize) {
    let name = instruction.name();
    let elsewhere =
        ["s_movrel", "s_swappc", "s_call", "s_rfe", "s_cbranch_g_fork", "s_cbranch_i_fork", "s_cbranch_join"];
    if elsewhere.iter().any(|prefix| name.starts_with(prefix)) {
        return (0, COUNT);
    }
    let field = |wanted: &[Field]| wanted.iter().copied().find(|field| instruction.has_field(*field));
    for operand in instruction.opcode().operands {
        let place = match operand.kind {
            OperandKind::Sdst => field(&[Field::Sdst]),
            OperandKind::SdstVdst => field(&[Field::Vdst, Field::Sdst]),
            OperandKind::Sdata => field(&[Field::Sdata, Field::Sdst]),
            _ => None,
        };
        if let Some(place) = place {
            return (instruction.field(place) as usize, usize::from(operand.dwords));
        }
    }
    (0, 0)
}

/// Returns the descriptors that an instruction uses: the kind, the first register and the dwords of each.
fn used(instruction: &Instruction) -> Vec<(ResourceKind, u32, u8)> {
    let has = |kind| instruction.opcode().has(kind);
    let name = instruction.name();
    let in_fours = |new: Field, old: Field| {
        if instruction.has_field(new) { instruction.field(new) } else { 4 * instruction.field(old) }
    };
    let resource = in_fours(Field::Rsrc, Field::Srsrc);
    let mut found = Vec::new();
    match instruction.format() {
        Format::Smem | Format::Smrd if name.starts_with("s_buffer_") && has(OperandKind::Sbase) => {
            found.push((ResourceKind::Buffer, 2 * instruction.field(Field::Sbase), 4));
        }
        Format::Mubuf | Format::Mtbuf | Format::Vbuffer if has(OperandKind::Srsrc) => {
            found.push((ResourceKind::Buffer, resource, 4));
        }
        // Ray tracing trees have other descriptors.
        Format::Mimg | Format::Vimage | Format::Vsample if has(OperandKind::Srsrc) && !name.contains("bvh") => {
            let is_short = instruction.field(Field::R128) != 0;
            found.push((ResourceKind::Image, resource, if is_short { 4 } else { 8 }));
            if has(OperandKind::Ssamp) {
                found.push((ResourceKind::Sampler, in_fours(Field::Samp, Field::Ssamp), 4));
            }
        }
        _ => {}
    }
    found
}
