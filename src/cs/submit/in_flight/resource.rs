//! Objects that submissions use.

use std::sync::Arc;

use crate::{
    cs::record::list::recorded::Recorded,
    winsys::{Binding, Residents},
};

/// An object that a submission uses.
#[derive(Debug)]
pub(in crate::cs) enum Resource {
    List(Arc<Recorded>),
    Memory(Binding),
    Members(Residents),
}

impl Resource {
    pub(in crate::cs) fn list(&self) -> Option<&Arc<Recorded>> {
        if let Self::List(list) = self { Some(list) } else { None }
    }

    pub(in crate::cs) fn memory(&self) -> Option<&Binding> {
        if let Self::Memory(binding) = self { Some(binding) } else { None }
    }

    pub(in crate::cs) fn members(&self) -> Option<&Residents> {
        if let Self::Members(members) = self { Some(members) } else { None }
    }

    /// Returns another reference to memory or to the members of a set.
    pub(in crate::cs) fn share_memory(&self) -> Option<Self> {
        match self {
            Self::List(_) => None,
            Self::Memory(binding) => Some(Self::Memory(binding.clone())),
            Self::Members(members) => Some(Self::Members(members.clone())),
        }
    }
}
