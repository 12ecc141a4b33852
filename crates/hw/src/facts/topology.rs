//! The queues of the graphics and compute engines. The kernel has no query for them, so they come from tables by generation.

use crate::{Chip, GfxLevel};

/// A hardware queue of a compute engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MecQueue {
    /// Index of the compute engine (MEC).
    pub mec: u8,
    /// Index of the pipe in the engine; pipes are also called ACEs.
    pub pipe: u8,
    /// Index of the queue in the pipe.
    pub queue: u8,
}

/// The compute engines (MECs) of a GPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mecs {
    /// Number of compute engines (MECs).
    pub count: u8,
    /// Number of pipes in each engine.
    pub pipes: u8,
    /// Number of queues in each pipe.
    pub queues: u8,
    /// `true` if the kernel distributes its queues over all pipes; otherwise it uses the first pipes.
    spread: bool,
}

/// The maximum number of hardware queues that the kernel reserves, unless `num_kcq` sets another number.
const KERNEL_QUEUES: u8 = 8;

impl Mecs {
    /// Index of the kernel's compute ring with high priority.
    pub const HIGH_PRIORITY_RING: u8 = 0;

    /// Returns the number of hardware queues of all engines.
    pub fn hardware_queues(&self) -> u32 {
        u32::from(self.count) * u32::from(self.pipes) * u32::from(self.queues)
    }

    /// Returns the hardware queues that the kernel reserves, in the order of its rings. All are on the first engine, and the first
    /// one has high priority.
    ///
    /// Source: Linux 6.12 `amdgpu_gfx.c`, `amdgpu_gfx_compute_queue_acquire` and `amdgpu_gfx_is_high_priority_compute_queue`.
    pub fn kernel_queues(&self) -> impl ExactSizeIterator<Item = MecQueue> + use<> {
        let Self { pipes, queues, spread, .. } = *self;
        let count = KERNEL_QUEUES.min(pipes.saturating_mul(queues));
        (0..count).map(move |ring| {
            let (pipe, queue) = if spread { (ring % pipes, ring / pipes) } else { (ring / queues, ring % queues) };
            MecQueue { mec: 0, pipe, queue }
        })
    }
}

/// The hardware queues of a GPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Topology {
    /// Number of pipes of the graphics engine, with one queue each. If there are two, only the first is available to user space.
    pub me_pipes: u8,
    /// The compute engines; `None` on GFX6, which has two compute rings on the graphics engine instead.
    pub mecs: Option<Mecs>,
}

impl Topology {
    /// Returns the hardware queues of a chip.
    ///
    /// Source: Linux 6.12 `gfx_v6_0.c` to `gfx_v12_0.c`; `amdgpu_gfx.c`, `amdgpu_gfx_is_compute_multipipe_capable`, which has an
    /// exception for Polaris 11.
    pub const fn of(level: GfxLevel, chip: Chip) -> Self {
        let (count, pipes, queues) = match level {
            GfxLevel::Gfx6 => return Self { me_pipes: 1, mecs: None },
            GfxLevel::Gfx7 => (if matches!(chip, Chip::CHIP_KAVERI) { 2 } else { 1 }, 4, 8),
            GfxLevel::Gfx8 => (if matches!(chip, Chip::CHIP_ICELAND | Chip::CHIP_STONEY) { 1 } else { 2 }, 4, 8),
            GfxLevel::Gfx9 | GfxLevel::Gfx10 => (2, 4, 8),
            GfxLevel::Gfx10_3 => (2, 4, 4),
            GfxLevel::Gfx11 | GfxLevel::Gfx11_5 => (1, 4, 4),
            GfxLevel::Gfx12 => (1, 2, 4),
        };
        let old = matches!(level, GfxLevel::Gfx7 | GfxLevel::Gfx8);
        let spread = !matches!(chip, Chip::CHIP_POLARIS11) && (!old || count > 1);
        let me_pipes = if matches!(level, GfxLevel::Gfx10_3) { 2 } else { 1 };
        Self { me_pipes, mecs: Some(Mecs { count, pipes, queues, spread }) }
    }

    /// Returns the number of compute rings that the kernel provides.
    pub fn kernel_compute_queues(&self) -> u32 {
        self.mecs.map_or(2, |mecs| mecs.kernel_queues().len() as u32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernels_queues_are_distinct_and_in_the_hardware() {
        for level in GfxLevel::ALL {
            for chip in
                [Chip::CHIP_KAVERI, Chip::CHIP_STONEY, Chip::CHIP_POLARIS11, Chip::CHIP_VEGA10, Chip::CHIP_GFX1201]
            {
                let Some(mecs) = Topology::of(level, chip).mecs else { continue };
                let queues: Vec<_> = mecs.kernel_queues().collect();
                for (at, queue) in queues.iter().enumerate() {
                    assert!(
                        queue.mec < mecs.count && queue.pipe < mecs.pipes && queue.queue < mecs.queues,
                        "{queue:?}"
                    );
                    assert!(!queues[..at].contains(queue), "{level} {queue:?}");
                }
                assert_eq!(queues.len(), 8, "{level}");
            }
        }
    }

    #[test]
    fn polaris_11_packs_its_queues_where_other_chips_with_two_engines_spread_them() {
        let pipes = |chip| {
            let mecs = Topology::of(GfxLevel::Gfx8, chip).mecs.unwrap();
            mecs.kernel_queues().map(|queue| queue.pipe).collect::<Vec<_>>()
        };
        assert_eq!(pipes(Chip::CHIP_POLARIS11), [0; 8]);
        assert_eq!(pipes(Chip::CHIP_STONEY), [0; 8]);
        assert_eq!(pipes(Chip::CHIP_POLARIS10), [0, 1, 2, 3, 0, 1, 2, 3]);
    }
}
