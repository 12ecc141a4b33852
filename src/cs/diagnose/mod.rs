//! Diagnosis of hangs: the progress of queues, and the packets at which they stopped.

mod breadcrumbs;
mod excerpt;
mod excerpt_text;
mod hang_report;
mod ib_source;
mod registers;

pub use self::{
    breadcrumbs::{Breadcrumbs, Progress},
    excerpt::Excerpt,
    excerpt_text::IbPrinter,
    hang_report::{DecodedPrinter, HangReport, QueueTrace, RawPrinter},
};
