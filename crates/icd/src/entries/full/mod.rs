//! Commands that only the face `full` has: empty objects, and commands that do nothing or are refused.

pub(crate) mod command;
pub(crate) mod descriptor;
pub(crate) mod object;
pub(crate) mod pipeline;
