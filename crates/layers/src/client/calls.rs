//! The memory outside its argument that each request reads and writes, and the fields that differ from run to run.
//!
//! Source: Linux 6.12 `include/uapi/drm/drm.h` and `amdgpu_drm.h`; the handlers named in `amdgpu_uapi`.

use amdgpu_uapi::{
    Argument, BoList, Cs, Ctx, FenceToHandle, GEM_OP_GET_CREATE_INFO, GemClose, GemCreate, GemMmap, GemOp, GemUserptr,
    GemVaTimeline, GemWaitIdle, Info, PRIME_FD_TO_HANDLE, PrimeHandle, Request, SYNCOBJ_FD_TO_HANDLE, SYNCOBJ_SIGNAL,
    SYNCOBJ_TIMELINE_SIGNAL, SyncobjArray, SyncobjCreate, SyncobjDestroy, SyncobjEventfd, SyncobjHandle,
    SyncobjTimelineArray, SyncobjTimelineWait, SyncobjWait, UserptrFlags, Version, WaitCs, WaitFences, bo_list_op,
    chunk_id,
};

/// The most bytes of memory that are followed for one call, in sum over all pieces. No request needs more.
const MOST_BYTES: usize = 64 << 20;

/// A field whose value differs from run to run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Field {
    /// Byte offset in the argument, or in a nested piece.
    pub(crate) offset: usize,
    pub(crate) kind: FieldKind,
}

/// The kind of a field, which determines the value that a recording stores for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FieldKind {
    /// An address, recorded as null or 1.
    Address,
    /// A deadline, recorded as 0 if it polls, all ones if it never expires, otherwise as 1.
    Moment,
    /// A descriptor, recorded as 0, or -1 for none.
    Descriptor,
}

/// Memory outside the argument that the kernel accesses for a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Piece {
    pub(crate) address: u64,
    pub(crate) len: usize,
    pub(crate) way: Way,
    /// Fields of the piece whose values are not compared.
    pub(crate) fields: Vec<Field>,
}

/// The direction of an access to a piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    /// The kernel reads it.
    In,
    /// The kernel writes it, and the client reads it afterwards.
    Out,
}

/// The effect of a request on mapped memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Effect {
    /// Jobs may begin: the client's stores must be recorded before.
    Submits,
    /// Jobs may have ended: their stores must be visible afterwards.
    Waits,
    /// Another file or process may access the memory from now on.
    Shares,
    /// No effect.
    Nothing,
}

pub(crate) const GEM_CREATE: u8 = GemCreate::REQUEST.number();
pub(crate) const GEM_MMAP: u8 = GemMmap::REQUEST.number();
pub(crate) const CTX: u8 = Ctx::REQUEST.number();
pub(crate) const SYNCOBJ_CREATE: u8 = SyncobjCreate::REQUEST.number();
pub(crate) const SYNCOBJ_DESTROY: u8 = SyncobjDestroy::REQUEST.number();
const GEM_CLOSE: u8 = GemClose::REQUEST.number();
const INFO: u8 = Info::REQUEST.number();
pub(crate) const CS: u8 = Cs::REQUEST.number();
pub(crate) const BO_LIST: u8 = BoList::REQUEST.number();
const GEM_OP: u8 = GemOp::REQUEST.number();
pub(crate) const GEM_VA: u8 = GemVaTimeline::REQUEST.number();
pub(crate) const USERPTR: u8 = GemUserptr::REQUEST.number();
const WAIT_CS: u8 = WaitCs::REQUEST.number();
const WAIT_IDLE: u8 = GemWaitIdle::REQUEST.number();
const WAIT_FENCES: u8 = WaitFences::REQUEST.number();
pub(crate) const FENCE_TO_HANDLE: u8 = FenceToHandle::REQUEST.number();
const VERSION: u8 = Version::REQUEST.number();
pub(crate) const EXPORT: u8 = PrimeHandle::REQUEST.number();
pub(crate) const IMPORT: u8 = PRIME_FD_TO_HANDLE.number();
const SYNCOBJ_EXPORT: u8 = SyncobjHandle::REQUEST.number();
pub(crate) const SYNCOBJ_IMPORT: u8 = SYNCOBJ_FD_TO_HANDLE.number();
const SYNCOBJ_WAIT: u8 = SyncobjWait::REQUEST.number();
const TIMELINE_WAIT: u8 = SyncobjTimelineWait::REQUEST.number();
const RESET: u8 = SyncobjArray::REQUEST.number();
const SIGNAL: u8 = SYNCOBJ_SIGNAL.number();
const QUERY: u8 = SyncobjTimelineArray::REQUEST.number();
const TIMELINE_SIGNAL: u8 = SYNCOBJ_TIMELINE_SIGNAL.number();
const EVENTFD: u8 = SyncobjEventfd::REQUEST.number();

