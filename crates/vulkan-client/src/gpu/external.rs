//! Export and import of objects as descriptors.

use std::os::fd::{AsRawFd, FromRawFd, IntoRawFd, OwnedFd};

use ash::{prelude::VkResult, vk};

use super::{
    handle_type::HandleType,
    memory::Memory,
    sync::{Fence, Semaphore},
};

/// The extension is not there: what a driver without it would answer.
const ABSENT: vk::Result = vk::Result::ERROR_EXTENSION_NOT_PRESENT;

/// Takes the descriptor a driver made; -1 is a sync file of work that is already done.
pub(super) fn owned(fd: i32) -> Option<OwnedFd> {
    // SAFETY: the driver opened the descriptor for the caller, who is its only owner.
    (fd >= 0).then(|| unsafe { OwnedFd::from_raw_fd(fd) })
}

impl Memory<'_> {
    /// A new descriptor of this memory, which was allocated as exportable.
    ///
    /// # Errors
    ///
    /// The errors of vkGetMemoryFdKHR.
    pub(crate) fn export(&self, what: HandleType) -> VkResult<OwnedFd> {
        let functions = self.gpu.extensions.memory_fd.as_ref().ok_or(ABSENT)?;
        let info = vk::MemoryGetFdInfoKHR::default().memory(self.raw).handle_type(what.of_memory());
        // SAFETY: the handles live as long as their wrappers, which this function holds or borrows and what the call reads through
        // pointers is local (the premises of `gpu`).
        let fd = unsafe { functions.get_memory_fd(&info) }?;
        owned(fd).ok_or(vk::Result::ERROR_UNKNOWN)
    }
}

impl Semaphore<'_> {
    /// A descriptor of the semaphore, or of the work it stands for (`None`: that is done).
    ///
    /// # Errors
    ///
    /// The errors of vkGetSemaphoreFdKHR.
    pub(crate) fn export(&self, what: HandleType) -> VkResult<Option<OwnedFd>> {
        let functions = self.gpu.extensions.semaphore_fd.as_ref().ok_or(ABSENT)?;
        let info = vk::SemaphoreGetFdInfoKHR::default().semaphore(self.raw).handle_type(what.semaphore());
        // SAFETY: the handles live as long as their wrappers, which this function holds or borrows, no other call uses them at once and
        // what the call reads through pointers is local (the premises of `gpu`).
        unsafe { functions.get_semaphore_fd(&info) }.map(owned)
    }

    /// Makes this semaphore another name of the one behind the descriptor (once only, for a sync file).
    ///
    /// # Errors
    ///
    /// The errors of vkImportSemaphoreFdKHR.
    pub(crate) fn import(&self, what: HandleType, fd: OwnedFd) -> VkResult<()> {
        let functions = self.gpu.extensions.semaphore_fd.as_ref().ok_or(ABSENT)?;
        let flags = match what {
            HandleType::SyncFile => vk::SemaphoreImportFlags::TEMPORARY,
            HandleType::Opaque | HandleType::DmaBuf => vk::SemaphoreImportFlags::empty(),
        };
        let info = vk::ImportSemaphoreFdInfoKHR::default()
            .semaphore(self.raw)
            .handle_type(what.semaphore())
            .flags(flags)
            .fd(fd.as_raw_fd());
        // SAFETY: the handles live as long as their wrappers, which this function holds or borrows, no other call uses them at once and
        // what the call reads through pointers is local (the premises of `gpu`); no submitted work uses the semaphore yet.
        unsafe { functions.import_semaphore_fd(&info) }?;
        // The driver owns the descriptor now.
        let _: i32 = fd.into_raw_fd();
        Ok(())
    }
}

impl Fence<'_> {
    /// A descriptor of the fence, or of the work it stands for (`None`: that is done).
    ///
    /// # Errors
    ///
    /// The errors of vkGetFenceFdKHR.
    pub(crate) fn export(&self, what: HandleType) -> VkResult<Option<OwnedFd>> {
        let functions = self.gpu.extensions.fence_fd.as_ref().ok_or(ABSENT)?;
        let info = vk::FenceGetFdInfoKHR::default().fence(self.raw).handle_type(what.fence());
        // SAFETY: the handles live as long as their wrappers, which this function holds or borrows, no other call uses them at once and
        // what the call reads through pointers is local (the premises of `gpu`).
        unsafe { functions.get_fence_fd(&info) }.map(owned)
    }

    /// Makes this fence another name of the one behind the descriptor (once only, for a sync file).
    ///
    /// # Errors
    ///
    /// The errors of vkImportFenceFdKHR.
    pub(crate) fn import(&self, what: HandleType, fd: OwnedFd) -> VkResult<()> {
        let functions = self.gpu.extensions.fence_fd.as_ref().ok_or(ABSENT)?;
        let flags = match what {
            HandleType::SyncFile => vk::FenceImportFlags::TEMPORARY,
            HandleType::Opaque | HandleType::DmaBuf => vk::FenceImportFlags::empty(),
        };
        let info = vk::ImportFenceFdInfoKHR::default()
            .fence(self.raw)
            .handle_type(what.fence())
            .flags(flags)
            .fd(fd.as_raw_fd());
        // SAFETY: the handles live as long as their wrappers, which this function holds or borrows, no other call uses them at once and
        // what the call reads through pointers is local (the premises of `gpu`); no submitted work uses the fence.
        unsafe { functions.import_fence_fd(&info) }?;
        // The driver owns the descriptor now.
        let _: i32 = fd.into_raw_fd();
        Ok(())
    }
}

/// Takes a descriptor that arrived with a message.
pub(crate) fn received(fd: i32) -> OwnedFd {
    // SAFETY: the kernel opened it for the receiver of the message (unix(7), SCM_RIGHTS), who hands it over here once.
    unsafe { OwnedFd::from_raw_fd(fd) }
}
