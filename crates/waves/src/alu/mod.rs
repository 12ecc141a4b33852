//! Results of vector and scalar operations.

mod compare;
mod convert;
pub(crate) mod float;
mod integer;
pub(crate) mod kernel;
pub(crate) mod kernels;
pub(crate) mod mask;
pub(crate) mod moves;
pub(crate) mod scalar;
pub(crate) mod unit;
