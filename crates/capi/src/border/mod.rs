//! The border between C and Rust: results, error texts, handles, versioned structures and hooks.

mod checked;
mod contracted;
mod entry;
mod failure;
mod hooks;
mod last;
mod memory;
mod object;
mod result;
mod versioned;

pub use self::{
    checked::answer_faults,
    hooks::{AGW_LOG_DEBUG, AGW_LOG_ERROR, AGW_LOG_INFO, AGW_LOG_TRACE, AGW_LOG_WARN, agw_set_allocator, agw_set_log},
    last::{agw_last_errno, agw_last_error, agw_last_loss, agw_loss},
    object::forget_freed,
    result::*,
};
pub(crate) use self::{
    checked::{IS_CHECKED, broken, within},
    contracted::{Contracted, Turn},
    entry::{entry, touch, value},
    failure::{Answer, Failure},
    memory::{INLINE_CAPACITY, Out, array, array_mut, check_out, fill, put_unless_null, text},
    object::{Handle, Shell, create, get, reference, release, shell},
    versioned::{Versioned, read, view, write},
};
