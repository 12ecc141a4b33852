//! Sync files: fences as descriptors that can be polled.
//!
//! Source: Linux 6.12 `sync_file.c`.

use std::{borrow::Cow, io::Write as _, os::unix::net::UnixStream, sync::Arc};

use amdgpu_uapi::{Errno, SyncFenceInfo, SyncFileInfo, SyncMerge};

use crate::kernel::{
    process::errno::errno_of,
    sync::{fence::Fence, point::Point},
};

/// The size of a name in bytes, including the NUL.
pub(crate) const NAME: usize = 32;

/// The names of fences that have signalled, whose drivers may be gone.
///
/// Source: Linux 7.2 `dma-fence.c`, `dma_fence_driver_name` and `dma_fence_timeline_name`.
const DETACHED: Names = Names { driver: "detached-driver", timeline: "signaled-timeline" };

/// The names of a fence.
struct Names {
    driver: &'static str,
    timeline: &'static str,
}

/// A sync file: the fences at the time of its creation.
#[derive(Debug)]
pub(crate) struct SyncFile {
    fence: Arc<Fence>,
    /// The name set by MERGE; empty if none was set.
    name: [u8; NAME],
}

impl SyncFile {
    pub(crate) const fn new(fence: Arc<Fence>) -> Self {
        Self { fence, name: [0; NAME] }
    }

    /// Performs SYNC_IOC_MERGE: creates a sync file that signals when both have signalled. The name is truncated to end with a NUL.
    pub(crate) fn merge(&self, other: &Self, request: &SyncMerge) -> Self {
        let mut name = request.name;
        name[NAME - 1] = 0;
        Self { fence: Fence::merge([Arc::clone(&self.fence), Arc::clone(&other.fence)]), name }
    }

    pub(crate) const fn fence(&self) -> &Arc<Fence> {
        &self.fence
    }

    /// Makes the other end of a socket readable once the fence has signalled, with or without an error.
    pub(crate) fn make_readable_when_signalled(&self, end: &UnixStream) -> Result<(), Errno> {
        let mut end = end.try_clone().map_err(errno_of)?;
        self.fence.when_signalled(move || {
            // The other end may be closed, in which case the byte is not needed.
            if let Err(error) = end.write(&[1]) {
                tracing::debug!(%error, "nobody polls a sync file");
            }
        });
        Ok(())
    }

    /// Performs SYNC_IOC_FILE_INFO: returns the state, and an entry for each fence if the caller has room for all of them. Without
    /// any room only the state is returned. If `detaches`, fences that have signalled have common names.
    ///
    /// # Errors
    ///
    /// EINVAL if there is some room, but not enough.
    pub(crate) fn info(&self, room: u32, detaches: bool) -> Result<(SyncFileInfo, Vec<SyncFenceInfo>), Errno> {
        let leaves = self.fence.leaves();
        let num_fences = u32::try_from(leaves.len()).map_err(|_| Errno::EINVAL)?;
        if room != 0 && room < num_fences {
            return Err(Errno::EINVAL);
        }
        let entries: Vec<_> =
            if room == 0 { Vec::new() } else { leaves.iter().map(|leaf| entry(leaf, detaches)).collect() };
        let status = if room == 0 {
            status(&self.fence)
        } else {
            // The first fence that is not signalled without an error determines the status.
            entries.iter().map(|entry| entry.status).find(|&status| status <= 0).unwrap_or(1)
        };
        Ok((SyncFileInfo { name: self.name(detaches), status, num_fences, ..SyncFileInfo::ZEROED }, entries))
    }

    fn name(&self, detaches: bool) -> [u8; NAME] {
        if self.name[0] != 0 {
            return self.name;
        }
        if detaches && self.fence.is_signalled() {
            return text(&format!("{}-{}", DETACHED.driver, DETACHED.timeline));
        }
        match &*self.fence {
            Fence::Link(_) => text("dma_fence_chain-unbound"),
            Fence::All(_) => text("dma_fence_array-unbound"),
            fence => match fence.point() {
                Some(point) => text(&format!("sw_sync-{}", point.full_name())),
                None => text(&format!("{}-{}", driver(fence), timeline(fence))),
            },
        }
    }
}

/// Returns the status of a fence: 0 if active, 1 if signalled, or a negative errno.
fn status(fence: &Fence) -> i32 {
    match fence.outcome() {
        None => 0,
        Some(Ok(())) => 1,
        Some(Err(errno)) => -(errno.raw()),
    }
}

fn entry(fence: &Fence, detaches: bool) -> SyncFenceInfo {
    let is_detached = detaches && fence.is_signalled();
    SyncFenceInfo {
        obj_name: if is_detached { text(DETACHED.timeline) } else { text(&timeline(fence)) },
        driver_name: text(if is_detached { DETACHED.driver } else { driver(fence) }),
        status: status(fence),
        flags: 0,
        timestamp_ns: fence.signalled_at().unwrap_or(0),
    }
}

/// Returns the driver name of a fence: the scheduler's for jobs, the driver's for CRTCs, a stub for fences that the CPU signals, and
/// that of chains for a timeline that is a point of another.
///
/// Source: Linux 6.12 `drm_crtc.c`, `drm_crtc_fence_get_driver_name` and `drm_crtc_fence_get_timeline_name`; `dma-fence-chain.c`,
/// `dma_fence_chain_get_driver_name` and `dma_fence_chain_get_timeline_name`.
fn driver(fence: &Fence) -> &'static str {
    match fence {
        Fence::Signalled(_) => "stub",
        Fence::Link(_) => "dma_fence_chain",
        fence if fence.point().is_some() => "sw_sync",
        fence if fence.crtc().is_some() => "amdgpu",
        _ => "drm_sched",
    }
}

fn timeline(fence: &Fence) -> Cow<'_, str> {
    match (fence, fence.crtc()) {
        (Fence::Signalled(_), _) => "stub".into(),
        (Fence::Link(_), _) => "unbound".into(),
        (_, Some(id)) => format!("CRTC:{id}").into(),
        (fence, None) => fence.point().map_or("amdgpu", Point::timeline).into(),
    }
}

/// Returns the text, truncated to fit with a NUL.
fn text(text: &str) -> [u8; NAME] {
    let mut bytes = [0; NAME];
    bytes.iter_mut().take(NAME - 1).zip(text.bytes()).for_each(|(to, from)| *to = from);
    bytes
}
