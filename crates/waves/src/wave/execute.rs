//! Execution of one step.

use super::state::{Flow, Surroundings, Wave};
use crate::{
    outcome::Reason,
    program::{
        source::M0,
        step::{Action, IndexMode, Step},
    },
    watch::observer::Observer,
};

impl Wave {
    /// Executes a step and returns where the wave goes on.
    pub(crate) fn execute<O: Observer>(
        &mut self,
        step: &Step,
        around: &mut Surroundings<'_, O>,
    ) -> Result<Flow, Reason> {
        self.counters.instructions += 1;
        match &step.action {
            Action::Vector(vector) => {
                self.count_lanes_on();
                self.vector(vector)?;
            }
            Action::Scalar(scalar) => self.scalar(scalar),
            Action::Nothing | Action::BarrierSignal => {}
            Action::ForgetCode => return Ok(Flow::Refetch),
            Action::Branch(condition, offset) => {
                if self.holds(*condition) {
                    return Ok(Flow::Jump(self.next(step).wrapping_add_signed(*offset)));
                }
            }
            Action::Dual(pair) => {
                self.count_lanes_on();
                self.dual(pair)?;
            }
            Action::Packed(packed) => {
                self.count_lanes_on();
                self.packed(packed);
            }
            Action::Dot(dot) => {
                self.count_lanes_on();
                self.dot(dot);
            }
            Action::Mix(mix) => {
                self.count_lanes_on();
                self.mix(mix);
            }
            Action::Matrix(matrix) => {
                self.count_lanes_on();
                self.matrix(matrix);
            }
            Action::Lane(lane) => {
                self.count_lanes_on();
                self.lane_step(lane)?;
            }
            Action::SaveExec(step) => self.save_exec(step),
            Action::ScalarLoad(load) => self.scalar_load(load, around),
            Action::ScalarAtomic(atomic) => self.scalar_atomic(atomic, around),
            Action::Lds(lds) => {
                self.count_lanes_on();
                self.lds(lds, around);
            }
            Action::Flat(flat) => {
                self.count_lanes_on();
                self.flat(flat, around)?;
            }
            Action::Buffer(buffer) => {
                self.count_lanes_on();
                self.buffer(buffer, around);
            }
            Action::LdsTransfer(transfer) => {
                self.count_lanes_on();
                self.lds_transfer(transfer, around)?;
            }
            Action::Image(image) => {
                self.count_lanes_on();
                self.image(image, around)?;
            }
            Action::Graphics(step) => {
                self.count_lanes_on();
                self.graphics_step(step)?;
            }
            Action::End => return Ok(Flow::End),
            Action::Barrier | Action::BarrierWait => return Ok(Flow::Barrier),
            Action::Halt => return Err(Reason::Halt),
            Action::Jump(jump) => return Ok(self.jump(**jump, self.next(step))),
            Action::Register(register) => self.hardware_register(**register),
            Action::Mode(mask, value) => self.registers.mode.0 = self.registers.mode.0 & !mask | value,
            Action::ScalarMove(moved) => self.scalar_move(*moved),
            Action::IndexMode(step) => self.index_mode(**step),
            Action::WaveNumber(destination) => self.registers.set_scalar(*destination, 1, self.number.into()),
            Action::Time { destination, dwords } => {
                let time = self.counters.instructions;
                self.registers.set_scalar(*destination, *dwords, time);
            }
        }
        Ok(Flow::Next)
    }

    /// Returns the address of the instruction after a step at the PC.
    pub(crate) fn next(&self, step: &Step) -> u64 {
        self.pc.wrapping_add(step.bytes.into())
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