/// Returns the effect of a request, by its number.
pub(crate) fn effect(request: Request) -> Effect {
    match request.number() {
        CS => Effect::Submits,
        WAIT_CS | WAIT_IDLE | WAIT_FENCES | SYNCOBJ_WAIT | TIMELINE_WAIT | QUERY => Effect::Waits,
        EXPORT | IMPORT => Effect::Shares,
        _ => Effect::Nothing,
    }
}

/// Returns the offset in the argument of the descriptor that a request creates; `None` if it creates none.
pub(crate) fn new_descriptor(request: Request, input: &[u8]) -> Option<usize> {
    match request.number() {
        EXPORT | SYNCOBJ_EXPORT => Some(8),
        FENCE_TO_HANDLE => (u32_at(input, 24)? != 0).then_some(0),
        _ => None,
    }
}

/// Returns the address and size in bytes of the client's pages that a request makes accessible to the GPU.
pub(crate) fn user_pages(request: Request, input: &[u8]) -> Option<(u64, u64)> {
    (request.number() == USERPTR).then_some((u64_at(input, 0)?, u64_at(input, 8)?))
}

/// Returns the same as [`user_pages`], if the GPU may write to the pages.
pub(crate) fn written_user_pages(request: Request, input: &[u8]) -> Option<(u64, u64)> {
    let flags = UserptrFlags::from_bits_retain(u32_at(input, 16)?);
    user_pages(request, input).filter(|_| !flags.contains(UserptrFlags::READONLY))
}

/// Returns `true` if a request frees a handle or another ID, which the kernel may reuse immediately.
pub(crate) fn closes(request: Request) -> bool {
    matches!(request.number(), GEM_CLOSE | CTX | BO_LIST | SYNCOBJ_DESTROY)
}

/// Returns the GEM handle that a request closes.
pub(crate) fn closed_handle(request: Request, input: &[u8]) -> Option<u32> {
    (request.number() == GEM_CLOSE).then(|| u32_at(input, 0))?
}

/// Returns the eventfd that a request registers.
pub(crate) fn eventfd(request: Request, input: &[u8]) -> Option<i32> {
    (request.number() == EVENTFD).then(|| u32_at(input, 16).map(u32::cast_signed))?
}

/// Returns the fields of an argument that differ from run to run.
pub(crate) fn fields(request: Request, argument: &[u8]) -> Vec<Field> {
    use FieldKind::{Address, Descriptor, Moment};
    let of = |kind, offsets: &[usize]| offsets.iter().map(|&offset| Field { offset, kind }).collect::<Vec<_>>();
    let mut fields = match request.number() {
        INFO | USERPTR | RESET | SIGNAL | WAIT_FENCES | SYNCOBJ_WAIT => of(Address, &[0]),
        VERSION => of(Address, &[24, 40, 56]),
        CS | BO_LIST => of(Address, &[16]),
        GEM_OP if u32_at(argument, 4) == Some(GEM_OP_GET_CREATE_INFO) => of(Address, &[8]),
        GEM_VA => of(Address, &[56]),
        WAIT_CS | WAIT_IDLE => of(Moment, &[8]),
        QUERY | TIMELINE_SIGNAL | TIMELINE_WAIT => of(Address, &[0, 8]),
        EXPORT | IMPORT | SYNCOBJ_EXPORT | SYNCOBJ_IMPORT => of(Descriptor, &[8]),
        EVENTFD => of(Descriptor, &[16]),
        _ => Vec::new(),
    };
    fields.extend(match request.number() {
        WAIT_FENCES => of(Moment, &[16]),
        SYNCOBJ_WAIT => of(Moment, &[8, 32]),
        TIMELINE_WAIT => of(Moment, &[16, 40]),
        _ => Vec::new(),
    });
    fields.retain(|field| field.offset + field.kind.len() <= argument.len());
    fields
}

