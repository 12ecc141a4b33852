//! The file format of recordings.

pub(crate) mod describe;
mod file;
mod record;
mod wire;

pub(crate) use self::record::{DWORDS, Dwords, GENERATION, difference};
pub use self::{
    file::{FileError, OLDEST_VERSION, Reader, VERSION, Writer},
    record::{Action, Call, Ib, Ioctl, Page, Record, Run},
    wire::Malformed,
};
