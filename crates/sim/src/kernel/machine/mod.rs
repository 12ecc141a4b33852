//! The state that the devices of a machine share: events, and the objects behind descriptors.

pub(crate) mod descriptors;
pub(crate) mod dmem;
pub(crate) mod file_id;
mod machine;

pub(crate) use self::machine::Machine;
