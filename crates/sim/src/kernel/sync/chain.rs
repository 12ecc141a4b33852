//! Questions to timelines: fences in a chain, each with a point.
//!
//! The chain has the kernel's own shape, because what QUERY reports after points out of order follows from it.
//!
//! Source: Linux 6.12 `dma-fence-chain.c`.

use std::sync::Arc;

use crate::kernel::sync::fence::Fence;

/// The fence to wait for to reach a point of what a sync object holds: 0 is all of it. `None` while the point is not there.
///
/// Source: `dma_fence_chain_find_seqno`; a part that was collected has signalled (`drm_syncobj_find_fence`).
pub(crate) fn find(newest: &Arc<Fence>, point: u64) -> Option<Arc<Fence>> {
    if point == 0 {
        return Some(Arc::clone(newest));
    }
    let Fence::Link(head) = &**newest else { return None };
    if head.point() < point {
        return None;
    }
    let mut at = Arc::clone(newest);
    loop {
        let next = match &*at {
            Fence::Link(link) if link.is_in_order_with(head) && link.earlier() >= point => link.walk(),
            _ => return Some(at),
        };
        match next {
            Some(earlier) => at = earlier,
            None => return Some(Fence::signalled()),
        }
    }
}

/// The newest point; 0 for what is no timeline.
pub(crate) fn newest_point(fence: &Fence) -> u64 {
    match fence {
        Fence::Link(link) => link.point(),
        _ => 0,
    }
}

/// The highest point such that it and all before it have signalled; 0 for what is no timeline.
///
/// Source: Linux 6.12 `drm_syncobj.c`, `drm_syncobj_query_ioctl`. Looks no further back than the present order of points: a
/// point out of order makes this 0 until all is over.
pub(crate) fn reached_point(fence: &Arc<Fence>) -> u64 {
    let Fence::Link(head) = &**fence else { return 0 };
    let mut oldest = Arc::clone(fence);
    loop {
        let Fence::Link(link) = &*oldest else { return 0 };
        match link.walk() {
            Some(next) if matches!(&*next, Fence::Link(next) if next.is_in_order_with(head)) => oldest = next,
            _ if link.is_signalled() => return link.point(),
            _ => return link.earlier(),
        }
    }
}
