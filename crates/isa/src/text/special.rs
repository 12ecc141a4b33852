//! Immediates of scalar instructions: counters, hardware registers, offsets.

use std::fmt::{self, Write};

use amdgpu_hw::GfxLevel;

use super::{export, message, register};
use crate::{Field, Format, Instruction, OperandKind, table::table};

/// The dependencies of `s_delay_alu`, by their number.
pub(crate) const DELAYS: [&str; 12] = [
    "NO_DEP",
    "VALU_DEP_1",
    "VALU_DEP_2",
    "VALU_DEP_3",
    "VALU_DEP_4",
    "TRANS32_DEP_1",
    "TRANS32_DEP_2",
    "TRANS32_DEP_3",
    "FMA_ACCUM_CYCLE_1",
    "SALU_CYCLE_1",
    "SALU_CYCLE_2",
    "SALU_CYCLE_3",
];

/// The skips of `s_delay_alu`, by their number.
pub(crate) const SKIPS: [&str; 6] = ["SAME", "NEXT", "SKIP_1", "SKIP_2", "SKIP_3", "SKIP_4"];

/// The counters of `s_waitcnt_depctr`: name, lowest bit, width.
pub(crate) const COUNTERS: [(&str, u32, u32); 7] = [
    ("hold_cnt", 7, 1),
    ("sa_sdst", 0, 1),
    ("va_vdst", 12, 4),
    ("va_sdst", 9, 3),
    ("va_ssrc", 8, 1),
    ("va_vcc", 1, 1),
    ("vm_vsrc", 2, 3),
];

/// Writes the operand that `kind` says is in the instruction's 16-bit immediate.
pub(super) fn write(instruction: &Instruction, kind: OperandKind, out: &mut String) -> fmt::Result {
    let value = instruction.field(Field::Simm16);
    let plain = matches!(kind, OperandKind::Waitcnt | OperandKind::Sendmsg) && instruction.level <= GfxLevel::Gfx7;
    match kind {
        _ if plain => write!(out, "{value:#x}"),
        OperandKind::Simm16 => write!(out, "{value:#x}"),
        // Decimal as far as inline constants reach.
        OperandKind::Simm16Decimal if value > 64 => write!(out, "{value:#x}"),
        OperandKind::Simm16Decimal | OperandKind::Target if instruction.level <= GfxLevel::Gfx7 => {
            write!(out, "{value:#x}")
        }
        OperandKind::Simm16Decimal | OperandKind::Target => write!(out, "{value}"),
        OperandKind::Hwreg => hwreg(instruction.level, value, out),
        OperandKind::Waitcnt => waitcnt(instruction.level, value, out),
        OperandKind::Sendmsg => message::write(instruction.level, value, out),
        OperandKind::SendmsgRtn => message::write(instruction.level, instruction.field(Field::Ssrc0), out),
        OperandKind::GprIdx => gpr_idx(value, out),
        OperandKind::GprIdxSrc1 => write!(out, "{:#x}", instruction.field(Field::Ssrc1)),
        OperandKind::Delay => delay(value, out),
        OperandKind::Depctr => depctr(instruction.level, value, out),
        _ => Ok(()),
    }
}

