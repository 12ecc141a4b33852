//! Modifiers: text to fields.

use super::{
    encoder::{Encoder, Misfit},
    parse::{items, low_bits, number},
    special,
};
use crate::{Field, Format, text};

fn misfit(text: &str) -> Misfit {
    Misfit::Modifier(text.to_owned())
}

/// Modifiers that set one bit.
const FLAGS: [(&str, Field); 17] = [
    ("glc", Field::Glc),
    ("slc", Field::Slc),
    ("dlc", Field::Dlc),
    ("offen", Field::Offen),
    ("idxen", Field::Idxen),
    ("addr64", Field::Addr64),
    ("tfe", Field::Tfe),
    ("lwe", Field::Lwe),
    ("lds", Field::Lds),
    ("gds", Field::Gds),
    ("unorm", Field::Unorm),
    ("r128", Field::R128),
    ("a16", Field::A16),
    ("d16", Field::D16),
    ("da", Field::Da),
    ("nv", Field::Nv),
    ("clamp", Field::Clamp),
];

const SELECTIONS: [&str; 7] = ["BYTE_0", "BYTE_1", "BYTE_2", "BYTE_3", "WORD_0", "WORD_1", "DWORD"];

impl Encoder {
    /// Sets the field of one modifier.
    pub(super) fn modifier(&mut self, word: &str) -> Result<(), Misfit> {
        if word == "clamp" && self.set_extension(Field::Clamp, 1) {
            return Ok(());
        }
        if let Some((_, field)) = FLAGS.iter().find(|(name, _)| *name == word) {
            return self.fit(*field, 1);
        }
        if word == "high" {
            let kept = self.get(Field::Src0);
            return self.fit(Field::Src0, kept | 0x100);
        }
        if let Some(control) = crossed_lanes(word) {
            return self.lanes(control, word);
        }
        if self.opcode.name() == "s_endpgm"
            && let Some(value) = number(word).and_then(|value| u32::try_from(value).ok())
        {
            return self.fit(Field::Simm16, value);
        }
        let (name, value) = word.split_once(':').ok_or_else(|| misfit(word))?;
        let plain = number(value).and_then(|value| u32::try_from(value).ok());
        let need = |value: Option<u32>| value.ok_or_else(|| misfit(word));
        match name {
            "offset" => self.offset(value, word),
            "offset0" => self.fit(Field::Offset0, need(plain)?),
            "offset1" => self.fit(Field::Offset1, need(plain)?),
            "mul" | "div" => {
                let value = match word {
                    "mul:2" => 1,
                    "mul:4" => 2,
                    "div:2" => 3,
                    _ => return Err(misfit(word)),
                };
                if self.set_extension(Field::Omod, value) { Ok(()) } else { self.fit(Field::Omod, value) }
            }
            "op_sel" => self.op_sel(&items(value).ok_or_else(|| misfit(word))?),
            "op_sel_hi" => {
                let bits = bits(&items(value).ok_or_else(|| misfit(word))?);
                let count = items(value).map_or(0, |items| items.len());
                let mixed = self.opcode.name().contains("_mix");
                let bits = if mixed { bits } else { bits | 7 & !((1 << count) - 1) };
                self.fit(Field::OpSelHi, bits & 3)?;
                self.fit(Field::OpSelHi2, bits >> 2 & 1)
            }
            "neg_lo" | "neg_hi" => {
                let field = if name == "neg_lo" { Field::NegLo } else { Field::NegHi };
                let bits = self.get(field) | bits(&items(value).ok_or_else(|| misfit(word))?);
                self.fit(field, bits)
            }
            "dmask" => self.fit(Field::Dmask, need(plain)?),
            "dim" => {
                let at = text::DIMENSIONS.iter().position(|known| value.strip_prefix("SQ_RSRC_IMG_") == Some(known));
                self.fit(Field::Dim, need(at.map(|at| at as u32))?)
            }
            "format" => self.buffer_format(value, word),
            "th" => self.hint(value, word),
            "scope" => {
                let at = ["SCOPE_CU", "SCOPE_SE", "SCOPE_DEV", "SCOPE_SYS"].iter().position(|known| *known == value);
                self.fit(Field::Scope, need(at.map(|at| at as u32))?)
            }
            "wait_exp" => self.fit(Field::Waitexp, need(plain)?),
            "wait_vdst" | "wait_va_vdst" => self.fit(Field::WaitVaVdst, need(plain)?),
            "wait_vm_vsrc" => self.fit(Field::WaitVmVsrc, need(plain)?),
            _ => self.extension_modifier(name, value, plain).ok_or_else(|| misfit(word)),
        }
    }

