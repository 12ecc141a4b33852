//! Calls that can be refused: requests, and mappings.

use std::fmt;

use amdgpu_layers::Attempt;
use amdgpu_winsys::uapi::{
    Argument, BoList, Cs, Ctx, FenceToHandle, GemClose, GemCreate, GemMetadata, GemMmap, GemOp, GemUserptr, GemVa,
    GemWaitIdle, GetCap, Info, PrimeHandle, Request, SYNCOBJ_FD_TO_HANDLE, SYNCOBJ_SIGNAL, SYNCOBJ_TIMELINE_SIGNAL,
    SyncobjArray, SyncobjCreate, SyncobjDestroy, SyncobjEventfd, SyncobjHandle, SyncobjTimelineArray,
    SyncobjTimelineWait, SyncobjTransfer, SyncobjWait, Version, Vm, WaitCs, WaitFences,
};

/// A kind of call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Call {
    /// A request by group and number.
    Ioctl(u8, u8),
    Mmap,
    Munmap,
    Reserve,
}

/// PRIME_FD_TO_HANDLE, which has the argument of its opposite.
pub(crate) const PRIME_IMPORT: Call = Call::Ioctl(b'd', 0x2e);

impl Call {
    pub(crate) const fn of_request(request: Request) -> Self {
        Self::Ioctl(request.kind(), request.number())
    }

    pub(crate) fn of(attempt: &Attempt<'_>) -> Self {
        match attempt {
            Attempt::Ioctl { request, .. } => Self::of_request(*request),
            Attempt::Munmap { .. } => Self::Munmap,
            Attempt::Reserve { .. } => Self::Reserve,
            // There are no others; a new one would be a call that maps.
            _ => Self::Mmap,
        }
    }
}

macro_rules! calls {
    ($( $name:ident = $argument:ty; )*) => {
        $( pub(crate) const $name: Call = Call::of_request(<$argument as Argument>::REQUEST); )*

        const NAMES: &[(Call, &str)] = &[
            $( ($name, <$argument as Argument>::NAME), )*
            (PRIME_IMPORT, "PRIME_FD_TO_HANDLE"),
            (SYNCOBJ_IMPORT, "SYNCOBJ_FD_TO_HANDLE"),
            (SIGNAL, "SYNCOBJ_SIGNAL"),
            (SIGNAL_POINT, "SYNCOBJ_TIMELINE_SIGNAL"),
        ];

        /// Every request that the library makes.
        pub(crate) const OF_THE_LIBRARY: &[Call] = &[
            $( $name, )*
            PRIME_IMPORT, SYNCOBJ_IMPORT, SIGNAL, SIGNAL_POINT, Call::Mmap, Call::Munmap, Call::Reserve,
        ];
    };
}

pub(crate) const SYNCOBJ_IMPORT: Call = Call::of_request(SYNCOBJ_FD_TO_HANDLE);
pub(crate) const SIGNAL: Call = Call::of_request(SYNCOBJ_SIGNAL);
pub(crate) const SIGNAL_POINT: Call = Call::of_request(SYNCOBJ_TIMELINE_SIGNAL);

calls! {
    BO_LIST = BoList;
    CAP = GetCap;
    CLOSE = GemClose;
    CREATE = GemCreate;
    CS = Cs;
    CTX = Ctx;
    EVENTFD = SyncobjEventfd;
    FENCE = FenceToHandle;
    INFO = Info;
    METADATA = GemMetadata;
    MMAP_OFFSET = GemMmap;
    OP = GemOp;
    PRIME_EXPORT = PrimeHandle;
    QUERY = SyncobjTimelineArray;
    RESET = SyncobjArray;
    SYNCOBJ = SyncobjCreate;
    SYNCOBJ_END = SyncobjDestroy;
    SYNCOBJ_EXPORT = SyncobjHandle;
    TRANSFER = SyncobjTransfer;
    USERPTR = GemUserptr;
    VA = GemVa;
    VERSION = Version;
    VM = Vm;
    WAIT_CS = WaitCs;
    WAIT_FENCES = WaitFences;
    WAIT_IDLE = GemWaitIdle;
    WAIT_POINTS = SyncobjTimelineWait;
    WAIT_SYNCOBJ = SyncobjWait;
}

impl fmt::Display for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match NAMES.iter().find(|(call, _)| call == self) {
            Some((_, name)) => f.write_str(name),
            None => write!(f, "{self:?}"),
        }
    }
}
