//! Errors of the winsys layer.
//!
//! Each operation on a BO, a binding or a mapping has an error type of its own ([`CreateBoError`], [`BindError`], ..), whose
//! variants are what can happen there. Their shared source is [`KernelError`], a request that the kernel refused. [`Error`] is
//! the error of any operation, for callers that do not distinguish them; all others convert to it.

pub use self::{
    any::{Error, Result},
    kernel_error::{KernelError, Subject},
    leaf::{BrokenBoRule, HostMemory, InvalidReply, Misaligned, NoAddress, OutOfRange, Unmappable, UnsupportedVaFlags},
    open_error::OpenError,
    operations::{
        AccessError, BindError, CreateBoError, CreateBoundError, ExportError, ImportError, MapError, SetMetadataError,
        UserMemoryError,
    },
};

mod any;
mod kernel_error;
mod leaf;
mod open_error;
mod operations;
