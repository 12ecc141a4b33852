//! Modifiers after the operands.

use std::fmt::{self, Write};

use amdgpu_hw::GfxLevel;

use crate::{Field, Format, Instruction, OperandKind};

/// Writes the modifiers of an instruction, each with a space before it.
pub(super) fn write(instruction: &Instruction, out: &mut String) -> fmt::Result {
    match instruction.layout.format {
        Format::Vop3 | Format::Vop3Sdst => vop3(instruction, out)?,
        Format::Vop3p => vop3p(instruction, out)?,
        Format::Vinterp => vinterp(instruction, out)?,
        Format::Ds => ds(instruction, out)?,
        Format::Mubuf | Format::Mtbuf => buffer(instruction, out)?,
        Format::Vbuffer => vbuffer(instruction, out)?,
        Format::Mimg => image(instruction, out)?,
        Format::Vimage | Format::Vsample => vimage(instruction, out)?,
        Format::Flat => flat(instruction, out)?,
        Format::Vflat | Format::Vglobal | Format::Vscratch => vflat(instruction, out)?,
        Format::Smem => smem(instruction, out)?,
        Format::Ldsdir => write!(out, " wait_vdst:{}", instruction.field(Field::WaitVaVdst))?,
        Format::Vdsdir => {
            let (vdst, vsrc) = (instruction.field(Field::WaitVaVdst), instruction.field(Field::WaitVmVsrc));
            write!(out, " wait_va_vdst:{vdst} wait_vm_vsrc:{vsrc}")?;
        }
        _ => {}
    }
    match instruction.extension.map(|extension| extension.format) {
        Some(Format::Sdwa) => sdwa(instruction, true, out),
        Some(Format::Sdwab) => sdwa(instruction, false, out),
        Some(Format::Dpp8) => dpp8(instruction, out),
        Some(_) => dpp(instruction, out),
        None => Ok(()),
    }
}

fn sources(instruction: &Instruction) -> u32 {
    let kinds = [OperandKind::Src0, OperandKind::Src1, OperandKind::Src2];
    kinds.into_iter().filter(|kind| instruction.opcode.has(*kind)).count() as u32
}

/// Writes ` name:[a,b,c]`.
fn list(name: &str, bits: u32, count: u32, out: &mut String) -> fmt::Result {
    let items = (0..count).map(|index| (bits >> index & 1).to_string()).collect::<Vec<_>>();
    write!(out, " {name}:[{}]", items.join(","))
}

fn omod(value: u32, out: &mut String) -> fmt::Result {
    out.write_str(["", " mul:2", " mul:4", " div:2"][value as usize & 3])
}

fn vop3(instruction: &Instruction, out: &mut String) -> fmt::Result {
    if instruction.opcode.has(OperandKind::Attribute) && instruction.field(Field::Src0) >> 8 & 1 != 0 {
        out.write_str(" high")?;
    }
    let op_sel = instruction.field(Field::OpSel);
    if instruction.name().starts_with("v_permlane") {
        if op_sel & 3 != 0 {
            list("op_sel", op_sel, 2, out)?;
        }
    } else if selects_halves(instruction) {
        let count = sources(instruction);
        let bits = op_sel & ((1 << count) - 1) | (op_sel >> 3 & 1) << count;
        if bits != 0 {
            list("op_sel", bits, count + 1, out)?;
        }
    }
    flag(instruction, Field::Clamp, "clamp", out)?;
    omod(instruction.field(Field::Omod), out)
}

/// Returns `true` if the operation has 16-bit operands whose half can be chosen.
fn selects_halves(instruction: &Instruction) -> bool {
    let name = instruction.name();
    let opcode = instruction.opcode;
    let halves = ["f16", "i16", "u16", "b16", "fp8", "bf8"];
    // The former forms write whole registers, and sums of differences are packed.
    let whole = name.contains("_legacy_") || name.contains("qsad_");
    !whole
        && !opcode.has(OperandKind::MaskSrc2)
        && !opcode.has(OperandKind::Attribute)
        && !opcode.has(OperandKind::SdstVdst)
        && halves.iter().any(|part| name.contains(part))
}

fn vop3p(instruction: &Instruction, out: &mut String) -> fmt::Result {
    let count = sources(instruction);
    let all = (1 << count) - 1;
    let mixed = instruction.name().contains("_mix");
    let low = instruction.field(Field::OpSel) & all;
    let high = (instruction.field(Field::OpSelHi) | instruction.field(Field::OpSelHi2) << 2) & all;
    if low != 0 {
        list("op_sel", low, count, out)?;
    }
    if high != if mixed { 0 } else { all } {
        list("op_sel_hi", high, count, out)?;
    }
    if !mixed {
        for (name, field) in [("neg_lo", Field::NegLo), ("neg_hi", Field::NegHi)] {
            let bits = instruction.field(field) & all;
            if bits != 0 {
                list(name, bits, count, out)?;
            }
        }
    }
    flag(instruction, Field::Clamp, "clamp", out)
}

