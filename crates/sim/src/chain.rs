//! Timelines: fences in a chain, each with a point.
//!
//! A timeline is a linked list from the newest point to the oldest. It has the kernel's own shape, because what QUERY
//! reports after points out of order follows from it.
//!
//! Source: Linux 6.12 `dma-fence-chain.c`.

use std::sync::Arc;

use parking_lot::Mutex;

use crate::fence::Fence;

/// One point of a timeline.
#[derive(Debug)]
pub(crate) struct Link {
    point: u64,
    /// The point before it, 0 where the order of points starts anew.
    earlier: u64,
    /// The same for all points that were added in order.
    order: Arc<()>,
    own: Arc<Fence>,
    /// What must signal first: the point before, or a plain fence that was there before the timeline.
    previous: Mutex<Option<Arc<Fence>>>,
}

impl Link {
    /// A point behind what is there already. One that is not beyond the newest point takes the newest's number, and a new
    /// order starts with it.
    ///
    /// Source: `dma_fence_chain_init`.
    pub(crate) fn append(previous: Option<Arc<Fence>>, point: u64, own: Arc<Fence>) -> Arc<Fence> {
        let newest = previous.as_deref().and_then(|fence| match fence {
            Fence::Link(link) => Some((link.point, Arc::clone(&link.order))),
            _ => None,
        });
        let (point, earlier, order) = match newest {
            Some((newest, order)) if point > newest => (point, newest, order),
            Some((newest, _)) => (newest, 0, Arc::new(())),
            None => (point, 0, Arc::new(())),
        };
        let link = Self { point, earlier, order, own, previous: Mutex::new(previous) };
        // Collects what is over.
        link.walk();
        Arc::new(Fence::Link(link))
    }

    /// The fence of this point alone.
    pub(crate) fn own(&self) -> &Arc<Fence> {
        &self.own
    }

    /// What comes before it and is not over. Points whose own fence has signalled are taken out of the chain.
    ///
    /// Source: `dma_fence_chain_walk`.
    pub(crate) fn walk(&self) -> Option<Arc<Fence>> {
        let mut previous = self.previous.lock();
        while let Some(fence) = &*previous {
            let rest = match &**fence {
                Fence::Link(link) if link.own.is_signalled() => link.previous.lock().clone(),
                Fence::Link(_) => break,
                plain if plain.is_signalled() => None,
                _ => break,
            };
            *previous = rest;
        }
        previous.clone()
    }

    pub(crate) fn is_signalled(&self) -> bool {
        self.own.is_signalled() && self.walk().is_none()
    }
}

impl Drop for Link {
    /// Takes the chain apart link by link: it may be long, and the stack is not.
    fn drop(&mut self) {
        let mut next = self.previous.get_mut().take();
        while let Some(fence) = next {
            next = match Arc::into_inner(fence) {
                Some(Fence::Link(mut link)) => link.previous.get_mut().take(),
                _ => None,
            };
        }
    }
}

/// The fence to wait for to reach a point of what a sync object holds: 0 is all of it. `None` while the point is not there.
///
/// Source: `dma_fence_chain_find_seqno`; a part that was collected has signalled (`drm_syncobj_find_fence`).
pub(crate) fn find(newest: &Arc<Fence>, point: u64) -> Option<Arc<Fence>> {
    if point == 0 {
        return Some(Arc::clone(newest));
    }
    let Fence::Link(head) = &**newest else { return None };
    if head.point < point {
        return None;
    }
    let mut at = Arc::clone(newest);
    loop {
        let next = match &*at {
            Fence::Link(link) if Arc::ptr_eq(&link.order, &head.order) && link.earlier >= point => link.walk(),
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
        Fence::Link(link) => link.point,
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
            Some(next) if matches!(&*next, Fence::Link(next) if Arc::ptr_eq(&next.order, &head.order)) => oldest = next,
            _ if link.is_signalled() => return link.point,
            _ => return link.earlier,
        }
    }
}
