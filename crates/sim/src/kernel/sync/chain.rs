//! Queries of timelines: chains of fences with a point each.
//!
//! The chain has the same structure as the kernel's, because it determines the result of QUERY after points out of order.
//!
//! Source: Linux 6.12 `dma-fence-chain.c`.

use std::sync::Arc;

use crate::kernel::sync::fence::Fence;

/// Returns the fence to wait for to reach a point of a sync object; 0 means the whole chain. Returns `None` if the point is not yet
/// submitted.
///
/// Source: `dma_fence_chain_find_seqno`; a fence that was collected has signalled (`drm_syncobj_find_fence`).
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

/// Returns the newest point; 0 if the fence is not a timeline.
pub(crate) fn newest_point(fence: &Fence) -> u64 {
    match fence {
        Fence::Link(link) => link.point(),
        _ => 0,
    }
}

/// Returns the highest point that has signalled together with all earlier points; 0 if the fence is not a timeline.
///
/// Source: Linux 6.12 `drm_syncobj.c`, `drm_syncobj_query_ioctl`. Only points in ascending order are considered: after a point out
/// of order the result is 0 until all have signalled.
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
