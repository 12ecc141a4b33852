//! The memory that a user queue accesses: the mappings of its file at each access, and the slots of all fences.

use std::sync::Arc;

use amdgpu_hw::GpuVa;
use parking_lot::Mutex;
use zerocopy::IntoBytes as _;

use crate::{
    gpu::{Access, Memory, PageFault},
    kernel::{
        mm::{bo::Bo, space::Space, vm::Vm},
        userq::slots::Slots,
    },
};

/// The number of bytes between the last mappable address and the slots (`AMDGPU_VA_RESERVED_TRAP_SIZE`).
const TRAP: u64 = 0x1_0000;

/// The memory that a user queue accesses.
#[derive(Clone, Debug)]
pub(crate) struct View {
    vm: Arc<Mutex<Vm>>,
    slots: Arc<Slots>,
    window: u64,
}

impl View {
    /// Creates the view of a file's queues.
    pub(crate) fn new(vm: &Arc<Mutex<Vm>>, slots: &Arc<Slots>) -> Self {
        let window = Self::window(&vm.lock());
        Self { vm: Arc::clone(vm), slots: Arc::clone(slots), window }
    }

    /// Returns the first address of the slots, with 48 bits.
    ///
    /// Source: Linux 6.12 `amdgpu_vm.h`, `AMDGPU_VA_RESERVED_SEQ64_START`.
    pub(crate) const fn window(vm: &Vm) -> u64 {
        vm.end() + TRAP
    }

    /// Returns the BO that is bound at an address now.
    pub(super) fn bo_at(&self, va: u64) -> Option<Arc<Bo>> {
        self.vm.lock().bound_at(va, 1, true).cloned()
    }

    /// Returns the BOs of the address space.
    pub(super) fn bos(&self) -> Vec<Arc<Bo>> {
        self.vm.lock().known()
    }

    /// Returns the current mappings.
    fn space(&self) -> Space {
        let table = self.vm.lock().snapshot();
        Space::new(table, None)
    }

    /// Reads a qword.
    pub(crate) fn read_u64(&self, va: GpuVa) -> Result<u64, PageFault> {
        let mut bytes = [0; 8];
        self.read(va, &mut bytes)?;
        Ok(u64::from_le_bytes(bytes))
    }
}

impl Memory for View {
    fn read(&self, va: GpuVa, out: &mut [u8]) -> Result<(), PageFault> {
        match va.low_48_bits().checked_sub(self.window) {
            Some(offset) if self.slots.read(offset, out) => Ok(()),
            _ => self.space().read(va, out),
        }
    }

    fn read_lanes(&self, addresses: &[u64; 64], lanes: u64, out: &mut [u32; 64]) -> Result<(), PageFault> {
        self.space().read_lanes(addresses, lanes, out)
    }

    fn write_lanes(&self, addresses: &[u64; 64], lanes: u64, data: &[u32; 64]) -> Result<(), PageFault> {
        self.space().write_lanes(addresses, lanes, data)
    }

    fn read_elements(&self, addresses: &[u64], bytes: usize, out: &mut [u8]) -> Result<(), PageFault> {
        self.space().read_elements(addresses, bytes, out)
    }

    fn write_elements(&self, addresses: &[u64], bytes: usize, data: &[u8]) -> Result<(), PageFault> {
        self.space().write_elements(addresses, bytes, data)
    }

    fn update(&self, va: GpuVa, bytes: u8, change: &mut dyn FnMut(u64) -> u64) -> Result<u64, PageFault> {
        self.space().update(va, bytes, change)
    }

    fn write(&self, va: GpuVa, data: &[u8]) -> Result<(), PageFault> {
        self.space().write(va, data)
    }

    fn copy(&self, to: GpuVa, from: GpuVa, len: u64) -> Result<(), PageFault> {
        self.space().copy(to, from, len)
    }

    fn fill(&self, to: GpuVa, pattern: u32, len: u64) -> Result<(), PageFault> {
        self.space().fill(to, pattern, len)
    }
}

/// A view in which the packets of the ring keep their first contents, including packets that wrap around its end.
pub(super) struct Overlay<'o> {
    pub(super) view: &'o View,
    /// The address of the first packet.
    pub(super) va: GpuVa,
    pub(super) dwords: &'o [u32],
}

impl Memory for Overlay<'_> {
    fn read(&self, va: GpuVa, out: &mut [u8]) -> Result<(), PageFault> {
        let kept = self.dwords.as_bytes();
        if va == self.va && out.len() == kept.len() {
            out.copy_from_slice(kept);
            return Ok(());
        }
        self.view.read(va, out)
    }

    fn read_lanes(&self, addresses: &[u64; 64], lanes: u64, out: &mut [u32; 64]) -> Result<(), PageFault> {
        self.view.read_lanes(addresses, lanes, out)
    }

    fn write_lanes(&self, addresses: &[u64; 64], lanes: u64, data: &[u32; 64]) -> Result<(), PageFault> {
        self.view.write_lanes(addresses, lanes, data)
    }

    fn read_elements(&self, addresses: &[u64], bytes: usize, out: &mut [u8]) -> Result<(), PageFault> {
        self.view.read_elements(addresses, bytes, out)
    }

    fn write_elements(&self, addresses: &[u64], bytes: usize, data: &[u8]) -> Result<(), PageFault> {
        self.view.write_elements(addresses, bytes, data)
    }

    fn update(&self, va: GpuVa, bytes: u8, change: &mut dyn FnMut(u64) -> u64) -> Result<u64, PageFault> {
        self.view.update(va, bytes, change)
    }

    fn write(&self, va: GpuVa, data: &[u8]) -> Result<(), PageFault> {
        self.view.write(va, data)
    }

    fn copy(&self, to: GpuVa, from: GpuVa, len: u64) -> Result<(), PageFault> {
        self.view.copy(to, from, len)
    }

    fn fill(&self, to: GpuVa, pattern: u32, len: u64) -> Result<(), PageFault> {
        self.view.fill(to, pattern, len)
    }
}

/// The fault of a ring's packets that cannot be fetched.
pub(super) const fn as_fetch(fault: PageFault) -> PageFault {
    PageFault { access: Access::Fetch, ..fault }
}