fn vinterp(instruction: &Instruction, out: &mut String) -> fmt::Result {
    let op_sel = instruction.field(Field::OpSel);
    flag(instruction, Field::Clamp, "clamp", out)?;
    if op_sel != 0 {
        list("op_sel", op_sel, 4, out)?;
    }
    write!(out, " wait_exp:{}", instruction.field(Field::Waitexp))
}

fn ds(instruction: &Instruction, out: &mut String) -> fmt::Result {
    let (first, second) = (instruction.field(Field::Offset0), instruction.field(Field::Offset1));
    let name = instruction.name();
    let two = ["read2", "write2", "wrxchg2", "load_2addr", "store_2addr", "storexchg_2addr"];
    if two.iter().any(|part| name.contains(part)) {
        for (name, value) in [("offset0", first), ("offset1", second)] {
            if value != 0 || instruction.level <= GfxLevel::Gfx7 {
                write!(out, " {name}:{value}")?;
            }
        }
    } else {
        let offset = first | second << 8;
        if name == "ds_swizzle_b32" && instruction.level >= GfxLevel::Gfx8 {
            swizzle(instruction.level, offset, out)?;
        } else if offset != 0 {
            write!(out, " offset:{offset}")?;
        }
    }
    flag(instruction, Field::Gds, "gds", out)
}

/// Writes the pattern of `ds_swizzle_b32`.
fn swizzle(_level: GfxLevel, offset: u32, out: &mut String) -> fmt::Result {
    if offset == 0 {
        return Ok(());
    }
    if offset & 0x8000 != 0 && offset & 0xff00 == 0x8000 {
        let lane = |at: u32| offset >> (2 * at) & 3;
        return write!(out, " offset:swizzle(QUAD_PERM,{},{},{},{})", lane(0), lane(1), lane(2), lane(3));
    }
    if offset & 0x8000 != 0 {
        return write!(out, " offset:{offset}");
    }
    let (and, or, xor) = (offset & 0x1f, offset >> 5 & 0x1f, offset >> 10 & 0x1f);
    if and == 0x1f && or == 0 && xor.is_power_of_two() {
        return write!(out, " offset:swizzle(SWAP,{xor})");
    }
    if and == 0x1f && or == 0 && xor > 0 && (xor + 1).is_power_of_two() {
        return write!(out, " offset:swizzle(REVERSE,{})", xor + 1);
    }
    let group = 32 - and;
    if group.is_power_of_two() && group > 1 && or < group && xor == 0 {
        return write!(out, " offset:swizzle(BROADCAST,{group},{or})");
    }
    let mut pattern = String::new();
    for bit in (0..5).rev() {
        let at = |value: u32| value >> bit & 1;
        let zero = at(or) ^ at(xor);
        let one = (at(and) | at(or)) ^ at(xor);
        pattern.push(match (zero, one) {
            (0, 0) => '0',
            (1, 1) => '1',
            (0, _) => 'p',
            _ => 'i',
        });
    }
    write!(out, " offset:swizzle(BITMASK_PERM,\"{pattern}\")")
}

fn cache(instruction: &Instruction, out: &mut String) -> fmt::Result {
    flag(instruction, Field::Glc, "glc", out)?;
    flag(instruction, Field::Slc, "slc", out)?;
    flag(instruction, Field::Dlc, "dlc", out)
}

fn buffer(instruction: &Instruction, out: &mut String) -> fmt::Result {
    if instruction.layout.format == Format::Mtbuf {
        super::buffer_format::write(instruction, out)?;
    }
    flag(instruction, Field::Idxen, "idxen", out)?;
    flag(instruction, Field::Offen, "offen", out)?;
    flag(instruction, Field::Addr64, "addr64", out)?;
    let offset = instruction.field(Field::Offset);
    if offset != 0 {
        write!(out, " offset:{offset}")?;
    }
    cache(instruction, out)?;
    flag(instruction, Field::Tfe, "tfe", out)?;
    flag(instruction, Field::Lds, "lds", out)
}

/// The temporal hints of loads and stores, by their number.
pub(crate) const HINTS: [[&str; 8]; 2] = [
    ["RT", "NT", "HT", "LU", "NT_RT", "RT_NT", "NT_HT", ""],
    ["RT", "NT", "HT", "RT_WB", "NT_RT", "RT_NT", "NT_HT", "NT_WB"],
];

