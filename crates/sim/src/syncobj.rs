//! Sync objects: at most one fence, or a chain of them with points.

use std::sync::Arc;

use nix::errno::Errno;
use parking_lot::Mutex;

use crate::fence::Fence;

/// A sync object. Nothing is fixed at creation: every operation may turn it from binary to timeline and back.
#[derive(Debug, Default)]
pub(crate) struct Syncobj(Mutex<State>);

#[derive(Debug, Default)]
enum State {
    /// No fence: nothing was submitted.
    #[default]
    Empty,
    /// A plain fence.
    Binary(Arc<Fence>),
    /// A chain; points ascend.
    Timeline(Vec<Node>),
}

/// A point of a timeline. Its fence covers the earlier points too.
#[derive(Clone, Debug)]
struct Node {
    point: u64,
    fence: Arc<Fence>,
}

impl Syncobj {
    pub(crate) fn new(fence: Option<Arc<Fence>>) -> Self {
        Self(Mutex::new(fence.map_or(State::Empty, State::Binary)))
    }

    /// Replaces whatever is there by a plain fence, or by nothing.
    pub(crate) fn replace(&self, fence: Option<Arc<Fence>>) {
        *self.0.lock() = fence.map_or(State::Empty, State::Binary);
    }

    /// Adds a point; 0 replaces instead. A point that is not beyond the newest counts as the newest.
    ///
    /// Source: Linux 6.12 `drm_syncobj.c`, `drm_syncobj_add_point`; `dma-fence-chain.c`, `dma_fence_chain_init`.
    pub(crate) fn add_point(&self, point: u64, fence: Arc<Fence>) {
        if point == 0 {
            return self.replace(Some(fence));
        }
        let mut state = self.0.lock();
        let mut nodes = match std::mem::take(&mut *state) {
            State::Empty => Vec::new(),
            // A binary fence that is already there must signal first.
            State::Binary(earlier) => vec![Node { point: 0, fence: earlier }],
            State::Timeline(nodes) => nodes,
        };
        let newest = nodes.last().map(|node| (node.point, Arc::clone(&node.fence)));
        // Nodes whose fence has signalled are of no more use than the newest of them.
        let done = nodes.iter().take_while(|node| node.fence.is_signalled()).count();
        nodes.drain(..done.saturating_sub(1));
        let (point, fence) = match newest {
            Some((last, earlier)) => (point.max(last), Fence::all([earlier, fence])),
            None => (point, fence),
        };
        nodes.push(Node { point, fence });
        *state = State::Timeline(nodes);
    }

    /// The fence of a point: 0 is the newest state as a whole; a point not there yet is `None`.
    pub(crate) fn find(&self, point: u64) -> Option<Arc<Fence>> {
        let state = self.0.lock();
        match &*state {
            State::Empty => None,
            State::Binary(fence) => (point == 0).then(|| Arc::clone(fence)),
            State::Timeline(nodes) if point == 0 => nodes.last().map(|node| Arc::clone(&node.fence)),
            State::Timeline(nodes) => nodes.iter().find(|node| node.point >= point).map(|node| Arc::clone(&node.fence)),
        }
    }

    /// The highest point reached, or the newest attached one; 0 without a timeline.
    pub(crate) fn query(&self, last_submitted: bool) -> u64 {
        match &*self.0.lock() {
            State::Timeline(nodes) => {
                let reached = nodes.iter().rev().find(|node| last_submitted || node.fence.is_signalled());
                reached.map_or(0, |node| node.point)
            }
            _ => 0,
        }
    }

    /// Copies the fence of a point, as TRANSFER and CS do it: EINVAL where there is none.
    pub(crate) fn fence(&self, point: u64) -> Result<Arc<Fence>, Errno> {
        self.find(point).ok_or(Errno::EINVAL)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::events::Events;

    #[test]
    fn a_later_point_covers_the_earlier_ones() {
        let events = Arc::default();
        let syncobj = Syncobj::default();
        let (first, second) = (Fence::pending(&events), Fence::pending(&events));
        syncobj.add_point(5, Arc::clone(&first));
        syncobj.add_point(10, Arc::clone(&second));
        second.signal(Ok(()));
        assert_eq!((syncobj.query(false), syncobj.query(true)), (0, 10));
        first.signal(Ok(()));
        assert_eq!(syncobj.query(false), 10);
        assert!(syncobj.find(7).is_some_and(|fence| fence.is_signalled()));
        assert!(syncobj.find(11).is_none());
    }

    #[test]
    fn a_binary_state_has_no_points() {
        let events: Arc<Events> = Arc::default();
        let syncobj = Syncobj::new(Some(Fence::pending(&events)));
        assert!(syncobj.find(0).is_some() && syncobj.find(1).is_none());
        assert_eq!(syncobj.query(true), 0);
        syncobj.replace(None);
        assert!(syncobj.find(0).is_none());
    }
}
