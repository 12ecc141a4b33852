//! Objects of a life, and what the model knows of each.

use std::{cell::Cell, ffi::CStr};

use amdgpu_winsys_c::{border::*, heaps::*, objects::*, recording::*};

/// `true` if wrong handles are answered.
const IS_CHECKED: bool = cfg!(feature = "checked");

/// A place that is no object of any type.
static NO_OBJECT: [u64; 64] = [0; 64];

/// Types of objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Device,
    Bo,
    Sync,
    Ctx,
    Queue,
    VideoQueue,
    Stream,
    Sparse,
    Residents,
    Manager,
    Memory,
}

impl Kind {
    pub(super) const ALL: [Self; 11] = [
        Self::Device,
        Self::Bo,
        Self::Sync,
        Self::Ctx,
        Self::Queue,
        Self::VideoQueue,
        Self::Stream,
        Self::Sparse,
        Self::Residents,
        Self::Manager,
        Self::Memory,
    ];
}

/// An opaque type of C.
pub(super) trait Typed {
    const KIND: Kind;
}

macro_rules! typed {
    ($($type:ident $kind:ident),* $(,)?) => {
        $(impl Typed for $type {
            const KIND: Kind = Kind::$kind;
        })*
    };
}

typed! {
    agw_device Device, agw_bo Bo, agw_sync Sync, agw_ctx Ctx, agw_queue Queue, agw_video_queue VideoQueue,
    agw_stream Stream, agw_sparse Sparse, agw_residents Residents, agw_memory_manager Manager,
    agw_memory Memory,
}

/// A stage of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    Open,
    Closed,
    /// With the result that poisoned it, if it was seen.
    Poisoned(Option<i32>),
}

/// A stream as the model knows it.
#[derive(Clone, Debug)]
pub(super) struct Stream {
    pub(super) stage: Stage,
    pub(super) ip: u32,
    /// `true` if a submission of it may be refused by a rule that the model does not have: secondaries, chains, foreign memory.
    pub(super) is_odd: bool,
    /// BOs that it stores into, by their objects' numbers, with the index of the word.
    pub(super) stores: Vec<(u64, u32)>,
    /// Its dwords without padding at the end, if it is for a video engine.
    pub(super) dwords: Vec<u32>,
    /// `true` if the kernel refuses its IB.
    pub(super) is_refused: bool,
}

/// The binary state of a sync object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// `true` if it is signalled.
    Known(bool),
    /// A submission or a transfer decides it.
    Unknown,
    /// Another object stands for the same, or may.
    Shared,
}

/// Facts about an object beside its type.
#[derive(Clone, Debug)]
pub(super) enum Facts {
    None,
    Bo {
        /// Bytes, as the head says them.
        size: u64,
        /// The address of the CPU's mapping.
        mapped: Option<usize>,
        /// `true` if it was asked for as mappable memory of its own.
        is_plain: bool,
    },
    Sync(State),
    /// A queue of either type.
    Queue {
        ctx: u64,
        ip: u32,
        ring: u32,
        /// Sequence number of its last submission, for a video engine.
        last: u64,
    },
    Stream(Stream),
    /// `true` if there were members of another device.
    Residents(bool),
    Memory {
        size: u64,
        mapped: Option<usize>,
    },
}

/// An object that is alive.
#[derive(Clone, Debug)]
pub(super) struct Object {
    /// A number that no other object of the life has, for addresses are used again.
    pub(super) id: u64,
    pub(super) kind: Kind,
    pub(super) address: usize,
    pub(super) references: u32,
    /// Number of its device.
    pub(super) device: u64,
    pub(super) facts: Facts,
}

/// A handle to call with: good if it has an index.
pub(super) struct Picked<T> {
    pub(super) handle: *mut T,
    /// Index of the object among those that are alive.
    pub(super) index: Option<usize>,
}

impl<T> Clone for Picked<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Picked<T> {}

impl<T> Picked<T> {
    pub(super) fn is_good(&self) -> bool {
        self.index.is_some()
    }
}

/// All objects of a life.
#[derive(Debug, Default)]
pub(super) struct Objects {
    pub(super) alive: Vec<Object>,
    freed: Vec<(Kind, usize)>,
    made: u64,
    /// Calls that succeeded.
    pub(super) successes: Cell<u32>,
    /// Calls with a wrong handle.
    pub(super) wrong: Cell<u32>,
}