impl FieldKind {
    /// Returns the size of the field in bytes.
    pub(crate) const fn len(self) -> usize {
        match self {
            Self::Address | Self::Moment => 8,
            Self::Descriptor => 4,
        }
    }
}

/// Replaces the values of the fields by values that are the same in every run.
pub(crate) fn neutralise(bytes: &mut [u8], fields: &[Field]) {
    for field in fields {
        let Some(bytes) = bytes.get_mut(field.offset..field.offset + field.kind.len()) else { continue };
        let all = |value| bytes.iter().all(|&byte| byte == value);
        let neutral = match field.kind {
            FieldKind::Descriptor if all(0xff) => [0xff; 8],
            FieldKind::Descriptor => [0; 8],
            FieldKind::Moment if is_never(bytes) => [0xff; 8],
            FieldKind::Moment | FieldKind::Address if all(0) => [0; 8],
            FieldKind::Moment | FieldKind::Address => 1_u64.to_le_bytes(),
        };
        bytes.iter_mut().zip(neutral).for_each(|(byte, neutral)| *byte = neutral);
    }
}

/// Returns `true` if a deadline is one that clients use to wait forever: the largest signed or unsigned number.
fn is_never(bytes: &[u8]) -> bool {
    u64_at(bytes, 0).is_some_and(|moment| moment | 1 << 63 == u64::MAX)
}

/// Returns the memory that the kernel accesses for a request. `read` returns the bytes at an address if they can be read.
pub(crate) fn pieces(request: Request, argument: &[u8], read: &dyn Fn(u64, usize) -> Option<Vec<u8>>) -> Vec<Piece> {
    let at = |offset| u64_at(argument, offset).unwrap_or(0);
    let count = |offset| u32_at(argument, offset).unwrap_or(0) as usize;
    let mut found = Found { pieces: Vec::new(), left: MOST_BYTES };
    match request.number() {
        VERSION => {
            for (len, address) in [(16, 24), (32, 40), (48, 56)] {
                found.add(at(address), at(len) as usize, 1, Way::Out);
            }
        }
        INFO => found.add(at(0), count(8), 1, Way::Out),
        BO_LIST => found.list(argument),
        CS => found.chunks(argument, read),
        GEM_OP if count(4) == GEM_OP_GET_CREATE_INFO as usize => found.add(at(8), size_of::<GemCreate>(), 1, Way::Out),
        GEM_VA => found.add(at(56), count(52), 4, Way::In),
        WAIT_FENCES => found.add(at(0), count(8), 24, Way::In),
        SYNCOBJ_WAIT => found.add(at(0), count(16), 4, Way::In),
        RESET | SIGNAL => found.add(at(0), count(8), 4, Way::In),
        TIMELINE_WAIT => {
            found.add(at(0), count(24), 4, Way::In);
            found.add(at(8), count(24), 8, Way::In);
        }
        QUERY | TIMELINE_SIGNAL => {
            found.add(at(0), count(16), 4, Way::In);
            found.add(at(8), count(16), 8, if request.number() == QUERY { Way::Out } else { Way::In });
        }
        _ => {}
    }
    found.pieces
}

struct Found {
    pieces: Vec<Piece>,
    /// Number of bytes that may still be followed.
    left: usize,
}

impl Found {
    /// Adds `count` values of `each` bytes, unless there are none or their address is null.
    fn add(&mut self, address: u64, count: usize, each: usize, way: Way) {
        let len = count.checked_mul(each).filter(|&len| len > 0 && len <= self.left);
        if let Some(len) = len.filter(|_| address != 0) {
            self.left -= len;
            self.pieces.push(Piece { address, len, way, fields: Vec::new() });
        }
    }

