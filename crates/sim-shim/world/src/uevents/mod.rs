//! The kernel's events for clients, and the form in which udevd repeats them.

mod listeners;
mod udev;

pub(crate) use self::listeners::Listeners;
pub use self::udev::{UDEV_EVENTS, is_udev_event};
