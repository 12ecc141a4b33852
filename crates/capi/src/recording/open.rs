//! Streams of every kind of ring: of packets that the library knows, and of dwords for video engines.

use amdgpu_winsys::{
    cs::{AnyStream, CommandList, IbPlacement, Inclusion, RecordError, Target, VideoList, VideoStream},
    winsys::{Binding, Device, Ip, ResidencySet},
};

use crate::border::{Answer, Failure};

/// The kind of a stream, from its flags.
#[derive(Clone, Copy)]
pub(crate) struct Kind {
    pub(crate) is_secondary: bool,
    /// `true` if IBs are in system memory wherever the stream executes itself.
    pub(crate) is_in_system_memory: bool,
}

/// A stream that is being recorded.
pub(crate) enum Open {
    /// For a ring of graphics, compute or SDMA.
    Packets(AnyStream),
    /// For a video engine.
    Video(VideoStream),
}

/// The list of a finalized stream.
pub(crate) enum List {
    Packets(CommandList),
    Video(VideoList),
}

/// Calls a method that both kinds of streams have.
macro_rules! each {
    ($open:expr, $stream:ident => $call:expr) => {
        match $open {
            Open::Packets($stream) => $call,
            Open::Video($stream) => $call,
        }
    };
}

impl Open {
    /// Creates a stream for the rings of an IP.
    pub(super) fn new(device: &Device, ip: Ip, kind: Kind, dwords: usize) -> Answer<Self> {
        let Kind { is_secondary, is_in_system_memory } = kind;
        let Some(target) = Target::new(device.info().gfx_level, ip) else {
            // Lists are copied on these rings, which do not call.
            let placement = match kind {
                Kind { is_secondary: true, .. } => IbPlacement::Cached,
                Kind { is_in_system_memory: true, .. } => IbPlacement::System,
                _ => IbPlacement::of(device.info(), 0),
            };
            return Ok(Self::Video(VideoStream::with_placement(device, ip, dwords, placement)?));
        };
        if is_in_system_memory && !is_secondary {
            return Ok(Self::Packets(AnyStream::with_placement(device, target, dwords, IbPlacement::System)?));
        }
        let start = if is_secondary { AnyStream::secondary } else { AnyStream::new };
        Ok(Self::Packets(start(device, target, dwords)?))
    }

    /// Starts anew in the memory of a list, which is returned if it is in use.
    #[expect(clippy::result_large_err, reason = "the list comes back, and a stream is larger still")]
    pub(super) fn again(list: List) -> Result<Self, List> {
        match list {
            List::Packets(list) => AnyStream::record_again(list).map(Self::Packets).map_err(List::Packets),
            List::Video(list) => list.record_again().map(Self::Video).map_err(List::Video),
        }
    }

    /// Returns the stream of packets, or a failure for a video engine.
    pub(super) fn packets(&mut self) -> Answer<&mut AnyStream> {
        match self {
            Self::Packets(stream) => Ok(stream),
            Self::Video(stream) => Err(RecordError::UnsupportedIp { ip: stream.ip() }.into()),
        }
    }

    #[inline]
    pub(super) fn chunk_len(&self) -> usize {
        match self {
            Self::Packets(stream) => stream.chunk_len(),
            Self::Video(stream) => stream.len(),
        }
    }

    #[inline]
    pub(super) fn chunk(&mut self) -> &mut [u32] {
        each!(self, stream => stream.chunk())
    }

    #[inline]
    pub(super) fn advance(&mut self, dwords: usize) -> Answer {
        each!(self, stream => Ok(stream.advance(dwords)?))
    }

    #[inline]
    pub(super) fn grow(&mut self, dwords: usize) -> Answer {
        each!(self, stream => Ok(stream.grow(dwords)?))
    }

    pub(super) fn pad(&mut self, leave: usize) -> Answer {
        each!(self, stream => Ok(stream.pad(leave)?))
    }

    #[inline]
    pub(super) fn keep(&mut self, binding: &Binding) {
        each!(self, stream => stream.keep(binding));
    }

    pub(super) fn keep_set(&mut self, set: &ResidencySet) {
        each!(self, stream => stream.keep_set(set));
    }

    /// Records a text, for which the languages of video engines have no packet.
    pub(super) fn annotate(&mut self, text: &str) -> Answer {
        match self {
            Self::Packets(stream) => Ok(stream.annotate(text)?),
            Self::Video(_) => Ok(()),
        }
    }

    /// Executes a list.
    pub(super) fn execute(&mut self, list: &List, inclusion: Inclusion) -> Answer {
        match (self, list) {
            (Self::Packets(stream), List::Packets(list)) => {
                stream.execute(list, inclusion)?;
                Ok(())
            }
            (Self::Video(stream), List::Video(list)) => Ok(stream.copy(list)?),
            _ => Err(Failure::argument("child", "is for another kind of ring than the stream")),
        }
    }

    pub(super) fn clear(&mut self) {
        each!(self, stream => stream.clear());
    }

    pub(super) fn finish(self) -> Answer<List> {
        Ok(match self {
            Self::Packets(stream) => List::Packets(stream.finish()?),
            Self::Video(stream) => List::Video(stream.finish()?),
        })
    }
}

impl List {
    /// Returns the length of the last IB in dwords.
    pub(super) fn last_len(&self) -> usize {
        match self {
            Self::Packets(list) => list.ibs().last().map_or(0, |(_, dwords)| dwords),
            Self::Video(list) => list.len(),
        }
    }
}