    /// Declares that the last piece holds addresses at these offsets.
    fn holding(&mut self, offsets: impl IntoIterator<Item = usize>) {
        if let Some(last) = self.pieces.last_mut() {
            last.fields = offsets.into_iter().map(|offset| Field { offset, kind: FieldKind::Address }).collect();
        }
    }

    /// Adds the entries of a [`BoList`], unless the request destroys a list.
    fn list(&mut self, list: &[u8]) {
        if u32_at(list, 0) == Some(bo_list_op::DESTROY) {
            return;
        }
        let (count, each) = (u32_at(list, 8).unwrap_or(0), u32_at(list, 12).unwrap_or(0));
        self.add(u64_at(list, 16).unwrap_or(0), count as usize, each as usize, Way::In);
    }

    fn chunks(&mut self, cs: &[u8], read: &dyn Fn(u64, usize) -> Option<Vec<u8>>) {
        let (count, addresses) = (u32_at(cs, 8).unwrap_or(0) as usize, u64_at(cs, 16).unwrap_or(0));
        self.add(addresses, count, 8, Way::In);
        let Some(table) = self.pieces.last().and_then(|piece| read(piece.address, piece.len)) else { return };
        self.holding((0..count).map(|index| index * 8));
        for address in table.as_chunks::<8>().0.iter().map(|bytes| u64::from_le_bytes(*bytes)) {
            self.add(address, 1, 16, Way::In);
            let Some(header) = (address != 0).then(|| read(address, 16)).flatten() else { continue };
            self.holding([8]);
            let dwords = u32_at(&header, 4).unwrap_or(0) as usize;
            let data = u64_at(&header, 8).unwrap_or(0);
            self.add(data, dwords, 4, Way::In);
            if u32_at(&header, 0) == Some(chunk_id::BO_HANDLES) && data != 0 && dwords * 4 >= size_of::<BoList>() {
                self.holding([16]);
                if let Some(list) = read(data, size_of::<BoList>()) {
                    // The operation of a list in a chunk has no meaning.
                    let entries = (u32_at(&list, 8).unwrap_or(0), u32_at(&list, 12).unwrap_or(0));
                    self.add(u64_at(&list, 16).unwrap_or(0), entries.0 as usize, entries.1 as usize, Way::In);
                }
            }
        }
    }
}

/// Returns the name of a request for messages.
pub(crate) fn name(request: Request) -> &'static str {
    if request.kind() != b'd' {
        return "(no DRM request)";
    }
    match request.number() {
        VERSION => "VERSION",
        GEM_CLOSE => "GEM_CLOSE",
        0x0c => "GET_CAP",
        EXPORT => "PRIME_HANDLE_TO_FD",
        IMPORT => "PRIME_FD_TO_HANDLE",
        GEM_CREATE => "AMDGPU_GEM_CREATE",
        GEM_MMAP => "AMDGPU_GEM_MMAP",
        CTX => "AMDGPU_CTX",
        BO_LIST => "AMDGPU_BO_LIST",
        CS => "AMDGPU_CS",
        INFO => "AMDGPU_INFO",
        0x46 => "AMDGPU_GEM_METADATA",
        WAIT_IDLE => "AMDGPU_GEM_WAIT_IDLE",
        GEM_VA => "AMDGPU_GEM_VA",
        WAIT_CS => "AMDGPU_WAIT_CS",
        GEM_OP => "AMDGPU_GEM_OP",
        USERPTR => "AMDGPU_GEM_USERPTR",
        WAIT_FENCES => "AMDGPU_WAIT_FENCES",
        0x53 => "AMDGPU_VM",
        FENCE_TO_HANDLE => "AMDGPU_FENCE_TO_HANDLE",
        0x55 => "AMDGPU_SCHED",
        SYNCOBJ_CREATE => "SYNCOBJ_CREATE",
        SYNCOBJ_DESTROY => "SYNCOBJ_DESTROY",
        SYNCOBJ_EXPORT => "SYNCOBJ_HANDLE_TO_FD",
        SYNCOBJ_IMPORT => "SYNCOBJ_FD_TO_HANDLE",
        SYNCOBJ_WAIT => "SYNCOBJ_WAIT",
        RESET => "SYNCOBJ_RESET",
        SIGNAL => "SYNCOBJ_SIGNAL",
        TIMELINE_WAIT => "SYNCOBJ_TIMELINE_WAIT",
        QUERY => "SYNCOBJ_QUERY",
        0xcc => "SYNCOBJ_TRANSFER",
        TIMELINE_SIGNAL => "SYNCOBJ_TIMELINE_SIGNAL",
        EVENTFD => "SYNCOBJ_EVENTFD",
        _ => "(unknown request)",
    }
}

