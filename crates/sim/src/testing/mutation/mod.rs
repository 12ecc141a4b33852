//! Mutations: devices that make one mistake, to prove that a test can fail.

mod kinds;
mod requests;

pub use self::kinds::Mutation;
pub(crate) use self::kinds::{Mutant, Scope};