fn scope_and_hint(instruction: &Instruction, out: &mut String) -> fmt::Result {
    let th = instruction.field(Field::Th);
    let name = instruction.name();
    let scope = instruction.field(Field::Scope);
    let text = if name.contains("_atomic_") {
        let returns = if th & 1 != 0 { "_RETURN" } else { "" };
        match th & 6 {
            0 if th & 1 != 0 => "TH_ATOMIC_RETURN".to_owned(),
            // Cascading needs a scope of the device or more.
            4 | 6 if scope < 2 => format!("TH_ATOMIC_{th:#x}"),
            4 => format!("TH_ATOMIC_CASCADE_RT{returns}"),
            6 => format!("TH_ATOMIC_CASCADE_NT{returns}"),
            _ => format!("TH_ATOMIC_NT{returns}"),
        }
    } else {
        let stores = name.contains("store");
        let class = if stores { "STORE" } else { "LOAD" };
        match HINTS[usize::from(stores)][th as usize & 7] {
            _ if th == 3 && scope == 3 => format!("TH_{class}_BYPASS"),
            "" => format!("{th:#x}"),
            hint => format!("TH_{class}_{hint}"),
        }
    };
    if th != 0 {
        write!(out, " th:{text}")?;
    }
    match scope {
        1 => out.write_str(" scope:SCOPE_SE"),
        2 => out.write_str(" scope:SCOPE_DEV"),
        3 => out.write_str(" scope:SCOPE_SYS"),
        _ => Ok(()),
    }
}

fn signed24(instruction: &Instruction, out: &mut String) -> fmt::Result {
    let offset = (instruction.field(Field::Ioffset) << 8).cast_signed() >> 8;
    if offset != 0 {
        write!(out, " offset:{offset}")?;
    }
    Ok(())
}

fn vbuffer(instruction: &Instruction, out: &mut String) -> fmt::Result {
    if instruction.name().starts_with("tbuffer") {
        super::buffer_format::write(instruction, out)?;
    }
    flag(instruction, Field::Idxen, "idxen", out)?;
    flag(instruction, Field::Offen, "offen", out)?;
    signed24(instruction, out)?;
    scope_and_hint(instruction, out)?;
    flag(instruction, Field::Tfe, "tfe", out)
}

/// The names of image dimensions.
pub(crate) const DIMENSIONS: [&str; 8] = ["1D", "2D", "3D", "CUBE", "1D_ARRAY", "2D_ARRAY", "2D_MSAA", "2D_MSAA_ARRAY"];

fn image(instruction: &Instruction, out: &mut String) -> fmt::Result {
    let dmask = instruction.field(Field::Dmask);
    if dmask != 0 {
        write!(out, " dmask:{dmask:#x}")?;
    }
    if instruction.has_field(Field::Dim) {
        write!(out, " dim:SQ_RSRC_IMG_{}", DIMENSIONS[instruction.field(Field::Dim) as usize & 7])?;
    }
    flag(instruction, Field::Unorm, "unorm", out)?;
    cache(instruction, out)?;
    flag(instruction, Field::R128, "r128", out)?;
    flag(instruction, Field::A16, "a16", out)?;
    flag(instruction, Field::Tfe, "tfe", out)?;
    flag(instruction, Field::Lwe, "lwe", out)?;
    flag(instruction, Field::Da, "da", out)?;
    flag(instruction, Field::D16, "d16", out)
}

fn vimage(instruction: &Instruction, out: &mut String) -> fmt::Result {
    let dmask = instruction.field(Field::Dmask);
    if dmask != 0 {
        write!(out, " dmask:{dmask:#x}")?;
    }
    write!(out, " dim:SQ_RSRC_IMG_{}", DIMENSIONS[instruction.field(Field::Dim) as usize & 7])?;
    flag(instruction, Field::Unorm, "unorm", out)?;
    scope_and_hint(instruction, out)?;
    flag(instruction, Field::R128, "r128", out)?;
    flag(instruction, Field::A16, "a16", out)?;
    flag(instruction, Field::Tfe, "tfe", out)?;
    flag(instruction, Field::Lwe, "lwe", out)?;
    flag(instruction, Field::D16, "d16", out)
}

fn flat(instruction: &Instruction, out: &mut String) -> fmt::Result {
    let width = instruction.layout.field(Field::Offset).map_or(32, crate::table::FieldLayout::width);
    let offset = instruction.field(Field::Offset);
    let offset = if instruction.opcode.format == Format::Flat {
        i64::from(offset)
    } else {
        i64::from((offset << (32 - width)).cast_signed() >> (32 - width))
    };
    if offset != 0 {
        write!(out, " offset:{offset}")?;
    }
    cache(instruction, out)?;
    flag(instruction, Field::Lds, "lds", out)
}

