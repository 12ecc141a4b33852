//! Parts of images and of linear memory, and the contiguous runs of bytes in copies between them.

use amdgpu_surface::tiler::Subresource;
use ash::vk;

use crate::border::Failure;

/// The result if the call violates valid usage.
const UNKNOWN: Failure = Failure(vk::Result::ERROR_UNKNOWN);

/// Texels in memory: a part of a level, or rows.
#[derive(Debug)]
pub(crate) enum Texels {
    /// The texels of a level, starting at `first`. `is_linear` is `true` if the rows are contiguous in memory.
    Level { level: Box<Subresource>, first: [u32; 3], is_linear: bool },
    /// Rows, with the distances between consecutive rows and slices in bytes.
    Rows { start: u64, row: u64, slice: u64 },
}

impl Texels {
    /// Returns rows as Vulkan describes them: with lengths in texels, where 0 stands for the size of the region.
    ///
    /// # Errors
    ///
    /// `VK_ERROR_UNKNOWN` if the rows exceed the range of addresses.
    pub(crate) fn rows(
        start: u64,
        (row_length, height): (u32, u32),
        extent: [u32; 3],
        texel: u32,
    ) -> Result<Self, Failure> {
        let or = |length: u32, else_: u32| u64::from(if length == 0 { else_ } else { length });
        let row = or(row_length, extent[0]) * u64::from(texel);
        let slice = row.checked_mul(or(height, extent[1])).ok_or(UNKNOWN)?;
        Ok(Self::Rows { start, row, slice })
    }

    /// Returns the offset of a texel in bytes, and the number of contiguous texels that start there.
    fn run(&self, [x, y, z]: [u32; 3], rest: u32, texel: u32) -> Result<(u64, u32), Failure> {
        match self {
            Self::Level { level, first, is_linear } => {
                let at = |first: u32, more: u32| first.checked_add(more).ok_or(UNKNOWN);
                let address = level.address(at(first[0], x)?, at(first[1], y)?, at(first[2], z)?, 0);
                Ok((address.map_err(|_| UNKNOWN)?, if *is_linear { rest } else { 1 }))
            }
            Self::Rows { start, row, slice } => {
                let add = |sum: u64, count: u32, step: u64| step.checked_mul(count.into())?.checked_add(sum);
                let at = add(*start, z, *slice).and_then(|at| add(at, y, *row));
                Ok((at.and_then(|at| add(at, x, texel.into())).ok_or(UNKNOWN)?, rest))
            }
        }
    }
}

/// A run of bytes that are contiguous on both sides of a copy.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Run {
    /// The offset in the source, in bytes.
    pub(crate) from: u64,
    /// The offset in the destination, in bytes.
    pub(crate) to: u64,
    /// The size in bytes.
    pub(crate) bytes: u64,
}

/// Divides a copy into runs of maximum length, and calls `each` with each run.
///
/// # Errors
///
/// `VK_ERROR_UNKNOWN` if a side does not have the texels; the errors of `each`.
pub(crate) fn runs(
    from: &Texels,
    to: &Texels,
    extent: [u32; 3],
    texel: u32,
    mut each: impl FnMut(Run) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let mut last: Option<Run> = None;
    for z in 0..extent[2] {
        for y in 0..extent[1] {
            let mut x = 0;
            while x < extent[0] {
                let rest = extent[0] - x;
                let ((from, many), (to, few)) = (from.run([x, y, z], rest, texel)?, to.run([x, y, z], rest, texel)?);
                let count = many.min(few);
                let next = Run { from, to, bytes: u64::from(count) * u64::from(texel) };
                x += count;
                match &mut last {
                    Some(run) if run.from + run.bytes == from && run.to + run.bytes == to => run.bytes += next.bytes,
                    _ => {
                        if let Some(done) = last.replace(next) {
                            each(done)?;
                        }
                    }
                }
            }
        }
    }
    last.map_or(Ok(()), each)
}
