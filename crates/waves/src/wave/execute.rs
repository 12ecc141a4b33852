//! Execution of one instruction.

use super::state::{Flow, Surroundings, Wave};
use crate::{
    outcome::Reason,
    program::{
        decoded_inst::{DecodedInst, DecodedOp, IndexMode},
        source::M0,
    },
    watch::observer::Observer,
};

impl Wave {
    /// Executes an instruction and returns where the wave goes on.
    pub(crate) fn execute<O: Observer>(
        &mut self,
        inst: &DecodedInst,
        around: &mut Surroundings<'_, O>,
    ) -> Result<Flow, Reason> {
        self.counters.instructions += 1;
        match &inst.op {
            DecodedOp::Vector(vector) => {
                self.count_lanes_on();
                self.vector(vector)?;
            }
            DecodedOp::Scalar(scalar) => self.scalar(scalar),
            DecodedOp::Nothing | DecodedOp::BarrierSignal => {}
            DecodedOp::ForgetCode => return Ok(Flow::Refetch),
            DecodedOp::Branch(condition, offset) => {
                if self.holds(*condition) {
                    return Ok(Flow::Jump(self.next(inst).wrapping_add_signed(*offset)));
                }
            }
            DecodedOp::Dual(pair) => {
                self.count_lanes_on();
                self.dual(pair)?;
            }
            DecodedOp::Packed(packed) => {
                self.count_lanes_on();
                self.packed(packed);
            }
            DecodedOp::Dot(dot) => {
                self.count_lanes_on();
                self.dot(dot);
            }
            DecodedOp::Mix(mix) => {
                self.count_lanes_on();
                self.mix(mix);
            }
            DecodedOp::Matrix(matrix) => {
                self.count_lanes_on();
                self.matrix(matrix);
            }
            DecodedOp::Lane(lane) => {
                self.count_lanes_on();
                self.lane_op(lane)?;
            }
            DecodedOp::SaveExec(op) => self.save_exec(op),
            DecodedOp::ScalarLoad(load) => self.scalar_load(load, around),
            DecodedOp::ScalarAtomic(atomic) => self.scalar_atomic(atomic, around),
            DecodedOp::Lds(lds) => {
                self.count_lanes_on();
                self.lds(lds, around);
            }
            DecodedOp::Flat(flat) => {
                self.count_lanes_on();
                self.flat(flat, around)?;
            }
            DecodedOp::Buffer(buffer) => {
                self.count_lanes_on();
                self.buffer(buffer, around);
            }
            DecodedOp::LdsTransfer(transfer) => {
                self.count_lanes_on();
                self.lds_transfer(transfer, around)?;
            }
            DecodedOp::Image(image) => {
                self.count_lanes_on();
                self.image(image, around)?;
            }
            DecodedOp::Graphics(op) => {
                self.count_lanes_on();
                self.graphics_op(op)?;
            }
            DecodedOp::End => return Ok(Flow::End),
            DecodedOp::Barrier | DecodedOp::BarrierWait => return Ok(Flow::Barrier),
            DecodedOp::Halt => return Err(Reason::Halt),
            DecodedOp::Jump(jump) => return Ok(self.jump(**jump, self.next(inst))),
            DecodedOp::Register(register) => self.hardware_register(**register),
            DecodedOp::Mode(mask, value) => self.registers.mode.0 = self.registers.mode.0 & !mask | value,
            DecodedOp::ScalarMove(moved) => self.scalar_move(*moved),
            DecodedOp::IndexMode(op) => self.index_mode(**op),
            DecodedOp::WaveNumber(destination) => self.registers.set_scalar(*destination, 1, self.number.into()),
            DecodedOp::Time { destination, dwords } => {
                let time = self.counters.instructions;
                self.registers.set_scalar(*destination, *dwords, time);
            }
        }
        Ok(Flow::Next)
    }

    /// Returns the address of the instruction after one at the PC.
    pub(crate) fn next(&self, inst: &DecodedInst) -> u64 {
        self.pc.wrapping_add(inst.bytes.into())
    }

    fn count_lanes_on(&mut self) {
        self.counters.lanes += self.registers.count(self.registers.exec());
    }

    /// Changes the indexing of VGPRs; M0 holds the offset in bits 7:0 and the mode in 15:12.
    fn index_mode(&mut self, IndexMode { source, mode, on }: IndexMode) {
        let mut m0 = self.registers.scalars[usize::from(M0)];
        if let Some(source) = source {
            m0 = m0 & !0xff | self.registers.scalar(source, 1) as u32 & 0xff;
        }
        if let Some(mode) = mode {
            m0 = m0 & !0xf000 | mode << 12;
        }
        self.registers.scalars[usize::from(M0)] = m0;
        self.indexing.offset = m0 & 0xff;
        self.indexing.mode = (m0 >> 12 & 15) as u8;
        self.indexing.on = on.unwrap_or(self.indexing.on);
        self.takes_shortcuts = !self.indexing.on && self.unit.takes_shortcuts();
    }
}
