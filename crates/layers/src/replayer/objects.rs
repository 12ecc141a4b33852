//! The BOs of a replay's client, and the memory for them.
//!
//! A recording may be untrusted, while safe code of the client relies on the promises of a kernel: different BOs share no memory,
//! and the GPU writes only where the client permits it. All recorded results are therefore checked against these rules:
//!
//! * A handle refers to one BO until it is closed, and an offset in the device node to one BO at a time. The same holds for the IDs
//!   of contexts, BO lists and sync objects.
//! * A BO is mapped from memory of the replay, which no other BO has, and which is as long as the first mapping.
//! * Recorded changes are stored in that memory only if the client bound the BO as writable, made it a user fence or shared it, or
//!   before the client first gets the mapping.
//! * The client's own pages are written only between GEM_USERPTR and GEM_CLOSE, inside the range that the client passed, and never
//!   if it passed them as read-only.

use std::{
    collections::{HashMap, HashSet},
    os::fd::AsFd,
    ptr::NonNull,
};

use amdgpu_uapi::{Errno, VaFlags, VaOperation};
use nix::sys::stat::fstat;

use crate::{
    client::view::{UserPages, View},
    format::Page,
};

/// The identity of a BO of the recorded kernel.
type Id = u64;

/// The reason why a recorded call is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refused {
    /// No kernel could have returned this.
    Nonsense(&'static str),
    /// The host has not enough resources.
    Host(Errno),
}

impl From<Errno> for Refused {
    fn from(errno: Errno) -> Self {
        Self::Host(errno)
    }
}

/// The memory of a BO.
#[derive(Debug)]
enum Memory {
    /// Memory of the replay, with the number of the client's mappings.
    View { view: View, mappings: usize },
    /// The client's own pages, which the GPU may write.
    User(UserPages),
    /// The client's own pages, which the GPU only reads.
    ReadOnly,
}

#[derive(Debug, Default)]
struct Object {
    handles: usize,
    offset: Option<u64>,
    memory: Option<(u32, Memory)>,
    /// `true` if others than the client may store into the BO.
    has_writers: bool,
}

impl Object {
    fn is_mapped(&self) -> bool {
        matches!(self.memory, Some((_, Memory::View { mappings: 1.., .. })))
    }
}

/// A mapping of the client.
#[derive(Clone, Copy, Debug)]
struct Mapping {
    id: Id,
    memory: u32,
    len: usize,
}

/// A mapping that the client requests.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wanted {
    pub(crate) offset: u64,
    pub(crate) len: usize,
    pub(crate) writable: bool,
    pub(crate) at: Option<NonNull<u8>>,
}

/// Kinds of other objects that have IDs in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Other {
    Context,
    List,
    Syncobj,
}

/// The objects of all files of a replay.
#[derive(Debug, Default)]
pub(crate) struct Objects {
    next: Id,
    live: HashMap<Id, Object>,
    /// BOs by file and handle.
    handles: HashMap<(u32, u32), Id>,
    offsets: HashMap<u64, Id>,
    /// BOs by the number of their memory in the recording; freed memory is removed.
    memories: HashMap<u32, Id>,
    /// Numbers of user pages whose handle the client tried to close; the kernel may still use them.
    given_up: HashSet<u32>,
    /// BOs by device and inode number of their dma-bufs. The host does not reuse these numbers.
    dma_bufs: HashMap<(u64, u64), Id>,
    /// Contexts, BO lists and sync objects by file.
    others: HashSet<(u32, Other, u32)>,
    /// Mappings by the client's address.
    mappings: HashMap<usize, Mapping>,
    /// The BO of a mapping that was just made, and that the client has not got yet.
    unseen: Option<Id>,
}

impl Objects {
    fn fresh(&mut self) -> Id {
        self.next += 1;
        self.live.insert(self.next, Object::default());
        self.next
    }

    /// Returns the BO of a handle that the client passes. A handle from a request that is not tracked gets a new BO.
    fn named(&mut self, file: u32, handle: u32) -> Result<Id, Refused> {
        if handle == 0 {
            return Err(Refused::Nonsense("a BO without a handle is used"));
        }
        if let Some(&id) = self.handles.get(&(file, handle)) {
            return Ok(id);
        }
        let id = self.fresh();
        self.add_handle(file, handle, id)?;
        Ok(id)
    }

    fn add_handle(&mut self, file: u32, handle: u32, id: Id) -> Result<(), Refused> {
        match self.handles.insert((file, handle), id) {
            None => {
                self.live.entry(id).or_default().handles += 1;
                Ok(())
            }
            Some(known) if known == id => Ok(()),
            Some(_) => Err(Refused::Nonsense("a handle that another BO has")),
        }
    }

    /// Adds a new BO. Handle 0, which an emulated kernel may return, is ignored.
    pub(crate) fn created(&mut self, file: u32, handle: u32) -> Result<(), Refused> {
        if handle == 0 {
            return Ok(());
        }
        let id = self.fresh();
        self.add_handle(file, handle, id)
    }

