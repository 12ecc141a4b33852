//! stub
use super::GpuVa;
use std::sync::Arc;
/// s
#[derive(Debug)]
pub struct VaManager;
/// s
#[derive(Debug)]
pub struct VaLease {
    start: GpuVa,
    len: u64,
    _home: Arc<VaManager>,
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
}
impl VaRequest {
    /// s
    pub fn new(size: u64, alignment: u64) -> Self {
        Self { size, alignment }
    }
}
impl VaManager {
    /// s
    /// # Errors
    /// s
    pub fn allocate(self: &Arc<Self>, r: VaRequest) -> Result<VaLease, VaError> {
        Ok(VaLease { start: GpuVa::from_48_bits(r.alignment), len: r.size, _home: Arc::clone(self) })
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
