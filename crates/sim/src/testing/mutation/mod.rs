//! Devices that do one thing wrong, to prove that a test can fail.

mod kinds;
mod requests;

pub use self::kinds::Mutation;
pub(crate) use self::kinds::{Mutant, Scope};
