//! Automatic waits: no register is accessed while a memory operation still reads or writes it.

use amdgpu_hw::GfxLevel;

use super::{Builder, pending::Pending};
use crate::{Field, Format, Instruction, OperandKind};

/// Returns the first register of an operand, in the numbering of sources, and the number of registers.
fn registers(instruction: &Instruction, kind: OperandKind, dwords: u8) -> Option<(u32, u32)> {
    let field = |field: Field| instruction.field(field);
    let first_of = |fields: &[Field]| fields.iter().copied().find(|field| instruction.has_field(*field)).map(field);
    let mask = |dwords: u8| if dwords == 2 { instruction.wave().mask_dwords() } else { dwords };
    let count = u32::from(dwords);
    let vector = |number: u32| Some((256 + (number & 0xff), count));
    match kind {
        OperandKind::Vdst | OperandKind::Vdata => vector(first_of(&[Field::Vdst, Field::Vdata])?),
        OperandKind::Data => vector(first_of(&[Field::Vsrc, Field::Data])?),
        OperandKind::Data0 => vector(field(Field::Data0)),
        OperandKind::Data1 => vector(field(Field::Data1)),
        OperandKind::Addr => vector(first_of(&[Field::Addr, Field::Vaddr])?),
        // Addresses of buffers and images have up to four registers.
        OperandKind::Vaddr => Some((256 + field(Field::Vaddr), 4)),
        OperandKind::Src0 => Some((field(Field::Src0), count)),
        OperandKind::Src1 if instruction.has_field(Field::Src1) => Some((field(Field::Src1), count)),
        OperandKind::Src1 | OperandKind::SsrcVsrc1 | OperandKind::Vsrc1 => vector(field(Field::Vsrc1)),
        OperandKind::Src2 | OperandKind::MaskSrc2 => Some((field(Field::Src2), count)),
        OperandKind::Sdst => Some((field(Field::Sdst), mask(dwords).into())),
        OperandKind::SdstVdst => Some((field(Field::Vdst), mask(dwords).into())),
        OperandKind::Sdata => Some((first_of(&[Field::Sdata, Field::Sdst])?, count)),
        OperandKind::Ssrc0 => Some((field(Field::Ssrc0), count)),
        OperandKind::Ssrc1 => Some((field(Field::Ssrc1), count)),
        OperandKind::Sbase => Some((field(Field::Sbase) * 2, count)),
        _ => None,
    }
}

/// Returns `true` if the operation completes asynchronously.
fn is_memory(format: Format) -> bool {
    matches!(
        format,
        Format::Smem
            | Format::Smrd
            | Format::Ds
            | Format::Mubuf
            | Format::Mtbuf
            | Format::Mimg
            | Format::Flat
            | Format::Global
            | Format::Scratch
            | Format::Vbuffer
            | Format::Vimage
            | Format::Vsample
            | Format::Vflat
            | Format::Vglobal
            | Format::Vscratch
    )
}

impl Builder {
    /// Records a wait if the instruction accesses registers of outstanding operations, and marks the registers of the instruction
    /// as outstanding.
    pub(super) fn wait_before(&mut self, instruction: &Instruction) {
        let memory = is_memory(instruction.format());
        let touched: Vec<(u32, u32)> = instruction
            .opcode()
            .operands
            .iter()
            .filter_map(|operand| registers(instruction, operand.kind, operand.dwords))
            .collect();
        // Images may have addresses in scattered registers, which the operands do not list individually.
        let scattered = matches!(instruction.format(), Format::Mimg | Format::Vimage | Format::Vsample);
        let is_pending = touched.iter().any(|&(first, count)| {
            (first..first + count).any(|number| {
                usize::try_from(number).is_ok_and(|number| self.pending.registers.get(number) == Some(&true))
            })
        });
        if self.pending.any && (is_pending || scattered) {
            self.wait_for_all();
        }
        if memory {
            self.pending.any = true;
            for (first, count) in touched {
                (first..first + count)
                    .filter_map(|number| usize::try_from(number).ok())
                    .filter(|number| *number < 512)
                    .for_each(|number| self.pending.registers[number] = true);
            }
        }
    }

    /// Records a wait for all outstanding operations.
    pub fn wait_for_all(&mut self) {
        if !self.pending.any {
            return;
        }
        self.pending = Pending::default();
        if self.level >= GfxLevel::Gfx12 {
            for counter in ["load", "store", "sample", "bvh", "ds", "km"] {
                self.raw(&format!("s_wait_{counter}cnt 0"));
            }
            return;
        }
        self.raw("s_waitcnt 0");
        if self.level >= GfxLevel::Gfx10 {
            self.raw("s_waitcnt_vscnt null, 0x0");
        }
    }
}
