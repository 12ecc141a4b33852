//! Copies of boxes between linear surfaces.

use amdgpu_hw::GpuVa;
use amdgpu_packets::FieldError;
use amdgpu_packets::layout::records::sdma::{CopyLinearSubWindow, CopyLinearSubWindowLarge};
use amdgpu_packets::sdma::Version;

use crate::gpu::{Stop, dma, step::Step};

/// The error for a packet that swaps bytes.
pub(super) const SWAPPED: &str = "swaps bytes, which is not simulated";

/// One side of a sub-window as described in the packet. Pitches are one less.
#[derive(Clone, Copy)]
pub(super) struct Side {
    pub(super) address: u64,
    /// The coordinates of the first element, in elements.
    pub(super) first: [u32; 3],
    /// The distance between rows.
    pub(super) pitch: u32,
    /// The distance between slices.
    pub(super) slice: u64,
}

/// Returns the number of elements of a box in each direction, minus one. The first version has the numbers themselves.
///
/// Source: Mesa 25.0.7 `src/gallium/drivers/radeonsi/si_sdma_copy_image.c`, `cik_sdma_copy_texture`.
pub(super) fn less_one(version: Version, size: [u32; 3]) -> [u32; 3] {
    if version == Version::V2_0 { size.map(|count| count.saturating_sub(1)) } else { size }
}

/// The fields of COPY_LINEAR_SUB_WINDOW or its larger form.
pub(super) struct SubWindow {
    swaps: bool,
    /// The size of an element, as an exponent of two.
    element: u32,
    from: Side,
    to: Side,
    /// The number of elements in each direction, minus one.
    size: [u32; 3],
}

impl SubWindow {
    /// Returns the window with the sizes as the version defines them.
    #[must_use]
    pub(super) fn of(self, version: Version) -> Self {
        Self { size: less_one(version, self.size), ..self }
    }
}

impl From<CopyLinearSubWindow> for SubWindow {
    fn from(packet: CopyLinearSubWindow) -> Self {
        Self {
            swaps: packet.src_sw != 0 || packet.dst_sw != 0,
            element: packet.elementsize,
            from: Side {
                address: packet.src_addr,
                first: [packet.src_x, packet.src_y, packet.src_z],
                pitch: packet.src_pitch,
                slice: packet.src_slice_pitch.into(),
            },
            to: Side {
                address: packet.dst_addr,
                first: [packet.dst_x, packet.dst_y, packet.dst_z],
                pitch: packet.dst_pitch,
                slice: packet.dst_slice_pitch.into(),
            },
            size: [packet.rect_x, packet.rect_y, packet.rect_z],
        }
    }
}

impl From<CopyLinearSubWindowLarge> for SubWindow {
    fn from(packet: CopyLinearSubWindowLarge) -> Self {
        Self {
            swaps: packet.src_sw != 0 || packet.dst_sw != 0,
            // The large form has sizes in bytes.
            element: 0,
            from: Side {
                address: packet.src_addr,
                first: [packet.src_x, packet.src_y, packet.src_z],
                pitch: packet.src_pitch,
                slice: u64::from(packet.src_slice_pitch_47_32) << 32 | packet.src_slice_pitch,
            },
            to: Side {
                address: packet.dst_addr,
                first: [packet.dst_x, packet.dst_y, packet.dst_z],
                pitch: packet.dst_pitch,
                slice: u64::from(packet.dst_slice_pitch_47_32) << 32 | packet.dst_slice_pitch,
            },
            size: [packet.rect_x, packet.rect_y, packet.rect_z],
        }
    }
}

/// One side of a sub-window.
pub(super) struct Window {
    base: GpuVa,
    /// The coordinate of the first element, in elements.
    x: u64,
    y: u64,
    z: u64,
    /// The distances between rows and between slices, in elements.
    pitch: u64,
    slice: u64,
}

impl Window {
    pub(super) fn new(step: &Step<'_, '_>, field: &'static str, side: &Side) -> Result<Self, Stop> {
        let [x, y, z] = side.first.map(u64::from);
        let base = step.address(field, side.address)?;
        Ok(Self { base, x, y, z, pitch: u64::from(side.pitch) + 1, slice: side.slice + 1 })
    }

    /// Returns the address of the start of a row; `None` beyond the end of the address space.
    pub(super) fn row(&self, y: u64, z: u64, shift: u32) -> Option<GpuVa> {
        // The fields have at most 48 and 32 bits, so no product overflows 128 bits.
        let slices = u128::from(self.z + z) * u128::from(self.slice);
        let elements = slices + u128::from(self.y + y) * u128::from(self.pitch) + u128::from(self.x);
        self.base.checked_add(u64::try_from(elements << shift).ok()?)
    }
}

/// Copies a box, row by row.
pub(super) fn copy_sub_window(packet: &SubWindow, step: &Step<'_, '_>) -> Result<(), Stop> {
    /// The least cost of a row; otherwise a row costs as much as its bytes.
    const ROW: u64 = 8;
    if packet.swaps {
        return Err(step.refuse(SWAPPED));
    }
    let shift = packet.element;
    if shift > 4 {
        return Err(step.wrong(FieldError::Unknown { field: "elementsize", value: shift }));
    }
    let (from, to) = (Window::new(step, "src_addr_lo", &packet.from)?, Window::new(step, "dst_addr_lo", &packet.to)?);
    let [width, height, depth] = packet.size.map(|less| u64::from(less) + 1);
    for z in 0..depth {
        for y in 0..height {
            step.port.spend(ROW)?;
            let (Some(to), Some(from)) = (to.row(y, z, shift), from.row(y, z, shift)) else {
                return Err(step.refuse("runs over the end of the address space"));
            };
            dma::copy(step.port, to, from, width << shift)?;
        }
    }
    Ok(())
}
