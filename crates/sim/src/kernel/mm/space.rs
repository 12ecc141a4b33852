//! The address space of a job: the mappings at its submission, and the BOs that are resident for it.

use std::sync::Arc;

use amdgpu_hw::GpuVa;
use amdgpu_uapi::{GemDomain, VaFlags};

use crate::{
    gpu::{Access, Memory, PageFault},
    kernel::mm::{
        bo::{Bo, PAGE},
        lanes::LaneAddresses,
        mappings::{Listed, Mappings, Recent},
        vm::{Bound, Table},
    },
};

/// The address space of a file at the time of a submission.
#[derive(Clone, Debug)]
pub(crate) struct Space<F = Mappings> {
    mappings: F,
}

/// A way to find mappings.
pub(crate) trait Find: Sized {
    /// Returns the mapping of an address, if it permits the access, and the number of its first page.
    fn find(&self, va: GpuVa, access: Access) -> Option<(u64, &Bound)>;

    /// Returns the space if several threads may use it at once.
    fn shared(space: &Space<Self>) -> Option<&(dyn Memory + Sync)> {
        let _ = space;
        None
    }

    /// Lends the space to this thread, as [`Memory::on_thread`] does.
    fn on_thread(space: &Space<Self>, work: &mut dyn FnMut(&dyn Memory)) -> bool {
        let _ = (space, work);
        false
    }
}

impl Find for Mappings {
    fn find(&self, va: GpuVa, access: Access) -> Option<(u64, &Bound)> {
        self.find(va, access)
    }

    fn shared(space: &Space) -> Option<&(dyn Memory + Sync)> {
        Some(space)
    }

    fn on_thread(space: &Space, work: &mut dyn FnMut(&dyn Memory)) -> bool {
        work(&Space { mappings: Recent::new(&space.mappings) });
        true
    }
}

impl Find for Recent<'_> {
    fn find(&self, va: GpuVa, access: Access) -> Option<(u64, &Bound)> {
        self.find(va, access)
    }
}

/// A part of an access in one BO.
pub(crate) struct Spot<'s> {
    pub(crate) bo: &'s Arc<Bo>,
    /// The flags of the mapping.
    pub(crate) flags: VaFlags,
    /// The offset in the BO in bytes.
    pub(crate) offset: u64,
    /// The offset in the access in bytes, and the length.
    pub(crate) done: u64,
    pub(crate) len: u64,
}

/// A part of a range in one mapping.
struct Piece<'s> {
    bound: &'s Bound,
    /// The offset in the BO in bytes.
    offset: u64,
    len: u64,
}

/// The addresses of a mapping.
struct Reach<'s> {
    first: u64,
    end: u64,
    bound: &'s Bound,
}

impl Reach<'_> {
    fn has(&self, at: u64, len: u64) -> bool {
        at >= self.first && at.checked_add(len).is_some_and(|end| end <= self.end)
    }

    /// Returns the offset in the BO of an address, in bytes.
    fn offset(&self, at: u64) -> u64 {
        self.bound.bo_page * PAGE + (at - self.first)
    }
}

/// Returns the number of elements at the start of `addresses` that follow each other in memory.
fn run_of(addresses: &[u64], bytes: u64) -> usize {
    1 + addresses.windows(2).take_while(|pair| pair[0].checked_add(bytes) == Some(pair[1])).count()
}

/// Returns dwords at addresses as those of the first lanes of a wave: the address of each, and the mask; `None` if they are none or too
/// many.
fn lanes_of(addresses: &[u64]) -> Option<([u64; 64], u64)> {
    let mut all = [0; 64];
    all.get_mut(..addresses.len())?.copy_from_slice(addresses);
    let lanes = u64::MAX.checked_shr(64_u32.checked_sub(addresses.len() as u32)?)?;
    Some((all, lanes))
}

/// The number of bytes that a fill writes at once.
const FILL_BYTES: usize = 4096;

impl Space {
    pub(crate) fn new(table: Table, listed: Option<Arc<Listed>>) -> Self {
        Self { mappings: Mappings::new(table, listed) }
    }
}