    /// Adds a BO of the client's own pages.
    pub(crate) fn user_pages(
        &mut self,
        file: u32,
        handle: u32,
        memory: Option<u32>,
        pages: Option<UserPages>,
    ) -> Result<(), Refused> {
        self.created(file, handle)?;
        let (Some(memory), Some(&id)) = (memory, self.handles.get(&(file, handle))) else { return Ok(()) };
        self.number(memory, id)?;
        let pages = pages.map_or(Memory::ReadOnly, Memory::User);
        self.live.entry(id).or_default().memory = Some((memory, pages));
        Ok(())
    }

    fn number(&mut self, memory: u32, id: Id) -> Result<(), Refused> {
        match self.memories.insert(memory, id) {
            Some(known) if known != id => Err(Refused::Nonsense("the number of other memory")),
            _ => Ok(()),
        }
    }

    /// Notes that a BO was exported as a dma-buf: from now on others may store into it.
    pub(crate) fn exported(&mut self, file: u32, handle: u32, dma_buf: impl AsFd) -> Result<(), Refused> {
        let id = self.named(file, handle)?;
        let about = fstat(dma_buf).map_err(Errno::from)?;
        self.dma_bufs.insert((about.st_dev, about.st_ino), id);
        self.live.entry(id).or_default().has_writers = true;
        Ok(())
    }

    /// Adds a handle for an imported dma-buf, to the BO that it was exported from.
    pub(crate) fn imported(&mut self, file: u32, handle: u32, dma_buf: impl AsFd) -> Result<(), Refused> {
        if handle == 0 {
            return Ok(());
        }
        let about = fstat(dma_buf).map_err(Errno::from)?;
        let key = (about.st_dev, about.st_ino);
        let known = self.dma_bufs.get(&key).copied();
        let id = known.unwrap_or_else(|| self.fresh());
        self.dma_bufs.insert(key, id);
        self.add_handle(file, handle, id)?;
        self.live.entry(id).or_default().has_writers = true;
        Ok(())
    }

    /// Notes the offset in the device node at which the client can map a BO.
    pub(crate) fn found_at(&mut self, file: u32, handle: u32, offset: u64) -> Result<(), Refused> {
        let id = self.named(file, handle)?;
        if self.offsets.insert(offset, id).is_some_and(|known| known != id) {
            return Err(Refused::Nonsense("two BOs have the same offset in the node"));
        }
        match self.live.entry(id).or_default().offset.replace(offset) {
            Some(known) if known != offset => Err(Refused::Nonsense("a BO has two offsets in the node")),
            _ => Ok(()),
        }
    }

    /// Notes that the client changed the bindings of a BO.
    pub(crate) fn bound(&mut self, file: u32, handle: u32, operation: u32, flags: u32) -> Result<(), Refused> {
        let maps = [VaOperation::Map, VaOperation::Replace].iter().any(|&of| of as u32 == operation);
        let writes = VaFlags::from_bits_retain(flags).contains(VaFlags::WRITEABLE);
        // Ranges without memory (PRT) have no handle.
        if maps && writes && handle != 0 {
            self.written_by_others(file, handle)?;
        }
        Ok(())
    }

    /// Notes that the GPU or the kernel may store into a BO.
    pub(crate) fn written_by_others(&mut self, file: u32, handle: u32) -> Result<(), Refused> {
        let id = self.named(file, handle)?;
        self.live.entry(id).or_default().has_writers = true;
        Ok(())
    }

    /// Closes a handle. If the kernel refused that, the BO remains. But the client's own pages are not written any more, because
    /// the client no longer expects it.
    pub(crate) fn closed(&mut self, file: u32, handle: u32, succeeded: bool) {
        let Some(&id) = self.handles.get(&(file, handle)) else { return };
        if let Some(object) = self.live.get_mut(&id)
            && matches!(object.memory, Some((_, Memory::User(_) | Memory::ReadOnly)))
            && let Some((memory, _)) = object.memory.take()
        {
            self.memories.remove(&memory);
            if !succeeded {
                self.given_up.insert(memory);
            }
        }
        if succeeded {
            self.handles.remove(&(file, handle));
            if let Some(object) = self.live.get_mut(&id) {
                object.handles = object.handles.saturating_sub(1);
            }
            self.forget_unused(id);
        }
    }

    /// Adds a context, a BO list or a sync object. ID 0 is ignored.
    pub(crate) fn made(&mut self, file: u32, other: Other, number: u32) -> Result<(), Refused> {
        if number == 0 || self.others.insert((file, other, number)) {
            return Ok(());
        }
        Err(Refused::Nonsense("an ID that another object has"))
    }

    /// Removes a context, a BO list or a sync object.
    pub(crate) fn gone(&mut self, file: u32, other: Other, number: u32) {
        self.others.remove(&(file, other, number));
    }

