//! The library's own requests without addresses.
//!
//! Sending a request that creates, destroys, shares or binds objects is `unsafe`, because safe code stands on these objects. Inside
//! `winsys` each such request has one place: the type that owns the object makes it, in its constructor, its methods or its
//! `Drop`, and for its own handle only. These functions are therefore visible in `winsys` alone; a new caller must own what its
//! request changes.

use crate::{
    uapi::{self, Plain, Request},
    winsys::{Errno, Kernel},
};

/// Sends an argument without addresses, with its own request number.
#[inline]
pub(super) fn send<A: Plain>(kernel: &dyn Kernel, argument: &mut A) -> Result<(), Errno> {
    // SAFETY: the callers are the owners of the objects, as the documentation of this module requires.
    unsafe { uapi::send_plain(kernel, argument) }
}

/// Sends an argument without addresses, with another request number that carries the same structure.
#[inline]
pub(super) fn send_as<A: Plain>(kernel: &dyn Kernel, request: Request, argument: &mut A) -> Result<(), Errno> {
    // SAFETY: the callers are the owners of the objects, as the documentation of this module requires, and pass PRIME and sync
    // object requests, which carry the structure that they pass.
    unsafe { uapi::send_plain_as(kernel, request, argument) }
}

/// Sends like [`send`], but does not log errors. For use in `Drop`, which must restore the state before it calls observers.
#[inline]
pub(super) fn send_quietly<A: Plain>(kernel: &dyn Kernel, argument: &mut A) -> Result<(), Errno> {
    // SAFETY: the callers are the owners of the objects, as the documentation of this module requires.
    unsafe { uapi::send_plain_quietly(kernel, argument) }
}
