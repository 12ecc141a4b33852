//! A kernel that tells other numbers than the simulator's.

use std::sync::Arc;

use amdgpu_layers::{Answered, Ioctl, Layer};
use amdgpu_winsys::uapi::query;
use parking_lot::Mutex;

/// Usage of VRAM, visible VRAM and GTT as MEMORY is to tell them; nothing: the truth.
pub(crate) type Told = Arc<Mutex<Option<[u64; 3]>>>;

pub(crate) struct Liar(pub(crate) Told);

/// Offset of `heap_usage` of each pool in the answer.
const USAGE: [usize; 3] = [16, 48, 80];

impl Layer for Liar {
    fn ioctl<'c>(&self, call: Ioctl<'c>) -> Answered<'c> {
        let is_memory = call.query().is_some_and(|info| info.query == query::MEMORY);
        let mut answered = call.forward();
        if let (true, Some(told)) = (is_memory, *self.0.lock()) {
            for (offset, value) in USAGE.into_iter().zip(told) {
                answered.patch_info(offset, &value.to_ne_bytes());
            }
        }
        answered
    }
}
