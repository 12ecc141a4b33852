//! The computer and the board of a tested GPU, as far as reports of many machines are compared by them. Nothing here names a person
//! or has a serial number.

pub(crate) mod board;
pub(crate) mod machine;
