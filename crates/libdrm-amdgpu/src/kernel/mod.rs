//! Requests on a descriptor that is lent for a call.

mod lent;
mod trace;

pub(crate) use self::{lent::Lent, trace::Trace};
