//! The requests: the handles of an open file, and the addresses of each.
#![expect(unsafe_code, reason = "the requests carry the addresses of their answers")]

use amdgpu_winsys::{
    uapi::{
        Argument, GEM_OP_GET_MAPPING_INFO, GemListHandles, GemListHandlesEntry, GemOpWithEntries, GemVmEntry,
        LIST_HANDLES_IS_IMPORT,
    },
    winsys::{Errno, Kernel},
};

use super::buffer::{Buffer, Range, domains, flags};

/// The attempts at a list that grows while it is read.
const ATTEMPTS: u32 = 16;
/// The most handles of a file that are listed, and the most ranges of a buffer.
const MOST: u32 = 1 << 20;

/// Returns the buffers of an open file, by handle.
///
/// # Errors
///
/// The errors of GEM_LIST_HANDLES: EINVAL before Linux 6.18. EAGAIN if the list changes too fast; EOVERFLOW if it is too long.
pub(super) fn list(kernel: &dyn Kernel) -> Result<Vec<Buffer>, Errno> {
    let mut room = 0;
    for _ in 0..ATTEMPTS {
        let nothing = GemListHandlesEntry {
            gem_handle: 0,
            flags: 0,
            size: 0,
            preferred_domains: 0,
            alloc_flags: 0,
            alignment: 0,
        };
        let mut entries = vec![nothing; room as usize];
        let address = entries.as_mut_ptr().expose_provenance() as u64;
        let mut argument = GemListHandles { entries: address, num_entries: room, padding: 0 };
        // SAFETY: `entries` is exclusive, outlives the call and has room for `num_entries` entries; the kernel writes no more. The
        // request changes nothing.
        match unsafe { ask(kernel, &mut argument) } {
            Ok(()) => {}
            Err(Errno::EAGAIN) => continue,
            Err(errno) => return Err(errno),
        }
        let count = argument.num_entries;
        if count <= room {
            entries.truncate(count as usize);
            return Ok(entries.iter().map(|entry| buffer(kernel, entry)).collect());
        }
        if count > MOST {
            return Err(Errno::EOVERFLOW);
        }
        // Some more, for what the process creates meanwhile.
        room = count + count / 8;
    }
    Err(Errno::EAGAIN)
}

fn buffer(kernel: &dyn Kernel, entry: &GemListHandlesEntry) -> Buffer {
    Buffer {
        handle: entry.gem_handle,
        size: entry.size,
        domains: domains(entry.preferred_domains),
        flags: flags(entry.alloc_flags),
        imported: entry.flags & LIST_HANDLES_IS_IMPORT != 0,
        ranges: ranges(kernel, entry.gem_handle).ok(),
    }
}

/// Returns the ranges at which a buffer is mapped.
fn ranges(kernel: &dyn Kernel, handle: u32) -> Result<Vec<Range>, Errno> {
    // Most buffers are mapped once.
    let mut room = 4;
    for _ in 0..ATTEMPTS {
        let mut entries = vec![GemVmEntry { addr: 0, size: 0, offset: 0, flags: 0 }; room as usize];
        let value = entries.as_mut_ptr().expose_provenance() as u64;
        let mut argument =
            GemOpWithEntries { handle, op: GEM_OP_GET_MAPPING_INFO, value, num_entries: room, padding: 0 };
        // SAFETY: `entries` is exclusive, outlives the call and has room for `num_entries` entries; the kernel writes no more. This
        // operation changes nothing.
        unsafe { ask(kernel, &mut argument) }?;
        let count = argument.num_entries;
        if count <= room {
            entries.truncate(count as usize);
            let range =
                |entry: &GemVmEntry| Range { address: extend(entry.addr), size: entry.size, offset: entry.offset };
            let mut ranges: Vec<Range> = entries.iter().map(range).collect();
            ranges.sort_by_key(|range| range.address);
            return Ok(ranges);
        }
        if count > MOST {
            return Err(Errno::EOVERFLOW);
        }
        room = count;
    }
    Err(Errno::EAGAIN)
}

/// Extends bit 47 of an address: the kernel gives 48 bits.
const fn extend(address: u64) -> u64 {
    ((address << 16).cast_signed() >> 16).cast_unsigned()
}

/// Makes a request.
///
/// # Safety
///
/// The addresses in `argument` are valid for the kernel's accesses, and the request changes nothing.
unsafe fn ask<A: Argument>(kernel: &dyn Kernel, argument: &mut A) -> Result<(), Errno> {
    // SAFETY: the argument is exclusive and has the size of its request; the caller guarantees the rest.
    unsafe { kernel.ioctl(A::REQUEST, std::ptr::from_mut(argument).cast()) }.map(drop)
}