    fn op_sel(&mut self, items: &[u32]) -> Result<(), Misfit> {
        let mut value = bits(items);
        // In VOP3 the last item is the destination's, in bit 3.
        let long = matches!(self.layout.format, Format::Vop3 | Format::Vop3Sdst);
        if long && !self.opcode.name().starts_with("v_permlane") && items.len() < 4 {
            let last = items.len() as u32 - 1;
            value = value & ((1 << last) - 1) | (value >> last & 1) << 3;
        }
        self.fit(Field::OpSel, value)
    }

    fn offset(&mut self, value: &str, word: &str) -> Result<(), Misfit> {
        if let Some(pattern) = value.strip_prefix("swizzle(").and_then(|rest| rest.strip_suffix(')')) {
            let value = swizzle(pattern).ok_or_else(|| misfit(word))?;
            self.fit(Field::Offset0, value & 0xff)?;
            return self.fit(Field::Offset1, value >> 8);
        }
        let value = number(value).ok_or_else(|| misfit(word))?;
        let plain = u32::try_from(value).map_err(|_| misfit(word));
        let signed = |bits: u32| {
            let most = 1_i64 << (bits - 1);
            if (-most..most).contains(&value) { Ok(low_bits(value, bits)) } else { Err(misfit(word)) }
        };
        match self.layout.format {
            Format::Ds => {
                let value = plain?;
                self.fit(Field::Offset0, value & 0xff)?;
                self.fit(Field::Offset1, value >> 8)
            }
            Format::Smem => special::smem_extra_offset(self, value),
            Format::Vbuffer | Format::Vflat | Format::Vglobal | Format::Vscratch => {
                let value = signed(24)?;
                self.fit(Field::Ioffset, value)
            }
            Format::Flat if self.opcode.format != Format::Flat => {
                let width = self.layout.field(Field::Offset).map_or(12, crate::table::FieldLayout::width);
                let value = signed(width)?;
                self.fit(Field::Offset, value)
            }
            _ => self.fit(Field::Offset, plain?),
        }
    }

    fn buffer_format(&mut self, value: &str, word: &str) -> Result<(), Misfit> {
        let fields = text::parse_buffer_format(self.level, value).ok_or_else(|| misfit(word))?;
        fields.into_iter().try_for_each(|(field, value)| self.fit(field, value))
    }

    fn hint(&mut self, value: &str, word: &str) -> Result<(), Misfit> {
        let at = if let Some(rest) = value.strip_prefix("TH_ATOMIC_") {
            let plain = number(rest).and_then(|value| u32::try_from(value).ok());
            plain.or_else(|| {
                rest.split('_').try_fold(0, |all, part| {
                    Some(
                        all | match part {
                            "RETURN" => 1,
                            "NT" => 2,
                            "CASCADE" => 4,
                            "RT" => 0,
                            _ => return None,
                        },
                    )
                })
            })
        } else {
            let stores = value.starts_with("TH_STORE_");
            let hint = value.strip_prefix("TH_LOAD_").or_else(|| value.strip_prefix("TH_STORE_"));
            let at = |hint| text::HINTS[usize::from(stores)].iter().position(|known| *known == hint);
            match hint {
                Some("BYPASS") => Some(3),
                Some(hint) => at(hint).map(|at| at as u32),
                None => number(value).and_then(|value| u32::try_from(value).ok()),
            }
        };
        let value = at.ok_or_else(|| misfit(word))?;
        self.fit(Field::Th, value)
    }

    /// Sets the lane control of DPP.
    fn lanes(&mut self, control: u32, word: &str) -> Result<(), Misfit> {
        if self.set_extension(Field::DppCtrl, control) { Ok(()) } else { Err(misfit(word)) }
    }

    /// Sets a field of the extra dword; `None` if there is none, or no such modifier.
    fn extension_modifier(&mut self, name: &str, value: &str, plain: Option<u32>) -> Option<()> {
        let selection = || SELECTIONS.iter().position(|known| *known == value).map(|at| at as u32);
        let (field, value) = match name {
            "dst_sel" => (Field::DstSel, selection()?),
            "src0_sel" => (Field::Src0Sel, selection()?),
            "src1_sel" => (Field::Src1Sel, selection()?),
            "dst_unused" => {
                let names = ["UNUSED_PAD", "UNUSED_SEXT", "UNUSED_PRESERVE"];
                (Field::DstUnused, names.iter().position(|known| *known == value)? as u32)
            }
            "row_mask" => (Field::RowMask, plain?),
            "bank_mask" => (Field::BankMask, plain?),
            "bound_ctrl" => (Field::BoundCtrl, 1),
            "fi" if self.extension.is_some_and(|(layout, _)| layout.format == Format::Dpp8) => {
                self.set(Field::Src0, crate::decode::DPP8[1]);
                return Some(());
            }
            "fi" => (Field::Fi, 1),
            "dpp8" => {
                let lanes = items(value).filter(|lanes| lanes.len() == 8 && lanes.iter().all(|lane| *lane < 8))?;
                (Field::LaneSel, lanes.iter().enumerate().fold(0, |all, (at, lane)| all | lane << (3 * at)))
            }
            _ => return None,
        };
        self.set_extension(field, value).then_some(())
    }
}

