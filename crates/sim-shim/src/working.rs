//! The working directory, as far as relative paths from it can be the world's.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::c_text::PathText;

/// `true` if the working directory is known to be far from the world's paths. Most programs' is, and then a relative path
/// costs nothing.
static IS_FAR: AtomicBool = AtomicBool::new(false);

/// Notes that the working directory has changed.
pub(crate) fn changed() {
    IS_FAR.store(false, Ordering::Relaxed);
}

/// Returns the working directory; `None` if `is_near` says that no path of the world's is reached from it by going down.
pub(crate) fn directory(is_near: impl FnOnce(&[u8]) -> bool) -> Option<PathText> {
    if IS_FAR.load(Ordering::Relaxed) {
        return None;
    }
    let mut link = PathText::new();
    link.push(b"/proc/self/cwd").ok()?;
    let at = PathText::of_link(&link)?;
    if is_near(at.as_bytes()) {
        return Some(at);
    }
    // A directory in which a world is yet to be made is none that a program is in.
    IS_FAR.store(true, Ordering::Relaxed);
    None
}