impl Objects {
    pub(super) fn add(&mut self, kind: Kind, address: usize, device: u64, facts: Facts) -> usize {
        self.made += 1;
        // A device is its own.
        let device = if kind == Kind::Device { self.made } else { device };
        assert!(self.alive.iter().all(|object| object.address != address), "two objects at {address:#x}");
        self.alive.push(Object { id: self.made, kind, address, references: 1, device, facts });
        self.alive.len() - 1
    }

    /// Takes away an object whose last reference is going.
    pub(super) fn remove(&mut self, index: usize) -> Object {
        let object = self.alive.swap_remove(index);
        self.freed.push((object.kind, object.address));
        object
    }

    pub(super) fn device_of<T>(&self, picked: Picked<T>) -> Option<u64> {
        picked.index.map(|index| self.alive[index].device)
    }

    pub(super) fn facts<T>(&mut self, picked: Picked<T>) -> Option<&mut Facts> {
        picked.index.map(|index| &mut self.alive[index].facts)
    }

    pub(super) fn stream(&mut self, picked: Picked<agw_stream>) -> Option<&mut Stream> {
        match self.facts(picked)? {
            Facts::Stream(stream) => Some(stream),
            _ => None,
        }
    }

    /// Chooses a handle: mostly of an object that is alive, now and then null, and in a checked build one that was freed, one of
    /// another type, or the address of nothing at all.
    pub(super) fn pick<T: Typed>(&self, which: u8) -> Picked<T> {
        let number = usize::from(which);
        let live = |is_wanted: &dyn Fn(Kind) -> bool| {
            let all = || self.alive.iter().enumerate().filter(|(_, object)| is_wanted(object.kind));
            all().nth(number.checked_rem(all().count())?)
        };
        let wrong =
            match which {
                240..244 if IS_CHECKED => self.freed.iter().rev().find(|&&(kind, address)| {
                    kind == T::KIND && self.alive.iter().all(|object| object.address != address)
                }),
                _ => None,
            };
        let wrong = match which {
            240..244 => wrong.map(|&(_, address)| address),
            244..248 if IS_CHECKED => live(&|kind| kind != T::KIND).map(|(_, object)| object.address),
            248..252 if IS_CHECKED => Some(NO_OBJECT.as_ptr().expose_provenance()),
            252.. => Some(0),
            _ => None,
        };
        let found = match wrong {
            Some(address) => Some((address, None)),
            None => live(&|kind| kind == T::KIND).map(|(index, object)| (object.address, Some(index))),
        };
        let (address, index) = found.unwrap_or((0, None));
        if index.is_none() {
            self.wrong.set(self.wrong.get() + 1);
        }
        Picked { handle: std::ptr::with_exposed_provenance_mut(address), index }
    }

    /// Chooses a handle like [`Self::pick`], but one of the objects with such facts if there is any and the handle is not to be
    /// wrong.
    pub(super) fn pick_of<T: Typed>(&self, which: u8, is_wanted: impl Fn(&Object) -> bool) -> Picked<T> {
        let of = |(_, object): &(usize, &Object)| object.kind == T::KIND && is_wanted(object);
        let wanted = || self.alive.iter().enumerate().filter(of);
        let number = usize::from(which).checked_rem(wanted().count());
        match number.and_then(|number| wanted().nth(number)) {
            Some((index, object)) if which < 232 => {
                Picked { handle: std::ptr::with_exposed_provenance_mut(object.address), index: Some(index) }
            }
            _ => self.pick(which),
        }
    }

    /// Checks a result: with a wrong handle it says so, and otherwise it is one of those that the function may have.
    pub(super) fn judge(&self, name: &str, result: i32, is_good: bool, fitting: &[i32]) {
        let text = || {
            // SAFETY: the text of this thread, until its next failing call.
            unsafe { CStr::from_ptr(agw_last_error()) }.to_string_lossy().into_owned()
        };
        assert_ne!(result, AGW_ERROR_PANIC, "{name}: {}", text());
        if is_good {
            assert!(fitting.contains(&result), "{name}: {result}, and not one of {fitting:?}: {}", text());
        } else {
            assert_eq!(result, AGW_ERROR_INVALID_ARGUMENT, "{name} with a wrong handle: {}", text());
        }
        if result < 0 {
            assert!(!text().is_empty(), "{name}: {result} without a text");
            assert!(agw_vk_result(result) < 0, "{name}: {result}");
        }
        if result == AGW_SUCCESS {
            self.successes.set(self.successes.get() + 1);
        }
    }
}