fn vflat(instruction: &Instruction, out: &mut String) -> fmt::Result {
    if !instruction.opcode.operands.is_empty() {
        signed24(instruction, out)?;
    }
    scope_and_hint(instruction, out)
}

fn smem(instruction: &Instruction, out: &mut String) -> fmt::Result {
    if instruction.level >= GfxLevel::Gfx12 {
        let prefetches = instruction.name().contains("prefetch");
        return if prefetches { Ok(()) } else { scope_and_hint(instruction, out) };
    }
    let name = instruction.name();
    if name.starts_with("s_dcache_discard")
        || name.starts_with("s_atc_probe")
        || !instruction.opcode.has(OperandKind::Sbase)
    {
        return Ok(());
    }
    flag(instruction, Field::Glc, "glc", out)?;
    flag(instruction, Field::Dlc, "dlc", out)
}

const SELECTIONS: [&str; 8] = ["BYTE_0", "BYTE_1", "BYTE_2", "BYTE_3", "WORD_0", "WORD_1", "DWORD", "INVALID"];

fn sdwa(instruction: &Instruction, destination: bool, out: &mut String) -> fmt::Result {
    let value = |field| instruction.extension_field(field);
    let compares = instruction.opcode.format == Format::Vopc;
    if destination && !compares {
        if value(Field::Clamp) != 0 {
            out.write_str(" clamp")?;
        }
        omod(value(Field::Omod), out)?;
        write!(out, " dst_sel:{}", SELECTIONS[value(Field::DstSel) as usize & 7])?;
        let unused = ["UNUSED_PAD", "UNUSED_SEXT", "UNUSED_PRESERVE", "INVALID"][value(Field::DstUnused) as usize & 3];
        write!(out, " dst_unused:{unused}")?;
    } else if destination && value(Field::Clamp) != 0 {
        out.write_str(" clamp")?;
    }
    write!(out, " src0_sel:{}", SELECTIONS[value(Field::Src0Sel) as usize & 7])?;
    if instruction.opcode.has(OperandKind::Vsrc1) {
        write!(out, " src1_sel:{}", SELECTIONS[value(Field::Src1Sel) as usize & 7])?;
    }
    Ok(())
}

fn dpp(instruction: &Instruction, out: &mut String) -> fmt::Result {
    let value = |field| instruction.extension_field(field);
    let control = value(Field::DppCtrl);
    match control {
        0..=0xff => {
            let lane = |at: u32| control >> (2 * at) & 3;
            write!(out, " quad_perm:[{},{},{},{}]", lane(0), lane(1), lane(2), lane(3))?;
        }
        0x101..=0x10f => write!(out, " row_shl:{}", control & 0xf)?,
        0x111..=0x11f => write!(out, " row_shr:{}", control & 0xf)?,
        0x121..=0x12f => write!(out, " row_ror:{}", control & 0xf)?,
        0x130 => out.write_str(" wave_shl:1")?,
        0x134 => out.write_str(" wave_rol:1")?,
        0x138 => out.write_str(" wave_shr:1")?,
        0x13c => out.write_str(" wave_ror:1")?,
        0x140 => out.write_str(" row_mirror")?,
        0x141 => out.write_str(" row_half_mirror")?,
        0x142 => out.write_str(" row_bcast:15")?,
        0x143 => out.write_str(" row_bcast:31")?,
        0x150..=0x15f => write!(out, " row_share:{}", control & 0xf)?,
        0x160..=0x16f => write!(out, " row_xmask:{}", control & 0xf)?,
        _ => out.write_str(" /* Invalid dpp_ctrl value */")?,
    }
    write!(out, " row_mask:{:#x} bank_mask:{:#x}", value(Field::RowMask), value(Field::BankMask))?;
    if value(Field::BoundCtrl) != 0 {
        out.write_str(" bound_ctrl:1")?;
    }
    if value(Field::Fi) != 0 {
        out.write_str(" fi:1")?;
    }
    Ok(())
}

fn dpp8(instruction: &Instruction, out: &mut String) -> fmt::Result {
    let lanes = instruction.extension_field(Field::LaneSel);
    let items = (0..8).map(|at| (lanes >> (3 * at) & 7).to_string()).collect::<Vec<_>>();
    write!(out, " dpp8:[{}]", items.join(","))?;
    if instruction.field(Field::Src0) == crate::decode::DPP8[1] {
        out.write_str(" fi:1")?;
    }
    Ok(())
}

/// Writes ` name` if a one-bit field is set.
fn flag(instruction: &Instruction, field: Field, name: &str, out: &mut String) -> fmt::Result {
    if instruction.field(field) != 0 {
        write!(out, " {name}")?;
    }
    Ok(())
}