fn bits(items: &[u32]) -> u32 {
    items.iter().enumerate().fold(0, |all, (at, item)| all | (item & 1) << at)
}

/// Returns the lane control of a DPP modifier.
fn crossed_lanes(word: &str) -> Option<u32> {
    let (name, value) = word.split_once(':').unwrap_or((word, ""));
    let count = value.parse::<u32>().ok();
    Some(match name {
        "quad_perm" => {
            let lanes = items(value).filter(|lanes| lanes.len() == 4 && lanes.iter().all(|lane| *lane < 4))?;
            lanes.iter().enumerate().fold(0, |all, (at, lane)| all | lane << (2 * at))
        }
        "row_shl" => 0x100 + count?,
        "row_shr" => 0x110 + count?,
        "row_ror" => 0x120 + count?,
        "wave_shl" => 0x130,
        "wave_rol" => 0x134,
        "wave_shr" => 0x138,
        "wave_ror" => 0x13c,
        "row_mirror" => 0x140,
        "row_half_mirror" => 0x141,
        "row_bcast" if count == Some(15) => 0x142,
        "row_bcast" if count == Some(31) => 0x143,
        "row_share" => 0x150 + count?,
        "row_xmask" => 0x160 + count?,
        _ => return None,
    })
}

/// Returns the offset of a `ds_swizzle_b32` pattern.
fn swizzle(pattern: &str) -> Option<u32> {
    let parts: Vec<&str> = pattern.split(',').collect();
    let at = |index: usize| parts.get(index).and_then(|part| part.parse::<u32>().ok());
    match *parts.first()? {
        "QUAD_PERM" => Some((0..4).try_fold(0x8000, |all, lane| Some(all | (at(lane + 1)? & 3) << (2 * lane)))?),
        "SWAP" => Some(0x1f | at(1)? << 10),
        "REVERSE" => Some(0x1f | at(1)?.checked_sub(1)? << 10),
        "BROADCAST" => Some(32_u32.checked_sub(at(1)?)? & 0x1f | at(2)? << 5),
        "BITMASK_PERM" => {
            let letters = parts.get(1)?.strip_prefix('"')?.strip_suffix('"')?;
            letters.chars().try_fold(0_u32, |all, letter| {
                let (and, or, xor) = match letter {
                    '0' => (0, 0, 0),
                    '1' => (0, 1, 0),
                    'p' => (1, 0, 0),
                    'i' => (1, 0, 1),
                    _ => return None,
                };
                let shifted = (all & 0x1f) << 1
                    | and
                    | ((all >> 5 & 0x1f) << 1 | or) << 5
                    | ((all >> 10 & 0x1f) << 1 | xor) << 10;
                Some(shifted)
            })
        }
        _ => None,
    }
    .filter(|value| *value < 0x1_0000)
}

#[cfg(test)]
mod tests {
    use amdgpu_hw::GfxLevel;

    use crate::{WaveSize, assemble, decode};

    /// The lane that each lane of a group reads.
    fn lanes(offset: u32) -> Vec<u32> {
        if offset & 0x8000 != 0 {
            return (0..32).map(|lane| lane & !3 | offset >> (2 * (lane & 3)) & 3).collect();
        }
        (0..32).map(|lane| (lane & offset & 0x1f | offset >> 5 & 0x1f) ^ offset >> 10 & 0x1f).collect()
    }

    #[test]
    fn every_swizzle_pattern_assembles_to_the_lanes_it_was_printed_from() {
        for offset in (1..=0xffff_u32).step_by(5) {
            let words = [0xd8d4_0000 | offset, 0x7700_0074];
            let printed = decode(GfxLevel::Gfx10, WaveSize::Wave64, &words).unwrap().to_string();
            let again = assemble(GfxLevel::Gfx10, WaveSize::Wave64, &printed).unwrap();
            let value = again.dwords()[0] & 0xffff;
            assert_eq!(lanes(value), lanes(offset), "{printed}");
        }
    }
}
