//! The border between Vulkan's C and this crate's Rust, and the only module with `unsafe` code.
//!
//! Entry points are plain Rust functions: they take references, lists and owners, and return a `Result`. This module makes C
//! functions of them ([`adapter`]), converts pointers and handles into their arguments ([`Argument`]), and reads the memory that
//! structures point to ([`chain`], [`list`]).
//!
//! All of it relies on one assumption: a program that calls a Vulkan command obeys its valid usage (specification, section "Valid
//! Usage"). Pointers are then valid for the length of the call, lists are as long as their counts say, handles are live, and what
//! needs external synchronization has it. What a program may get wrong all the same is checked: null pointers, in a debug build
//! handles and synchronization, and everywhere ranges and numbers, which the entry points check themselves.
#![expect(unsafe_code, reason = "pointers and handles of a C interface become references here")]

pub(crate) mod adapter;
mod argument;
mod bytes;
mod callback;
pub(crate) mod chain;
pub(crate) mod descriptor;
mod exclusive;
mod failure;
pub(crate) mod fault;
mod handle;
mod handles;
pub(crate) mod list;
mod live;
mod text;
pub(crate) mod zero;

pub(crate) use self::{
    argument::{Allocator, Answer, Argument, Array, Data, Ignored, Name, Out, OutArray, OutData},
    bytes::{clear_words, switches},
    callback::{Callback, MemoryCallback},
    exclusive::Exclusive,
    failure::Failure,
    handle::{Handed, object},
    text::{copy_text, name},
};
