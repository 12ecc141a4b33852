//! Errors of recording a command.

use amdgpu_surface::tiler::TilerError;

use crate::{
    cs::{self, EncodeError, Target},
    vamgr::GpuVa,
};

/// The result of recording a command.
pub type Result<T, E = CommandError> = std::result::Result<T, E>;

/// The reason why a command was not recorded. The stream is unchanged, except for [`CommandError::Stream`].
///
/// ```
/// use amdgpu_winsys::cs::{Stream, commands::{CommandError, Commands, Recorder, Span}};
///
/// # let device = amdgpu_winsys::winsys::Device::new(amdgpu_sim::SimKernel::open(amdgpu_sim::profile("navi21").ok_or("no such chip")?))?;
/// # let manager = amdgpu_winsys::heaps::MemoryManager::new(&device, &amdgpu_winsys::heaps::TableOptions::default())?;
/// # let readback = manager.properties().type_for(amdgpu_winsys::heaps::MemoryUsage::Readback).ok_or("no such type")?;
/// # let memory = manager.allocate(&amdgpu_winsys::heaps::AllocateInfo::new(readback, 4096))?;
/// # let context = amdgpu_winsys::winsys::Context::new(&device, amdgpu_winsys::winsys::Priority::Normal)?;
/// # let queue = amdgpu_winsys::cs::Queue::new(&context, amdgpu_winsys::winsys::Ip::Gfx, 0)?;
/// # let target = amdgpu_winsys::cs::pm4::Target::gfx(device.info().gfx_level);
/// let error = Span::of(memory.binding(), 4000, 200).unwrap_err();
/// assert_eq!(error, CommandError::OutOfBounds { offset: 4000, bytes: 200, size: 4096 });
/// let mut recorder = Recorder::new(Stream::new(&device, target, 64)?);
/// let error = recorder.fill(Span::of(memory.binding(), 2, 16)?, 0).unwrap_err();
/// assert!(matches!(error, CommandError::Misaligned { multiple: 4, .. }));
/// let (to, from) = (Span::of(memory.binding(), 0, 16)?, Span::of(memory.binding(), 64, 32)?);
/// assert!(matches!(recorder.copy(to, from), Err(CommandError::Lengths { from: 32, to: 16, .. })));
/// assert!(recorder.stream().is_empty()); // nothing was recorded
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CommandError {
    /// A range or a box without bytes.
    #[error("{command} of no bytes")]
    Empty {
        /// Name of the command.
        command: &'static str,
    },

    /// A range that is not inside its memory.
    #[error("{bytes} bytes at offset {offset:#x} are not inside the memory of {size} bytes")]
    OutOfBounds {
        /// Offset of the range in the memory, in bytes.
        offset: u64,
        /// Length of the range in bytes.
        bytes: u64,
        /// Size of the memory in bytes.
        size: u64,
    },

    /// A range that extends beyond the half (low or high) of the address space in which it starts.
    #[error("{bytes} bytes at {va} extend beyond the address space")]
    OutOfAddresses {
        /// GPU address of the start of the range.
        va: GpuVa,
        /// Length of the range in bytes.
        bytes: u64,
    },

    /// An address or a length that is not a multiple of the unit in which the engine works.
    #[error("{command}: {value:#x} is not a multiple of {multiple}")]
    Misaligned {
        /// Name of the command.
        command: &'static str,
        /// The address or length that is not a multiple.
        value: u64,
        /// The required multiple in bytes or elements.
        multiple: u64,
    },

    /// Two ranges differ in length that must have the same length.
    #[error("{command} of {from} bytes to a range of {to} bytes")]
    Lengths {
        /// Name of the command.
        command: &'static str,
        /// Length of the source in bytes.
        from: u64,
        /// Length of the destination in bytes.
        to: u64,
    },

    /// Source and destination of a copy overlap. The engines do not define the order of their accesses.
    #[error("a copy of {bytes} bytes from {from} to {to}, which overlap")]
    Overlap {
        /// GPU address of the destination.
        to: GpuVa,
        /// GPU address of the source.
        from: GpuVa,
        /// Length of each range in bytes.
        bytes: u64,
    },

    /// A box of texels that is not inside the level of an image.
    #[error("{axis} from {first} to {end} is not inside the extent {extent}")]
    OutsideImage {
        /// The axis: `x`, `y` or `z`.
        axis: char,
        /// Index of the first element of the box along the axis.
        first: u32,
        /// The end of the box, exclusive.
        end: u64,
        /// Number of elements of the level along the axis.
        extent: u32,
    },

    /// Rows or slices of texels that overlap because their pitch is too small.
    #[error("{what} overlap: the pitch is {pitch} elements, at least {least} are needed")]
    RowPitch {
        /// The kind of pitch: `rows` or `slices`.
        what: &'static str,
        /// Elements from the start of one row or slice to the next.
        pitch: u64,
        /// Elements that a row or slice occupies.
        least: u64,
    },

    /// A copy between images whose elements differ in size.
    #[error("a copy of elements of {from} bytes to elements of {to} bytes")]
    ElementBytes {
        /// Size of the destination's elements in bytes.
        to: u32,
        /// Size of the source's elements in bytes.
        from: u32,
    },

    /// A copy between tiled images that ends at the largest coordinate, on a chip whose copy engine does not support this.
    #[error("{axis} from {first} to {end}: copies between tiled images may not end there on this chip")]
    TilesEnd {
        /// The axis: `x` or `y`.
        axis: char,
        /// Index of the first element along the axis.
        first: u32,
        /// Index after the last element along the axis.
        end: u64,
    },

    /// An image whose layout has DCC or HTILE, which the copy would not update. Use `DISABLE_DCC` and `NO_HTILE` for a layout
    /// without them.
    #[error("an image with {bytes} bytes of DCC or HTILE, which the copy would not update")]
    Compressed {
        /// Size of the DCC or HTILE metadata in bytes.
        bytes: u64,
    },

    /// The tiler cannot address the level: the image does not have it, or has only stencil.
    #[error(transparent)]
    Texels(#[from] TilerError),

    /// An operation that the ring does not support.
    #[error("{target} does not support {what}")]
    Unsupported {
        /// Name of the unsupported operation.
        what: &'static str,
        /// The ring and generation of the stream.
        target: Target,
    },

    /// The stream returned an error. It may contain a part of the command, and it is poisoned if it could not grow.
    #[error(transparent)]
    Stream(#[from] cs::RecordError),
}

impl From<EncodeError> for CommandError {
    fn from(error: EncodeError) -> Self {
        Self::Stream(error.into())
    }
}

/// Returns an error unless `value` is a multiple of `multiple`.
pub(super) fn require_multiple(command: &'static str, value: u64, multiple: u64) -> Result<()> {
    if value.is_multiple_of(multiple) { Ok(()) } else { Err(CommandError::Misaligned { command, value, multiple }) }
}