/// Hardware registers: number, name, the generations that have it.
const REGISTERS: [(u32, &str, GfxLevel, GfxLevel); 37] = [
    (1, "HW_REG_MODE", GfxLevel::Gfx6, GfxLevel::Gfx12),
    (2, "HW_REG_STATUS", GfxLevel::Gfx6, GfxLevel::Gfx12),
    (3, "HW_REG_TRAPSTS", GfxLevel::Gfx6, GfxLevel::Gfx11_5),
    (4, "HW_REG_HW_ID", GfxLevel::Gfx6, GfxLevel::Gfx9),
    (4, "HW_REG_STATE_PRIV", GfxLevel::Gfx12, GfxLevel::Gfx12),
    (5, "HW_REG_GPR_ALLOC", GfxLevel::Gfx6, GfxLevel::Gfx12),
    (6, "HW_REG_LDS_ALLOC", GfxLevel::Gfx6, GfxLevel::Gfx12),
    (7, "HW_REG_IB_STS", GfxLevel::Gfx6, GfxLevel::Gfx12),
    (10, "HW_REG_PERF_SNAPSHOT_DATA", GfxLevel::Gfx12, GfxLevel::Gfx12),
    (11, "HW_REG_PERF_SNAPSHOT_PC_LO", GfxLevel::Gfx12, GfxLevel::Gfx12),
    (12, "HW_REG_PERF_SNAPSHOT_PC_HI", GfxLevel::Gfx12, GfxLevel::Gfx12),
    (15, "HW_REG_SH_MEM_BASES", GfxLevel::Gfx9, GfxLevel::Gfx11_5),
    (15, "HW_REG_PERF_SNAPSHOT_DATA1", GfxLevel::Gfx12, GfxLevel::Gfx12),
    (16, "HW_REG_TBA_LO", GfxLevel::Gfx9, GfxLevel::Gfx10_3),
    (16, "HW_REG_PERF_SNAPSHOT_DATA2", GfxLevel::Gfx12, GfxLevel::Gfx12),
    (17, "HW_REG_TBA_HI", GfxLevel::Gfx9, GfxLevel::Gfx10_3),
    (17, "HW_REG_EXCP_FLAG_PRIV", GfxLevel::Gfx12, GfxLevel::Gfx12),
    (18, "HW_REG_TMA_LO", GfxLevel::Gfx9, GfxLevel::Gfx10_3),
    (18, "HW_REG_PERF_SNAPSHOT_PC_LO", GfxLevel::Gfx11, GfxLevel::Gfx11_5),
    (18, "HW_REG_EXCP_FLAG_USER", GfxLevel::Gfx12, GfxLevel::Gfx12),
    (19, "HW_REG_TMA_HI", GfxLevel::Gfx9, GfxLevel::Gfx10_3),
    (19, "HW_REG_PERF_SNAPSHOT_PC_HI", GfxLevel::Gfx11, GfxLevel::Gfx11_5),
    (19, "HW_REG_TRAP_CTRL", GfxLevel::Gfx12, GfxLevel::Gfx12),
    (20, "HW_REG_FLAT_SCR_LO", GfxLevel::Gfx10, GfxLevel::Gfx11_5),
    (20, "HW_REG_SCRATCH_BASE_LO", GfxLevel::Gfx12, GfxLevel::Gfx12),
    (21, "HW_REG_FLAT_SCR_HI", GfxLevel::Gfx10, GfxLevel::Gfx11_5),
    (21, "HW_REG_SCRATCH_BASE_HI", GfxLevel::Gfx12, GfxLevel::Gfx12),
    (22, "HW_REG_XNACK_MASK", GfxLevel::Gfx10, GfxLevel::Gfx10),
    (23, "HW_REG_HW_ID1", GfxLevel::Gfx10, GfxLevel::Gfx12),
    (24, "HW_REG_HW_ID2", GfxLevel::Gfx10, GfxLevel::Gfx12),
    (25, "HW_REG_POPS_PACKER", GfxLevel::Gfx10, GfxLevel::Gfx10_3),
    (27, "HW_REG_PERF_SNAPSHOT_DATA", GfxLevel::Gfx11, GfxLevel::Gfx11_5),
    (29, "HW_REG_SHADER_CYCLES", GfxLevel::Gfx10_3, GfxLevel::Gfx11_5),
    (29, "HW_REG_SHADER_CYCLES_LO", GfxLevel::Gfx12, GfxLevel::Gfx12),
    (30, "HW_REG_SHADER_CYCLES_HI", GfxLevel::Gfx12, GfxLevel::Gfx12),
    (31, "HW_REG_DVGPR_ALLOC_LO", GfxLevel::Gfx12, GfxLevel::Gfx12),
    (32, "HW_REG_DVGPR_ALLOC_HI", GfxLevel::Gfx12, GfxLevel::Gfx12),
];

/// Returns the name of a hardware register.
fn register_name(level: GfxLevel, id: u32) -> Option<&'static str> {
    REGISTERS
        .iter()
        .find(|(number, _, from, to)| *number == id && (*from..=*to).contains(&level))
        .map(|(_, name, ..)| *name)
}

