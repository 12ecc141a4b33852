//! The GPU under test, and what the checks do with it.

pub(crate) mod channel;
#[expect(unsafe_code, reason = "the compute driver has requests of its own")]
pub(crate) mod compute_driver;
pub(crate) mod computer;
#[expect(unsafe_code, reason = "requests of the display have addresses")]
pub(crate) mod display;
pub(crate) mod host;
pub(crate) mod mutant;
pub(crate) mod packet_trace;
pub(crate) mod pattern;
pub(crate) mod recorder;
pub(crate) mod ring;
pub(crate) mod slot;
pub(crate) mod target;
pub(crate) mod test_context;
#[expect(unsafe_code, reason = "pages of this process are shared with the GPU")]
pub(crate) mod user_pages;
