//! Fences and semaphores: their sync objects, and the temporary ones after an import.

use amdgpu_winsys::winsys::{Device, Syncobj};
use parking_lot::Mutex;

use crate::border::Failure;

/// The sync object of a fence or a semaphore. After a temporary import there are two, and the temporary one is used.
#[derive(Debug)]
pub(crate) struct Payload {
    permanent: Mutex<Syncobj>,
    temporary: Mutex<Option<Syncobj>>,
}

impl Payload {
    /// Creates a sync object.
    ///
    /// # Errors
    ///
    /// The errors of the kernel.
    pub(crate) fn new(device: &Device, is_signalled: bool) -> Result<Self, Failure> {
        let permanent = Mutex::new(Syncobj::new(device, is_signalled)?);
        Ok(Self { permanent, temporary: Mutex::new(None) })
    }

    /// Returns the sync object in use.
    pub(crate) fn current(&self) -> Syncobj {
        let temporary = self.temporary.lock().clone();
        temporary.unwrap_or_else(|| self.permanent.lock().clone())
    }

    /// Replaces the sync object with an imported one, temporarily or permanently.
    pub(crate) fn import(&self, imported: Syncobj, is_temporary: bool) {
        // What it replaces is dropped without the lock.
        let _replaced = if is_temporary {
            self.temporary.lock().replace(imported)
        } else {
            let old = std::mem::replace(&mut *self.permanent.lock(), imported);
            self.temporary.lock().take();
            Some(old)
        };
    }

    /// Resets the signal, as for a fence reset or a wait for a binary semaphore. A temporary sync object is dropped, and the
    /// permanent one is used again.
    ///
    /// # Errors
    ///
    /// The errors of the kernel.
    pub(crate) fn consume(&self) -> Result<(), Failure> {
        let temporary = self.temporary.lock().take();
        if temporary.is_none() {
            self.current().reset()?;
        }
        Ok(())
    }

    /// Resets a fence. A temporary sync object is dropped, and the permanent one is reset.
    ///
    /// # Errors
    ///
    /// The errors of the kernel.
    pub(crate) fn reset(&self) -> Result<(), Failure> {
        let _dropped_without_the_lock = self.temporary.lock().take();
        Ok(self.current().reset()?)
    }

    /// Takes the sync object for a later wait, and replaces it with a new one for the next signal.
    ///
    /// # Errors
    ///
    /// The errors of the kernel.
    pub(crate) fn take(&self) -> Result<Syncobj, Failure> {
        if let Some(temporary) = self.temporary.lock().take() {
            return Ok(temporary);
        }
        let mut permanent = self.permanent.lock();
        let fresh = Syncobj::new(permanent.device(), false)?;
        Ok(std::mem::replace(&mut *permanent, fresh))
    }
}

/// A `VkFence`: the binary state of a sync object.
#[derive(Debug)]
pub(crate) struct Fence(pub(crate) Payload);

/// A `VkSemaphore`: the binary state of a sync object, or its timeline.
#[derive(Debug)]
pub(crate) struct Semaphore {
    /// The sync object.
    pub(crate) payload: Payload,
    /// `true` for a timeline semaphore.
    pub(crate) is_timeline: bool,
}
