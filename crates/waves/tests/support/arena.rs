//! A piece of memory with addresses of its own.

use std::sync::Mutex;

use amdgpu_waves::{Access, Memory, PageFault};

/// The first address; its high half is added on chips that keep shader data in the upper half of the address space.
pub(crate) const START: u64 = 0x1000_0000;

/// One range of memory, mapped at [`START`] with any high half.
pub(crate) struct Arena {
    bytes: Mutex<Vec<u8>>,
}

impl Arena {
    pub(crate) fn new() -> Self {
        Self { bytes: Mutex::default() }
    }

    /// Adds data, aligned to 256 bytes, with as much room behind it as it takes up; returns its address.
    pub(crate) fn add(&self, data: &[u8]) -> u64 {
        let mut bytes = self.bytes.lock().unwrap();
        let at = bytes.len();
        bytes.extend_from_slice(data);
        let len = (bytes.len() + 256).next_multiple_of(256);
        bytes.resize(len, 0);
        START + at as u64
    }

    /// Adds data at an aligned address.
    pub(crate) fn add_aligned(&self, data: &[u8], align: u64) -> u64 {
        {
            let mut bytes = self.bytes.lock().unwrap();
            let len = bytes.len().next_multiple_of(usize::try_from(align).unwrap());
            bytes.resize(len, 0);
        }
        self.add(data)
    }

    pub(crate) fn write(&self, va: u64, data: &[u8]) {
        self.store(va, data).unwrap();
    }

    pub(crate) fn read(&self, va: u64, len: usize) -> Vec<u8> {
        let mut out = vec![0; len];
        self.load(va, &mut out).unwrap();
        out
    }

    fn with<T>(
        &self,
        va: u64,
        len: usize,
        access: Access,
        action: impl FnOnce(&mut [u8]) -> T,
    ) -> Result<T, PageFault> {
        let mut bytes = self.bytes.lock().unwrap();
        let fault = PageFault { va, access };
        let start = usize::try_from((va & 0xffff_ffff).checked_sub(START).ok_or(fault)?).unwrap();
        if !matches!(va >> 32, 0 | 0x8000) {
            return Err(fault);
        }
        Ok(action(bytes.get_mut(start..start + len).ok_or(fault)?))
    }
}

impl Memory for Arena {
    fn load(&self, va: u64, out: &mut [u8]) -> Result<(), PageFault> {
        self.with(va, out.len(), Access::Load, |bytes| out.copy_from_slice(bytes))
    }

    fn store(&self, va: u64, data: &[u8]) -> Result<(), PageFault> {
        self.with(va, data.len(), Access::Store, |bytes| bytes.copy_from_slice(data))
    }

    fn atomic(&self, va: u64, len: u8, change: &mut dyn FnMut(u64) -> u64) -> Result<u64, PageFault> {
        let len = usize::from(len);
        self.with(va, len, Access::Store, |bytes| {
            let mut word = [0; 8];
            word[..len].copy_from_slice(bytes);
            let old = u64::from_le_bytes(word);
            bytes.copy_from_slice(&change(old).to_le_bytes()[..len]);
            old
        })
    }
}
