//! Errors of device memory, with their Vulkan results.

use super::{AllocateError, ExternalHandleTypes, FactsError, OverCommit, Refusal, TypeMask, VkResult};
use crate::{
    uapi::Errno,
    vamgr::{GpuVa, VaError},
    winsys::{self, KernelError, UserMemoryError},
};

/// An error of the memory manager.
///
/// ```
/// use amdgpu_winsys::heaps::{AllocateInfo, ExternalHandleTypes, MemoryError, VkResult};
///
/// # let device = amdgpu_winsys::winsys::Device::new(amdgpu_sim::SimKernel::open(amdgpu_sim::profile("navi21").ok_or("no such chip")?))?;
/// # let manager = amdgpu_winsys::heaps::MemoryManager::new(&device, &amdgpu_winsys::heaps::TableOptions::default())?;
/// let memory = manager.allocate(&AllocateInfo::new(0, 4096))?;
/// let error = memory.flush(0, 64).unwrap_err();
/// assert_eq!(error, MemoryError::NotMapped { memory_type: 0 });
/// let handle_type = ExternalHandleTypes::DMA_BUF;
/// let error = memory.export(handle_type).unwrap_err();
/// assert_eq!(error, MemoryError::NotExportable { memory_type: 0, handle_type });
/// let error = manager.allocate(&AllocateInfo::new(0, u64::MAX)).unwrap_err();
/// assert_eq!(error.vk_result(), VkResult::OutOfDeviceMemory);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MemoryError {
    /// The values that the kernel reports contradict each other.
    #[error(transparent)]
    Facts(#[from] FactsError),

    /// The request is invalid.
    #[error(transparent)]
    Request(#[from] AllocateError),

    /// The admission policy refused the allocation. The kernel was not asked for the memory.
    #[error(transparent)]
    Refused(Box<Refusal>),

    /// The working set of a submission does not fit into memory at once.
    #[error(transparent)]
    DoesNotFit(#[from] OverCommit),

    /// No addresses are available for the allocation.
    #[error("no address for {size} bytes of memory type {memory_type}: {source}")]
    Address {
        /// The requested size in bytes.
        size: u64,
        /// Index of the memory type.
        memory_type: u32,
        /// `true` if a captured address was requested.
        replay: bool,
        /// The error of the VA manager.
        source: VaError,
    },

    /// The kernel could not bind the memory at the captured address.
    #[error("the captured address {at} is not available: {source}")]
    CapturedAddress {
        /// The requested address.
        at: GpuVa,
        /// The error of the kernel.
        source: KernelError,
    },

    /// The handle type is not supported, or several were given.
    #[error("unsupported handle type {handle_type:?}")]
    HandleType {
        /// The requested handle type.
        handle_type: ExternalHandleTypes,
    },

    /// The memory was not allocated for export, or not as this handle type.
    #[error("memory of type {memory_type} cannot be exported as {handle_type:?}")]
    NotExportable {
        /// Index of the memory type.
        memory_type: u32,
        /// The requested handle type.
        handle_type: ExternalHandleTypes,
    },

    /// The imported object is smaller than requested.
    #[error("an import of {size} bytes where {wanted} are needed")]
    TooSmall {
        /// Size of the object in bytes.
        size: u64,
        /// The requested minimum size in bytes.
        wanted: u64,
    },

    /// The imported object cannot have this memory type.
    #[error("an import as memory type {memory_type}, which can only be one of {types:?}")]
    WrongType {
        /// Index of the requested memory type.
        memory_type: u32,
        /// The memory types that are possible.
        types: TypeMask,
    },

    /// The host memory could not be shared with the GPU.
    #[error("host memory was not imported: {0}")]
    HostPointer(#[source] UserMemoryError),

    /// The memory cannot be placed at an address because it is already mapped at another.
    #[error("cannot be mapped at {at:#x}: it is mapped at another address")]
    MappedElsewhere {
        /// The requested CPU address.
        at: usize,
    },

    /// The memory cannot be unmapped because its mapping is in use.
    #[error("the mapping of memory of type {memory_type} is in use")]
    MappingInUse {
        /// Index of the memory type.
        memory_type: u32,
    },

    /// The memory to flush or to invalidate is not mapped.
    #[error("memory of type {memory_type} is not mapped")]
    NotMapped {
        /// Index of the memory type.
        memory_type: u32,
    },

    /// The range to flush or to invalidate is not within the memory, or its bounds are not multiples of
    /// [`NON_COHERENT_ATOM`](crate::heaps::NON_COHERENT_ATOM).
    #[error("{size} bytes at offset {offset} are no range of {memory} mapped bytes")]
    MappedRange {
        /// Offset of the range in bytes.
        offset: u64,
        /// Size of the range in bytes.
        size: u64,
        /// Size of the memory in bytes.
        memory: u64,
    },

    /// No addresses are available for a sparse range.
    #[error("no address for a sparse range: {0}")]
    SparseAddress(#[source] VaError),

    /// The sparse queue was dropped before it executed the submission.
    #[error("the sparse queue was dropped before it was done")]
    Abandoned,

    /// The operating system could not start a thread.
    #[error("cannot start the thread of a sparse queue: {reason}")]
    Thread {
        /// The message of the operating system.
        reason: String,
    },

    /// An error of the winsys.
    #[error(transparent)]
    Winsys(winsys::Error),
}

/// Each error of the winsys layer, of any operation.
impl<E: Into<winsys::Error>> From<E> for MemoryError {
    fn from(error: E) -> Self {
        Self::Winsys(error.into())
    }
}

impl MemoryError {
    /// Returns RADV's result for this error.
    ///
    /// | condition | result |
    /// |---|---|
    /// | no BO, no address, no binding, or no descriptor can be created | `OUT_OF_DEVICE_MEMORY` |
    /// | the captured address is not free | `INVALID_OPAQUE_CAPTURE_ADDRESS` |
    /// | the descriptor to import is invalid, too small, or of another type | `INVALID_EXTERNAL_HANDLE` |
    /// | the host memory to import is misaligned (the kernel's EINVAL) | `INVALID_EXTERNAL_HANDLE` |
    /// | the kernel refuses the host memory for another reason | `UNKNOWN` |
    /// | the memory cannot be mapped or unmapped as requested, or its addresses cannot be reserved | `MEMORY_MAP_FAILED` |
    /// | the size is 0, so nothing is allocated | `SUCCESS` |
    /// | sparse memory is not supported | `FEATURE_NOT_PRESENT` |
    /// | no thread or no host memory | `OUT_OF_HOST_MEMORY` |
    /// | the GPU lost the work | `DEVICE_LOST` |
    /// | the caller broke a rule of Vulkan, or the kernel reported contradictory values | `UNKNOWN` |
    ///
    /// RADV does not check the size or type of an import, and reports success if it could not reserve addresses. It reports a
    /// refused binding as `UNKNOWN` in Mesa 25.0.7 and as `OUT_OF_DEVICE_MEMORY` in 26.2.
    ///
    /// Source: Mesa 25.0.7 `radv_amdgpu_bo.c`, `radv_amdgpu_winsys_bo_create`, `_from_ptr`, `_from_fd` and `_map`;
    /// `radv_device_memory.c`, `radv_alloc_memory`; `radv_device.c`, `radv_GetMemoryFdKHR`.
    pub fn vk_result(&self) -> VkResult {
        match self {
            Self::Request(error) => error.vk_result(),
            Self::Address { replay: true, .. } | Self::CapturedAddress { .. } => VkResult::InvalidOpaqueCaptureAddress,
            Self::Address { source: VaError::HostMemory { .. }, .. }
            | Self::SparseAddress(VaError::HostMemory { .. })
            | Self::Thread { .. } => VkResult::OutOfHostMemory,
            Self::Refused(_)
            | Self::DoesNotFit(_)
            | Self::Address { .. }
            | Self::SparseAddress(_)
            | Self::NotExportable { .. } => VkResult::OutOfDeviceMemory,
            Self::HandleType { .. }
            | Self::TooSmall { .. }
            | Self::WrongType { .. }
            | Self::HostPointer(UserMemoryError::Misaligned(_)) => VkResult::InvalidExternalHandle,
            Self::HostPointer(error) if error.errno() == Some(Errno::EINVAL) => VkResult::InvalidExternalHandle,
            Self::MappedElsewhere { .. } | Self::MappingInUse { .. } => VkResult::MemoryMapFailed,
            Self::Abandoned => VkResult::DeviceLost,
            Self::Winsys(error) => error.vk_result(),
            Self::Facts(_) | Self::NotMapped { .. } | Self::MappedRange { .. } | Self::HostPointer(_) => {
                VkResult::Unknown
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::heaps::{Budgets, Limit, Pool};
    use crate::uapi::{Argument, GemCreateFlags, GemDomain, PrimeHandle};
    use crate::vamgr::VaWindow;
    use crate::winsys::{BrokenBoRule, Misaligned, Subject, Unmappable};

    /// Matches without a wildcard, so that a new variant does not compile until it is listed here, and then in the table below.
    fn position(error: &MemoryError) -> usize {
        match error {
            MemoryError::Facts(_) => 0,
            MemoryError::Request(_) => 1,
            MemoryError::Address { .. } => 2,
            MemoryError::CapturedAddress { .. } => 3,
            MemoryError::HandleType { .. } => 4,
            MemoryError::NotExportable { .. } => 5,
            MemoryError::TooSmall { .. } => 6,
            MemoryError::WrongType { .. } => 7,
            MemoryError::HostPointer(_) => 8,
            MemoryError::MappedElsewhere { .. } => 9,
            MemoryError::NotMapped { .. } => 10,
            MemoryError::MappedRange { .. } => 11,
            MemoryError::SparseAddress(_) => 13,
            MemoryError::Abandoned => 14,
            MemoryError::Thread { .. } => 15,
            MemoryError::Winsys(_) => 16,
            MemoryError::Refused(_) => 17,
            MemoryError::DoesNotFit(_) => 12,
            MemoryError::MappingInUse { .. } => 18,
        }
    }

    const VARIANTS: usize = 19;

    fn request(errno: Errno, request: &'static str) -> winsys::Error {
        KernelError::of_bo(request, 1, errno).into()
    }

    fn table() -> Vec<(MemoryError, VkResult)> {
        use VkResult::*;
        let handle_type = ExternalHandleTypes::DMA_BUF;
        let va = VaError::ZeroSize;
        let no_room = VaError::HostMemory { window: VaWindow::High, live: 1 };
        let at = GpuVa::NULL;
        let loss = winsys::Loss {
            reason: winsys::LossReason::Reset,
            blame: winsys::Blame::Unknown,
            vram_lost: false,
            is_resetting: false,
        };
        let (domains, flags, errno) = (GemDomain::VRAM, GemCreateFlags::empty(), Errno::ENOMEM);
        let bind = KernelError::of_range("AMDGPU_GEM_VA", 1, at, 4096, errno);
        let address = |replay| MemoryError::Address { size: 1, memory_type: 0, replay, source: va };
        let misaligned = |what| Misaligned { what, value: 1, alignment: 4096 };
        let userptr = |errno| UserMemoryError::Kernel(KernelError::new("AMDGPU_GEM_USERPTR", errno));
        let new_bo = Subject::NewBo { size: 1, alignment: 0, domains, flags };
        let rule = winsys::BoRuleError::ZeroSize;
        let (limit, heaps) = (Limit::Budget, Budgets::NONE);
        let refusal = Refusal { size: 2, heap: 0, usage: 0, limit, most: 1, heaps };
        vec![
            (FactsError::NoMemory.into(), Unknown),
            (AllocateError::ZeroSize { memory_type: 0 }.into(), Success),
            (AllocateError::NoSuchType { memory_type: 0, count: 0 }.into(), Unknown),
            (AllocateError::BeyondHeap { size: 2, heap: 0, heap_size: 1 }.into(), OutOfDeviceMemory),
            (address(false), OutOfDeviceMemory),
            (address(true), InvalidOpaqueCaptureAddress),
            (MemoryError::CapturedAddress { at, source: bind }, InvalidOpaqueCaptureAddress),
            (MemoryError::HandleType { handle_type }, InvalidExternalHandle),
            (MemoryError::NotExportable { memory_type: 0, handle_type }, OutOfDeviceMemory),
            (MemoryError::TooSmall { size: 1, wanted: 2 }, InvalidExternalHandle),
            (MemoryError::WrongType { memory_type: 0, types: TypeMask::NONE }, InvalidExternalHandle),
            (MemoryError::HostPointer(misaligned("user memory address").into()), InvalidExternalHandle),
            (MemoryError::HostPointer(userptr(Errno::EINVAL)), InvalidExternalHandle),
            (MemoryError::HostPointer(userptr(Errno::EPERM)), Unknown),
            (MemoryError::MappedElsewhere { at: 0 }, MemoryMapFailed),
            (MemoryError::MappingInUse { memory_type: 0 }, MemoryMapFailed),
            (MemoryError::NotMapped { memory_type: 0 }, Unknown),
            (MemoryError::MappedRange { offset: 1, size: 1, memory: 1 }, Unknown),
            (MemoryError::Refused(Box::new(refusal)), OutOfDeviceMemory),
            (MemoryError::DoesNotFit(OverCommit { pool: Pool::Vram, needed: 2, usable: 1 }), OutOfDeviceMemory),
            (MemoryError::SparseAddress(va), OutOfDeviceMemory),
            (MemoryError::SparseAddress(no_room), OutOfHostMemory),
            (MemoryError::Address { size: 1, memory_type: 0, replay: false, source: no_room }, OutOfHostMemory),
            (MemoryError::Abandoned, DeviceLost),
            (MemoryError::Thread { reason: String::new() }, OutOfHostMemory),
            (KernelError { request: "AMDGPU_GEM_CREATE", subject: new_bo, errno }.into(), OutOfDeviceMemory),
            (BrokenBoRule { size: 1, domains, flags, rule }.into(), OutOfDeviceMemory),
            (bind.into(), OutOfDeviceMemory),
            (request(errno, PrimeHandle::NAME).into(), OutOfDeviceMemory),
            (winsys::Error::DeviceLost { request: "AMDGPU_CS", context: 1, errno, loss }.into(), DeviceLost),
            (Unmappable::NoCpuAccess { handle: 1 }.into(), MemoryMapFailed),
            (Unmappable::ForeignMemory { handle: 1 }.into(), MemoryMapFailed),
            (misaligned("placed address").into(), MemoryMapFailed),
            (request(errno, "mmap").into(), MemoryMapFailed),
            (request(errno, "AMDGPU_GEM_MMAP").into(), MemoryMapFailed),
            (KernelError::of_descriptor("PRIME_FD_TO_HANDLE", 3, errno).into(), InvalidExternalHandle),
            (request(errno, "AMDGPU_GEM_OP").into(), Unknown),
            (misaligned("offset").into(), Unknown),
        ]
    }

    #[test]
    fn every_error_is_radvs_result() {
        let mut seen = [false; VARIANTS];
        for (error, result) in table() {
            assert_eq!(error.vk_result(), result, "{error:?}");
            seen[position(&error)] = true;
        }
        assert_eq!(seen, [true; VARIANTS], "the table has every variant");
    }

    #[test]
    fn every_message_is_one_line_without_capital_or_period() {
        for (error, _) in table() {
            let text = error.to_string();
            let first = text.chars().next().unwrap_or('A');
            let known = ["AMDGPU_", "BO ", "PRIME_"].iter().any(|name| text.starts_with(name));
            assert!(!text.contains('\n') && !text.ends_with('.') && (!first.is_uppercase() || known), "{text:?}");
        }
    }
}
