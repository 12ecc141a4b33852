//! The set of live handles, in debug builds, which refuse commands with other handles. Release builds trust the program.

#[cfg(debug_assertions)]
mod list {
    use std::collections::BTreeMap;

    use ash::vk::ObjectType;
    use parking_lot::Mutex;

    /// The live handles. This is global state, because handles are addresses of the process.
    static LIVE: Mutex<BTreeMap<u64, ObjectType>> = Mutex::new(BTreeMap::new());

    pub(in crate::border) fn enter(handle: u64, kind: ObjectType) {
        LIVE.lock().insert(handle, kind);
    }

    pub(in crate::border) fn leave(handle: u64) {
        LIVE.lock().remove(&handle);
    }

    pub(in crate::border) fn is_live(handle: u64, kind: ObjectType) -> bool {
        LIVE.lock().get(&handle) == Some(&kind)
    }
}

#[cfg(not(debug_assertions))]
mod list {
    use ash::vk::ObjectType;

    pub(in crate::border) fn enter(_handle: u64, _kind: ObjectType) {}

    pub(in crate::border) fn leave(_handle: u64) {}

    pub(in crate::border) fn is_live(handle: u64, _kind: ObjectType) -> bool {
        handle != 0
    }
}

pub(super) use list::{enter, is_live, leave};