    /// Closes a file with all its handles.
    pub(crate) fn closed_file(&mut self, file: u32) {
        self.others.retain(|other| other.0 != file);
        let handles: Vec<u32> = self.handles.keys().filter(|key| key.0 == file).map(|key| key.1).collect();
        for handle in handles {
            self.closed(file, handle, true);
        }
    }

    /// Removes an object that has neither handles nor mappings.
    fn forget_unused(&mut self, id: Id) {
        if self.live.get(&id).is_none_or(|object| object.handles > 0 || object.is_mapped()) {
            return;
        }
        let Some(object) = self.live.remove(&id) else { return };
        if let Some(offset) = object.offset {
            self.offsets.remove(&offset);
        }
        if let Some((memory, _)) = object.memory {
            self.memories.remove(&memory);
        }
    }

    /// Maps a BO for the client.
    ///
    /// # Safety
    ///
    /// If `at` is given, the caller must own the range.
    pub(crate) unsafe fn map(&mut self, memory: u32, wanted: Wanted) -> Result<NonNull<u8>, Refused> {
        let Wanted { offset, len, writable, at } = wanted;
        let nowhere = Refused::Nonsense("a mapping at an offset that no BO has");
        let &id = self.offsets.get(&offset).ok_or(nowhere)?;
        self.number(memory, id)?;
        let object = self.live.get_mut(&id).ok_or(nowhere)?;
        if object.memory.is_none() {
            object.memory = Some((memory, Memory::View { view: View::new(len as u64)?, mappings: 0 }));
            self.unseen = Some(id);
        }
        let (view, mappings) = match &mut object.memory {
            Some((number, Memory::View { view, mappings })) if *number == memory => (view, mappings),
            _ => return Err(Refused::Nonsense("a BO has two memories")),
        };
        if view.len() < len {
            return Err(Refused::Nonsense("a mapping that is longer than its memory"));
        }
        // SAFETY: the caller's promise.
        let address = unsafe { view.map(len, writable, at) }?;
        *mappings += 1;
        let replaced = self.mappings.insert(address.as_ptr().expose_provenance(), Mapping { id, memory, len });
        if let Some(replaced) = replaced {
            self.one_mapping_less(replaced.id);
        }
        Ok(address)
    }

    /// Returns the number of the memory that is mapped at an address of the client.
    pub(crate) fn mapped_at(&self, address: NonNull<u8>, len: usize) -> Option<u32> {
        self.mappings.get(&address.as_ptr().addr()).filter(|mapping| mapping.len == len).map(|mapping| mapping.memory)
    }

    /// Removes a mapping.
    ///
    /// # Safety
    ///
    /// The client must not use the mapping any more.
    pub(crate) unsafe fn unmap(&mut self, address: NonNull<u8>, len: usize) -> Result<(), Errno> {
        self.mapped_at(address, len).ok_or(Errno::EINVAL)?;
        // SAFETY: the address and the length are those of a mapping of a view, made by `map`, that the caller gives up.
        unsafe { nix::sys::mman::munmap(address.cast(), len) }?;
        if let Some(mapping) = self.mappings.remove(&address.as_ptr().addr()) {
            self.one_mapping_less(mapping.id);
        }
        Ok(())
    }

    fn one_mapping_less(&mut self, id: Id) {
        let Some(object) = self.live.get_mut(&id) else { return };
        if let Some((_, Memory::View { mappings, .. })) = &mut object.memory {
            *mappings = mappings.saturating_sub(1);
        }
        // If the BO is mapped again later, its memory is created and filled again.
        if !object.is_mapped() {
            if let Some((memory, _)) = object.memory.take() {
                self.memories.remove(&memory);
            }
            self.forget_unused(id);
        }
    }

    /// Writes recorded stores of the GPU to the client's memory.
    pub(crate) fn show(&self, page: &Page) -> Result<(), Refused> {
        if self.given_up.contains(&page.memory) {
            return Ok(());
        }
        let nothing = Refused::Nonsense("a page of memory that is not mapped");
        let id = self.memories.get(&page.memory).ok_or(nothing)?;
        let object = self.live.get(id).ok_or(nothing)?;
        let is_there = match &object.memory {
            Some((_, Memory::View { view, .. })) => {
                if !object.has_writers && self.unseen != Some(*id) {
                    return Err(Refused::Nonsense("a page of memory that the GPU may not write"));
                }
                view.replay(page)
            }
            // The GPU cannot have made these changes; the client makes them itself, as in the recorded run.
            Some((_, Memory::User(pages))) if object.has_writers => pages.replay(page),
            Some((_, Memory::User(_) | Memory::ReadOnly)) => true,
            None => false,
        };
        if is_there { Ok(()) } else { Err(nothing) }
    }

    /// Notes that the client gets the new mapping.
    pub(crate) fn seen(&mut self) {
        self.unseen = None;
    }
}
