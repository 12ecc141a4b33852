//! Diagnosis of hangs: a queue's progress, and the packets there.

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