impl<F: Find> Space<F> {
    /// Returns `true` if the BO that is mapped at an address prefers VRAM.
    pub(crate) fn is_in_vram(&self, va: GpuVa) -> bool {
        let piece = self.piece(va, 1, Access::Read).ok();
        let bo = piece.and_then(|piece| piece.bound.bo.as_ref().map(|bo| bo.attributes()));
        bo.is_some_and(|attributes| attributes.preferred.contains(GemDomain::VRAM))
    }

    /// Returns the part of `[va, va + len)` in the mapping at `va`.
    fn piece(&self, va: GpuVa, len: u64, access: Access) -> Result<Piece<'_>, PageFault> {
        let (first, bound) = self.mappings.find(va, access).ok_or(PageFault { va, access })?;
        let address = va.low_48_bits();
        let into = address - first * PAGE;
        Ok(Piece { bound, offset: bound.bo_page * PAGE + into, len: len.min(bound.pages * PAGE - into) })
    }

    /// Visits the parts of a range in BOs, up to the first page that does not permit the access.
    pub(crate) fn spots(&self, va: GpuVa, len: u64, access: Access, visit: &mut dyn FnMut(&Spot<'_>)) {
        // The rest of the range faults, and is not accessed.
        let _ = self.walk(va, len, access, |done, piece| {
            if let Some(bo) = &piece.bound.bo {
                visit(&Spot { bo, flags: piece.bound.flags, offset: piece.offset, done, len: piece.len });
            }
        });
    }

    /// Returns the BO that all lanes access, and the offset of the lowest address; `None` if there is no such BO.
    fn bo_of(&self, access: &LaneAddresses<'_>, kind: Access) -> Option<(&Bo, u64)> {
        let piece = self.piece(GpuVa::from_48_bits(access.first()), access.len(), kind).ok()?;
        let bo = piece.bound.bo.as_deref()?;
        (piece.len == access.len()).then_some((bo, piece.offset))
    }

    /// Reads dwords that are all in one BO. Returns `false`, having read nothing, if they are not.
    fn read_dwords(&self, addresses: &[u64], out: &mut [u8]) -> bool {
        let Some((all, lanes)) = lanes_of(addresses) else { return false };
        let mut words = [0; 64];
        let is_read = LaneAddresses::new(&all, lanes)
            .and_then(|access| Some((self.bo_of(&access, Access::Read)?, access)))
            .is_some_and(|((bo, offset), access)| bo.read_lanes(offset, &access, &mut words));
        if is_read {
            for (to, word) in out.as_chunks_mut::<4>().0.iter_mut().zip(words) {
                *to = word.to_le_bytes();
            }
        }
        is_read
    }

    /// Writes dwords that are all in one BO, in order. Returns `false`, having written nothing, if they are not.
    fn write_dwords(&self, addresses: &[u64], data: &[u8]) -> bool {
        let Some((all, lanes)) = lanes_of(addresses) else { return false };
        let mut words = [0; 64];
        for (to, word) in words.iter_mut().zip(data.as_chunks::<4>().0) {
            *to = u32::from_le_bytes(*word);
        }
        LaneAddresses::new(&all, lanes)
            .and_then(|access| Some((self.bo_of(&access, Access::Write)?, access)))
            .is_some_and(|((bo, offset), access)| bo.write_lanes(offset, &access, &words))
    }

    /// Visits elements of `bytes` bytes in runs that follow each other in memory: the mapping if a run is in one, its address, the
    /// number of its first element and of its elements.
    fn runs(
        &self,
        addresses: &[u64],
        bytes: usize,
        access: Access,
        mut visit: impl FnMut(Option<&Reach<'_>>, u64, usize, usize),
    ) {
        let mut known: Option<Reach<'_>> = None;
        let mut done = 0;
        while let Some(&at) = addresses.get(done) {
            let count = run_of(&addresses[done..], bytes as u64);
            let len = (count * bytes) as u64;
            if !known.as_ref().is_some_and(|reach| reach.has(at, len)) {
                let piece = self.piece(GpuVa::from_48_bits(at), u64::MAX, access).ok();
                known = piece.map(|piece| {
                    let first = at - (piece.offset - piece.bound.bo_page * PAGE);
                    Reach { first, end: at + piece.len, bound: piece.bound }
                });
            }
            visit(known.as_ref().filter(|reach| reach.has(at, len)), at, done, count);
            done += count;
        }
    }

    /// Processes a range mapping by mapping.
    fn walk(
        &self,
        va: GpuVa,
        len: u64,
        access: Access,
        mut visit: impl FnMut(u64, &Piece<'_>),
    ) -> Result<(), PageFault> {
        let mut done = 0;
        while done < len {
            let at = va.checked_add(done).ok_or(PageFault { va, access })?;
            let piece = self.piece(at, len - done, access)?;
            visit(done, &piece);
            done += piece.len;
        }
        Ok(())
    }
}

impl<F: Find> Memory for Space<F> {
    fn read(&self, va: GpuVa, out: &mut [u8]) -> Result<(), PageFault> {
        self.walk(va, out.len() as u64, Access::Read, |done, piece| {
            let part = &mut out[done as usize..(done + piece.len) as usize];
            match &piece.bound.bo {
                Some(bo) => bo.read(piece.offset, part),
                None => part.fill(0),
            }
        })
    }

    /// Looks up a mapping once if all lanes access it.
    fn read_lanes(&self, addresses: &[u64; 64], lanes: u64, out: &mut [u32; 64]) -> Result<(), PageFault> {
        if let Some(access) = LaneAddresses::new(addresses, lanes)
            && let Some((bo, offset)) = self.bo_of(&access, Access::Read)
            && bo.read_lanes(offset, &access, out)
        {
            return Ok(());
        }
        let (mut result, mut known) = (Ok(()), None::<(u64, u64, Piece<'_>)>);
        let mut rest = lanes;
        while rest != 0 {
            let lane = rest.trailing_zeros() as usize % 64;
            rest &= rest - 1;
            let (at, va) = (addresses[lane], GpuVa::from_48_bits(addresses[lane]));
            if !known.as_ref().is_some_and(|(first, end, _)| (*first..*end).contains(&at)) {
                // The range from the mapping's first byte to the last byte at which a dword can start.
                known = self.piece(va, u64::MAX, Access::Read).ok().map(|piece| {
                    let first = at - (piece.offset - piece.bound.bo_page * PAGE);
                    let end = (at + piece.len).saturating_sub(3);
                    (first, end, Piece { offset: piece.bound.bo_page * PAGE, ..piece })
                });
            }
            let mut bytes = [0; 4];
            let read = match &known {
                Some((first, end, piece)) if at < *end => {
                    if let Some(bo) = &piece.bound.bo {
                        bo.read(piece.offset + (at - first), &mut bytes);
                    }
                    Ok(())
                }
                _ => self.read(va, &mut bytes),
            };
            out[lane] = if read.is_ok() { u32::from_le_bytes(bytes) } else { 0 };
            result = result.and(read);
        }
        result
    }

    fn write_lanes(&self, addresses: &[u64; 64], lanes: u64, data: &[u32; 64]) -> Result<(), PageFault> {
        if let Some(access) = LaneAddresses::new(addresses, lanes)
            && let Some((bo, offset)) = self.bo_of(&access, Access::Write)
            && bo.write_lanes(offset, &access, data)
        {
            return Ok(());
        }
        let mut result = Ok(());
        for lane in (0..64).filter(|lane| lanes >> lane & 1 != 0) {
            let written = self.write(GpuVa::from_48_bits(addresses[lane]), &data[lane].to_le_bytes());
            result = result.and(written);
        }
        result
    }

    /// Looks a mapping up once for the elements that are in it, and accesses those that follow each other together, or all of them if
    /// they are dwords of one BO.
    fn read_elements(&self, addresses: &[u64], bytes: usize, out: &mut [u8]) -> Result<(), PageFault> {
        if bytes == 4 && self.read_dwords(addresses, out) {
            return Ok(());
        }
        let mut result = Ok(());
        self.runs(addresses, bytes, Access::Read, |reach, at, first, count| {
            let out = &mut out[first * bytes..(first + count) * bytes];
            match reach.map(|reach| (&reach.bound.bo, reach.offset(at))) {
                Some((Some(bo), offset)) => bo.read(offset, out),
                Some((None, _)) => out.fill(0),
                None => {
                    for (&at, element) in addresses[first..first + count].iter().zip(out.chunks_exact_mut(bytes)) {
                        let read = self.read(GpuVa::from_48_bits(at), element);
                        if read.is_err() {
                            element.fill(0);
                        }
                        result = result.and(read);
                    }
                }
            }
        });
        result
    }

    fn write_elements(&self, addresses: &[u64], bytes: usize, data: &[u8]) -> Result<(), PageFault> {
        if bytes == 4 && self.write_dwords(addresses, data) {
            return Ok(());
        }
        let mut result = Ok(());
        self.runs(addresses, bytes, Access::Write, |reach, at, first, count| {
            let data = &data[first * bytes..(first + count) * bytes];
            match reach.map(|reach| (&reach.bound.bo, reach.offset(at))) {
                Some((Some(bo), offset)) => bo.write(offset, data),
                Some((None, _)) => {}
                None => {
                    for (&at, element) in addresses[first..first + count].iter().zip(data.chunks_exact(bytes)) {
                        result = result.and(self.write(GpuVa::from_48_bits(at), element));
                    }
                }
            }
        });
        result
    }

    /// Changes the memory itself by a compare-and-exchange, where the process has it.
    fn update(&self, va: GpuVa, bytes: u8, change: &mut dyn FnMut(u64) -> u64) -> Result<u64, PageFault> {
        self.piece(va, bytes.into(), Access::Read)?;
        let piece = self.piece(va, bytes.into(), Access::Write)?;
        match &piece.bound.bo {
            Some(bo) => Ok(bo.update(piece.offset, bytes, change)),
            None => Ok(0),
        }
    }

    fn shared(&self) -> Option<&(dyn Memory + Sync)> {
        F::shared(self)
    }

    fn on_thread(&self, work: &mut dyn FnMut(&dyn Memory)) -> bool {
        F::on_thread(self, work)
    }

    fn write(&self, va: GpuVa, data: &[u8]) -> Result<(), PageFault> {
        self.walk(va, data.len() as u64, Access::Write, |done, piece| {
            if let Some(bo) = &piece.bound.bo {
                bo.write(piece.offset, &data[done as usize..(done + piece.len) as usize]);
            }
        })
    }

    fn copy(&self, to: GpuVa, from: GpuVa, len: u64) -> Result<(), PageFault> {
        let mut done = 0;
        while done < len {
            let (Some(source_va), Some(target_va)) = (from.checked_add(done), to.checked_add(done)) else {
                return Err(PageFault { va: to, access: Access::Write });
            };
            let source = self.piece(source_va, len - done, Access::Read)?;
            let target = self.piece(target_va, source.len, Access::Write)?;
            copy_piece(&target, &source);
            done += target.len;
        }
        Ok(())
    }

    fn fill(&self, to: GpuVa, pattern: u32, len: u64) -> Result<(), PageFault> {
        let mut bytes = [0; FILL_BYTES];
        self.walk(to, len, Access::Write, |done, piece| {
            let Some(bo) = &piece.bound.bo else { return };
            // The pattern continues where the last part ended.
            let turned = pattern.rotate_right((done % 4) as u32 * 8).to_le_bytes();
            for chunk in bytes.chunks_exact_mut(4) {
                chunk.copy_from_slice(&turned);
            }
            for start in (0..piece.len).step_by(FILL_BYTES) {
                let part = (piece.len - start).min(FILL_BYTES as u64) as usize;
                bo.write(piece.offset + start, &bytes[..part]);
            }
        })
    }
}

/// Copies as many bytes as the target part has, which must be at most as large as the source.
fn copy_piece(target: &Piece<'_>, source: &Piece<'_>) {
    let Some(to) = &target.bound.bo else { return };
    if let Some(from) = &source.bound.bo
        && to.copy_from(target.offset, from, source.offset, target.len)
    {
        return;
    }
    let mut bytes = [0; FILL_BYTES];
    for start in (0..target.len).step_by(FILL_BYTES) {
        let part = &mut bytes[..(target.len - start).min(FILL_BYTES as u64) as usize];
        match &source.bound.bo {
            Some(from) => from.read(source.offset + start, part),
            None => part.fill(0),
        }
        to.write(target.offset + start, part);
    }
}
