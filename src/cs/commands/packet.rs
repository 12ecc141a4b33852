//! Helpers shared by the packets of this folder.

use std::marker::PhantomData;

use crate::cs::{
    Described,
    layout::{FieldName, Layout},
    pm4::HeaderFlags,
};

/// A packet of the tables by its fields, without anything behind them.
pub(super) fn described<'a, L>(layout: &'static Layout, fields: &'a [(FieldName, u64)]) -> Described<'a, L> {
    Described { layout, flags: HeaderFlags::empty(), fields, data: &[], language: PhantomData }
}
