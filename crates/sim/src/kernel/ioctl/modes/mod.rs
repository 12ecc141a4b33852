//! Mode setting without atomic commits, and dumb buffers.

pub(crate) mod caps;
pub(crate) mod dumb;
pub(crate) mod objects;
pub(crate) mod properties;
pub(crate) mod scanout;

use zerocopy::{Immutable, IntoBytes};

use amdgpu_uapi::Errno;

use crate::kernel::user;

/// Writes as many values as the client has room for; the number that there are.
fn list<T: IntoBytes + Immutable>(address: u64, room: u32, values: &[T]) -> Result<u32, Errno> {
    let room = usize::try_from(room).unwrap_or(usize::MAX);
    user::write_slice(address, values.get(..room).unwrap_or(values))?;
    Ok(count(values.len()))
}

/// Writes the values if the client has room for all; the number that there are.
fn whole<T: IntoBytes + Immutable>(address: u64, room: u32, values: &[T]) -> Result<u32, Errno> {
    let there = count(values.len());
    if room >= there {
        user::write_slice(address, values)?;
    }
    Ok(there)
}

fn count(len: usize) -> u32 {
    u32::try_from(len).unwrap_or(u32::MAX)
}
