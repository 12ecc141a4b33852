//! Kinds of descriptors.

use ash::vk;

/// Kind of descriptor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HandleType {
    /// Means something to the same driver only.
    Opaque,
    /// A dma-buf: memory any driver understands.
    DmaBuf,
    /// A sync file: the fence of work already submitted.
    SyncFile,
}

impl HandleType {
    pub(crate) const fn of_memory(self) -> vk::ExternalMemoryHandleTypeFlags {
        match self {
            Self::Opaque | Self::SyncFile => vk::ExternalMemoryHandleTypeFlags::OPAQUE_FD,
            Self::DmaBuf => vk::ExternalMemoryHandleTypeFlags::DMA_BUF_EXT,
        }
    }

    pub(super) const fn semaphore(self) -> vk::ExternalSemaphoreHandleTypeFlags {
        match self {
            Self::SyncFile => vk::ExternalSemaphoreHandleTypeFlags::SYNC_FD,
            Self::Opaque | Self::DmaBuf => vk::ExternalSemaphoreHandleTypeFlags::OPAQUE_FD,
        }
    }

    pub(super) const fn fence(self) -> vk::ExternalFenceHandleTypeFlags {
        match self {
            Self::SyncFile => vk::ExternalFenceHandleTypeFlags::SYNC_FD,
            Self::Opaque | Self::DmaBuf => vk::ExternalFenceHandleTypeFlags::OPAQUE_FD,
        }
    }
}
