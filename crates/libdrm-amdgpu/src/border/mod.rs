//! The border between C and Rust: arguments, results, and panics that stay on this side.

mod c_value;
mod entry;
mod failure;
mod pointers;

pub(crate) use self::{
    c_value::CValue,
    entry::{entry, value},
    failure::{Answer, Failure, Plainly, complain},
    pointers::{Array, Handle, In, Items, Out},
};