pub(crate) fn u32_at(bytes: &[u8], offset: usize) -> Option<u32> {
    bytes.get(offset..)?.first_chunk().map(|bytes| u32::from_le_bytes(*bytes))
}

pub(crate) fn u64_at(bytes: &[u8], offset: usize) -> Option<u64> {
    bytes.get(offset..)?.first_chunk().map(|bytes| u64::from_le_bytes(*bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_times_and_descriptors_are_the_same_in_every_run() {
        let fields = |kind| [Field { offset: 0, kind }];
        let neutral = |kind, value: u64| {
            let mut bytes = value.to_le_bytes();
            neutralise(&mut bytes, &fields(kind));
            u64::from_le_bytes(bytes)
        };
        assert_eq!([0, 1, 0x7f00_1234_5000].map(|value| neutral(FieldKind::Address, value)), [0, 1, 1]);
        let moments = [0, 12_345, i64::MAX as u64, u64::MAX];
        assert_eq!(moments.map(|value| neutral(FieldKind::Moment, value)), [0, 1, u64::MAX, u64::MAX]);
        assert_eq!([7, 0xffff_ffff].map(|value| neutral(FieldKind::Descriptor, value)), [0, 0xffff_ffff]);
    }

    #[test]
    fn a_submission_is_followed_down_to_the_entries_of_its_list() {
        let memory = |address: u64, len: usize| {
            let words: &[u64] = match address {
                0x1000 => &[0x2000, 0x3000],
                0x2000 => &[8 << 32 | u64::from(chunk_id::IB), 0x4000],
                0x3000 => &[6 << 32 | u64::from(chunk_id::BO_HANDLES), 0x5000],
                0x5000 => &[u64::MAX, 8 << 32 | 3, 0x6000],
                _ => return None,
            };
            words.iter().flat_map(|word| word.to_le_bytes()).take(len).collect::<Vec<_>>().into()
        };
        let cs: Vec<u8> = [1_u64, 2, 0x1000].iter().flat_map(|word| word.to_le_bytes()).collect();
        let found = pieces(Cs::REQUEST, &cs, &memory);
        let found: Vec<_> = found.iter().map(|piece| (piece.address, piece.len, piece.fields.len())).collect();
        let expected =
            [(0x1000, 16, 2), (0x2000, 16, 1), (0x4000, 32, 0), (0x3000, 16, 1), (0x5000, 24, 1), (0x6000, 24, 0)];
        assert_eq!(found, expected);
    }

    #[test]
    fn pieces_of_a_call_are_bounded_in_sum_and_one_that_passes_the_bound_is_left_out() {
        let half = MOST_BYTES as u64 / 2;
        let lengths = |lens: [u64; 3]| {
            let [name, date, text] = lens;
            let version: Vec<u8> =
                [0, 0, name, 0x1000, date, 0x2000, text, 0x3000].iter().flat_map(|word| word.to_le_bytes()).collect();
            let found = pieces(Version::REQUEST, &version, &|_, _| None);
            found.iter().map(|piece| (piece.address, piece.len as u64)).collect::<Vec<_>>()
        };
        assert_eq!(lengths([half, half, 0]), [(0x1000, half), (0x2000, half)]);
        assert_eq!(lengths([half, half + 1, half]), [(0x1000, half), (0x3000, half)]);
        assert_eq!(lengths([u64::MAX, 1, half * 2]), [(0x2000, 1)]);
    }
}
