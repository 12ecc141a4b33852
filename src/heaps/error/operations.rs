//! The errors of operations on device memory: one type for each operation, whose variants are what can happen there.

use crate::{
    heaps::{AllocateError, ExternalHandleTypes, FactsError, OverCommit, Refusal, TypeMask},
    vamgr::{GpuVa, VaError},
    winsys::{
        self, BindError, CreateBoError, ExportError, ImportError, KernelError, MapError, NoAddress, SetMetadataError,
        UserMemoryError,
    },
};

/// The error of [`MemoryManager::new`](crate::heaps::MemoryManager::new).
///
/// ```
/// use amdgpu_winsys::heaps::{CreateManagerError, FactsError};
///
/// let error = CreateManagerError::Facts(FactsError::NoMemory);
/// assert_eq!(error.to_string(), FactsError::NoMemory.to_string());
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CreateManagerError {
    /// The values that the kernel reports contradict each other.
    #[error(transparent)]
    Facts(#[from] FactsError),

    /// The kernel refused to duplicate the device's handle, or host memory is exhausted.
    #[error(transparent)]
    Winsys(winsys::Error),
}

/// The error of [`MemoryManager::allocate`](crate::heaps::MemoryManager::allocate).
///
/// ```
/// use amdgpu_winsys::heaps::{AllocateError, AllocateInfo, AllocateMemoryError};
///
/// # let device = amdgpu_winsys::winsys::Device::new(amdgpu_sim::SimKernel::open(amdgpu_sim::profile("navi21").ok_or("no such chip")?))?;
/// # let manager = amdgpu_winsys::heaps::MemoryManager::new(&device, &amdgpu_winsys::heaps::TableOptions::default())?;
/// match manager.allocate(&AllocateInfo::new(99, 4096)).unwrap_err() {
///     AllocateMemoryError::Request(error) => assert!(matches!(error, AllocateError::NoSuchType { memory_type: 99, .. })),
///     AllocateMemoryError::Refused(refusal) => println!("a limit of the caller's: {refusal}"),
///     AllocateMemoryError::Usage(error) => println!("the usage is unknown: {error}"),
///     AllocateMemoryError::Address(error) => println!("no addresses: {error}"),
///     AllocateMemoryError::CapturedAddress { at, .. } => println!("{at} is not available"),
///     AllocateMemoryError::Bo(error) => println!("no memory: {error}"),
///     AllocateMemoryError::Bind(error) => println!("no page tables: {error}"),
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AllocateMemoryError {
    /// The request is invalid. No request was made to the kernel.
    #[error(transparent)]
    Request(#[from] AllocateError),

    /// The admission policy refused the allocation. The kernel was not asked for the memory.
    #[error(transparent)]
    Refused(Box<Refusal>),

    /// The admission policy has a limit that depends on the usage of all processes, and the kernel did not report that.
    #[error(transparent)]
    Usage(#[from] winsys::Error),

    /// No addresses are available, or the captured address is in use.
    #[error(transparent)]
    Address(#[from] NoAddress),

    /// The kernel could not bind the memory at the captured address.
    #[error("the captured address {at} is not available: {source}")]
    CapturedAddress {
        /// The requested address.
        at: GpuVa,
        /// The error of the kernel.
        source: KernelError,
    },

    /// The BO could not be created.
    #[error(transparent)]
    Bo(#[from] CreateBoError),

    /// The BO could not be bound.
    #[error(transparent)]
    Bind(#[from] BindError),
}

/// A handle type that an operation does not support, or several at once.
///
/// ```
/// use amdgpu_winsys::heaps::{ExternalHandleTypes, UnsupportedHandleType};
///
/// # let device = amdgpu_winsys::winsys::Device::new(amdgpu_sim::SimKernel::open(amdgpu_sim::profile("navi21").ok_or("no such chip")?))?;
/// # let manager = amdgpu_winsys::heaps::MemoryManager::new(&device, &amdgpu_winsys::heaps::TableOptions::default())?;
/// let handle_type = ExternalHandleTypes::HOST_MAPPED_FOREIGN;
/// assert_eq!(manager.host_pointer_types(handle_type), Err(UnsupportedHandleType { handle_type }));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unsupported handle type {handle_type:?}")]
pub struct UnsupportedHandleType {
    /// The requested handle type.
    pub handle_type: ExternalHandleTypes,
}

/// The error of [`MemoryManager::fd_types`](crate::heaps::MemoryManager::fd_types).
///
/// ```
/// use amdgpu_winsys::heaps::{ExternalHandleTypes, FdTypesError};
///
/// # let device = amdgpu_winsys::winsys::Device::new(amdgpu_sim::SimKernel::open(amdgpu_sim::profile("navi21").ok_or("no such chip")?))?;
/// # let manager = amdgpu_winsys::heaps::MemoryManager::new(&device, &amdgpu_winsys::heaps::TableOptions::default())?;
/// let error = manager.fd_types(ExternalHandleTypes::DMA_BUF, std::fs::File::open("/dev/null")?).unwrap_err();
/// assert!(matches!(error, FdTypesError::Import(_)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FdTypesError {
    /// The handle type is not supported, or several were given.
    #[error(transparent)]
    HandleType(#[from] UnsupportedHandleType),

    /// The descriptor could not be imported.
    #[error(transparent)]
    Import(#[from] ImportError),
}

/// Existing memory that does not fit an import: it is too small, or cannot have the memory type.
///
/// ```
/// use amdgpu_winsys::heaps::{ImportFault, TypeMask};
///
/// let fault = ImportFault::WrongType { memory_type: 2, types: TypeMask::NONE };
/// assert_eq!(fault.vk_result(), amdgpu_winsys::VkResult::InvalidExternalHandle);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ImportFault {
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
}

/// The error of [`MemoryManager::import_fd`](crate::heaps::MemoryManager::import_fd).
///
/// ```
/// use amdgpu_winsys::heaps::{AllocateFlags, AllocateInfo, ExternalHandleTypes, ImportFault, ImportFdError, ImportInfo};
///
/// # let device = amdgpu_winsys::winsys::Device::new(amdgpu_sim::SimKernel::open(amdgpu_sim::profile("navi21").ok_or("no such chip")?))?;
/// # let manager = amdgpu_winsys::heaps::MemoryManager::new(&device, &amdgpu_winsys::heaps::TableOptions::default())?;
/// let info = AllocateInfo { flags: AllocateFlags::EXPORTABLE, ..AllocateInfo::new(0, 4096) };
/// let fd = manager.allocate(&info)?.export(ExternalHandleTypes::DMA_BUF)?;
/// let (_fd, error) = manager.import_fd(fd, &ImportInfo::new(0, 8192)).unwrap_err();
/// assert_eq!(error, ImportFdError::Fault(ImportFault::TooSmall { size: 4096, wanted: 8192 }));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ImportFdError {
    /// The memory type does not exist.
    #[error(transparent)]
    Request(#[from] AllocateError),

    /// The descriptor could not be imported.
    #[error(transparent)]
    Import(#[from] ImportError),

    /// The memory does not fit the request.
    #[error(transparent)]
    Fault(#[from] ImportFault),

    /// No addresses are available.
    #[error(transparent)]
    Address(#[from] NoAddress),

    /// The BO could not be bound.
    #[error(transparent)]
    Bind(#[from] BindError),
}

/// The error of [`MemoryManager::import_host_pointer`](crate::heaps::MemoryManager::import_host_pointer).
///
/// ```
/// use amdgpu_winsys::{heaps::{ExternalHandleTypes, ImportHostPointerError, ImportInfo}, winsys::UserMemory};
///
/// # let device = amdgpu_winsys::winsys::Device::new(amdgpu_sim::SimKernel::open(amdgpu_sim::profile("navi21").ok_or("no such chip")?))?;
/// # let manager = amdgpu_winsys::heaps::MemoryManager::new(&device, &amdgpu_winsys::heaps::TableOptions::default())?;
/// let types = manager.host_pointer_types(ExternalHandleTypes::HOST_ALLOCATION)?;
/// let info = ImportInfo::new(types.iter().next().ok_or("no such type")?, 4096);
/// let odd = std::ptr::NonNull::<u8>::dangling(); // the address 1
/// // SAFETY: the address is refused before it is used.
/// let error = unsafe { manager.import_host_pointer(UserMemory::new(odd, 4096), &info) }.unwrap_err();
/// assert!(matches!(error, ImportHostPointerError::UserMemory(_)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ImportHostPointerError {
    /// The memory type does not exist.
    #[error(transparent)]
    Request(#[from] AllocateError),

    /// The memory does not fit the request.
    #[error(transparent)]
    Fault(#[from] ImportFault),

    /// The host memory could not be shared with the GPU.
    #[error("host memory was not imported: {0}")]
    UserMemory(#[from] UserMemoryError),

    /// No addresses are available.
    #[error(transparent)]
    Address(#[from] NoAddress),

    /// The BO could not be bound.
    #[error(transparent)]
    Bind(#[from] BindError),

    /// The memory has more pages than a mapping can have.
    #[error(transparent)]
    Map(#[from] KernelError),
}

/// The error of [`DeviceMemory::map_placed`](crate::heaps::DeviceMemory::map_placed).
///
/// ```
/// use amdgpu_winsys::heaps::MapPlacedError;
///
/// let error = MapPlacedError::MappedElsewhere { at: 0x7000 };
/// assert_eq!(error.to_string(), "cannot be mapped at 0x7000: it is mapped at another address");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MapPlacedError {
    /// The memory is already mapped at another address.
    #[error("cannot be mapped at {at:#x}: it is mapped at another address")]
    MappedElsewhere {
        /// The requested CPU address.
        at: usize,
    },

    /// The memory could not be mapped.
    #[error(transparent)]
    Map(#[from] MapError),
}

/// The error of [`DeviceMemory::unmap_reserving`](crate::heaps::DeviceMemory::unmap_reserving).
///
/// ```
/// use amdgpu_winsys::heaps::{AllocateInfo, MemoryUsage, UnmapError};
///
/// # let device = amdgpu_winsys::winsys::Device::new(amdgpu_sim::SimKernel::open(amdgpu_sim::profile("navi21").ok_or("no such chip")?))?;
/// # let manager = amdgpu_winsys::heaps::MemoryManager::new(&device, &amdgpu_winsys::heaps::TableOptions::default())?;
/// let memory_type = manager.properties().type_for(MemoryUsage::Readback).ok_or("no such type")?;
/// let memory = manager.allocate(&AllocateInfo::new(memory_type, 4096))?;
/// let mapped = memory.map()?;
/// assert_eq!(memory.unmap_reserving(), Err(UnmapError::InUse { memory_type }));
/// drop(mapped);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UnmapError {
    /// The mapping is in use.
    #[error("the mapping of memory of type {memory_type} is in use")]
    InUse {
        /// Index of the memory type.
        memory_type: u32,
    },

    /// The addresses could not be reserved.
    #[error(transparent)]
    Kernel(#[from] KernelError),
}

/// The error of [`DeviceMemory::flush`](crate::heaps::DeviceMemory::flush) and
/// [`DeviceMemory::invalidate`](crate::heaps::DeviceMemory::invalidate).
///
/// ```
/// use amdgpu_winsys::heaps::{AllocateInfo, FlushError};
///
/// # let device = amdgpu_winsys::winsys::Device::new(amdgpu_sim::SimKernel::open(amdgpu_sim::profile("navi21").ok_or("no such chip")?))?;
/// # let manager = amdgpu_winsys::heaps::MemoryManager::new(&device, &amdgpu_winsys::heaps::TableOptions::default())?;
/// let memory = manager.allocate(&AllocateInfo::new(0, 4096))?;
/// assert_eq!(memory.flush(0, 64), Err(FlushError::NotMapped { memory_type: 0 }));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FlushError {
    /// The memory is not mapped.
    #[error("memory of type {memory_type} is not mapped")]
    NotMapped {
        /// Index of the memory type.
        memory_type: u32,
    },

    /// The range is not within the memory, or its bounds are not multiples of
    /// [`NON_COHERENT_ATOM`](crate::heaps::NON_COHERENT_ATOM).
    #[error("{size} bytes at offset {offset} are no range of {memory} mapped bytes")]
    Range {
        /// Offset of the range in bytes.
        offset: u64,
        /// Size of the range in bytes.
        size: u64,
        /// Size of the memory in bytes.
        memory: u64,
    },
}

/// The error of [`DeviceMemory::export`](crate::heaps::DeviceMemory::export).
///
/// ```
/// use amdgpu_winsys::heaps::{AllocateInfo, ExportMemoryError, ExternalHandleTypes};
///
/// # let device = amdgpu_winsys::winsys::Device::new(amdgpu_sim::SimKernel::open(amdgpu_sim::profile("navi21").ok_or("no such chip")?))?;
/// # let manager = amdgpu_winsys::heaps::MemoryManager::new(&device, &amdgpu_winsys::heaps::TableOptions::default())?;
/// let (memory_type, handle_type) = (0, ExternalHandleTypes::DMA_BUF);
/// let memory = manager.allocate(&AllocateInfo::new(memory_type, 4096))?; // not as EXPORTABLE
/// assert_eq!(memory.export(handle_type).unwrap_err(), ExportMemoryError::NotExportable { memory_type, handle_type });
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ExportMemoryError {
    /// The memory was not allocated for export, or not as this handle type.
    #[error("memory of type {memory_type} cannot be exported as {handle_type:?}")]
    NotExportable {
        /// Index of the memory type.
        memory_type: u32,
        /// The requested handle type.
        handle_type: ExternalHandleTypes,
    },

    /// The kernel could not create a descriptor.
    #[error(transparent)]
    Bo(#[from] ExportError),
}

/// The error of [`DeviceMemory::export_image`](crate::heaps::DeviceMemory::export_image).
///
/// ```
/// use amdgpu_winsys::{heaps::{AllocateInfo, ExportImageError, ExternalHandleTypes}, winsys::BoMetadata};
///
/// # let device = amdgpu_winsys::winsys::Device::new(amdgpu_sim::SimKernel::open(amdgpu_sim::profile("navi21").ok_or("no such chip")?))?;
/// # let manager = amdgpu_winsys::heaps::MemoryManager::new(&device, &amdgpu_winsys::heaps::TableOptions::default())?;
/// let memory = manager.allocate(&AllocateInfo::new(0, 4096))?; // not as EXPORTABLE
/// let error = memory.export_image(ExternalHandleTypes::DMA_BUF, &BoMetadata::default()).unwrap_err();
/// assert!(matches!(error, ExportImageError::Export(_)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ExportImageError {
    /// The layout could not be stored with the BO. Nothing was exported.
    #[error(transparent)]
    Metadata(#[from] SetMetadataError),

    /// The memory could not be exported.
    #[error(transparent)]
    Export(#[from] ExportMemoryError),
}

/// The error of [`MemoryManager::check_working_set`](crate::heaps::MemoryManager::check_working_set).
///
/// ```
/// use amdgpu_winsys::heaps::{OverCommit, Pool, WorkingSetError};
///
/// let error = WorkingSetError::DoesNotFit(OverCommit { pool: Pool::Gtt, needed: 2, usable: 1 });
/// assert_eq!(error.vk_result(), amdgpu_winsys::VkResult::OutOfDeviceMemory);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WorkingSetError {
    /// The working set does not fit into memory at once.
    #[error(transparent)]
    DoesNotFit(#[from] OverCommit),

    /// The kernel did not report the sizes of its heaps.
    #[error(transparent)]
    Winsys(#[from] winsys::Error),
}

/// The error of [`SparseRange::new`](crate::heaps::SparseRange::new).
///
/// ```
/// use amdgpu_winsys::{heaps::{SparseRange, SparseRangeError}, vamgr::{VaError, VaRequest}};
///
/// # let device = amdgpu_winsys::winsys::Device::new(amdgpu_sim::SimKernel::open(amdgpu_sim::profile("navi21").ok_or("no such chip")?))?;
/// let error = SparseRange::new(&device, VaRequest::new(0)).unwrap_err();
/// assert_eq!(error, SparseRangeError::Address(VaError::ZeroSize));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SparseRangeError {
    /// No addresses are available.
    #[error("no address for a sparse range: {0}")]
    Address(#[from] VaError),

    /// The addresses could not be reserved in the page tables, or sparse memory is not supported.
    #[error(transparent)]
    Winsys(#[from] winsys::Error),
}

/// The error of [`SparseQueue`](crate::heaps::SparseQueue) and of its fences.
///
/// ```
/// use amdgpu_winsys::{VkResult, heaps::SparseQueueError};
///
/// assert_eq!(SparseQueueError::Abandoned.vk_result(), VkResult::DeviceLost);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SparseQueueError {
    /// The operating system could not start a thread.
    #[error("cannot start the thread of a sparse queue: {reason}")]
    Thread {
        /// The message of the operating system.
        reason: String,
    },

    /// The sparse queue was dropped before it executed the submission.
    #[error("the sparse queue was dropped before it was done")]
    Abandoned,

    /// A wait, a binding or a signal failed, or an object belongs to another device.
    #[error(transparent)]
    Winsys(#[from] winsys::Error),
}

impl<E: Into<winsys::Error>> From<E> for CreateManagerError {
    fn from(error: E) -> Self {
        Self::Winsys(error.into())
    }
}
