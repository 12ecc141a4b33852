//! Results of vector and scalar operations.

mod class;
mod compare;
mod convert;
mod division;
mod dot;
mod float16;
pub(crate) mod float32;
mod float64;
mod integer16;
mod integer32;
mod integer64;
pub(crate) mod kernel;
pub(crate) mod names;
pub(crate) mod scalar;