/// Returns the number of a hardware register's name.
pub(crate) fn register_number(level: GfxLevel, name: &str) -> Option<u32> {
    REGISTERS
        .iter()
        .find(|(_, known, from, to)| *known == name && (*from..=*to).contains(&level))
        .map(|(number, ..)| *number)
}

fn hwreg(level: GfxLevel, value: u32, out: &mut String) -> fmt::Result {
    let (id, offset, size) = (value & 0x3f, value >> 6 & 0x1f, (value >> 11 & 0x1f) + 1);
    let name = register_name(level, id).map_or_else(|| id.to_string(), str::to_owned);
    if offset == 0 && size == 32 {
        write!(out, "hwreg({name})")
    } else {
        write!(out, "hwreg({name}, {offset}, {size})")
    }
}

/// The counters of `s_waitcnt`: values of vmcnt, expcnt and lgkmcnt, and their greatest.
fn waitcnt_fields(level: GfxLevel, value: u32) -> [(&'static str, u32, u32); 3] {
    let bits = |high: u32, low: u32| value >> low & ((1 << (high - low + 1)) - 1);
    match level {
        GfxLevel::Gfx6 | GfxLevel::Gfx7 | GfxLevel::Gfx8 => {
            [("vmcnt", bits(3, 0), 15), ("expcnt", bits(6, 4), 7), ("lgkmcnt", bits(11, 8), 15)]
        }
        GfxLevel::Gfx9 => {
            [("vmcnt", bits(3, 0) | bits(15, 14) << 4, 63), ("expcnt", bits(6, 4), 7), ("lgkmcnt", bits(11, 8), 15)]
        }
        GfxLevel::Gfx10 | GfxLevel::Gfx10_3 => {
            [("vmcnt", bits(3, 0) | bits(15, 14) << 4, 63), ("expcnt", bits(6, 4), 7), ("lgkmcnt", bits(13, 8), 63)]
        }
        _ => [("vmcnt", bits(15, 10), 63), ("expcnt", bits(2, 0), 7), ("lgkmcnt", bits(9, 4), 63)],
    }
}

fn waitcnt(level: GfxLevel, value: u32, out: &mut String) -> fmt::Result {
    let fields = waitcnt_fields(level, value);
    let all = fields.iter().all(|(_, value, most)| value == most);
    let mut separator = "";
    for (name, value, most) in fields {
        if all || value != most {
            write!(out, "{separator}{name}({value})")?;
            separator = " ";
        }
    }
    Ok(())
}

fn gpr_idx(value: u32, out: &mut String) -> fmt::Result {
    if value > 0xf {
        return write!(out, "{value:#x}");
    }
    let names = ["SRC0", "SRC1", "SRC2", "DST"];
    let set = names.iter().enumerate().filter(|(bit, _)| value >> bit & 1 != 0).map(|(_, name)| *name);
    write!(out, "gpr_idx({})", set.collect::<Vec<_>>().join(","))
}

/// Writes the dependencies of `s_delay_alu`.
fn delay(value: u32, out: &mut String) -> fmt::Result {
    let name = |index: u32| DELAYS.get(index as usize).copied().unwrap_or("/* invalid instid value */");
    let skip = |index: u32| SKIPS.get(index as usize).copied().unwrap_or("/* invalid instskip value */");
    let mut separator = "";
    for (word, text) in [
        ("instid0", (value & 0xf != 0).then(|| name(value & 0xf))),
        ("instskip", (value >> 4 & 7 != 0).then(|| skip(value >> 4 & 7))),
        ("instid1", (value >> 7 & 0xf != 0).then(|| name(value >> 7 & 0xf))),
    ] {
        if let Some(text) = text {
            write!(out, "{separator}{word}({text})")?;
            separator = " | ";
        }
    }
    if separator.is_empty() { out.write_char('0') } else { Ok(()) }
}

/// Writes the counters of `s_waitcnt_depctr`, or a number if bits outside the counters are set.
fn depctr(level: GfxLevel, value: u32, out: &mut String) -> fmt::Result {
    let exists = |name: &str| name != "hold_cnt" || level >= GfxLevel::Gfx10_3;
    let known = COUNTERS.iter().filter(|(name, ..)| exists(name));
    if value & !known.fold(0, |all, (_, low, width)| all | ((1 << width) - 1) << low) != 0 {
        return write!(out, "{value:#x}");
    }
    let mut separator = "";
    for (name, low, width) in COUNTERS {
        let most = (1 << width) - 1;
        let value = value >> low & most;
        if value != most && exists(name) {
            write!(out, "{separator}depctr_{name}({value})")?;
            separator = " ";
        }
    }
    Ok(())
}

/// Writes the data field as a number, for operations that take a constant there.
pub(super) fn decimal_data(instruction: &Instruction, out: &mut String) -> fmt::Result {
    let value = instruction.field(Field::Sdata);
    if value > 64 { write!(out, "{value:#x}") } else { write!(out, "{value}") }
}

/// Writes the offset of a scalar memory instruction.
pub(super) fn smem_offset(instruction: &Instruction, out: &mut String) -> fmt::Result {
    let level = instruction.level;
    let sources = &table(level).sources;
    let offset = instruction.field(Field::Offset);
    let signed = |value: u32, bits: u32| i64::from((value << (32 - bits)).cast_signed() >> (32 - bits));
    let hex = |value: i64, out: &mut String| {
        if value < 0 { write!(out, "-{:#x}", -value) } else { write!(out, "{value:#x}") }
    };
    match instruction.layout.format {
        Format::Smrd if instruction.field(Field::Imm) != 0 => write!(out, "{offset:#x}"),
        Format::Smrd if offset == crate::decode::LITERAL => write!(out, "{:#x}", instruction.literal.unwrap_or(0)),
        Format::Smrd => register::scalar(sources, offset, 1, out),
        _ if level == GfxLevel::Gfx8 => {
            if instruction.field(Field::Imm) != 0 {
                write!(out, "{:#x}", offset & 0xf_ffff)
            } else {
                register::scalar(sources, offset & 0x7f, 1, out)
            }
        }
        _ if level == GfxLevel::Gfx9 => {
            let soffset = instruction.field(Field::SoffsetEn) != 0;
            if instruction.field(Field::Imm) == 0 {
                let number = if soffset { instruction.field(Field::Soffset) } else { offset & 0x7f };
                return register::scalar(sources, number, 1, out);
            }
            if soffset {
                register::scalar(sources, instruction.field(Field::Soffset), 1, out)?;
                out.write_str(" offset:")?;
            }
            hex(signed(offset, 21), out)
        }
        _ => {
            let (value, null) = if level >= GfxLevel::Gfx12 {
                (signed(instruction.field(Field::Ioffset), 24), 0x7c)
            } else {
                (signed(offset, 21), if level >= GfxLevel::Gfx11 { 0x7c } else { 0x7d })
            };
            let soffset = instruction.field(Field::Soffset);
            if instruction.name().contains("prefetch") {
                return hex(value, out);
            }
            if soffset == null {
                return if value == 0 && level < GfxLevel::Gfx12 { out.write_str("null") } else { hex(value, out) };
            }
            register::scalar(sources, soffset, 1, out)?;
            if value != 0 || level >= GfxLevel::Gfx12 {
                out.write_str(" offset:")?;
                hex(value, out)?;
            }
            Ok(())
        }
    }
}

/// Writes the immediate of an operation without operands.
pub(super) fn without_operands(instruction: &Instruction, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let value = instruction.field(Field::Simm16);
    match instruction.name() {
        "s_endpgm" if value != 0 && instruction.level >= GfxLevel::Gfx8 => write!(f, " {value}"),
        _ if matches!(instruction.layout.format, Format::Exp | Format::Vexport) => export::write(instruction, f),
        _ if matches!(instruction.layout.format, Format::Ds | Format::Vglobal) => {
            let mut text = String::new();
            super::modifier::write(instruction, &mut text)?;
            f.write_str(&text)
        }
        _ => Ok(()),
    }
}
