//! The work budget of a job. A job that exceeds it counts as an endless loop.

use std::cell::Cell;

use super::{Environment, Ib, Place, Stop};

/// Counts down the work that a job may do. All work that the length of a packet does not limit is paid for: other IBs, copies, the
/// parts of a multi-draw.
pub(super) struct Budget {
    left: Cell<u64>,
    packets: Cell<u64>,
    /// The budget until the job is queried again.
    until_asked: Cell<u64>,
}

impl Budget {
    /// The budget of a job: one unit for each packet and each fetched dword. No valid stream has 4 GiB of commands.
    const WHOLE: u64 = 1 << 30;
    /// The cost of starting another IB, in addition to its dwords.
    const JUMP: u64 = 1 << 10;
    /// The interval at which the job is queried, in units of the budget: about a MiB of copies.
    const ASK: u64 = 1 << 10;
    /// The cost of each further draw or dispatch that one packet starts.
    pub(super) const DRAW: u64 = 1 << 8;

    pub(super) const fn new() -> Self {
        Self { left: Cell::new(Self::WHOLE), packets: Cell::new(0), until_asked: Cell::new(Self::ASK) }
    }

    /// Returns the cost of copying or filling a number of bytes. No valid IB copies a tebibyte.
    pub(super) const fn of_bytes(bytes: u64) -> u64 {
        bytes >> 10
    }

    /// The number of bytes that are copied or filled before the job is queried again.
    pub(super) const PIECE: u64 = Self::ASK << 10;

    /// Pays for a packet.
    pub(super) fn packet(&self, place: Place, env: &Environment<'_>) -> Result<(), Stop> {
        self.packets.set(self.packets.get() + 1);
        self.spend(1, place, env)
    }

    /// Pays for the start of another IB, and queries whether the job should continue.
    pub(super) fn jump(&self, ib: Ib, place: Place, env: &Environment<'_>) -> Result<(), Stop> {
        self.until_asked.set(0);
        self.spend(Self::JUMP + u64::from(ib.dwords), place, env)
    }

    /// Pays a cost, and periodically queries whether the job should continue.
    pub(super) fn spend(&self, cost: u64, place: Place, env: &Environment<'_>) -> Result<(), Stop> {
        let left = self.left.get().checked_sub(cost);
        self.left.set(left.ok_or(Stop::Endless { place, packets: self.packets.get() })?);
        match self.until_asked.get().checked_sub(cost) {
            Some(rest) => self.until_asked.set(rest),
            None if env.job.is_cancelled() => return Err(Stop::Cancelled { place }),
            None => self.until_asked.set(Self::ASK),
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use amdgpu_hw::GfxLevel;
    use amdgpu_hw::GpuVa;
    use amdgpu_packets::pm4;

    use super::super::tests::Rig;
    use super::*;

    #[test]
    fn a_budget_has_an_end_and_asks_on_the_way() {
        let (rig, budget) = (Rig::new(), Budget::new());
        let target = pm4::Target::gfx(GfxLevel::Gfx9).into();
        let place = Place { target, ib: Ib { va: GpuVa::NULL, dwords: 0 }, offset: 0, level: 1, packet: "NOP" };
        let env = rig.environment();
        budget.packet(place, &env).unwrap();
        (1..Budget::WHOLE / Budget::ASK).for_each(|_| budget.spend(Budget::ASK, place, &env).unwrap());
        assert_eq!(budget.spend(Budget::ASK, place, &env), Err(Stop::Endless { place, packets: 1 }));

        rig.cancelled.set(true);
        let budget = Budget::new();
        budget.spend(Budget::ASK, place, &env).unwrap();
        assert_eq!(budget.spend(1, place, &env), Err(Stop::Cancelled { place }));
    }
}
