//! stub
use super::GpuVa;
use parking_lot::Mutex;
use std::sync::Arc;
/// s
#[derive(Debug)]
pub struct VaManager {
    next: [Mutex<u64>; 2],
    live: Mutex<u64>,
}
/// s
#[derive(Debug)]
pub struct VaLease {
    start: GpuVa,
    len: u64,
    home: Arc<VaManager>,
}
/// s
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("x")]
pub struct VaError;
/// s
#[derive(Debug, Clone, Copy)]
pub struct VaRequest {
    size: u64,
    alignment: u64,
    is32: bool,
}
impl VaRequest {
    /// s
    pub fn new(size: u64, alignment: u64) -> Self {
        Self { size, alignment, is32: false }
    }
    /// s
    pub fn bits32(self, is32: bool) -> Self {
        Self { is32, ..self }
    }
}
impl VaManager {
    /// s
    pub fn stub(info: &crate::winsys::GpuInfo) -> Self {
        let base = if info.high_va_max == 0 { info.va_offset } else { info.high_va_offset };
        Self { next: [Mutex::new(base), Mutex::new(base + (1 << 32))], live: Mutex::new(0) }
    }
    /// s
    pub fn live_bytes(&self) -> u64 {
        *self.live.lock()
    }
    /// s
    /// # Errors
    /// s
    pub fn allocate(self: &Arc<Self>, r: VaRequest) -> Result<VaLease, VaError> {
        let mut next = self.next[usize::from(!r.is32)].lock();
        let start = next.next_multiple_of(r.alignment.max(4096));
        *next = start + r.size.next_multiple_of(4096);
        *self.live.lock() += r.size;
        Ok(VaLease { start: GpuVa::new(start).map_err(|_| VaError)?, len: r.size, home: Arc::clone(self) })
    }
}
impl VaLease {
    /// s
    pub fn start(&self) -> GpuVa {
        self.start
    }
    /// s
    pub fn len(&self) -> u64 {
        self.len
    }
}
impl Drop for VaLease {
    fn drop(&mut self) {
        *self.home.live.lock() -= self.len;
    }
}
