//! Accesses that move dwords between memory and LDS (up to GFX10.3), without a register.

use super::access::{Local, Space};
use crate::{
    outcome::Reason,
    program::{
        decoded_inst::{LdsTransfer, LdsTransferAccess},
        source::M0,
    },
    watch::observer::Observer,
    wave::state::{Surroundings, Wave},
};

impl Wave {
    /// Executes a load to LDS or a store from it: the dword of a lane is in LDS at M0 + offset + 4 * lane.
    ///
    /// The access itself is that of a register, which exists behind the last one for its time.
    ///
    /// Source: AMD's guide to the Vega instruction set, "Memory Buffer Load to LDS".
    pub(crate) fn lds_transfer(
        &mut self,
        op: &LdsTransfer,
        around: &mut Surroundings<'_, impl Observer>,
    ) -> Result<(), Reason> {
        let passed = self.registers.vectors.len();
        let first_shared = std::mem::replace(&mut self.registers.first_shared, usize::MAX);
        self.registers.vectors.push(Box::default());
        let start = u64::from((self.registers.scalars[usize::from(M0)] & 0xffff).wrapping_add(op.offset));
        let place = |lane: usize| start + 4 * lane as u64;
        if op.stores {
            let mut local = Local { bytes: &mut *around.lds, observer: around.observer };
            for lane in self.active() {
                local.lane(lane);
                let mut word = [0; 4];
                local.load(place(lane), &mut word);
                self.registers.vectors[passed][lane] = u32::from_le_bytes(word);
            }
        }
        let done = match &op.access {
            LdsTransferAccess::Buffer(buffer) => {
                self.buffer(buffer, around);
                Ok(())
            }
            LdsTransferAccess::Flat(flat) => self.flat(flat, around),
        };
        if !op.stores {
            let mut local = Local { bytes: &mut *around.lds, observer: around.observer };
            for lane in self.active() {
                local.lane(lane);
                local.store(place(lane), &self.registers.vectors[passed][lane].to_le_bytes());
            }
        }
        self.registers.vectors.truncate(passed);
        self.registers.first_shared = first_shared;
        done
    }
}
