//! Recording and submission in the upper tier: queues, and streams that are recorded through a window of memory.

mod lists;
mod numbered_user_queue;
mod open;
mod queue;
mod stream;
mod submission;
mod submit;
mod user_queue;
mod video_lists;
mod video_queue;
mod video_submission;

pub use self::{
    lists::*, queue::*, stream::*, submission::*, submit::*, user_queue::*, video_queue::*, video_submission::*,
};
