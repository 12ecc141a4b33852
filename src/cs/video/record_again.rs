//! Reuse of the memory of a list for a new stream.

use super::{VideoList, VideoStream};

impl VideoList {
    /// Starts a new stream in the memory of this list. Nothing is allocated.
    ///
    /// # Errors
    ///
    /// The list itself if a queue has not retired a submission of it that it keeps alive, or someone else has a handle of its
    /// [memory](super::VideoIb::memory).
    #[expect(clippy::result_large_err, reason = "the list comes back, and a stream is larger still")]
    pub fn record_again(self) -> Result<VideoStream, Self> {
        if self.is_used() {
            return Err(self);
        }
        let (device, ip, memory, kept) = self.into_parts();
        Ok(VideoStream::over(device, ip, memory, kept))
    }
}
