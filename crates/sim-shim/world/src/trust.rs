//! Rules that decide which users' servers and clients are trusted.

use nix::{sys::socket::UnixCredentials, unistd::geteuid};

/// Returns `true` if the process at the other end of a socket is of this process's user, or of root.
pub(crate) fn is_trusted(peer: &UnixCredentials) -> bool {
    may_deal(peer.uid(), geteuid().as_raw())
}

const fn may_deal(peer: libc::uid_t, own: libc::uid_t) -> bool {
    peer == 0 || peer == own
}

#[cfg(test)]
mod tests {
    use std::os::fd::AsFd;

    use nix::sys::socket::{AddressFamily, SockFlag, SockType, getsockopt, socketpair, sockopt::PeerCredentials};

    use super::*;

    #[test]
    fn users_deal_with_themselves_and_with_root_alone() {
        assert!(may_deal(1000, 1000) && may_deal(0, 1000) && may_deal(0, 0));
        assert!(!may_deal(1001, 1000) && !may_deal(1000, 0));
    }

    #[test]
    fn a_process_is_trusted_by_itself() {
        let (ours, _theirs) =
            socketpair(AddressFamily::Unix, SockType::SeqPacket, None, SockFlag::SOCK_CLOEXEC).unwrap();
        assert!(is_trusted(&getsockopt(&ours.as_fd(), PeerCredentials).unwrap()));
    }
}
