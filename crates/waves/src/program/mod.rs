//! Machine code, decoded to instructions that waves execute.

pub(crate) mod block;
pub(crate) mod cache;
pub(crate) mod code;
pub(crate) mod data;
pub(crate) mod decode;
pub(crate) mod decoded_inst;
mod dual;
pub(crate) mod graphics;
pub(crate) mod image;
pub(crate) mod lanes;
mod memory;
pub(crate) mod operations;
mod packed;
mod page;
mod registers;
mod scalar;
pub(crate) mod source;
mod vector;
pub(crate) mod wave_config;
