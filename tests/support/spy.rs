//! A layer that shows every call to a test before it is made, and holds no lock meanwhile: the test may keep it waiting.
#![allow(dead_code, reason = "each test binary uses a part of it")]

use std::sync::Arc;

use amdgpu_layers::{Answered, Chunk, Forward, Ioctl, Layer};
use amdgpu_sim::SimKernel;
use amdgpu_winsys::uapi::{Argument, Request};
use parking_lot::RwLock;

/// A request as it goes to the kernel.
#[derive(Clone, Debug)]
pub(crate) struct Seen {
    pub(crate) request: Request,
    /// The argument's dwords; a rest that is none does not count.
    pub(crate) argument: Vec<u32>,
    /// The chunks of a submission.
    pub(crate) chunks: Vec<Chunk>,
}

impl Seen {
    /// Returns `true` if it is this request, whatever size it is sent with.
    pub(crate) fn is<A: Argument>(&self) -> bool {
        (self.request.kind(), self.request.number()) == (A::REQUEST.kind(), A::REQUEST.number())
    }

    /// Handles and priorities of the BOs that a submission carries.
    pub(crate) fn bos(&self) -> Vec<(u32, u32)> {
        let entries = self.chunks.iter().flat_map(|chunk| &chunk.bos);
        entries.map(|entry| (entry.bo_handle, entry.bo_priority)).collect()
    }

    /// The chunks of one kind.
    pub(crate) fn chunks_of(&self, id: u32) -> impl Iterator<Item = &[u32]> {
        self.chunks.iter().filter(move |chunk| chunk.id == id).map(|chunk| chunk.payload.as_slice())
    }
}

type Hook = Arc<dyn Fn(&Seen) + Send + Sync>;

/// A hook that every request passes.
#[derive(Default)]
pub(crate) struct Spy {
    hook: RwLock<Option<Hook>>,
}

impl Spy {
    /// Puts a hook before the simulator, which shows requests to nothing yet.
    pub(crate) fn on(inner: SimKernel) -> Arc<Forward<SimKernel, Self>> {
        Arc::new(Self::default().over(inner))
    }

    /// Shows every request to `hook` from now on.
    pub(crate) fn watch(&self, hook: impl Fn(&Seen) + Send + Sync + 'static) {
        *self.hook.write() = Some(Arc::new(hook));
    }

    /// Shows requests to nothing any more. One that is being shown stays where it is.
    pub(crate) fn look_away(&self) {
        *self.hook.write() = None;
    }
}

impl Layer for Spy {
    fn ioctl<'c>(&self, call: Ioctl<'c>) -> Answered<'c> {
        let hook = self.hook.read().clone();
        if let Some(hook) = hook {
            let argument = call.bytes().as_chunks().0.iter().map(|bytes| u32::from_ne_bytes(*bytes)).collect();
            hook(&Seen { request: call.request(), argument, chunks: call.chunks() });
        }
        call.forward()
    }
}
