//! x
use crate::{child::Wanted,row::Row};
pub(crate) fn all(_: &Wanted, _: &mut impl FnMut(Row)) {}
