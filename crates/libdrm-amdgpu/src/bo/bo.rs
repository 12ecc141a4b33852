//! The record of a BO.

use std::sync::atomic::{
    AtomicI32, AtomicU32,
    Ordering::{AcqRel, Acquire, Relaxed, Release},
};

use amdgpu_winsys::uapi::GemClose;
use parking_lot::{Mutex, MutexGuard};

use super::mapping::CpuMapping;
use crate::device::{Count, Device};

/// A BO. Its first fields are where libdrm has them: libdrm's own tests take back references by counting down themselves.
#[repr(C)]
pub(crate) struct Bo {
    references: AtomicI32,
    device: Count,
    size: u64,
    handle: u32,
    /// The global name; 0 if it has none.
    name: AtomicU32,
    mapping: Mutex<CpuMapping>,
}

const _: () = {
    assert!(std::mem::offset_of!(Bo, device) == 8);
    assert!(std::mem::offset_of!(Bo, size) == 16);
    assert!(std::mem::offset_of!(Bo, handle) == 24);
    assert!(std::mem::offset_of!(Bo, name) == 28);
};

impl Bo {
    pub(super) fn new(device: Count, size: u64, handle: u32) -> Self {
        Self { references: AtomicI32::new(1), device, size, handle, name: AtomicU32::new(0), mapping: Mutex::default() }
    }

    pub(crate) fn device(&self) -> &Device {
        &self.device
    }

    pub(crate) fn handle(&self) -> u32 {
        self.handle
    }

    pub(crate) fn size(&self) -> u64 {
        self.size
    }

    pub(super) fn name(&self) -> u32 {
        self.name.load(Acquire)
    }

    pub(super) fn set_name(&self, name: u32) {
        self.name.store(name, Release);
    }

    pub(super) fn reference(&self) {
        self.references.fetch_add(1, Relaxed);
    }

    /// Takes a reference back. Returns `true` if it was the last.
    pub(super) fn unreference(&self) -> bool {
        self.references.fetch_sub(1, AcqRel) == 1
    }

    pub(crate) fn references(&self) -> i32 {
        self.references.load(Relaxed)
    }

    pub(crate) fn mapping(&self) -> MutexGuard<'_, CpuMapping> {
        self.mapping.lock()
    }

    /// Ends the CPU mapping and closes the handle. Nobody is told whether the kernel agrees.
    pub(super) fn close(&self) {
        self.mapping().end();
        if let Ok(kernel) = self.device.kernel() {
            let _ = kernel.plain(&mut GemClose { handle: self.handle, pad: 0 });
        }
        if let Some(faults) = &self.device.faults {
            faults.closed(self.handle);
        }
    }
}
