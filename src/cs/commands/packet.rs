//! Helpers shared by the packets of this folder.

use std::marker::PhantomData;

use crate::cs::{
    Described,
    layout::{FieldName, Layout},
    pm4::HeaderFlags,
};

/// Returns the packet of a layout with these fields and no data.
pub(super) fn described<'a, L>(layout: &'static Layout, fields: &'a [(FieldName, u64)]) -> Described<'a, L> {
    Described { layout, flags: HeaderFlags::empty(), fields, data: &[], language: PhantomData }
}
