//! Errors of device memory, with their Vulkan results.

pub use self::operations::{
    AllocateMemoryError, CreateManagerError, ExportImageError, ExportMemoryError, FdTypesError, FlushError,
    ImportFault, ImportFdError, ImportHostPointerError, MapPlacedError, SparseQueueError, SparseRangeError, UnmapError,
    UnsupportedHandleType, WorkingSetError,
};
use super::VkResult;
use crate::{
    uapi::Errno,
    vamgr::VaError,
    winsys::{self, UserMemoryError},
};

mod operations;

/// The error of any operation on device memory. Each operation has an error of its own, which converts to this one.
///
/// ```
/// use amdgpu_winsys::heaps::{AllocateInfo, ExportMemoryError, ExternalHandleTypes, FlushError, MemoryError, VkResult};
///
/// # let device = amdgpu_winsys::winsys::Device::new(amdgpu_sim::SimKernel::open(amdgpu_sim::profile("navi21").ok_or("no such chip")?))?;
/// # let manager = amdgpu_winsys::heaps::MemoryManager::new(&device, &amdgpu_winsys::heaps::TableOptions::default())?;
/// let memory = manager.allocate(&AllocateInfo::new(0, 4096))?;
/// let error = memory.flush(0, 64).unwrap_err();
/// assert_eq!(error, FlushError::NotMapped { memory_type: 0 });
/// let handle_type = ExternalHandleTypes::DMA_BUF;
/// let error = memory.export(handle_type).unwrap_err();
/// assert_eq!(error, ExportMemoryError::NotExportable { memory_type: 0, handle_type });
/// let error = manager.allocate(&AllocateInfo::new(0, u64::MAX)).unwrap_err();
/// assert_eq!(MemoryError::from(error).vk_result(), VkResult::OutOfDeviceMemory);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MemoryError {
    /// A memory manager could not be created.
    #[error(transparent)]
    Manager(#[from] CreateManagerError),
    /// Memory could not be allocated.
    #[error(transparent)]
    Allocate(#[from] AllocateMemoryError),
    /// The handle type is not supported, or several were given.
    #[error(transparent)]
    HandleType(#[from] UnsupportedHandleType),
    /// The memory types of a descriptor could not be queried.
    #[error(transparent)]
    FdTypes(#[from] FdTypesError),
    /// A descriptor could not be imported.
    #[error(transparent)]
    ImportFd(#[from] ImportFdError),
    /// Host memory could not be imported.
    #[error(transparent)]
    ImportHostPointer(#[from] ImportHostPointerError),
    /// Memory could not be mapped at an address.
    #[error(transparent)]
    MapPlaced(#[from] MapPlacedError),
    /// Memory could not be unmapped.
    #[error(transparent)]
    Unmap(#[from] UnmapError),
    /// Memory could not be flushed or invalidated.
    #[error(transparent)]
    Flush(#[from] FlushError),
    /// Memory could not be exported.
    #[error(transparent)]
    Export(#[from] ExportMemoryError),
    /// An image could not be exported.
    #[error(transparent)]
    ExportImage(#[from] ExportImageError),
    /// A working set does not fit, or could not be checked.
    #[error(transparent)]
    WorkingSet(#[from] WorkingSetError),
    /// A sparse range could not be created.
    #[error(transparent)]
    SparseRange(#[from] SparseRangeError),
    /// An operation on a sparse queue failed.
    #[error(transparent)]
    SparseQueue(#[from] SparseQueueError),
    /// The kernel or the winsys layer refused a request, such as one to map memory or to report its usage.
    #[error(transparent)]
    Winsys(winsys::Error),
}

/// Each error of the winsys layer, of any operation.
impl<E: Into<winsys::Error>> From<E> for MemoryError {
    fn from(error: E) -> Self {
        Self::Winsys(error.into())
    }
}

/// Gives each error the questions about its source and its result. `$source` finds the error of the winsys layer that decides
/// the result, `$own` is the result of an error without one.
macro_rules! questions {
    ($($operation:ident $source:expr, $own:expr;)+) => {
        $(impl $operation {
            /// Returns the error of the winsys layer that is the source of this one and has the same Vulkan result, if there is
            /// one.
            pub fn winsys(&self) -> Option<winsys::Error> {
                let source: fn(&Self) -> Option<winsys::Error> = $source;
                source(self)
            }

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
            /// RADV does not check the size or type of an import, and reports success if it could not reserve addresses. It
            /// reports a refused binding as `UNKNOWN` in Mesa 25.0.7 and as `OUT_OF_DEVICE_MEMORY` in 26.2.
            ///
            /// Source: Mesa 25.0.7 `radv_amdgpu_bo.c`, `radv_amdgpu_winsys_bo_create`, `_from_ptr`, `_from_fd` and `_map`;
            /// `radv_device_memory.c`, `radv_alloc_memory`; `radv_device.c`, `radv_GetMemoryFdKHR`.
            pub fn vk_result(&self) -> VkResult {
                let own: fn(&Self) -> VkResult = $own;
                self.winsys().map_or_else(|| own(self), |error| error.vk_result())
            }
        })+
    };
}

questions! {
    CreateManagerError |error| match error {
        Self::Winsys(error) => Some(error.clone()),
        Self::Facts(_) => None,
    }, |_| VkResult::Unknown;
    AllocateMemoryError |error| match error {
        Self::Usage(error) => Some(error.clone()),
        Self::Address(error) => Some((*error).into()),
        Self::Bo(error) => Some((*error).into()),
        Self::Bind(error) => Some((*error).into()),
        Self::Request(_) | Self::Refused(_) | Self::CapturedAddress { .. } => None,
    }, |error| match error {
        Self::Request(error) => error.vk_result(),
        Self::CapturedAddress { .. } => VkResult::InvalidOpaqueCaptureAddress,
        _ => VkResult::OutOfDeviceMemory,
    };
    UnsupportedHandleType |_| None, |_| VkResult::InvalidExternalHandle;
    FdTypesError |error| match error {
        Self::Import(error) => Some((*error).into()),
        Self::HandleType(_) => None,
    }, |_| VkResult::InvalidExternalHandle;
    ImportFault |_| None, |_| VkResult::InvalidExternalHandle;
    ImportFdError |error| match error {
        Self::Import(error) => Some((*error).into()),
        Self::Address(error) => Some((*error).into()),
        Self::Bind(error) => Some((*error).into()),
        Self::Request(_) | Self::Fault(_) => None,
    }, |error| if let Self::Request(error) = error { error.vk_result() } else { VkResult::InvalidExternalHandle };
    ImportHostPointerError |error| match error {
        Self::UserMemory(UserMemoryError::HostMemory(error)) => Some((*error).into()),
        Self::Address(error) => Some((*error).into()),
        Self::Bind(error) => Some((*error).into()),
        Self::Map(error) => Some((*error).into()),
        Self::Request(_) | Self::Fault(_) | Self::UserMemory(_) => None,
    }, |error| match error {
        Self::Request(error) => error.vk_result(),
        Self::UserMemory(UserMemoryError::Misaligned(_)) => VkResult::InvalidExternalHandle,
        Self::UserMemory(error) if error.errno() != Some(Errno::EINVAL) => VkResult::Unknown,
        _ => VkResult::InvalidExternalHandle,
    };
    MapPlacedError |error| match error {
        Self::Map(error) => Some((*error).into()),
        Self::MappedElsewhere { .. } => None,
    }, |_| VkResult::MemoryMapFailed;
    UnmapError |error| match error {
        Self::Kernel(error) => Some((*error).into()),
        Self::InUse { .. } => None,
    }, |_| VkResult::MemoryMapFailed;
    FlushError |_| None, |_| VkResult::Unknown;
    ExportMemoryError |error| match error {
        Self::Bo(error) => Some((*error).into()),
        Self::NotExportable { .. } => None,
    }, |_| VkResult::OutOfDeviceMemory;
    ExportImageError |error| match error {
        Self::Metadata(error) => Some((*error).into()),
        Self::Export(error) => error.winsys(),
    }, |_| VkResult::OutOfDeviceMemory;
    WorkingSetError |error| match error {
        Self::Winsys(error) => Some(error.clone()),
        Self::DoesNotFit(_) => None,
    }, |_| VkResult::OutOfDeviceMemory;
    SparseRangeError |error| match error {
        Self::Winsys(error) => Some(error.clone()),
        Self::Address(_) => None,
    }, |error| match error {
        Self::Address(VaError::HostMemory { .. }) => VkResult::OutOfHostMemory,
        _ => VkResult::OutOfDeviceMemory,
    };
    SparseQueueError |error| match error {
        Self::Winsys(error) => Some(error.clone()),
        Self::Thread { .. } | Self::Abandoned => None,
    }, |error| if matches!(error, Self::Abandoned) { VkResult::DeviceLost } else { VkResult::OutOfHostMemory };
    MemoryError |error| match error {
        Self::Manager(error) => error.winsys(),
        Self::Allocate(error) => error.winsys(),
        Self::HandleType(error) => error.winsys(),
        Self::FdTypes(error) => error.winsys(),
        Self::ImportFd(error) => error.winsys(),
        Self::ImportHostPointer(error) => error.winsys(),
        Self::MapPlaced(error) => error.winsys(),
        Self::Unmap(error) => error.winsys(),
        Self::Flush(error) => error.winsys(),
        Self::Export(error) => error.winsys(),
        Self::ExportImage(error) => error.winsys(),
        Self::WorkingSet(error) => error.winsys(),
        Self::SparseRange(error) => error.winsys(),
        Self::SparseQueue(error) => error.winsys(),
        Self::Winsys(error) => Some(error.clone()),
    }, |error| match error {
        Self::Manager(error) => error.vk_result(),
        Self::Allocate(error) => error.vk_result(),
        Self::HandleType(error) => error.vk_result(),
        Self::FdTypes(error) => error.vk_result(),
        Self::ImportFd(error) => error.vk_result(),
        Self::ImportHostPointer(error) => error.vk_result(),
        Self::MapPlaced(error) => error.vk_result(),
        Self::Unmap(error) => error.vk_result(),
        Self::Flush(error) => error.vk_result(),
        Self::Export(error) => error.vk_result(),
        Self::ExportImage(error) => error.vk_result(),
        Self::WorkingSet(error) => error.vk_result(),
        Self::SparseRange(error) => error.vk_result(),
        Self::SparseQueue(error) => error.vk_result(),
        Self::Winsys(error) => error.vk_result(),
    };
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::heaps::{
        AllocateError, Budgets, ExternalHandleTypes, FactsError, Limit, OverCommit, Pool, Refusal, TypeMask,
    };
    use crate::uapi::{Argument, GemCreateFlags, GemDomain, PrimeHandle};
    use crate::vamgr::{GpuVa, VaWindow};
    use crate::winsys::{
        BindError, BrokenBoRule, CreateBoError, ExportError, HostMemory, ImportError, KernelError, MapError,
        Misaligned, NoAddress, Subject, Unmappable,
    };

    fn table() -> Vec<(MemoryError, VkResult)> {
        use VkResult::*;
        let handle_type = ExternalHandleTypes::DMA_BUF;
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
        let of_bo = |request| KernelError::of_bo(request, 1, errno);
        let address = |is_fixed, source| AllocateMemoryError::Address(NoAddress { is_fixed, source });
        let misaligned = |what| Misaligned { what, value: 1, alignment: 4096 };
        let user = ImportHostPointerError::UserMemory;
        let userptr = |errno| UserMemoryError::Kernel(KernelError::new("AMDGPU_GEM_USERPTR", errno));
        let new_bo = KernelError {
            request: "AMDGPU_GEM_CREATE",
            subject: Subject::NewBo { size: 1, alignment: 0, domains, flags },
            errno,
        };
        let rule = BrokenBoRule { size: 1, domains, flags, rule: winsys::BoRuleError::ZeroSize };
        let refusal = Refusal { size: 2, heap: 0, usage: 0, limit: Limit::Budget, most: 1, heaps: Budgets::NONE };
        let no_export = ExportMemoryError::NotExportable { memory_type: 0, handle_type };
        let unsupported = UnsupportedHandleType { handle_type };
        let lost = winsys::Error::DeviceLost { request: "AMDGPU_CS", context: 1, errno, loss };
        let over = OverCommit { pool: Pool::Vram, needed: 2, usable: 1 };
        let small = ImportFault::TooSmall { size: 1, wanted: 2 };
        let wrong = ImportFault::WrongType { memory_type: 0, types: TypeMask::NONE };
        let descriptor = KernelError::of_descriptor("PRIME_FD_TO_HANDLE", 3, errno);
        vec![
            (CreateManagerError::Facts(FactsError::NoMemory).into(), Unknown),
            (CreateManagerError::Winsys(lost.clone()).into(), DeviceLost),
            (AllocateMemoryError::from(AllocateError::ZeroSize { memory_type: 0 }).into(), Success),
            (AllocateMemoryError::from(AllocateError::NoSuchType { memory_type: 0, count: 0 }).into(), Unknown),
            (
                AllocateMemoryError::from(AllocateError::BeyondHeap { size: 2, heap: 0, heap_size: 1 }).into(),
                OutOfDeviceMemory,
            ),
            (address(false, VaError::ZeroSize).into(), OutOfDeviceMemory),
            (address(true, VaError::ZeroSize).into(), InvalidOpaqueCaptureAddress),
            (address(false, no_room).into(), OutOfHostMemory),
            (AllocateMemoryError::CapturedAddress { at, source: bind }.into(), InvalidOpaqueCaptureAddress),
            (AllocateMemoryError::Refused(Box::new(refusal)).into(), OutOfDeviceMemory),
            (AllocateMemoryError::Usage(lost.clone()).into(), DeviceLost),
            (AllocateMemoryError::Bo(CreateBoError::Kernel(new_bo)).into(), OutOfDeviceMemory),
            (AllocateMemoryError::Bo(CreateBoError::Rule(rule)).into(), OutOfDeviceMemory),
            (AllocateMemoryError::Bo(HostMemory { what: "a BO" }.into()).into(), OutOfHostMemory),
            (AllocateMemoryError::Bind(BindError::Kernel(bind)).into(), OutOfDeviceMemory),
            (unsupported.into(), InvalidExternalHandle),
            (FdTypesError::HandleType(unsupported).into(), InvalidExternalHandle),
            (FdTypesError::Import(ImportError::Kernel(descriptor)).into(), InvalidExternalHandle),
            (ImportFdError::Fault(small).into(), InvalidExternalHandle),
            (ImportFdError::Fault(wrong).into(), InvalidExternalHandle),
            (ImportFdError::from(AllocateError::NoSuchType { memory_type: 0, count: 0 }).into(), Unknown),
            (ImportFdError::Import(ImportError::Kernel(descriptor)).into(), InvalidExternalHandle),
            (ImportFdError::Bind(BindError::Kernel(bind)).into(), OutOfDeviceMemory),
            (ImportHostPointerError::Fault(small).into(), InvalidExternalHandle),
            (user(misaligned("user memory address").into()).into(), InvalidExternalHandle),
            (user(userptr(Errno::EINVAL)).into(), InvalidExternalHandle),
            (user(userptr(Errno::EPERM)).into(), Unknown),
            (user(HostMemory { what: "a BO" }.into()).into(), OutOfHostMemory),
            (ImportHostPointerError::Map(of_bo("mmap")).into(), MemoryMapFailed),
            (MapPlacedError::MappedElsewhere { at: 0 }.into(), MemoryMapFailed),
            (MapPlacedError::Map(misaligned("placed address").into()).into(), MemoryMapFailed),
            (UnmapError::InUse { memory_type: 0 }.into(), MemoryMapFailed),
            (UnmapError::Kernel(of_bo("mmap")).into(), MemoryMapFailed),
            (FlushError::NotMapped { memory_type: 0 }.into(), Unknown),
            (FlushError::Range { offset: 1, size: 1, memory: 1 }.into(), Unknown),
            (no_export.into(), OutOfDeviceMemory),
            (ExportMemoryError::Bo(ExportError::Kernel(of_bo(PrimeHandle::NAME))).into(), OutOfDeviceMemory),
            (ExportImageError::Export(no_export).into(), OutOfDeviceMemory),
            (WorkingSetError::DoesNotFit(over).into(), OutOfDeviceMemory),
            (WorkingSetError::Winsys(lost.clone()).into(), DeviceLost),
            (SparseRangeError::Address(VaError::ZeroSize).into(), OutOfDeviceMemory),
            (SparseRangeError::Address(no_room).into(), OutOfHostMemory),
            (SparseQueueError::Abandoned.into(), DeviceLost),
            (SparseQueueError::Thread { reason: String::new() }.into(), OutOfHostMemory),
            (SparseQueueError::Winsys(lost.clone()).into(), DeviceLost),
            (lost.into(), DeviceLost),
            (MapError::from(Unmappable::NoCpuAccess { handle: 1 }).into(), MemoryMapFailed),
            (Unmappable::ForeignMemory { handle: 1 }.into(), MemoryMapFailed),
            (of_bo("AMDGPU_GEM_MMAP").into(), MemoryMapFailed),
            (of_bo("AMDGPU_GEM_OP").into(), Unknown),
            (misaligned("offset").into(), Unknown),
        ]
    }

    #[test]
    fn every_error_is_radvs_result() {
        for (error, result) in table() {
            assert_eq!(error.vk_result(), result, "{error:?}");
        }
    }

    #[test]
    fn every_operation_is_in_the_table() {
        // Without a wildcard, so that a new operation does not compile until it has a number, and then a row.
        let number = |error: &MemoryError| match error {
            MemoryError::Manager(_) => 0,
            MemoryError::Allocate(_) => 1,
            MemoryError::HandleType(_) => 2,
            MemoryError::FdTypes(_) => 3,
            MemoryError::ImportFd(_) => 4,
            MemoryError::ImportHostPointer(_) => 5,
            MemoryError::MapPlaced(_) => 6,
            MemoryError::Unmap(_) => 7,
            MemoryError::Flush(_) => 8,
            MemoryError::Export(_) => 9,
            MemoryError::ExportImage(_) => 10,
            MemoryError::WorkingSet(_) => 11,
            MemoryError::SparseRange(_) => 12,
            MemoryError::SparseQueue(_) => 13,
            MemoryError::Winsys(_) => 14,
        };
        let mut seen = [false; 15];
        for (error, _) in table() {
            seen[number(&error)] = true;
        }
        assert_eq!(seen, [true; 15]);
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
